"""Muse Code's facts: two containers, one version field, a dollar sign of its own."""

from __future__ import annotations

import pytest

from homeport.environment import Platform
from homeport.errors import HomeportError
from homeport.installer.clients import muse_code
from homeport.installer.clients.references import parse_text, plain_text
from homeport.installer.clients.values import Remote, Server, Stdio
from tests.made import FOLDER, PLATFORMS, UNREADABLE, Machine, Thing, make_machine

FILE = "~/.config/muse/settings.json"
NEW = b'{"schema_version": 1, "mcpServers": {}}'
OLD = b'{"schema_version": 1, "mcp_servers": {}}'


def machine_with(content: Thing) -> Machine:
    return make_machine("linux", {FILE: content})


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_user_file_is_under_dot_config_on_every_system(platform: Platform) -> None:
    assert make_machine(platform).file(muse_code) == FILE


@pytest.mark.parametrize(
    ("given", "expected"),
    [("/srv/cfg", "/srv/cfg/muse"), ("cfg", "~/.config/muse"), ("", "~/.config/muse")],
    ids=["absolute", "relative", "empty"],
)
def test_it_follows_xdg_config_home(given: str, expected: str) -> None:
    assert make_machine(variables={"XDG_CONFIG_HOME": given}).file(muse_code) == f"{expected}/settings.json"


@pytest.mark.parametrize(
    ("content", "container"),
    [
        pytest.param(NEW, "mcpServers", id="new"),
        pytest.param(OLD, "mcp_servers", id="old"),
        pytest.param(b'{"schema_version": 1}', "mcp_servers", id="neither: the one every version reads"),
        pytest.param(b"", "mcp_servers", id="empty"),
        pytest.param(b'{"schema_version": 1, "mcpServers": {}, "mcp_servers": {}}', "mcp_servers", id="both"),
    ],
)
def test_the_container_is_the_one_the_file_has(content: bytes, container: str) -> None:
    assert machine_with(content).target(muse_code).container == (container,)


def test_a_new_file_begins_with_the_version() -> None:
    assert dict(make_machine().target(muse_code).beginning) == {"schema_version": 1}


def test_the_project_file_is_shared_and_read_from_the_root_down() -> None:
    machine = make_machine("linux", {"../.git": FOLDER})
    assert machine.target(muse_code, "project").shared_with == ("Claude Code",)
    assert machine.layers(muse_code) == [
        ("user", FILE),
        ("project", "~/code/.mcp.json"),
        ("project", "~/code/app/.mcp.json"),
    ]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        pytest.param(NEW, None, id="good"),
        pytest.param(b"", None, id="empty"),
        pytest.param(b"\xef\xbb\xbf \n", None, id="blank"),
        pytest.param(b"{}", "missing_field", id="no version"),
        pytest.param(b'{"schema_version": 2}', "missing_field", id="another version"),
        pytest.param(b'{"schema_version": "1"}', "missing_field", id="version as text"),
        pytest.param(b'{"schema_version": true}', "missing_field", id="version as a truth value"),
        pytest.param(
            b'{"schema_version": 1, "mcpServers": {}, "mcp_servers": {}}', "client_cannot_read", id="both containers"
        ),
    ],
)
def test_what_switches_muse_off_is_named(content: bytes, code: str | None) -> None:
    machine = machine_with(content)
    problem = muse_code.file_problem(machine.target(muse_code), machine.disk, machine.view)
    assert (problem.code if problem else None) == code


def test_a_file_that_cannot_be_read_is_an_error_of_its_own() -> None:
    machine = machine_with(UNREADABLE)
    with pytest.raises(HomeportError) as caught:
        muse_code.file_problem(machine.target(muse_code), machine.disk, machine.view)
    assert caught.value.code == "unreadable_file"


STDIO = Stdio(plain_text("rota"), (plain_text("$DAY"),), (("T", parse_text("${T:-x}")), ("P", plain_text("a$b$$"))))
REMOTE = Remote(plain_text("https://x/mcp"), (("A", plain_text("b")),))


@pytest.mark.parametrize(
    ("content", "server", "value"),
    [
        pytest.param(
            NEW,
            STDIO._replace(cwd="/srv"),
            {
                "type": "stdio",
                "command": "rota",
                "args": ["$DAY"],
                "env": {"T": "${T:-x}", "P": "a$$b$$$$"},
                "cwd": "/srv",
            },
            id="new stdio",
        ),
        pytest.param(
            OLD,
            STDIO,
            {"transport": "stdio", "command": "rota", "args": ["$DAY"], "env": {"T": "${T:-x}", "P": "a$$b$$$$"}},
            id="old stdio",
        ),
        pytest.param(
            NEW, REMOTE, {"type": "streamable-http", "url": "https://x/mcp", "headers": {"A": "b"}}, id="new remote"
        ),
        pytest.param(
            OLD,
            REMOTE,
            {"transport": "streamable_http", "url": "https://x/mcp", "headers": {"A": "b"}},
            id="old remote",
        ),
    ],
)
def test_an_entry_has_the_shape_of_its_container(content: bytes, server: Server, value: dict[str, object]) -> None:
    assert muse_code.entry(server, machine_with(content).target(muse_code)).value == value


def test_a_dollar_sign_comes_back_as_it_was() -> None:
    entry = muse_code.entry(STDIO, machine_with(NEW).target(muse_code))
    assert muse_code.server({**entry.value, "args": []}) == STDIO._replace(args=())


@pytest.mark.parametrize(
    ("server", "value"),
    [
        pytest.param(
            Stdio(plain_text("rota"), (), (("T", parse_text("${T}")), ("P", plain_text("a$b")))),
            {"command": "rota", "env": {"T": "${T}", "P": "a$b"}},
            id="stdio without type",
        ),
        pytest.param(
            REMOTE, {"type": "streamable-http", "url": "https://x/mcp", "headers": {"A": "b"}}, id="the common word"
        ),
    ],
)
def test_a_shared_entry_is_right_for_claude_code_too(server: Server, value: dict[str, object]) -> None:
    assert muse_code.entry(server, make_machine().target(muse_code, "project")).value == value


@pytest.mark.parametrize(
    ("level", "server", "code"),
    [
        pytest.param("user", Stdio(parse_text("$A")), "reference_unsupported", id="command"),
        pytest.param("user", Stdio(plain_text("a"), (parse_text("$A"),)), "reference_unsupported", id="argument"),
        pytest.param("user", Remote(parse_text("https://$A")), "reference_unsupported", id="url"),
        pytest.param(
            "user", Remote(plain_text("https://x"), (("A", parse_text("$A")),)), "reference_unsupported", id="header"
        ),
        pytest.param("user", Remote(plain_text("https://x"), (), "sse"), "transport_unsupported", id="sse"),
        pytest.param("project", Stdio(plain_text("a"), (), (), "/srv"), "field_unsupported", id="shared cwd"),
        pytest.param(
            "project", Stdio(plain_text("a"), (), (("P", plain_text("a$$")),)), "reference_unsupported", id="shared $$"
        ),
        pytest.param(
            "project", Stdio(plain_text("a"), (), (("P", plain_text("${A}")),)), "reference_unsupported", id="shared ${"
        ),
    ],
)
def test_what_it_cannot_hold_is_refused(level: str, server: Server, code: str) -> None:
    place = make_machine().target(muse_code, "project" if level == "project" else "user")
    with pytest.raises(HomeportError) as caught:
        muse_code.entry(server, place)
    assert caught.value.code == code


def test_an_unset_variable_switches_everything_off_and_that_is_said() -> None:
    entry = muse_code.entry(STDIO, make_machine().target(muse_code))
    assert (entry.requires_env, entry.notes) == (
        ("T",),
        ("Muse Code switches all its MCP off while T is not set",),
    )


@pytest.mark.parametrize(("name", "good"), [("rota", True), ("a b", True), ("", False), (" a", False), ("a ", False)])
def test_names(name: str, good: bool) -> None:
    assert (muse_code.name_problem(name) is None) is good


def test_a_projects_entry_waits_for_trust_and_a_disabled_one_is_off() -> None:
    machine = make_machine()
    user, project = machine.target(muse_code), machine.target(muse_code, "project")
    assert machine.gates(muse_code, user, {"command": "a"}) == ()
    assert [gate.status for gate in machine.gates(muse_code, project, {"enabled": False})] == ["off", "waiting"]


def test_it_is_started_again() -> None:
    machine = make_machine()
    assert muse_code.next_steps("rota", machine.target(muse_code)) == ("start muse again",)
    assert muse_code.next_steps("rota", machine.target(muse_code, "project")) == (
        "start muse again in this workspace, and trust it",
    )
