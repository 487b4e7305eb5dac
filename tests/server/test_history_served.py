"""The history toolset in a real server, whole and damaged."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from homeport.server.state.history.store import History
from tests.server.recorded import conversation, land, said
from tests.server.serving import Serving


def called(serving: Serving, name: str, **arguments: Any) -> Any:
    return serving.request("tools/call", {"name": name, "arguments": arguments})["result"]


def test_what_lands_while_a_server_runs_is_found_by_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Serving(home, "--scope", "user:ann") as serving, closing(History(home / "history.db")) as history:
        serving.initialize()
        before = called(serving, "search_history", query="倉庫")
        land(history, said("設備清單は倉庫"), said("Straße"))
        land(history, said("倉庫"), into=conversation("his", user="user:bob"))
        after = called(serving, "search_history", query="倉庫")
        turn = called(serving, "recall_turn", turn=1, conversation="c1")

    assert before["content"][0]["text"] == "No turn holds '倉庫'."
    hits = after["structuredContent"]["result"]["hits"]
    assert [(hit["conversation"], hit["snippet"]) for hit in hits] == [("c1", "設備清單は倉庫")]
    assert turn["structuredContent"]["result"]["pieces"] == [{"kind": "user", "text": "設備清單は倉庫"}]
    assert not turn["isError"]


def test_a_damaged_history_takes_its_two_tools_out_and_no_other(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "history.db").write_bytes(b"\x00damaged" * 600)

    with Serving(home, "--scope", "user:ann") as serving:
        serving.initialize()
        refused = [
            called(serving, "search_history", query="x"),
            called(serving, "recall_turn", turn=1, conversation="c"),
        ]
        made = called(serving, "memory", command="create", path="/memory/a", file_text="x")

    assert [one["structuredContent"]["error"]["code"] for one in refused] == ["store_damaged"] * 2
    assert all(one["isError"] and "move history.db aside" in one["content"][0]["text"] for one in refused)
    assert not made["isError"]
