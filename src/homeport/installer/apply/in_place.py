"""One file from its old bytes to its new ones: written beside it, compared last, then given its name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from homeport import files
from homeport.files import RealPath
from homeport.folder_lock import folder_lock
from homeport.installer.apply.journal import FileRecord
from homeport.installer.plan.files_view import WriteFile


def put_in_place(step: WriteFile, record: FileRecord) -> None:
    """One file from `before` to `after`. Raises files.FileChanged with nothing done, or a HomeportError."""
    target, temporary = real_of(step), Path(record.temporary)
    if step.after is None:
        with _client_locked(record):
            _take_away(target, temporary, step.before)
        return
    files.write_temporary(temporary, target, step.after, new_mode=step.new_mode)
    try:
        with _client_locked(record):
            if step.before is None:
                files.create_exclusively(temporary, target)
            else:
                # The comparison comes last, and between it and the exchange nothing is waited for.
                files.swap_in(temporary, target, _expected(target, step.before))
    except BaseException:
        files.remove_quietly(temporary)
        raise
    files.sync_folder(target.parent)


def _take_away(target: RealPath, temporary: Path, before: bytes | None) -> None:
    expected = _expected(target, before)
    files.take_away(target, temporary, expected)
    files.sync_folder(target.parent)


def _expected(target: RealPath, before: bytes | None) -> files.Stamp:
    """The stamp of the file while it holds just these bytes. Raises files.FileChanged."""
    stamp = files.stamp(target)
    if stamp is None or files.read_bytes(target) != before:
        raise files.FileChanged
    return stamp


@contextlib.contextmanager
def _client_locked(record: FileRecord) -> Iterator[None]:
    if record.client_lock is None:
        yield
        return
    # Claude Code itself goes on without the lock when it is held for long, so it is held for moments and never forced.
    with folder_lock(Path(record.client_lock), patience_s=2.0, stale_s=10.0, mark_ns=record.client_lock_ns):
        yield


def real_of(step: WriteFile) -> RealPath:
    return RealPath(Path(step.real))
