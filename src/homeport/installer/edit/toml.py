"""Byte-preserving edits of TOML: our entry is put, changed or taken out, and no other byte of the file moves.

toml_read judges the file with tomllib, toml_scan finds where things stand, toml_splice changes the bytes, and here
every result is read again with tomllib before anybody gets it: our entry must be what was asked for, the rest what
it was.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Collection, Mapping
from typing import Any, Final, NoReturn

from homeport.errors import HomeportError
from homeport.installer.edit.document import Json, KeyPath, Member
from homeport.installer.edit.toml_read import read_toml
from homeport.installer.edit.toml_render import render_fragment
from homeport.installer.edit.toml_scan import line_of
from homeport.installer.edit.toml_splice import Layout, begin, drop, put, replace

__all__ = ["TomlDocument", "open_toml", "render_fragment"]

_MISSING: Final = object()


def open_toml(source: bytes, interest: Collection[KeyPath] = ()) -> TomlDocument:
    """Read a TOML file. Time is linear in its length, nearly all of it tomllib's.

    source: the whole file, UTF-8 with or without BOM, TOML 1.0; nothing, or blank space only, is an empty file.
    interest: not needed here, since tomllib always reads the whole.

    Raises HomeportError: malformed_file, unsupported_encoding, file_too_large, edit_refused; see read_toml.
    """
    return TomlDocument(source)


class TomlDocument:
    """A TOML file as the editors' `Document`.

    What JSON has no value for appears as text: dates in ISO form, `inf`, `-inf`, `nan`, integers beyond 64 bits as hex.

    An entry may stand in any legal spelling: headers, quoted or dotted keys, inline tables, sub-tables in any order.
    What is new is spelled as its neighbours are.
    """

    def __init__(self, source: bytes) -> None:
        self.source = source
        self._tree, found = read_toml(source)
        self._layout = Layout(source, found.statements)

    def find(self, path: KeyPath) -> Member | None:
        """The member at `path`, or None.

        Raises HomeportError: wrong_shape (something on the way is no table; details line).
        """
        value = self._value(path)
        if value is _MISSING:
            return None
        start, end = self._layout.places(path[:-1])[path[-1]]
        return Member(path, _plain(value), line_of(self.source, start), start, end)

    def members(self, path: KeyPath) -> tuple[Member, ...]:
        """The members of the table at `path` in file order. Raises HomeportError: wrong_shape."""
        table = self._table(path)
        places = self._layout.places(path)
        found: list[Member] = []
        line, counted = 1, 0
        for key, (start, end) in sorted(places.items(), key=lambda place: place[1]):
            line += self.source.count(b"\n", counted, start)
            counted = start
            found.append(Member((*path, key), _plain(table[key]), line, start, end))
        return tuple(found)

    def keys(self, path: KeyPath) -> tuple[str, ...]:
        """The keys of the table at `path` in file order. Raises HomeportError: wrong_shape."""
        places = self._layout.places(path) if self._table(path) else {}
        return tuple(sorted(places, key=lambda key: places[key]))

    def set(self, path: KeyPath, value: Json, beginning: Mapping[str, Json] | None = None) -> bytes:
        """Put `value` at `path`, or make what stands there equal to it.

        New, a dict becomes `[path]` behind the last table of its container, else at the end of the file; in a container
        spelled inline or by dotted keys it is spelled so too. What stands there already is changed key by key: what
        is equal keeps its spelling, its comments and its place. An equal value gives the very same bytes object.

        Raises HomeportError: wrong_shape, edit_refused (TOML cannot hold the value, or the result is not certain).
        """
        try:
            return self._with(path, _json_value(value), beginning or {})
        except RecursionError:
            raise _refused("the entry is nested more deeply than a TOML file is read") from None

    def update(self, path: KeyPath, changes: Mapping[str, Json], dropped: frozenset[str] = frozenset()) -> bytes:
        """Make the keys of `changes` equal to it and take `dropped` out; every other key of the table stays as spelled.

        Without a table at `path` it is made. A dict in `changes` is the whole of its key.

        Raises HomeportError: wrong_shape (`path` holds no table), edit_refused.
        """
        kept = {key: value for key, value in _plain(self._table(path)).items() if key not in dropped}
        return self.set(path, {**kept, **changes})

    def remove(self, path: KeyPath, prune: int = 0) -> bytes:
        """Take out every piece of what stands at `path`, and the blank line above its header.

        A comment above the header or behind the last key stays; one between the two goes. After a `set` that put a new
        table the first bytes come back; a header that `set` made for a plain value stays while it is not pruned.

        Raises HomeportError: wrong_shape, edit_refused.
        """
        if self._value(path) is _MISSING:
            return self.source
        layout = Layout.of(drop(self._layout, path))
        emptied = path
        for _ in range(min(prune, len(path) - 1)):
            if len(self._table(emptied[:-1])) > 1:
                break
            emptied = emptied[:-1]
            if layout.has(emptied):
                layout = Layout.of(drop(layout, emptied))
        return self._checked(layout.source, path, _MISSING)

    def _with(self, path: KeyPath, wanted: Json, beginning: Mapping[str, Json]) -> bytes:
        present = self._value(path)
        if present is _MISSING:
            if beginning and not self.source[self._layout.start :].strip():
                after = begin(self._layout, path, wanted, beginning)
                return self._checked(after, path, wanted, beginning)
            return self._checked(put(self._layout, path, wanted), path, wanted)
        held = _plain(present)
        if _same(held, wanted):
            return self.source
        return self._checked(_become(self._layout, path, held, wanted).source, path, wanted)

    def _value(self, path: KeyPath) -> Any:
        """What tomllib found at `path`, or _MISSING."""
        value: Any = self._tree
        for depth, key in enumerate(path):
            if not isinstance(value, dict):
                self._wrong_shape(path[:depth])
            if key not in value:
                return _MISSING
            value = value[key]
        return value

    def _table(self, path: KeyPath) -> dict[str, Any]:
        value = self._value(path)
        if value is _MISSING:
            return {}
        if not isinstance(value, dict):
            self._wrong_shape(path)
        return dict(value)

    def _wrong_shape(self, path: KeyPath) -> NoReturn:
        start, _ = self._layout.places(path[:-1])[path[-1]]
        raise HomeportError(
            "wrong_shape",
            f"{'.'.join(path)} is not a table",
            hint="make it a table, or take it out",
            details={"line": line_of(self.source, start)},
        )

    def _checked(self, after: bytes, path: KeyPath, wanted: Any, beginning: Mapping[str, Json] | None = None) -> bytes:
        """`after`, when tomllib reads in it what was asked for and otherwise what it reads in `source`."""
        try:
            tree = TomlDocument(after)
            found = tree._value(path)
        except HomeportError as error:
            raise _refused(f"the edit would have damaged the file: {error.message}") from error
        right = found is wanted if _MISSING in (found, wanted) else _same(_plain(found), wanted)
        if not right or not _same(_without({**self._tree, **(beginning or {})}, path), _without(tree._tree, path)):
            raise _refused("the edit would have changed more than the entry, or not made it what it shall be")
        return after


def _become(layout: Layout, path: KeyPath, present: Json, wanted: Json) -> Layout:
    """Change what stands at `path` key by key, so that what is equal already keeps its spelling."""
    if not isinstance(present, dict) or not isinstance(wanted, dict):
        return Layout.of(replace(layout, path, wanted))
    for key, value in wanted.items():
        if key not in present:
            layout = Layout.of(put(layout, (*path, key), value))
        elif not _same(present[key], value):
            layout = _become(layout, (*path, key), present[key], value)
    for key in present:
        if key not in wanted:
            layout = Layout.of(drop(layout, (*path, key)))
    # A table spelled by its dotted keys alone went with the last of them.
    return layout if layout.has(path) else Layout.of(put(layout, path, {}))


def _same(one: Any, other: Any) -> bool:
    """Equal in value and type, to any depth: 1, 1.0 and true are three things."""
    pending = [(one, other)]
    while pending:
        left, right = pending.pop()
        if type(left) is not type(right):
            return False
        if isinstance(left, dict):
            if left.keys() != right.keys():
                return False
            pending.extend((value, right[key]) for key, value in left.items())
        elif isinstance(left, list):
            if len(left) != len(right):
                return False
            pending.extend(zip(left, right, strict=True))
        elif repr(left) != repr(right) if isinstance(left, float) else left != right:
            return False
    return True


def _without(tree: dict[str, Any], path: KeyPath) -> dict[str, Any]:
    """A copy without `path` and without the containers of it that are empty then."""
    rest = {key: value for key, value in tree.items() if key != path[0]}
    inner = tree.get(path[0])
    if len(path) > 1 and isinstance(inner, dict) and (kept := _without(inner, path[1:])):
        rest[path[0]] = kept
    return rest


def _plain(value: Any) -> Json:
    try:
        return _plain_value(value)
    except RecursionError:
        raise _refused("the entry is nested more deeply than Homeport reads") from None


def _plain_value(value: Any) -> Json:
    match value:
        case dict():
            return {key: _plain_value(held) for key, held in value.items()}
        case list():
            return [_plain_value(held) for held in value]
        case datetime.date() | datetime.time():
            return value.isoformat()
        case float() if not math.isfinite(value):
            return str(value)
        case int() if value.bit_length() > 64:
            return hex(value)
    return value


def _json_value(value: Json) -> Json:
    """A copy of nothing but JSON's types, whatever subclasses and tuples came in."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        raise _refused("the entry is not a JSON value") from None


def _refused(message: str) -> HomeportError:
    return HomeportError("edit_refused", message, hint="paste the fragment by hand")
