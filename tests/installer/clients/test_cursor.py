"""Cursor's facts."""

from __future__ import annotations

import pytest

from homeport.environment import Platform
from homeport.errors import HomeportError
from homeport.installer.clients import cursor
from homeport.installer.clients.references import parse_text, plain_text
from homeport.installer.clients.values import Level, Remote, Server, Stdio
from tests.made import FOLDER, PLATFORMS, make_machine

PLACE = make_machine().target(cursor)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize(
    ("level", "expected"), [("user", "~/.cursor/mcp.json"), ("project", "~/code/.cursor/mcp.json")]
)
def test_the_file_is_the_same_on_every_system(platform: Platform, level: Level, expected: str) -> None:
    assert make_machine(platform, {"../.git": FOLDER}).file(cursor, level) == expected


def test_the_container_is_mcp_servers_and_the_vs_code_word_is_left_over() -> None:
    assert (PLACE.container, PLACE.stale_containers) == (("mcpServers",), (("servers",),))


def test_the_project_is_nearer_than_the_user() -> None:
    assert make_machine().layers(cursor) == [
        ("user", "~/.cursor/mcp.json"),
        ("project", "~/code/app/.cursor/mcp.json"),
    ]


def test_in_the_home_both_levels_are_one_file() -> None:
    assert make_machine(cwd="").layers(cursor) == [("user", "~/.cursor/mcp.json")]


@pytest.mark.parametrize(("things", "expected"), [({}, False), ({"~/.cursor": FOLDER}, True)], ids=["no", "yes"])
def test_it_is_installed_where_its_folder_is(things: dict[str, bytes], expected: bool) -> None:
    machine = make_machine("linux", things)
    assert cursor.is_installed(machine.environment, machine.disk) is expected


@pytest.mark.parametrize(
    ("server", "value", "required"),
    [
        pytest.param(
            Stdio(plain_text("rota"), (plain_text("serve"),), (("TOKEN", parse_text("${TOKEN}")),)),
            {"type": "stdio", "command": "rota", "args": ["serve"], "env": {"TOKEN": "${env:TOKEN}"}},
            ("TOKEN",),
            id="stdio",
        ),
        pytest.param(Stdio(plain_text("rota")), {"type": "stdio", "command": "rota"}, (), id="nothing empty"),
        pytest.param(
            Stdio(parse_text("${userHome}/rota"), (parse_text("$DAY"), parse_text("${workspaceFolder}"))),
            {"type": "stdio", "command": "${userHome}/rota", "args": ["${env:DAY}", "${workspaceFolder}"]},
            ("DAY",),
            id="its own variables",
        ),
        pytest.param(
            Remote(parse_text("https://${HOST}/mcp"), (("Authorization", parse_text("Bearer ${env:T}")),)),
            {"url": "https://${env:HOST}/mcp", "headers": {"Authorization": "Bearer ${env:T}"}},
            ("HOST", "T"),
            id="remote",
        ),
        pytest.param(
            Remote(plain_text("https://x.example/sse"), (), "sse"), {"url": "https://x.example/sse"}, (), id="sse"
        ),
    ],
)
def test_an_entry_is_spelled(server: Server, value: dict[str, object], required: tuple[str, ...]) -> None:
    entry = cursor.entry(server, PLACE)
    assert (entry.value, entry.requires_env, entry.notes) == (value, required, ())


@pytest.mark.parametrize(
    ("server", "code"),
    [
        pytest.param(Stdio(parse_text("${A:-b}")), "reference_unsupported", id="a default"),
        pytest.param(Stdio(plain_text("${env:A}")), "reference_unsupported", id="plain text it would expand"),
        pytest.param(Stdio(plain_text("rota"), (), (), "/srv"), "field_unsupported", id="a working folder"),
    ],
)
def test_what_it_cannot_hold_is_refused(server: Server, code: str) -> None:
    with pytest.raises(HomeportError) as caught:
        cursor.entry(server, PLACE)
    assert caught.value.code == code


def test_no_list_in_a_file_switches_it_off() -> None:
    machine = make_machine()
    assert machine.gates(cursor, PLACE) == ()


def test_a_projects_server_is_switched_on_by_hand() -> None:
    project = make_machine().target(cursor, "project")
    assert cursor.next_steps("rota", project) == (
        "switch 'rota' on in Cursor's settings under MCP: a project's servers start switched off",
    )
    assert cursor.next_steps("rota", PLACE) == (
        "Cursor picks it up by itself; if 'rota' looks dead, reload the window",
    )
