"""A command made right for the machine and the client that starts it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath, PurePosixPath, PureWindowsPath

import pytest

from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.installer.clients import claude_code, claude_desktop, cursor
from homeport.installer.clients.references import parse_text, plain_text
from homeport.installer.clients.values import Place, Remote, Stdio
from homeport.installer.plan.command import command_for
from tests.made import make_environment


def finds(**programs: str) -> Callable[[str], PurePath | None]:
    flavour = PureWindowsPath if any("\\" in path for path in programs.values()) else PurePosixPath
    return lambda name: flavour(programs[name]) if name in programs else None


LINUX = make_environment(search=finds(npx="/usr/bin/npx", rota="/home/nora/.local/bin/rota"))
WINDOWS = make_environment(
    "win32",
    search=finds(npx=r"C:\node\npx.cmd", rota=r"C:\bin\rota.exe", tally=r"C:\bin\tally.CMD", uvx=r"C:\bin\uvx.exe"),
)
WSL = make_environment(variables={"WSL_DISTRO_NAME": "Ubuntu"}, search=finds(rota="/usr/bin/rota"))


def at(file: str, environment: Environment) -> Place:
    return Place("user", type(environment.home)(file), ("mcpServers",), "json")


def words(client: object, environment: Environment, *line: str, file: str = "/x/mcp.json") -> list[str]:
    server = Stdio(parse_text(line[0]), tuple(parse_text(word) for word in line[1:]))
    made, _ = command_for(server, client, at(file, environment), environment)  # type: ignore[arg-type] # a module
    assert isinstance(made, Stdio)
    return [made.command.shown(), *(text.shown() for text in made.args)]


@pytest.mark.parametrize(
    ("client", "environment", "line", "expected"),
    [
        pytest.param(claude_code, LINUX, ("npx", "-y"), ["npx", "-y"], id="a terminal client has PATH"),
        pytest.param(cursor, LINUX, ("npx", "-y"), ["/usr/bin/npx", "-y"], id="a window has none"),
        pytest.param(cursor, LINUX, ("none",), ["none"], id="not on PATH"),
        pytest.param(cursor, LINUX, ("./rota",), ["./rota"], id="a path stays"),
        pytest.param(cursor, LINUX, ("$ROTA",), ["${ROTA}"], id="a reference stays"),
        pytest.param(claude_code, LINUX, ("~/rota", "~x", "a~/b"), ["/home/nora/rota", "~x", "a~/b"], id="~/"),
        pytest.param(claude_code, LINUX, ("~",), ["/home/nora"], id="~ alone"),
        pytest.param(claude_code, WINDOWS, ("npx", "-y"), ["cmd", "/c", "npx", "-y"], id="shim by name"),
        pytest.param(cursor, WINDOWS, ("npx", "-y"), ["cmd", "/c", "npx", "-y"], id="shim, window"),
        pytest.param(claude_code, WINDOWS, (r"C:\x\RUN.BAT",), ["cmd", "/c", r"C:\x\RUN.BAT"], id="shim by ending"),
        pytest.param(claude_code, WINDOWS, ("tally",), ["cmd", "/c", "tally"], id="shim by PATH"),
        pytest.param(claude_code, WINDOWS, ("uvx", "rota"), ["uvx", "rota"], id="a program is no shim"),
        pytest.param(claude_desktop, WINDOWS, ("rota",), [r"C:\bin\rota.exe"], id="windows window"),
        pytest.param(claude_code, WINDOWS, (r"C:\x\npx.exe",), [r"C:\x\npx.exe"], id="an exe of a shim's name"),
        pytest.param(claude_code, WINDOWS, ("cmd", "/c", "npx"), ["cmd", "/c", "npx"], id="already so"),
        pytest.param(claude_code, WINDOWS, ("~\\a.exe", "~/x"), [r"C:\Users\nora\a.exe", r"C:\Users\nora\x"], id="~\\"),
        pytest.param(claude_code, make_environment("darwin"), ("npx",), ["npx"], id="no cmd off Windows"),
    ],
)  # fmt: skip
def test_a_command_line(client: object, environment: Environment, line: tuple[str, ...], expected: list[str]) -> None:
    assert words(client, environment, *line) == expected


@pytest.mark.parametrize("share", [r"\\wsl$\Ubuntu\home\n\mcp.json", r"\\wsl.localhost\Ubuntu\home\n\mcp.json"])
def test_a_file_on_wsls_share_is_read_by_a_client_inside_it(share: str) -> None:
    assert words(claude_code, WINDOWS, "npx", "-y", file=share) == ["npx", "-y"]


def test_a_windows_clients_file_gets_its_command_through_wsl() -> None:
    server = Stdio(plain_text("rota"), (plain_text("serve"),), (("DAY", plain_text("mon")),))
    made, notes = command_for(server, claude_desktop, at("/mnt/c/Users/n/c.json", WSL), WSL)
    expected = ("-d", "Ubuntu", "--", "env", "DAY=mon", "rota", "serve")
    assert made == Stdio(plain_text("wsl.exe"), tuple(plain_text(word) for word in expected))
    assert notes == ("the client runs on Windows, so the command goes through wsl.exe",)


def test_inside_wsl_its_own_clients_start_it_plainly() -> None:
    assert words(claude_code, WSL, "npx", file="/home/n/.claude.json") == ["npx"]
    assert words(cursor, WSL, "rota", file="/home/n/.cursor/mcp.json") == ["/usr/bin/rota"]


def test_a_variable_does_not_cross_into_wsl() -> None:
    server = Stdio(plain_text("rota"), (), (("T", parse_text("$T")),))
    with pytest.raises(HomeportError) as caught:
        command_for(server, claude_desktop, at("/mnt/c/Users/n/c.json", WSL), WSL)
    assert (caught.value.code, caught.value.details) == ("reference_unsupported", {"variable": "T"})


def test_a_mounted_drive_outside_wsl_is_a_folder_like_any_other() -> None:
    assert words(claude_code, LINUX, "npx", file="/mnt/c/x.json") == ["npx"]


def test_the_working_folder_is_made_absolute_too() -> None:
    made, _ = command_for(Stdio(plain_text("a"), (), (), "~/x"), claude_code, at("/f", LINUX), LINUX)
    assert made == Stdio(plain_text("a"), (), (), "/home/nora/x")


def test_a_url_is_left_alone() -> None:
    remote = Remote(plain_text("https://~/x"))
    assert command_for(remote, claude_desktop, at("/f", WINDOWS), WINDOWS) == (remote, ())


def test_a_bare_command_that_is_to_travel_stays_bare_and_the_client_is_told_of() -> None:
    environment = make_environment(search=lambda name: PurePosixPath("/opt/bin") / name)
    place = Place("project", environment.cwd / ".cursor" / "mcp.json", ("mcpServers",), "jsonc")
    server, notes = command_for(Stdio(plain_text("homeport")), cursor, place, environment, keeps_bare=True)
    assert server == Stdio(plain_text("homeport"))
    assert "PATH" in notes[0]


@pytest.mark.parametrize(
    ("client", "line", "told"),
    [
        pytest.param(claude_code, "rota", (), id="on PATH"),
        pytest.param(
            claude_code, "gone", ("'gone' is not on PATH here, so the client may not find it either",), id="not"
        ),
        pytest.param(
            cursor, "gone", ("'gone' is not on PATH here, so the client may not find it either",), id="window"
        ),
        pytest.param(
            cursor,
            "./rota",
            ("'./rota' is taken from the folder that the client starts servers in; an absolute path is safer",),
            id="relative",
        ),
        pytest.param(claude_code, "${ROTA}", (), id="a reference"),
        pytest.param(claude_code, "/opt/rota", (), id="a path"),
    ],
)
def test_a_command_that_may_not_be_found_is_told_of(client: object, line: str, told: tuple[str, ...]) -> None:
    server = Stdio(parse_text(line), ())
    assert command_for(server, client, at("/x/mcp.json", LINUX), LINUX)[1] == told  # type: ignore[arg-type] # a module
