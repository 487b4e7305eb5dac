"""history.db: conversations of one home, landed by any number of processes and searched while they land."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from homeport.errors import HomeportError
from homeport.server.state.database import Database, Schema, transaction
from homeport.server.state.history import rows, search, segments
from homeport.server.state.history.reach import Viewer
from homeport.server.state.history.rows import Landed, Recorded, Summary
from homeport.server.state.history.snippets import Snippet, snippet_of
from homeport.server.state.history.turns import Conversation, Turn, check_conversation, parts_of

_SCHEMA: Final = Schema(
    version=1,
    statements=rows.TABLES + segments.TABLES,
    damaged=(
        "no recorded conversation can be searched or read",
        "all else works: tell the person to move history.db aside (a new one starts empty) or to put a copy back",
    ),
)
_CACHE_KIB: Final = 8192


class Hit(NamedTuple):
    conversation: str
    number: int
    instant: int
    actor: str
    client: str
    snippet: Snippet


class Hits(NamedTuple):
    """cursor: gives the next page, None where nothing follows. stopped: time ran out first, and `cursor` goes on.
    unreadable: turns that were looked at and are damaged."""

    hits: list[Hit]
    cursor: str | None
    stopped: bool
    unreadable: int


class Asked(NamedTuple):
    """terms: as folding.terms_of gives them. conversation: an id. since, until: instants, both included. cursor: of
    the page before."""

    terms: tuple[str, ...]
    conversation: str | None = None
    actor: str | None = None
    since: int | None = None
    until: int | None = None
    cursor: str | None = None


class History:
    """One call at a time, from any thread; other processes may do as they like.

    deadline_s: on time.monotonic(), until when locks are waited for. Every method may raise HomeportError: home_busy,
    store_damaged, store_failed.
    """

    def __init__(self, path: Path) -> None:
        self._database = Database(path, _SCHEMA, _prepare)

    def close(self) -> None:
        self._database.close()

    def land(self, conversation: Conversation, turns: Sequence[Turn], deadline_s: float) -> list[Landed]:
        """Keep turns, all or none, on the disk before this returns. One whose key is there already stays as it is.

        The first landing decides a conversation's project and client. A turn gets the number it wishes for where that
        is free, else the next one.

        Raises also bad_argument, bad_scope, turn_too_large.
        """
        check_conversation(conversation)
        ready = [rows.ready(turn) for turn in turns]
        with self._database.open(deadline_s) as database, transaction(database):
            owner = rows.owner(database, conversation)
            landed = [rows.land(database, owner, one) for one in ready]
        self._index(deadline_s)
        return landed

    def search(self, asked: Asked, viewer: Viewer, limit: int, deadline_s: float) -> Hits:
        """The newest turns that hold every term, as the viewer may see them; of one instant in landing order.

        Raises also bad_argument (cursor), conversation_not_found.
        """
        after = None if asked.cursor is None else search.parse_cursor(asked.cursor)
        with self._database.open(deadline_s) as database, _one_moment(database):
            inside = None if asked.conversation is None else rows.known(database, asked.conversation, viewer)
            query = search.Query(asked.terms, viewer, inside, asked.actor, asked.since, asked.until, after)
            found = search.find(database, query, limit, deadline_s)
            hits = [_hit(database, number, asked.terms) for _, number in found.matches]
        whole = [hit for hit in hits if hit is not None]
        cursor = None if found.after is None else search.cursor_of(found.after)
        return Hits(whole, cursor, found.stopped, found.unreadable + len(hits) - len(whole))

    def turn(self, conversation: str, number: int, viewer: Viewer, deadline_s: float) -> Recorded:
        """Raises also conversation_not_found, turn_not_found (details `first`, `last`)."""
        with self._database.open(deadline_s) as database, _one_moment(database):
            inside = rows.known(database, conversation, viewer)
            return rows.turn(database, inside, conversation, number)

    def conversations(
        self, viewer: Viewer, limit: int, deadline_s: float, cursor: str | None = None
    ) -> tuple[list[Summary], str | None]:
        """Those with the newest turns first, and the cursor of the next page, None at the end.

        Raises also bad_argument (cursor).
        """
        with self._database.open(deadline_s) as database, _one_moment(database):
            return rows.summaries(database, viewer, limit, cursor)

    def recorded_after(
        self, number: int, viewer: Viewer, deadline_s: float, conversation: str | None = None
    ) -> tuple[int, Recorded | None] | None:
        """The next turn that landed behind number `number` of all (0: the first): its own number, to go on with, and
        None for a turn that is damaged. None where there is no more.

        Raises also conversation_not_found.
        """
        with self._database.open(deadline_s) as database, _one_moment(database):
            inside = None if conversation is None else rows.known(database, conversation, viewer)
            return rows.after(database, number, viewer, inside)

    def _index(self, deadline_s: float) -> None:
        """Bring the index up to what has landed. Where it cannot, the next landing does; until then a search looks at
        those turns one by one."""
        more = True
        # What has landed is kept: an index that could not be written must not be told as a failure of that.
        with contextlib.suppress(HomeportError):
            while more and time.monotonic() < deadline_s:
                with self._database.open(deadline_s) as database, transaction(database):
                    more = segments.seal(database)


def _prepare(database: sqlite3.Connection) -> None:
    # A damaged byte in one text must not hide the others.
    database.text_factory = lambda kept: kept.decode("utf-8", "replace")
    database.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")


@contextlib.contextmanager
def _one_moment(database: sqlite3.Connection) -> Iterator[None]:
    """Every read inside sees the database as it was at the first."""
    database.execute("BEGIN")
    try:
        yield
    finally:
        database.execute("ROLLBACK")


def _hit(database: sqlite3.Connection, number: int, terms: Sequence[str]) -> Hit | None:
    """None for a turn whose messages are damaged."""
    found = rows.by_id(database, number)
    if found is None:
        return None
    snippet = snippet_of(parts_of(found.messages), terms)
    return Hit(found.conversation.id, found.number, found.instant, found.actor, found.conversation.client, snippet)
