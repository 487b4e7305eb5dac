"""JSON lines: everything comes back, and a line that cannot be read costs itself alone."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from homeport.server.state.history import lines
from homeport.server.state.history.lines import Imported, Refused, export_lines, import_lines
from homeport.server.state.history.reach import Viewer
from homeport.server.state.history.store import History
from homeport.server.state.history.turns import Message, ToolCall, Turn
from tests.server.recorded import ANN, conversation, every_page, land, said

WAIT_S = 30.0


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    with closing(History(tmp_path / "history.db")) as opened:
        yield opened


@pytest.fixture
def other(tmp_path: Path) -> Iterator[History]:
    with closing(History(tmp_path / "other.db")) as opened:
        yield opened


def exported(history: History, viewer: Viewer = ANN, conversation: str | None = None) -> str:
    return "".join(export_lines(history, viewer, WAIT_S, conversation))


def line(**changes: Any) -> bytes:
    value = {
        "homeport_history": 1, "conversation": "c1", "user": "user:ann", "project": None, "client": "codex", "turn": 1,
        "key": "k", "stamp": "2031-02-03T04:05:06Z", "actor": "hook:codex",
        "messages": [{"role": "user", "text": "amber"}],
    }  # fmt: skip
    return json.dumps(value | changes).encode() + b"\n"


def taken(history: History, data: bytes, user: str | None = None) -> Imported:
    return import_lines(history, io.BytesIO(data), user, WAIT_S)


def test_an_export_is_a_copy_of_all_there_is(history: History, other: History) -> None:
    call = ToolCall("x", "Bash", {"a": ['"\\\n\x00\u2028🌙', 1.5, None]})
    messages = (Message("user", "a\r\nb"), Message("assistant", "", (call,)), Message("tool", "r" * 9000, call="x"))
    land(
        history,
        Turn("k1", 5, "hook:a", messages),
        said("undated", at=None),
        into=conversation(project="user:ann/proj:p"),
    )
    land(history, said("three")._replace(number=9), said("four"), into=conversation("c2"))
    first = exported(history)

    done = taken(other, first.encode())

    assert done == Imported(4, 4, 0, 0, ())
    assert exported(other) == first
    assert every_page(other, "r", 10) == every_page(history, "r", 10)


def test_importing_again_changes_nothing(history: History) -> None:
    land(history, said("one"), said("two"))
    before = exported(history)

    assert taken(history, before.encode()) == Imported(2, 0, 2, 0, ())
    assert exported(history) == before


def test_an_export_is_of_what_can_be_seen(history: History) -> None:
    land(history, said("mine"), into=conversation("a"))
    land(history, said("mine too"), into=conversation("b"))
    land(history, said("his"), into=conversation("a", user="user:bob"))

    seen = [exported(history), exported(history, conversation="b"), exported(history, Viewer("all", "user:ann", None))]

    assert [text.count("\n") for text in seen] == [2, 1, 3]


def test_imported_conversations_become_the_users_with_their_projects(history: History) -> None:
    taken(history, line() + line(conversation="c2", project="user:ann/proj:p"), "user:bob")

    copied = [json.loads(one) for one in exported(history, Viewer("all", "user:bob", None)).splitlines()]
    assert [(one["user"], one["project"]) for one in copied] == [("user:bob", None), ("user:bob", "user:bob/proj:p")]


@pytest.mark.parametrize(
    ("bad", "trouble"),
    [
        pytest.param(b"{\n", "it is no JSON: Expecting property name enclosed in double quotes at column 2", id="torn"),
        pytest.param(b"[]\n", "it is no turn that `homeport history export` wrote", id="a-list"),
        pytest.param(b'{"type": "user"}\n', "it is no turn that `homeport history export` wrote", id="another-shape"),
        pytest.param(line(homeport_history=2), "it is no turn that `homeport history export` wrote", id="newer"),
        pytest.param(line(messages="x"), "messages is no list", id="messages"),
        pytest.param(line(messages=[{"role": "user"}]), "text is no string", id="no-text"),
        pytest.param(
            line(messages=[{"role": "root", "text": ""}]), "role is none of user, assistant, system, tool", id="role"
        ),
        pytest.param(line(messages=["x"]), "role is no string", id="message"),
        pytest.param(line(messages=[{"role": "user", "text": "", "calls": {}}]), "calls is no list", id="calls"),
        pytest.param(line(key=None), "key is no string", id="no-key"),
        pytest.param(line(turn=True), "turn is no number", id="true-is-not-turn-1"),
        pytest.param(line(turn=0), "turn: it cannot be kept (turns are numbered from 1)", id="turn-0"),
        pytest.param(line(project=1), "project is no string", id="project"),
        pytest.param(line(stamp="soon"), "stamp is no time", id="stamp"),
        pytest.param(line(actor="x"), "'x' is not an actor (write kind:name, such as mcp:cursor)", id="actor"),
        pytest.param(line().replace(b'"turn": 1', b'"turn": NaN'), "NaN is no JSON", id="NaN"),
        pytest.param(b"[" * 100_000 + b"\n", "it is nested too deep", id="deep"),
    ],
)  # fmt: skip
def test_a_bad_line_costs_itself_and_is_named(history: History, bad: bytes, trouble: str) -> None:
    done = taken(history, line(key="a", turn=1) + bad + b"\n" + line(key="b", turn=2))

    assert done == Imported(4, 2, 0, 1, (Refused(2, trouble),))


def test_a_torn_last_line_costs_itself(history: History) -> None:
    assert taken(history, line(key="a") + line(key="b")[:-20])[1:4] == (1, 0, 1)
    assert taken(history, line(key="c").rstrip())[1:4] == (1, 0, 0)


def test_bytes_that_are_no_text_and_half_pairs_become_replacement_characters(history: History) -> None:
    raw = line(messages=[{"role": "user", "text": "amber \ud83d XX\u2028next"}]).replace(b"XX", b"\xff\xfe")

    done = taken(history, raw)

    assert done == Imported(1, 1, 0, 0, ())
    assert json.loads(exported(history))["messages"][0]["text"] == "amber \ufffd \ufffd\ufffd\u2028next"


def test_only_so_many_bad_lines_are_named_and_all_are_counted(history: History) -> None:
    done = taken(history, b"x\n" * 1000)

    assert (done.lines, done.refused, len(done.named)) == (1000, 1000, lines.MOST_NAMED)


class Endless(io.RawIOBase):
    """One line of so many bytes, and a good one behind it, made as they are read."""

    def __init__(self, size: int) -> None:
        self._left = size
        self._rest = io.BytesIO(b"\n" + line())

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._left:
            return self._rest.readinto(buffer)
        count = min(len(buffer), self._left)
        buffer[:count] = b"a" * count
        self._left -= count
        return count


def test_a_line_of_100_megabytes_is_refused_by_its_size_in_flat_memory(history: History) -> None:
    size = 100_000_000
    tracemalloc.start()
    try:
        done = import_lines(history, io.BufferedReader(Endless(size)), None, WAIT_S)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    trouble = f"it has {size + 1} bytes, and at most {lines.LARGEST_LINE_BYTES} are taken"
    assert done == Imported(2, 1, 0, 1, (Refused(1, trouble),))
    assert peak_bytes < 3 * lines.LARGEST_LINE_BYTES
