"""Where things stand in a TOML file: offsets of headers, keys, values and the members of inline tables.

The scan finds places and judges nothing: tomllib decides what is TOML (see toml_read). It works on bytes: every sign of
TOML's grammar is ASCII and UTF-8 uses no ASCII byte inside another character, so an offset is an offset in the file.
Grammar: toml.io/en/v1.0.0 and its toml.abnf. Repeats are possessive (`*+`), so that no input makes a pattern go back.
"""

from __future__ import annotations

import re
import tomllib
from typing import Final, Literal, NamedTuple

from homeport.errors import HomeportError
from homeport.installer.edit.document import KeyPath

BOM: Final = b"\xef\xbb\xbf"
MOST_KEY_PARTS: Final = 256  # tomllib's time grows with the square of the parts of a dotted key

_PART: Final = rb"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]++|\\[^\n])*+"|'[^'\n]*+')"""
_KEY: Final = rb"(" + _PART + rb"(?:[ \t]*+\.[ \t]*+" + _PART + rb")*+)"
# A long string's closing mark may follow one or two quotes of its own content: """a"""""
_STRING: Final = (
    rb'(?:"""(?:[^"\\]++|\\[\s\S]|"{1,2}+(?!"))*+"{3,5}+'
    rb"|'''(?:[^']++|'{1,2}+(?!'))*+'{3,5}+"
    rb'|"(?:[^"\\\n]++|\\[^\n])*+"'
    rb"|'[^'\n]*+')"
)
# A number, a boolean or a date; a date's day and hour may be parted by one space.
_BARE: Final = rb"""[^\s,#\[\]{}"'=]++(?:[ ][0-9]{2}:[^\s,#\[\]{}"'=]++)?"""

_TAIL: Final = rb"[ \t]*+(?:#[^\n]*+)?\r?(?:\n|\Z)"
_FLAT: Final = rb"""(?:[^\[\]{}#"']++|""" + _STRING + rb")*+"

_GAP: Final = re.compile(rb"(?:[ \t]*+(?:#[^\n]*+)?\r?\n)*+(?:[ \t]*+(?:#[^\n]*+)?\Z)?")
_HEADER: Final = re.compile(rb"[ \t]*+(\[(\[)?[ \t]*+" + _KEY + rb"[ \t]*+\](?(2)\]))" + _TAIL)
_ASSIGNMENT: Final = re.compile(rb"[ \t]*+" + _KEY + rb"[ \t]*+=[ \t]*+")
# Most lines of most files, in one step; what it does not match is taken apart bracket by bracket.
_SIMPLE_PAIR: Final = re.compile(
    _ASSIGNMENT.pattern + rb"(" + _STRING + rb"|" + _BARE + rb"|\[" + _FLAT + rb"\]|\{" + _FLAT + rb"\})" + _TAIL
)
_END_OF_PAIR: Final = re.compile(_TAIL)
_ONE_PART: Final = re.compile(_PART)
_SCALAR: Final = re.compile(_STRING + rb"|" + _BARE)
# What stands between two brackets, then the bracket; a quote that opens no string, or the end, where there is none.
_BRACKETS: Final = re.compile(rb"""(?:[^\[\]{}#"']++|""" + _STRING + rb"""|#[^\n]*+)*+([\[\]{}"']|\Z)""")
_LONG_KEY: Final = re.compile(
    rb"((?:" + _PART + rb"[ \t]*+\.[ \t]*+){%d})|" % MOST_KEY_PARTS + _STRING + rb"|[A-Za-z0-9_-]++|#[^\n]*+"
)
_OPENING: Final = (b"[", b"{")
_CLOSING: Final = (b"]", b"}")
_INLINE_GAP: Final = re.compile(rb"(?:[ \t\r\n]|#[^\n]*+)*+")


class Statement(NamedTuple):
    """A header, or a key with its value. Offsets are in the file; every end lies behind the last byte.

    path: from the root, the header's included. parts: how many keys of it this statement spells itself.
    section: 0 before the first header, then one more with each. start, end: of its lines, line end included.
    key_start, key_end: of the key, or of the header with its brackets. value_start, value_end: empty for a header.
    """

    kind: Literal["table", "array", "pair"]
    path: KeyPath
    parts: int
    section: int
    start: int
    key_start: int
    key_end: int
    value_start: int
    value_end: int
    end: int


class InlineMember(NamedTuple):
    """A member of an inline table; path is from that table, of several keys where they are dotted."""

    path: KeyPath
    key_start: int
    key_end: int
    value_start: int
    value_end: int


class InlineTable(NamedTuple):
    """open lies behind the `{`, close before the `}`."""

    members: tuple[InlineMember, ...]
    open: int
    close: int


class Scan(NamedTuple):
    """The statements in file order; stopped_at: where the scan could not go on, None at the file's end."""

    statements: tuple[Statement, ...]
    stopped_at: int | None


class Stopped(Exception):
    """What stands at `offset` is not what TOML has there."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


def scan(source: bytes) -> Scan:
    """Find every statement of a file, in one pass.

    Raises HomeportError: malformed_file (a key of more than MOST_KEY_PARTS parts; details line).
    """
    statements: list[Statement] = []
    position = content_start(source)
    header: KeyPath = ()
    section = 0
    while (position := _end_of(_GAP, source, position)) < len(source):
        try:
            statement = _header(source, position, section + 1) or _pair(source, position, header, section)
        except Stopped as stop:
            return Scan(tuple(statements), stop.offset)
        if statement.parts > MOST_KEY_PARTS or _has_long_key(source, statement.value_start, statement.value_end):
            raise _too_many_parts(source, statement)
        if statement.kind != "pair":
            header, section = statement.path, statement.section
        statements.append(statement)
        position = statement.end
    return Scan(tuple(statements), None)


def line_of(source: bytes, offset: int) -> int:
    """The line of an offset, from 1."""
    return source.count(b"\n", 0, offset) + 1


def content_start(source: bytes) -> int:
    """The offset behind the byte order mark."""
    return len(BOM) if source.startswith(BOM) else 0


def inline_table(source: bytes, position: int) -> InlineTable:
    """The members of the inline table whose `{` is at `position`.

    Raises Stopped where it is none.
    """
    if source[position : position + 1] != b"{":
        raise Stopped(position)
    members: list[InlineMember] = []
    position = opened = position + 1
    while True:
        position = _end_of(_INLINE_GAP, source, position)
        sign = source[position : position + 1]
        if sign == b"}":
            return InlineTable(tuple(members), opened, position)
        if members:
            if sign != b",":
                raise Stopped(position)
            position = _end_of(_INLINE_GAP, source, position + 1)
            if source[position : position + 1] == b"}":
                continue
        members.append(_inline_member(source, position))
        position = members[-1].value_end


def nesting(source: bytes, position: int) -> int:
    """How many brackets stand open at once in the value at `position`."""
    depth = deepest = 0
    if source[position : position + 1] not in _OPENING:
        return 0
    for found in _BRACKETS.finditer(source, position):
        if found[1] in _OPENING:
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
        if depth <= 0 or found[1] not in (*_OPENING, *_CLOSING):
            break
    return deepest


def _header(source: bytes, position: int, section: int) -> Statement | None:
    found = _HEADER.match(source, position)
    if not found:
        return None
    path = _path(found[3], position)
    start, end = found.span(1)
    kind: Literal["array", "table"] = "array" if found[2] else "table"
    return Statement(kind, path, len(path), section, position, start, end, end, end, found.end())


def _pair(source: bytes, position: int, header: KeyPath, section: int) -> Statement:
    if found := _SIMPLE_PAIR.match(source, position):
        value_start, value_end = found.span(2)
        end = found.end()
    elif found := _ASSIGNMENT.match(source, position):
        value_start = found.end()
        value_end = _value_end(source, value_start)
        if not (tail := _END_OF_PAIR.match(source, value_end)):
            raise Stopped(value_end)
        end = tail.end()
    else:
        raise Stopped(position)
    own = _path(found[1], position)
    key_start, key_end = found.span(1)
    return Statement("pair", header + own, len(own), section, position, key_start, key_end, value_start, value_end, end)


def _inline_member(source: bytes, position: int) -> InlineMember:
    found = _ASSIGNMENT.match(source, position)
    if not found:
        raise Stopped(position)
    value_end = _value_end(source, found.end())
    return InlineMember(_path(found[1], position), position, found.end(1), found.end(), value_end)


def _path(text: bytes, offset: int) -> KeyPath:
    if b'"' in text or b"'" in text:
        return tuple(_key(part[0], offset) for part in _ONE_PART.finditer(text))
    if b"." in text:
        return tuple(part.strip(" \t") for part in text.decode("ascii").split("."))
    return (text.decode("ascii"),)


def _too_many_parts(source: bytes, statement: Statement) -> HomeportError:
    return HomeportError(
        "malformed_file",
        "a dotted key has more parts than Homeport reads",
        hint=f"write the key with at most {MOST_KEY_PARTS} parts",
        details={"line": line_of(source, statement.key_start)},
    )


def _key(part: bytes, offset: int) -> str:
    try:
        if part[:1] not in (b'"', b"'"):
            return part.decode("ascii")
        if part[:1] == b"'" or b"\\" not in part:
            return part[1:-1].decode("utf-8")
        # The escapes of a key are read by tomllib itself, so that both always see the same name.
        (key,) = tomllib.loads(f"{part.decode('utf-8')} = 0")
    except ValueError:
        raise Stopped(offset) from None
    return key


def _value_end(source: bytes, position: int) -> int:
    if found := _SCALAR.match(source, position):
        return found.end()
    if source[position : position + 1] not in _OPENING:
        raise Stopped(position)
    depth = 0
    for bracket in _BRACKETS.finditer(source, position):
        if bracket[1] in _OPENING:
            depth += 1
        elif bracket[1] in _CLOSING:
            depth -= 1
        else:
            break
        if not depth:
            return bracket.end()
    raise Stopped(position)


def _has_long_key(source: bytes, start: int, end: int) -> bool:
    """Whether an inline table in the value has a key of more parts than are read."""
    if source.count(b".", start, end) < MOST_KEY_PARTS:
        return False
    return any(found[1] for found in _LONG_KEY.finditer(source, start, end))


def _end_of(pattern: re.Pattern[bytes], source: bytes, position: int) -> int:
    """Where a pattern that also matches nothing ends."""
    found = pattern.match(source, position)
    return found.end() if found else position
