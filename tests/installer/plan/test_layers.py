"""A client's other places: what hides our entry, and what the levels make together."""

from __future__ import annotations

import json
from typing import Any

import pytest

from homeport.installer.clients.references import plain_text
from homeport.installer.clients.values import Registration, Remote
from homeport.installer.plan.rows import ShadowedBy
from tests.installer.plan.planning import OURS, Planned, remembered
from tests.made import FOLDER, Thing

MINE = {"command": "homeport", "args": ["serve"]}
OTHER = {"command": "tally", "args": ["--token", "abcdefgh"]}
FEED = Registration("homeport", Remote(plain_text("https://x.example/mcp")))
STATE = "~/.claude.json"
WRITES: dict[str, Any] = {"writes": True, "via": "file"}
HERE = "/home/nora/code/app"


def mcp(value: Any, container: str = "mcpServers", **more: Any) -> bytes:
    return json.dumps({container: {"homeport": value}, **more}).encode()


def local(value: Any, **more: Any) -> bytes:
    return json.dumps({"projects": {HERE: {"mcpServers": {"homeport": value}}}, **more}).encode()


def removed(planned: Planned) -> list[tuple[str, tuple[str, ...]]]:
    (row,) = planned.plan.rows
    return [(planned.short(one.file), one.path) for one in row.removed]


def shadows(planned: Planned) -> list[tuple[str, str, bool]]:
    (row,) = planned.plan.rows
    return [(one.level, planned.short(one.file), one.ours) for one in row.shadowed_by]


@pytest.mark.parametrize(
    ("client", "things", "gone"),
    [
        pytest.param(
            "claude-code",
            {".mcp.json": mcp(MINE)},
            [("~/code/app/.mcp.json", ("mcpServers", "homeport"))],
            id="project",
        ),
        pytest.param(
            "claude-code", {STATE: local(MINE)}, [(STATE, ("projects", HERE, "mcpServers", "homeport"))], id="local"
        ),
        pytest.param(
            "cursor",
            {".cursor/mcp.json": mcp(MINE)},
            [("~/code/app/.cursor/mcp.json", ("mcpServers", "homeport"))],
            id="cursor",
        ),
        pytest.param(
            "cursor",
            {"~/.cursor/mcp.json": mcp(MINE, "servers")},
            [("~/.cursor/mcp.json", ("servers", "homeport"))],
            id="a stale container",
        ),
        pytest.param(
            "opencode",
            {
                "~/.config/opencode/opencode.jsonc": b"{}",
                "~/.config/opencode/opencode.json": mcp({"type": "local", "command": ["homeport"]}, "mcp"),
            },
            [("~/.config/opencode/opencode.json", ("mcp", "homeport"))],
            id="the losing file of the folder",
        ),
        pytest.param(
            "opencode",
            {"opencode.json": mcp({"type": "local", "command": ["homeport"]}, "mcp"), ".git": FOLDER},
            [("~/code/app/opencode.json", ("mcp", "homeport"))],
            id="opencode project",
        ),
        pytest.param(
            "codex",
            {".codex/config.toml": b'[mcp_servers.homeport]\ncommand = "homeport"\n'},
            [("~/code/app/.codex/config.toml", ("mcp_servers", "homeport"))],
            id="codex project",
        ),
    ],
)
def test_a_nearer_entry_of_ours_goes_when_the_user_level_is_written(
    client: str, things: dict[str, Thing], gone: list[tuple[str, tuple[str, ...]]]
) -> None:
    planned = Planned(client, things).install(**WRITES)
    assert (removed(planned), shadows(planned)) == (gone, [])
    kept = Planned(client, things).install(**WRITES, keep_shadows=True)
    assert removed(kept) == []
    assert [ours for _, _, ours in shadows(kept)] == [True]


@pytest.mark.parametrize(
    ("client", "things", "level", "stays"),
    [
        pytest.param(
            "claude-code", {".mcp.json": mcp(OTHER)}, "user", ("project", "~/code/app/.mcp.json", False), id="foreign"
        ),
        pytest.param(
            "claude-code", {"../.mcp.json": mcp(MINE)}, "user", ("parent", "~/code/.mcp.json", True), id="a parent's"
        ),
        pytest.param(
            "claude-code",
            {"/etc/claude-code/managed-mcp.json": mcp(MINE)},
            "user",
            ("managed", "/etc/claude-code/managed-mcp.json", True),
            id="an administrator's",
        ),
        pytest.param(
            "claude-code", {STATE: local(MINE)}, "project", ("local", STATE, True), id="local, hiding a project's"
        ),
        pytest.param(
            "muse-code",
            {".mcp.json": mcp(MINE)},
            "user",
            ("project", "~/code/app/.mcp.json", True),
            id="the shared file",
        ),
        pytest.param(
            "cursor",
            {".cursor/mcp.json": mcp(OTHER)},
            "user",
            ("project", "~/code/app/.cursor/mcp.json", False),
            id="cursor",
        ),
    ],
)
def test_what_is_not_ours_to_take_stays_and_is_reported(
    client: str, things: dict[str, Thing], level: str, stays: tuple[str, str, bool]
) -> None:
    planned = Planned(client, things).install(**WRITES, level=level)
    assert (removed(planned), shadows(planned)) == ([], [stays])


def test_what_a_shadow_runs_is_told_masked() -> None:
    (row,) = Planned("claude-code", {".mcp.json": mcp(OTHER)}).install().plan.rows
    assert row.shadowed_by == (ShadowedBy("project", f"{HERE}/.mcp.json", False, "tally --token ***"),)


def test_a_weaker_entry_is_nobodys_shadow() -> None:
    planned = Planned("cursor", {"~/.cursor/mcp.json": mcp(OTHER), ".cursor": FOLDER}).install(level="project")
    assert (removed(planned), shadows(planned), planned.outcome) == ([], [], "created")


def test_another_projects_record_is_mentioned_and_stays() -> None:
    state = json.dumps({"projects": {"/srv/web": {"mcpServers": {"homeport": MINE}}}}).encode()
    planned = Planned("claude-code", {STATE: state}).install(**WRITES)
    (row,) = planned.plan.rows
    assert row.notes == ("/home/nora/.claude.json: the record of /srv/web has an entry of this name too; it stays",)
    assert (removed(planned), shadows(planned)) == ([], [])


def test_a_removed_projects_entry_says_that_git_tracks_it() -> None:
    file = ".mcp.json"
    planned = Planned("claude-code", {file: mcp(MINE)}, tracked=(file,)).install(**WRITES)
    assert [one.tracked for one in planned.plan.rows[0].removed] == [True]


def test_an_entry_that_is_as_it_should_be_stays_unchanged_when_its_shadow_goes() -> None:
    done = Planned("cursor").install().applied()
    done.disk.things[done.environment.cwd / ".cursor/mcp.json"] = mcp(MINE)
    assert (done.install().outcome, len(done.files)) == ("unchanged", 1)


def test_a_neighbouring_file_that_nobody_can_read_is_noted_and_left() -> None:
    planned = Planned("cursor", {".cursor/mcp.json": b"{"}).install()
    (row,) = planned.plan.rows
    assert (row.outcome, len(row.notes)) == ("created", 1)
    assert row.notes[0].startswith(f"not looked at for entries of this name: {HERE}/.cursor/mcp.json, line 1, column 2")


CODEX_URL = b'[mcp_servers.homeport]\nurl = "https://y.example/mcp"\n'
MUSE_URL = mcp({"type": "streamable-http", "url": "https://y.example"})


@pytest.mark.parametrize(
    ("client", "things", "registration", "keys"),
    [
        pytest.param(
            "codex", {".codex/config.toml": CODEX_URL}, OURS, ["command", "url"], id="codex: command over url"
        ),
        pytest.param(
            "codex",
            {".codex/config.toml": b'[mcp_servers.homeport.env]\nA = "b"\n'},
            FEED,
            ["env", "url"],
            id="codex: env",
        ),
        pytest.param(
            "codex",
            {".codex/config.toml": b'[mcp_servers.homeport.http_headers]\nA = "b"\n'},
            OURS,
            ["command", "http_headers"],
            id="codex: headers over a command",
        ),
        pytest.param("muse-code", {".mcp.json": MUSE_URL}, OURS, ["command", "url"], id="muse"),
        pytest.param(
            "muse-code",
            {".mcp.json": mcp({"type": "stdio", "command": "homeport"})},
            OURS,
            ["transport", "type"],
            id="muse: two words for one thing",
        ),
        pytest.param(
            "opencode",
            {"opencode.json": mcp({"type": "remote", "url": "https://y.example"}, "mcp")},
            OURS,
            ["command", "url"],
            id="opencode",
        ),
    ],
)
def test_levels_that_would_make_an_entry_the_client_rejects_are_refused(
    client: str, things: dict[str, Thing], registration: Registration, keys: list[str]
) -> None:
    planned = Planned(client, things).install(registration, **WRITES)
    (row,) = planned.plan.rows
    assert row.error is not None
    assert (row.error.code, row.error.details["keys"], planned.files) == ("layers_conflict", keys, {})


def test_a_conflict_is_no_conflict_once_our_own_nearer_entry_goes() -> None:
    nearer = {"type": "local", "command": ["homeport"]}
    things: dict[str, Thing] = {"opencode.json": mcp(nearer, "mcp")}
    history = remembered(f"{HERE}/opencode.json", ("mcp", "homeport"), nearer, "opencode")
    planned = Planned("opencode", things, history=history).install(FEED)
    assert (planned.outcome, len(removed(planned))) == ("created", 1)


def test_a_projects_file_that_is_not_read_at_all_is_told_and_hidden_by_none() -> None:
    things: dict[str, Thing] = {
        "~/.config/opencode/opencode.json": mcp({"type": "local", "command": ["tally"]}, "mcp"),
        ".git": FOLDER,
    }
    planned = Planned("opencode", things, variables={"OPENCODE_DISABLE_PROJECT_CONFIG": "1"}).install(level="project")
    (row,) = planned.plan.rows
    assert (row.outcome, row.shadowed_by, row.notes) == (
        "created",
        (),
        ("it will not start: OPENCODE_DISABLE_PROJECT_CONFIG is set, so OpenCode reads no project's file",),
    )


def test_a_client_that_takes_the_nearest_whole_has_no_conflict() -> None:
    planned = Planned("cursor", {".cursor/mcp.json": mcp({"url": "https://y.example"})}).install()
    assert (planned.outcome, [level for level, _, _ in shadows(planned)]) == ("created", ["project"])
