"""Where entries stand, and whether they count."""

from __future__ import annotations

import json
from typing import Any

import pytest

from homeport.installer.clients.references import parse_text, plain_text
from homeport.installer.clients.values import Remote, Stdio
from homeport.installer.plan.survey import Found, shown_server
from tests.installer.plan.planning import OURS, Planned, remembered, stdio
from tests.made import FOLDER, LinkTo, Program, Thing

HERE = "/home/nora/code/app"
STATE = "~/.claude.json"
CURSOR = "~/.cursor/mcp.json"
MINE = {"command": "homeport", "args": ["serve"]}


def mcp(container: str = "mcpServers", **entries: Any) -> bytes:
    return json.dumps({container: entries}).encode()


def told(planned: Planned) -> list[tuple[str, str, str, bool]]:
    return [(one.place.level, one.name, one.status, one.ours) for one in planned.survey().entries]


def only(planned: Planned) -> Found:
    (found,) = planned.survey().entries
    return found


@pytest.mark.parametrize(
    ("client", "things", "status"),
    [
        pytest.param("cursor", {CURSOR: mcp(homeport=MINE)}, "live", id="live"),
        pytest.param("cursor", {CURSOR: mcp(homeport={"command": "/opt/gone"})}, "stale", id="its command is gone"),
        pytest.param(
            "cursor",
            {CURSOR: mcp(homeport={"command": "/opt/x"}), "/opt/x": Program()},
            "live",
            id="its command is there",
        ),
        pytest.param("claude-code", {".mcp.json": mcp(homeport=MINE)}, "waiting", id="waiting for approval"),
        pytest.param(
            "claude-code",
            {
                ".mcp.json": mcp(homeport=MINE),
                ".claude/settings.local.json": b'{"disabledMcpjsonServers": ["homeport"]}',
            },
            "off",
            id="a list names it",
        ),
        pytest.param(
            "codex", {".codex/config.toml": b'[mcp_servers.homeport]\ncommand = "homeport"'}, "waiting", id="trust"
        ),
        pytest.param(
            "codex",
            {"~/.codex/config.toml": b'[mcp_servers.homeport]\ncommand = "homeport"\nenabled = false'},
            "off",
            id="a flag",
        ),
        pytest.param(
            "claude-code",
            {STATE: json.dumps({"projects": {"/srv/web": {"mcpServers": {"homeport": MINE}}}}).encode()},
            "absent",
            id="another project's",
        ),
        pytest.param(
            "claude-code",
            {STATE: mcp(homeport=MINE), "/etc/claude-code/managed-mcp.json": b"{}"},
            "off",
            id="an exclusive file",
        ),
    ],
)
def test_one_entrys_status(client: str, things: dict[str, Thing], status: str) -> None:
    assert only(Planned(client, things)).status == status


def test_the_nearer_entry_is_live_and_the_other_shadowed() -> None:
    planned = Planned("cursor", {CURSOR: mcp(homeport=MINE), ".cursor/mcp.json": mcp(homeport={"command": "tally"})})
    assert told(planned) == [("user", "homeport", "shadowed", True), ("project", "homeport", "live", False)]
    assert planned.survey().entries[0].reasons == (f"the project entry in {HERE}/.cursor/mcp.json is nearer",)


def test_an_entry_that_waits_hides_nothing() -> None:
    planned = Planned("claude-code", {STATE: mcp(homeport=MINE), ".mcp.json": mcp(homeport=MINE)})
    assert [status for _, _, status, _ in told(planned)] == ["live", "waiting"]


@pytest.mark.parametrize(
    ("present", "drifted"),
    [
        ({"command": "homeport", "args": ["serve", "--root", "/x"]}, True),
        ({"command": "homeport"}, True),
        ({"command": "homeport", "args": ["serve"], "note": "mine"}, False),
        ({"command": "homeport", "args": ["serve"], "env": {"A": "b"}}, False),
    ],
    ids=["changed", "a key gone", "a key added", "what it adds itself"],
)
def test_drift_is_what_differs_from_what_we_wrote(present: dict[str, Any], drifted: bool) -> None:
    history = remembered("/home/nora/.cursor/mcp.json", ("mcpServers", "homeport"), MINE)
    planned = Planned("cursor", {CURSOR: mcp(homeport=present)}, history=history)
    assert only(planned).status == ("drifted" if drifted else "live")


@pytest.mark.parametrize(
    ("written", "present", "drifted"),
    [
        pytest.param(
            {"type": "stdio", "command": "homeport", "cwd": "/x"}, {"command": "homeport"}, False, id="dropped"
        ),
        pytest.param(
            {"type": "stdio", "command": "homeport", "args": ["serve"]}, {"command": "homeport"}, True, id="args"
        ),
    ],
)
def test_what_muse_drops_itself_is_no_drift(written: Any, present: Any, drifted: bool) -> None:
    history = remembered("/home/nora/.config/muse/settings.json", ("mcpServers", "homeport"), written, "muse-code")
    source = json.dumps({"schema_version": 1, "mcpServers": {"homeport": present}}).encode()
    planned = Planned("muse-code", {"~/.config/muse/settings.json": source}, history=history)
    assert only(planned).status == ("drifted" if drifted else "live")


def test_an_entry_that_somebody_took_out_is_lost() -> None:
    planned = Planned("cursor").install(OURS).applied()
    planned.disk.things[planned.environment.home / ".cursor/mcp.json"] = b"{}"
    assert [one.as_json() for one in planned.survey().lost] == [
        {"name": "homeport", "level": "user", "file": "/home/nora/.cursor/mcp.json"}
    ]


def test_an_entry_that_we_took_out_ourselves_is_not_lost() -> None:
    planned = Planned("cursor").install(OURS).applied().uninstall().applied()
    assert planned.survey().lost == ()


def test_in_a_file_that_nobody_can_read_nothing_is_called_lost() -> None:
    planned = Planned("cursor").install(OURS).applied()
    planned.disk.things[planned.environment.home / ".cursor/mcp.json"] = b"{"
    found = planned.survey()
    assert (found.lost, [error.code for error in found.unreadable]) == ((), ["malformed_file"])


def test_one_bad_file_hides_no_other() -> None:
    planned = Planned("cursor", {CURSOR: b'{"mcpServers": [', ".cursor/mcp.json": mcp(rota={"command": "x"})})
    assert told(planned) == [("project", "rota", "live", False)]
    (error,) = planned.survey().unreadable
    assert error.message.startswith("/home/nora/.cursor/mcp.json, line 1")


def test_a_container_of_the_wrong_shape_is_named_with_its_file() -> None:
    planned = Planned("cursor", {CURSOR: b'{"mcpServers": 3}'})
    (error,) = planned.survey().unreadable
    assert (error.code, error.details["file"]) == ("wrong_shape", "/home/nora/.cursor/mcp.json")


def test_a_file_that_the_client_refuses_is_told_though_it_can_be_read() -> None:
    planned = Planned("muse-code", {"~/.config/muse/settings.json": b'{"theme": "dark"}'})
    assert [error.code for error in planned.survey().unreadable] == ["missing_field"]


def test_two_levels_that_links_make_one_file_have_its_entries_once() -> None:
    planned = Planned("cursor", {CURSOR: mcp(homeport=MINE), ".cursor/mcp.json": LinkTo("/home/nora/.cursor/mcp.json")})
    assert told(planned) == [("user", "homeport", "live", True)]
    assert only(planned).doubled == ()


def test_several_possible_files_are_told_and_nothing_guessed() -> None:
    name = "claude_desktop_config.json"
    things: dict[str, Thing] = {
        f"~/AppData/Roaming/Claude/{name}": b"{}",
        f"~/AppData/Local/Claude-Data/{name}": b"{}",
    }
    found = Planned("claude-desktop", things, platform="win32").survey()
    assert (found.installed, found.entries, [error.code for error in found.unreadable]) == (
        True,
        (),
        ["ambiguous_config"],
    )


def test_the_same_server_under_two_names_is_there_twice() -> None:
    planned = Planned("cursor", {CURSOR: mcp(homeport=MINE, memory=MINE, tally={"command": "x"})})
    assert [one.doubled for one in planned.survey().entries] == [
        ("memory (user, /home/nora/.cursor/mcp.json)",),
        ("homeport (user, /home/nora/.cursor/mcp.json)",),
        (),
    ]


def test_levels_that_are_merged_say_which_is_nearer() -> None:
    things: dict[str, Thing] = {
        "~/.config/opencode/opencode.json": mcp("mcp", rota={"type": "local", "command": ["rota"]}),
        "opencode.json": mcp("mcp", rota={"enabled": False}),
        ".git": FOLDER,
    }
    assert [status for _, _, status, _ in told(Planned("opencode", things))] == ["shadowed", "off"]


def test_a_client_that_is_not_installed_has_no_entries() -> None:
    planned = Planned("cursor")
    planned.disk.things.clear()
    assert (planned.survey().installed, planned.survey().entries) == (False, ())


KEY = "sk-" + "a1B2c3D4e5F6g7H8i9J0"


@pytest.mark.parametrize(
    ("server", "shown"),
    [
        pytest.param(
            stdio("npx", "--api-key", KEY, TOKEN=KEY, DAY="monday", N="5", REF="$REF"),
            {
                "transport": "stdio",
                "command": ["npx", "--api-key", "***"],
                "url": None,
                "variables": {"TOKEN": "***", "DAY": "***", "N": "5", "REF": "${REF}"},
            },
            id="stdio",
        ),
        pytest.param(
            Remote(
                plain_text(f"https://u:{KEY}@x.example/mcp?key={KEY}&team=web"),
                (("Authorization", parse_text(f"Bearer {KEY}")), ("X", parse_text("Bearer $T"))),
            ),
            {
                "transport": "http",
                "command": None,
                "url": "https://u:***@x.example/mcp?key=***&team=web",
                "variables": {"Authorization": "***", "X": "Bearer ${T}"},
            },
            id="remote",
        ),
        pytest.param(None, {"transport": None, "command": None, "url": None, "variables": {}}, id="nothing"),
    ],
)
def test_values_are_hidden(server: Stdio | Remote | None, shown: dict[str, Any]) -> None:
    assert shown_server(server) == shown
