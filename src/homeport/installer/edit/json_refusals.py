"""What is wrong at a place of a JSON file, as an error. No message quotes the file: it may hold secrets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from homeport.errors import HomeportError
from homeport.installer.edit.document import KeyPath
from homeport.installer.edit.json_source import line_of, line_start, place

_REPAIR: Final = "repair the file, or restore an older copy of it, then run this again"
_MARKERS: Final = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")
_OTHER_LANGUAGES: Final = rb"[+-]?(?:NaN|Infinity|undefined|None|True|False)(?![0-9A-Za-z_])"
_STRING_START: Final = rb'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+'
_DIGITS: Final = rb"-?[0-9]"
_LEADING_ZERO: Final = rb"-?0[0-9]"
_KINDS: Final = {b"[": "a list", b'"': "a string", b"t": "true", b"f": "false", b"n": "null"}


def malformed(source: bytes, offset: int, message: str, hint: str = _REPAIR) -> HomeportError:
    return HomeportError("malformed_file", message, hint, place(source, offset))


def unexpected(source: bytes, offset: int, strict: bool, expected: str) -> HomeportError:
    """The error for whatever stands at `offset` in the place of `expected`, as precise as can be told."""
    there = source[offset : offset + 1]
    if not there:
        return malformed(source, offset, f"the file ends where {expected} is expected")
    if source.startswith(_MARKERS, offset) and offset == line_start(source, offset):
        hint = "resolve the conflict first, then run this again"
        return malformed(source, offset, "the file holds merge-conflict markers", hint)
    if source.startswith((b"//", b"/*"), offset):
        if strict:
            return _client_cannot_read(source, offset, "a comment")
        return malformed(source, offset, "the comment that begins here has no end")
    if there == b"'":
        return malformed(source, offset, "single quotes are not JSON", "put double quotes there")
    if word := re.compile(_OTHER_LANGUAGES).match(source, offset):
        return malformed(source, offset, f"{word[0].decode()} is not JSON")
    return malformed(source, offset, f"{expected} is expected here, not {_shown(source, offset)}")


def bad_scalar(source: bytes, offset: int, strict: bool) -> HomeportError:
    """The error for a value that begins at `offset` and is neither object nor list nor anything else JSON has."""
    if source.startswith(b'"', offset):
        return bad_string(source, offset)
    if re.compile(_DIGITS).match(source, offset):
        wrong = (
            "a number may not begin with 0"
            if re.compile(_LEADING_ZERO).match(source, offset)
            else "this is no number of JSON"
        )
        return malformed(source, offset, wrong)
    return unexpected(source, offset, strict, "a value")


def bad_string(source: bytes, offset: int) -> HomeportError:
    """The error for a string that begins at `offset` and is not right."""
    found = re.compile(_STRING_START).match(source, offset)
    end = found.end() if found else offset
    there = source[end : end + 1]
    if there == b"\\" and end + 1 < len(source):
        return malformed(source, end, "this backslash begins no escape that JSON has", "write a backslash as \\\\")
    if there and there not in b"\\\r\n":
        return malformed(source, end, f"a string may not hold the control character U+{ord(there):04X} as it is")
    return malformed(source, offset, "the string that begins here is not closed in its line")


def trailing_comma(source: bytes, offset: int) -> HomeportError:
    return _client_cannot_read(source, offset, "a comma behind the last item")


def trailing_data(source: bytes, offset: int, strict: bool) -> HomeportError:
    """Something follows the value the file holds."""
    error = unexpected(source, offset, strict, "the end of the file")
    if error.code != "malformed_file" or "is expected here" not in error.message:
        return error
    hint = "a file holds one value: take out, or join, what is too much"
    return malformed(source, offset, "something follows here after the end of the JSON value", hint)


def wrong_shape(source: bytes, offset: int, path: KeyPath) -> HomeportError:
    """The value at `offset` should be an object; `path` is empty for the whole file."""
    what = ".".join(path) if path else "the file"
    kind = _KINDS.get(source[offset : offset + 1], "a number")
    hint = "make it an object, { }, then run this again"
    return HomeportError("wrong_shape", f"{what} holds {kind}, not an object", hint, place(source, offset))


def duplicate_key(source: bytes, path: KeyPath, offsets: Sequence[int]) -> HomeportError:
    lines = [line_of(source, offset) for offset in offsets]
    places = " and ".join(f"line {line}" for line in lines[:10])
    return HomeportError(
        "duplicate_key",
        f"the key {'.'.join(path)} occurs {len(lines)} times: {places}",
        hint="a client reads only one of them: keep that one, then run this again",
        details={"lines": lines},
    )


def edit_refused(message: str) -> HomeportError:
    return HomeportError("edit_refused", message, hint="paste the fragment by hand")


def own_fault(reason: str) -> HomeportError:
    """The edit went wrong by a fault of Homeport's, noticed before anything was written."""
    return HomeportError(
        "edit_refused",
        f"the edit was not made: {reason}; this is a fault of Homeport's own",
        hint="please report it with the file (without its secrets), and paste the fragment by hand",
    )


def _client_cannot_read(source: bytes, offset: int, what: str) -> HomeportError:
    return HomeportError(
        "client_cannot_read",
        f"the file holds {what}, which its client cannot read: it ignores the whole file",
        hint="remove it, then run this again",
        details=place(source, offset),
    )


def _shown(source: bytes, offset: int) -> str:
    """One character, whole."""
    shown = source[offset : offset + 4].decode("utf-8", "replace")[0]
    return f"'{shown}'" if shown.isprintable() else f"U+{ord(shown):04X}"
