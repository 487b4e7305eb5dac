"""Landing and reading: once, whole, numbered, and seen by those alone who may."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from homeport.errors import HomeportError
from homeport.server.state.history.instants import UNDATED
from homeport.server.state.history.reach import Viewer, user_of
from homeport.server.state.history.rows import Landed, Recorded, Summary
from homeport.server.state.history.store import History
from homeport.server.state.history.turns import LARGEST_BYTES, Conversation, Message, ToolCall, Turn
from tests.server.recorded import ANN, conversation, find, found, land, said, soon


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    with closing(History(tmp_path / "history.db")) as opened:
        yield opened


TURN = Turn(
    "t1",
    1_000_001,
    "hook:codex",
    (
        Message("user", "go\n\u2028on"),
        Message("assistant", "", (ToolCall("x1", "Bash", {"command": 'echo "hi"', "n": [1.5, None, True]}),)),
        Message("tool", "r" * 100_000, call="x1"),
        Message("assistant", "done"),
    ),
)


def test_a_turn_comes_back_as_it_landed(history: History) -> None:
    into = conversation(project="user:ann/proj:site")

    landed = land(history, TURN, into=into)

    assert landed == [Landed(1, is_new=True)]
    assert history.turn("c1", 1, ANN, soon()) == Recorded(
        into._replace(started=TURN.instant), 1, "t1", TURN.instant, "hook:codex", TURN.messages
    )


def test_a_key_lands_once_and_stays_as_it_was(history: History) -> None:
    land(history, said("one", key="a"), said("two", key="b"))

    again = land(history, said("other", key="b"), said("three", key="c"))

    assert again == [Landed(2, is_new=False), Landed(3, is_new=True)]
    assert history.turn("c1", 2, ANN, soon()).messages[0].text == "two"
    assert found(history, "other") == []


def test_a_wished_number_is_given_where_it_is_free(history: History) -> None:
    land(history, said("a")._replace(number=7))

    landed = land(history, said("b")._replace(number=7), said("c"), said("d")._replace(number=3))

    assert [one.number for one in landed] == [8, 9, 3]


def test_all_turns_of_a_landing_are_kept_or_none(history: History) -> None:
    with pytest.raises(HomeportError):
        land(history, said("amber"), said("x")._replace(key=""))

    assert history.conversations(ANN, 10, soon()) == ([], None)


@pytest.mark.parametrize(
    ("turn", "code"),
    [
        pytest.param(said("x")._replace(key=""), "bad_argument", id="no-key"),
        pytest.param(said("x")._replace(key="k" * 257), "bad_argument", id="long-key"),
        pytest.param(said("x")._replace(number=0), "bad_argument", id="number-0"),
        pytest.param(said("x")._replace(actor="me"), "bad_scope", id="actor"),
        pytest.param(
            said("x")._replace(messages=(Message("assistant", "", (ToolCall("a", "b", float("nan")),)),)),
            "bad_argument",
            id="not-a-number",
        ),
        pytest.param(
            said("x")._replace(messages=(Message("assistant", "", (ToolCall("a", "b", object()),)),)),
            "bad_argument",
            id="no-JSON",
        ),
        pytest.param(said("x" * LARGEST_BYTES, key="k"), "turn_too_large", id="too-large"),
    ],
)
def test_what_cannot_be_kept_is_refused(history: History, turn: Turn, code: str) -> None:
    with pytest.raises(HomeportError) as refused:
        land(history, turn)

    assert refused.value.code == code
    assert refused.value.hint


@pytest.mark.parametrize(
    ("into", "code"),
    [
        pytest.param(conversation("a b"), "bad_argument", id="id"),
        pytest.param(conversation(""), "bad_argument", id="no-id"),
        pytest.param(conversation(user="ann"), "bad_scope", id="user"),
        pytest.param(conversation(project="site"), "bad_scope", id="project"),
        pytest.param(conversation()._replace(client="Claude Code"), "bad_argument", id="client"),
    ],
)
def test_a_conversation_that_cannot_be_named_is_refused(history: History, into: Conversation, code: str) -> None:
    with pytest.raises(HomeportError) as refused:
        land(history, said("x"), into=into)

    assert refused.value.code == code


def test_half_a_surrogate_pair_becomes_a_replacement_character(history: History) -> None:
    call = ToolCall("\ud83d", "B\udc00", {"k\ud800": ["\ude00 \ud83d\ude00"]})

    land(history, Turn("k\ud83d", 0, "hook:a", (Message("assistant", "amber \ud83d end", (call,)),)))

    assert history.turn("c1", 1, ANN, soon()).messages == (
        Message("assistant", "amber \ufffd end", (ToolCall("\ufffd", "B\ufffd", {"k\ufffd": ["\ufffd 😀"]}),)),
    )
    assert found(history, "amber \ufffd 😀") == [("c1", 1)]


def test_every_part_of_a_turn_is_searched(history: History) -> None:
    land(history, TURN)

    for query in ("GO ON", "bash", 'echo "hi', "1.5", '"echo \\"hi\\""', "command", "rrr done"):
        assert found(history, query) == [("c1", 1)], query
    assert found(history, "doneecho") == []


def test_own_is_one_user_in_every_project_and_client(history: History) -> None:
    land(history, said("amber alpha"), into=conversation("a", project="user:ann/proj:a"))
    land(history, said("amber beta", at="2031-02-04"), into=Conversation("b", "user:ann", None, "codex"))
    land(history, said("amber gamma", at="2031-02-05"), into=conversation("g", user="user:bob"))

    seen = {
        viewer: found(history, "amber", viewer)
        for viewer in (
            ANN,
            Viewer("project", "user:ann", "user:ann/proj:a"),
            Viewer("project", "user:ann", None),
            Viewer("project", "user:ann", "user:ann/proj:z"),
            Viewer("own", "user:bob", None),
            Viewer("all", "user:ann", None),
        )
    }

    assert list(seen.values()) == [
        [("b", 1), ("a", 1)], [("a", 1)], [("b", 1)], [], [("g", 1)], [("g", 1), ("b", 1), ("a", 1)],
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["g", "none"])
def test_a_conversation_out_of_reach_is_as_unknown_as_one_that_is_not_there(history: History, name: str) -> None:
    land(history, said("amber"), into=conversation("g", user="user:bob"))

    for ask in (
        lambda: find(history, "amber", conversation=name),
        lambda: history.turn(name, 1, ANN, soon()),
        lambda: history.recorded_after(0, ANN, soon(), name),
    ):
        with pytest.raises(HomeportError) as unknown:
            ask()
        assert (unknown.value.code, unknown.value.details) == ("conversation_not_found", {"conversation": name})


def test_two_users_may_have_conversations_of_one_name(history: History) -> None:
    bob = Viewer("own", "user:bob", None)
    land(history, said("mine"))
    land(history, said("his"), into=conversation(user="user:bob"))

    assert history.turn("c1", 1, ANN, soon()).messages[0].text == "mine"
    assert history.turn("c1", 1, bob, soon()).messages[0].text == "his"
    assert history.turn("c1", 1, bob._replace(reach="all"), soon()).messages[0].text == "his"


@pytest.mark.parametrize(
    ("numbers", "hint"),
    [
        pytest.param([], "it has no turns yet", id="none"),
        pytest.param([4], "it has turn 4 alone", id="one"),
        pytest.param([1, 2, 9], "it has turns 1 to 9", id="several"),
    ],
)
def test_an_unknown_turn_names_the_range(history: History, numbers: list[int], hint: str) -> None:
    land(history, *(said(str(number))._replace(number=number) for number in numbers))

    with pytest.raises(HomeportError) as unknown:
        history.turn("c1", 99, ANN, soon())

    assert (unknown.value.code, unknown.value.hint) == ("turn_not_found", hint)


def test_conversations_are_listed_newest_first_and_paged(history: History) -> None:
    for day in (1, 2, 3):
        turns = [said(f"{hour}", at=f"2031-02-0{day}T{hour:02}:00Z") for hour in (5, 4, 6)]
        land(history, *turns, into=conversation(f"c{day}"))
    land(history, said("undated", at=None), into=conversation("c0"))

    first, cursor = history.conversations(ANN, 2, soon())
    second, end = history.conversations(ANN, 5, soon(), cursor)

    assert [one.conversation.id for one in (*first, *second)] == ["c3", "c2", "c1", "c0"]
    assert end is None
    at = [
        turn.instant for turn in (said("", key="a", at="2031-02-03T04:00Z"), said("", key="b", at="2031-02-03T06:00Z"))
    ]
    assert first[0] == Summary(conversation("c3")._replace(started=at[0]), at[1], 3)
    assert second[1] == Summary(conversation("c0"), UNDATED, 1)


@pytest.mark.parametrize("cursor", ["", "x", "1", "1.2.3", "9" * 40, "1.-2", "１.２", "9999999999999999999.1"])
def test_a_cursor_that_no_page_gave_is_refused(history: History, cursor: str) -> None:
    with pytest.raises(HomeportError) as refused:
        find(history, "amber", cursor=cursor)

    assert (refused.value.code, refused.value.details) == ("bad_argument", {"field": "cursor"})


def test_the_file_is_its_owners_alone(history: History, tmp_path: Path) -> None:
    land(history, said("amber"))

    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("history.db*")} == {0o600}


def test_a_damaged_database_is_said_to_be_damaged(tmp_path: Path) -> None:
    (tmp_path / "history.db").write_bytes(b"not a database, though it is long enough to be taken for one" * 20)

    with closing(History(tmp_path / "history.db")) as history, pytest.raises(HomeportError) as damaged:
        find(history, "amber")

    assert damaged.value.code == "store_damaged"
    assert str(tmp_path) not in damaged.value.message + str(damaged.value.hint)


def test_a_damaged_row_costs_its_turn_alone(history: History, tmp_path: Path) -> None:
    long = " ".join(str(number) for number in range(3000))
    land(history, said("amber whole"), said("amber torn"), said(f"amber packed {long}"))
    with closing(sqlite3.connect(tmp_path / "history.db")) as database:
        database.execute("UPDATE turns SET messages = '[{' WHERE number = 2")
        database.execute("UPDATE texts SET folded = x'00ff' WHERE turn = 3")
        database.commit()

    hits = find(history, "amber")

    assert ([hit.number for hit in hits.hits], hits.unreadable) == ([1], 2)
    with pytest.raises(HomeportError) as torn:
        history.turn("c1", 2, ANN, soon())
    assert torn.value.code == "store_damaged"
    assert history.turn("c1", 3, ANN, soon()).messages[0].text == f"amber packed {long}"


def test_bytes_that_are_no_text_in_a_column_hide_nothing_else(history: History, tmp_path: Path) -> None:
    land(history, said("amber whole"), said("amber raw"))
    with closing(sqlite3.connect(tmp_path / "history.db")) as database:
        database.execute("UPDATE texts SET folded = CAST(x'616d626572ff' AS TEXT) WHERE turn = 2")
        database.commit()

    assert found(history, "amber") == [("c1", 1), ("c1", 2)]


def test_the_user_of_a_scope() -> None:
    assert [user_of("user:ann"), user_of("user:ann/proj:site")] == ["user:ann", "user:ann"]
