"""OpenCode's facts: its many files above all. Overrides measured with opencode 1.18.33."""

from __future__ import annotations

import pytest

from homeport.environment import Platform
from homeport.errors import HomeportError
from homeport.installer.clients import opencode
from homeport.installer.clients.references import parse_text, plain_text
from homeport.installer.clients.values import Remote, Server, Stdio
from tests.made import FOLDER, PLATFORMS, Thing, make_machine

PLACE = make_machine().target(opencode)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_user_file_is_under_dot_config_on_every_system(platform: Platform) -> None:
    assert make_machine(platform).file(opencode) == "~/.config/opencode/opencode.json"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        pytest.param({"XDG_CONFIG_HOME": "/srv/cfg"}, "/srv/cfg/opencode/opencode.json", id="xdg absolute"),
        pytest.param({"XDG_CONFIG_HOME": "cfg"}, "~/.config/opencode/opencode.json", id="xdg relative"),
        pytest.param({"XDG_CONFIG_HOME": ""}, "~/.config/opencode/opencode.json", id="xdg empty"),
        pytest.param({"OPENCODE_CONFIG_DIR": "/srv/oc"}, "/srv/oc/opencode.json", id="dir absolute"),
        pytest.param({"OPENCODE_CONFIG_DIR": "oc"}, "~/code/app/oc/opencode.json", id="dir relative"),
        pytest.param({"OPENCODE_CONFIG_DIR": "~/oc"}, "~/code/app/~/oc/opencode.json", id="dir with a tilde"),
        pytest.param({"OPENCODE_CONFIG_DIR": ""}, "~/.config/opencode/opencode.json", id="dir empty"),
        pytest.param({"OPENCODE_CONFIG": "/srv/own.json"}, "/srv/own.json", id="own absolute"),
        pytest.param({"OPENCODE_CONFIG": "own.jsonc"}, "~/code/app/own.jsonc", id="own relative"),
        pytest.param({"OPENCODE_CONFIG": "o.json", "OPENCODE_CONFIG_DIR": "/d"}, "~/code/app/o.json", id="own and dir"),
    ],
)
def test_overrides_are_taken_as_opencode_takes_them(variables: dict[str, str], expected: str) -> None:
    assert make_machine(variables=variables).file(opencode) == expected


@pytest.mark.parametrize(
    ("things", "expected"),
    [
        pytest.param({}, "opencode.json", id="neither"),
        pytest.param({"~/.config/opencode/opencode.json": b""}, "opencode.json", id="json"),
        pytest.param({"~/.config/opencode/opencode.jsonc": b""}, "opencode.jsonc", id="jsonc"),
        pytest.param(
            {"~/.config/opencode/opencode.jsonc": b"", "~/.config/opencode/opencode.json": b""},
            "opencode.jsonc",
            id="both: where it wins",
        ),
        pytest.param({"~/.config/opencode/config.json": b""}, "opencode.json", id="the oldest name is no target"),
    ],
)
def test_an_entry_goes_where_it_wins(things: dict[str, Thing], expected: str) -> None:
    assert make_machine("linux", things).file(opencode) == f"~/.config/opencode/{expected}"


def test_a_projects_file_is_at_the_root_by_the_same_rule() -> None:
    machine = make_machine("linux", {"../.git": FOLDER, "../opencode.jsonc": b""})
    assert machine.file(opencode, "project") == "~/code/opencode.jsonc"


def test_a_new_file_gets_the_schema() -> None:
    assert dict(PLACE.beginning) == {"$schema": "https://opencode.ai/config.json"}
    assert (PLACE.container, PLACE.stale_containers, PLACE.owner) == (("mcp",), (("mcpServers",),), None)


GENERAL = [
    ("user", "~/.config/opencode/config.json"),
    ("user", "~/.config/opencode/opencode.json"),
    ("user", "~/.config/opencode/opencode.jsonc"),
]
DOT = [("user", "~/.opencode/opencode.json"), ("user", "~/.opencode/opencode.jsonc")]
MANAGED = [("managed", "/etc/opencode/opencode.json"), ("managed", "/etc/opencode/opencode.jsonc")]


def pair(level: str, folder: str) -> list[tuple[str, str]]:
    return [(level, f"{folder}opencode.json"), (level, f"{folder}opencode.jsonc")]


def test_in_a_repository_layers_go_from_its_root_down() -> None:
    assert make_machine("linux", {"../.git": FOLDER}).layers(opencode) == [
        *GENERAL,
        *pair("project", "~/code/"),
        *pair("project", "~/code/app/"),
        *pair("project", "~/code/.opencode/"),
        *pair("project", "~/code/app/.opencode/"),
        *DOT,
        *MANAGED,
    ]


def test_without_a_repository_every_parent_counts() -> None:
    assert make_machine().layers(opencode) == [
        *GENERAL,
        *pair("parent", "/"),
        *pair("parent", "/home/"),
        *pair("parent", "~/"),
        *pair("parent", "~/code/"),
        *pair("project", "~/code/app/"),
        *pair("project", "~/code/app/.opencode/"),
        *DOT,
        *MANAGED,
    ]


def test_the_own_file_and_folder_have_their_ranks() -> None:
    variables = {"OPENCODE_CONFIG": "/own.json", "OPENCODE_CONFIG_DIR": "/dir", "OPENCODE_DISABLE_PROJECT_CONFIG": "1"}
    assert make_machine(variables=variables).layers(opencode) == [
        *GENERAL,
        ("user", "/own.json"),
        *DOT,
        *pair("user", "/dir/"),
        *MANAGED,
    ]


@pytest.mark.parametrize(
    ("value", "read"), [("1", False), ("true", False), ("0", True), ("yes", True), ("false", True), ("", True)]
)
def test_project_files_are_left_out_by_two_words_only(value: str, read: bool) -> None:
    layers = make_machine(variables={"OPENCODE_DISABLE_PROJECT_CONFIG": value}).layers(opencode)
    assert (("project", "~/code/app/opencode.json") in layers) is read


def test_a_file_that_two_rules_name_is_one_layer_where_the_stronger_stands() -> None:
    layers = make_machine("linux", {".git": FOLDER}, variables={"OPENCODE_CONFIG": "opencode.json"}).layers(opencode)
    assert [file for _, file in layers].count("~/code/app/opencode.json") == 1
    assert layers[3:5] == [("user", "~/code/app/opencode.json"), ("project", "~/code/app/opencode.jsonc")]


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "/etc/opencode/opencode.json"),
        ("darwin", {}, "/Library/Application Support/opencode/opencode.json"),
        ("win32", {}, "C:/ProgramData/opencode/opencode.json"),
        ("win32", {"ProgramData": r"D:\PD"}, "D:/PD/opencode/opencode.json"),
    ],
)
def test_the_administrators_file(platform: Platform, variables: dict[str, str], expected: str) -> None:
    assert make_machine(platform, variables=variables).layers(opencode)[-2] == ("managed", expected)


@pytest.mark.parametrize(
    ("things", "variables", "expected"),
    [
        pytest.param({}, {}, False, id="no"),
        pytest.param({"~/.config/opencode": FOLDER}, {}, True, id="the usual folder"),
        pytest.param({"~/.config/opencode": FOLDER}, {"OPENCODE_CONFIG_DIR": "/none"}, True, id="dir not made yet"),
        pytest.param({"/srv": FOLDER}, {"OPENCODE_CONFIG": "/srv/own.json"}, True, id="the own file's folder"),
        pytest.param({}, {"OPENCODE_CONFIG": "/srv/own.json"}, False, id="no folder for the own file"),
    ],
)
def test_it_is_installed_where_one_of_its_folders_is(
    things: dict[str, Thing], variables: dict[str, str], expected: bool
) -> None:
    machine = make_machine("linux", things, variables=variables)
    assert opencode.is_installed(machine.environment, machine.disk) is expected


@pytest.mark.parametrize(
    ("server", "value"),
    [
        pytest.param(
            Stdio(plain_text("rota"), (parse_text("--day=$DAY"),), (("T", parse_text("${T}")),), "/srv"),
            {
                "type": "local",
                "command": ["rota", "--day={env:DAY}"],
                "environment": {"T": "{env:T}"},
                "cwd": "/srv",
                "enabled": True,
            },
            id="stdio",
        ),
        pytest.param(
            Stdio(plain_text("rota"), (plain_text("${X}"),)),
            {"type": "local", "command": ["rota", "${X}"], "enabled": True},
            id="another client's reference is plain text here",
        ),
        pytest.param(
            Remote(parse_text("https://x/${T}"), (("A", parse_text("Bearer $T")),), "sse"),
            {"type": "remote", "url": "https://x/{env:T}", "headers": {"A": "Bearer {env:T}"}, "enabled": True},
            id="remote",
        ),
    ],
)
def test_an_entry_is_spelled(server: Server, value: dict[str, object]) -> None:
    assert opencode.entry(server, PLACE).value == value


def test_a_reference_is_pasted_as_text_and_that_is_said() -> None:
    entry = opencode.entry(Stdio(plain_text("a"), (parse_text("$T"),)), PLACE)
    assert (entry.requires_env, entry.notes) == (
        ("T",),
        ("OpenCode pastes the value of T into its file as text: a quote or backslash in it stops the program",),
    )


@pytest.mark.parametrize(
    "server",
    [
        pytest.param(Stdio(parse_text("${A:-b}")), id="a default"),
        pytest.param(Stdio(parse_text("${workspaceFolder}")), id="an editor's variable"),
        pytest.param(Stdio(plain_text("{env:A}")), id="plain text it would expand"),
    ],
)
def test_what_it_cannot_hold_is_refused(server: Server) -> None:
    with pytest.raises(HomeportError) as caught:
        opencode.entry(server, PLACE)
    assert caught.value.code == "reference_unsupported"


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        pytest.param({"type": "local", "command": ["a", 1]}, Stdio(plain_text("a"), (plain_text("1"),)), id="local"),
        pytest.param({"type": "local", "command": []}, None, id="no command"),
        pytest.param({"type": "local", "command": "a"}, None, id="command no list"),
        pytest.param(
            {"type": "remote", "url": "https://x", "command": ["a"]}, Remote(plain_text("https://x")), id="left over"
        ),
        pytest.param({"enabled": False}, None, id="a switch alone"),
        pytest.param(None, None, id="null"),
    ],
)
def test_an_entry_is_read_as_opencode_reads_it(entry: object, expected: Server | None) -> None:
    assert opencode.server(entry) == expected


@pytest.mark.parametrize(
    ("entry", "off"),
    [({"enabled": False}, True), ({"disabled": True}, True), ({"enabled": True}, False), ({}, False), ("x", False)],
)
def test_a_switch_in_the_entry_counts_under_either_word(entry: object, off: bool) -> None:
    assert [gate.status for gate in make_machine().gates(opencode, PLACE, entry)] == (["off"] if off else [])


def test_it_has_no_command_of_its_own_for_this() -> None:
    assert opencode.apply_command("rota", Stdio(plain_text("a"))) is None
    assert opencode.remove_command("rota") is None
    assert opencode.next_steps("rota", PLACE) == ("start OpenCode again",)
    assert opencode.name_problem("a b.c") is None


@pytest.mark.parametrize(
    ("content", "statuses"),
    [('{"mcp": {"ledger": {"enabled": false}}}', ["off"]), ('{"mcp": {"rota": {}}}', []), ("{", []), ("[1]", [])],
    ids=["our name", "another", "no json", "a list"],
)
def test_a_config_in_a_variable_is_nearer_than_any_file(content: str, statuses: list[str]) -> None:
    machine = make_machine(variables={"OPENCODE_CONFIG_CONTENT": content})
    assert [gate.status for gate in machine.gates(opencode, PLACE, {}, "ledger")] == statuses
