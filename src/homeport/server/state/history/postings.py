"""Postings: which pages of a segment hold a gram, a few characters in a row. Pure: text, bytes and bits alone.

A page's place in its segment is its slot. Bits are one whole number, the bit of worth 2**slot for each slot.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from homeport.server.state.history.folding import PART_END

GRAM_CHARS: Final = 3
MOST_SLOTS: Final = 65_535
# A long turn is several pages: in a long text nearly every gram stands somewhere, and that says little of a word.
PAGE_CHARS: Final = 2048
_OVERLAP_CHARS: Final = 64
# Grams begin in the last characters too, so a term that is shorter than a gram is the beginning of one wherever it is.
_END: Final = PART_END * (GRAM_CHARS - 1)
_MOST_GRAMS_OF_A_TERM: Final = 8


class Piece(NamedTuple):
    """What one of several segments that become one knows of a gram. offset: where its slots begin in the new one."""

    offset: int
    size: int
    posting: bytes


def page_count(chars: int) -> int:
    """The pages of a folded text of so many characters."""
    return max(1, -(-chars // PAGE_CHARS))


def pages_of(folded: str) -> Iterator[set[str]]:
    """The grams of each page of a folded text. A page reaches over its end, so that a term which begins in it has the
    grams of its first characters there, as many as grams_to_ask asks for."""
    text = folded + _END
    for number in range(page_count(len(folded))):
        start = number * PAGE_CHARS
        page = text[start : start + PAGE_CHARS + _OVERLAP_CHARS - 1]
        yield set(map("".join, zip(*(page[at:] for at in range(GRAM_CHARS)), strict=False)))


def grams_to_ask(term: str) -> list[str]:
    """Of a term no shorter than a gram: its grams, of a long one some that are spread over its beginning. The pages
    in which it begins hold all of them."""
    term = term[:_OVERLAP_CHARS]
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
    return bits_of(slots, size).to_bytes(_bits_bytes(size), "little")


def decode(posting: bytes, size: int) -> int:
    """The bits of a posting."""
    if len(posting) == _bits_bytes(size):
        return int.from_bytes(posting, "little")
    return bits_of(numbers("H", posting), size)


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


def bits_of(slots: Iterable[int], size: int) -> int:
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
