"""A: what an entry says to each client."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from homeport.installer.clients.references import parse_text
from homeport.installer.clients.values import Registration, Stdio
from homeport.installer.plan.install import plan_install
from homeport.installer.plan.ownership import History
from homeport.installer.plan.quoting import command_line
from homeport.installer.plan.request import InstallRequest
from tests.cases.machine import Home, as_text, entry, refused, said
from tests.made import MadeDisk, make_environment

LEDGER = "/opt/ledger/bin/ledger"


def on_windows(client: str, command: str, *args: str, config: str | None = None) -> Any:
    environment = make_environment(platform="win32")
    server = Stdio(parse_text(command), tuple(parse_text(word) for word in args))
    path = None if config is None else environment.path(config)
    request = InstallRequest((Registration("ledger", server),), config=path)
    disk = MadeDisk(environment, {"~/.cursor/mcp.json": b"{}", "~/.claude.json": b"{}"})
    return plan_install(client, request, environment, disk, History()).rows[0].entry


def test_a01_each_clients_own_container(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for client in ("cursor", "claude-code", "opencode", "codex"):
        assert home.install(client, level="project").exit == 0
    project = "work/depot/"
    assert home.value(project + ".cursor/mcp.json", "mcpServers", "ledger", "command") == LEDGER
    assert home.value(project + ".mcp.json", "mcpServers", "ledger", "command") == LEDGER
    assert home.value(project + "opencode.json", "mcp", "ledger", "command") == [LEDGER, "serve"]
    assert home.value(project + ".codex/config.toml", "mcp_servers", "ledger", "command") == LEDGER


def test_a02_a03_opencodes_shape_and_no_key_of_ours(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.install("opencode", "--name", "ledger", "--env", "LEDGER_ZONE=b", "--", LEDGER, "serve")
    assert home.value(".config/opencode/opencode.json", "mcp", "ledger") == {
        "type": "local",
        "command": [LEDGER, "serve"],
        "environment": {"LEDGER_ZONE": "b"},
        "enabled": True,
    }


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        ("claude-code", {"type": "http", "url": "http://127.0.0.1:4410/mcp"}),
        ("cursor", {"url": "http://127.0.0.1:4410/mcp"}),
        ("codex", {"url": "http://127.0.0.1:4410/mcp"}),
        ("opencode", {"type": "remote", "url": "http://127.0.0.1:4410/mcp", "enabled": True}),
        ("muse-code", {"transport": "streamable_http", "url": "http://127.0.0.1:4410/mcp"}),
    ],
)
def test_a05_each_clients_word_for_http(tmp_path: Path, client: str, expected: dict[str, Any]) -> None:
    home = Home(tmp_path)
    words = ("install", "--client", client, "--name", "ledger", "--json", "http://127.0.0.1:4410/mcp")
    assert entry(home.run(*words)) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["npx", "-y", "ledger-server"], {"command": "cmd", "args": ["/c", "npx", "-y", "ledger-server"]}),
        (["C:\\Tools\\ledger.exe"], {"command": "C:\\Tools\\ledger.exe"}),
        (["cmd", "/c", "npx"], {"command": "cmd", "args": ["/c", "npx"]}),
        (["C:\\t\\run.CMD"], {"command": "cmd", "args": ["/c", "C:\\t\\run.CMD"]}),
    ],
)
def test_a06_cmd_stands_before_a_script_on_windows_and_nothing_else(
    command: list[str], expected: dict[str, Any]
) -> None:
    assert on_windows("cursor", *command) == {"type": "stdio", **expected}


@pytest.mark.parametrize("share", ["wsl.localhost", "wsl$"])
def test_a07_a_config_inside_wsl_is_read_by_linux(share: str) -> None:
    found = on_windows("claude-code", "npx", "-y", "x", config=rf"\\{share}\Depot\home\nora\.claude.json")
    assert (found["command"], found["args"]) == ("npx", ["-y", "x"])


def test_a08_the_printed_line_gives_the_same_words_back(tmp_path: Path) -> None:
    home = Home(tmp_path)
    words = ["--name", "ledger", "--env", "LEDGER_ZONE=b c", "--", LEDGER, "serve", "--flag", "-x"]
    printed = said(home.run("install", "--client", "claude-code", *words, variables={"SHELL": "/bin/bash"}))
    line = next(line for line in printed.splitlines() if "claude mcp add" in line and "remove" not in line)
    said_first = ["claude", "mcp", "add", "--scope", "user", "ledger", "-e", "LEDGER_ZONE=b c", "--"]
    assert shlex.split(line[line.index("claude mcp add") :]) == [*said_first, LEDGER, "serve", "--flag", "-x"]
    assert home.litter() == set()


def test_a09_a_word_is_quoted_for_the_shell_that_reads_it() -> None:
    words = ["C:\\Program Files\\x.exe", "it's"]
    assert command_line(words, "powershell") == "'C:\\Program Files\\x.exe' 'it''s'"
    assert shlex.split(command_line(words, "posix")) == words


@pytest.mark.parametrize("name", ["acme.ledger", "my ledger", "帳簿", "__proto__", "", "workspace"])
def test_a10_a_name_that_the_client_refuses_is_a_wrong_command_line(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path)
    home.file(".claude.json", "{}")
    done = home.install("claude-code", "--name", name, "--", LEDGER)
    assert done.exit == 2
    assert all(word in said(done) for word in ("letters", "hyphens", "underscores"))
    assert home.unchanged()


def test_a11_a_leading_tilde_alone_is_made_absolute(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.install("cursor", "--name", "ledger", "--", "~/bin/ledger", "--root", "~/depot", "--label", "a~b", "x/~/y")
    found = home.value(".cursor/mcp.json", "mcpServers", "ledger")
    assert found["command"] == f"{home.path}/bin/ledger"
    assert found["args"] == ["--root", f"{home.path}/depot", "--label", "a~b", "x/~/y"]


@pytest.mark.parametrize(
    "words",
    [
        ["--env", "LEDGER_API_KEY=zq-test-0000-not-real", "--", LEDGER],
        ["--", LEDGER, "--token", "zq-test-0000-not-real"],
        ["http://127.0.0.1:1/mcp", "--header", "Authorization: Bearer zq-test-0000-not-real"],
        ["http://ann:zq-test-0000-not-real@127.0.0.1:1/mcp"],
    ],
    ids=["env", "argument", "header", "url"],
)
def test_a12_a_credential_is_not_written_nor_shown(tmp_path: Path, words: list[str]) -> None:
    home = Home(tmp_path)
    home.file("work/depot/.mcp.json", '{ "mcpServers": {} }')
    for more in ([], ["--json"], ["--allow-secret"]):
        done = home.install("claude-code", *more, "--name", "ledger", *words, level="project")
        assert done.exit == 1
        assert "zq-test-0000-not-real" not in said(done)
        assert home.unchanged()


@pytest.mark.parametrize(
    ("client", "at", "spelled"),
    [
        ("claude-code", "env", {"LEDGER_TOKEN": "${LEDGER_TOKEN}"}),
        ("cursor", "env", {"LEDGER_TOKEN": "${env:LEDGER_TOKEN}"}),
        ("opencode", "environment", {"LEDGER_TOKEN": "{env:LEDGER_TOKEN}"}),
        ("codex", "env_vars", ["LEDGER_TOKEN"]),
        ("muse-code", "env", {"LEDGER_TOKEN": "${LEDGER_TOKEN}"}),
    ],
)
def test_a13_each_clients_own_reference(tmp_path: Path, client: str, at: str, spelled: Any) -> None:
    home = Home(tmp_path)
    words = ("install", "--client", client, "--name", "ledger", "--env", "LEDGER_TOKEN", "--json", "--", LEDGER)
    done = home.run(*words)
    assert entry(done)[at] == spelled
    assert done.envelope["result"]["clients"][0]["requires_env"] == ["LEDGER_TOKEN"]


@pytest.mark.parametrize("pasted", ["${T}", "${env:T}", "{env:T}", "$T"])
@pytest.mark.parametrize(
    ("client", "spelled"), [("claude-code", "${T}"), ("cursor", "${env:T}"), ("opencode", "{env:T}"), ("codex", None)]
)
def test_a13_a_pasted_reference_is_translated_or_refused(
    tmp_path: Path, client: str, spelled: str | None, pasted: str
) -> None:
    home = Home(tmp_path)
    done = home.run("install", "--client", client, "--name", "ledger", "--json", "--", LEDGER, f"--key={pasted}")
    if spelled is None:
        assert (done.exit, done.envelope["error"]["code"]) == (1, "reference_unsupported")
    else:
        found = entry(done)
        assert (found.get("args") or found["command"])[-1] == f"--key={spelled}"


def test_a13_claude_desktop_cannot_forward_a_variable(tmp_path: Path) -> None:
    home = Home(tmp_path)
    refused(home, home.install("claude-desktop", "--name", "x1", "--env", "LEDGER_TOKEN", "--", LEDGER), "LEDGER_TOKEN")


def test_a14_a15_a_new_file_has_what_the_client_cannot_do_without(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.install("muse-code")
    assert home.value(".config/muse/settings.json") == {
        "schema_version": 1,
        "mcp_servers": {"ledger": {"transport": "stdio", "command": LEDGER, "args": ["serve"]}},
    }


def test_a15_the_file_lies_where_xdg_says(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (tmp_path / "xdg" / "muse").mkdir(parents=True)
    home.install("muse-code", variables={"XDG_CONFIG_HOME": str(tmp_path / "xdg")})
    assert json.loads((tmp_path / "xdg" / "muse" / "settings.json").read_bytes())["schema_version"] == 1


def test_a16_the_older_container_keeps_its_shape_and_siblings(tmp_path: Path) -> None:
    home = Home(tmp_path)
    far = {"transport": "streamable_http", "url": "http://127.0.0.1:1/mcp", "enabled": False}
    home.file(
        ".config/muse/settings.json", as_text({"schema_version": 1, "theme": "dusk", "mcp_servers": {"far": far}})
    )
    home.install("muse-code")
    assert home.value(".config/muse/settings.json") == {
        "schema_version": 1,
        "theme": "dusk",
        "mcp_servers": {"far": far, "ledger": {"transport": "stdio", "command": LEDGER, "args": ["serve"]}},
    }


@pytest.mark.parametrize("content", [{"theme": "dusk"}, {"schema_version": "1"}, {"schema_version": True}])
def test_a17_a_file_that_the_client_rejects_is_refused(tmp_path: Path, content: dict[str, Any]) -> None:
    home = Home(tmp_path)
    home.file(".config/muse/settings.json", as_text(content))
    refused(home, home.install("muse-code"), str(home.path / ".config/muse/settings.json"), "schema_version")
