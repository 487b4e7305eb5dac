"""Files as they will be: what the reader gives, and what the steps planned so far make of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import Final, NamedTuple

from homeport.errors import HomeportError
from homeport.installer.clients.values import Dialect, Json, KeyPath, Reader
from homeport.installer.edit.document import Document, Member
from homeport.installer.plan.splices import Splice, splices


class WriteFile(NamedTuple):
    """A step: the file held `before` (None: there was none) and is to hold `after` (None: it goes).

    path: as the client names it. real: behind every link. new_mode: for a file that does not exist yet.
    edits: what turns one into the other, one after the other.
    client_lock: the folder by which the client itself locks this file, where it has one.
    """

    path: PurePath
    real: PurePath
    before: bytes | None
    after: bytes | None
    new_mode: int
    edits: tuple[Splice, ...]
    client_lock: PurePath | None = None


# Private in a home, readable in a project: the latter is made to be committed.
HOME_MODE: Final = 0o600
PROJECT_MODE: Final = 0o644


class FilesView:
    """Reads through one reader, once per file, and keeps what edits put over it. Also the `Look` that facts ask."""

    def __init__(self, reader: Reader, interest: tuple[KeyPath, ...] = ()) -> None:
        self.reader = reader
        self._interest = interest
        self._before: dict[PurePath, bytes | None] = {}
        self._now: dict[PurePath, bytes | None] = {}
        self._documents: dict[tuple[PurePath, Dialect], Document] = {}
        self._steps: dict[PurePath, tuple[PurePath, int, PurePath | None]] = {}
        self._edits: dict[PurePath, list[tuple[bytes, bytes]]] = {}

    def read(self, path: PurePath) -> bytes | None:
        real = self.reader.real(path)
        if real not in self._now:
            self._before[real] = self._now[real] = self.reader.read(path)
        return self._now[real]

    def before(self, path: PurePath) -> bytes | None:
        """The bytes the file held when it was first read."""
        self.read(path)
        return self._before[self.reader.real(path)]

    def document(self, path: PurePath, dialect: Dialect) -> Document:
        """The file as planned, parsed. A missing file is an empty document.

        Raises HomeportError of the editor with the file named.
        """
        source = self.read(path) or b""
        key = (self.reader.real(path), dialect)
        if key not in self._documents or self._documents[key].source is not source:
            try:
                self._documents[key] = _opener(dialect)(source, self._interest)
            except HomeportError as error:
                raise error.in_file(path) from error
        return self._documents[key]

    def find(self, path: PurePath, dialect: Dialect, key: KeyPath) -> Member | None:
        """The member at `key` of the file as planned. Raises HomeportError of the editor with the file named."""
        document = self.document(path, dialect)
        try:
            return document.find(key)
        except HomeportError as error:
            raise error.in_file(path) from error

    def put(self, path: PurePath, after: bytes | None, mode: int, client_lock: PurePath | None = None) -> None:
        real = self.reader.real(path)
        self.read(path)
        if self._now[real] != after:
            self._edits.setdefault(real, []).append((self._now[real] or b"", after or b""))
            self._now[real] = after
            self._steps.setdefault(real, (path, mode, client_lock))

    def steps(self) -> tuple[WriteFile, ...]:
        """A step per changed file, in the order of the first change."""
        return tuple(
            WriteFile(path, real, self._before[real], self._now[real], mode, self._spliced(real), lock)
            for real, (path, mode, lock) in self._steps.items()
            if self._before[real] != self._now[real]
        )

    def _spliced(self, real: PurePath) -> tuple[Splice, ...]:
        return tuple(splice for before, after in self._edits[real] for splice in splices(before, after))

    def value(self, file: PurePath, dialect: Dialect, path: KeyPath) -> Json:
        document = self._quiet(file, dialect)
        try:
            member = document.find(path) if document and path else None
        except HomeportError:
            return None
        return None if member is None else member.value

    def keys(self, file: PurePath, dialect: Dialect, path: KeyPath) -> tuple[str, ...]:
        document = self._quiet(file, dialect)
        try:
            return document.keys(path) if document else ()
        except HomeportError:
            return ()

    def _quiet(self, file: PurePath, dialect: Dialect) -> Document | None:
        """A fact that hangs on a file nobody can read is unknown; who edits that file hears why from `document`."""
        try:
            return self.document(file, dialect)
        except HomeportError:
            return None


def _opener(dialect: Dialect) -> Callable[[bytes, tuple[KeyPath, ...]], Document]:
    # Each editor is imported by who needs it: a JSON client pays nothing for TOML.
    if dialect == "toml":
        from homeport.installer.edit.toml import open_toml

        return open_toml
    from homeport.installer.edit.jsonc import open_json

    return lambda source, interest: open_json(source, dialect, interest)


def fragment(path: KeyPath, value: Json, dialect: Dialect, beginning: dict[str, Json] | None = None) -> str:
    """What a person pastes: the container and our entry in it, in the client's format, with a final newline."""
    if dialect == "toml":
        from homeport.installer.edit import toml

        return toml.render_fragment(path, value, beginning).rstrip("\n") + "\n"
    from homeport.installer.edit import jsonc

    return jsonc.render_fragment(path, value, beginning)


def value_at(source: bytes, dialect: Dialect, path: KeyPath) -> Json:
    """The value at a path of these bytes; None where they hold none or cannot be read."""
    try:
        member = _opener(dialect)(source, ()).find(path)
    except HomeportError:
        return None
    return None if member is None else member.value
