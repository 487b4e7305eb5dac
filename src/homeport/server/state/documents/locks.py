"""Locks of documents, held by the kernel: they end with the process, however it ends."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import filelock

from homeport.errors import HomeportError
from homeport.server.state.database import busy
from homeport.server.state.documents.places import Key
from homeport.server.state.paths import folded

STRIPES: Final = 16


class Locks:
    """A fixed number of lock files that all documents of a home share, so that none is left behind per document.

    They lie outside `memory/`: a lock file beside a document would be listed, and committed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def hold(self, keys: Iterable[Key], deadline_s: float) -> contextlib.AbstractContextManager[None]:
        """Hold the locks of these documents. Names that differ by case share one: one of them must not come to be.

        deadline_s: on time.monotonic(); one attempt is made when it has passed. Raises HomeportError: home_busy.
        """
        return self._hold({_stripe(key) for key in keys}, deadline_s)

    def hold_all(self, deadline_s: float) -> contextlib.AbstractContextManager[None]:
        """Hold every document's lock, for what is done to a folder."""
        return self._hold(set(range(STRIPES)), deadline_s)

    @contextlib.contextmanager
    def _hold(self, stripes: set[int], deadline_s: float) -> Iterator[None]:
        with contextlib.ExitStack() as held:
            # Everybody takes them in this order, so no two wait for each other.
            for stripe in sorted(stripes):
                lock = filelock.FileLock(self._folder / f"documents-{stripe:02}.lock", mode=0o600, poll_interval=0.005)
                try:
                    lock.acquire(timeout=max(0.0, deadline_s - time.monotonic()))
                except filelock.Timeout:
                    raise busy("another process is changing it") from None
                except OSError as error:
                    raise HomeportError(
                        "store_failed",
                        f"the lock files of the home could not be used: {error.strerror}",
                        "look at the mode of the home; on a file system without locks name another place by "
                        "HOMEPORT_HOME or --root",
                    ) from error
                held.callback(lock.release)
            yield


def _stripe(key: Key) -> int:
    return hashlib.sha256(f"{key.scope}\n{folded(key.path)}".encode()).digest()[0] % STRIPES
