"""How a document is changed: locked, compared, its intent written down, the file replaced, the version landed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from homeport import files
from homeport.errors import HomeportError
from homeport.server.state.documents import disk
from homeport.server.state.documents.locks import Locks
from homeport.server.state.documents.places import Place
from homeport.server.state.documents.recovery import Recovery
from homeport.server.state.documents.said import Said
from homeport.server.state.documents.versions import Action, Intent, Version, Versions
from homeport.server.state.home import Home
from homeport.server.state.scopes import scope_folder

# Once the file is changed its version is worth waiting for, whatever the caller's patience was.
_LANDING_S: Final = 5.0


class Caller(NamedTuple):
    """Who asks, and until when, on time.monotonic(), they may be kept waiting for a lock."""

    actor: str
    deadline_s: float


class Changing:
    """Every method may raise HomeportError: home_busy, store_damaged, store_failed, and what the disk refuses."""

    def __init__(self, home: Home, said: Said) -> None:
        self.versions = Versions(home.versions, said)
        self._memory = home.memory
        self._locks = Locks(home.locks)
        self._recovery = Recovery(home.memory, self._locks, self.versions)
        self._recovered = False
        self._said = said

    def recover(self, caller: Caller) -> None:
        """Once per process: finish what processes that died left."""
        if not self._recovered:
            self._recovery.at_open(caller.deadline_s)
            self._recovered = True

    @contextlib.contextmanager
    def exclusive(self, places: list[Place], caller: Caller) -> Iterator[None]:
        """Hold these documents, whichever process asks; what was left undone on them is finished first."""
        keys = [place.key for place in places]
        self.recover(caller)
        with self._locks.hold(keys, caller.deadline_s):
            self._recovery.before_change(keys, caller.deadline_s)
            yield

    @contextlib.contextmanager
    def all_exclusive(self, caller: Caller) -> Iterator[None]:
        """Hold every document of the home."""
        with self._locks.hold_all(caller.deadline_s):
            self._recovery.before_folder_change(caller.deadline_s)
            yield

    def note(self, place: Place, caller: Caller) -> Version | None:
        """The version of what stands in the file; a hand edit becomes one."""
        return self.versions.note(place.key, disk.data_of(place), caller.deadline_s)

    def put(self, place: Place, data: bytes, action: Action, caller: Caller) -> Version | None:
        """Give the document these bytes. None where its version has to wait: the next call will make it."""
        intent = self.versions.intend(action, caller.actor, place.key, data, caller.deadline_s)
        return self._carry_out(intent, lambda: disk.put(place, data))

    def rename(self, place: Place, target: Place, caller: Caller) -> Version | None:
        intent = self.versions.intend("renamed", caller.actor, place.key, None, caller.deadline_s, target.key)
        version = self._carry_out(intent, lambda: disk.rename(place, target))
        self._prune(place)
        return version

    def unlink(self, place: Place, caller: Caller) -> Version | None:
        intent = self.versions.intend("deleted", caller.actor, place.key, None, caller.deadline_s)
        version = self._carry_out(intent, lambda: disk.unlink(place))
        self._prune(place)
        return version

    def _carry_out(self, intent: Intent, act: Callable[[], None]) -> Version | None:
        try:
            act()
        except HomeportError:
            with contextlib.suppress(HomeportError):
                self.versions.drop(intent, time.monotonic() + _LANDING_S)
            raise
        try:
            return self.versions.land(intent, time.monotonic() + _LANDING_S)
        except HomeportError as error:
            # The change is made and its intent is on the disk: to say it failed would be the lie.
            self._said.say_error(error)
            return None

    def _prune(self, place: Place) -> None:
        """Remove the folders that lost their last document: a folder is there through its documents."""
        root = self._memory / scope_folder(place.key.scope)
        for folder in place.path.parents:
            if folder == root or not folder.is_relative_to(root):
                return
            files.remove_folder_if_empty(folder)
