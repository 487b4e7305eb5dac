"""Byte-preserving edits of JSON and JSONC: our entry is put, changed or taken out, and no other byte of the file moves.

json_scan judges a file and finds where members stand, json_style sees how it is written, json_splice changes it. Here
every result is read again as a whole before anybody gets it: our entry must be what was asked for, the rest what it
was.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from homeport.errors import HomeportError
from homeport.installer.edit.document import Json, KeyPath, Member
from homeport.installer.edit.json_check import same_rest
from homeport.installer.edit.json_grammar import JsonDialect
from homeport.installer.edit.json_read import JsonFile
from homeport.installer.edit.json_refusals import own_fault
from homeport.installer.edit.json_render import Style, render, render_fragment
from homeport.installer.edit.json_scan import Container, Scanner, Slot
from homeport.installer.edit.json_splice import Change, changed, has_comments, inserted, removed, replaced
from homeport.installer.edit.json_style import indent_at, line_end_at, stands_in_one_line, style_in
from homeport.installer.edit.json_value import nested, plain, same

__all__ = ["JsonDocument", "open_json", "render_fragment"]

_MISSING: Final = object()


def open_json(source: bytes, dialect: JsonDialect, interest: Collection[KeyPath] = ()) -> JsonDocument:
    """Read a JSON file. Time is linear in its length; memory beyond `source`, and the new bytes of an edit, is small.

    source: the whole file, UTF-8 with or without byte order mark; nothing, or blank space only, is an empty object.
    dialect: "json" as in RFC 8259; "jsonc" has // and /* */ comments and trailing commas besides.
    interest: paths the caller will look up, which saves reading them twice; every other path works too.

    Raises HomeportError: malformed_file, client_cannot_read (strict dialect: a comment or trailing comma),
    unsupported_encoding, wrong_shape (no object at the root), file_too_large; see document.py for the details.
    """
    return JsonDocument(source, dialect, interest)


class JsonDocument:
    """A JSON file as the editors' `Document`.

    A number that Python cannot hold (1E400, an integer of more than 4,300 digits) appears as its spelling.
    Keys compare by what they say: "a" is "\\u0061". A key that occurs twice is refused where a path leads through it.
    """

    def __init__(self, source: bytes, dialect: JsonDialect, interest: Collection[KeyPath] = ()) -> None:
        self.source = source
        self._file = JsonFile(source, dialect, interest)

    def find(self, path: KeyPath) -> Member | None:
        """The member at `path`, or None.

        Raises HomeportError: wrong_shape (something on the way is no object), duplicate_key, edit_refused (the value is
        nested more deeply than Python's decoder reads).
        """
        _, slot = self._file.walk(path)
        return self._file.member(path, slot) if slot else None

    def members(self, path: KeyPath) -> tuple[Member, ...]:
        """The members of the object at `path` in file order, a key that occurs twice twice. Raises as `find`."""
        container = self._file.container(path)
        return tuple(self._file.members(path, container)) if container else ()

    def keys(self, path: KeyPath) -> tuple[str, ...]:
        """The keys of the object at `path` in file order. Raises HomeportError: wrong_shape, duplicate_key."""
        container = self._file.container(path)
        return tuple(self._file.scanner.key(slot) for slot in container.slots()) if container else ()

    def set(self, path: KeyPath, value: Json, beginning: Mapping[str, Json] | None = None) -> bytes:
        """Put `value` at `path`: where the member stands, else last in its container, which is made if missing.

        New text follows the style of its neighbours. An equal value gives the very same bytes object. A blank file
        becomes one of two spaces and a final newline that keeps the byte order mark and holds `beginning` first.

        Raises HomeportError: as `find`; edit_refused if the value is none of JSON or the result is not certain.
        """
        wanted = plain(value)
        if self._file.root is None:
            return self._begun(path, wanted, plain(dict(beginning or {})))
        chain, slot = self._file.walk(path)
        if slot is None:
            return self._checked(self._put(chain, path, wanted), path, wanted)
        if same(self._file.value(slot), wanted):
            return self.source
        style = style_in(self.source, chain, slot)
        return self._checked(replaced(self.source, slot, wanted, style), path, wanted)

    def update(self, path: KeyPath, changes: Mapping[str, Json], dropped: frozenset[str] = frozenset()) -> bytes:
        """Set the keys of `changes` in the object at `path` and take `dropped` out; without an object there, make it.

        Every other key, and every comment, stays as spelled; a key that holds its value already stays too.
        The very same bytes object comes back where nothing changes. Raises HomeportError: as `set`.
        """
        wished = plain(dict(changes))
        entry = self._file.container(path)
        if entry is None:
            return self.set(path, wished)
        chain = [*self._file.walk(path)[0], entry]
        wanted = {self._file.scanner.key(slot): self._file.value(slot) for slot in entry.slots()}
        draft = _Draft(self._file, chain)
        for key, value in wished.items():
            slot = self._file.member_of(entry, (*path, key))
            if slot is None or not same(wanted[key], value):
                draft.set(key, value, slot)
        for key in dropped - wished.keys():
            if self._file.member_of(entry, (*path, key)):
                draft.remove(key)
        change = draft.change()
        if change is None:
            return self.source
        wanted = {key: value for key, value in wanted.items() if key not in dropped} | wished
        return self._checked([change], path, wanted)

    def remove(self, path: KeyPath, prune: int = 0) -> bytes:
        """Take out the member at `path`, then up to `prune` of its containers that hold nothing any more.

        A container with a comment in it holds something. After a `set` that put something new the first bytes come
        back if `prune` is the number of containers it made; json_splice names the one exception.

        Raises HomeportError: as `find`; edit_refused if the result is not certain.
        """
        chain, slot = self._file.walk(path)
        if slot is None:
            return self.source
        for _ in range(min(prune, len(chain) - 1)):
            if chain[-1].size > 1 or has_comments(self.source, chain[-1], slot):
                break
            emptied = chain.pop()
            slot = next(holder for holder in chain[-1].slots() if holder.start == emptied.start)
        return self._checked(removed(self.source, chain[-1], slot), path, _MISSING)

    def _begun(self, path: KeyPath, wanted: Json, beginning: dict[str, Json]) -> bytes:
        source, start = self.source, self._file.start
        style = Style(line_end=line_end_at(source, len(source)))
        begun = render({**beginning, path[0]: nested(path[1:], wanted)}, style, "") + style.line_end
        return self._checked([Change(start, len(source), begun.encode())], path, wanted, beginning)

    def _put(self, chain: Sequence[Container], path: KeyPath, wanted: Json) -> list[Change]:
        """A new member, in the containers that are there and those that are not."""
        style, in_line = style_in(self.source, chain), stands_in_one_line(self.source, chain)
        made = path[len(chain) :]
        if made and not in_line:
            # A container we make is opened up, however short its neighbours are.
            style = style._replace(one_line=False)
        key = path[len(chain) - 1]
        return inserted(self.source, chain[-1], key, nested(made, wanted), style, in_line=in_line)

    def _checked(
        self, changes: Sequence[Change], path: KeyPath, wanted: Json, beginning: Mapping[str, Json] | None = None
    ) -> bytes:
        """The new bytes, when they hold at `path` what was asked for and otherwise what the file holds."""
        after = changed(self.source, changes)
        try:
            new = JsonFile(after, self._file.dialect, [path])
            _, slot = new.walk(path)
            found = new.value(slot) if slot else _MISSING
        except HomeportError as error:
            raise own_fault(f"it would have damaged the file ({error.message})") from error
        right = found is wanted if _MISSING in (found, wanted) else same(found, wanted)
        if not right:
            raise own_fault("the entry would not have become what was asked for")
        if not same_rest(self._file, new, path, beginning or {}):
            raise own_fault("it would have changed more than the entry")
        return after


class _Draft:
    """One entry's own text on the way to another, so that a large file is not copied for every key of it.

    chain: the objects of the file from the root to the entry.
    """

    def __init__(self, file: JsonFile, chain: Sequence[Container]) -> None:
        self._file, self._chain = file, chain
        # Behind the indentation of its line, as if nothing else stood there.
        indent = indent_at(file.source, chain[-1].start).encode()
        self._at = len(indent)
        self._given = self._entry = indent + file.source[chain[-1].start : chain[-1].end]
        self._in_line = stands_in_one_line(file.source, chain)

    def set(self, key: str, value: Json, present: Slot | None) -> None:
        """present: the member in the file, the witness of how it was written."""
        style = style_in(self._file.source, self._chain, present)
        entry, slot = self._look(key)
        if slot:
            self._entry = changed(self._entry, replaced(self._entry, slot, value, style))
        else:
            self._entry = changed(self._entry, inserted(self._entry, entry, key, value, style, in_line=self._in_line))

    def remove(self, key: str) -> None:
        entry, slot = self._look(key)
        if slot:
            self._entry = changed(self._entry, removed(self._entry, entry, slot))

    def change(self) -> Change | None:
        if self._entry is self._given:
            return None
        return Change(self._chain[-1].start, self._chain[-1].end, self._entry[self._at :])

    def _look(self, key: str) -> tuple[Container, Slot | None]:
        scanner = Scanner(self._entry, self._file.dialect)
        entry = scanner.container(self._at)
        return entry, next((slot for slot in entry.slots() if scanner.key(slot) == key), None)
