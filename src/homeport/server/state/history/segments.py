"""The index in history.db: segments of turns that landed one after another, each with the postings of its grams.

The newest turns are in no segment yet and are few enough to be looked at one by one. Small segments become larger
ones, so that a search asks a number of segments that grows slowly. SQLite's own FTS5 is not used: it orders by the
number of a row, not by instant, knows no term of one or two characters, and is not in every Python.
"""

from __future__ import annotations

import heapq
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple

from homeport.server.state.history import postings
from homeport.server.state.history.texts import unpack

TABLES: Final = """
CREATE TABLE segments (
    id INTEGER PRIMARY KEY, first INTEGER NOT NULL UNIQUE, size INTEGER NOT NULL, weight INTEGER NOT NULL,
    newest INTEGER NOT NULL, oldest INTEGER NOT NULL, instants BLOB NOT NULL, ranks BLOB NOT NULL);
CREATE TABLE postings (
    segment INTEGER NOT NULL, gram TEXT NOT NULL, posting BLOB NOT NULL, PRIMARY KEY (segment, gram)) WITHOUT ROWID;
"""

# The weight of a segment is its number of turns, or where they are long its text counted in pages of this length.
_PAGE_CHARS: Final = 2048
_SEALED: Final = 128
_MERGED: Final = (1024, 8192)
_FACET: Final = "\n\n\n"  # no folded text gives a gram that is longer than three characters


class Segment(NamedTuple):
    """id: of its postings. first: the number of its first turn; `size` turns follow one another."""

    id: int
    first: int
    size: int
    weight: int


def user_facet(user: str) -> str:
    return f"{_FACET}u{user}"


def project_facet(user: str, project: str | None) -> str:
    return f"{_FACET}p{user}\n{project or ''}"


def conversation_facet(conversation: int) -> str:
    return f"{_FACET}c{conversation}"


def actor_facet(actor: str) -> str:
    return f"{_FACET}a{actor}"


def seal(database: sqlite3.Connection) -> bool:
    """Put turns that are in no segment into one where they are many, and make one of several small segments.

    Gives whether there is more to do. Inside a transaction of the caller's.
    """
    first = sealed_to(database) + 1
    chunk, weight = _next_chunk(database, first)
    if weight >= _SEALED:
        _build(database, first, chunk, weight)
    merged = any(_merge_last(database, cap) for cap in _MERGED)
    return merged or weight >= _MERGED[-1]


def sealed_to(database: sqlite3.Connection) -> int:
    """The number of the last turn that is in a segment."""
    row = database.execute("SELECT first + size - 1 FROM segments ORDER BY first DESC LIMIT 1").fetchone()
    return int(row[0]) if row else 0


def candidates(database: sqlite3.Connection, segment: Segment, terms: Sequence[str], facets: Sequence[str]) -> int:
    """The bits of those turns of a segment that may hold every term: none that does is missing."""
    bits = (1 << segment.size) - 1
    for gram in (
        *facets,
        *(gram for term in terms if len(term) >= postings.GRAM_CHARS for gram in postings.grams_to_ask(term)),
    ):
        row = database.execute(
            "SELECT posting FROM postings WHERE segment = ? AND gram = ?", (segment.id, gram)
        ).fetchone()
        bits = bits & postings.decode(row[0], segment.size) if row else 0
        if not bits:
            return 0
    for term in terms:
        if len(term) < postings.GRAM_CHARS and bits:
            bits &= _beginning_with(database, segment, term)
    return bits


def newest_first(database: sqlite3.Connection, segment: Segment, bits: int) -> Iterator[tuple[int, int]]:
    """(-instant, number) of the turns of `bits`, ascending: by instant the newest first, else as they landed."""
    blobs = database.execute("SELECT instants, ranks FROM segments WHERE id = ?", (segment.id,)).fetchone()
    instants, ranks = postings.numbers("q", blobs[0]), postings.numbers("H", blobs[1])
    if bits.bit_count() * 16 < segment.size:
        yield from sorted((-instants[slot], segment.first + slot) for slot in postings.slots_of(bits))
        return
    marks = bits.to_bytes((segment.size + 7) // 8, "little")
    for slot in ranks:
        if marks[slot >> 3] >> (slot & 7) & 1:
            yield -instants[slot], segment.first + slot


def _beginning_with(database: sqlite3.Connection, segment: Segment, term: str) -> int:
    """The turns that hold a term of one or two characters; all, where they are so many that looking is quicker."""
    bits, enough = 0, segment.size // 4
    rows = database.execute(
        "SELECT posting FROM postings WHERE segment = ? AND gram >= ? AND gram < ?",
        (segment.id, term, postings.after_prefix(term)),
    )
    for (posting,) in rows:
        bits |= postings.decode(posting, segment.size)
        if bits.bit_count() > enough:
            return (1 << segment.size) - 1
    return bits


class _Row(NamedTuple):
    number: int
    instant: int
    facets: tuple[str, ...]
    folded: str


def _next_chunk(database: sqlite3.Connection, first: int) -> tuple[list[tuple[int, int]], int]:
    """(number, characters) of the turns from `first` that fit the largest segment, and their weight."""
    chunk: list[tuple[int, int]] = []
    chars = 0
    for row in database.execute("SELECT turn, chars FROM texts WHERE turn >= ? ORDER BY turn", (first,)):
        chunk.append(row)
        chars += row[1]
        if _weight(len(chunk), chars) >= _MERGED[-1]:
            break
    return chunk, _weight(len(chunk), chars)


def _weight(turns: int, chars: int) -> int:
    return max(turns, chars // _PAGE_CHARS)


def _build(database: sqlite3.Connection, first: int, chunk: list[tuple[int, int]], weight: int) -> None:
    size = chunk[-1][0] - first + 1
    slots: dict[str, array[int]] = {}
    instants = array("q", bytes(8 * size))
    for row in _rows(database, first, chunk[-1][0]):
        slot = row.number - first
        instants[slot] = row.instant
        for gram in (*postings.grams_of(row.folded), *row.facets):
            found = slots.get(gram)
            if found is None:
                slots[gram] = array("H", (slot,))
            else:
                found.append(slot)
    segment = _next_id(database)
    _add_segment(database, segment, first, weight, instants)
    _add_postings(database, segment, ((gram, postings.encode(slots[gram], size)) for gram in sorted(slots)))


def _rows(database: sqlite3.Connection, first: int, last: int) -> Iterator[_Row]:
    rows = database.execute(
        "SELECT t.id, t.instant, t.actor, c.id, c.user, c.project, x.folded FROM turns t "
        "JOIN conversations c ON c.id = t.conversation JOIN texts x ON x.turn = t.id "
        "WHERE t.id BETWEEN ? AND ? ORDER BY t.id",
        (first, last),
    )
    for number, instant, actor, conversation, user, project, folded in rows:
        facets = (
            user_facet(user), project_facet(user, project), conversation_facet(conversation), actor_facet(actor),
        )  # fmt: skip
        yield _Row(number, instant, facets, unpack(folded) or "")


def _next_id(database: sqlite3.Connection) -> int:
    return int(database.execute("SELECT coalesce(max(id), 0) + 1 FROM segments").fetchone()[0])


def _add_segment(database: sqlite3.Connection, new: int, first: int, weight: int, instants: array[int]) -> None:
    # Stable: turns of one instant stay in the order in which they landed.
    ranks = array("H", sorted(range(len(instants)), key=lambda slot: -instants[slot]))
    database.execute(
        "INSERT INTO segments (id, first, size, weight, newest, oldest, instants, ranks) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            new, first, len(instants), weight, max(instants), min(instants),
            postings.as_blob(instants), postings.as_blob(ranks),
        ),
    )  # fmt: skip


def _add_postings(database: sqlite3.Connection, segment: int, found: Iterable[tuple[str, bytes]]) -> None:
    database.executemany(
        "INSERT INTO postings (segment, gram, posting) VALUES (?, ?, ?)",
        ((segment, gram, posting) for gram, posting in found),
    )


def _merge_last(database: sqlite3.Connection, cap: int) -> bool:
    """Make one of the last segments that are lighter than `cap`, as soon as they weigh it together."""
    run: list[Segment] = []
    for row in database.execute("SELECT id, first, size, weight FROM segments ORDER BY first DESC"):
        if row[3] >= cap:
            break
        run.append(Segment(*row))
    if len(run) < 2 or sum(segment.weight for segment in run) < cap:
        return False
    run.reverse()
    if sum(segment.size for segment in run) > postings.MOST_SLOTS:
        return False
    _merge(database, run)
    return True


def _merge(database: sqlite3.Connection, run: list[Segment]) -> None:
    instants = array("q")
    for segment in run:
        row = database.execute("SELECT instants FROM segments WHERE id = ?", (segment.id,)).fetchone()
        instants.extend(postings.numbers("q", row[0]))
    new = _next_id(database)
    database.executemany("DELETE FROM segments WHERE id = ?", ((segment.id,) for segment in run))
    _add_segment(database, new, run[0].first, sum(segment.weight for segment in run), instants)
    _add_postings(database, new, _joined(database, run, len(instants)))
    database.executemany("DELETE FROM postings WHERE segment = ?", ((segment.id,) for segment in run))


def _joined(database: sqlite3.Connection, run: list[Segment], size: int) -> Iterator[tuple[str, bytes]]:
    streams = [_pieces(database, segment, run[0].first) for segment in run]
    # By code points, as SQLite orders them, and as Python compares them.
    for gram, group in groupby(heapq.merge(*streams, key=itemgetter(0)), key=itemgetter(0)):
        yield gram, postings.join([piece for _, piece in group], size)


def _pieces(database: sqlite3.Connection, segment: Segment, first: int) -> Iterator[tuple[str, postings.Piece]]:
    rows = database.execute("SELECT gram, posting FROM postings WHERE segment = ? ORDER BY gram", (segment.id,))
    for gram, posting in rows:
        yield gram, postings.Piece(segment.first - first, segment.size, posting)
