"""Where everything stands in a JSON or JSONC file: spans of members, found without holding the values.

Offsets are bytes: the text is the file read as Latin-1, one character a byte, since JSON's own syntax is ASCII.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from homeport.errors import HomeportError

BOM: Final = b"\xef\xbb\xbf"
LARGEST_BYTES: Final = 256 * 1024 * 1024

_SPACE: Final = re.compile(r"[ \t\r\n]*+")
_SPACE_AND_COMMENTS: Final = re.compile(r"(?:[ \t\r\n]++|//[^\n\r]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+")
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_STRING_START: Final = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_SCALAR: Final = re.compile(
    r"(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null)(?![A-Za-z0-9_.+-])"
)
_MARKER: Final = re.compile(r"^(?:<{7}(?: .*)?|={7}|>{7}(?: .*)?|\|{7}(?: .*)?)\r?$", re.MULTILINE)
_CHUNK_BYTES: Final = 1 << 20


@dataclass(slots=True)
class Span:
    """One member: key_start and key_end with its quotes, start and end of its value, the comma behind it or -1."""

    key_start: int
    key_end: int
    start: int
    end: int
    comma: int = -1


@dataclass(slots=True)
class Object:
    """An object: the offset of its brace, the offset behind the closing one, and its members."""

    start: int
    end: int = -1
    members: list[Span] = field(default_factory=list)


class Trouble(Exception):
    """What is wrong and where, before line and column are counted."""

    def __init__(self, code: str, message: str, at: int, hint: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.at, self.hint = code, message, at, hint


def refuse_constant(word: str) -> Any:
    raise ValueError(word)


class Scanner:
    """Reads one file. is_jsonc: comments and trailing commas are part of the dialect."""

    def __init__(self, source: bytes, *, is_jsonc: bool) -> None:
        if len(source) > LARGEST_BYTES:
            raise HomeportError(
                "file_too_large", f"{len(source)} bytes are more than the {LARGEST_BYTES} that Homeport edits"
            )
        check_utf8(source)
        self.source = source
        self.is_jsonc = is_jsonc
        self.text = source.decode("latin-1")
        self.begin = len(BOM) if source.startswith(BOM) else 0
        # Numbers stay as they are spelled: 1E400 and integers of 5,000 digits are other people's business.
        decoder = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=refuse_constant)
        self._scan_once: Callable[[str, int], tuple[Any, int]] = decoder.scan_once  # type: ignore[attr-defined]  # C scanner, not in the stubs

    def root(self) -> Object | None:
        """The root's brace, its members not read yet; None for a file with nothing in it."""
        at = self.space(self.begin)
        if at == len(self.text):
            return None
        if self.text[at] != "{":
            self.skip(at)
            raise Trouble("wrong_shape", "the file holds something other than an object", at)
        return Object(at)

    def finish(self, at: int) -> None:
        """Nothing but space may follow the root."""
        at = self.space(at)
        if at != len(self.text):
            raise Trouble("malformed_file", "more data follows after the end of the first value", at)

    def read_members(self, found: Object, descend: Callable[[Span], Object | None]) -> None:
        """Fill in an object's members. descend: gives the object to read instead of passing over a member's value."""
        at = self.space(found.start + 1)
        if self._is("}", at):
            found.end = at + 1
            return
        while True:
            span = self._key(at)
            inner = descend(span) if self._is("{", span.start) else None
            if inner is not None:
                self.read_members(inner, lambda one: None)
                span.end = inner.end
            else:
                span.end = self._value_end(span.start)
            found.members.append(span)
            at = self.space(span.end)
            if self._is(",", at):
                span.comma = at
                at = self.space(at + 1)
                if not self._is("}", at):
                    continue
                self._refuse_trailing_comma(span.comma)
            if not self._is("}", at):
                raise self._expected("a comma or }", at)
            found.end = at + 1
            return

    def _is(self, letter: str, at: int) -> bool:
        return self.text.startswith(letter, at)

    def _key(self, at: int) -> Span:
        key_end = self._string_end(at, "a key in double quotes")
        colon = self.space(key_end)
        if not self._is(":", colon):
            raise self._expected("a colon", colon)
        start = self.space(colon + 1)
        return Span(at, key_end, start, -1)

    def _value_end(self, at: int) -> int:
        """The offset behind the value at `at`: by the C scanner where the dialect allows, ten times faster."""
        if not self.is_jsonc:
            try:
                return self._scan_once(self.text, at)[1]
            except (ValueError, StopIteration, RecursionError):
                # The slow way says where it is wrong, and knows no limit of depth.
                return self.skip(at)
        return self.skip(at)

    def space(self, at: int) -> int:
        """The offset of the next thing that is neither space nor, in JSONC, a comment."""
        end = (_SPACE_AND_COMMENTS if self.is_jsonc else _SPACE).match(self.text, at).end()  # type: ignore[union-attr]  # both match nothing
        if self.text.startswith("/*", end) and self.is_jsonc:
            raise Trouble("malformed_file", "a comment begins here and does not end", end)
        if self.text.startswith(("//", "/*"), end):
            raise Trouble(
                "client_cannot_read",
                "a comment: the client reads strict JSON and passes over the whole file",
                end,
                "take the comment out, then run it again",
            )
        return end

    def _refuse_trailing_comma(self, at: int) -> None:
        if not self.is_jsonc:
            raise Trouble(
                "client_cannot_read",
                "a trailing comma: the client reads strict JSON and passes over the whole file",
                at,
                "take the comma out, then run it again",
            )

    def skip(self, at: int) -> int:
        """The offset behind the value at `at`, every character of it checked; depth is no limit."""
        text, opened = self.text, []
        while True:
            at = self.space(at)
            letter = text[at : at + 1]
            if letter in ("{", "["):
                close = "}" if letter == "{" else "]"
                at = self.space(at + 1)
                if not self._is(close, at):
                    opened.append(close)
                    at = self._key(at).start if letter == "{" else at
                    continue
                at += 1
            else:
                at = self._scalar_end(at)
            while opened:
                at = self.space(at)
                if self._is(opened[-1], at):
                    opened.pop()
                    at += 1
                    continue
                if not self._is(",", at):
                    raise self._expected(f"a comma or {opened[-1]}", at)
                comma, at = at, self.space(at + 1)
                if self._is(opened[-1], at):
                    self._refuse_trailing_comma(comma)
                    continue
                at = self._key(at).start if opened[-1] == "}" else at
                break
            if not opened:
                return at

    def _scalar_end(self, at: int) -> int:
        if self._is('"', at):
            return self._string_end(at, "a value")
        match = _SCALAR.match(self.text, at)
        if match is None:
            raise self._expected("a value", at)
        return match.end()

    def _string_end(self, at: int, wanted: str) -> int:
        match = _STRING.match(self.text, at)
        if match is not None:
            return match.end()
        if not self._is('"', at):
            raise self._expected(wanted, at)
        stop = _STRING_START.match(self.text, at).end()  # type: ignore[union-attr]  # the quote is there
        if stop >= len(self.text):
            raise Trouble("malformed_file", "a string begins here and does not end", at)
        what = "an unknown escape" if self.text[stop] == "\\" else "a line end or control character inside a string"
        raise Trouble("malformed_file", what, stop)

    def _expected(self, wanted: str, at: int) -> Trouble:
        found = (
            "the end of the file"
            if at >= len(self.text)
            else repr(self.source[at : at + 20].decode("utf-8", "replace"))
        )
        return Trouble("malformed_file", f"expected {wanted}, found {found}", at)

    def error(self, trouble: Trouble) -> HomeportError:
        """A trouble with its line and column (from 1, column in characters)."""
        message, at = trouble.message, trouble.at
        hint = trouble.hint or "mend the file by hand, or run it without --write to get the fragment"
        marker = _MARKER.search(self.text) if trouble.code == "malformed_file" else None
        if marker is not None:
            message, at = "merge-conflict markers: the file was never merged to its end", marker.start()
            hint = "settle the conflict first"
        line, column = self.position(at)
        return HomeportError(trouble.code, message, hint, {"line": line, "column": column})

    def position(self, at: int) -> tuple[int, int]:
        line_start = max(self.text.rfind("\n", 0, at) + 1, self.begin)
        column = len(self.source[line_start:at].decode("utf-8", "replace")) + 1
        return self.line(at), column

    def line(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1

    def key(self, span: Span) -> str:
        raw = self.source[span.key_start : span.key_end].decode("utf-8")
        return raw[1:-1] if "\\" not in raw else str(json.loads(raw))

    def value(self, span: Span) -> Any:
        """A member's value. A number that cannot be held keeps its spelling.

        Raises HomeportError: edit_refused, where it nests deeper than Python reads.
        """
        raw = self.source[span.start : span.end].decode("utf-8")
        plain = without_comments(raw) if self.is_jsonc else raw
        try:
            return json.loads(plain, parse_int=_integer, parse_float=_float)
        except RecursionError as error:
            line, column = self.position(span.start)
            raise HomeportError(
                "edit_refused", "the value nests too deeply to be read", None, {"line": line, "column": column}
            ) from error


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= 4000 else digits


def _float(spelling: str) -> float | str:
    number = float(spelling)
    return spelling if number in (float("inf"), float("-inf")) else number


_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"|//[^\n\r]*+|/\*(?:[^*]|\*(?!/))*+\*/|[ \t\r\n]++|[^\s"/]++|/')
_PUNCTUATED: Final = re.compile(r"[{}\[\],:]|[^{}\[\],:]++")


def without_comments(text: str) -> str:
    """Valid JSONC as strict JSON: comments and trailing commas gone, strings untouched."""
    words: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token.startswith('"'):
            words.append(token)
        elif not token.startswith("/") and not token.isspace():
            words += _PUNCTUATED.findall(token)
    return "".join(
        word
        for word, following in zip(words, [*words[1:], ""], strict=True)
        if word != "," or following not in ("}", "]")
    )


def check_utf8(source: bytes) -> None:
    """Raises HomeportError: unsupported_encoding, with the first bad byte's place."""
    for mark, name in (
        (b"\xff\xfe\x00\x00", "UTF-32"),
        (b"\x00\x00\xfe\xff", "UTF-32"),
        (b"\xff\xfe", "UTF-16"),
        (b"\xfe\xff", "UTF-16"),
    ):
        if source.startswith(mark):
            raise _encoding(f"the file is {name}, and Homeport edits UTF-8", name)
    if b"\x00" in source[:64]:
        raise _encoding("the file holds NUL bytes: it is UTF-16 without its mark, or no text", "UTF-16")
    if source.isascii():
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    at = 0
    try:
        for at in range(0, len(source), _CHUNK_BYTES):
            decoder.decode(source[at : at + _CHUNK_BYTES], final=at + _CHUNK_BYTES >= len(source))
    except UnicodeDecodeError as error:
        bad = at + error.start - (len(error.object) - len(source[at : at + _CHUNK_BYTES]))
        line = source.count(b"\n", 0, bad) + 1
        column = len(source[source.rfind(b"\n", 0, bad) + 1 : bad].decode("utf-8", "replace")) + 1
        raise HomeportError(
            "unsupported_encoding",
            "a byte that is not UTF-8",
            "save the file as UTF-8",
            {"line": line, "column": column},
        ) from error


def _encoding(message: str, name: str) -> HomeportError:
    return HomeportError("unsupported_encoding", message, "save the file as UTF-8", {"encoding": name})
