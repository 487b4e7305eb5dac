"""What turned some bytes into others, small enough for a journal that must not hold the rest of the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

_CHUNK_BYTES: Final = 65_536
_LARGEST_DIFF_BYTES: Final = 262_144


class Splice(NamedTuple):
    """At `offset` stood `before` and stands `after`. Several are applied in order, each to the bytes the last left."""

    offset: int
    before: bytes
    after: bytes


def digest(source: bytes | None) -> str:
    """SHA-256 in hex; "" for a file that is not there."""
    if source is None:
        return ""
    import hashlib

    return hashlib.sha256(source).hexdigest()


def splices(before: bytes, after: bytes) -> tuple[Splice, ...]:
    """The spans that differ. Where the difference is small, unchanged lines between two spans are left out of both."""
    start = _common_prefix(before, after)
    end = _common_suffix(before, after, min(len(before), len(after)) - start)
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if not old or not new or max(len(old), len(new)) > _LARGEST_DIFF_BYTES:
        return (Splice(start, old, new),) if old or new else ()
    return _by_line(start, old, new)


def taken_back(source: bytes, edits: Sequence[Splice]) -> bytes:
    """The bytes before the edits, given those after them."""
    for edit in reversed(edits):
        source = source[: edit.offset] + edit.before + source[edit.offset + len(edit.after) :]
    return source


def _by_line(start: int, old: bytes, new: bytes) -> tuple[Splice, ...]:
    from difflib import SequenceMatcher

    old_lines, new_lines = old.splitlines(keepends=True), new.splitlines(keepends=True)
    found: list[Splice] = []
    # Offsets in bytes that the earlier splices have changed already: the new file's, up to this one.
    for tag, a, b, c, d in SequenceMatcher(None, old_lines, new_lines, autojunk=False).get_opcodes():
        if tag != "equal":
            offset = start + sum(map(len, new_lines[:c]))
            found.append(Splice(offset, b"".join(old_lines[a:b]), b"".join(new_lines[c:d])))
    return tuple(found)


def _common_prefix(left: bytes, right: bytes) -> int:
    limit = min(len(left), len(right))
    at = 0
    while at < limit and left[at : at + _CHUNK_BYTES] == right[at : at + _CHUNK_BYTES]:
        at += _CHUNK_BYTES
    while at < limit and left[at] == right[at]:
        at += 1
    return min(at, limit)


def _common_suffix(left: bytes, right: bytes, limit: int) -> int:
    size = 0
    while size + _CHUNK_BYTES <= limit and _ending(left, size) == _ending(right, size):
        size += _CHUNK_BYTES
    while size < limit and left[len(left) - size - 1] == right[len(right) - size - 1]:
        size += 1
    return size


def _ending(source: bytes, size: int) -> bytes:
    end = len(source) - size
    return source[end - _CHUNK_BYTES : end]
