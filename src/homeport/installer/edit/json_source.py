"""What the bytes of a JSON file are before they are JSON: UTF-8, not too large; and where an offset lies in them.

All the JSON modules work on the bytes themselves, so that a 20 MB file is held once and a place is a place in the file.
JSON's own syntax is ASCII; what a person gets to see (keys, values, columns) is decoded from the bytes of that place.
"""

from __future__ import annotations

import codecs
from typing import Final

from homeport.errors import HomeportError

LARGEST_BYTES: Final = 256 * 1024 * 1024
BOM: Final = codecs.BOM_UTF8

_CHUNK_BYTES: Final = 1024 * 1024
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "UTF-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


def content_start(source: bytes) -> int:
    """The offset behind the byte order mark, 0 without one, of a file that Homeport can read.

    Raises HomeportError: file_too_large, unsupported_encoding (details line and column of the first wrong byte, unless
    the whole is recognised as UTF-16 or UTF-32).
    """
    if len(source) > LARGEST_BYTES:
        raise HomeportError(
            "file_too_large",
            f"the file has {len(source)} bytes; Homeport edits files of up to {LARGEST_BYTES}",
            hint="make the file smaller, or paste the fragment by hand",
            details={"size_bytes": len(source)},
        )
    if encoding := _recognised(source):
        raise HomeportError(
            "unsupported_encoding", f"the file is {encoding}, not UTF-8", hint="save the file as UTF-8 first"
        )
    if not source.isascii():
        _check_utf8(source)
    return len(BOM) if source.startswith(BOM) else 0


def place(source: bytes, offset: int) -> dict[str, int]:
    """Line and column of an offset, from 1, the column in characters; a CR that no LF follows ends a line too."""
    start = line_start(source, offset)
    return {"line": line_of(source, offset), "column": len(source[start:offset].decode("utf-8", "replace")) + 1}


def line_of(source: bytes, offset: int) -> int:
    return 1 + line_ends(source, 0, offset)


def line_ends(source: bytes, start: int, end: int) -> int:
    """How many lines end between two offsets, of which neither parts a CR from its LF."""
    feeds, returns = source.count(b"\n", start, end), source.count(b"\r", start, end)
    return feeds + (returns - source.count(b"\r\n", start, end) if returns else 0)


def line_start(source: bytes, offset: int) -> int:
    """Where the line of `offset` begins; the first one begins behind the byte order mark."""
    feed = source.rfind(b"\n", 0, offset) + 1
    start = max(feed, source.rfind(b"\r", feed, offset) + 1)
    return len(BOM) if start == 0 and source.startswith(BOM) else start


def _recognised(source: bytes) -> str | None:
    for mark, name in _MARKS:
        if source.startswith(mark):
            return name
    # Without a mark the NULs tell: JSON begins with two characters of ASCII (RFC 4627, section 3).
    zeros = tuple(byte == 0 for byte in source[:4])
    if zeros in ((False, True, True, True), (True, True, True, False)):
        return "UTF-32"
    if zeros in ((False, True, False, True), (True, False, True, False)):
        return "UTF-16"
    return None


def _check_utf8(source: bytes) -> None:
    """In chunks, since a whole text with one emoji in it takes four bytes a character."""
    view = memoryview(source)
    at = 0
    while at < len(source):
        end = min(at + _CHUNK_BYTES, len(source))
        try:
            at += codecs.utf_8_decode(view[at:end], "strict", end == len(source))[1]
        except UnicodeDecodeError as error:
            wrong = at + error.start
            raise HomeportError(
                "unsupported_encoding",
                f"the file is not UTF-8: byte 0x{source[wrong]:02x} does not belong there",
                hint="save the file as UTF-8 first",
                details=place(source, wrong),
            ) from None
