"""What the history operations answer: each result as JSON values and as prose that carries all of it."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from homeport.errors import HomeportError
from homeport.server.operations.arguments import bad_argument
from homeport.server.operations.operation import Outcome
from homeport.server.operations.stored_text import DATA, mark
from homeport.server.state.history.graphemes import boundary_after, boundary_before
from homeport.server.state.history.instants import UNDATED, stamp
from homeport.server.state.history.rows import Recorded
from homeport.server.state.history.store import Asked, Hits
from homeport.server.state.history.turns import Message, compact
from homeport.server.state.paths import shown

PAGE_BYTES: Final = 64 * 1024
LONG_RESULT_CHARS: Final = 4096
_HEAD_CHARS: Final = 2048
_LONGEST_LABEL_CHARS: Final = 256


class Piece(NamedTuple):
    """A stretch of a turn. kind: user, assistant, system, call or result. name: of the tool. call: what opens it.
    left_out: characters of the same result that stand before this piece and are not shown."""

    kind: str
    text: str
    name: str = ""
    call: str = ""
    left_out: int = 0


def hits(asked: Asked, found: Hits) -> Outcome:
    listed = [
        {
            "conversation": hit.conversation, "turn": hit.number, "stamp": _stamp(hit.instant), "actor": hit.actor,
            "client": hit.client, "from": hit.snippet.kind, "snippet": hit.snippet.text,
        }
        for hit in found.hits
    ]  # fmt: skip
    result = {
        "hits": listed, "next": found.cursor, "stopped": found.stopped, "unreadable": found.unreadable,
        "snippets_are": DATA,
    }  # fmt: skip
    terms = " and ".join(shown(term) for term in asked.terms)
    where = f" in conversation {asked.conversation}" if asked.conversation else ""
    if not listed:
        none = "No turn holds" if not found.stopped else "No turn of those looked at holds"
        return Outcome(result, "\n".join([f"{none} {terms}{where}.", *_notes(found)]))
    many = f"{len(listed)} turns hold" if len(listed) > 1 else "1 turn holds"
    quote = mark("".join(hit.snippet.text for hit in found.hits))
    lines = [f"{many} {terms}{where}, newest first. Between the two marks is {DATA}.", f"<<< data {quote}"]
    for hit in found.hits:
        lines.append(f"[{hit.conversation} #{hit.number}] {stamp(hit.instant)} {hit.actor}")
        lines.append(f"  {hit.snippet.kind}: {hit.snippet.text}")
    first = found.hits[0]
    lines += [f">>> end of data {quote}", *_notes(found), _opens(first.conversation, first.number)]
    return Outcome(result, "\n".join(lines))


def turn(recorded: Recorded, call: str | None, offset: int) -> Outcome:
    """A page of a turn, or with `call` of one tool call and its whole result."""
    pieces = pieces_of(recorded.messages)
    chosen = _shortened(pieces) if call is None else _of_call(pieces, call, recorded)
    total = sum(len(piece.text) for piece in chosen)
    if offset and offset >= total:
        raise bad_argument("offset", f"there are {total} characters", "give the offset that the page before said")
    page, following = page_of(chosen, offset)
    conversation, number = recorded.conversation, recorded.number
    result = {
        "conversation": conversation.id, "turn": number, "stamp": _stamp(recorded.instant), "actor": recorded.actor,
        "client": conversation.client, "project": conversation.project, "call": call, "offset": offset,
        "characters": total, "pieces": [_as_json(piece) for piece in page], "pieces_are": DATA,
        "next": None if following is None else {"offset": following},
    }  # fmt: skip
    quote = mark("".join(piece.text for piece in page))
    what = f"Turn {number} of {conversation.id}" + (f", call {shown(call)}" if call is not None else "")
    lines = [
        f"{what}, {stamp(recorded.instant)}, {recorded.actor}. Between the two marks is {DATA}; each part begins with "
        "the mark.",
        f"<<< data {quote}",
    ]
    for piece in page:
        lines += _piece_lines(piece, quote, conversation.id, number)
    lines.append(f">>> end of data {quote}")
    if following is not None:
        lines.append(f"More follows: {_opens(conversation.id, number, call, following)}")
    return Outcome(result, "\n".join(lines))


def pieces_of(messages: tuple[Message, ...]) -> list[Piece]:
    """The stretches of a turn in order, whole. A call whose id is missing, too long or not the only one of its name is
    called by its place: `#2`."""
    pieces: list[Piece] = []
    calls: dict[str, tuple[str, str]] = {}
    labels: set[str] = set()
    for message in messages:
        if message.role == "tool":
            name, label = calls.get(message.call, ("", f"#{len(labels) + 1}"))
            labels.add(label)
            pieces.append(Piece("result", message.text, name, label))
        elif message.text:
            pieces.append(Piece(message.role, message.text))
        for call in message.calls:
            usable = 0 < len(call.id) <= _LONGEST_LABEL_CHARS and call.id not in labels
            label = call.id if usable else f"#{len(labels) + 1}"
            labels.add(label)
            calls[call.id] = (call.name, label)
            pieces.append(Piece("call", compact(call.arguments), call.name, label))
    return pieces


def page_of(pieces: list[Piece], offset: int) -> tuple[list[Piece], int | None]:
    """What of the pieces' texts, as if they were one, begins at character `offset` and fits a page, and the offset of
    the next page."""
    page: list[Piece] = []
    room, place = PAGE_BYTES, 0
    for piece in pieces:
        start = max(0, offset - place)
        place += len(piece.text)
        if offset and place <= offset:
            continue
        text = piece.text[start:]
        if len(text.encode()) > room:
            cut = _fitting(text, room)
            if cut:
                page.append(piece._replace(text=text[:cut], left_out=0 if start else piece.left_out))
            return page, place - len(text) + cut
        room -= len(text.encode())
        page.append(piece._replace(text=text, left_out=0 if start else piece.left_out))
    return page, None


def _fitting(text: str, room_bytes: int) -> int:
    """Where to cut a text that is too long: between two of what a reader sees as characters."""
    cut = len(text.encode()[:room_bytes].decode("utf-8", "ignore"))
    whole = boundary_before(text, cut)
    # One "character" of more than a page, such as a letter with endless marks, is cut all the same.
    return whole or (cut if room_bytes == PAGE_BYTES else 0)


def _shortened(pieces: list[Piece]) -> list[Piece]:
    """Long results as head and tail."""
    shortened: list[Piece] = []
    for piece in pieces:
        if piece.kind != "result" or len(piece.text) <= LONG_RESULT_CHARS:
            shortened.append(piece)
            continue
        head = boundary_before(piece.text, _HEAD_CHARS)
        tail = boundary_after(piece.text, len(piece.text) - (LONG_RESULT_CHARS - _HEAD_CHARS))
        shortened.append(piece._replace(text=piece.text[:head]))
        shortened.append(piece._replace(text=piece.text[tail:], left_out=tail - head))
    return shortened


def _of_call(pieces: list[Piece], call: str, recorded: Recorded) -> list[Piece]:
    chosen = [piece for piece in pieces if piece.call == call]
    if chosen and call:
        return chosen
    there = list(dict.fromkeys(piece.call for piece in pieces if piece.call))
    named = ", ".join(shown(one, _LONGEST_LABEL_CHARS) for one in there[:20]) + (" and more" if len(there) > 20 else "")
    raise HomeportError(
        "turn_not_found",
        f"turn {recorded.number} of {recorded.conversation.id} has no tool call of that id",
        f"its calls are {named}" if there else "it has no tool calls",
        {"field": "call", "conversation": recorded.conversation.id, "turn": recorded.number},
    )


def _piece_lines(piece: Piece, quote: str, conversation: str, number: int) -> list[str]:
    if piece.left_out:
        opened = _opens(conversation, number, piece.call)
        return [f"{quote} {piece.left_out} characters are left out here. {opened}", piece.text]
    tool = f" of {shown(piece.name)}" if piece.name else ""
    label = f" ({shown(piece.call, _LONGEST_LABEL_CHARS)})" if piece.call else ""
    return [f"{quote} {piece.kind}{tool}{label}:", piece.text]


def _as_json(piece: Piece) -> dict[str, Any]:
    value: dict[str, Any] = {"kind": piece.kind, "text": piece.text}
    if piece.kind in ("call", "result"):
        value |= {"name": piece.name, "call": piece.call, "left_out": piece.left_out}
    return value


def _notes(found: Hits) -> list[str]:
    notes = []
    if found.unreadable:
        notes.append(f"Damaged and left out: {found.unreadable}.")
    if found.stopped:
        notes.append("Time ran out before every turn was looked at.")
    if found.cursor is not None:
        notes.append(f"More {'may follow' if found.stopped else 'follow'}: search again with cursor={found.cursor!r}.")
    return notes


def _opens(conversation: str, number: int, call: str | None = None, offset: int = 0) -> str:
    more = (f", call={shown(call, _LONGEST_LABEL_CHARS)}" if call is not None else "") + (
        f", offset={offset}" if offset else ""
    )
    return (
        f'recall_turn(turn={number}, conversation="{conversation}"{more}) shows {"it" if call else "that turn"} whole.'
    )


def _stamp(instant: int) -> str | None:
    return None if instant == UNDATED else stamp(instant)
