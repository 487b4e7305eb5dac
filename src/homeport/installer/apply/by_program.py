"""Entries that the client's own program writes: journaled before it runs, put back where it fails, lies or dies."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from homeport import files
from homeport.disk import Disk
from homeport.environment import Environment
from homeport.files import RealPath
from homeport.folder_lock import new_mark_ns, remove_marked_folder
from homeport.installer.apply import client_program
from homeport.installer.apply.in_place import put_in_place
from homeport.installer.apply.journal import UNKNOWN, ClientRecord, FileRecord
from homeport.installer.clients import CLIENTS
from homeport.installer.clients.values import Json
from homeport.installer.plan.files_view import HOME_MODE, FilesView
from homeport.installer.plan.ownership import identity
from homeport.installer.plan.rows import EntryChange, Row
from homeport.installer.plan.splices import digest
from homeport.installer.plan.taking_out import client_lock

_ATTEMPTS: Final = 5


def intended(client: str, rows: Sequence[Row]) -> ClientRecord:
    """What is about to be asked of the program, with each entry as it is now."""
    changes, records = [], {}
    for row in rows:
        place = row.place
        assert place is not None
        path = (*place.container, row.name)
        before = FilesView(Disk()).value(place.file, place.dialect, path)
        wanted = None if row.outcome == "removed" else identity(CLIENTS[client].server(row.entry))
        real = str(Disk().real(place.file))
        changes.append(EntryChange(real, path, place.dialect, before, row.entry, wanted))
        lock = client_lock(place, Disk())
        records[real] = FileRecord(
            path=str(place.file),
            real=real,
            temporary=str(files.temporary_path(RealPath(Path(real)))),
            digest_before=digest(Disk().read(place.file)),
            digest_after=UNKNOWN,
            edits=(),
            blank=False,
            file_before=None,
            mode=HOME_MODE,
            client_lock=None if lock is None else str(lock),
            client_lock_ns=new_mark_ns(),
            exact=False,
        )
    return ClientRecord(client, "applying", tuple(records.values()), tuple(changes), by_program=True)


def run(record: ClientRecord, rows: Sequence[Row], environment: Environment) -> ClientRecord:
    """Run the commands and look what they did; give the record with the entries as they are now.

    Raises HomeportError: client_not_on_path, client_command_failed (also where it says it went well and did not).
    """
    made = []
    for row, change in zip(rows, record.changes, strict=True):
        for words in row.commands:
            client_program.run(words, environment)
        present = _value(change)
        if _identity(record, present) != change.identity:
            raise client_program.did_not_do_it(row.commands[-1])
        made.append(change._replace(after=present))
    return record._replace(changes=tuple(made))


def done(record: ClientRecord) -> ClientRecord:
    standing = tuple(file._replace(digest_after=digest(files.read_bytes(Path(file.real)))) for file in record.files)
    return record._replace(status="done", files=standing)


def settled(record: ClientRecord) -> ClientRecord:
    """Of a process that is gone: finished where every entry is as was asked, else put back. Locks are the caller's."""
    _clear_away(record)
    present = [_value(change) for change in record.changes]
    if all(_identity(record, value) == change.identity for value, change in zip(present, record.changes, strict=True)):
        changes = (change._replace(after=value) for change, value in zip(record.changes, present, strict=True))
        return done(record._replace(changes=tuple(changes)))
    return put_back(record)


def put_back(record: ClientRecord) -> ClientRecord:
    """Give each entry back as it was before the program ran, where it is gone or as the program was asked to make it.

    What somebody else made of it since stays.
    """
    _clear_away(record)
    for change, file in zip(record.changes, _files(record), strict=True):
        for _ in range(_ATTEMPTS):
            with contextlib.suppress(files.FileChanged):
                _put_entry_back(record, change, file)
                break
    return record._replace(status="reverted")


def _put_entry_back(record: ClientRecord, change: EntryChange, file: FileRecord) -> None:
    view = FilesView(Disk())
    path = Path(file.path)
    present = view.value(path, change.dialect, change.path)
    is_asked_for = change.identity is not None and _identity(record, present) == change.identity
    if present == change.before or not (present is None or is_asked_for):
        return
    document = view.document(path, change.dialect)
    after = document.remove(change.path) if change.before is None else document.set(change.path, change.before)
    view.put(path, after, file.mode)
    for step in view.steps():
        put_in_place(step, file)


def _files(record: ClientRecord) -> list[FileRecord]:
    by_real = {file.real: file for file in record.files}
    return [by_real[change.file] for change in record.changes]


def _value(change: EntryChange) -> Json:
    return FilesView(Disk()).value(Path(change.file), change.dialect, change.path)


def _identity(record: ClientRecord, value: Json) -> tuple[str, ...] | None:
    return identity(CLIENTS[record.client].server(value))


def _clear_away(record: ClientRecord) -> None:
    for file in record.files:
        files.remove_quietly(Path(file.temporary))
        if file.client_lock is not None:
            remove_marked_folder(Path(file.client_lock), file.client_lock_ns)
