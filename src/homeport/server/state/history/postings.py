"""Postings: which turns of a segment hold three characters in a row. Pure: text and bytes in, bytes and bits out.

A turn's place in its segment is its slot. Bits are one whole number, the bit of worth 2**slot for each slot.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from homeport.server.state.history.folding import PART_END

GRAM_CHARS: Final = 3
MOST_SLOTS: Final = 65_535
# Two grams begin in the last two characters too, so a term of one or two characters is the beginning of some gram
# wherever it stands.
_END: Final = PART_END * (GRAM_CHARS - 1)
_MOST_GRAMS_OF_A_TERM: Final = 8


class Piece(NamedTuple):
    """What one of several segments that become one knows of a gram. offset: where its slots begin in the new one."""

    offset: int
    size: int
    posting: bytes


def grams_of(folded: str) -> set[str]:
    text = folded + _END
    return set(map("".join, zip(text, text[1:], text[2:], strict=False)))


def grams_to_ask(term: str) -> list[str]:
    """Of a term of three characters or more: its grams, of a long one some that are spread over it."""
    grams = list(dict.fromkeys(term[at : at + GRAM_CHARS] for at in range(len(term) - GRAM_CHARS + 1)))
    if len(grams) <= _MOST_GRAMS_OF_A_TERM:
        return grams
    last = len(grams) - 1
    return [grams[at * last // (_MOST_GRAMS_OF_A_TERM - 1)] for at in range(_MOST_GRAMS_OF_A_TERM)]


def after_prefix(prefix: str) -> str:
    """The first text, by code points, behind all that begin with `prefix`."""
    code = ord(prefix[-1]) + 1
    if 0xD800 <= code <= 0xDFFF:
        code = 0xE000
    return prefix[:-1] + chr(code) if code <= 0x10FFFF else prefix + chr(0x10FFFF)


def encode(slots: Sequence[int], size: int) -> bytes:
    """Slots, ascending, as they are kept: two bytes each where they are few, else a bit for every slot of the segment.

    The length tells which: a list is always shorter than the bits would be.
    """
    if 2 * len(slots) < _bits_bytes(size):
        return as_blob(array("H", slots))
    return _bits_of(slots, size).to_bytes(_bits_bytes(size), "little")


def decode(posting: bytes, size: int) -> int:
    """The bits of a posting."""
    if len(posting) == _bits_bytes(size):
        return int.from_bytes(posting, "little")
    return _bits_of(numbers("H", posting), size)


def join(pieces: Sequence[Piece], size: int) -> bytes:
    """The posting of a segment of `size` slots that several become."""
    lists = [piece for piece in pieces if len(piece.posting) < _bits_bytes(piece.size)]
    if len(lists) == len(pieces) and sum(len(piece.posting) for piece in pieces) < _bits_bytes(size):
        joined = array("H")
        for piece in pieces:
            joined.extend(slot + piece.offset for slot in numbers("H", piece.posting))
        return as_blob(joined)
    bits = 0
    for piece in pieces:
        bits |= decode(piece.posting, piece.size) << piece.offset
    if 2 * bits.bit_count() < _bits_bytes(size):
        return as_blob(array("H", slots_of(bits)))
    return bits.to_bytes(_bits_bytes(size), "little")


def slots_of(bits: int) -> Iterator[int]:
    """The slots of bits, ascending. Quick where they are few."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _bits_bytes(size: int) -> int:
    return (size + 7) // 8


def _bits_of(slots: Iterable[int], size: int) -> int:
    marks = bytearray(_bits_bytes(size))
    for slot in slots:
        marks[slot >> 3] |= 1 << (slot & 7)
    return int.from_bytes(marks, "little")


def numbers(kind: Literal["H", "q"], kept: bytes) -> array[int]:
    """The numbers of a blob, two (H) or eight (q) bytes each, the lowest byte first on every machine."""
    found = array(kind, kept)
    if sys.byteorder == "big":
        found.byteswap()
    return found


def as_blob(kept: array[int]) -> bytes:
    return numbers("q" if kept.itemsize == 8 else "H", kept.tobytes()).tobytes()
