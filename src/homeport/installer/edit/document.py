"""What every editor offers: one parsed file, answers about it, and new bytes. Nothing here reads or writes a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

KeyPath = tuple[str, ...]
"""Keys from the root, such as ("mcpServers", "homeport"). List indexes are not paths."""

Json = Any
"""What json.loads gives: dict, list, str, int, float, bool, None. Where a number
cannot be held, its spelling stands as str."""


class Member(NamedTuple):
    """One key of an object or table with its value, and where it stands.

    line: of the key, from 1. start, end: byte offsets of the value (TOML: of the first header or key that defines it).
    """

    path: KeyPath
    value: Json
    line: int
    start: int
    end: int


class Document(Protocol):
    """A file's bytes, parsed once. Every edit returns new bytes and leaves the document as it is.

    Raises HomeportError on opening or from any method: malformed_file, client_cannot_read, unsupported_encoding,
    wrong_shape, duplicate_key, file_too_large, edit_refused; details `line` and `column` (from 1; columns in
    characters), `lines` for duplicate_key. No message names a file: the caller adds it.
    """

    source: bytes

    def find(self, path: KeyPath) -> Member | None:
        """The member at `path`, or None. A non-object on the way, the last key excepted, is wrong_shape."""
        ...

    def members(self, path: KeyPath) -> tuple[Member, ...]:
        """The members of the object at `path`, in file order; empty when there is none."""
        ...

    def keys(self, path: KeyPath) -> tuple[str, ...]:
        """The keys of the object at `path`, in file order, without decoding their values; empty when there is none."""
        ...

    def set(self, path: KeyPath, value: Json, beginning: Mapping[str, Json] | None = None) -> bytes:
        """Set the member at `path`: replaced where it stands, else put last in its container, which is made if missing.

        beginning: top-level members a file that is empty or does not exist yet starts with.
        """
        ...

    def update(self, path: KeyPath, changes: Mapping[str, Json], dropped: frozenset[str] = frozenset()) -> bytes:
        """Set the keys of `changes` in the object at `path` and remove those `dropped`; other keys stay as spelled."""
        ...

    def remove(self, path: KeyPath, prune: int = 0) -> bytes:
        """Remove the member at `path`; then up to `prune` of its containers, innermost first, that are left empty.

        Where `path` leads nowhere the very same bytes object comes back.
        """
        ...
