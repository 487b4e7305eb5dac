"""What a process that died left between its intent and the version: finished where the file shows it was done."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from homeport import files
from homeport.errors import HomeportError
from homeport.server.state.documents.locks import Locks
from homeport.server.state.documents.places import Key, MountFolder, Place
from homeport.server.state.documents.texts import digest
from homeport.server.state.documents.versions import Intent, Versions
from homeport.server.state.mounts import Mount
from homeport.server.state.paths import Address, is_temporary


class Recovery:
    """Reconciles versions.db with the files of a home, whichever scopes this server mounts."""

    def __init__(self, memory: Path, locks: Locks, versions: Versions) -> None:
        self._memory = memory
        self._locks = locks
        self._versions = versions

    def at_open(self, deadline_s: float) -> None:
        """Reconcile every intent whose document nobody is changing; the others belong to living processes."""
        for intent in self._versions.intents(deadline_s):
            now = time.monotonic()
            # A rename may be a folder's, which holds every lock.
            free = self._locks.hold_all(now) if intent.to else self._locks.hold([intent.key], now)
            try:
                with free:
                    self._reconcile(intent, deadline_s)
            except HomeportError as error:
                if error.code != "home_busy":
                    raise

    def before_change(self, keys: Iterable[Key], deadline_s: float) -> None:
        """Reconcile what concerns these documents. The caller holds their locks, so whoever left it is dead."""
        wanted = tuple(keys)
        for intent in self._versions.intents(deadline_s):
            if any(_concerns(intent, key) for key in wanted):
                self._reconcile(intent, deadline_s)

    def before_folder_change(self, deadline_s: float) -> None:
        """Reconcile everything. The caller holds every lock."""
        for intent in self._versions.intents(deadline_s):
            self._reconcile(intent, deadline_s)

    def _reconcile(self, intent: Intent, deadline_s: float) -> None:
        place = self._place(intent.key)
        if intent.to is not None:
            target = self._place(intent.to)
            done = target is not None and target.kind != "nothing" and (place is None or place.kind == "nothing")
        elif intent.action == "deleted":
            done = place is None or place.kind == "nothing"
        else:
            done = place is not None and place.kind == "document" and _holds(place.path, intent.sha256)
            if place is not None:
                _remove_temporaries(place.path)
        if done:
            self._versions.land(intent, deadline_s)
        else:
            self._versions.drop(intent, deadline_s)

    def _place(self, key: Key) -> Place | None:
        folder = MountFolder(self._memory, Mount(key.scope, "recovery"))
        try:
            return folder.locate(Address("recovery", tuple(key.path.split("/"))))
        except HomeportError:
            return None


def _concerns(intent: Intent, key: Key) -> bool:
    if key in (intent.key, intent.to):
        return True
    # Of a folder's rename: everything that was below, and everything that may be below by now.
    ends = (intent.key, intent.to) if intent.to else ()
    return any(key.scope == end.scope and key.path.startswith(f"{end.path}/") for end in ends)


def _holds(path: Path, sha256: str | None) -> bool:
    try:
        data = files.read_bytes(path)
    except HomeportError:
        return False
    return data is not None and digest(data) == sha256


def _remove_temporaries(path: Path) -> None:
    """What a kill left of the file being written; its lock is held, so none of these is in use."""
    try:
        left = [entry for entry in path.parent.iterdir() if is_temporary(entry.name)]
    except OSError:
        return
    for entry in left:
        if entry.name.startswith(f".{path.name[:80]}."):
            files.remove_quietly(entry)
