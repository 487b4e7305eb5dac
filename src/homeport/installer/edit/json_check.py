"""The check before anything is written: old and new, with our member taken out of both, hold the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from homeport.installer.edit.document import Json, KeyPath
from homeport.installer.edit.json_read import JsonFile
from homeport.installer.edit.json_scan import Container, Slot
from homeport.installer.edit.json_value import same

_COMPARED_BYTES: Final = 65_536


def same_rest(old: JsonFile, new: JsonFile, path: KeyPath, beginning: Mapping[str, Json]) -> bool:
    """Whether nothing but the member at `path` differs: the same members in order, spelled with the same bytes.

    Objects on the way to it that hold nothing else count as part of it. An `old` that is blank holds `beginning`.
    """
    if new.root is None:
        return old.root is None
    if old.root is None:
        others = [slot for slot in new.root.slots() if new.scanner.key(slot) != path[0]]
        held = {new.scanner.key(slot): new.value(slot) for slot in others}
        expected = {key: value for key, value in beginning.items() if key != path[0]}
        return same(held, expected) and _holds_only(new, new.child(new.root, path[0]), path[1:])
    return _same_members(old, old.root, new, new.root, path)


def _same_members(old: JsonFile, one: Container, new: JsonFile, other: Container, path: KeyPath) -> bool:
    left, place = _parted(old, one, path[0])
    right, new_place = _parted(new, other, path[0])
    if None not in (place, new_place) and place != new_place:
        return False
    if len(left) != len(right) or not all(_same_member(old, a, new, b) for a, b in zip(left, right, strict=True)):
        return False
    if len(path) == 1:
        return True
    before, after = old.child(one, path[0]), new.child(other, path[0])
    if before and after:
        return _same_members(old, before, new, after, path[1:])
    return _holds_only(old, before, path[1:]) and _holds_only(new, after, path[1:])


def _parted(file: JsonFile, container: Container, key: str) -> tuple[list[Slot], int | None]:
    """The members but the one under `key`, and which of all members that one is."""
    slots = list(container.slots())
    ours = file.scanner.members_named(container, key)
    return [slot for slot in slots if slot not in ours], slots.index(ours[0]) if ours else None


def _same_member(old: JsonFile, one: Slot, new: JsonFile, other: Slot) -> bool:
    """From key to value, in pieces, since a value may be nearly the whole file."""
    size = one.end - one.key
    return size == other.end - other.key and all(
        old.source[one.key + at : min(one.key + at + _COMPARED_BYTES, one.end)]
        == new.source[other.key + at : min(other.key + at + _COMPARED_BYTES, other.end)]
        for at in range(0, size, _COMPARED_BYTES)
    )


def _holds_only(file: JsonFile, container: Container | None, path: KeyPath) -> bool:
    """Whether an object, if it is there, is empty or holds nothing but the way along `path`."""
    for key in path:
        if container is None or not container.size:
            return True
        if container.size > 1 or file.scanner.key(container.slot(0)) != key:
            return False
        container = file.child(container, key)
    return True
