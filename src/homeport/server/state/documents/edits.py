"""What the commands do to a document's text: text in, text out. Lines end at `\\n` alone, as editors count them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from homeport.errors import HomeportError

PAGE_BYTES: Final = 64 * 1024


def lines_of(text: str) -> list[str]:
    """The lines with their ends. A line end at the end of the text ends the last line and begins none."""
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def replace_once(text: str, old: str, new: str) -> tuple[str, int]:
    """Put `new` where `old` stands; give the text and the line, from 1, where that begins.

    Raises HomeportError: no_match, several_matches (details `lines`; overlapping ones count).
    """
    places: list[int] = []
    place = text.find(old)
    while place >= 0 and len(places) < 100:
        places.append(place)
        place = text.find(old, place + 1)
    if not places:
        raise HomeportError(
            "no_match", "old_str does not occur in the document", "view the document and copy the text exactly"
        )
    lines = [text.count("\n", 0, found) + 1 for found in places]
    if len(places) > 1:
        raise HomeportError(
            "several_matches",
            f"old_str occurs {len(places)} times{' or more' if place >= 0 else ''}, "
            f"at lines {', '.join(map(str, lines[:20]))}",
            "give more of the text around the one that is meant",
            {"lines": lines},
        )
    return text[: places[0]] + new + text[places[0] + len(old) :], lines[0]


def insert_after(text: str, line: int, inserted: str) -> str:
    """Put `inserted` after line `line` as lines of its own; 0 puts it on top.

    A missing line end between it and its neighbours is added in the document's own style; whether the document ends in
    one stays as it was.

    Raises HomeportError: bad_argument.
    """
    lines = lines_of(text)
    if line > len(lines):
        raise HomeportError(
            "bad_argument",
            f"insert_line is {line}, and the document has {len(lines)} lines",
            f"give a line from 0 to {len(lines)}",
            {"field": "insert_line", "lines": len(lines)},
        )
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    before, after = "".join(lines[:line]), "".join(lines[line:])
    if before and not before.endswith("\n"):
        return before + end + inserted
    if (before or after) and not inserted.endswith("\n"):
        inserted += end
    return before + inserted + after


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a document. first, last: its lines, from 1; 0 for an empty document. offset: characters of the first
    line left out. next_line, next_offset: where the next page begins; None at the end of what was asked for."""

    text: str
    first: int
    last: int
    offset: int
    lines: int
    next_line: int | None
    next_offset: int


def page_of(text: str, first: int, last: int, offset: int = 0) -> Page:
    """The lines `first` to `last` (-1: the last one) as far as a page of 64 KiB holds, from `offset` characters on.

    Raises HomeportError: bad_argument (a line or an offset that is not there).
    """
    lines = lines_of(text)
    if not lines:
        return Page("", 0, 0, 0, 0, None, 0)
    end = len(lines) if last == -1 else min(last, len(lines))
    if first > len(lines) or end < first:
        raise HomeportError(
            "bad_argument",
            f"view_range is [{first}, {last}], and the document has {len(lines)} lines",
            "give [first, last] with first not after last; -1 is the last line",
            {"field": "view_range", "lines": len(lines)},
        )
    if offset and offset >= len(lines[first - 1]):
        raise HomeportError(
            "bad_argument",
            f"offset is {offset}, and line {first} has {len(lines[first - 1])} characters",
            "leave offset out, or take it from the page before",
            {"field": "offset"},
        )
    return _fill(lines, first, end, offset)


def _fill(lines: list[str], first: int, end: int, offset: int) -> Page:
    wanted = [lines[first - 1][offset:], *lines[first:end]]
    taken: list[str] = []
    room = PAGE_BYTES
    for line in wanted:
        size = len(line.encode())
        if size > room:
            break
        taken.append(line)
        room -= size
    if len(taken) == len(wanted):
        return Page("".join(taken), first, end, offset, len(lines), None, 0)
    if taken:
        return Page("".join(taken), first, first + len(taken) - 1, offset, len(lines), first + len(taken), 0)
    # One line alone is longer than a page: as many whole characters as fit.
    part = wanted[0].encode()[:PAGE_BYTES].decode(errors="ignore")
    return Page(part, first, first, offset, len(lines), first, offset + len(part))
