"""After a kill or a power loss: the next run finishes what was begun, or takes it back."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

from homeport import files
from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.files import RealPath
from homeport.folder_lock import remove_marked_folder
from homeport.installer.apply import by_program
from homeport.installer.apply.journal import ClientRecord, FileRecord, Journal, pending_of, with_client
from homeport.installer.apply.locks import locked
from homeport.installer.plan.splices import digest, taken_back

_PATIENCE_S: Final = 0.0


def recover(environment: Environment, journal: Journal) -> int:
    """Finish or revert every interrupted operation whose process is gone; give how many clients' records that were.

    One whose files are locked belongs to a process that is still at work, and is left to it.
    """
    count = 0
    for operation in journal.operations():
        for client in operation.clients:
            if client.status == "applying":
                reals = frozenset(file.real for file in client.files)
                with contextlib.suppress(HomeportError), locked(environment, reals, _PATIENCE_S):
                    count += finish_or_revert(journal, reals)
    return count


def finish_or_revert(journal: Journal, reals: frozenset[str]) -> int:
    """For who holds the locks of these files: settle every unfinished record that touches one of them."""
    count = 0
    for operation, client in list(pending_of(journal.operations(), reals)):
        current = next(one for one in journal.operations() if one.id == operation.id)
        journal.write(with_client(current, _settled(client)))
        count += 1
    return count


def _settled(client: ClientRecord) -> ClientRecord:
    if client.by_program:
        return by_program.settled(client)
    for file in client.files:
        _clear_away(file)
    standing = [_standing(file) for file in client.files]
    if all(state == "after" for state in standing):
        return client._replace(status="done")
    for file, state in zip(reversed(client.files), reversed(standing), strict=True):
        if state == "after":
            _take_back(file)
    return client._replace(status="reverted")


def _standing(file: FileRecord) -> str:
    """Which of the two states a file is in; "else" where somebody wrote it since."""
    present = digest(files.read_bytes(Path(file.real)))
    if present == file.digest_after:
        return "after"
    return "before" if present == file.digest_before else "else"


def _clear_away(file: FileRecord) -> None:
    """The temporary file, and the client's lock if it is the one we made."""
    temporary, target = Path(file.temporary), RealPath(Path(file.real))
    held = files.read_bytes(temporary)
    if held is not None:
        known = digest(held) in (file.digest_before, file.digest_after)
        if known or digest(files.read_bytes(target)) != file.digest_after:
            files.remove_quietly(temporary)
        else:
            # The kill came between an exchange and its undoing: what it displaced is somebody's newer save.
            files.restore_swapped(temporary, target)
    if file.client_lock is not None:
        remove_marked_folder(Path(file.client_lock), file.client_lock_ns)


def _take_back(file: FileRecord) -> None:
    target, temporary = RealPath(Path(file.real)), Path(file.temporary)
    present = files.read_bytes(target)
    expected = files.stamp(target)
    if file.blank and file.file_before is None:
        if expected is not None:
            with contextlib.suppress(files.FileChanged):
                files.take_away(target, temporary, expected)
        return
    before = file.file_before if file.blank else taken_back(present or b"", file.edits)
    if before is None or digest(before) != file.digest_before:
        return
    files.write_temporary(temporary, target, before, new_mode=file.mode)
    with contextlib.suppress(files.FileChanged):
        if expected is None:
            files.create_exclusively(temporary, target)
        else:
            files.swap_in(temporary, target, expected)
    files.remove_quietly(temporary)
