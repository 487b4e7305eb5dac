"""A: what an entry says to each client."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from homeport.installer.clients.references import parse_text
from homeport.installer.clients.values import Registration, Stdio
from homeport.installer.plan.request import InstallRequest
from tests.cases.machine import (
    CLAUDE,
    CODEX,
    COMMAND,
    CURSOR,
    DESKTOP,
    LEDGER,
    MUSE,
    OPENCODE,
    PROJECT,
    Home,
    as_text,
    entry,
    kept,
    planned,
    read_json,
    refused,
    said,
    written,
)
from tests.cli.running import run
from tests.made import MadeDisk, make_environment

URL = "http://127.0.0.1:4410/mcp"


def on_windows(
    client: str, command: str, *args: str, config: str | None = None, things: dict[str, bytes] | None = None
) -> tuple[Any, bytes]:
    """The entry a Windows machine would get and its file afterwards; planned once more, nothing changes."""
    environment = make_environment(platform="win32")
    server = Stdio(parse_text(command), tuple(parse_text(word) for word in args))
    request = InstallRequest(
        (Registration("ledger", server),), config=None if config is None else environment.path(config), via="file"
    )
    homes = {"~/.cursor/mcp.json": b"{}", "~/.claude.json": b"{}", "~/.codex/config.toml": b"", **(things or {})}
    plan = planned(client, request, environment, MadeDisk(environment, homes))
    [step] = plan.steps
    assert step.after is not None
    again = planned(client, request, environment, MadeDisk(environment, {**homes, str(step.path): step.after}))
    assert ([row.outcome for row in again.rows], again.steps) == (["unchanged"], ())
    return plan.rows[0].entry, step.after


@pytest.mark.parametrize(
    ("client", "name", "container", "command"),
    [
        ("cursor", ".cursor/mcp.json", "mcpServers", COMMAND),
        ("claude-code", ".mcp.json", "mcpServers", COMMAND),
        ("muse-code", ".mcp.json", "mcpServers", COMMAND),
        ("opencode", "opencode.json", "mcp", [COMMAND, "serve"]),
        ("codex", ".codex/config.toml", "mcp_servers", COMMAND),
    ],
)
def test_a01_each_client_has_its_own_container(
    tmp_path: Path, client: str, name: str, container: str, command: object
) -> None:
    home = Home(tmp_path)
    file = f"{PROJECT}/{name}"
    written(home, file, lambda: home.install(client, level="project"), home.install(client, level="project"))
    assert home.value(file, container, "ledger", "command") == command
    assert set(home.value(file)) - {"$schema"} == {container}


@pytest.mark.parametrize(
    ("client", "name", "words", "container"),
    [
        ("cursor", CURSOR, ["servers", "mcp", "mcp_servers"], "mcpServers"),
        ("opencode", OPENCODE, ["mcpServers", "servers"], "mcp"),
        ("claude-code", CLAUDE, ["servers", "mcp"], "mcpServers"),
        ("claude-desktop", DESKTOP, ["servers", "mcp_servers"], "mcpServers"),
    ],
)
def test_a01_another_clients_word_in_the_file_is_not_taken_for_the_container(
    tmp_path: Path, client: str, name: str, words: list[str], container: str
) -> None:
    home = Home(tmp_path, quick=True)
    other = {word: {"rota": {"command": "/opt/rota"}} for word in words}
    home.file(name, as_text(other))
    assert home.install(client).exit == 0
    assert home.value(name) == {**other, container: {"ledger": home.value(name, container, "ledger")}}
    assert home.value(name, container, "ledger", "command") in (COMMAND, [COMMAND, "serve"])


SHAPES = [
    ("claude-code", CLAUDE, "mcpServers", {"type": "stdio", "command": COMMAND, "args": ["serve"], "env": {"Z": "b"}}),
    ("claude-desktop", DESKTOP, "mcpServers", {"command": COMMAND, "args": ["serve"], "env": {"Z": "b"}}),
    ("cursor", CURSOR, "mcpServers", {"type": "stdio", "command": COMMAND, "args": ["serve"], "env": {"Z": "b"}}),
    ("codex", CODEX, "mcp_servers", {"command": COMMAND, "args": ["serve"], "env": {"Z": "b"}}),
    ("opencode", OPENCODE, "mcp",
     {"type": "local", "command": [COMMAND, "serve"], "environment": {"Z": "b"}, "enabled": True}),
    ("muse-code", MUSE, "mcp_servers",
     {"transport": "stdio", "command": COMMAND, "args": ["serve"], "env": {"Z": "b"}}),
]  # fmt: skip


@pytest.mark.parametrize(("client", "name", "container", "expected"), SHAPES, ids=[shape[0] for shape in SHAPES])
def test_a02_a03_a14_an_entry_has_the_clients_keys_and_no_other(
    tmp_path: Path, client: str, name: str, container: str, expected: dict[str, Any]
) -> None:
    home = Home(tmp_path)
    home.install(client, "--name", "ledger", "--env", "Z=b", "--", COMMAND, "serve")
    assert home.value(name, container, "ledger") == expected


@pytest.mark.parametrize(
    ("client", "level", "expected"),
    [
        ("claude-code", "user", {"type": "http", "url": URL}),
        # Muse reads this file too and has another word, which Claude Code takes as well.
        ("claude-code", "project", {"type": "streamable-http", "url": URL}),
        ("cursor", "user", {"url": URL}),
        ("codex", "user", {"url": URL}),
        ("opencode", "user", {"type": "remote", "url": URL, "enabled": True}),
        ("muse-code", "user", {"transport": "streamable_http", "url": URL}),
        ("muse-code", "project", {"type": "streamable-http", "url": URL}),
    ],
)
def test_a05_each_client_has_its_own_word_for_http(
    tmp_path: Path, client: str, level: str, expected: dict[str, Any]
) -> None:
    home = Home(tmp_path)
    words = ("install", "--client", client, "--level", level, "--name", "ledger", "--json", URL)
    assert entry(home.run(*words)) == expected
    assert home.litter() == set()


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        ("claude-code", {"type": "sse", "url": URL}),
        ("cursor", {"url": URL}),
        ("opencode", {"type": "remote", "url": URL, "enabled": True}),
        ("codex", "transport_unsupported"),
        ("muse-code", "transport_unsupported"),
        ("claude-desktop", "transport_unsupported"),
    ],
)
def test_a05_the_old_transport_is_spelled_or_refused(tmp_path: Path, client: str, expected: object) -> None:
    home = Home(tmp_path, quick=True)
    done = home.run("install", "--client", client, "--name", "ledger", "--transport", "sse", "--json", URL)
    assert (entry(done) or done.envelope["error"]["code"]) == expected


@pytest.mark.parametrize("client", ["cursor", "claude-code", "codex"])
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["npx", "-y", "ledger-server"], ("cmd", ["/c", "npx", "-y", "ledger-server"])),
        (["pnpm", "dlx", "x"], ("cmd", ["/c", "pnpm", "dlx", "x"])),
        (["npx.cmd", "x"], ("cmd", ["/c", "npx.cmd", "x"])),
        (["C:\\t\\run.CMD"], ("cmd", ["/c", "C:\\t\\run.CMD"])),
        (["C:\\t\\serve.bat", "-v"], ("cmd", ["/c", "C:\\t\\serve.bat", "-v"])),
        (["C:\\Tools\\ledger.exe"], ("C:\\Tools\\ledger.exe", None)),
        (["node.exe", "npx"], ("node.exe", ["npx"])),
        (["uvx", "ledger"], ("uvx", ["ledger"])),
        (["cmd", "/c", "npx"], ("cmd", ["/c", "npx"])),
        (["cmd.exe", "/d", "/c", "npx.cmd"], ("cmd.exe", ["/d", "/c", "npx.cmd"])),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a06_cmd_stands_before_a_script_on_windows_and_nothing_else(
    client: str, command: list[str], expected: tuple[str, list[str] | None]
) -> None:
    found, _ = on_windows(client, *command)
    assert (found["command"], found.get("args")) == expected


@pytest.mark.parametrize("client", ["claude-code", "cursor", "codex"])
@pytest.mark.parametrize("share", ["\\\\wsl.localhost\\", "\\\\wsl$\\", "//wsl.localhost/", "\\\\WSL$\\"])
def test_a07_a_config_inside_wsl_is_read_by_linux(client: str, share: str) -> None:
    config = f"{share}Depot\\home\\nora\\{'config.toml' if client == 'codex' else 'mcp.json'}"
    found, _ = on_windows(client, "npx", "-y", "x", config=config)
    assert (found["command"], found["args"]) == ("npx", ["-y", "x"])


ADD = ["claude", "mcp", "add", "--scope", "user"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--env", "LEDGER_ZONE=b c", "--", COMMAND, "serve", "--flag", "-x"],
         [*ADD, "ledger", "-e", "LEDGER_ZONE=b c", "--", COMMAND, "serve", "--flag", "-x"]),
        (["--env", "A=1", "--env", "B='", "--", "/opt/My Tools/ledger", 'a"b', "$HOME/x", "", "*"],
         [*ADD, "ledger", "-e", "A=1", "-e", "B='", "--", "/opt/My Tools/ledger", 'a"b', "${HOME}/x", "", "*"]),
        (["--header", "X-Zone: b c", "--header", "X-B: 2", "https://h.example/mcp?a=1&b=2"],
         [*ADD, "--transport", "http", "ledger", "https://h.example/mcp?a=1&b=2", "--header", "X-Zone: b c",
          "--header", "X-B: 2"]),
    ],
    ids=["a08", "odd-words", "remote"],
)  # fmt: skip
def test_a08_the_printed_line_gives_the_same_words_back(tmp_path: Path, words: list[str], expected: list[str]) -> None:
    home = Home(tmp_path)
    printed = home.run("install", "--client", "claude-code", "--name", "ledger", *words)
    line = next(line for line in printed.stderr.decode().splitlines() if "its own command: " in line)
    assert shlex.split(line.partition(": ")[2]) == expected
    assert home.litter() == set()


def powershell_words(line: str) -> list[str]:
    """What PowerShell 5.1 hands to a program: single quotes are taken off, doubled ones are one."""
    words: list[str] = []
    at = 0
    while at < len(line):
        if line[at] == " ":
            at += 1
        elif line[at] == "'":
            end = at + 1
            while line[end] != "'" or line[end : end + 2] == "''":
                end += 2 if line[end] == "'" else 1
            words.append(line[at + 1 : end].replace("''", "'"))
            at = end + 1
        else:
            end = (line + " ").index(" ", at)
            words.append(line[at:end])
            at = end
    return words


@pytest.mark.parametrize("shell", ["powershell", "bash"])
def test_a09_the_line_is_quoted_for_the_shell_that_reads_it_and_passes_no_json(shell: str) -> None:
    environment = make_environment("win32", shell=lambda: shell)
    disk = MadeDisk(environment, {"~/.claude.json": b"{}"})
    command = ["C:\\Program Files\\Ledger\\ledger.exe", "serve", "it's", "100%"]
    words = ("install", "--client", "claude-code", "--name", "ledger", "--", *command)
    printed = run(*words, environment=environment, disk=disk).stderr.decode()
    line = next(line for line in printed.splitlines() if "its own command: " in line).partition(": ")[2]
    read = powershell_words if shell == "powershell" else shlex.split
    assert read(line) == [*ADD, "ledger", "--", *command]
    assert '"' not in line or shell == "bash"


NAMES = ["acme.ledger", "my ledger", "帳簿", "__proto__", "", "constructor", "-x", "a/b", "workspace", "ledger\n"]


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_a10_a_name_that_the_client_refuses_is_a_wrong_command_line(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path, quick=True)
    home.file(CLAUDE, '{ "mcpServers": {} }')
    for level in ("user", "project"):
        done = home.install("claude-code", f"--name={name}", "--", COMMAND, level=level)
        assert done.exit == 2
        assert [word for word in ("letters", "hyphens", "underscores") if word not in said(done)] == []
    assert (home.unchanged(), home.litter()) == (True, set())


@pytest.mark.parametrize("client", ["cursor", "opencode", "claude-desktop", "muse-code", "codex"])
@pytest.mark.parametrize("name", ["", "my ledger", "帳簿", "__proto__"], ids=repr)
def test_a10_where_a_client_has_no_rule_the_portable_one_is_asked(tmp_path: Path, client: str, name: str) -> None:
    home = Home(tmp_path, quick=True)
    pasted = home.file("pasted.json", json.dumps({"mcpServers": {name: {"command": COMMAND}}}))
    assert home.install(client, f"--name={name}", "--", COMMAND).exit == (0 if (client, name) in UNDERSCORES else 2)
    home.run("undo", "--write")
    assert home.install(client, "--from", str(pasted)).exit == (0 if (client, name) in UNDERSCORES else 2)


UNDERSCORES = {("codex", "__proto__")}  # within Codex's own rule, and a key like any other in TOML


def test_a11_a_leading_tilde_alone_is_made_absolute(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(CURSOR, '{ "mcpServers": {} }')
    words = ["--root", "~/depot", "--label", "a~b", "x/~/y", "~nora/z", "~", "--at=~/q"]
    home.install("cursor", "--name", "ledger", "--env", "P=~/p", "--", "~/bin/ledger", *words)
    found = home.value(CURSOR, "mcpServers", "ledger")
    assert found["command"] == f"{home.path}/bin/ledger"
    assert found["args"] == [
        "--root", f"{home.path}/depot", "--label", "a~b", "x/~/y", "~nora/z", str(home.path), "--at=~/q",
    ]  # fmt: skip
    assert found["env"] == {"P": "~/p"}


def test_a11_in_a_pasted_snippet_too_and_with_a_backslash_on_windows(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    pasted = home.file("p.json", '{"ledger": {"command": "~/bin/ledger", "args": ["~/depot", "a~b"]}}')
    home.install("opencode", "--from", str(pasted))
    assert home.value(OPENCODE, "mcp", "ledger", "command") == [f"{home.path}/bin/ledger", f"{home.path}/depot", "a~b"]
    found, _ = on_windows("cursor", "~\\bin\\ledger.exe", "~/depot")
    assert (found["command"], found["args"]) == ("C:\\Users\\nora\\bin\\ledger.exe", ["C:\\Users\\nora\\depot"])


@pytest.mark.parametrize("source", [None, b"", b"  \r\n"], ids=["missing", "empty", "blank"])
@pytest.mark.parametrize("xdg", [True, False], ids=["xdg", "home"])
def test_a14_a15_a_new_file_has_what_the_client_cannot_do_without(
    tmp_path: Path, source: bytes | None, xdg: bool
) -> None:
    home = Home(tmp_path)
    name = "elsewhere/muse/settings.json" if xdg else MUSE
    (home.path / name).parent.mkdir(parents=True, exist_ok=True)
    if source is not None:
        home.file(name, source)
    variables = {"XDG_CONFIG_HOME": str(home.path / "elsewhere")} if xdg else {}
    assert home.install("muse-code", variables=variables).exit == 0
    assert home.value(name) == {
        "schema_version": 1,
        "mcp_servers": {"ledger": {"transport": "stdio", "command": COMMAND, "args": ["serve"]}},
    }
    assert home.litter() <= {name}


def test_a15_a_fragment_for_a_missing_file_has_it_too_and_for_opencode_the_schema(tmp_path: Path) -> None:
    home = Home(tmp_path)
    muse, opencode = (
        read_json(home.run("install", "--client", client, *LEDGER).stdout) for client in ("muse-code", "opencode")
    )
    assert (muse["schema_version"], opencode["$schema"]) == (1, "https://opencode.ai/config.json")


FAR = '        "far": { "transport": "streamable_http", "url": "http://127.0.0.1:4410/mcp", "enabled": false }\n'


@pytest.mark.parametrize(
    ("container", "words", "expected"),
    [
        ("mcp_servers", LEDGER, {"transport": "stdio", "command": COMMAND, "args": ["serve"]}),
        ("mcp_servers", ("--name", "ledger", URL), {"transport": "streamable_http", "url": URL}),
        ("mcpServers", LEDGER, {"type": "stdio", "command": COMMAND, "args": ["serve"]}),
        ("mcpServers", ("--name", "ledger", URL), {"type": "streamable-http", "url": URL}),
    ],
    ids=["older", "older-url", "newer", "newer-url"],
)
def test_a16_the_container_that_the_file_has_keeps_its_shape_and_siblings(
    tmp_path: Path, container: str, words: tuple[str, ...], expected: dict[str, Any]
) -> None:
    home = Home(tmp_path)
    source = '{\n    "schema_version": 1,\n    "theme": "dusk",\n    "' + container + '": {\n' + FAR + "    }\n}\n"
    home.file(MUSE, source)
    once = written(home, MUSE, lambda: home.install("muse-code", *words), home.install("muse-code", *words))
    assert kept(source, once, commas=1)
    before = json.loads(source)
    assert home.value(MUSE) == {**before, container: {**before[container], "ledger": expected}}


@pytest.mark.parametrize(
    "content",
    [{"theme": "dusk"}, {"schema_version": "1"}, {"schema_version": True}, {"schema_version": 2}, {}],
    ids=["missing", "text", "true", "another", "empty-object"],
)
def test_a17_a_file_that_the_client_rejects_is_refused(tmp_path: Path, content: dict[str, Any]) -> None:
    home = Home(tmp_path)
    home.file(MUSE, as_text(content))
    refused(home, home.install("muse-code"), str(home.path / MUSE), "schema_version")


def test_a17_a_file_with_both_containers_is_refused_as_the_client_does(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(MUSE, as_text({"schema_version": 1, "mcpServers": {}, "mcp_servers": {}}))
    refused(home, home.install("muse-code"), str(home.path / MUSE), "mcpServers", "mcp_servers")


@pytest.mark.parametrize(
    ("client", "name", "source", "named"),
    [
        ("opencode", OPENCODE, '{"mcp": {"rota": {"type": "stdio", "command": "/opt/rota"}}}', ["rota", "stdio"]),
        ("opencode", OPENCODE, '{"mcp": {"rota": {"type": "http", "url": "http://127.0.0.1:1"}}}', ["rota", "http"]),
        ("codex", CODEX, '[mcp_servers.rota]\ncommand = "/opt/rota"\nurl = "http://127.0.0.1:1"\n', ["rota", "url"]),
        ("codex", CODEX, '[mcp_servers.rota]\nurl = "http://127.0.0.1:1"\nenv = { A = "1" }\n', ["rota", "env"]),
    ],
    ids=["stdio", "http", "both", "env"],
)
def test_a17_a_neighbour_for_which_the_client_refuses_the_file_is_named(
    tmp_path: Path, client: str, name: str, source: str, named: list[str]
) -> None:
    home = Home(tmp_path, quick=True)
    home.file(name, source)
    refused(home, home.install(client), str(home.path / name), *named)
    assert home.run("install", "--client", client, *LEDGER).exit == 0


def test_a17_what_is_wrong_in_our_own_entry_is_made_right(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    ours = {"type": "local", "command": [COMMAND, "serve"]}
    for key, value in (("type", "stdio"), ("url", URL)):
        home.file(OPENCODE, as_text({"mcp": {"ledger": {**ours, key: value}}}))
        assert home.install("opencode").exit == 0
        assert home.value(OPENCODE, "mcp", "ledger") == {**ours, "enabled": True}
    home.file(CODEX, f'[mcp_servers.ledger]\ncommand = "{COMMAND}"\nargs = ["serve"]\nurl = "{URL}"\n')
    assert home.install("codex").exit == 0
    assert home.value(CODEX, "mcp_servers", "ledger") == {"command": COMMAND, "args": ["serve"]}
