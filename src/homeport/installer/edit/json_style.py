"""A file's own style around one object: what its neighbours do, then what the objects around it do, then a default."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from homeport.installer.edit.json_grammar import COMMENT, STRING
from homeport.installer.edit.json_render import Style
from homeport.installer.edit.json_scan import Container, Slot
from homeport.installer.edit.json_source import line_start

_NEIGHBOURS: Final = 8  # members looked at on each level, from the last
_SAMPLE_BYTES: Final = 4096  # of each; a habit shows early

_INDENT: Final = rb"[ \t]*+"
_LINE_BREAK: Final = rb"\r\n|\n|\r"
_INNER_INDENT: Final = rb"[\r\n]([ \t]*+)(?![ \t\r\n])"
_COLON: Final = rb"%b([ \t]*+:[ \t]*+)" % STRING
_OPENING: Final = rb"%b|%b|([\[{])([ \t]*+)([^ \t\]}])" % (STRING, COMMENT)


def style_in(source: bytes, chain: Sequence[Container], replaced: Slot | None = None) -> Style:
    """The style for a member of the last object of `chain`, which leads there from the root.

    replaced: the member that is to be written anew, the best witness there is.
    """
    witnesses = list(_witnesses(source, chain, replaced))
    colon = _colon(source, chain)
    opened = [found for witness in witnesses for found in _openings(source, witness)]
    lists = [found for found in opened if found[0] == b"["]
    return Style(
        line_end=line_end_at(source, replaced.start if replaced else chain[-1].end - 1),
        unit=_unit(source, witnesses),
        colon=colon,
        separator=_separator(source, chain[-1], colon),
        object_padding=_padding([found for found in opened if found[0] == b"{"]),
        list_padding=_padding(lists),
        one_line=_objects_in_one_line(source, chain, replaced),
        one_line_lists=bool(lists) and lists[0][2] not in b"\r\n",
    )


def stands_in_one_line(source: bytes, chain: Sequence[Container]) -> bool:
    """Whether the last object of `chain` puts its members behind one another; an empty one does as those around it."""
    for container in reversed(chain):
        if container.size:
            last = container.slot(-1)
            before = container.slot(-2).end if container.size > 1 else container.start + 1
            return not re.compile(_LINE_BREAK).search(source, before, last.key)
    return False


def indent_at(source: bytes, offset: int) -> str:
    """The indentation of the line of `offset`."""
    found = re.compile(_INDENT).match(source, line_start(source, offset))
    return found[0].decode() if found else ""


def line_end_at(source: bytes, offset: int) -> str:
    """The line end nearest before `offset`, or else behind it; a line feed where there is none."""
    start = line_start(source, offset)
    if start and source[start - 1] in b"\r\n":
        return "\r\n" if source.endswith(b"\r\n", 0, start) else chr(source[start - 1])
    feed, carriage = source.find(b"\n", offset), source.find(b"\r", offset)
    if carriage < 0 or -1 < feed < carriage:
        return "\n"
    return "\r\n" if feed == carriage + 1 else "\r"


def _witnesses(source: bytes, chain: Sequence[Container], replaced: Slot | None) -> Iterator[tuple[int, int]]:
    """Spans of lists and objects that show habits, the most telling first."""
    for slot in _members(chain[-1], replaced):
        if source[slot.start] in b"{[":
            yield slot.start, min(slot.end, slot.start + _SAMPLE_BYTES)
    for container in reversed(chain):
        yield container.start, min(container.end, container.start + _SAMPLE_BYTES)


def _members(container: Container, replaced: Slot | None) -> Iterator[Slot]:
    if replaced:
        yield replaced
    for index in range(container.size - 1, max(container.size - 1 - _NEIGHBOURS, -1), -1):
        yield container.slot(index)


def _openings(source: bytes, witness: tuple[int, int]) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Each bracket that holds something: which, the blanks behind it and what follows these."""
    for found in re.compile(_OPENING).finditer(source, *witness):
        if found[1]:
            yield found[1], found[2], found[3]


def _padding(openings: Sequence[tuple[bytes, bytes, bytes]]) -> str:
    return next((blanks.decode() for _, blanks, then in openings if then not in b"\r\n"), "")


def _objects_in_one_line(source: bytes, chain: Sequence[Container], replaced: Slot | None) -> bool:
    """As the value replaced, else as the nearest neighbour that is an object with members, else as the container."""
    for slot in _members(chain[-1], replaced):
        sample = source[slot.start : min(slot.end, slot.start + _SAMPLE_BYTES)]
        if sample.startswith(b"{") and sample[1:].strip(b" \t\r\n") != b"}":
            return not re.compile(_LINE_BREAK).search(sample)
    return stands_in_one_line(source, chain)


def _unit(source: bytes, witnesses: Sequence[tuple[int, int]]) -> str:
    for start, end in witnesses:
        found = re.compile(_INNER_INDENT).search(source, start, end)
        inner, outer = found[1].decode() if found else "", indent_at(source, start)
        if len(inner) > len(outer) and inner.startswith(outer):
            return inner[len(outer) :]
    return "  "


def _colon(source: bytes, chain: Sequence[Container]) -> str:
    for container in reversed(chain):
        if container.size:
            found = re.compile(_COLON).match(source, container.slot(-1).key)
            return found[1].decode() if found else ": "
    return ": "


def _separator(source: bytes, container: Container, colon: str) -> str:
    if container.size > 1:
        between = source[container.slot(-2).end : container.slot(-1).key]
        if between.startswith(b",") and not between[1:].strip(b" \t"):
            return between.decode()
    return ", " if colon.endswith((" ", "\t")) else ","
