"""The index in history.db: segments of turns that landed one after another, each with the postings of its grams.

The newest turns are in no segment yet and are few enough to be looked at one by one. Small segments become larger
ones, so that a search asks a number of segments that grows slowly. SQLite's own FTS5 is not used: it orders by the
number of a row, not by instant, knows no term of one or two characters, and is not in every Python.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple

from homeport.server.state.history import postings
from homeport.server.state.history.texts import unpack

TABLES: Final = """
CREATE TABLE segments (
    id INTEGER PRIMARY KEY, first INTEGER NOT NULL UNIQUE, size INTEGER NOT NULL, pages INTEGER NOT NULL,
    newest INTEGER NOT NULL, oldest INTEGER NOT NULL, instants BLOB NOT NULL, ranks BLOB NOT NULL,
    turns BLOB NOT NULL);
CREATE TABLE postings (
    segment INTEGER NOT NULL, gram TEXT NOT NULL, posting BLOB NOT NULL, PRIMARY KEY (segment, gram)) WITHOUT ROWID;
"""

# In pages, of which every turn has at least one.
_SEALED: Final = 128
_MERGED: Final = (1024, 8192)
_FACET: Final = "\n" * postings.GRAM_CHARS  # what is longer than a gram is a facet, and its posting is of turns


class Segment(NamedTuple):
    """id: of its postings. first: the number of its first turn; `size` turns follow one another. pages: of them all."""

    id: int
    first: int
    size: int
    pages: int


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
    chunk = _next_chunk(database, sealed_to(database) + 1)
    pages = sum(postings.page_count(chars) for _, chars in chunk)
    if pages >= _SEALED:
        _build(database, chunk[0][0], chunk[-1][0])
    return any(_merge_last(database, cap) for cap in _MERGED) or pages >= _MERGED[-1]


def sealed_to(database: sqlite3.Connection) -> int:
    """The number of the last turn that is in a segment."""
    row = database.execute("SELECT first + size - 1 FROM segments ORDER BY first DESC LIMIT 1").fetchone()
    return int(row[0]) if row else 0


def candidates(database: sqlite3.Connection, segment: Segment, terms: Sequence[str], facets: Sequence[str]) -> int:
    """The bits of those turns of a segment that may hold every term: none that does is missing."""
    bits = _all_of(database, segment, facets, segment.size)
    for term in terms:
        if not bits:
            break
        bits &= _turns(database, segment, _pages_with(database, segment, term))
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


def _pages_with(database: sqlite3.Connection, segment: Segment, term: str) -> int:
    if len(term) < postings.GRAM_CHARS:
        return _beginning_with(database, segment, term)
    return _all_of(database, segment, postings.grams_to_ask(term), segment.pages)


def _all_of(database: sqlite3.Connection, segment: Segment, grams: Iterable[str], size: int) -> int:
    bits = (1 << size) - 1
    for gram in grams:
        row = database.execute(
            "SELECT posting FROM postings WHERE segment = ? AND gram = ?", (segment.id, gram)
        ).fetchone()
        bits = bits & postings.decode(row[0], size) if row else 0
        if not bits:
            break
    return bits


def _beginning_with(database: sqlite3.Connection, segment: Segment, term: str) -> int:
    """The pages that hold a term shorter than a gram; all, where they are so many that looking is quicker."""
    bits, enough = 0, segment.pages // 4
    rows = database.execute(
        "SELECT posting FROM postings WHERE segment = ? AND gram >= ? AND gram < ?",
        (segment.id, term, postings.after_prefix(term)),
    )
    for (posting,) in rows:
        bits |= postings.decode(posting, segment.pages)
        if bits.bit_count() > enough:
            return (1 << segment.pages) - 1
    return bits


def _turns(database: sqlite3.Connection, segment: Segment, pages: int) -> int:
    """The bits of the turns that pages belong to."""
    if segment.pages == segment.size or not pages:
        return pages
    if pages.bit_count() * 4 > segment.pages:
        return (1 << segment.size) - 1
    blob = database.execute("SELECT turns FROM segments WHERE id = ?", (segment.id,)).fetchone()[0]
    turns = postings.numbers("H", blob)
    return postings.bits_of({turns[page] for page in postings.slots_of(pages)}, segment.size)


class _Row(NamedTuple):
    number: int
    instant: int
    facets: tuple[str, ...]
    folded: str


def _next_chunk(database: sqlite3.Connection, first: int) -> list[tuple[int, int]]:
    """(number, characters) of the turns from `first` on that fit the largest segment."""
    chunk: list[tuple[int, int]] = []
    pages = 0
    for row in database.execute("SELECT turn, chars FROM texts WHERE turn >= ? ORDER BY turn", (first,)):
        pages += postings.page_count(row[1])
        if chunk and pages > _MERGED[-1]:
            break
        chunk.append(row)
    return chunk


def _build(database: sqlite3.Connection, first: int, last: int) -> None:
    instants = array("q", bytes(8 * (last - first + 1)))
    turns = array("H")
    places: defaultdict[str, list[int]] = defaultdict(list)
    for row in _rows(database, first, last):
        slot = row.number - first
        instants[slot] = row.instant
        for facet in row.facets:
            places[facet].append(slot)
        for grams in postings.pages_of(row.folded):
            page = len(turns)
            turns.append(slot)
            for gram in grams:
                places[gram].append(page)
    segment = _next_id(database)
    _add_segment(database, segment, first, instants, turns)
    sizes = (len(turns), len(instants))
    _add_postings(
        database, segment, ((gram, postings.encode(places[gram], sizes[_is_facet(gram)])) for gram in sorted(places))
    )


def _is_facet(gram: str) -> bool:
    return len(gram) > postings.GRAM_CHARS


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


def _add_segment(database: sqlite3.Connection, new: int, first: int, instants: array[int], turns: array[int]) -> None:
    # Stable: turns of one instant stay in the order in which they landed.
    ranks = array("H", sorted(range(len(instants)), key=lambda slot: -instants[slot]))
    database.execute(
        "INSERT INTO segments (id, first, size, pages, newest, oldest, instants, ranks, turns) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            new, first, len(instants), len(turns), max(instants), min(instants),
            postings.as_blob(instants), postings.as_blob(ranks), postings.as_blob(turns),
        ),
    )  # fmt: skip


def _add_postings(database: sqlite3.Connection, segment: int, found: Iterable[tuple[str, bytes]]) -> None:
    database.executemany(
        "INSERT INTO postings (segment, gram, posting) VALUES (?, ?, ?)",
        ((segment, gram, posting) for gram, posting in found),
    )


def _merge_last(database: sqlite3.Connection, cap: int) -> bool:
    """Make one of the last segments that are smaller than `cap` pages, as soon as they have that many together."""
    run: list[Segment] = []
    for row in database.execute("SELECT id, first, size, pages FROM segments ORDER BY first DESC"):
        if row[3] >= cap:
            break
        run.append(Segment(*row))
    if len(run) < 2 or sum(segment.pages for segment in run) < cap:
        return False
    run.reverse()
    if sum(segment.pages for segment in run) > postings.MOST_SLOTS:
        return False
    _merge(database, run)
    return True


def _merge(database: sqlite3.Connection, run: list[Segment]) -> None:
    instants, turns = array("q"), array("H")
    for segment in run:
        row = database.execute("SELECT instants, turns FROM segments WHERE id = ?", (segment.id,)).fetchone()
        offset = len(instants)
        turns.extend(turn + offset for turn in postings.numbers("H", row[1]))
        instants.extend(postings.numbers("q", row[0]))
    new = _next_id(database)
    database.executemany("DELETE FROM segments WHERE id = ?", ((segment.id,) for segment in run))
    _add_segment(database, new, run[0].first, instants, turns)
    _add_postings(database, new, _joined(database, run, (len(turns), len(instants))))
    database.executemany("DELETE FROM postings WHERE segment = ?", ((segment.id,) for segment in run))


def _joined(database: sqlite3.Connection, run: list[Segment], sizes: tuple[int, int]) -> Iterator[tuple[str, bytes]]:
    """sizes: pages and turns of the new segment."""
    places: dict[int, tuple[tuple[int, int], tuple[int, int]]] = {}
    pages = 0
    for segment in run:
        # Where the segment's pages and its turns begin in the new one, and how many they are.
        places[segment.id] = ((pages, segment.pages), (segment.first - run[0].first, segment.size))
        pages += segment.pages
    # Ordered by SQLite, which takes a fraction of the time that merging eight streams here would.
    rows = database.execute(
        f"SELECT gram, segment, posting FROM postings WHERE segment IN ({','.join('?' * len(run))}) "
        "ORDER BY gram, segment",
        list(places),
    )
    for gram, group in groupby(rows, key=itemgetter(0)):
        which = _is_facet(gram)
        pieces = [postings.Piece(*places[segment][which], posting) for _, segment, posting in group]
        yield gram, postings.join(pieces, sizes[which])
