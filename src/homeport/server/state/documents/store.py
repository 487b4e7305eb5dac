"""Documents on mounts: plain files that any number of processes, and people with editors, change at the same time."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from homeport import files
from homeport.errors import CODES, HomeportError
from homeport.server.state.documents import disk
from homeport.server.state.documents.index import MountIndex, index_of
from homeport.server.state.documents.locks import Locks
from homeport.server.state.documents.places import Listed, MountFolder, Place
from homeport.server.state.documents.recovery import Recovery
from homeport.server.state.documents.versions import Action, Intent, Version, Versions, digest
from homeport.server.state.home import Home
from homeport.server.state.mounts import Mount
from homeport.server.state.paths import Address, shown

# Once the file is changed its version is worth waiting for, whatever the caller's patience was.
_LANDING_S: Final = 5.0
_STORE_CODES: Final = ("home_busy", "store_damaged", "store_failed")
_log = logging.getLogger(__name__)


class Caller(NamedTuple):
    """Who asks, and until when, on time.monotonic(), they may be kept waiting for a lock."""

    actor: str
    deadline_s: float


@dataclass(frozen=True, slots=True)
class Document:
    """What a document holds. version: None where versions.db cannot say."""

    address: Address
    text: str
    version: Version | None


@dataclass(frozen=True, slots=True)
class Change:
    """What came of a change. before: the version it was made on, None where there was no document. after: None where
    it is not known (yet), and for folders. documents: how many were touched."""

    address: Address
    before: Version | None
    after: Version | None
    changed: bool = True
    documents: int = 1


class Documents:
    """The documents of one home on the mounts of one server. One call at a time; other processes may do as they like.

    Every method takes addresses and may raise HomeportError: memory_path_invalid, name_collision, document_not_found
    (also for a mount that is not there), read_only_mount, edit_only_mount, home_busy, store_damaged, store_failed, and
    a code of homeport.files where the disk refuses. No message holds a path of the host.
    """

    def __init__(self, home: Home, mounts: tuple[Mount, ...]) -> None:
        self.mounts = mounts
        self._folders = {mount.path: MountFolder(home.memory, mount) for mount in mounts}
        self._memory = home.memory
        self._locks = Locks(home.locks)
        self._versions = Versions(home.versions)
        self._recovery = Recovery(home.memory, self._locks, self._versions)
        self._recovered = False
        self._said: set[str] = set()

    def close(self) -> None:
        self._versions.close()

    def read(self, address: Address, caller: Caller) -> Document:
        """Raises also document_unreadable (not UTF-8, or not a file), document_too_large."""
        place = self._document(address)
        data = disk.data_of(place)
        try:
            self._recover(caller)
            version = self._versions.latest(place.key, caller.deadline_s)
            if version is None or version.sha256 != digest(data):
                # Edited by hand, or just being changed by another process: look again when nobody is.
                with self._exclusive([place], caller):
                    data = disk.data_of(self._document(address))
                    version = self._versions.note(place.key, data, caller.deadline_s)
        except HomeportError as error:
            if error.code not in _STORE_CODES:
                raise
            # What the document holds can be said without its version; a damaged database must not hide it.
            self._say_once(error)
            version = None
        return Document(address, disk.text_of(address, data), version)

    def index(self) -> list[MountIndex]:
        return [index_of(self._memory, mount) for mount in self.mounts]

    def is_folder(self, address: Address) -> bool:
        return self._place(address).kind == "folder"

    def listing(self, address: Address) -> list[Listed]:
        """The documents below a mount or folder, sorted by address. Raises also document_not_found (no folder)."""
        place = self._place(address)
        if place.kind != "folder":
            raise disk.not_found(address)
        return sorted(self._folders[address.mount].documents(place), key=lambda listed: listed.address.segments)

    def trouble(self, listed: Listed) -> str | None:
        """Why a listed document cannot be viewed, or None. Its file is read where the listing could not tell."""
        if listed.trouble:
            return listed.trouble
        try:
            if listed.path.stat().st_size > disk.LARGEST_BYTES:
                return CODES["document_too_large"][1]
            disk.text_of(listed.address, disk.bytes_of(listed.address, listed.path))
        except HomeportError as error:
            return CODES[error.code][1]
        except OSError:
            return CODES["document_unreadable"][1]
        return None

    def write(
        self, address: Address, edit: Callable[[str | None], str], expected: int | None, caller: Caller
    ) -> Change:
        """Give the document the text that `edit` makes of its present one (None: there is none).

        expected: the version it must be at, 0 for none. Where `edit` changes nothing no version is made.
        Raises also what `edit` raises, version_conflict, document_unreadable, document_too_large.
        """
        first = self._place(address)
        self._check_access(address, makes_or_takes=first.kind == "nothing")
        with self._exclusive([first], caller):
            place = self._place(address)
            data = None if place.kind == "nothing" else disk.data_of(place)
            self._check_access(address, makes_or_takes=data is None)
            before = self._versions.note(place.key, data, caller.deadline_s)
            _check_expected(address, expected, before)
            new = edit(None if data is None else disk.text_of(address, data)).encode()
            if len(new) > disk.LARGEST_BYTES:
                raise disk.too_large(address, len(new))
            existing = None if data is None else before
            if new == data:
                return Change(address, existing, existing, changed=False)
            intent = self._intend("created" if data is None else "changed", place, caller, data=new)
            return Change(address, existing, self._carry_out(intent, lambda: disk.put(place, new)))

    def remove(self, address: Address, expected: int | None, recursive: bool, caller: Caller) -> Change:
        """Delete a document, or with `recursive` a folder and every document in it.

        Raises also version_conflict, not_recursive, document_unreadable, bad_argument (a folder's version).
        """
        place = self._existing(address, recursive)
        self._check_access(address, makes_or_takes=True)
        if place.kind == "folder":
            _check_no_version(address, expected)
            return self._remove_folder(address, caller)
        with self._exclusive([place], caller):
            place = self._document(address)
            before = self._noted(place, caller)
            _check_expected(address, expected, before)
            return Change(address, before, self._unlink(place, caller))

    def move(self, source: Address, to: Address, expected: int | None, recursive: bool, caller: Caller) -> Change:
        """Rename a document, or with `recursive` a folder, also to another mount. Its versions go with it.

        It is one rename of the file system: after a kill it is done or it is not. Raises also document_exists,
        version_conflict, not_recursive, bad_argument (a folder's version).
        """
        place = self._existing(source, recursive)
        target = self._free(source, to)
        self._check_access(source, makes_or_takes=True)
        self._check_access(to, makes_or_takes=True)
        if place.kind == "folder":
            _check_no_version(source, expected)
            return self._move_folder(source, to, caller)
        with self._exclusive([place, target], caller):
            place, target = self._document(source), self._free(source, to)
            before = self._noted(place, caller)
            _check_expected(source, expected, before)
            return Change(to, before, self._relocate(place, target, caller))

    def _move_folder(self, source: Address, to: Address, caller: Caller) -> Change:
        with self._all_exclusive(caller):
            place, target = self._document(source), self._free(source, to)
            listed = self._note_folder(source, caller)
            self._relocate(place, target, caller)
            return Change(to, None, None, documents=len(listed))

    def _remove_folder(self, address: Address, caller: Caller) -> Change:
        with self._all_exclusive(caller):
            listed = self._note_folder(address, caller)
            for entry in listed:
                if entry.path.is_symlink():
                    files.remove_quietly(entry.path)
                else:
                    self._unlink(self._place(entry.address), caller)
            return Change(address, None, None, documents=len(listed))

    def _note_folder(self, address: Address, caller: Caller) -> list[Listed]:
        """See that versions.db knows every document of a folder as it is, before something is done to all of them."""
        listed = self.listing(address)
        for entry in listed:
            if entry.trouble:
                raise HomeportError(
                    "memory_path_invalid",
                    f"{address} holds {shown(entry.path.name)}, which has no address: {entry.trouble}",
                    "rename that file by hand first",
                    {"address": str(address)},
                )
            if not entry.path.is_symlink():
                self._noted(self._place(entry.address), caller)
        return listed

    def _place(self, address: Address) -> Place:
        folder = self._folders.get(address.mount)
        if folder is None:
            mounts = ", ".join(f"/{mount.path}" for mount in self.mounts)
            raise HomeportError(
                "document_not_found",
                f"there is no mount {shown('/' + address.mount)}",
                f"the mounts are {mounts}",
                {"address": str(address)},
            )
        return folder.locate(address)

    def _document(self, address: Address) -> Place:
        place = self._place(address)
        if place.kind == "nothing":
            raise disk.not_found(address)
        return place

    def _existing(self, address: Address, recursive: bool) -> Place:
        """The document, or the folder where `recursive` allows it, that is to be deleted or renamed."""
        place = self._document(address)
        if not address.segments:
            raise HomeportError(
                "memory_path_invalid", f"{address} is a mount; it stays", "name a document or folder in it"
            )
        if place.kind == "folder" and not recursive:
            raise HomeportError(
                "not_recursive",
                f"{address} is a folder",
                "set recursive to true to do it to every document in it",
                {"address": str(address)},
            )
        return place

    def _free(self, source: Address, to: Address) -> Place:
        """Where a rename leads. Raises HomeportError: document_exists, memory_path_invalid (into itself)."""
        target = self._place(to)
        if target.kind != "nothing":
            same = "it already has that name" if to == source else f"{to} is taken"
            raise HomeportError(
                "document_exists", same, "choose another new_path, or delete what is there", {"address": str(to)}
            )
        if to.mount == source.mount and to.segments[: len(source.segments)] == source.segments:
            raise HomeportError(
                "memory_path_invalid", f"{to} lies inside {source}", "choose a place outside", {"field": "new_path"}
            )
        return target

    def _check_access(self, address: Address, *, makes_or_takes: bool) -> None:
        """makes_or_takes: a document is made, removed or renamed, which an edit-only mount does not allow."""
        access = self._folders[address.mount].mount.access
        if access == "ro":
            raise HomeportError(
                "read_only_mount",
                f"/{address.mount} is read-only",
                "choose another mount",
                {"address": str(address)},
            )
        if access == "eo" and makes_or_takes:
            raise HomeportError(
                "edit_only_mount",
                f"/{address.mount} is edit-only: documents there can be changed, not made, deleted or renamed",
                "change a document that is there, or choose another mount",
                {"address": str(address)},
            )

    def _recover(self, caller: Caller) -> None:
        if not self._recovered:
            self._recovery.at_open(caller.deadline_s)
            self._recovered = True

    @contextlib.contextmanager
    def _exclusive(self, places: list[Place], caller: Caller) -> Iterator[None]:
        keys = [place.key for place in places]
        self._recover(caller)
        with self._locks.hold(keys, caller.deadline_s):
            self._recovery.before_change(keys, caller.deadline_s)
            yield

    @contextlib.contextmanager
    def _all_exclusive(self, caller: Caller) -> Iterator[None]:
        with self._locks.hold_all(caller.deadline_s):
            self._recovery.before_folder_change(caller.deadline_s)
            yield

    def _noted(self, place: Place, caller: Caller) -> Version | None:
        return self._versions.note(place.key, disk.data_of(place), caller.deadline_s)

    def _intend(
        self, action: Action, place: Place, caller: Caller, *, data: bytes | None = None, target: Place | None = None
    ) -> Intent:
        to = target.key if target else None
        return self._versions.intend(action, caller.actor, place.key, data, caller.deadline_s, to)

    def _carry_out(self, intent: Intent, act: Callable[[], None]) -> Version | None:
        """Do what was intended and make the version of it. None where that has to wait: the next call will."""
        try:
            act()
        except HomeportError:
            with contextlib.suppress(HomeportError):
                self._versions.drop(intent, time.monotonic() + _LANDING_S)
            raise
        try:
            return self._versions.land(intent, time.monotonic() + _LANDING_S)
        except HomeportError as error:
            # The change is made and its intent is on the disk: to say it failed would be the lie.
            self._say_once(error)
            return None

    def _relocate(self, place: Place, target: Place, caller: Caller) -> Version | None:
        intent = self._intend("renamed", place, caller, target=target)
        version = self._carry_out(intent, lambda: disk.rename(place, target))
        self._prune(place)
        return version

    def _unlink(self, place: Place, caller: Caller) -> Version | None:
        version = self._carry_out(self._intend("deleted", place, caller), lambda: disk.unlink(place))
        self._prune(place)
        return version

    def _prune(self, place: Place) -> None:
        """Remove the folders that lost their last document: a folder is there through its documents."""
        root = self._folders[place.address.mount].path
        for folder in place.path.parents:
            if folder == root or not folder.is_relative_to(root):
                return
            files.remove_folder_if_empty(folder)

    def _say_once(self, error: HomeportError) -> None:
        if error.code not in self._said:
            self._said.add(error.code)
            _log.error("%s. %s", error.message, error.hint)


def _check_no_version(address: Address, expected: int | None) -> None:
    if expected is not None:
        raise HomeportError(
            "bad_argument",
            f"expected_version: {address} is a folder, which has no version",
            "leave it out",
            {"field": "expected_version"},
        )


def _check_expected(address: Address, expected: int | None, before: Version | None) -> None:
    present = before.number if before and before.sha256 else 0
    if expected is None or expected == present:
        return
    if before is None or not present:
        message = f"{address} is not there, and version {expected} was expected"
    else:
        message = f"{address} is at version {present} (by {before.actor}, {before.stamp}), not {expected}"
    raise HomeportError(
        "version_conflict",
        message,
        "look at the present text, make the change on that, and give its version",
        {"address": str(address), "expected_version": expected, "version": present},
    )
