"""The real Claude Code, Codex and OpenCode connect to what Homeport wrote, and no longer see it after uninstall."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.harness import Completed, needs, run_homeport
from tests.real_clients.clients import Machine, output, program

SERVER = Path(__file__).parent / "logging_server.py"

PLACES = [
    pytest.param("claude-code", "user", "file", id="claude-code-user-file"),
    pytest.param("claude-code", "user", "cli", id="claude-code-user-cli"),
    pytest.param("claude-code", "project", None, id="claude-code-project"),
    pytest.param("codex", "user", "file", id="codex-user-file"),
    pytest.param("codex", "user", "cli", id="codex-user-cli"),
    pytest.param("codex", "project", None, id="codex-project"),
    pytest.param("opencode", "user", None, id="opencode-user"),
    pytest.param("opencode", "project", None, id="opencode-project"),
]

# A file that somebody has already, in a layout of its own, with a server that never starts.
NEIGHBOURS = {
    ("claude-code", "user"): (".claude.json", b'{"mcpServers": {"tally": {"command": "false"}}}'),
    ("claude-code", "project"): (
        "work/depot/.mcp.json",
        b'{"mcpServers" : {\r\n   "tally" : {"type" : "http", "url" : "http://127.0.0.1:9/"}\r\n}, "note" : 1.50}',
    ),
    ("codex", "user"): (".codex/config.toml", b"# mine\n[mcp_servers.tally]\ncommand = 'false' # off\nenabled=false\n"),
    ("codex", "project"): (
        "work/depot/.codex/config.toml",
        b"mcp_servers = { tally = { command = 'false', enabled = false } } # here\n",
    ),
    ("opencode", "user"): (
        ".config/opencode/opencode.jsonc",
        b'{ // mine\n  "$schema": "https://opencode.ai/config.json",\n'
        b'  "mcp": { "tally": {"type": "local", "command": ["false"], "enabled": false,}, }, /* end */\n}\n',
    ),
    ("opencode", "project"): (
        "work/depot/opencode.json",
        b'{"$schema":"https://opencode.ai/config.json","mcp":{"tally":{"enabled":false,"url":"x:","type":"remote"}}}',
    ),
}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def homeport(machine: Machine, *words: str) -> Completed:
    done = run_homeport(*words, home=machine.home, cwd=machine.project, variables=machine.environment)
    assert done.exit == 0, (done.stdout + done.stderr).decode()
    return done


def neighbour(machine: Machine, client: str, level: str) -> Path:
    """The file of that level, with another server in it."""
    name, content = NEIGHBOURS[client, level]
    file = machine.home / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    if (client, level) == ("claude-code", "user"):
        # It writes its own file whole at its first start, and leaves it alone at the next.
        machine.run(client, "mcp", "list")
    return file


def starts(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def place(client: str, level: str, via: str | None) -> list[str]:
    return ["--client", client, "--level", level, "--write", *(["--via", via] if via else [])]


def check_the_gate(machine: Machine, client: str, level: str, name: str) -> None:
    """A project's server is not connected until a person trusts the project or approves the server."""
    if level == "project" and client != "opencode":
        assert not machine.connected(client, name)
        machine.pass_the_gate(client, name)


@pytest.mark.parametrize(("client", "level", "via"), PLACES)
def test_a_server_is_connected_as_it_was_registered_until_it_is_uninstalled(
    machine: Machine, client: str, level: str, via: str | None, tmp_path: Path
) -> None:
    program(client)
    file = neighbour(machine, client, level)
    before = file.read_bytes()
    log = tmp_path / "started.log"
    odd = ["--title", "Журнал №1", "-x", "a b", "it's", 'say "so"', "back\\slash\\", "100%"]
    # Codex's own command has no option for a reference.
    by_reference = {} if (client, via) == ("codex", "cli") else {"LEDGER_TOKEN": "by reference"}
    variables = [word for name in [*by_reference, "ZONE=b c"] for word in ("--env", name)]
    command = ["--", sys.executable, str(SERVER), str(log), *odd]
    homeport(machine, "install", *place(client, level, via), "--name", "ledger", *variables, *command)
    installed = file.read_bytes()

    check_the_gate(machine, client, level, "ledger")
    assert [one["argv"] for one in starts(log)] == []
    assert machine.connected(client, "ledger")
    started = starts(log)[-1]
    assert b"by reference" not in installed
    assert started["argv"] == odd
    assert started["cwd"] == str(machine.project)
    expected = {**by_reference, "ZONE": "b c"}
    assert {name: started["env"].get(name) for name in expected} == expected

    assert file.read_bytes() == installed, "the client wrote the file"
    homeport(machine, "uninstall", "ledger", *place(client, level, via))
    assert machine.listed(client) == {"tally"}
    if via != "cli":
        assert file.read_bytes() == before


@pytest.mark.parametrize(("client", "level", "via"), PLACES)
def test_the_bundled_server_is_connected_until_it_is_uninstalled(
    machine: Machine, client: str, level: str, via: str | None
) -> None:
    program(client)
    file = neighbour(machine, client, level)
    before = file.read_bytes()
    # --force: CI may keep its interpreter in a temporary folder, which a person is warned of.
    homeport(machine, "install", *place(client, level, via), "--force")
    check_the_gate(machine, client, level, "homeport")
    assert machine.connected(client, "homeport")
    homeport(machine, "uninstall", *place(client, level, via))
    assert machine.listed(client) == {"tally"}
    if via != "cli":
        assert file.read_bytes() == before


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_the_clients_own_command_updates_what_it_registered(machine: Machine, client: str, tmp_path: Path) -> None:
    program(client)
    log = tmp_path / "started.log"
    install = ["install", *place(client, "user", "cli"), "--name", "ledger", "--env", "ZONE=b c", "--"]
    homeport(machine, *install, sys.executable, str(SERVER), str(log), "one")
    homeport(machine, *install, sys.executable, str(SERVER), str(log), "two", "-x")
    assert machine.connected(client, "ledger")
    assert {tuple(one["argv"]) for one in starts(log)} == {("two", "-x")}
    assert starts(log)[-1]["env"]["ZONE"] == "b c"


def printed_line(machine: Machine, shell: str, words: list[str], label: str) -> str:
    """The line that print mode names, quoted for the shell that Homeport was started from."""
    # The last command keeps the shell from handing its process over: Homeport looks for its parent.
    line = [needs(shell), "-c", '"$0" -m homeport "$@"; true', sys.executable]
    if shell == "fish":
        line = [needs(shell), "-c", "$argv[1] -m homeport $argv[2..]; true", sys.executable]
    guidance = output([*line, "install", *words], machine.project, machine.environment)
    return next(line.split(label, 1)[1] for line in guidance.splitlines() if label in line)


@pytest.mark.parametrize("shell", ["bash", "fish"])
@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_the_printed_line_does_what_it_says(machine: Machine, client: str, shell: str, tmp_path: Path) -> None:
    program(client)
    log = tmp_path / "started.log"
    given = ["--flag", "-x", "a'b", "back\\", "$(id)", "*"]
    server = [sys.executable, str(SERVER), str(log), *given]
    words = ["--client", client, "--name", "ledger", "--env", "ZONE=b c"]
    if client == "claude-code":
        words += ["--env", "LEDGER_TOKEN"]
        server += ["${LEDGER_TOKEN}"]
        given += ["by reference"]
    line = printed_line(machine, shell, [*words, "--", *server], "its own command:")
    output([needs(shell), "-c", line], machine.project, machine.environment)
    assert machine.connected(client, "ledger")
    started = starts(log)[-1]
    assert started["argv"] == given
    assert started["env"]["ZONE"] == "b c"


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_the_printed_line_for_a_server_that_is_there_replaces_it(machine: Machine, client: str, tmp_path: Path) -> None:
    program(client)
    log = tmp_path / "started.log"
    label = "to replace one:" if client == "claude-code" else "its own command:"
    for number in ("one", "two"):
        words = ["--client", client, "--name", "ledger", "--", sys.executable, str(SERVER), str(log), number]
        line = printed_line(machine, "bash", words, label)
        output([needs("bash"), "-c", line], machine.project, machine.environment)
    assert machine.connected(client, "ledger")
    assert {tuple(one["argv"]) for one in starts(log)} == {("two",)}


def test_claude_code_has_nothing_to_complain_about_in_a_remote_server(machine: Machine) -> None:
    program("claude-code")
    words = ["install", "--client", "claude-code", "--name", "far", "--write", "--via", "file"]
    homeport(machine, *words, "--header", "Authorization: Bearer ${LEDGER_TOKEN}", "http://127.0.0.1:9/mcp")
    # Nobody answers there; `connected` looks for complaints about the entry.
    assert not machine.connected("claude-code", "far")
    assert machine.listed("claude-code") == {"far"}
