"""Conversations and turns as rows of history.db."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, Final, NamedTuple

from homeport.errors import HomeportError
from homeport.server.state.history.instants import UNDATED
from homeport.server.state.history.reach import Viewer
from homeport.server.state.history.search import cursor_of, parse_cursor
from homeport.server.state.history.texts import pack
from homeport.server.state.history.turns import (
    Conversation,
    Message,
    Turn,
    clean,
    decode_messages,
    encode_messages,
    folded_parts,
)

# chars: of the folded text, so that nothing has to be unpacked to be counted.
TABLES: Final = """
CREATE TABLE conversations (
    id INTEGER PRIMARY KEY, user TEXT NOT NULL, name TEXT NOT NULL, project TEXT, client TEXT NOT NULL,
    started INTEGER NOT NULL, newest INTEGER NOT NULL, turns INTEGER NOT NULL, UNIQUE (user, name));
CREATE INDEX conversations_by_newest ON conversations (newest, id);
CREATE TABLE turns (
    id INTEGER PRIMARY KEY AUTOINCREMENT, conversation INTEGER NOT NULL REFERENCES conversations,
    number INTEGER NOT NULL, key TEXT NOT NULL, instant INTEGER NOT NULL, actor TEXT NOT NULL, messages TEXT NOT NULL,
    UNIQUE (conversation, number), UNIQUE (conversation, key));
CREATE TABLE texts (turn INTEGER PRIMARY KEY, chars INTEGER NOT NULL, folded BLOB NOT NULL);
"""
_CONVERSATION: Final = "c.name, c.user, c.project, c.client, c.started"
_TURN: Final = f"{_CONVERSATION}, t.number, t.key, t.instant, t.actor, t.messages"
_FROM: Final = "FROM turns t JOIN conversations c ON c.id = t.conversation"


class Landed(NamedTuple):
    """number: of the turn in its conversation, from 1. is_new: False where its key was there already."""

    number: int
    is_new: bool


class Summary(NamedTuple):
    """A conversation as it is listed. newest: the instant of its newest turn. turns: how many it has."""

    conversation: Conversation
    newest: int
    turns: int


class Recorded(NamedTuple):
    """A turn as it was landed, and the conversation it belongs to."""

    conversation: Conversation
    number: int
    key: str
    instant: int
    actor: str
    messages: tuple[Message, ...]


class Ready(NamedTuple):
    """A turn with all that is worked out before the database is locked for it."""

    turn: Turn
    messages: str
    chars: int
    folded: str | bytes


def ready(turn: Turn) -> Ready:
    """Raises HomeportError: bad_argument, bad_scope, turn_too_large."""
    cleaned = clean(turn)
    messages = encode_messages(cleaned.messages)
    folded = folded_parts(cleaned.messages)
    return Ready(cleaned, messages, len(folded), pack(folded))


def owner(database: sqlite3.Connection, conversation: Conversation) -> int:
    """The conversation's row, made where there is none."""
    database.execute(
        "INSERT OR IGNORE INTO conversations (user, name, project, client, started, newest, turns) "
        "VALUES (?, ?, ?, ?, ?, ?, 0)",
        (
            conversation.user, conversation.id, conversation.project, conversation.client, conversation.started,
            UNDATED,
        ),
    )  # fmt: skip
    row = database.execute(
        "SELECT id FROM conversations WHERE user = ? AND name = ?", (conversation.user, conversation.id)
    ).fetchone()
    return int(row[0])


def land(database: sqlite3.Connection, conversation: int, ready: Ready) -> Landed:
    """Add the turn to a conversation, unless its key is there."""
    turn = ready.turn
    row = database.execute(
        "SELECT number FROM turns WHERE conversation = ? AND key = ?", (conversation, turn.key)
    ).fetchone()
    if row is not None:
        return Landed(int(row[0]), is_new=False)
    number = _free_number(database, conversation, turn.number)
    added = database.execute(
        "INSERT INTO turns (conversation, number, key, instant, actor, messages) VALUES (?, ?, ?, ?, ?, ?)",
        (conversation, number, turn.key, turn.instant, turn.actor, ready.messages),
    )
    database.execute(
        "INSERT INTO texts (turn, chars, folded) VALUES (?, ?, ?)", (added.lastrowid, ready.chars, ready.folded)
    )
    database.execute(
        "UPDATE conversations SET turns = turns + 1, newest = max(newest, ?), "
        "started = CASE WHEN started = ? THEN ? WHEN ? = ? THEN started ELSE min(started, ?) END WHERE id = ?",
        (turn.instant, UNDATED, turn.instant, turn.instant, UNDATED, turn.instant, conversation),
    )
    return Landed(number, is_new=True)


def known(database: sqlite3.Connection, name: str, viewer: Viewer) -> int:
    """The row of a conversation that the viewer may see; of several, with reach `all`, the viewer's own.

    Raises HomeportError: conversation_not_found.
    """
    condition, values = viewer.condition
    row = database.execute(
        f"SELECT c.id FROM conversations c WHERE c.name = ? AND {condition} ORDER BY c.user = ? DESC, c.newest DESC",
        (name, *values, viewer.user),
    ).fetchone()
    if row is None:
        raise HomeportError(
            "conversation_not_found",
            f"there is no conversation {name} that can be seen here",
            "search without `conversation` to see which there are",
            {"conversation": name},
        )
    return int(row[0])


def turn(database: sqlite3.Connection, conversation: int, name: str, number: int) -> Recorded:
    """Raises HomeportError: turn_not_found, store_damaged (this turn's row)."""
    row = database.execute(
        f"SELECT {_TURN} {_FROM} WHERE t.conversation = ? AND t.number = ?", (conversation, number)
    ).fetchone()
    if row is None:
        raise _no_turn(database, conversation, name, number)
    found = _recorded(row)
    if found is None:
        raise HomeportError(
            "store_damaged",
            f"turn {number} of {name} is damaged in history.db",
            "the other turns can be read",
            {"conversation": name, "turn": number},
        )
    return found


def by_id(database: sqlite3.Connection, id_: int) -> Recorded | None:
    """A turn by its number among all; None where its row is damaged."""
    return _recorded(database.execute(f"SELECT {_TURN} {_FROM} WHERE t.id = ?", (id_,)).fetchone())


def after(
    database: sqlite3.Connection, id_: int, viewer: Viewer, conversation: int | None
) -> tuple[int, Recorded | None] | None:
    """The next turn, as they landed, that the viewer may see: its number among all, and None for a damaged one."""
    condition, values = viewer.condition
    row = database.execute(
        f"SELECT t.id, {_TURN} {_FROM} WHERE t.id > ? AND {condition} AND (? IS NULL OR c.id = ?) "
        "ORDER BY t.id LIMIT 1",
        (id_, *values, conversation, conversation),
    ).fetchone()
    return None if row is None else (int(row[0]), _recorded(row[1:]))


def summaries(
    database: sqlite3.Connection, viewer: Viewer, limit: int, cursor: str | None
) -> tuple[list[Summary], str | None]:
    """Raises HomeportError: bad_argument (cursor)."""
    condition, values = viewer.condition
    place = parse_cursor(cursor) if cursor is not None else None
    below = "1" if place is None else "(c.newest < ? OR (c.newest = ? AND c.id < ?))"
    bounds = () if place is None else (-place[0], -place[0], place[1])
    found = database.execute(
        f"SELECT {_CONVERSATION}, c.newest, c.turns, c.id FROM conversations c WHERE {condition} AND {below} "
        "ORDER BY c.newest DESC, c.id DESC LIMIT ?",
        (*values, *bounds, limit + 1),
    ).fetchall()
    shown = found[:limit]
    following = cursor_of((-shown[-1][5], shown[-1][7])) if len(found) > limit else None
    return [Summary(Conversation(*row[:5]), row[5], row[6]) for row in shown], following


def _free_number(database: sqlite3.Connection, conversation: int, wish: int | None) -> int:
    if wish is not None:
        taken = database.execute("SELECT 1 FROM turns WHERE conversation = ? AND number = ?", (conversation, wish))
        if taken.fetchone() is None:
            return wish
    row = database.execute("SELECT coalesce(max(number), 0) + 1 FROM turns WHERE conversation = ?", (conversation,))
    return int(row.fetchone()[0])


def _recorded(row: tuple[Any, ...]) -> Recorded | None:
    """A row of the columns of _TURN."""
    try:
        messages = decode_messages(json.loads(row[9]))
    except (ValueError, TypeError, RecursionError):
        return None
    return Recorded(Conversation(*row[:5]), row[5], row[6], row[7], row[8], messages)


def _no_turn(database: sqlite3.Connection, conversation: int, name: str, number: int) -> HomeportError:
    first, last = database.execute(
        "SELECT min(number), max(number) FROM turns WHERE conversation = ?", (conversation,)
    ).fetchone()
    has = "no turns yet" if first is None else f"turn {first} alone" if first == last else f"turns {first} to {last}"
    return HomeportError(
        "turn_not_found",
        f"conversation {name} has no turn {number}",
        f"it has {has}",
        {"conversation": name, "turn": number, "first": first, "last": last},
    )
