"""A TOML file's bytes judged: what tomllib makes of them, or why they are refused and where."""

from __future__ import annotations

import re
import tomllib
from typing import Any, Final

from homeport.errors import HomeportError
from homeport.installer.edit.toml_scan import BOM, Scan, Statement, content_start, line_of, nesting, scan

LARGEST_BYTES: Final = 256 * 1024 * 1024

_PLACE: Final = re.compile(r" \(at line (\d+), column (\d+)\)$")
_END: Final = " (at end of document)"
_CONFLICT: Final = re.compile(rb"(?:<{7}|\|{7}|>{7})(?: |\r?$)|={7}\r?$")
_MANY_DIGITS: Final = re.compile(rb"[0-9][0-9_]{4299,}")
_UNICODE_MARKS: Final = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


def read_toml(source: bytes) -> tuple[dict[str, Any], Scan]:
    """The file's tables as tomllib gives them, and where its statements stand.

    tomllib takes no byte order mark, Codex does: the mark is passed over here and stays in the file.

    Raises HomeportError: malformed_file, unsupported_encoding, file_too_large, edit_refused (tomllib reads the file and
    the scan does not); details `line` and `column` from 1, `lines` where something is defined twice.
    """
    if len(source) > LARGEST_BYTES:
        raise HomeportError(
            "file_too_large",
            f"the file has {len(source)} bytes, more than the {LARGEST_BYTES} Homeport edits",
            hint="paste the fragment by hand",
        )
    text = _decoded(source)
    found = scan(source)
    tree = _parsed(text, source, found)
    if found.stopped_at is not None:
        raise HomeportError(
            "edit_refused",
            "what stands here is TOML, but Homeport cannot tell where it ends",
            hint="paste the fragment by hand",
            details={"line": line_of(source, found.stopped_at)},
        )
    return tree, found


def _decoded(source: bytes) -> str:
    for mark, name in _UNICODE_MARKS:
        if source.startswith(mark):
            raise _not_utf8(f"the file is {name}, not UTF-8", {"line": 1})
    if b"\0" in source[:4] and len(source) > 1:
        raise _not_utf8("the file looks like UTF-16 without a byte order mark, not UTF-8", {"line": 1})
    try:
        return source.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        offset = error.start + content_start(source)
        place = {"line": line_of(source, offset)}
        raise _not_utf8(f"the file is not UTF-8: byte 0x{source[offset]:02x} begins no character", place) from None


def _not_utf8(message: str, place: dict[str, int]) -> HomeportError:
    return HomeportError("unsupported_encoding", message, hint="save the file as UTF-8", details=place)


def _parsed(text: str, source: bytes, found: Scan) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _malformed(str(error), text, source, found) from None
    except RecursionError:
        raise _too_deep(source, found) from None
    except ValueError:
        # int() reads no more than 4,300 digits; the only other ValueError tomllib lets through.
        digits = _MANY_DIGITS.search(source)
        raise HomeportError(
            "malformed_file",
            "a number has more digits than any TOML reader takes",
            hint="an integer has 64 bits at most",
            details={"line": line_of(source, digits.start())} if digits else {},
        ) from None


def _malformed(said: str, text: str, source: bytes, found: Scan) -> HomeportError:
    line, column = _place(said, text)
    reason = _PLACE.sub("", said).removesuffix(_END)
    lines = text.split("\n")
    if _CONFLICT.match(lines[line - 1].encode()):
        return HomeportError(
            "malformed_file",
            "an unresolved merge conflict stands in the file",
            hint="resolve the conflict, then run this again",
            details={"line": line, "column": 1},
        )
    if repeated := _repeated(source, found, line):
        return repeated
    return HomeportError(
        "malformed_file",
        f"the file is not TOML: {reason[:1].lower()}{reason[1:]}",
        hint="correct the file, then run this again",
        details={"line": line, "column": column},
    )


def _place(said: str, text: str) -> tuple[int, int]:
    if place := _PLACE.search(said):
        return int(place[1]), int(place[2])
    lines = text.replace("\r\n", "\n").split("\n")
    return len(lines), len(lines[-1]) + 1


def _repeated(source: bytes, found: Scan, line: int) -> HomeportError | None:
    """tomllib may notice a repeated key behind its value only, lines later: the statement says where it begins."""
    statement = _statement_at(source, found, line)
    if statement is None:
        return None
    first = _first_definition(found.statements, statement)
    if first is None:
        return None
    lines = [line_of(source, first.key_start), line_of(source, statement.key_start)]
    spelled = source[statement.key_start : statement.key_end].decode("utf-8")
    column = len(source[statement.start : statement.key_start].decode("utf-8")) + 1
    return HomeportError(
        "malformed_file",
        f"{spelled} is defined a second time; the first stands in line {lines[0]}",
        hint="keep one of the two, then run this again",
        details={"line": lines[1], "column": column, "lines": lines},
    )


def _first_definition(statements: tuple[Statement, ...], second: Statement) -> Statement | None:
    """The earlier statement that defines the same. Each element of an array of tables begins afresh."""
    first = None
    for statement in statements[: statements.index(second)]:
        if statement.kind == "array" and second.path[: len(statement.path)] == statement.path:
            first = None
        elif first is None and statement.path == second.path:
            first = statement
    return first


def _statement_at(source: bytes, found: Scan, line: int) -> Statement | None:
    """The last statement that begins in or before `line`."""
    before = None
    current, offset = 1, 0
    for statement in found.statements:
        current += source.count(b"\n", offset, statement.start)
        offset = statement.start
        if current > line:
            break
        before = statement
    return before


def _too_deep(source: bytes, found: Scan) -> HomeportError:
    values = [statement.value_start for statement in found.statements if statement.kind == "pair"]
    deepest = max(values, key=lambda start: nesting(source, start), default=found.stopped_at)
    return HomeportError(
        "malformed_file",
        "values are nested more deeply than Homeport reads",
        hint="flatten the value",
        details={} if deepest is None else {"line": line_of(source, deepest)},
    )
