"""Claude Desktop's facts, its three Windows places above all."""

from __future__ import annotations

import pytest

from homeport.environment import Platform
from homeport.errors import HomeportError
from homeport.installer.clients import claude_desktop
from homeport.installer.clients.references import parse_text, plain_text
from homeport.installer.clients.values import Remote, Server, Stdio
from tests.made import FOLDER, Thing, make_machine

NAME = "claude_desktop_config.json"
ROAMING = "~/AppData/Roaming/Claude"
PACKAGE = "~/AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude"
DATA = "~/AppData/Local/Claude-Data"
PLACE = make_machine().target(claude_desktop)


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("darwin", {}, "~/Library/Application Support/Claude"),
        ("linux", {}, "~/.config/Claude"),
        ("linux", {"XDG_CONFIG_HOME": "/srv/cfg"}, "/srv/cfg/Claude"),
        ("win32", {}, ROAMING),
        ("win32", {"APPDATA": r"D:\Roaming"}, "D:/Roaming/Claude"),
    ],
)
def test_the_usual_file(platform: Platform, variables: dict[str, str], expected: str) -> None:
    assert make_machine(platform, variables=variables).file(claude_desktop) == f"{expected}/{NAME}"


@pytest.mark.parametrize(
    ("things", "expected"),
    [
        pytest.param({f"{ROAMING}/{NAME}": b"{}"}, ROAMING, id="classic"),
        pytest.param({f"{PACKAGE}/{NAME}": b"{}", ROAMING: FOLDER}, PACKAGE, id="package beside an empty classic"),
        pytest.param({PACKAGE: FOLDER}, PACKAGE, id="package, no file yet"),
        pytest.param({f"{DATA}/claude_a1/{NAME}": b"{}", PACKAGE: FOLDER}, f"{DATA}/claude_a1", id="data"),
        pytest.param({f"{DATA}/{NAME}": b"{}", ROAMING: FOLDER}, DATA, id="data, the file at its top"),
        pytest.param({f"{DATA}/claude_a1": FOLDER, ROAMING: FOLDER}, f"{DATA}/claude_a1", id="data, no file anywhere"),
        pytest.param({f"{DATA}/logs": FOLDER, ROAMING: FOLDER, f"{DATA}/claude": b""}, DATA, id="data, no such folder"),
        pytest.param({"~/AppData/Local/Packages/ClaudeFan_x/LocalCache": FOLDER}, ROAMING, id="another package"),
    ],
)
def test_on_windows_it_is_the_place_that_holds_the_config(things: dict[str, Thing], expected: str) -> None:
    assert make_machine("win32", things).file(claude_desktop) == f"{expected}/{NAME}"


def test_the_local_folder_follows_its_variable() -> None:
    machine = make_machine("win32", {rf"D:\L\Claude-Data\{NAME}": b"{}"}, variables={"LOCALAPPDATA": r"D:\L"})
    assert machine.file(claude_desktop) == f"D:/L/Claude-Data/{NAME}"


def test_several_live_configs_are_named_and_not_guessed_between() -> None:
    machine = make_machine("win32", {f"{folder}/{NAME}": b"{}" for folder in (ROAMING, PACKAGE, f"{DATA}/claude_b")})
    with pytest.raises(HomeportError) as caught:
        machine.target(claude_desktop)
    files = [rf"C:\Users\nora\{path}\{NAME}".replace("~/", "").replace("/", "\\") for path in
             (f"{DATA}/claude_b", PACKAGE, ROAMING)]  # fmt: skip
    assert (caught.value.code, caught.value.details) == ("ambiguous_config", {"files": files})
    assert "--config" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("platform", "things", "expected"),
    [
        pytest.param("win32", {}, False, id="windows, nothing"),
        pytest.param("win32", {PACKAGE: FOLDER}, True, id="windows, package alone"),
        pytest.param("linux", {}, False, id="linux, nothing"),
        pytest.param("linux", {"~/.config/Claude": FOLDER}, True, id="linux"),
    ],
)
def test_it_is_installed_where_one_of_its_folders_is(
    platform: Platform, things: dict[str, Thing], expected: bool
) -> None:
    machine = make_machine(platform, things)
    assert claude_desktop.is_installed(machine.environment, machine.disk) is expected


def test_there_is_no_project_level() -> None:
    with pytest.raises(HomeportError) as caught:
        make_machine().target(claude_desktop, "project")
    assert (caught.value.code, caught.value.exit_code) == ("level_unsupported", 2)


def test_an_entry_has_no_type_and_its_values_are_literal() -> None:
    server = Stdio(plain_text("/opt/rota"), (plain_text("$5"),), (("DAY", plain_text("monday")),))
    assert claude_desktop.entry(server, PLACE).value == {
        "command": "/opt/rota",
        "args": ["$5"],
        "env": {"DAY": "monday"},
    }


@pytest.mark.parametrize(
    ("server", "code", "hint"),
    [
        pytest.param(Remote(plain_text("https://x.example")), "transport_unsupported", "Connectors", id="remote"),
        pytest.param(
            Stdio(plain_text("rota"), (), (("T", parse_text("${T}")),)), "reference_unsupported", "T", id="env"
        ),
        pytest.param(Stdio(parse_text("${T}/x")), "reference_unsupported", "--literal", id="command"),
        pytest.param(Stdio(plain_text("rota"), (), (), "/srv"), "field_unsupported", "--cwd", id="working folder"),
    ],
)
def test_what_it_cannot_hold_is_refused_with_a_way_out(server: Server, code: str, hint: str) -> None:
    with pytest.raises(HomeportError) as caught:
        claude_desktop.entry(server, PLACE)
    assert caught.value.code == code
    assert hint in str(caught.value.hint)


def test_it_is_started_again_fully() -> None:
    assert claude_desktop.next_steps("rota", PLACE) == (
        "quit Claude Desktop fully (its tray icon too) and start it again",
    )
