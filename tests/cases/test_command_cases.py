"""P: a command that the client can start tomorrow, from where it runs."""

from __future__ import annotations

import shlex
from pathlib import Path, PurePath
from typing import Any

import pytest

from homeport.errors import HomeportError
from homeport.installer.clients.references import parse_text, plain_text
from homeport.installer.clients.values import Reference, Registration, Stdio, Text
from homeport.installer.plan.launcher import bundled_server
from homeport.installer.plan.request import InstallRequest
from tests.cases.machine import (
    CLAUDE,
    CODEX,
    COMMAND,
    CURSOR,
    DESKTOP,
    OPENCODE,
    Home,
    planned,
)
from tests.made import FOLDER, LinkTo, MadeDisk, Program, Thing, make_environment

EMPTY = '{\n  "mcpServers": {}\n}\n'


GUI = {"claude-desktop": "Library/Application Support/Claude/claude_desktop_config.json", "cursor": CURSOR}


@pytest.mark.parametrize("client", [*GUI, "opencode", "claude-code"])
def test_p08_a_bare_command_is_made_absolute_for_a_gui_client_on_macos(client: str) -> None:
    found = PurePath("/Users/nora/.local/bin/ledger")
    environment = make_environment("darwin", search=lambda name: found if name == "ledger" else None)
    things: dict[str, Thing] = {f"~/{file}": EMPTY.encode() for file in GUI.values()}
    things |= {"~/.config/opencode": FOLDER, "~/.claude": FOLDER}
    disk = MadeDisk(environment, things)
    for command, expected in (("ledger", str(found)), ("unknown", "unknown"), ("./ledger", "./ledger")):
        request = InstallRequest((Registration("ledger", Stdio(parse_text(command))),), via="file")
        row = planned(client, request, environment, disk).rows[0]
        assert row.entry is not None
        spelled = row.entry["command"]
        assert spelled in ((expected,) if client in GUI else (command, [command]))


def test_p08_on_linux_it_is_found_on_the_path_of_the_person(tmp_path: Path) -> None:
    home = Home(tmp_path)
    program = home.file(".local/bin/ledger", "#!/bin/sh\n")
    program.chmod(0o755)
    variables = {"PATH": f"{program.parent}:/usr/bin:/bin"}
    for client, name in (("claude-desktop", DESKTOP), ("cursor", CURSOR)):
        home.install(client, "--name", "ledger", "--", "ledger", "serve", variables=variables)
        assert home.value(name, "mcpServers", "ledger", "command") == str(program)


CACHE = "/home/nora/.cache/uv/archive-v0/Zk3/bin"
BIN = "/home/nora/.local/bin"
CELLAR = "/opt/homebrew/Cellar/homeport/1.2.3"


@pytest.mark.parametrize(
    ("python", "things", "expected"),
    [
        (f"{CACHE}/python", {f"{CACHE}/homeport": Program(), f"{BIN}/homeport": Program()}, [f"{BIN}/homeport"]),
        (f"{CACHE}/python", {f"{CACHE}/uvx": Program(), f"{BIN}/uvx": Program()}, [f"{BIN}/uvx", "homeport=="]),
        ("/home/nora/.cache/pipx/ab/bin/python", {f"{BIN}/pipx": Program()}, [f"{BIN}/pipx", "run", "homeport=="]),
        (f"{CELLAR}/bin/python", {f"{CELLAR}/bin/python": Program(), "/opt/homebrew/opt/homeport": LinkTo(CELLAR)},
         ["/opt/homebrew/opt/homeport/bin/python", "-m", "homeport"]),
        ("/opt/tool/3.4.5/bin/python", {"/opt/tool/3.4.5/bin/python": Program(), "/opt/tool/current": LinkTo("3.4.5")},
         ["/opt/tool/current/bin/python", "-m", "homeport"]),
        ("/home/nora/venv/bin/python", {}, ["/home/nora/venv/bin/python", "-m", "homeport"]),
    ],
    ids=["p09", "uvx", "pipx", "homebrew", "current", "venv"],
)  # fmt: skip
def test_p09_what_is_written_will_be_there_tomorrow(python: str, things: dict[str, Thing], expected: list[str]) -> None:
    environment = make_environment(python=python, variables={"PATH": f"{CACHE}:{BIN}:/usr/bin"})
    server = bundled_server((), environment, MadeDisk(environment, things), portable=False)
    words = [server.command.shown(), *(word.shown() for word in server.args)]
    assert [word.split("==")[0] for word in words] == [*(word.rstrip("=") for word in expected), "serve"]
    assert not any(place in " ".join(words) for place in (".cache/", "Cellar/", "3.4.5"))


def test_p09_a_one_off_runner_without_a_launcher_is_refused_with_the_better_way() -> None:
    environment = make_environment(python=f"{CACHE}/python", variables={"PATH": CACHE})
    with pytest.raises(HomeportError) as caught:
        bundled_server((), environment, MadeDisk(environment, {f"{CACHE}/homeport": Program()}), portable=False)
    assert caught.value.code == "interpreter_unstable"
    assert "uv tool install homeport" in (caught.value.hint or "")


SPACED = ["/opt/My Tools/ledger", "serve", "--root", "/srv/Depot Nord/a'b", "", " ", 'c"d']


@pytest.mark.parametrize(
    ("client", "name", "container"),
    [("cursor", CURSOR, "mcpServers"), ("codex", CODEX, "mcp_servers"), ("opencode", OPENCODE, "mcp"),
     ("claude-code", CLAUDE, "mcpServers")],
)  # fmt: skip
def test_p13_spaces_and_quotes_arrive_as_one_word(tmp_path: Path, client: str, name: str, container: str) -> None:
    home = Home(tmp_path)
    home.install(client, "--name", "ledger", "--", *SPACED)
    found = home.value(name, container, "ledger")
    words = found["command"] if client == "opencode" else [found["command"], *found["args"]]
    assert words == SPACED


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_p13_the_printed_line_gives_the_same_words_back(tmp_path: Path, client: str) -> None:
    home = Home(tmp_path)
    printed = home.run("install", "--client", client, "--name", "ledger", "--", *SPACED).stderr.decode()
    line = next(line for line in printed.splitlines() if "its own command: " in line)
    words = shlex.split(line.partition(": ")[2])
    assert words[words.index("--") + 1 :] == SPACED


WINDOWS_SIDE = "/mnt/c/Users/nora/AppData/Roaming/Claude/claude_desktop_config.json"


def in_wsl(server: Stdio, client: str = "claude-desktop", config: str = WINDOWS_SIDE) -> Any:
    environment = make_environment(variables={"WSL_DISTRO_NAME": "Depot"})
    disk = MadeDisk(environment, {config: EMPTY.encode()})
    request = InstallRequest((Registration("ledger", server),), config=environment.path(config))
    return planned(client, request, environment, disk).rows[0]


@pytest.mark.parametrize(
    ("client", "config"),
    [("claude-desktop", WINDOWS_SIDE), ("cursor", "/mnt/d/Users/nora/.cursor/mcp.json")],
)
def test_p14_a_linux_command_in_a_windows_clients_file_goes_through_wsl(client: str, config: str) -> None:
    server = Stdio(plain_text(COMMAND), (plain_text("serve"),))
    found = in_wsl(server, client, config).entry
    assert (found["command"], found["args"]) == ("wsl.exe", ["-d", "Depot", "--", COMMAND, "serve"])
    own = in_wsl(server, client, "/home/nora/mcp.json").entry
    assert (own["command"], own["args"]) == (COMMAND, ["serve"])


def test_p14_variables_cross_by_value_and_never_by_reference() -> None:
    by_value = Stdio(plain_text(COMMAND), (), (("ZONE", plain_text("b c")),))
    assert in_wsl(by_value).entry["args"] == ["-d", "Depot", "--", "env", "ZONE=b c", COMMAND]
    by_name = by_value._replace(env=(("TOKEN", Text((Reference("TOKEN"),))),))
    error = in_wsl(by_name).error or in_wsl(by_name, "cursor").error
    assert (error.code, "TOKEN" in error.message) == ("reference_unsupported", True)
