"""The texts of versions, in versions.db: each text once, most as what they differ in from the one before.

Functions of an open database, for use inside the caller's transaction.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from typing import Final, NamedTuple

LARGEST_BYTES: Final = 1024 * 1024
"""Nothing larger is kept: a document holds no more, and a file put there by hand may hold anything."""

# base: the text that this one was made of: its first `head` bytes, `data`, its last `tail` bytes. depth: how many
# texts have to be read before this one, at the most.
TABLES: Final = """
CREATE TABLE texts (
    id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, base INTEGER REFERENCES texts, depth INTEGER NOT NULL,
    head INTEGER NOT NULL, tail INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX texts_by_base ON texts (base);
"""
_DEEPEST: Final = 24  # between two texts that are kept whole


class DamagedText(Exception):
    """What is kept cannot be turned back into the text it was."""


class _Row(NamedTuple):
    id: int
    base: int | None
    depth: int
    head: int
    tail: int
    data: bytes


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def has(database: sqlite3.Connection, data: bytes) -> bool:
    """Whether the text is kept, or would not be."""
    if len(data) > LARGEST_BYTES:
        return True
    return database.execute("SELECT 1 FROM texts WHERE sha256 = ?", (digest(data),)).fetchone() is not None


def keep(database: sqlite3.Connection, data: bytes, before: str | None) -> None:
    """Keep a text, unless it is there or larger than any document.

    before: the sha256 of the text that it replaces. Where that is kept, only the difference is.
    """
    sha256 = digest(data)
    if len(data) > LARGEST_BYTES or _row(database, sha256) is not None:
        return
    base = _row(database, before) if before else None
    if base is None or base.depth >= _DEEPEST or not _keep_difference(database, data, sha256, base):
        _insert(database, sha256, None, 0, 0, 0, zlib.compress(data))


def _keep_difference(database: sqlite3.Connection, data: bytes, sha256: str, base: _Row) -> bool:
    try:
        old = _unpacked(database, base)
    except DamagedText:
        return False
    head = _common_start(old, data)
    tail = _common_end(old[head:], data[head:])
    packed = _pack(data[head : len(data) - tail], old[head : len(old) - tail])
    if 2 * len(packed) > len(data):
        return False
    _insert(database, sha256, base.id, base.depth + 1, head, tail, packed)
    return True


def read(database: sqlite3.Connection, sha256: str) -> bytes | None:
    """A kept text, or None. Raises DamagedText."""
    row = _row(database, sha256)
    if row is None:
        return None
    data = _unpacked(database, row)
    if digest(data) != sha256:
        raise DamagedText
    return data


def forget(database: sqlite3.Connection, sha256: str) -> None:
    """Take a text out. Those that were kept as a difference from it are kept whole."""
    row = _row(database, sha256)
    if row is None:
        return
    for (child,) in database.execute("SELECT sha256 FROM texts WHERE base = ?", (row.id,)).fetchall():
        try:
            data = read(database, child)
        except DamagedText:
            # It cannot be read with the text either.
            database.execute("UPDATE texts SET base = NULL WHERE sha256 = ?", (child,))
            continue
        database.execute(
            "UPDATE texts SET base = NULL, depth = 0, head = 0, tail = 0, data = ? WHERE sha256 = ?",
            (zlib.compress(data or b""), child),
        )
    database.execute("DELETE FROM texts WHERE id = ?", (row.id,))


def forget_unused(database: sqlite3.Connection, sha256: str) -> None:
    """Take a text out that no version has and nobody is about to write."""
    used = database.execute(
        "SELECT EXISTS (SELECT 1 FROM versions WHERE sha256 = ? AND NOT redacted) "
        "OR EXISTS (SELECT 1 FROM intents WHERE sha256 = ?)",
        (sha256, sha256),
    ).fetchone()[0]
    if not used:
        forget(database, sha256)


def _row(database: sqlite3.Connection, sha256: str) -> _Row | None:
    row = database.execute("SELECT id, base, depth, head, tail, data FROM texts WHERE sha256 = ?", (sha256,)).fetchone()
    return None if row is None else _Row(*row)


def _insert(
    database: sqlite3.Connection, sha256: str, base: int | None, depth: int, head: int, tail: int, data: bytes
) -> None:
    database.execute(
        "INSERT INTO texts (sha256, base, depth, head, tail, data) VALUES (?, ?, ?, ?, ?, ?)",
        (sha256, base, depth, head, tail, data),
    )


def _unpacked(database: sqlite3.Connection, row: _Row) -> bytes:
    chain = [row]
    while (base := chain[-1].base) is not None:
        found = database.execute("SELECT id, base, depth, head, tail, data FROM texts WHERE id = ?", (base,)).fetchone()
        if found is None or len(chain) > _DEEPEST + 1:
            raise DamagedText
        chain.append(_Row(*found))
    text = b""
    for link in reversed(chain):
        try:
            text = text[: link.head] + _unpack(link, text) + text[len(text) - link.tail :]
        except (zlib.error, TypeError) as error:
            raise DamagedText from error
    return text


def _pack(data: bytes, replaced: bytes) -> bytes:
    """Compressed against what stood in its place, so that a rewrite that changes little costs little."""
    packer = zlib.compressobj(zdict=replaced) if replaced else zlib.compressobj()
    return packer.compress(data) + packer.flush()


def _unpack(link: _Row, base: bytes) -> bytes:
    replaced = base[link.head : len(base) - link.tail] if link.base is not None else b""
    unpacker = zlib.decompressobj(zdict=replaced) if replaced else zlib.decompressobj()
    # Bounded: a damaged row must not be able to fill the memory.
    return unpacker.decompress(link.data, LARGEST_BYTES + 1)


def _common_start(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def _common_end(one: bytes, other: bytes) -> int:
    """How many bytes both end with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        alike = one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]
        low, high = (middle, high) if alike else (low, middle - 1)
    return low
