"""`homeport history`: the tools under a person's hands, and copies of what was recorded."""

from __future__ import annotations

import io
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from homeport.server.state.history.store import History
from homeport.server.state.history.turns import Message, ToolCall, Turn
from tests.cli.running import run
from tests.cli.terminal import homeport_at_a_terminal
from tests.harness import Completed
from tests.server.recorded import conversation, land, said

PROJECT = "user:ann/proj:app"


def history(*words: str) -> Completed:
    return run("history", *words)


def result(done: Completed) -> Any:
    return done.envelope["result"]


@pytest.fixture
def recorded(project: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[History]:
    """The history of Ann's home; the working folder is her project."""
    monkeypatch.setenv("LOGNAME", "ann")
    (home / ".homeport").mkdir(mode=0o700)
    with closing(History(home / ".homeport/history.db")) as opened:
        yield opened


def test_a_search_shows_hits_and_says_on_stderr_how_to_go_on(recorded: History) -> None:
    land(recorded, said("amber one"), said("amber two"), into=conversation("s1"))

    done = history("search", "AMBER", "--limit", "1")

    assert (done.exit, done.stdout.decode()) == (0, "[s1 #1] 2031-02-03T04:05:06.000Z hook:codex\n  user: amber one\n")
    assert done.stderr.decode().splitlines() == [
        "More with: --cursor 1927857906000000.1",
        "Read one with: homeport history show s1 1",
    ]
    after = history("search", "amber", "--cursor", "1927857906000000.1")
    assert after.stdout.decode().startswith("[s1 #2]")


def test_several_words_are_several_terms_and_what_follows_two_dashes_too(recorded: History) -> None:
    land(recorded, said("disk full --now"), said("full disk"))

    assert history("search", "full", "disk").stdout.count(b"#") == 2
    assert history("search", '"disk full"').stdout.count(b"#") == 1
    assert history("search", "disk", "--", "--now").stdout.count(b"#") == 1
    assert history("search").exit == 2


def test_filters_reach_the_search(recorded: History) -> None:
    land(recorded, said("amber 1", at="2031-02-03"), said("amber 2", at="2031-02-04", actor="hook:x"))
    land(recorded, said("amber 3", at="2031-02-05"), into=conversation("c2"))

    def turns(*words: str) -> list[tuple[str, int]]:
        return [
            (hit["conversation"], hit["turn"]) for hit in result(history("search", "amber", "--json", *words))["hits"]
        ]

    assert turns("--since", "2031-02-04") == [("c2", 1), ("c1", 2)]
    assert turns("--until", "2031-02-03") == [("c1", 1)]
    assert turns("--actor", "hook:x") == [("c1", 2)]
    assert turns("--conversation", "c2") == [("c2", 1)]


def test_whose_conversations_are_shown(recorded: History) -> None:
    land(recorded, said("amber"), into=conversation("here", project=PROJECT))
    land(recorded, said("amber"), into=conversation("there", project="user:ann/proj:other"))
    land(recorded, said("amber"), into=conversation("his", user="user:bob"))

    def seen(*words: str) -> set[str]:
        return {one["conversation"] for one in result(history("list", "--json", *words))["conversations"]}

    assert seen() == {"here", "there"}
    assert seen("--history", "project") == {"here"}
    assert seen("--history", "all") == {"here", "there", "his"}
    assert seen("--scope", "user:bob") == {"his"}
    assert seen("--scope", "user:ann/proj:other", "--history", "project") == {"there"}


LONG = "r" * 100_000
TURN = Turn(
    "t", 0, "hook:codex",
    (
        Message("user", "go"),
        Message("assistant", "", (ToolCall("x1", "Bash", {"command": "ls"}),)),
        Message("tool", LONG, call="x1"),
    ),
)  # fmt: skip


def test_a_turn_is_shown_and_a_call_to_its_end(recorded: History) -> None:
    land(recorded, TURN)

    shown = history("show", "c1", "1").stdout.decode()
    whole = history("show", "c1", "1", "--call", "x1").stdout.decode()

    half = "r" * 2048
    assert shown == (
        f'--- user\ngo\n--- call Bash (x1)\n{{"command":"ls"}}\n--- result Bash (x1)\n{half}\n'
        f"[... {len(LONG) - 4096} characters left out; --call x1 shows them ...]\n{half}\n"
    )
    assert whole.count("r") - whole.count("result") == len(LONG)


def test_the_same_result_as_the_tool_gives(recorded: History) -> None:
    land(recorded, TURN)

    page = result(history("show", "c1", "1", "--call", "x1", "--json"))

    assert (page["next"], page["characters"]) == ({"offset": 65536}, len(LONG) + len('{"command":"ls"}'))
    assert result(history("show", "c1", "1", "--call", "x1", "--offset", "65536", "--json"))["next"] is None


def test_a_terminal_is_not_steered_by_what_was_recorded(recorded: History, home: Path) -> None:
    land(recorded, said("amber \x1b]0;title\x07\x9b31m end"))

    words = ("history", "show", "c1", "1")
    with homeport_at_a_terminal(*words, home=home, cwd=home, variables={"LOGNAME": "ann"}) as seen:
        assert seen.exit_code() == 0
        assert "amber \\x1b]0;title\\x07\\x9b31m end" in seen.screen()


def test_no_sdk_is_loaded_for_a_command(recorded: History, home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "homeport", "history", "search", "amber"],
        capture_output=True,
        text=True,
        env={"HOME": str(home), "PATH": os.defpath},
    )

    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert done.returncode == 0
    assert not loaded & {"mcp", "mcp_types", "anyio", "pydantic", "asyncio"}


def test_what_is_not_there_is_said(recorded: History) -> None:
    land(recorded, said("amber"))

    done = [history("show", "c1", "9"), history("show", "zz", "1"), history("search", "x", "--conversation", "zz")]

    assert [one.exit for one in done] == [1, 1, 1]
    assert done[0].stderr.decode() == "error: conversation c1 has no turn 9\nhint: it has turn 1 alone\n"
    assert history("search", "slate").stderr.decode() == "No turn holds that.\n"


def test_a_copy_goes_out_and_comes_back(recorded: History, home: Path) -> None:
    land(recorded, TURN, said("amber"), into=conversation("a", project=PROJECT))
    land(recorded, said("slate"), into=conversation("b", user="user:bob"))

    out = history("export", str(home / "copy.jsonl"))
    again = history("export", str(home / "copy.jsonl"))
    back = history("import", str(home / "copy.jsonl"), "--root", str(home / "other"), "--json")

    assert (out.exit, out.stderr.decode()) == (0, f"Wrote 2 turns to {home / 'copy.jsonl'}.\n")
    assert stat.S_IMODE((home / "copy.jsonl").stat().st_mode) == 0o600
    assert again.exit == 1
    assert result(back) == {"lines": 2, "landed": 2, "known": 0, "refused": 0, "named": []}
    assert history("export", "-", "--root", str(home / "other")).stdout == (home / "copy.jsonl").read_bytes()


def test_an_import_makes_conversations_yours_unless_scopes_are_kept(recorded: History, home: Path) -> None:
    land(recorded, said("amber"), into=conversation("b", user="user:bob", project="user:bob/proj:p"))
    history("export", str(home / "copy.jsonl"), "--history", "all")

    history("import", str(home / "copy.jsonl"), "--root", str(home / "mine"))
    history("import", str(home / "copy.jsonl"), "--root", str(home / "kept"), "--keep-scopes")

    def owners(root: str) -> list[tuple[str, str]]:
        found = result(history("list", "--root", str(home / root), "--history", "all", "--json"))["conversations"]
        return [(one["user"], one["project"]) for one in found]

    assert owners("mine") == [("user:ann", "user:ann/proj:p")]
    assert owners("kept") == [("user:bob", "user:bob/proj:p")]


def test_a_failed_export_leaves_no_file(recorded: History, home: Path) -> None:
    done = history("export", str(home / "copy.jsonl"), "--conversation", "zz", "--json")

    assert (done.exit, done.envelope["error"]["code"]) == (1, "conversation_not_found")
    assert not (home / "copy.jsonl").exists()
    assert history("export", str(home / "no/such/folder")).exit == 1
    assert history("export", "-", "--json").exit == 2


def test_bad_lines_are_named_and_the_exit_says_so(
    recorded: History, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    land(recorded, said("amber"))
    good = history("export", "-").stdout
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"{\n" + good + b"[]")))

    done = history("import", "-", "--root", str(home / "other"), "--json")

    assert done.exit == 1
    assert result(done) == {
        "lines": 3, "landed": 1, "known": 0, "refused": 2,
        "named": [
            {"line": 1, "trouble": "it is no JSON: Expecting property name enclosed in double quotes at column 2"},
            {"line": 3, "trouble": "it is no turn that `homeport history export` wrote"},
        ],
    }  # fmt: skip
    assert json.loads(good)["messages"] == [{"role": "user", "text": "amber"}]


def test_a_damaged_history_takes_no_other_command_with_it(home: Path, project: Path) -> None:
    (home / ".homeport").mkdir(mode=0o700)
    (home / ".homeport/history.db").write_bytes(b"\x00damaged" * 600)

    assert history("list", "--json").envelope["error"]["code"] == "store_damaged"
    assert run("memory", "create", "/user/a", "one").exit == 0
