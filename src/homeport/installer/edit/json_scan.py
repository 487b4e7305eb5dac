"""The tokenizer of both dialects: it judges a whole file and says where the members of an object stand.

Nothing is kept of a value but where it ends. The standard decoder, which is written in C, leaps over lists and objects
that are plain JSON and fit a window of a sixteenth of the file; what it decoded is dropped at once, so memory stays
small. Where it fails (too long, too deep, a comment, a mistake) the loop here goes in, one bracket at a time with a
stack of its own, and says exactly what is wrong and where.
"""

from __future__ import annotations

import codecs
import json
import re
from array import array
from collections.abc import Collection, Iterator
from functools import cache
from typing import Final, NamedTuple, NoReturn

from homeport.installer.edit.document import KeyPath
from homeport.installer.edit.json_grammar import BLANK, SCALAR, WHITE, Grammar, JsonDialect
from homeport.installer.edit.json_refusals import (
    bad_scalar,
    bad_string,
    trailing_comma,
    trailing_data,
    unexpected,
    wrong_shape,
)

Interest = dict[str, "Interest"]
"""Keys somebody will look for, level by level."""

_SMALLEST_WINDOW_CHARS: Final = 65_536
_MISSES: Final = 8
_DECODABLE_DEPTH: Final = 500  # levels; far fewer than make the decoder in C give up


class Slot(NamedTuple):
    """A member by its offsets: its key, its value, and behind its value."""

    key: int
    start: int
    end: int


class Container(NamedTuple):
    """An object by the offsets of its opening brace and behind its closing one, and three for each member."""

    start: int
    end: int
    spans: array[int]

    @property
    def size(self) -> int:
        return len(self.spans) // 3

    def slot(self, index: int) -> Slot:
        first = 3 * (index % self.size)
        return Slot(*self.spans[first : first + 3])

    def before(self, slot: Slot) -> int:
        """Behind the value of the member before `slot`, or behind the opening brace."""
        index = self.spans.index(slot.key)
        return self.spans[index - 1] if index else self.start + 1

    def slots(self) -> Iterator[Slot]:
        return (self.slot(index) for index in range(self.size))


@cache
def _scalar() -> re.Pattern[bytes]:
    """Compiled when a scalar is walked: a new file has none."""
    return re.compile(SCALAR)


@cache
def _grammar(dialect: JsonDialect) -> Grammar:
    return Grammar(WHITE if dialect == "json" else BLANK)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


# Numbers become their length: small integers that exist already, for any number of digits.
_DECODER: Final = json.JSONDecoder(parse_int=len, parse_float=len, parse_constant=_no_constant)


def interest_in(paths: Collection[KeyPath]) -> Interest:
    interest: Interest = {}
    for path in paths:
        level = interest
        for key in path:
            level = level.setdefault(key, {})
    return interest


class Scanner:
    """One file in one dialect. Every method takes and gives offsets of the bytes.

    containers: the objects read so far, by the offset of their opening brace.
    Raises HomeportError: malformed_file, client_cannot_read, wrong_shape; details line and column.
    """

    def __init__(self, source: bytes, dialect: JsonDialect) -> None:
        self.source = source
        self.strict = dialect == "json"
        self.containers: dict[int, Container] = {}
        self._grammar = _grammar(dialect)
        self._leaps = _Leaps(source)

    def whole(self, start: int, interest: Interest) -> Container:
        """Judge everything from `start` to the end, and give the object at the root."""
        at = self.blank(start)
        is_object = self.source.startswith(b"{", at)
        end = self.container(at, interest).end if is_object else self.value_end(at)
        behind = self.blank(end)
        if behind < len(self.source):
            raise trailing_data(self.source, behind, self.strict)
        if not is_object:
            raise wrong_shape(self.source, at, ())
        return self.containers[at]

    def container(self, at: int, interest: Interest | None = None) -> Container:
        """The object that begins at `at`; objects in it that `interest` leads to are read too."""
        if at in self.containers:
            return self.containers[at]
        start = at
        spans = array("I")
        at, closed = self._first(at, b"}")
        while not closed:
            key = at
            name, at = self._head(at)
            inner = interest.get(self.unescaped(name)) if interest else None
            if inner is not None and self.source.startswith(b"{", at):
                end = self.container(at, inner).end
            else:
                end = self.value_end(at)
            spans.extend((key, at, end))
            at, closed = self._next(end, b"}")
        self.containers[start] = Container(start, at, spans)
        return self.containers[start]

    def value_end(self, at: int) -> int:
        """Behind the value at `at`, whatever it is and however deep."""
        closers = bytearray()
        while True:
            end = self._atom_end(at, len(closers))
            if end is None:
                closers += b"}" if self.source.startswith(b"{", at) else b"]"
                at, closed = self._first(at, bytes(closers[-1:]))
            elif not closers:
                return end
            else:
                at, closed = self._next(end, bytes(closers[-1:]))
            while True:
                if closed:
                    closers.pop()
                    if not closers:
                        return at
                    at, closed = self._next(at, bytes(closers[-1:]))
                else:
                    at, closed = self._value(at, bytes(closers[-1:]))
                    if not closed:
                        break

    def members_named(self, container: Container, key: str) -> list[Slot]:
        """The members of an object under one key: none, one, or where the file is wrong more."""
        spelled = json.dumps(key, ensure_ascii=False).encode("utf-8", "surrogatepass")
        spans = container.spans
        return [
            Slot(at, start, end)
            for at, start, end in zip(spans[::3], spans[1::3], spans[2::3], strict=True)
            # Most keys have one spelling; one with a backslash may say the same in another.
            if self.source.startswith(spelled, at)
            or (b"\\" in self.source[at:start] and self.key(Slot(at, start, end)) == key)
        ]

    def key(self, slot: Slot) -> str:
        return self.unescaped(self._head(slot.key)[0])

    def unescaped(self, name: bytes) -> str:
        """What a string of the file, with its quotes, says."""
        said: str = json.loads(name) if b"\\" in name else name[1:-1].decode()
        return said

    def blank(self, at: int) -> int:
        """Behind white space and, where the dialect has them, comments."""
        found = self._grammar.blank.match(self.source, at)
        return found.end() if found else at

    def _first(self, at: int, closer: bytes) -> tuple[int, bool]:
        """From an opening bracket to the first item, or behind the closer if there is none."""
        at = self.blank(at + 1)
        return (at + 1, True) if self.source.startswith(closer, at) else (at, False)

    def _next(self, at: int, closer: bytes) -> tuple[int, bool]:
        """From the end of an item to the next one, or behind the closer."""
        at = self.blank(at)
        there = self.source[at : at + 1]
        if there == closer:
            return at + 1, True
        if there != b",":
            raise unexpected(self.source, at, self.strict, f"a comma or '{closer.decode()}'")
        return self._behind_comma(at, self.blank(at + 1), closer)

    def _behind_comma(self, comma: int, at: int, closer: bytes) -> tuple[int, bool]:
        if not self.source.startswith(closer, at):
            return at, False
        if self.strict:
            raise trailing_comma(self.source, comma)
        return at + 1, True

    def _value(self, at: int, closer: bytes) -> tuple[int, bool]:
        """From an item to its value, leaping over a run of scalars and their commas."""
        run = self._grammar.runs[closer].match(self.source, at)
        if run and run.end() > at:
            at, closed = self._behind_comma(self.source.rfind(b",", at, run.end()), run.end(), closer)
            if closed:
                return at, True
        return (self._head(at)[1], False) if closer == b"}" else (at, False)

    def _head(self, at: int) -> tuple[bytes, int]:
        """The spelling of the key at `at`, and where its value begins."""
        found = self._grammar.head.match(self.source, at)
        if found is None:
            self._refuse_head(at)
        return found[1], found.end()

    def _refuse_head(self, at: int) -> NoReturn:
        if not self.source.startswith(b'"', at):
            raise unexpected(self.source, at, self.strict, "a key in double quotes")
        name = _scalar().match(self.source, at)
        if name is None:
            raise bad_string(self.source, at)
        raise unexpected(self.source, self.blank(name.end()), self.strict, "a colon")

    def _atom_end(self, at: int, depth: int) -> int | None:
        """Behind the value at `at`; None for a list or object that has to be walked into."""
        if self.source.startswith((b"{", b"["), at):
            return self._leaps.over(at, depth)
        found = _scalar().match(self.source, at)
        if found is None:
            raise bad_scalar(self.source, at, self.strict)
        return found.end()


class _Leaps:
    """Leaps over lists and objects with the standard decoder, and keeps the cost of those that fail linear.

    A failed leap has judged the file up to some place already. After a few of them within such a stretch, the loop
    walks to its end before another is tried; after one that met too many levels, it walks that many levels down.
    """

    def __init__(self, source: bytes) -> None:
        self._view = memoryview(source)
        self._size = max(_SMALLEST_WINDOW_CHARS, len(source) // 16)
        self._window = ""
        self._base = 0
        self._failed_at = 0
        self._misses = 0
        self._walk_until = 0
        self._deep_from = 0
        self._walk_depth = 0

    def over(self, at: int, depth: int) -> int | None:
        """Behind the list or object at `at`, or None."""
        if depth <= self._deep_from:  # out of the one that was too deep
            self._walk_depth = 0
        if at < self._walk_until or depth < self._walk_depth:
            return None
        self._slide(at)
        try:
            return self._base + _DECODER.raw_decode(self._window, at - self._base)[1]
        except json.JSONDecodeError as error:
            self._missed(at, self._base + error.pos)
        except RecursionError:
            self._deep_from = depth
            self._walk_depth = depth + _DECODABLE_DEPTH
        except ValueError:  # a constant that JSON does not have: the walk will meet it
            self._walk_until = self._base + len(self._window)
        return None

    def _slide(self, at: int) -> None:
        end = self._base + len(self._window)
        if at < self._base or (at + self._size // 2 > end and end < len(self._view)):
            self._base = at
            # One character a byte, whatever the bytes are: offsets stay what they are.
            self._window = codecs.latin_1_decode(self._view[at : at + self._size])[0]

    def _missed(self, at: int, failed_at: int) -> None:
        self._misses = self._misses + 1 if at < self._failed_at else 1
        self._failed_at = failed_at
        if self._misses == _MISSES:
            self._walk_until = failed_at
            self._misses = 0
