"""History as JSON lines: one turn a line, which says all there is to know of it and of its conversation."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, NamedTuple

from homeport.errors import HomeportError
from homeport.server.state.history.instants import UNDATED, parse_instant, stamp
from homeport.server.state.history.reach import Viewer
from homeport.server.state.history.rows import Recorded
from homeport.server.state.history.store import History
from homeport.server.state.history.turns import (
    LARGEST_BYTES,
    Conversation,
    Turn,
    decode_messages,
    message_as_json,
)

FORMAT: Final = 1
LARGEST_LINE_BYTES: Final = LARGEST_BYTES + 64 * 1024
"""A line holds a turn of the largest size and what goes with it; every byte beyond U+001F stands for itself."""

MOST_NAMED: Final = 100
_CHUNK_BYTES: Final = 1024 * 1024
_BATCH_TURNS: Final = 256
_BATCH_BYTES: Final = 4 * 1024 * 1024
_OF_THE_STORE: Final = ("home_busy", "store_damaged", "store_failed")


class Line(NamedTuple):
    """A line of an import: its number from 1, its bytes without the end, or why it was not read."""

    number: int
    data: bytes
    trouble: str | None = None


class Refused(NamedTuple):
    number: int
    trouble: str


class Imported(NamedTuple):
    """lines: read. landed: turns that are new. known: turns that were there. refused: how many lines; the first 100 of
    them are named."""

    lines: int
    landed: int
    known: int
    refused: int
    named: tuple[Refused, ...]


class _Read(NamedTuple):
    number: int
    conversation: Conversation
    turn: Turn


def export_lines(history: History, viewer: Viewer, wait_s: float, conversation: str | None = None) -> Iterator[str]:
    """Every turn that the viewer may see as a line with its end, in the order in which they landed; those that land
    meanwhile too. A damaged turn is a line with `trouble` in the place of its content.

    wait_s: how long each reading may wait for a lock. Raises what History.recorded_after raises.
    """
    number = 0
    while (found := history.recorded_after(number, viewer, time.monotonic() + wait_s, conversation)) is not None:
        number, recorded = found
        value = {"homeport_history": FORMAT, "trouble": "damaged"} if recorded is None else as_json(recorded)
        yield json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def as_json(recorded: Recorded) -> dict[str, Any]:
    conversation = recorded.conversation
    return {
        "homeport_history": FORMAT, "conversation": conversation.id, "user": conversation.user,
        "project": conversation.project, "client": conversation.client, "turn": recorded.number, "key": recorded.key,
        "stamp": None if recorded.instant == UNDATED else stamp(recorded.instant), "actor": recorded.actor,
        "messages": [message_as_json(message) for message in recorded.messages],
    }  # fmt: skip


def import_lines(history: History, stream: BinaryIO, user: str | None, wait_s: float) -> Imported:
    """Land the turns of an export. A line that cannot be read costs that line only.

    user: the scope whose conversations they become, with their projects; None for the scopes that the lines name.
    Memory stays flat whatever the size of the stream; a line holds at most LARGEST_LINE_BYTES.

    Raises home_busy, store_damaged, store_failed; all that landed before stays.
    """
    last = landed = known = refused = 0
    named: list[Refused] = []
    for number, batch, troubles in _batches(stream, user):
        last = number
        refused += len(troubles)
        named += troubles[: MOST_NAMED - len(named)]
        for read, trouble, is_new in _land(history, batch, wait_s):
            landed, known = landed + (is_new is True), known + (is_new is False)
            if trouble is not None:
                refused += 1
                named += [Refused(read.number, trouble)][: MOST_NAMED - len(named)]
    return Imported(last, landed, known, refused, tuple(sorted(named)))


def read_lines(stream: BinaryIO) -> Iterator[Line]:
    """The lines of a stream, empty ones left out, however long they are: of one that is too long only its length is
    counted. U+2028 ends no line."""
    number = 0
    while data := stream.readline(LARGEST_LINE_BYTES + 1):
        number += 1
        if len(data) > LARGEST_LINE_BYTES and not data.endswith(b"\n"):
            size = len(data)
            del data
            yield Line(number, b"", _skip(stream, size))
        elif data.strip():
            yield Line(number, data.rstrip(b"\r\n"))


def _skip(stream: BinaryIO, size: int) -> str:
    while chunk := stream.readline(_CHUNK_BYTES):
        size += len(chunk)
        if chunk.endswith(b"\n"):
            break
    return f"it has {size} bytes, and at most {LARGEST_LINE_BYTES} are taken"


def _batches(stream: BinaryIO, user: str | None) -> Iterator[tuple[int, list[_Read], list[Refused]]]:
    """(number of the last line, turns to land, lines that cannot be) as often as there is enough to land."""
    batch: list[_Read] = []
    troubles: list[Refused] = []
    size = number = 0
    for line in read_lines(stream):
        number = line.number
        read = _parsed(line, user)
        if isinstance(read, Refused):
            troubles.append(read)
        else:
            batch.append(read)
            size += len(line.data)
        if len(batch) + len(troubles) >= _BATCH_TURNS or size >= _BATCH_BYTES:
            yield number, batch, troubles
            batch, troubles, size = [], [], 0
    yield number, batch, troubles


def _land(history: History, batch: list[_Read], wait_s: float) -> Iterator[tuple[_Read, str | None, bool | None]]:
    """Each turn with why it was refused, and else whether it is new."""
    together: dict[Conversation, list[_Read]] = {}
    for read in batch:
        together.setdefault(read.conversation, []).append(read)
    for conversation, reads in together.items():
        try:
            landed = history.land(conversation, [read.turn for read in reads], time.monotonic() + wait_s)
            yield from ((read, None, one.is_new) for read, one in zip(reads, landed, strict=True))
        except HomeportError as error:
            if error.code in _OF_THE_STORE:
                raise
            # One of them is at fault: each by itself.
            for read in reads:
                yield _land_one(history, read, wait_s)


def _land_one(history: History, read: _Read, wait_s: float) -> tuple[_Read, str | None, bool | None]:
    try:
        landed = history.land(read.conversation, [read.turn], time.monotonic() + wait_s)
    except HomeportError as error:
        if error.code in _OF_THE_STORE:
            raise
        return read, f"{error.message} ({error.hint})", None
    return read, None, landed[0].is_new


def _parsed(line: Line, user: str | None) -> _Read | Refused:
    if line.trouble is not None:
        return Refused(line.number, line.trouble)
    try:
        # Bytes that are no UTF-8 become U+FFFD: the rest of the line is worth having.
        value = json.loads(line.data.decode("utf-8", "replace"), parse_constant=_no_constant)
        return _read(line.number, value, user)
    except json.JSONDecodeError as error:
        return Refused(line.number, f"it is no JSON: {error.msg} at column {error.colno}")
    except RecursionError:
        return Refused(line.number, "it is nested too deep")
    except ValueError as error:
        return Refused(line.number, str(error))


def _read(number: int, value: Any, user: str | None) -> _Read:
    """Raises ValueError, in words."""
    if not isinstance(value, dict) or value.get("homeport_history") != FORMAT:
        raise ValueError("it is no turn that `homeport history export` wrote")
    texts = {name: value.get(name) for name in ("conversation", "user", "client", "key", "actor")}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise ValueError(f"{name} is no string")
    project, turn = value.get("project"), value.get("turn")
    if not isinstance(project, str | None):
        raise ValueError("project is no string")
    if not isinstance(turn, int) or isinstance(turn, bool):
        raise ValueError("turn is no number")
    if user is not None and project is not None:
        project = f"{user}/{project.partition('/')[2]}"
    return _Read(
        number,
        Conversation(str(texts["conversation"]), user or str(texts["user"]), project, str(texts["client"])),
        Turn(
            str(texts["key"]),
            _instant(value.get("stamp")),
            str(texts["actor"]),
            decode_messages(value.get("messages")),
            turn,
        ),
    )


def _instant(value: Any) -> int:
    if value is None:
        return UNDATED
    instant = parse_instant(value) if isinstance(value, str) else None
    if instant is None:
        raise ValueError("stamp is no time")
    return instant


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
