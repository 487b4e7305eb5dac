"""Lines of JSON-RPC: bytes in, a message or a refusal out. It knows neither the SDK nor a stream.

The SDK's own reader drops a line that it cannot parse, and a client then waits for an answer for ever.
Source of the codes: jsonrpc.org/specification, section 5.1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
LONGEST_LINE_BYTES: Final = 16 * 1024 * 1024

_KEPT_BYTES: Final = 4096
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_ID: Final = rb'(-?\d{1,18}|"(?:[^"\\\x00-\x1f]|\\.){0,200}")'
# Only where it certainly is the request's own id: among its first members, or right before its closing brace.
_HEAD_ID: Final = re.compile(
    rb'\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,100}"\s*,\s*)*"id"\s*:\s*' + _ID + rb"\s*,"
)
_TAIL_ID: Final = re.compile(rb',\s*"id"\s*:\s*' + _ID + rb"\s*\}\s*\Z")


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line that was not kept: its first and last 4 KiB, and how long it was."""

    head: bytes
    tail: bytes
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer to what is not a message. id: None where the request's own cannot be told."""

    id: str | int | float | None
    code: int
    message: str

    def encoded(self) -> bytes:
        error = {"code": self.code, "message": self.message}
        return json.dumps({"jsonrpc": "2.0", "id": self.id, "error": error}, separators=(",", ":")).encode()


class LineSplitter:
    """Cuts a stream of bytes into lines at LF, whatever pieces it comes in. A CR before it is JSON's white space."""

    def __init__(self, longest_bytes: int = LONGEST_LINE_BYTES) -> None:
        self._longest_bytes = longest_bytes
        self._pieces: list[bytes] = []
        self._size_bytes = 0
        self._head = b""

    def feed(self, data: bytes) -> list[bytes | TooLong]:
        *ended, rest = data.split(b"\n")
        lines: list[bytes | TooLong] = []
        for piece in ended:
            self._add(piece)
            lines.append(self._take())
        self._add(rest)
        return lines

    def end(self) -> list[bytes | TooLong]:
        """What is left when the stream ends without a line end."""
        return [self._take()] if self._size_bytes else []

    def _add(self, piece: bytes) -> None:
        if not piece:
            return
        self._pieces.append(piece)
        self._size_bytes += len(piece)
        if self._size_bytes > self._longest_bytes:
            kept = b"".join(self._pieces)
            self._head = self._head or kept[:_KEPT_BYTES]
            self._pieces = [kept[-_KEPT_BYTES:]]

    def _take(self) -> bytes | TooLong:
        line = b"".join(self._pieces)
        size_bytes, head = self._size_bytes, self._head
        self._pieces, self._size_bytes, self._head = [], 0, b""
        return TooLong(head, line, size_bytes) if size_bytes > self._longest_bytes else line


def read_line(line: bytes | TooLong) -> dict[str, Any] | Refusal | None:
    """The JSON object of a message, a refusal, or None for a blank line.

    A lone surrogate inside the arguments of a tool call is let through, because there the tool answers, and says which
    argument; anywhere else it is refused here.
    """
    if isinstance(line, TooLong):
        limit = f"a line holds at most {LONGEST_LINE_BYTES} bytes, and this one had {line.size_bytes}"
        return Refusal(_rough_id(line), INVALID_REQUEST, f"Invalid request: {limit}")
    if not line.strip():
        return None
    try:
        value = json.loads(line.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        return Refusal(None, PARSE_ERROR, f"Parse error: {_why(error)}")
    if not isinstance(value, dict):
        what = "batches are not taken; send each message on a line" if isinstance(value, list) else "not an object"
        return Refusal(None, INVALID_REQUEST, f"Invalid request: {what}")
    trouble = _trouble(value)
    if trouble is None and _SURROGATE.search(line):
        trouble = _surrogate_trouble(value)
    return Refusal(_id(value), INVALID_REQUEST, f"Invalid request: {trouble}") if trouble else value


def _why(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos + 1}"
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start + 1} is not UTF-8"
    return (
        "nested too deeply" if isinstance(error, RecursionError) else "a number JSON does not have, or too long a one"
    )


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _trouble(value: Mapping[str, Any]) -> str | None:
    """Why the object is no message of JSON-RPC 2.0 as MCP narrows it, or None."""
    if value.get("jsonrpc") != "2.0":
        return 'jsonrpc must be "2.0"'
    if "id" in value and (not isinstance(value["id"], str | int) or isinstance(value["id"], bool)):
        # An error of the other side may have no id; nobody waits for an answer to it.
        return None if value["id"] is None and "error" in value else "id must be a string or a whole number"
    if "method" in value:
        if not isinstance(value["method"], str):
            return "method must be a string"
        return None if isinstance(value.get("params", {}), dict) else "params must be an object"
    return None if "id" in value and ("result" in value or "error" in value) else "method is missing"


def _surrogate_trouble(value: Mapping[str, Any]) -> str | None:
    params = value.get("params")
    call = value.get("method") == "tools/call" and isinstance(params, dict)
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, str) and not _is_text(item):
            return f"a string{' at ' + path if path else ''} holds half of a surrogate pair, which is not text"
        if isinstance(item, dict):
            if not all(map(_is_text, item)):
                return "a member's name holds half of a surrogate pair, which is not text"
            waiting += [(f"{path}.{name}"[:200], below) for name, below in item.items()]
            if call and path == ".params":
                waiting = [(name, below) for name, below in waiting if name != ".params.arguments"]
        elif isinstance(item, list):
            waiting += [(path, below) for below in item]
    return None


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _id(value: Mapping[str, Any]) -> str | int | float | None:
    found = value.get("id")
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        return None
    return found if not isinstance(found, str) or _is_text(found) else None


def _rough_id(line: TooLong) -> str | int | None:
    found = _HEAD_ID.match(line.head) or _TAIL_ID.search(line.tail)
    if found is None:
        return None
    try:
        value = json.loads(found[1])
    except ValueError:
        return None
    return value if isinstance(value, str | int) else None
