"""A once more, by another road: the kinds of fault that test_adapter_cases.py tells, in other words and moments."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from homeport.installer.clients.references import parse_text
from homeport.installer.clients.values import Registration, Stdio
from homeport.installer.plan.quoting import command_line
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
    entry,
    planned,
    refused,
    said,
)
from tests.made import MadeDisk, make_environment

URL = "http://127.0.0.1:4410/mcp"
SECRET = "zq-test-0000-not-real"
USER_FILES = {
    "claude-code": (CLAUDE, "mcpServers"),
    "claude-desktop": (DESKTOP, "mcpServers"),
    "cursor": (CURSOR, "mcpServers"),
    "codex": (CODEX, "mcp_servers"),
    "opencode": (OPENCODE, "mcp"),
    "muse-code": (MUSE, "mcp_servers"),
}
PROJECT_FILES = {
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "claude-code": (".mcp.json", "mcpServers"),
    "opencode": ("opencode.json", "mcp"),
    "codex": (".codex/config.toml", "mcp_servers"),
}


def test_a01_one_command_for_four_clients_and_one_to_take_it_back(tmp_path: Path) -> None:
    home = Home(tmp_path)
    clients = [word for client in PROJECT_FILES for word in ("--client", client)]
    done = home.run("install", *clients, "--level", "project", "--write", *LEDGER)
    assert done.exit == 0, said(done)
    for name, container in PROJECT_FILES.values():
        found = home.value(f"{PROJECT}/{name}")
        assert (found.keys() - {"$schema"}, found[container].keys()) == ({container}, {"ledger"})
    assert home.litter() == {f"{PROJECT}/{name}" for name, _ in PROJECT_FILES.values()}
    home.run("uninstall", "ledger", *clients, "--level", "project", "--write")
    assert home.litter() == set()


def test_a02_opencodes_remote_entry_has_its_words_and_no_others(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(OPENCODE, "{}\n")
    home.install("opencode", "--name", "ledger", "--header", "X-Zone: b", URL)
    expected = {"type": "remote", "url": URL, "headers": {"X-Zone": "b"}, "enabled": True}
    assert home.value(OPENCODE) == {"mcp": {"ledger": expected}}
    home.install("opencode", "--name", "ledger", "--env", "Z=b", "--", COMMAND)
    assert home.value(OPENCODE, "mcp", "ledger") == {
        "type": "local", "command": [COMMAND], "environment": {"Z": "b"}, "enabled": True,
    }  # fmt: skip


def test_a03_every_command_later_the_entries_hold_no_key_of_ours(tmp_path: Path) -> None:
    """Bookkeeping is in the journal, whatever was changed, asked or taken back."""
    home = Home(tmp_path, quick=True)
    allowed = {"type", "transport", "command", "args", "enabled"}
    for client in USER_FILES:
        home.install(client)
        home.install(client, "--name", "ledger", "--", COMMAND, "serve", "--more")
    home.run("undo", "--write")
    home.run("status")
    for client, (name, container) in USER_FILES.items():
        found = home.value(name)
        assert found.keys() - {"$schema", "schema_version"} == {container}, client
        assert found[container]["ledger"].keys() - allowed == set(), client


@pytest.mark.parametrize("word", ["http", "streamable-http", "streamable_http", "streamableHttp", "remote", None])
@pytest.mark.parametrize(
    ("client", "expected"),
    [
        ("claude-code", {"type": "http", "url": URL}),
        ("cursor", {"url": URL}),
        ("codex", {"url": URL}),
        ("opencode", {"type": "remote", "url": URL, "enabled": True}),
        ("muse-code", {"transport": "streamable_http", "url": URL}),
    ],
)
def test_a05_whatever_word_was_pasted_each_client_gets_its_own(
    tmp_path: Path, client: str, expected: dict[str, Any], word: str | None
) -> None:
    home = Home(tmp_path, quick=True)
    for key in ("type", "transport"):
        pasted = {"url": URL} if word is None else {key: word, "url": URL}
        path = home.file("pasted.json", json.dumps({"mcpServers": {"ledger": pasted}}))
        done = home.run("install", "--client", client, "--from", str(path), "--json")
        assert done.exit == 0, said(done)
        assert entry(done) == expected


def planned_entry(platform: Any, client: str, words: list[str], config: str | None = None, **changes: Any) -> Any:
    environment = make_environment(platform=platform, **changes)
    command, *args = (parse_text(word) for word in words)
    request = InstallRequest(
        (Registration("ledger", Stdio(command, tuple(args))),),
        config=None if config is None else environment.path(config),
        via="file",
    )
    homes = {name.replace(".config/Claude", "AppData/Roaming/Claude"): b"" for name, _ in USER_FILES.values()}
    disk = MadeDisk(environment, {f"~/{name}": content for name, content in homes.items()})
    row = planned(client, request, environment, disk).rows[0]
    assert row.error is None, row.error
    return row.entry


@pytest.mark.parametrize("platform", ["win32", "linux", "darwin"])
def test_a06_opencodes_list_gets_cmd_in_front_on_windows_alone(platform: str) -> None:
    found = planned_entry(platform, "opencode", ["npx", "-y", "ledger-server"])["command"]
    assert found == [*(["cmd", "/c"] if platform == "win32" else []), "npx", "-y", "ledger-server"]


@pytest.mark.parametrize("words", [["cmd", "/c", "npx", "-y", "x"], ["C:\\Tools\\ledger.exe"], ["uv", "run", "npx"]])
@pytest.mark.parametrize("client", ["cursor", "claude-desktop", "opencode"])
def test_a06_a_command_that_starts_by_itself_is_left(client: str, words: list[str]) -> None:
    found = planned_entry("win32", client, words)
    assert (found["command"] if client == "opencode" else [found["command"], *found.get("args", [])]) == words


@pytest.mark.parametrize(
    "config", ["\\\\wsl$\\Depot\\home\\nora\\o.json", "\\\\wsl.localhost\\Depot\\home\\nora\\o.json"]
)
def test_a07_opencodes_list_for_wsl_has_no_cmd(config: str) -> None:
    assert planned_entry("win32", "opencode", ["npx", "x"], config)["command"] == ["npx", "x"]
    assert planned_entry("win32", "opencode", ["npx", "x"], "C:\\wsl$\\o.json")["command"] == ["cmd", "/c", "npx", "x"]


ODD = ["it's", "$(id)", "`id`", "a;b", "a|b", "!x", "~x", "*", "", "é 🌙", "-e", "--", "a\\b", "#", "{a,b}", '"', "x=y"]


@pytest.mark.parametrize("client", ["claude", "codex"])
@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_a08_a_shell_hands_the_printed_words_to_the_client(tmp_path: Path, client: str, shell: str) -> None:
    """The line is run as it stands, by the shell itself, with a program in the client's place that writes its words."""
    home = Home(tmp_path)
    id = "claude-code" if client == "claude" else "codex"
    words = ("--name", "ledger", "--env", "ZONE=b 'c", "--literal", "--", "/opt/My Tools/ledger", *ODD)
    printed = home.run("install", "--client", id, *words).stderr.decode()
    line = next(line for line in printed.splitlines() if "its own command: " in line).partition(": ")[2]
    echo = home.path / "bin" / client
    echo.parent.mkdir()
    echo.write_text('#!/bin/sh\nfor word in "$@"; do printf "%s\\0" "$word"; done\n')
    echo.chmod(0o755)
    path = f"{echo.parent}:/usr/bin:/bin"
    done = subprocess.run([shell, "-c", line], env={"PATH": path}, capture_output=True, cwd=home.project, timeout=60)
    given = done.stdout.decode().split("\0")[:-1]
    at = given.index("--")
    assert (given[:2], given[at + 1 :]) == (["mcp", "add"], ["/opt/My Tools/ledger", *ODD])
    assert ("ZONE=b 'c" in given[:at], "ledger" in given[:at]) == (True, True)
    # Claude Code's -e takes every word behind it: the name has to stand in front, or behind `--`.
    assert client == "codex" or given.index("ledger") < given.index("ZONE=b 'c")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("it’s", "'it’’s'"),
        ("‘a‚‛", "'‘‘a‚‚‛‛'"),
        ("-Dledger.zone=b", "'-Dledger.zone=b'"),
        ("-config:x", "'-config:x'"),
        ("--zone=b", "--zone=b"),
        ("$HOME `n", "'$HOME `n'"),
        ("@x", "'@x'"),
        ("a,b", "'a,b'"),
        ("--%", "'--%'"),
    ],
)
def test_a09_powershell_reads_more_than_one_quote_and_splits_a_dotted_option(word: str, expected: str) -> None:
    assert command_line([word], "powershell") == expected


@pytest.mark.parametrize("name", ["acme.ledger", "my ledger", "帳簿", "__proto__"])
def test_a10_what_no_new_entry_may_be_called_can_still_be_taken_out(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path, quick=True)
    home.file(CLAUDE, json.dumps({"mcpServers": {"rota": {"command": "/r"}, name: {"command": "/x"}}}, indent=2))
    done = home.install("claude-code", "--name", name, "--", COMMAND)
    assert (done.exit, home.unchanged()) == (2, True)
    assert home.uninstall("claude-code", name, "--replace").exit == 0
    assert home.value(CLAUDE) == {"mcpServers": {"rota": {"command": "/r"}}}


@pytest.mark.parametrize("client", [*USER_FILES])
def test_a11_the_home_is_spelled_out_in_every_client(tmp_path: Path, client: str) -> None:
    home = Home(tmp_path, quick=True)
    words = ["--name", "ledger", "--", "~/bin/ledger", "~/depot", "a~b", "~"]
    found = entry(home.install(client, "--json", *words))
    given = found["command"] if client == "opencode" else [found["command"], *found["args"]]
    assert given == [f"{home.path}/bin/ledger", f"{home.path}/depot", "a~b", str(home.path)]


def test_a12_at_the_user_level_it_takes_a_word_and_is_never_shown(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    words = ["--name", "ledger", "--env", f"LEDGER_API_KEY={SECRET}", "--", COMMAND]
    for more in ([], ["--diff"], ["--json"]):
        refused(home, home.install("cursor", *more, *words), "LEDGER_API_KEY")
    for more in ([], ["--diff"], ["--json"]):
        done = home.run("install", "--client", "cursor", "--allow-secret", *more, *words)
        assert SECRET not in said(done)
    done = home.install("cursor", "--allow-secret", *words)
    assert (done.exit, SECRET in said(done)) == (0, False)
    assert home.value(CURSOR, "mcpServers", "ledger", "env") == {"LEDGER_API_KEY": SECRET}
    for later in (["status", "--json"], ["list", "--json"], ["list"], ["undo", "--list"], ["undo"]):
        assert SECRET not in said(home.run(*later))
    home.install("cursor", "--name", "ledger", "--", COMMAND)
    files = (path for path in (home.path / ".local").rglob("*") if path.is_file())
    assert {path.stat().st_mode & 0o077 for path in files if SECRET.encode() in path.read_bytes()} <= {0}


@pytest.mark.parametrize(
    ("client", "key", "value"),
    [
        ("claude-code", "env", {"LEDGER_TOKEN": "${LEDGER_TOKEN}"}),
        ("cursor", "env", {"LEDGER_TOKEN": "${env:LEDGER_TOKEN}"}),
        ("opencode", "environment", {"LEDGER_TOKEN": "{env:LEDGER_TOKEN}"}),
        ("codex", "env_vars", ["LEDGER_TOKEN"]),
    ],
)
def test_a13_in_a_project_a_reference_is_spelled_as_for_a_person(
    tmp_path: Path, client: str, key: str, value: object
) -> None:
    home = Home(tmp_path, quick=True)
    words = ("--name", "ledger", "--env", "LEDGER_TOKEN", "--", COMMAND, "serve")
    done = home.install(client, *words, level="project", variables={"LEDGER_TOKEN": SECRET})
    assert (done.exit, SECRET in said(done)) == (0, False)
    name, container = PROJECT_FILES[client]
    assert home.value(f"{PROJECT}/{name}", container, "ledger", key) == value


def test_a13_claude_desktop_refuses_among_others_who_do_not(tmp_path: Path) -> None:
    """One client that cannot hold the variable does not keep it from the others, and the exit says so."""
    home = Home(tmp_path)
    both = ("--client", "cursor", "--client", "claude-desktop", "--name", "ledger", "--env", "LEDGER_TOKEN")
    done = home.run("install", *both, "--write", "--json", "--", COMMAND)
    rows = {row["client"]: row for row in done.envelope["result"]["clients"]}
    assert (done.exit, rows["cursor"]["outcome"], rows["claude-desktop"]["outcome"]) == (1, "created", "refused")
    assert rows["claude-desktop"]["error"]["code"] == "reference_unsupported"
    assert "LEDGER_TOKEN" in rows["claude-desktop"]["error"]["message"]
    assert not (home.path / DESKTOP).exists()


@pytest.mark.parametrize(
    ("client", "required"),
    [("opencode", {"type": "local", "enabled": True}), ("muse-code", {"transport": "stdio"})],
)
def test_a14_an_entry_pasted_without_the_required_words_gets_them(
    tmp_path: Path, client: str, required: dict[str, Any]
) -> None:
    home = Home(tmp_path)
    pasted = home.file("pasted.json", json.dumps({"ledger": {"command": COMMAND, "args": ["serve"]}}))
    home.install(client, "--from", str(pasted))
    name, container = USER_FILES[client]
    found = home.value(name, container, "ledger")
    assert {key: found[key] for key in required} == required


def test_a15_a_second_server_and_the_way_back_leave_the_version(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.install("muse-code")
    home.install("muse-code", "--name", "rota", "--", "/opt/rota")
    assert home.uninstall("muse-code").exit == 0
    assert home.value(MUSE) == {
        "schema_version": 1,
        "mcp_servers": {"rota": {"transport": "stdio", "command": "/opt/rota"}},
    }
    assert list(home.value(MUSE)) == ["schema_version", "mcp_servers"]


@pytest.mark.parametrize("container", ["mcp_servers", "mcpServers"])
def test_a16_an_entry_that_a_person_switched_off_stays_off_and_keeps_its_mode(tmp_path: Path, container: str) -> None:
    home = Home(tmp_path)
    home.file(MUSE, '{\n  "schema_version": 1,\n  "' + container + '": {}\n}\n')
    home.install("muse-code")
    end = '"serve"\n      ]\n    }'
    source = home.read(MUSE).decode()
    assert source.count(end) == 1
    mine = source.replace(end, '"serve"\n      ],\n      "enabled": false,\n      "mode": "optional"\n    }')
    home.file(MUSE, mine)
    done = home.install("muse-code", "--name", "ledger", "--", COMMAND, "serve", "--more")
    assert done.exit == 0, said(done)
    assert home.read(MUSE).decode() == mine.replace('"serve"\n', '"serve",\n        "--more"\n')


@pytest.mark.parametrize("source", ['{\n  "theme": "dusk"\n}\n', '{"schema_version": 7, "mcp_servers": {}}'])
def test_a17_the_reason_is_the_same_in_every_mode_and_printing_still_helps(tmp_path: Path, source: str) -> None:
    home = Home(tmp_path, quick=True)
    home.file(MUSE, source)
    done = home.install("muse-code", "--json", *LEDGER)
    assert done.envelope["error"]["details"]["file"] == str(home.path / MUSE)
    refused(home, done, "schema_version")
    printed = home.run("install", "--client", "muse-code", *LEDGER)
    assert (printed.exit, COMMAND in printed.stdout.decode()) == (0, True)
    assert (home.unchanged(), home.litter()) == (True, set())
