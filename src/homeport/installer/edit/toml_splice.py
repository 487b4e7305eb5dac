"""Single changes to a TOML file's bytes: drop what stands at a path, replace it, or put something new there.

Each takes a Layout and gives the new bytes; whoever makes several scans again in between. Nothing here checks that the
result is right: toml.py reads the whole file again with tomllib.

A table reaches from its header to its last key; the comments behind that are not in it. So a comment between our header
and our last key goes with our table, one above the header or below the last key stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from homeport.errors import HomeportError
from homeport.installer.edit.document import Json, KeyPath
from homeport.installer.edit.toml_render import (
    Style,
    document_lines,
    dotted_lines,
    entry_lines,
    pair_line,
    render_key,
    render_value,
)
from homeport.installer.edit.toml_scan import (
    InlineTable,
    Statement,
    Stopped,
    content_start,
    inline_table,
    line_of,
    scan,
)

_COMMENTS: Final = re.compile(rb"(?:[ \t]*+#[^\n]*+(?:\n|\Z))*+")
_BLANK_LINE: Final = re.compile(rb"[ \t]*+\r?(?:\n|\Z)")


@dataclass(frozen=True)
class Layout:
    """A file's bytes and where its statements stand."""

    source: bytes
    statements: tuple[Statement, ...] = field(repr=False)

    @classmethod
    def of(cls, source: bytes) -> Layout:
        return cls(source, scan(source).statements)

    @cached_property
    def start(self) -> int:
        return content_start(self.source)

    def under(self, path: KeyPath) -> list[Statement]:
        """The statements that define `path` or something in it, in file order."""
        length = len(path)
        return [statement for statement in self.statements if statement.path[:length] == path]

    def inline(self, path: KeyPath) -> tuple[InlineTable, KeyPath] | None:
        """The innermost inline table that holds `path` or would, and the rest of the path in it."""
        prefixes = {path[:length] for length in range(1, len(path))}
        for statement in self.statements:
            if statement.kind == "pair" and statement.path in prefixes:
                return self._descend(statement.value_start, path[len(statement.path) :])
        return None

    def has(self, path: KeyPath) -> bool:
        """Whether anything is left that defines `path`."""
        if inside := self.inline(path):
            table, rest = inside
            return any(member.path[: len(rest)] == rest for member in table.members)
        return bool(self.under(path))

    def places(self, path: KeyPath) -> dict[str, tuple[int, int]]:
        """For each key of the table at `path` the span of the header or key that defines it, in the order of the file.

        A header or key of its own goes before one that only passes through it to something deeper.
        """
        depth = len(path)
        if inside := self.inline((*path, "")):
            table, rest = inside
            depth = len(rest) - 1
            spans = [(one.path, one.key_start, one.key_end) for one in table.members if one.path[:depth] == rest[:-1]]
        else:
            spans = [(one.path, one.key_start, one.key_end) for one in self.under(path)]
        found: dict[str, tuple[int, int]] = {}
        exact: set[str] = set()
        for piece, start, end in spans:
            if len(piece) > depth and (
                piece[depth] not in found or (len(piece) == depth + 1 and piece[depth] not in exact)
            ):
                found[piece[depth]] = (start, end)
            if len(piece) == depth + 1:
                exact.add(piece[depth])
        return found

    def _descend(self, position: int, rest: KeyPath) -> tuple[InlineTable, KeyPath]:
        try:
            table = inline_table(self.source, position)
        except Stopped as stop:
            raise _uncertain(self.source, stop.offset) from None
        for member in table.members:
            length = len(member.path)
            if length < len(rest) and member.path == rest[:length]:
                return self._descend(member.value_start, rest[length:])
        return table, rest


def drop(layout: Layout, path: KeyPath) -> bytes:
    """Every piece of what stands at `path`: headers, dotted keys, inline members, wherever they are.

    With a header goes one blank line above it, the one that `put` sets there.
    """
    if inside := layout.inline(path):
        return _drop_members(layout.source, *inside)
    return _without(layout, [_with_blank(layout, *span) for span in _runs(layout, path)])


def replace(layout: Layout, path: KeyPath, value: Json) -> bytes:
    """`value` in the place of what stands at `path`."""
    if inside := layout.inline(path):
        table, rest = inside
        members = [member for member in table.members if member.path[: len(rest)] == rest]
        if len(members) == 1 and members[0].path == rest:
            return _spliced(layout.source, members[0].value_start, members[0].value_end, render_value(value))
    else:
        pieces = layout.under(path)
        if len(pieces) == 1 and pieces[0].kind == "pair" and pieces[0].path == path:
            return _spliced(layout.source, pieces[0].value_start, pieces[0].value_end, render_value(value))
    return put(Layout.of(drop(layout, path)), path, value)


def put(layout: Layout, path: KeyPath, value: Json) -> bytes:
    """`value` at `path`, where nothing stands: last in its container, in the way the container is spelled."""
    if inside := layout.inline(path):
        table, rest = inside
        return _put_member(layout.source, table, rest, value)
    siblings = layout.under(path[:-1]) if len(path) > 1 else []
    if isinstance(value, dict):
        if siblings and all(statement.kind == "pair" for statement in siblings):
            return _put_dotted(layout, siblings[-1], path, value)
        return _put_section(layout, siblings, path, value)
    return _put_pair(layout, siblings, path, value)


def begin(layout: Layout, path: KeyPath, value: Json, beginning: Mapping[str, Json]) -> bytes:
    """`beginning` and `value` in a file that holds nothing but blank space."""
    return _insert(layout, layout.start, document_lines(path, value, beginning))


def _drop_members(source: bytes, table: InlineTable, rest: KeyPath) -> bytes:
    gone = [member.path[: len(rest)] == rest for member in table.members]
    if all(gone):
        first, last = table.members[0], table.members[-1]
        blank = len(source[last.value_end : table.close]) - len(source[last.value_end : table.close].lstrip(b" \t"))
        return source[: first.key_start] + source[last.value_end + blank :]
    spans: list[tuple[int, int]] = []
    members = table.members
    first_kept = gone.index(False)
    if first_kept:
        spans.append((members[0].key_start, members[first_kept].key_start))
    for index in range(first_kept + 1, len(members)):
        if gone[index]:
            spans.append((members[index - 1].value_end, members[index].value_end))
    return _cut(source, spans)


def _put_member(source: bytes, table: InlineTable, rest: KeyPath, value: Json) -> bytes:
    text = f"{render_key(rest)} = {render_value(value)}"
    if table.members:
        end = table.members[-1].value_end
        return _spliced(source, end, end, f", {text}")
    # The blank in `{ }` stands before and after the new member; without it there is none, so that taking the member out
    # again gives the first bytes back.
    blank = " " if table.close > table.open else ""
    return _spliced(source, table.close, table.close, text + blank)


def _runs(layout: Layout, path: KeyPath) -> list[tuple[Statement, Statement]]:
    """First and last of neighbouring statements that belong to `path`; what stands between them belongs to it too."""
    runs: list[tuple[Statement, Statement]] = []
    follows = False
    for statement in layout.statements:
        belongs = statement.path[: len(path)] == path
        if belongs:
            runs.append((runs.pop()[0] if follows else statement, statement))
        follows = belongs
    return runs


def _with_blank(layout: Layout, first: Statement, last: Statement) -> tuple[int, int]:
    """The span of a run, for a table with the blank line that parts it: above, or below where it begins the file."""
    if first.kind == "pair":
        return first.start, last.end
    if first.start > layout.start:
        return _blank_above(layout, first.start), last.end
    blank = _end_of(_BLANK_LINE, layout.source, last.end)
    return first.start, blank if layout.source[blank:].strip() else last.end


def _blank_above(layout: Layout, position: int) -> int:
    """The start of the blank line above `position`, or `position`."""
    above = max(layout.source.rfind(b"\n", layout.start, position - 1) + 1, layout.start)
    return position if layout.source[above:position].strip() else above


def _without(layout: Layout, spans: list[tuple[int, int]]) -> bytes:
    source = layout.source
    if spans and spans[-1][1] == len(source) and not source.endswith(b"\n"):
        # The file ends without a line end: it shall do so again.
        start = spans[-1][0]
        if start > layout.start:
            start -= 2 if source[:start].endswith(b"\r\n") else 1
        spans[-1] = (start, len(source))
    return _cut(source, spans)


def _put_section(layout: Layout, siblings: list[Statement], path: KeyPath, value: Json) -> bytes:
    style = _style(layout, siblings)
    position = _behind_section(layout, siblings[-1]) if siblings else _behind_all(layout)
    blank = _wants_blank(layout, position)
    style = Style(style.header_indent, style.indent, style.equals, blank)
    lines = entry_lines(path, value, style)
    return _insert(layout, position, ["", *lines] if blank and position > layout.start else lines)


def _put_dotted(layout: Layout, last: Statement, path: KeyPath, value: Json) -> bytes:
    """Behind the last dotted key of the container, with as much of the path as that key spells."""
    spelled = path[len(last.path) - last.parts :]
    return _insert(layout, last.end, dotted_lines(spelled, value, _style(layout, [last])))


def _put_pair(layout: Layout, siblings: list[Statement], path: KeyPath, value: Json) -> bytes:
    parent = path[:-1]
    if not parent:
        return _put_root_pair(layout, path, value)
    header = next((one for one in siblings if one.kind == "table" and one.path == parent), None)
    if header is not None:
        last = [one for one in siblings if one.section == header.section][-1]
        return _insert(layout, last.end, [pair_line(path[-1:], value, _style(layout, [header, last]))])
    dotted = [one for one in siblings if one.kind == "pair" and len(one.path) - one.parts < len(parent)]
    if dotted:
        return _put_dotted(layout, dotted[-1], path, value)
    return _put_section(layout, siblings, path, value)


def _put_root_pair(layout: Layout, path: KeyPath, value: Json) -> bytes:
    top = [statement for statement in layout.statements if statement.section == 0]
    line = pair_line(path, value, _style(layout, top[-1:]))
    if top:
        return _insert(layout, top[-1].end, [line])
    if layout.statements:
        return _insert(layout, _above_comments(layout, layout.statements[0].start), [line])
    return _insert(layout, _behind_all(layout), [line])


def _behind_section(layout: Layout, statement: Statement) -> int:
    """The end of the section `statement` stands in: its last statement, and comments that follow with no blank line.

    Comments that run on into the next header belong to that.
    """
    section = [one for one in layout.statements if one.section == statement.section]
    end = section[-1].end
    behind = _end_of(_COMMENTS, layout.source, end)
    return behind if _BLANK_LINE.match(layout.source, behind) else end


def _behind_all(layout: Layout) -> int:
    """The end of the last line that is not blank."""
    end = len(layout.source.rstrip(b" \t\r\n"))
    if end <= layout.start:
        return layout.start
    line_end = layout.source.find(b"\n", end)
    return len(layout.source) if line_end < 0 else line_end + 1


def _above_comments(layout: Layout, position: int) -> int:
    """The start of the comment lines directly above `position`."""
    while position > layout.start:
        above = max(layout.source.rfind(b"\n", layout.start, position - 1) + 1, layout.start)
        if not layout.source[above:position].lstrip(b" \t").startswith(b"#"):
            break
        position = above
    return position


def _wants_blank(layout: Layout, position: int) -> bool:
    """Whether a table put at `position` is parted by a blank line, as its neighbours are."""
    if position < len(layout.source) and not _BLANK_LINE.match(layout.source, position):
        return False
    headers = [one for one in layout.statements if one.kind != "pair" and one.start < position]
    if not headers:
        return True
    above = _above_comments(layout, headers[-1].start)
    return above == layout.start or _blank_above(layout, above) < above


def _style(layout: Layout, siblings: Iterable[Statement]) -> Style:
    """The layout of the last header and of the last key among `siblings`."""
    style = Style()
    for one in siblings:
        indent = layout.source[one.start : one.key_start].decode("ascii")
        if one.kind == "pair":
            tight = layout.source[one.key_end : one.value_start] == b"="
            style = Style(style.header_indent, indent, "=" if tight else " = ")
        else:
            style = Style(indent, indent, style.equals)
    return style


def _insert(layout: Layout, position: int, lines: list[str]) -> bytes:
    """Lines at the start of a line, or behind a last line without line end, which ends the file then too."""
    source = layout.source
    line_end = _line_end(layout, position)
    text = line_end.join(lines)
    if position > layout.start and not source[:position].endswith(b"\n"):
        return _spliced(source, position, position, line_end + text)
    return _spliced(source, position, position, text + line_end)


def _line_end(layout: Layout, position: int) -> str:
    """That of the line before `position`, else the first in the file."""
    last = layout.source.rfind(b"\n", layout.start, position)
    if last < 0:
        last = layout.source.find(b"\n", position)
    return "\r\n" if last > 0 and layout.source[last - 1 : last] == b"\r" else "\n"


def _cut(source: bytes, spans: list[tuple[int, int]]) -> bytes:
    kept: list[bytes] = []
    position = 0
    for start, end in spans:
        kept.append(source[position:start])
        position = end
    return b"".join((*kept, source[position:]))


def _spliced(source: bytes, start: int, end: int, text: str) -> bytes:
    return source[:start] + text.encode("utf-8") + source[end:]


def _end_of(pattern: re.Pattern[bytes], source: bytes, position: int) -> int:
    found = pattern.match(source, position)
    return found.end() if found else position


def _uncertain(source: bytes, offset: int) -> HomeportError:
    return HomeportError(
        "edit_refused",
        "Homeport cannot tell where the inline table here ends",
        hint="paste the fragment by hand",
        details={"line": line_of(source, offset)},
    )
