"""Take an operation back: byte for byte where a file is as we left it, else our entries alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from homeport.errors import HomeportError
from homeport.installer.clients import CLIENTS
from homeport.installer.clients.values import Json, Reader
from homeport.installer.plan.files_view import FilesView, WriteFile
from homeport.installer.plan.ownership import identity
from homeport.installer.plan.rows import EntryChange
from homeport.installer.plan.splices import Splice, digest, taken_back

How = Literal["restored", "taken_out", "as_before", "refused"]


@dataclass(frozen=True, slots=True)
class Undone:
    """One file of the operation. how: `restored` byte for byte, `taken_out` our entries alone since other parts of the
    file changed, `as_before` already, `refused` with the error."""

    file: str
    how: How
    error: HomeportError | None = None

    def as_json(self, applied: bool) -> dict[str, Json]:
        error = None if self.error is None else self.error.as_json()
        return {
            "file": self.file,
            "how": self.how,
            "applied": applied and self.how in ("restored", "taken_out"),
            "error": error,
        }


@dataclass(frozen=True, slots=True)
class FileUndo:
    """What the journal knows of one file. See apply.journal.FileRecord."""

    path: PurePath
    real: str
    digest_before: str
    digest_after: str
    edits: Sequence[Splice]
    blank: bool
    file_before: bytes | None
    mode: int
    exact: bool
    client_lock: PurePath | None = None


@dataclass(frozen=True, slots=True)
class UndoPlan:
    client: str
    files: tuple[Undone, ...]
    steps: tuple[WriteFile, ...]
    changes: tuple[EntryChange, ...]


def plan_undo(client: str, files: Sequence[FileUndo], changes: Sequence[EntryChange], reader: Reader) -> UndoPlan:
    """Plan to take back what one client's record says. Every file that was touched is looked at, the last one first."""
    view = FilesView(reader)
    undone: list[Undone] = []
    reversed_changes: list[EntryChange] = []
    for file in reversed(files):
        here = [change for change in changes if change.file == file.real]
        try:
            how, made = _undo_file(view, client, file, here)
        except HomeportError as error:
            undone.append(Undone(str(file.path), "refused", error))
            continue
        undone.append(Undone(str(file.path), how))
        reversed_changes += made
    if any(one.how == "refused" for one in undone):
        return UndoPlan(client, tuple(undone), (), ())
    return UndoPlan(client, tuple(undone), view.steps(), tuple(reversed_changes))


def _undo_file(
    view: FilesView, client: str, file: FileUndo, changes: list[EntryChange]
) -> tuple[How, list[EntryChange]]:
    present = view.read(file.path)
    backwards = [change._replace(before=change.after, after=change.before, made=()) for change in reversed(changes)]
    if digest(present) == file.digest_before:
        return "as_before", []
    if file.exact and digest(present) == file.digest_after:
        before = file.file_before if file.blank else taken_back(present or b"", file.edits)
        if digest(before) == file.digest_before:
            view.put(file.path, before, file.mode, file.client_lock)
            return "restored", backwards
    for change in reversed(changes):
        _undo_entry(view, client, file, change)
    return "taken_out", backwards


def _undo_entry(view: FilesView, client: str, file: FileUndo, change: EntryChange) -> None:
    """Raises HomeportError: undo_refused, where the entry is no longer what we left."""
    document = view.document(file.path, change.dialect)
    member = view.find(file.path, change.dialect, change.path)
    present = None if member is None else member.value
    if not _still_as_left(client, present, change):
        what = "is gone" if member is None else "runs something else by now"
        raise HomeportError(
            "undo_refused",
            f"{file.path}: the entry '{change.path[-1]}' {what}, so it is not ours to put back",
            "look at it with homeport list, and edit it by hand",
            {"file": str(file.path), "name": change.path[-1]},
        )
    if change.before is None:
        after = document.remove(change.path, len(change.made))
    else:
        after = document.set(change.path, change.before)
    view.put(file.path, after, file.mode, file.client_lock)


def _still_as_left(client: str, present: Json, change: EntryChange) -> bool:
    """What it runs must be what we wrote; added keys do not matter. Where we took an entry out, none may be there."""
    if change.after is None or present is None:
        return present is None and change.after is None
    server = CLIENTS[client].server
    return identity(server(present)) == identity(server(change.after))
