"""The only place that prints: the artifact on stdout, guidance on stderr, or one envelope."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any, TextIO

from homeport.envelope import as_line, envelope
from homeport.errors import HomeportError


def artifact(text: str) -> None:
    """What a person or script takes away, on stdout. Not to a terminal it is UTF-8, whatever the code page says."""
    _write(sys.stdout, text)


def guidance(text: str = "") -> None:
    """A line for the person, on stderr."""
    _write(sys.stderr, text + "\n")


def show_envelope(operation: str, result: Mapping[str, Any] | None, error: HomeportError | None) -> None:
    _write(sys.stdout, as_line(envelope(operation, result, error)) + "\n", json=True)


def show_error(error: HomeportError) -> None:
    guidance(f"error: {error.message}")
    if error.hint:
        for line in error.hint.splitlines():
            guidance(f"hint: {line}")


def is_terminal() -> bool:
    """A person is there to answer: both ends are a terminal."""
    return _is_terminal(sys.stdin) and _is_terminal(sys.stdout)


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def hang_up() -> None:
    """The reader of stdout is gone: say no more, so that the interpreter does not complain at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def table(rows: Iterable[Iterable[str]], gap: int = 2) -> str:
    """Rows aligned by column, without spaces at their ends."""
    lines = [tuple(row) for row in rows]
    widths = [max((len(cell) for cell in column), default=0) for column in zip(*lines, strict=True)]
    padded = ("".join(cell.ljust(width + gap) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "\n".join(line.rstrip(" ") for line in padded)


def _write(stream: TextIO | None, text: str, *, json: bool = False) -> None:
    if stream is None:  # closed before the program began (`>&-`)
        return
    encoding = (stream.encoding or "utf-8").lower().replace("-", "")
    data = text.encode("utf-8", "surrogateescape")
    if encoding != "utf8" and (stream.isatty() or json):
        # A code page that lacks a character shows its escape; JSON's own escapes keep a line valid everywhere.
        data = _ascii_json(text) if json else text.encode(stream.encoding, "backslashreplace")
    stream.flush()
    buffer = getattr(stream, "buffer", None)
    if buffer is None:  # a test's stand-in
        stream.write(text)
        return
    buffer.write(data)
    buffer.flush()


def _ascii_json(text: str) -> bytes:
    return "".join(_escaped(character) for character in text).encode("ascii")


def _escaped(character: str) -> str:
    if ord(character) < 128:
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
