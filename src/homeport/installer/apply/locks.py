"""Locks among Homeport's own processes: one per real file, in our state folder, released by the kernel."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from homeport import files
from homeport.environment import Environment
from homeport.errors import HomeportError

PATIENCE_S: Final = 60.0


@contextlib.contextmanager
def locked(environment: Environment, reals: frozenset[str], patience_s: float = PATIENCE_S) -> Iterator[None]:
    """Hold the locks of these real paths, taken in one order so that two processes never wait for each other.

    Raises HomeportError: file_busy, where another Homeport holds one for longer than `patience_s`.
    """
    from filelock import FileLock, Timeout

    folder = Path(environment.state) / "locks"
    files.make_folder(folder)
    with contextlib.ExitStack() as stack:
        for real in sorted(reals):
            name = hashlib.sha256(real.encode("utf-8", "surrogateescape")).hexdigest()[:32]
            lock = FileLock(folder / f"{name}.lock", timeout=patience_s, mode=0o600)
            try:
                stack.enter_context(lock)
                files.own_like_parent(Path(lock.lock_file))
            except Timeout as error:
                raise HomeportError(
                    "file_busy",
                    f"another Homeport has been at work on {real} for {patience_s:g} seconds",
                    "wait for it to end, then run this again",
                    {"file": real},
                ) from error
        yield
