"""The record of what was done: our spans, hashes and entries, never the rest of anybody's file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any, Final, Literal, NamedTuple

from homeport import files
from homeport.errors import HomeportError
from homeport.installer.plan.files_view import WriteFile
from homeport.installer.plan.ownership import History, Written
from homeport.installer.plan.rows import EntryChange
from homeport.installer.plan.splices import Splice, digest
from homeport.version import VERSION

KEPT: Final = 200
"""Operations that the journal holds; older ones go, finished ones only."""

_BLANK_BYTES: Final = 1024

# What reading a record raises that is torn, of another version, or no record at all.
_DAMAGE: Final = (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError)

UNKNOWN: Final = "unknown"

Status = Literal["applying", "done", "reverted"]


class FileRecord(NamedTuple):
    """One file of one client's transaction.

    real: behind every link. temporary: where the new bytes lie until they are put in place. blank, file_before: see
    plan.ownership.Written. client_lock, client_lock_ns: the client's own lock and the write time that marks ours.
    exact: the edits turn one digest into the other; false where the client's own program writes the file, whose
    digest_after is UNKNOWN until it is done.
    """

    path: str
    real: str
    temporary: str
    digest_before: str
    digest_after: str
    edits: tuple[Splice, ...]
    blank: bool
    file_before: bytes | None
    mode: int
    made_folders: tuple[str, ...] = ()
    client_lock: str | None = None
    client_lock_ns: int = 0
    exact: bool = True


class ClientRecord(NamedTuple):
    """by_program: the client's own program writes these entries, so that only they are known and no bytes."""

    client: str
    status: Status
    files: tuple[FileRecord, ...]
    changes: tuple[EntryChange, ...]
    by_program: bool = False


class Operation(NamedTuple):
    """when: ISO 8601 in UTC. undoes: the operation that this one took back. undone: it was taken back itself."""

    id: str
    operation: str
    when: str
    homeport: str = VERSION
    undoes: str | None = None
    undone: bool = False
    clients: tuple[ClientRecord, ...] = ()

    @property
    def pending(self) -> bool:
        return any(client.status == "applying" for client in self.clients)


def new_operation(name: str, undoes: str | None = None) -> Operation:
    from datetime import UTC, datetime

    now = datetime.now(UTC)
    # Sorts by time; two of one microsecond differ by the random end.
    identifier = f"{now:%Y%m%d-%H%M%S}-{now.microsecond:06d}-{os.urandom(2).hex()}"
    return Operation(identifier, name, now.isoformat(timespec="seconds"), undoes=undoes)


def file_record(step: WriteFile, temporary: Path, lock_ns: int) -> FileRecord:
    before = step.before
    blank = before is None or (len(before) <= _BLANK_BYTES and not before.lstrip(b"\xef\xbb\xbf").strip())
    return FileRecord(
        path=str(step.path),
        real=str(step.real),
        temporary=str(temporary),
        digest_before=digest(before),
        digest_after=digest(step.after),
        edits=step.edits,
        blank=blank,
        file_before=before if blank else None,
        mode=step.new_mode,
        client_lock=None if step.client_lock is None else str(step.client_lock),
        client_lock_ns=lock_ns,
    )


class Journal:
    """The operations under one state folder, a file each."""

    def __init__(self, state: PurePath) -> None:
        self.folder = Path(state) / "journal"
        self.damaged: list[Path] = []

    def write(self, operation: Operation) -> None:
        """Keep an operation, new or changed, synced before it returns."""
        files.make_folder(self.folder)
        text = json.dumps(_as_json(operation), indent=1)
        files.replace(self.folder / f"{operation.id}.json", text.encode("ascii"), new_mode=0o600)

    def operations(self) -> list[Operation]:
        """Every operation, oldest first. One that cannot be read is set aside in `damaged` and hides no other."""
        self.damaged = []
        found = []
        for path in self._paths():
            try:
                found.append(_operation(json.loads(path.read_bytes())))
            except FileNotFoundError:
                continue  # pruned by another process meanwhile
            except _DAMAGE:
                self.damaged.append(path)
        return found

    def _paths(self) -> list[Path]:
        try:
            return sorted(self.folder.glob("*.json"))
        except OSError:
            return []

    def prune(self) -> None:
        paths = self._paths()
        for path in paths[: max(0, len(paths) - KEPT)]:
            try:
                pending = _operation(json.loads(path.read_bytes())).pending
            except _DAMAGE:
                pending = False
            if not pending:
                files.remove_quietly(path)

    def folders_made_for(self, real: str) -> tuple[str, ...]:
        """The folders that were made to put a file there, innermost first."""
        found = [
            folder
            for operation in self.operations()
            for client in operation.clients
            for file in client.files
            if file.real == real
            for folder in file.made_folders
        ]
        return tuple(sorted(set(found), key=len, reverse=True))

    def history(self) -> History:
        """What of ours still stands, for plans."""
        by_file: dict[str, tuple[Written, ...]] = {}
        for operation in self.operations():
            if operation.undone or operation.undoes is not None:
                continue
            for client in operation.clients:
                if client.status == "done":
                    for file in client.files:
                        _add(by_file, file, client.changes)
        return History(by_file)


def _add(by_file: dict[str, tuple[Written, ...]], file: FileRecord, changes: tuple[EntryChange, ...]) -> None:
    if not file.digest_after:
        # We took the file away: what comes to lie there later began without us.
        by_file.pop(file.real, None)
        return
    here = [change for change in changes if change.file == file.real]
    by_file[file.real] = by_file.get(file.real, ()) + tuple(
        Written(
            file=file.real,
            path=change.path,
            entry=change.after,
            entry_before=change.before,
            identity=change.identity,
            made=change.made,
            blank=file.blank,
            file_before=file.file_before,
            digest_before=file.digest_before,
            digest_after=file.digest_after,
            edits=file.edits,
            paths_changed=len(here) if file.exact else 0,
        )
        for change in here
    )


def with_client(operation: Operation, client: ClientRecord) -> Operation:
    """The operation with this client's record put in or replaced; what its own program writes has one to itself."""
    key = (client.client, client.by_program)
    others = tuple(record for record in operation.clients if (record.client, record.by_program) != key)
    return operation._replace(clients=(*others, client))


def pending_of(operations: list[Operation], reals: frozenset[str]) -> Iterator[tuple[Operation, ClientRecord]]:
    """Unfinished clients that touch one of these files. Who holds the files' locks knows that their process is dead."""
    for operation in operations:
        for client in operation.clients:
            if client.status == "applying" and any(file.real in reals for file in client.files):
                yield operation, client


def find(operations: list[Operation], identifier: str | None) -> Operation:
    """The named operation, or the last that was done and not undone.

    Raises HomeportError: nothing_to_undo.
    """
    candidates = [
        one
        for one in operations
        if not one.undone and one.undoes is None and any(c.status == "done" for c in one.clients)
    ]
    if identifier is None:
        if candidates:
            return candidates[-1]
        raise HomeportError(
            "nothing_to_undo", "the journal holds no operation to undo", "`homeport undo --list` shows all of it"
        )
    matching = [one for one in candidates if one.id == identifier]
    if matching:
        return matching[0]
    known = [one for one in operations if one.id == identifier]
    if known and known[0].undoes is not None:
        raise HomeportError(
            "nothing_to_undo", f"operation {identifier} is an undo itself", "run the command that it took back again"
        )
    why = "was undone already" if known and known[0].undone else "is not in the journal"
    raise HomeportError("nothing_to_undo", f"operation {identifier} {why}", "see homeport undo --list")


def _as_json(value: Any) -> Any:
    """Named tuples as objects, bytes as base64."""
    if isinstance(value, bytes):
        import base64

        return {"base64": base64.b64encode(value).decode("ascii")}
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {key: _as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_json(item) for item in value]
    return value


def _bytes(value: Any) -> bytes:
    import base64

    return base64.b64decode(value["base64"], validate=True)


def _operation(data: dict[str, Any]) -> Operation:
    plain = {key: value for key, value in data.items() if key in Operation._fields and key != "clients"}
    return Operation(**plain, clients=tuple(_client(client) for client in data["clients"]))


def _client(data: dict[str, Any]) -> ClientRecord:
    return ClientRecord(
        data["client"],
        data["status"],
        tuple(_file(file) for file in data["files"]),
        tuple(_change(change) for change in data["changes"]),
        data.get("by_program", False),
    )


def _file(data: dict[str, Any]) -> FileRecord:
    splices = tuple(Splice(one["offset"], _bytes(one["before"]), _bytes(one["after"])) for one in data["edits"])
    before = None if data["file_before"] is None else _bytes(data["file_before"])
    return FileRecord(**{**data, "edits": splices, "file_before": before, "made_folders": tuple(data["made_folders"])})


def _change(data: dict[str, Any]) -> EntryChange:
    identity = None if data["identity"] is None else tuple(data["identity"])
    made = tuple(tuple(path) for path in data["made"])
    return EntryChange(**{**data, "path": tuple(data["path"]), "identity": identity, "made": made})
