"""One JSON file, read: what stands where, looked up by paths."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from homeport.installer.edit.document import Json, KeyPath, Member
from homeport.installer.edit.json_grammar import WHITE, JsonDialect
from homeport.installer.edit.json_refusals import duplicate_key, wrong_shape
from homeport.installer.edit.json_scan import Container, Scanner, Slot, interest_in
from homeport.installer.edit.json_source import content_start, line_ends, line_of
from homeport.installer.edit.json_value import decoded

_WHITE: Final = re.compile(WHITE)


class JsonFile:
    """The bytes of a file, judged as a whole when it is made.

    root: the object at the root; None for a file of nothing but blank space.
    """

    def __init__(self, source: bytes, dialect: JsonDialect, interest: Collection[KeyPath]) -> None:
        self.source = source
        self.dialect = dialect
        self.start = content_start(source)
        self.scanner = Scanner(source, dialect)
        blank = _WHITE.match(source, self.start)
        is_blank = blank is not None and blank.end() == len(source)
        self.root = None if is_blank else self.scanner.whole(self.start, interest_in(interest))

    def walk(self, path: KeyPath) -> tuple[list[Container], Slot | None]:
        """The objects from the root along `path` as far as they are there, and the member at its end.

        Raises HomeportError: wrong_shape, duplicate_key.
        """
        chain = [self.root] if self.root else []
        slot: Slot | None = None
        for depth in range(len(path) if chain else 0):
            slot = self.member_of(chain[-1], path[: depth + 1])
            if slot is None or depth == len(path) - 1:
                break
            chain.append(self._object(path[: depth + 1], slot))
        return chain, slot

    def container(self, path: KeyPath) -> Container | None:
        """The object at `path`, or None if nothing stands there. Raises HomeportError: as `walk`."""
        if not path:
            return self.root
        _, slot = self.walk(path)
        return self._object(path, slot) if slot else None

    def member_of(self, container: Container, path: KeyPath) -> Slot | None:
        """The one member with the last key of `path`. Raises HomeportError: duplicate_key."""
        found = self.scanner.members_named(container, path[-1])
        if len(found) > 1:
            raise duplicate_key(self.source, path, [slot.key for slot in found])
        return found[0] if found else None

    def child(self, container: Container, key: str) -> Container | None:
        """The object under `key`, if there is one."""
        slot = self.member_of(container, (key,))
        return self.scanner.container(slot.start) if slot and self.source.startswith(b"{", slot.start) else None

    def value(self, slot: Slot) -> Json:
        return decoded(self.source[slot.start : slot.end])

    def members(self, path: KeyPath, container: Container) -> Iterator[Member]:
        """The members of the object at `path`."""
        line, counted = 1, 0
        for slot in container.slots():
            line += line_ends(self.source, counted, slot.key)
            counted = slot.key
            yield Member((*path, self.scanner.key(slot)), self.value(slot), line, slot.start, slot.end)

    def member(self, path: KeyPath, slot: Slot) -> Member:
        return Member(path, self.value(slot), line_of(self.source, slot.key), slot.start, slot.end)

    def _object(self, path: KeyPath, slot: Slot) -> Container:
        if not self.source.startswith(b"{", slot.start):
            raise wrong_shape(self.source, slot.start, path)
        return self.scanner.container(slot.start)
