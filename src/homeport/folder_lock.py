"""The lock that Claude Code's library makes: a folder beside the file, there while somebody writes."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

from homeport.files import remove_folder_if_empty


@contextlib.contextmanager
def folder_lock(path: Path, *, patience_s: float, stale_s: float, mark_ns: int) -> Iterator[bool]:
    """Hold a lock that is a folder, as node's proper-lockfile makes it. Gives whether we hold it.

    mark_ns: its write time, by which remove_marked_folder knows it again after a kill.
    One that is older than `stale_s` belongs to a program that died and is taken over; one that stays is not forced:
    the caller goes on without it.
    """
    deadline = time.monotonic() + patience_s
    held = False
    while not held:
        try:
            os.mkdir(path)
            held = True
            os.utime(path, ns=(mark_ns, mark_ns))
        except FileExistsError:
            if _age_s(path) > stale_s:
                remove_folder_if_empty(path)
            elif time.monotonic() > deadline:
                break
            else:
                time.sleep(0.01)
        except OSError:
            break
    try:
        yield held
    finally:
        if held:
            remove_folder_if_empty(path)


def new_mark_ns() -> int:
    """A write time for a lock of ours, now, whose last digits nobody else's has."""
    now = time.time_ns()
    return now - now % 1_000_000 + secrets.randbelow(1_000_000)


def remove_marked_folder(path: Path, mark_ns: int) -> None:
    """Remove a lock that a killed process of ours left; anybody else's has another write time and stays."""
    with contextlib.suppress(OSError):
        if os.stat(path).st_mtime_ns == mark_ns:
            os.rmdir(path)


def _age_s(path: Path) -> float:
    try:
        return time.time() - os.stat(path).st_mtime
    except OSError:
        return 0.0
