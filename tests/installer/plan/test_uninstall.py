"""What `uninstall` would take out, and the bytes it leaves."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from homeport.installer.clients import CLIENTS
from tests.installer.edit.json_documents import documents
from tests.installer.plan.planning import OURS, ROTA, Planned, stdio
from tests.made import Thing

CURSOR = "~/.cursor/mcp.json"
STATE = "~/.claude.json"
WRITES: dict[str, Any] = {"writes": True, "via": "file"}
MINE = {"command": "homeport"}
FILES = {
    "claude-code": STATE,
    "claude-desktop": "~/.config/Claude/claude_desktop_config.json",
    "cursor": CURSOR,
    "codex": "~/.codex/config.toml",
    "opencode": "~/.config/opencode/opencode.json",
    "muse-code": "~/.config/muse/settings.json",
}


def mcp(**entries: Any) -> bytes:
    return json.dumps({"mcpServers": entries}).encode()


@pytest.mark.parametrize("client", ["cursor", "claude-desktop", "claude-code", "opencode"])
@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_uninstall_gives_the_first_bytes_back(client: str, data: st.DataObject) -> None:
    container = "mcp" if client == "opencode" else "mcpServers"
    source = data.draw(documents(is_jsonc=CLIENTS[client].DIALECT == "jsonc", container=container))
    if source.startswith(b"\xef\xbb\xbf") and not CLIENTS[client].READS_BOM:
        source = source[3:]
    planned = Planned(client, {FILES[client]: source}).install(**WRITES)
    if planned.outcome == "created":
        assert planned.applied().uninstall(**WRITES).files == {FILES[client]: source}


@pytest.mark.parametrize("source", [b"", b"\n", b" \n\t", b"\xef\xbb\xbf"])
def test_a_blank_file_is_blank_again(source: bytes) -> None:
    planned = Planned("cursor", {CURSOR: source}).install().applied()
    assert planned.uninstall().files == {CURSOR: source}


def test_a_file_that_moved_on_keeps_what_came_since() -> None:
    planned = Planned("cursor", {CURSOR: b"{}"}).install().applied()
    real = planned.environment.home / ".cursor/mcp.json"
    source = planned.disk.things[real]
    assert isinstance(source, bytes)
    planned.disk.things[real] = source.replace(b"{", b'{"theme": "dark",', 1)
    assert planned.uninstall().documents == {CURSOR: {"theme": "dark"}}


def test_a_container_that_was_there_before_stays() -> None:
    planned = Planned("cursor", {CURSOR: b'{"mcpServers": {}}'}).install().applied()
    real = planned.environment.home / ".cursor/mcp.json"
    source = planned.disk.things[real]
    assert isinstance(source, bytes)
    planned.disk.things[real] = source + b"\n"
    assert planned.uninstall().documents == {CURSOR: {"mcpServers": {}}}


def test_a_new_file_that_somebody_commented_stays() -> None:
    planned = Planned("cursor").install().applied()
    real = planned.environment.home / ".cursor/mcp.json"
    source = planned.disk.things[real]
    assert isinstance(source, bytes)
    planned.disk.things[real] = b"// mine\n" + source
    assert (planned.uninstall().files[CURSOR] or b"").startswith(b"// mine\n")


def test_two_of_ours_come_out_in_either_order() -> None:
    source = b'{\n\t"mcpServers": {\n\t\t"tally": {"command": "x"}\n\t}\n}'
    both = Planned("cursor", {CURSOR: source}).install(OURS).applied().install(ROTA).applied()
    assert both.uninstall("homeport").applied().uninstall("rota").files == {CURSOR: source}


@pytest.mark.parametrize(
    ("things", "name", "request_", "outcome", "code"),
    [
        pytest.param({CURSOR: mcp(tally={"command": "x"})}, "homeport", {}, "absent", None, id="not there"),
        pytest.param({}, "homeport", {}, "absent", None, id="no file"),
        pytest.param({CURSOR: mcp(homeport=MINE)}, "homeport", {}, "removed", None, id="ours by what it runs"),
        pytest.param(
            {CURSOR: mcp(homeport={"command": "x"})}, "homeport", {}, "refused", "foreign_entry", id="foreign"
        ),
        pytest.param(
            {CURSOR: mcp(homeport={"command": "x"})}, "homeport", {"replace": True}, "removed", None, id="all the same"
        ),
        pytest.param({CURSOR: mcp(**{"a b.ü": MINE})}, "a b.ü", {}, "removed", None, id="any name"),
        pytest.param({CURSOR: b"{"}, "homeport", {}, "refused", "malformed_file", id="malformed"),
        pytest.param({CURSOR: b'{"mcpServers": [1]}'}, "homeport", {}, "refused", "wrong_shape", id="wrong shape"),
    ],
)
def test_ours_only(
    things: dict[str, Thing], name: str, request_: dict[str, Any], outcome: str, code: str | None
) -> None:
    planned = Planned("cursor", things).uninstall(name, **request_)
    assert (planned.outcome, planned.code) == (outcome, code)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_that_is_not_there_is_refused_or_skipped(client: str) -> None:
    planned = Planned(client)
    planned.disk.things.clear()
    assert planned.uninstall().code == "client_not_installed"
    assert planned.uninstall(refused_skips=True).outcome == "skipped"


def test_the_clients_own_file_asks_for_a_way_only_when_something_is_there() -> None:
    assert Planned("claude-code").uninstall(writes=True).outcome == "absent"
    planned = Planned("claude-code", {STATE: mcp(homeport=MINE)}).uninstall(writes=True)
    assert planned.code == "client_owned_file"
    through = Planned("claude-code", {STATE: mcp(homeport=MINE)}).uninstall(writes=True, via="cli")
    (row,) = through.plan.rows
    assert (row.outcome, row.apply_command, through.files) == (
        "removed",
        ("claude", "mcp", "remove", "--scope", "user", "homeport"),
        {},
    )


def test_every_level_takes_the_local_record_and_every_file_of_the_folder() -> None:
    here = "/home/nora/code/app"
    state = {"mcpServers": {"homeport": MINE}, "projects": {here: {"mcpServers": {"homeport": MINE}}}}
    planned = Planned("claude-code", {STATE: json.dumps(state).encode(), ".mcp.json": mcp(homeport=MINE)})
    planned.uninstall(every_level=True, **WRITES)
    assert [(row.level, row.outcome, len(row.removed)) for row in planned.plan.rows] == [
        ("user", "removed", 1),
        ("project", "removed", 2),
    ]
    assert planned.documents == {
        STATE: {"mcpServers": {}, "projects": {here: {"mcpServers": {}}}},
        "~/code/app/.mcp.json": {"mcpServers": {}},
    }


def test_a_client_without_a_level_is_asked_at_the_others() -> None:
    file = FILES["claude-desktop"]
    planned = Planned("claude-desktop", {file: mcp(homeport=MINE)}).uninstall(every_level=True)
    assert [row.level for row in planned.plan.rows] == ["user"]


def test_every_level_takes_every_file_of_a_level() -> None:
    mine = json.dumps({"mcp": {"homeport": {"type": "local", "command": ["homeport"]}}}).encode()
    files = ["/srv/own.json", "~/.config/opencode/opencode.json", "~/.opencode/opencode.json"]
    things: dict[str, Thing] = dict.fromkeys(files, mine)
    planned = Planned("opencode", things, variables={"OPENCODE_CONFIG": "/srv/own.json"})
    assert list(planned.uninstall().files) == files[:1]
    assert sorted(planned.uninstall(every_level=True).files) == files


def test_both_files_of_opencodes_folder_are_cleared() -> None:
    mine = json.dumps({"mcp": {"homeport": {"type": "local", "command": ["homeport"]}}}).encode()
    folder = "~/.config/opencode"
    planned = Planned("opencode", {f"{folder}/opencode.json": mine, f"{folder}/opencode.jsonc": mine}).uninstall()
    assert sorted(planned.files) == [f"{folder}/opencode.json", f"{folder}/opencode.jsonc"]


@pytest.mark.parametrize(
    ("beside", "note"),
    [
        pytest.param({"command": "tally"}, "it runs something else: tally", id="foreign"),
        pytest.param([], "it runs something else: nothing that Homeport can read", id="no entry"),
    ],
)
def test_what_stands_beside_the_target_is_left_and_told(beside: Any, note: str) -> None:
    source = json.dumps({"mcpServers": {"homeport": MINE}, "servers": {"homeport": beside}}).encode()
    planned = Planned("cursor", {CURSOR: source}).uninstall()
    assert planned.documents == {CURSOR: {"mcpServers": {}, "servers": {"homeport": beside}}}
    (told,) = planned.plan.rows[0].notes
    assert told.startswith("left as it is: /home/nora/.cursor/mcp.json, line 1")
    assert told.endswith(note)


@pytest.mark.parametrize("other", [{"servers": []}, {"servers": None}, {"servers": "x"}])
def test_a_leftover_word_of_the_wrong_shape_is_in_nobodys_way(other: dict[str, Any]) -> None:
    source = json.dumps({"mcpServers": {"homeport": MINE}, **other}).encode()
    planned = Planned("cursor", {CURSOR: source}).uninstall()
    assert planned.documents == {CURSOR: {"mcpServers": {}, **other}}


def test_an_entry_that_came_through_an_update_goes_whole() -> None:
    wanted = ROTA._replace(server=stdio("/opt/rota", "serve", A="b"))
    source = b'{"mcpServers": {}}\n'
    planned = Planned("cursor", {CURSOR: source}).install(ROTA).applied().install(wanted).applied()
    assert planned.uninstall("rota").files == {CURSOR: source}
