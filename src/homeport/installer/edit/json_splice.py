"""Single changes to a JSON text: put a member in, replace its value, take it out. Here alone commas are moved.

What is put in goes behind the last member and the comments of its line, so that taking it out again leaves the first
bytes. The one spelling that does not come back is an empty object that held nothing but a line end and its closing
brace's own indentation: it gives the same bytes as `{}` once a member is in, and comes back as `{}`.

Comments are never taken out, also not those behind the member that goes. Nothing here checks that the result is right:
jsonc.py reads it again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from homeport.installer.edit.document import Json
from homeport.installer.edit.json_grammar import BLANK, COMMENT
from homeport.installer.edit.json_render import Style, quoted, render
from homeport.installer.edit.json_scan import Container, Slot
from homeport.installer.edit.json_style import indent_at, line_end_at

_WHITE: Final = b" \t\r\n"
_BLANK: Final = BLANK
_COMMENT: Final = COMMENT
_SAME_LINE_COMMENT: Final = rb"[ \t]*+(%b)" % COMMENT
_SPACES: Final = rb"[ \t]*+"


class Change(NamedTuple):
    """In the place of what stands from `start` to `end` comes `new`."""

    start: int
    end: int
    new: bytes


def changed(source: bytes, changes: Sequence[Change]) -> bytes:
    """The bytes with all changes made, which are in order and do not overlap."""
    view = memoryview(source)
    pieces: list[bytes | memoryview] = []
    at = 0
    for change in changes:
        pieces += [view[at : change.start], change.new]
        at = change.end
    return b"".join([*pieces, view[at:]])


def replaced(source: bytes, slot: Slot, value: Json, style: Style) -> list[Change]:
    """`value` in the place of the member's."""
    return [Change(slot.start, slot.end, render(value, style, indent_at(source, slot.key)).encode())]


def inserted(
    source: bytes, container: Container, key: str, value: Json, style: Style, *, in_line: bool
) -> list[Change]:
    """A new member, last in the object, in its line or in a line of its own."""
    if not container.size:
        return _into_empty(source, container, key, value, style, in_line)
    last = container.slot(-1)
    comma = _comma_behind(source, last.end)
    at, swallows = _behind_comments(source, last.end if comma is None else comma + 1)
    indent = indent_at(source, last.key)
    if in_line and not swallows:
        member = style.separator[1:] + _member(key, value, style, indent)
    else:
        at = _line_end_or(source, at)
        indent += style.unit if in_line else ""
        member = style.line_end + indent + _member(key, value, style, indent)
    if comma is None:
        return [Change(last.end, last.end, b","), Change(at, at, member.encode())]
    return [Change(at, at, member.encode() + b",")]


def removed(source: bytes, container: Container, slot: Slot) -> list[Change]:
    """Without that member, its comma, and its line where nothing else stands there."""
    if container.size == 1 and not has_comments(source, container, slot):
        return [_emptied(source, container, slot)]
    behind = _comma_behind(source, slot.end)
    comma = behind
    if behind is None and container.size > 1:
        comma = _comma_behind(source, container.before(slot))
    start, end = slot.key, slot.end
    if comma is not None:
        if comma >= end and not source[end:comma].strip(_WHITE):
            end, comma = comma + 1, None
        elif comma < start and not source[comma + 1 : start].strip(b" \t"):
            start, comma = comma, None
    start, end = _widened(source, container.before(slot), start, end)
    changes = [Change(start, end, b"")]
    if comma is not None:
        changes.append(Change(comma, comma + 1, b""))
    return sorted(changes)


def has_comments(source: bytes, container: Container, only: Slot) -> bool:
    """Whether anything but its one member, blanks and a comma stands between the braces of an object."""
    around = source[container.start + 1 : only.key] + source[only.end : container.end - 1]
    return bool(around.replace(b",", b"", 1).strip(_WHITE))


def _into_empty(
    source: bytes, container: Container, key: str, value: Json, style: Style, in_line: bool
) -> list[Change]:
    start, close = container.start + 1, container.end - 1
    inner = source[start:close]
    indent = indent_at(source, container.start) + style.unit
    opened = style.line_end + indent + _member(key, value, style, indent)
    if inner.strip(_WHITE):
        at = _line_end_or(source, start + len(inner.rstrip(_WHITE)))
        if source[at] not in b"\r\n":
            opened = " " + _member(key, value, style._replace(one_line=True), "")
        return [Change(at, at, opened.encode())]
    if b"\n" in inner or b"\r" in inner:
        return [Change(start, start, opened.encode())]
    if in_line:
        # The blanks of `{ }` stand before and behind the member, those of `{}` nowhere: both come back.
        member = _member(key, value, style, indent_at(source, container.start))
        return [Change(start, close, inner + member.encode() + inner)]
    return [Change(close, close, (opened + style.line_end + indent_at(source, container.start)).encode())]


def _emptied(source: bytes, container: Container, slot: Slot) -> Change:
    """Leave between the braces what stood there before `_into_empty`."""
    start, close = container.start + 1, container.end - 1
    comma = _comma_behind(source, slot.end)
    before = source[start : slot.key]
    behind = source[slot.end if comma is None else comma + 1 : close]
    left = before.split(b"\n")[0].split(b"\r")[0]
    if left == before:
        return Change(start, close, before if before == behind else b"")
    made = (line_end_at(source, slot.key) + indent_at(source, container.start)).encode()
    return Change(start, close, left if behind == made else left + behind)


def _widened(source: bytes, before: int, start: int, end: int) -> tuple[int, int]:
    """The span that goes, with the blanks around it that would be left over."""
    left, right = _before_spaces(source, start), _behind_spaces(source, end)
    there = source[right]
    if source[left - 1] in b"\r\n":
        line_end = left - 2 if source.startswith(b"\r\n", left - 2) else left - 1
        if there in b"\r\n":
            return line_end, right
        if there in b"}" and not _ends_in_line_comment(source, before, line_end):
            return line_end, end
        return start, right
    if source[left - 1] in b"{":
        return (left if there in b"\r\n" else start), (end if there in b"/" else right)
    return left, end


def _ends_in_line_comment(source: bytes, start: int, line_end: int) -> bool:
    """Whether `line_end`, in the gap between two members that begins at `start`, ends a comment that begins with //."""
    return any(
        found.end() == line_end and found[0].startswith(b"//")
        for found in re.compile(_COMMENT).finditer(source, start, line_end)
    )


def _comma_behind(source: bytes, at: int) -> int | None:
    """The comma that follows a value that ends at `at`, if any."""
    found = re.compile(_BLANK).match(source, at)
    end = found.end() if found else at
    return end if source.startswith(b",", end) else None


def _behind_comments(source: bytes, at: int) -> tuple[int, bool]:
    """Behind the comments that begin in the line of `at`; and whether what follows there would belong to the last."""
    swallows = False
    while found := re.compile(_SAME_LINE_COMMENT).match(source, at):
        at, swallows = found.end(), found[1].startswith(b"//")
    return at, swallows


def _line_end_or(source: bytes, at: int) -> int:
    """The line end that follows `at` behind spaces at most, or `at`."""
    behind = _behind_spaces(source, at)
    return behind if source[behind] in b"\r\n" else at


def _behind_spaces(source: bytes, at: int) -> int:
    found = re.compile(_SPACES).match(source, at)
    return found.end() if found else at


def _before_spaces(source: bytes, at: int) -> int:
    while source[at - 1] in b" \t":
        at -= 1
    return at


def _member(key: str, value: Json, style: Style, indent: str) -> str:
    return quoted(key) + style.colon + render(value, style, indent)
