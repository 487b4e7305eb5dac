"""Edits of JSON and JSONC that change one span and keep every other byte. Bytes in, bytes out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final, Literal

from homeport.errors import HomeportError
from homeport.installer.edit.document import KeyPath, Member
from homeport.installer.edit.json_scan import BOM, Object, Scanner, Span, Trouble
from homeport.installer.edit.json_style import Style, indent_of, quoted, style_near

JsonDialect = Literal["json", "jsonc"]
_PIECE_BYTES: Final = 65_536


def open_json(source: bytes, dialect: JsonDialect, interest: Collection[KeyPath] = ()) -> JsonDocument:
    """Parse a whole file: strict JSON, or JSON with comments and trailing commas.

    interest: paths that will be asked for, so that they are found in the same pass. Time is linear in the length.
    Raises HomeportError: malformed_file, client_cannot_read, wrong_shape, unsupported_encoding, file_too_large.
    """
    return JsonDocument(source, dialect, frozenset(interest))


def render_fragment(path: KeyPath, value: Any, beginning: Mapping[str, Any] | None = None) -> str:
    """`{container: {name: value}}` for a person to paste, indented by two spaces, with a final newline."""
    nested = value
    for key in reversed(path):
        nested = {key: nested}
    return Style(lists_in_line=False).render({**(beginning or {}), **nested}, "") + "\n"


class JsonDocument:
    """See document.Document."""

    def __init__(self, source: bytes, dialect: JsonDialect, interest: frozenset[KeyPath] = frozenset()) -> None:
        self.source = source
        self.dialect: JsonDialect = dialect
        self._interest = interest
        self._scanner = Scanner(source, is_jsonc=dialect == "jsonc")
        self._objects: dict[int, Object] = {}
        try:
            self._root = self._scanner.root()
            if self._root is not None:
                self._read(self._root, ())
                self._scanner.finish(self._root.end)
        except Trouble as trouble:
            raise self._scanner.error(trouble) from trouble

    def find(self, path: KeyPath) -> Member | None:
        span = self._span(path)
        return None if span is None else self._member(path, span)

    def keys(self, path: KeyPath) -> tuple[str, ...]:
        found = self._object(path)
        return () if found is None else tuple(self._scanner.key(span) for span in found.members)

    def members(self, path: KeyPath) -> tuple[Member, ...]:
        found = self._object(path)
        if found is None:
            return ()
        return tuple(self._member((*path, self._scanner.key(span)), span) for span in found.members)

    def set(self, path: KeyPath, value: Any, beginning: Mapping[str, Any] | None = None) -> bytes:
        if self._root is None:
            return self._checked(self._begun(path, value, beginning or {}), path, value)
        span = self._span(path)
        if span is not None:
            if same(self._scanner.value(span), value):
                return self.source
            new = self._replaced(span, value, self._object(path[:-1]))
            return self._checked(new, path, value)
        depth = next(end for end in range(len(path) - 1, -1, -1) if self._object(path[:end]) is not None)
        container = self._object(path[:depth])
        assert container is not None
        nested = value
        for key in reversed(path[depth + 1 :]):
            nested = {key: nested}
        return self._checked(self._inserted(container, path[depth], nested), path, value)

    def update(self, path: KeyPath, changes: Mapping[str, Any], dropped: frozenset[str] = frozenset()) -> bytes:
        span, entry = self._span(path), self._object(path)
        if span is None or entry is None:
            return self.set(path, dict(changes))
        # The entry alone is edited as a document of its own, so that a large file is not parsed once for each key.
        part = self._source_of(span)
        style = style_near(self._scanner, entry)
        base = indent_of(self._scanner.text, span.key_start)
        document = _Part(part, self.dialect, style, base)
        for key in dropped:
            document = _Part(document.remove((key,)), self.dialect, style, base)
        for key, value in changes.items():
            document = _Part(document.set((key,), value), self.dialect, style, base)
        if document.source == part:
            return self.source
        new = self.source[: span.start] + document.source + self.source[span.end :]
        return self._checked(new, path, document.whole())

    def remove(self, path: KeyPath, prune: int = 0) -> bytes:
        span, container = self._span(path), self._object(path[:-1])
        if span is None or container is None:
            return self.source
        while prune > 0 and len(container.members) == 1 and len(path) > 1 and not self._has_comments(container, span):
            path, prune = path[:-1], prune - 1
            span, container = self._span(path), self._object(path[:-1])
            assert span is not None and container is not None
        return self._checked(self._removed(container, span), path, None)

    # --- looking ---

    def _read(self, found: Object, path: KeyPath) -> None:
        """Read an object's members, and on the way the members of those that somebody will ask for."""

        def descend(span: Span) -> Object | None:
            if not self._interest:
                return None
            key = self._scanner.key(span)
            if not any(wanted[: len(path) + 1] == (*path, key) for wanted in self._interest):
                return None
            inner = Object(span.start)
            self._objects[span.start] = inner
            return inner

        self._objects[found.start] = found
        self._scanner.read_members(found, descend)

    def _object(self, path: KeyPath) -> Object | None:
        """The object at a path, None where there is none. Raises HomeportError: wrong_shape, duplicate_key."""
        if not path:
            return self._root
        span = self._span(path)
        if span is None:
            return None
        if not self._scanner.text.startswith("{", span.start):
            line, column = self._scanner.position(span.start)
            raise HomeportError(
                "wrong_shape",
                f"{'.'.join(path)} is {self._kind(span)}, not an object",
                "make it an object, or take it out",
                {"line": line, "column": column, "key": ".".join(path)},
            )
        if span.start not in self._objects:
            try:
                self._read(Object(span.start), path)
            except Trouble as trouble:
                raise self._scanner.error(trouble) from trouble
        return self._objects[span.start]

    def _span(self, path: KeyPath) -> Span | None:
        container = self._object(path[:-1])
        if container is None:
            return None
        found = [span for span in container.members if self._has_key(span, path[-1])]
        if len(found) > 1:
            lines = [self._scanner.line(span.key_start) for span in found]
            raise HomeportError(
                "duplicate_key",
                f"the key '{path[-1]}' stands twice in one object, on {' and '.join(f'line {line}' for line in lines)}",
                "clients differ in which one they read: take one out",
                {"key": path[-1], "lines": lines},
            )
        return found[0] if found else None

    def _has_key(self, span: Span, key: str) -> bool:
        raw = self.source[span.key_start + 1 : span.key_end - 1]
        return self._scanner.key(span) == key if b"\\" in raw else raw == key.encode("utf-8", "surrogatepass")

    def _kind(self, span: Span) -> str:
        letter = self._scanner.text[span.start]
        return {"[": "a list", '"': "a string", "n": "null", "t": "true", "f": "false"}.get(letter, "a number")

    def _member(self, path: KeyPath, span: Span) -> Member:
        return Member(path, self._scanner.value(span), self._scanner.line(span.key_start), span.start, span.end)

    def _source_of(self, span: Span) -> bytes:
        return self.source[span.start : span.end]

    # --- editing ---

    def _begun(self, path: KeyPath, value: Any, beginning: Mapping[str, Any]) -> bytes:
        text = render_fragment(path, value, beginning)
        if b"\r\n" in self.source:
            text = text.replace("\n", "\r\n")
        mark = BOM if self.source.startswith(BOM) else b""
        return mark + text.encode("utf-8")

    def _style(self, container: Object | None) -> Style:
        return style_near(self._scanner, container)

    def _replaced(self, span: Span, value: Any, container: Object | None) -> bytes:
        indent = indent_of(self._scanner.text, span.key_start)
        text = self._style(container).render(value, indent)
        return self.source[: span.start] + text.encode("utf-8") + self.source[span.end :]

    def _inserted(self, container: Object, key: str, value: Any) -> bytes:
        if not container.members:
            return self._first(container, key, value)
        text, style = self._scanner.text, self._style(container)
        last = container.members[-1]
        after = last.comma + 1 if last.comma >= 0 else last.end
        at = self._end_of_line_comments(after)
        if style.newline:
            first = container.members[0]
            line_begins = text.rfind("\n", 0, last.key_start) + 1
            alone = not text[line_begins : last.key_start].strip()
            indent = indent_of(text, last.key_start if alone else first.key_start)
            entry = f"{style.newline}{indent}{quoted(key)}{style.colon}{style.render(value, indent)}"
        else:
            entry = f"{style.comma[1:]}{quoted(key)}{style.colon}{style.render(value, '')}"
        trailing = "," if last.comma >= 0 else ""
        joined = ("" if last.comma >= 0 else ",") + text[after:at]
        new = joined.encode("latin-1") + (entry + trailing).encode("utf-8")
        return self.source[:after] + new + self.source[at:]

    def _end_of_line_comments(self, at: int) -> int:
        """Behind the comments that follow on the same line: they belong to the member before."""
        text = self._scanner.text
        if self.dialect != "jsonc":
            return at
        end = at
        while True:
            look = end
            while text[look : look + 1] in (" ", "\t"):
                look += 1
            if text.startswith("//", look):
                ends = [found for found in (text.find("\n", look), text.find("\r", look)) if found >= 0]
                return min(ends, default=len(text))
            close = text.find("*/", look) if text.startswith("/*", look) else -1
            if close < 0 or "\n" in text[look:close]:
                return end
            end = close + 2

    def _first(self, container: Object, key: str, value: Any) -> bytes:
        """Into an empty object: behind its comments, before its closing white space."""
        text, style = self._scanner.text, self._style(container)
        inner = text[container.start + 1 : container.end - 1]
        base = indent_of(text, container.start)
        at = container.start + 1 + len(inner.rstrip())
        if not style.newline or (inner.strip() and "\n" not in inner):
            # Behind a comment on the same line; its white space before the brace stays there.
            in_line = style.on_one_line()
            gap = " " if inner.strip() else ""
            entry = f"{gap}{quoted(key)}{in_line.colon}{in_line.render(value, '')}"
            at = at if gap else container.end - 1
            return self.source[:at] + entry.encode("utf-8") + self.source[at:]
        indent = base + style.unit
        entry = f"{style.newline}{indent}{quoted(key)}{style.colon}{style.render(value, indent)}"
        rest = self.source[at:] if "\n" in text[at : container.end - 1] else None
        if rest is None:
            rest = (style.newline + base).encode("utf-8") + self.source[container.end - 1 :]
        return self.source[:at] + entry.encode("utf-8") + rest

    def _removed(self, container: Object, span: Span) -> bytes:
        at = container.members.index(span)
        text = self._scanner.text
        if len(container.members) == 1:
            return self._emptied(container, span)
        if at == len(container.members) - 1:
            return self._without_last(container, span)
        following = container.members[at + 1]
        begin = text.rfind("\n", 0, span.key_start)
        alone = begin >= 0 and not text[begin : span.key_start].strip()
        if alone and "\n" in text[span.comma : following.key_start]:
            begin -= text[begin - 1 : begin] == "\r"
            return self.source[:begin] + self.source[span.comma + 1 :]
        end = following.key_start if not text[span.comma + 1 : following.key_start].strip() else span.comma + 1
        return self.source[: span.key_start] + self.source[end:]

    def _without_last(self, container: Object, span: Span) -> bytes:
        """The last member goes with the white space before it; the comma that joined it goes unless it had its own."""
        text = self._scanner.text
        previous = container.members[container.members.index(span) - 1]
        begin = _line_or_gap(text, span.key_start)
        end = span.comma + 1 if span.comma >= 0 else span.end
        head = self.source[:begin]
        if span.comma < 0:
            head = self.source[: previous.comma] + self.source[previous.comma + 1 : begin]
        return head + self.source[end:]

    def _emptied(self, container: Object, span: Span) -> bytes:
        text = self._scanner.text
        end = span.comma + 1 if span.comma >= 0 else span.end
        before, after = text[container.start + 1 : span.key_start], text[end : container.end - 1]
        if not before.strip() and not after.strip():
            return self.source[: container.start + 1] + self.source[container.end - 1 :]
        return self.source[: _line_or_gap(text, span.key_start)] + self.source[end:]

    def _has_comments(self, container: Object, span: Span) -> bool:
        text = self._scanner.text
        end = span.comma + 1 if span.comma >= 0 else span.end
        return bool(text[container.start + 1 : span.key_start].strip() or text[end : container.end - 1].strip())

    # --- checking ---

    def _checked(self, new: bytes, path: KeyPath, value: Any) -> bytes:
        """Parse the new bytes whole and compare: the entry is as wanted, everything else stands as it stood.

        value: None where the member at `path` is to be gone.
        Raises HomeportError: edit_refused.
        """
        try:
            made = JsonDocument(new, self.dialect, self._interest | {path})
            found = made.find(path)
            good = found is None if value is None else found is not None and same(found.value, value)
            good = good and self._rest_kept(made, path)
        except HomeportError:
            good = False
        if not good:
            raise HomeportError(
                "edit_refused",
                "the edit would have changed more than the entry: a fault of Homeport's own, and nothing was written",
                "paste the fragment by hand, and please report it with the file's shape",
            )
        return new

    def _rest_kept(self, made: JsonDocument, path: KeyPath) -> bool:
        """Level by level along the path: the same other members, each with the same bytes."""
        for depth in range(len(path)):
            ours, theirs = self._object(path[:depth]), made._object(path[:depth])
            if ours is None:
                return True
            if theirs is None or not self._same_others(ours, made, theirs, path[depth]):
                return False
        return True

    def _same_others(self, ours: Object, made: JsonDocument, theirs: Object, key: str) -> bool:
        left = [span for span in ours.members if not self._has_key(span, key)]
        right = [span for span in theirs.members if not made._has_key(span, key)]
        return len(left) == len(right) and all(
            _same_bytes(self.source, one, made.source, other) for one, other in zip(left, right, strict=True)
        )


class _Part(JsonDocument):
    """An entry's own text, edited in the style of the file that it stands in."""

    def __init__(self, source: bytes, dialect: JsonDialect, style: Style, base: str) -> None:
        super().__init__(source, dialect)
        self._given, self._base = style, base

    def _style(self, container: Object | None) -> Style:
        assert self._root is not None
        newline = self._given.newline if "\n" in self._scanner.text else ""
        return replace(style_near(self._scanner, self._root), newline=newline, unit=self._given.unit)

    def whole(self) -> Any:
        return {member.path[0]: member.value for member in self.members(())}


def _same_bytes(left: bytes, one: Span, right: bytes, other: Span) -> bool:
    """Whether two members are spelled the same, compared in pieces: a member may be most of a large file."""
    length = one.end - one.key_start
    return length == other.end - other.key_start and all(
        left[one.key_start + at : min(one.key_start + at + _PIECE_BYTES, one.end)]
        == right[other.key_start + at : min(other.key_start + at + _PIECE_BYTES, other.end)]
        for at in range(0, length, _PIECE_BYTES)
    )


def _line_or_gap(text: str, at: int) -> int:
    """Where the white space before a key begins: with its line's own line end, if it begins its line."""
    begin = at
    while begin > 0 and text[begin - 1] in " \t":
        begin -= 1
    if text[begin - 1 : begin] == "\n":
        begin -= 1
        begin -= text[begin - 1 : begin] == "\r"
    return begin


def same(left: Any, right: Any) -> bool:
    """Equal as JSON: true is not 1, and the order of keys does not count."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and bool(left == right)
