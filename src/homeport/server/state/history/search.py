"""The search itself: candidates by the index, newest first, each looked at before it counts."""

from __future__ import annotations

import heapq
import re
import sqlite3
import time
from collections.abc import Iterator
from typing import Final, NamedTuple

from homeport.errors import HomeportError
from homeport.server.state.history import segments
from homeport.server.state.history.instants import UNDATED
from homeport.server.state.history.reach import Viewer
from homeport.server.state.history.segments import Segment
from homeport.server.state.history.texts import unpack

Place = tuple[int, int]  # (-instant, number): ascending is newest first, and as they landed within an instant
_LARGEST: Final = 2**63 - 1
_CURSOR: Final = re.compile(r"(-?[0-9]{1,19})\.([0-9]{1,18})")


class Query(NamedTuple):
    """terms: folded, all of which a turn must hold. conversation: its number in the database. since, until: instants,
    both included. after: the place behind which to go on."""

    terms: tuple[str, ...]
    viewer: Viewer
    conversation: int | None = None
    actor: str | None = None
    since: int | None = None
    until: int | None = None
    after: Place | None = None


class Found(NamedTuple):
    """matches: places of turns. after: the place behind which more follow, or where time ran out (stopped) may
    follow. unreadable: turns whose kept text is damaged."""

    matches: list[Place]
    after: Place | None
    stopped: bool
    unreadable: int


def cursor_of(key: Place) -> str:
    return f"{-key[0]}.{key[1]}"


def parse_cursor(text: str) -> Place:
    """Raises HomeportError: bad_argument."""
    match = _CURSOR.fullmatch(text)
    if match is None or abs(int(match[1])) > _LARGEST:
        hint = "give the cursor of the page before as it is, or none"
        raise HomeportError("bad_argument", "cursor: no page gave this one", hint, {"field": "cursor"})
    return -int(match[1]), int(match[2])


def find(database: sqlite3.Connection, query: Query, limit: int, deadline_s: float) -> Found:
    """The newest `limit` turns that match. Inside a read transaction of the caller's: the index and the turns that
    are not yet in it must be of one moment."""
    matches: list[Place] = []
    unreadable = 0
    last = query.after
    sealed = segments.sealed_to(database)
    for key in _in_order(database, query):
        if len(matches) > limit:
            break
        if time.monotonic() > deadline_s:
            return Found(matches, last, True, unreadable)
        folded = _folded(database, query, key[1], sealed)
        last = key
        if folded is None:
            continue
        text = unpack(folded)
        if text is None:
            unreadable += 1
        elif all(term in text for term in query.terms):
            matches.append(key)
    more = len(matches) > limit
    return Found(matches[:limit], matches[limit - 1] if more else None, False, unreadable)


def _folded(database: sqlite3.Connection, query: Query, number: int, sealed: int) -> object:
    """What is kept of a turn's folded text, None for a turn that the query's other conditions leave out.

    sealed: up to which number turns are in segments, whose facets left the others out already.
    """
    if number <= sealed:
        row = database.execute("SELECT folded FROM texts WHERE turn = ?", (number,)).fetchone()
        return row[0] if row else None
    condition, values = query.viewer.condition
    row = database.execute(
        "SELECT x.folded FROM turns t JOIN conversations c ON c.id = t.conversation JOIN texts x ON x.turn = t.id "
        f"WHERE t.id = ? AND {condition} AND (? IS NULL OR c.id = ?) AND (? IS NULL OR t.actor = ?)",
        (number, *values, query.conversation, query.conversation, query.actor, query.actor),
    ).fetchone()
    return row[0] if row else None


def _in_order(database: sqlite3.Connection, query: Query) -> Iterator[Place]:
    """The places of all turns that may match, in order. A segment is looked into when its newest turn is due."""
    waiting = _segments(database, query)
    waiting.reverse()
    facets = _facets(query)
    heap: list[tuple[Place, int, Iterator[Place]]] = []
    _push(heap, 0, iter(_unsealed(database)), query)
    while heap or waiting:
        while waiting and (not heap or -waiting[-1][0] <= heap[0][0][0]):
            _, segment = waiting.pop()
            bits = segments.candidates(database, segment, query.terms, facets)
            if bits:
                _push(heap, segment.id, segments.newest_first(database, segment, bits), query)
        if heap:
            key, stream, keys = heapq.heappop(heap)
            yield key
            _push(heap, stream, keys, query)


def _push(heap: list[tuple[Place, int, Iterator[Place]]], stream: int, keys: Iterator[Place], query: Query) -> None:
    """Put a stream back with its next place that the query's bounds let through."""
    for key in keys:
        instant = -key[0]
        if query.since is not None and instant < query.since:
            return
        if query.until is not None and (instant > query.until or instant == UNDATED):
            continue
        if query.after is None or key > query.after:
            heapq.heappush(heap, (key, stream, keys))
            return


def _segments(database: sqlite3.Connection, query: Query) -> list[tuple[int, Segment]]:
    """(newest instant, segment), newest first, without those that the bounds leave nothing of."""
    rows = database.execute("SELECT newest, oldest, id, first, size, pages FROM segments ORDER BY newest DESC")
    latest = min(
        (bound for bound in (query.until, -query.after[0] if query.after else None) if bound is not None),
        default=None,
    )
    return [
        (newest, Segment(*rest))
        for newest, oldest, *rest in rows
        if (query.since is None or newest >= query.since) and (latest is None or oldest <= latest)
    ]


def _unsealed(database: sqlite3.Connection) -> list[Place]:
    rows = database.execute("SELECT instant, id FROM turns WHERE id > ?", (segments.sealed_to(database),))
    return sorted((-instant, number) for instant, number in rows)


def _facets(query: Query) -> list[str]:
    found = []
    if query.conversation is not None:
        found.append(segments.conversation_facet(query.conversation))
    elif query.viewer.reach == "project":
        found.append(segments.project_facet(query.viewer.user, query.viewer.project))
    elif query.viewer.reach == "own":
        found.append(segments.user_facet(query.viewer.user))
    if query.actor is not None:
        found.append(segments.actor_facet(query.actor))
    return found
