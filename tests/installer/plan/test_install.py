"""What `install` would do in one client."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import Any

import pytest

from homeport.errors import HomeportError
from homeport.installer.clients import CLIENTS
from homeport.installer.clients.references import plain_text
from homeport.installer.clients.values import Registration, Remote
from tests.installer.plan.planning import HOMES, OURS, ROTA, Planned, remembered, stdio
from tests.made import Thing

CURSOR = "~/.cursor/mcp.json"
FEED = Registration("feed", Remote(plain_text("https://x.example/mcp")))
WRITES = {"writes": True, "via": "file"}


def mcp(**entries: Any) -> bytes:
    return json.dumps({"mcpServers": entries}).encode()


OURS_VALUE = {"type": "stdio", "command": "/opt/py/bin/python", "args": ["-m", "homeport", "serve"]}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_new_file_holds_the_entry_and_a_second_run_changes_nothing(client: str) -> None:
    planned = Planned(client).install(**WRITES)
    assert (planned.outcome, len(planned.files)) == ("created", 1)
    again = planned.applied().install(**WRITES)
    assert (again.outcome, again.files, again.plan.changes) == ("unchanged", {}, ())


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("registration", [OURS, ROTA, FEED], ids=["bundled", "stdio", "remote"])
def test_install_then_uninstall_leaves_no_file(client: str, registration: Registration) -> None:
    installed = Planned(client).install(registration, **WRITES)
    if client == "claude-desktop" and registration is FEED:
        assert installed.code == "transport_unsupported"
        return
    removed = installed.applied().uninstall(registration.name, **WRITES)
    assert (removed.outcome, list(removed.files.values())) == ("removed", [None])


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_that_is_not_there_is_refused_or_skipped(client: str) -> None:
    planned = Planned(client)
    planned.disk.things.clear()
    assert (planned.install().outcome, planned.code) == ("refused", "client_not_installed")
    assert planned.install(refused_skips=True).outcome == "skipped"
    assert planned.files == {}


@pytest.mark.parametrize(
    ("present", "outcome", "after"),
    [
        pytest.param({}, "created", OURS_VALUE, id="none"),
        pytest.param(OURS_VALUE, "unchanged", None, id="as it should be"),
        pytest.param({"command": "uvx", "args": ["homeport"]}, "updated", OURS_VALUE, id="ours, older"),
        pytest.param({**OURS_VALUE, "disabled": True}, "unchanged", None, id="a person's key"),
        pytest.param(
            {"command": "homeport", "note": "mine", "env": {"A": "b"}},
            "updated",
            {"command": "/opt/py/bin/python", "note": "mine", "env": {"A": "b"}, **OURS_VALUE},
            id="keys a person added stay",
        ),
        pytest.param(
            {"command": "homeport", "url": "https://x", "headers": {}},
            "updated",
            OURS_VALUE,
            id="the other transport's go",
        ),
    ],
)
def test_an_entry_of_ours_is_brought_up_to_date(present: dict[str, Any], outcome: str, after: dict[str, Any]) -> None:
    planned = Planned("cursor", {CURSOR: mcp(homeport=present) if present else mcp()}).install()
    found = planned.documents[CURSOR]["mcpServers"]["homeport"] if planned.files else None
    assert (planned.outcome, found) == (outcome, after)


@pytest.mark.parametrize(
    ("client", "file", "source"),
    [
        ("cursor", CURSOR, mcp(homeport={"command": "tally", "args": ["--token", "abcdefgh"]})),
        (
            "codex",
            "~/.codex/config.toml",
            b'[mcp_servers.homeport]\ncommand = "tally"\nargs = ["--token", "abcdefgh"]\n',
        ),
        ("opencode", "~/.config/opencode/opencode.json", b'{"mcp":{"homeport":{"type":"local","command":["tally"]}}}'),
    ],
)
def test_a_foreign_entry_is_refused_by_line_and_taken_over_on_request(client: str, file: str, source: bytes) -> None:
    planned = Planned(client, {file: source}).install()
    (row,) = planned.plan.rows
    assert row.error is not None
    assert (row.outcome, row.error.code, row.error.details["line"]) == ("refused", "foreign_entry", 1)
    assert "tally" in row.error.message
    assert "abcdefgh" not in repr((row.error.message, row.error.details))
    replaced = Planned(client, {file: source}).install(replace=True)
    assert replaced.outcome == "updated"
    assert b"tally" not in (replaced.files[file] or b"")


def test_another_server_is_known_by_its_command_and_arguments() -> None:
    files: dict[str, Thing] = {CURSOR: mcp(rota={"command": "/opt/rota", "args": ["serve"], "env": {"A": "b"}})}
    assert Planned("cursor", files).install(ROTA).outcome == "updated"
    assert Planned("cursor", files).install(ROTA._replace(server=stdio("/opt/rota"))).code == "foreign_entry"


def test_a_command_that_we_made_absolute_is_known_again_without_the_journal() -> None:
    found = {"npx": PurePosixPath("/usr/bin/npx")}
    wanted = Registration("rota", stdio("npx", "rota"))
    planned = Planned("cursor", search=found.get).install(wanted).applied()
    planned.history = planned.history._replace(by_file={})
    assert planned.install(wanted).outcome == "unchanged"


def test_what_the_journal_says_we_wrote_may_be_changed() -> None:
    entry = {"command": "/opt/rota", "args": ["old"]}
    history = remembered("/home/nora/.cursor/mcp.json", ("mcpServers", "rota"), entry)
    assert Planned("cursor", {CURSOR: mcp(rota=entry)}, history=history).install(ROTA).outcome == "updated"
    assert Planned("cursor", {CURSOR: mcp(rota=entry)}).install(ROTA).code == "foreign_entry"


def test_a_key_that_we_wrote_and_no_longer_want_goes() -> None:
    entry = {"command": "/opt/rota", "args": ["serve"], "env": {"OLD": "1", "MINE": "2"}}
    history = remembered("/home/nora/.cursor/mcp.json", ("mcpServers", "rota"), {**entry, "env": {"OLD": "1"}})
    planned = Planned("cursor", {CURSOR: mcp(rota=entry)}, history=history)
    planned.install(ROTA._replace(server=stdio("/opt/rota", "serve", NEW="3")))
    assert planned.documents[CURSOR]["mcpServers"]["rota"]["env"] == {"MINE": "2", "NEW": "3"}


@pytest.mark.parametrize(
    ("source", "code", "line"),
    [
        pytest.param(b'{"mcpServers": {', "malformed_file", 1, id="cut off"),
        pytest.param(b'{\n  "mcpServers": []\n}', "wrong_shape", 2, id="a list"),
        pytest.param(b'{\n\n  "mcpServers": null\n}', "wrong_shape", 3, id="null"),
        pytest.param(b'{"mcpServers": {"homeport": {}, "homeport": {}}}', "duplicate_key", None, id="twice"),
        pytest.param(b"<<<<<<< HEAD\n{}", "malformed_file", 1, id="a merge conflict"),
        pytest.param(b"\xff\xfe{\0}\0", "unsupported_encoding", None, id="UTF-16"),
        pytest.param("no permission", "unreadable_file", None, id="no permission"),
        pytest.param("a folder", "unreadable_file", None, id="a folder"),
    ],
)
def test_a_file_that_cannot_be_edited_for_certain_is_refused_and_still_printed(
    source: Thing, code: str, line: int | None
) -> None:
    (row,) = Planned("cursor", {CURSOR: source}).install().plan.rows
    assert row.error is not None
    assert (row.outcome, row.broken_target, row.error.code) == ("refused", True, code)
    assert row.error.details.get("line") == line
    assert row.error.message.startswith("/home/nora/.cursor/mcp.json")
    assert row.fragment is not None
    assert '"homeport"' in row.fragment


@pytest.mark.parametrize("source", [b'{"mcpServers": {},}', b'{"mcpServers": {} /* x */}'], ids=["comma", "comment"])
def test_what_a_strict_client_cannot_read_is_said(source: bytes) -> None:
    assert Planned("claude-code", {".mcp.json": source}).install(level="project").code == "client_cannot_read"
    assert Planned("cursor", {CURSOR: source}).install().outcome == "created"


def test_a_byte_order_mark_that_the_client_cannot_read_goes_and_that_is_said() -> None:
    file = "~/.config/Claude/claude_desktop_config.json"
    planned = Planned("claude-desktop", {file: b'\xef\xbb\xbf{"mcpServers": {}}'}).install()
    assert (planned.files[file] or b"").startswith(b"{")
    assert "byte order mark" in planned.plan.rows[0].notes[0]
    kept = Planned("cursor", {CURSOR: b"\xef\xbb\xbf{}"}).install()
    assert (kept.files[CURSOR] or b"").startswith(b"\xef\xbb\xbf{")


@pytest.mark.parametrize(("client", "program"), [("claude-code", "claude"), ("codex", "codex")])
def test_a_file_that_the_clients_program_writes_asks_for_a_way(client: str, program: str) -> None:
    planned = Planned(client).install(writes=True)
    (row,) = planned.plan.rows
    assert row.error is not None
    assert (planned.code, row.error.details["apply_command"][:3]) == ("client_owned_file", [program, "mcp", "add"])
    assert "--via file" in str(row.error.hint)
    assert Planned(client).install(writes=True, via="file").outcome == "created"
    through = Planned(client).install(writes=True, via="cli")
    assert (through.outcome, through.files) == ("created", {})
    assert Planned(client).install(writes=True, level="project").outcome == "created"


@pytest.mark.parametrize("there", [True, False], ids=["installed", "not installed"])
def test_a_level_that_a_client_does_not_have_is_wrong_alone_and_skipped_among_all(there: bool) -> None:
    planned = Planned("claude-desktop")
    if not there:
        planned.disk.things.clear()
    with pytest.raises(HomeportError) as caught:
        planned.install(level="project")
    assert (caught.value.code, caught.value.exit_code) == ("level_unsupported", 2)
    assert planned.install(level="project", refused_skips=True).outcome == "skipped"
    assert planned.uninstall(levels=("project",), refused_skips=True).outcome == "skipped"


@pytest.mark.parametrize(
    ("present", "outcome"),
    [
        ({"type": "stdio", "command": "/opt/rota", "args": ["serve"], "env": {"B": "2", "A": "1"}}, "unchanged"),
        ({"type": "stdio", "command": "/opt/rota", "args": ["serve"], "env": {}}, "updated"),
        (None, "created"),
    ],
    ids=["in another order", "other variables", "none"],
)
def test_the_clients_own_command_is_run_for_a_difference_only(present: Any, outcome: str) -> None:
    wanted = ROTA._replace(server=stdio("/opt/rota", "serve", A="1", B="2"))
    state = mcp(rota=present) if present else mcp()
    planned = Planned("claude-code", {"~/.claude.json": state}).install(wanted, writes=True, via="cli")
    assert (planned.outcome, planned.files) == (outcome, {})


def test_what_the_clients_own_command_cannot_say_is_refused_that_way() -> None:
    wanted = ROTA._replace(server=stdio("/opt/rota", T="$T"))
    assert Planned("codex").install(wanted, writes=True, via="cli").code == "field_unsupported"


def test_print_mode_tells_both_commands() -> None:
    (row,) = Planned("claude-code").install().plan.rows
    assert row.apply_command is not None
    assert row.update_command == (("claude", "mcp", "remove", "--scope", "user", "homeport"), row.apply_command)
    (project,) = Planned("claude-code").install(level="project").plan.rows
    assert (project.apply_command, project.update_command) == (None, ())


@pytest.mark.parametrize(
    ("client", "name", "good"),
    [
        ("cursor", "a", False),
        ("cursor", "a_b", False),
        ("cursor", "9a", False),
        ("cursor", "a" * 65, False),
        ("cursor", "a" * 64, True),
        ("claude-code", "a_b", True),
        ("claude-code", "workspace", False),
        ("codex", "a.b/c", True),
        ("opencode", "ä", False),
        ("muse-code", " a", False),
        ("cursor", "", False),
    ],
)
def test_names(client: str, name: str, good: bool) -> None:
    try:
        planned = Planned(client).install(ROTA._replace(name=name))
    except HomeportError as error:
        assert (error.code, error.exit_code, good) == ("bad_name", 2, False)
    else:
        assert (planned.outcome, good) == ("created", True)


def test_a_name_that_is_not_safe_everywhere_is_noted() -> None:
    (row,) = Planned("claude-code").install(ROTA._replace(name="a_b")).plan.rows
    assert any("not every client takes a name like 'a_b'" in note for note in row.notes)


OURS_SET = {"HOMEPORT_HOME": "/srv/hp", "HOMEPORT_POSTGRES_DSN": "postgres://u:secret@h/d", "OTHER": "x"}


@pytest.mark.parametrize(
    ("client", "level", "key", "value", "required"),
    [
        ("codex", "user", "env_vars", ["HOMEPORT_HOME", "HOMEPORT_POSTGRES_DSN"], 2),
        (
            "muse-code",
            "user",
            "env",
            {"HOMEPORT_HOME": "${HOMEPORT_HOME}", "HOMEPORT_POSTGRES_DSN": "${HOMEPORT_POSTGRES_DSN}"},
            2,
        ),
        ("muse-code", "project", "env", None, 2),
        ("claude-desktop", "user", "env", None, 2),
        ("claude-code", "user", "env", None, 0),
        ("cursor", "user", "env", None, 0),
    ],
)
def test_our_variables_reach_a_client_that_clears_the_environment_by_name(
    client: str, level: str, key: str, value: object, required: int
) -> None:
    (row,) = Planned(client, variables=OURS_SET).install(level=level).plan.rows
    assert row.entry is not None
    assert row.entry.get(key) == value
    assert len(row.requires_env) == required
    assert "secret" not in repr(row)


def test_another_server_gets_none_of_our_variables() -> None:
    (row,) = Planned("codex", variables=OURS_SET).install(ROTA).plan.rows
    assert row.entry == {"command": "/opt/rota", "args": ["serve"]}


def test_a_variable_that_was_asked_for_is_not_forwarded_twice() -> None:
    wanted = OURS._replace(server=stdio("homeport", "serve", HOMEPORT_HOME="$HOMEPORT_HOME"))
    (row,) = Planned("codex", variables={"HOMEPORT_HOME": "/x"}).install(wanted).plan.rows
    assert row.entry == {"command": "homeport", "args": ["serve"], "env_vars": ["HOMEPORT_HOME"]}


def test_a_named_file_is_taken_instead_of_the_clients_own() -> None:
    planned = Planned("claude-code").install(config=PurePosixPath("/srv/x.json"), writes=True)
    assert (planned.outcome, list(planned.files)) == ("created", ["/srv/x.json"])
    planned.disk.things.clear()
    assert planned.install(config=PurePosixPath("/srv/x.json")).outcome == "created"


def test_a_json_file_is_not_taken_for_codex() -> None:
    with pytest.raises(HomeportError, match="reads TOML"):
        Planned("codex").install(config=PurePosixPath("/srv/x.json"))


def test_several_servers_are_all_planned_or_none() -> None:
    other = Registration("tally", stdio("/opt/tally"))
    planned = Planned("cursor").install(ROTA, other)
    assert list(planned.documents[CURSOR]["mcpServers"]) == ["rota", "tally"]
    refused = Planned("cursor", {CURSOR: mcp(tally={"command": "x"})}).install(ROTA, other)
    assert [row.error.code for row in refused.plan.rows if row.error] == ["all_or_nothing", "foreign_entry"]
    assert refused.plan.refused is refused.plan.rows[1].error
    assert (refused.files, refused.plan.changes) == ({}, ())


def test_a_new_file_has_what_the_client_asks_for_and_the_fragment_too() -> None:
    planned = Planned("opencode").install()
    assert list(planned.documents["~/.config/opencode/opencode.json"]) == ["$schema", "mcp"]
    (row,) = planned.plan.rows
    assert list(json.loads(str(row.fragment))) == ["$schema", "mcp"]
    again = Planned("opencode", {"~/.config/opencode/opencode.json": b"{}"}).install()
    assert list(json.loads(str(again.plan.rows[0].fragment))) == ["mcp"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b'{"mcpServers": {}}', "missing_field"),
        (b'{"schema_version": 1, "mcpServers": {}, "mcp_servers": {}}', "client_cannot_read"),
    ],
)
def test_a_file_that_muse_refuses_as_a_whole_is_not_added_to(content: bytes, code: str) -> None:
    assert Planned("muse-code", {"~/.config/muse/settings.json": content}).install().code == code


def test_a_word_that_muse_rejects_beside_ours_goes() -> None:
    file = "~/.config/muse/settings.json"
    entry = {"type": "stdio", "command": "homeport", "required": True}
    planned = Planned(
        "muse-code", {file: json.dumps({"schema_version": 1, "mcp_servers": {"homeport": entry}}).encode()}
    )
    assert planned.install().documents[file]["mcp_servers"]["homeport"] == {
        "command": "/opt/py/bin/python",
        "required": True,
        "transport": "stdio",
        "args": ["-m", "homeport", "serve"],
    }


@pytest.mark.parametrize(("level", "mode"), [("user", 0o600), ("project", 0o644)])
def test_a_new_file_is_private_in_a_home_and_readable_in_a_project(level: str, mode: int) -> None:
    (step,) = Planned("cursor", {".cursor": "a folder"}).install(level=level).plan.steps
    assert step.new_mode == mode


def test_claudes_own_lock_goes_with_its_state_file() -> None:
    (step,) = Planned("claude-code", {"~/.claude.json": b"{}"}).install(**WRITES).plan.steps
    assert str(step.client_lock) == "/home/nora/.claude.json.lock"


def test_a_switched_off_server_is_told_before_anybody_waits_for_it() -> None:
    settings: dict[str, Thing] = {"~/.claude/settings.json": b'{"deniedMcpServers": [{"serverName": "homeport"}]}'}
    (row,) = Planned("claude-code", settings).install().plan.rows
    assert row.notes[-1] == (
        "it will not start: deniedMcpServers in /home/nora/.claude/settings.json forbids 'homeport'"
    )


@pytest.mark.parametrize("client", HOMES)
def test_no_field_of_ours_is_written_inside_an_entry(client: str) -> None:
    (row,) = Planned(client).install().plan.rows
    assert row.entry is not None
    assert not [key for key in row.entry if "homeport" in key.lower() or key.startswith(("_", "x-", "managed"))]
