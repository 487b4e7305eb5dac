"""Documents on mounts: plain files that any number of processes, and people with editors, change at the same time."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from homeport import files
from homeport.errors import CODES, HomeportError
from homeport.server.state.documents import disk
from homeport.server.state.documents.catalogue import Catalogue
from homeport.server.state.documents.changing import Caller as Caller
from homeport.server.state.documents.changing import Changing
from homeport.server.state.documents.folder_scan import NO_ADDRESS
from homeport.server.state.documents.index import MountIndex, index_of
from homeport.server.state.documents.merge_marks import merge_conflict_line
from homeport.server.state.documents.mounted import Mounted
from homeport.server.state.documents.past import Past
from homeport.server.state.documents.places import Listed, MountFolder
from homeport.server.state.documents.said import Said
from homeport.server.state.documents.texts import digest
from homeport.server.state.documents.versions import Action, Version
from homeport.server.state.home import Home
from homeport.server.state.mounts import Mount
from homeport.server.state.paths import Address, shown
from homeport.server.state.surroundings import remarks_on

_STORE_CODES: Final = ("home_busy", "store_damaged", "store_failed")


@dataclass(frozen=True, slots=True)
class Document:
    """What a document holds. version: None where versions.db cannot say. remarks: what a person should look at."""

    address: Address
    text: str
    version: Version | None
    remarks: tuple[str, ...] = ()


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

    def __init__(self, home: Home, mounts: tuple[Mount, ...], said: Said | None = None) -> None:
        """said: to whom damage is told beside the answers; stderr by default."""
        self.mounts = mounts
        self._home = home
        self._said = said or Said()
        self._mounted = Mounted(home.memory, mounts)
        self._changing = Changing(home, self._said)
        self._catalogue = Catalogue(home.catalogue)
        self.past = Past(self._mounted, self._changing)

    def close(self) -> None:
        self._changing.versions.close()
        self._catalogue.close()

    def read(self, address: Address, caller: Caller) -> Document:
        """Raises also document_unreadable (not UTF-8, or not a file), document_too_large."""
        place = self._mounted.document(address)
        data = disk.data_of(place)
        try:
            self._changing.recover(caller)
            version = self._changing.versions.latest(place.key, caller.deadline_s)
            if version is None or version.sha256 != digest(data):
                # Edited by hand, or just being changed by another process: look again when nobody is.
                with self._changing.exclusive([place], caller):
                    data = disk.data_of(self._mounted.document(address))
                    version = self._changing.versions.note(place.key, data, caller.deadline_s)
        except HomeportError as error:
            if error.code not in _STORE_CODES:
                raise
            # What the document holds can be said without its version; a damaged database must not hide it.
            self._said.say_error(error)
            version = None
        try:
            text = disk.text_of(address, data)
        except HomeportError as error:
            self._said.remark(f"{address}: {CODES[error.code][1]}")
            raise
        remark = self._remark(address, text)
        return Document(address, text, version, (remark,) if remark else ())

    def index(self) -> list[MountIndex]:
        """What is on each mount, as far as names tell. No document is opened, and no folder that did not change."""
        for remark in self.home_remarks:
            self._said.remark(remark)
        return [self._index(folder) for folder in self._mounted.folders()]

    def is_folder(self, address: Address) -> bool:
        return self._mounted.place(address).kind == "folder"

    def listing(self, address: Address) -> list[Listed]:
        """The documents below a mount or folder, sorted by address. Raises also document_not_found (no folder)."""
        place = self._mounted.place(address)
        if place.kind != "folder":
            raise disk.not_found(address)
        return sorted(self._mounted.folder(address).documents(place), key=lambda listed: listed.address.segments)

    def look(self, listed: Listed) -> tuple[str | None, str | None]:
        """Why a listed document cannot be viewed, or what should be looked at in it; its file is read for that."""
        if listed.trouble:
            return listed.trouble, None
        try:
            return None, self._remark(listed.address, self.text_of(listed))
        except HomeportError as error:
            trouble = CODES[error.code][1]
            self._said.remark(f"{listed.address}: {trouble}")
            return trouble, None

    def remarks(self, below: Address) -> list[tuple[str, str]]:
        """What names below a folder make a person look at: the name as an address, and a sentence. Names that cannot
        be addresses are not among them: a listing has those."""
        index = self._index(self._mounted.folder(below))
        start = str(below)
        return [one for one in index.remarks if one[0].startswith(f"{start}/") and not one[1].startswith(NO_ADDRESS)]

    @functools.cached_property
    def home_remarks(self) -> tuple[str, ...]:
        """What a person should know about the place of the home."""
        return remarks_on(self._home.path)

    def one(self, address: Address) -> Listed:
        """A document as a listing would have it."""
        return Listed(address, self._mounted.document(address).path, None)

    def text_of(self, listed: Listed) -> str:
        """What a listed document holds, without a look at its versions.

        Raises HomeportError: document_unreadable, document_too_large, document_not_found.
        """
        with contextlib.suppress(OSError):
            size_bytes = listed.path.stat().st_size
            if size_bytes > disk.LARGEST_BYTES:
                raise disk.too_large(listed.address, size_bytes)
        return disk.text_of(listed.address, disk.bytes_of(listed.address, listed.path))

    def write(
        self, address: Address, edit: Callable[[str | None], str], expected: int | None, caller: Caller
    ) -> Change:
        """Give the document the text that `edit` makes of its present one (None: there is none).

        expected: the version it must be at, 0 for none. Where `edit` changes nothing no version is made.
        Raises also what `edit` raises, version_conflict, document_unreadable, document_too_large.
        """
        first = self._mounted.place(address)
        self._mounted.check_access(address, makes_or_takes=first.kind == "nothing")
        with self._changing.exclusive([first], caller):
            place = self._mounted.place(address)
            data = None if place.kind == "nothing" else disk.data_of(place)
            self._mounted.check_access(address, makes_or_takes=data is None)
            before = self._changing.versions.note(place.key, data, caller.deadline_s)
            _check_expected(address, expected, before)
            new = edit(None if data is None else disk.text_of(address, data)).encode()
            if len(new) > disk.LARGEST_BYTES:
                raise disk.too_large(address, len(new))
            existing = None if data is None else before
            if new == data:
                return Change(address, existing, existing, changed=False)
            action: Action = "created" if data is None else "changed"
            return Change(address, existing, self._changing.put(place, new, action, caller))

    def revert(self, address: Address, number: int, expected: int | None, caller: Caller) -> Change:
        """Give the document the text of one of its versions, as a new version; also a document that was deleted.

        Raises also version_not_found, text_not_kept, version_conflict, document_unreadable (that text is no UTF-8).
        """
        _, data = self.past.text(address, number, caller)
        text = disk.text_of(address, data)
        return self.write(address, lambda present: text, expected, caller)

    def remove(self, address: Address, expected: int | None, recursive: bool, caller: Caller) -> Change:
        """Delete a document, or with `recursive` a folder and every document in it.

        Raises also version_conflict, not_recursive, document_unreadable, bad_argument (a folder's version).
        """
        place = self._mounted.existing(address, recursive)
        self._mounted.check_access(address, makes_or_takes=True)
        if place.kind == "folder":
            _check_no_version(address, expected)
            return self._remove_folder(address, caller)
        with self._changing.exclusive([place], caller):
            place = self._mounted.document(address)
            before = self._changing.note(place, caller)
            _check_expected(address, expected, before)
            return Change(address, before, self._changing.unlink(place, caller))

    def move(self, source: Address, to: Address, expected: int | None, recursive: bool, caller: Caller) -> Change:
        """Rename a document, or with `recursive` a folder, also to another mount. Its versions go with it.

        It is one rename of the file system: after a kill it is done or it is not. Raises also document_exists,
        version_conflict, not_recursive, bad_argument (a folder's version).
        """
        place = self._mounted.existing(source, recursive)
        target = self._mounted.free(source, to)
        self._mounted.check_access(source, makes_or_takes=True)
        self._mounted.check_access(to, makes_or_takes=True)
        if place.kind == "folder":
            _check_no_version(source, expected)
            return self._move_folder(source, to, caller)
        with self._changing.exclusive([place, target], caller):
            place, target = self._mounted.document(source), self._mounted.free(source, to)
            before = self._changing.note(place, caller)
            _check_expected(source, expected, before)
            return Change(to, before, self._changing.rename(place, target, caller))

    def _index(self, folder: MountFolder) -> MountIndex:
        index = index_of(folder.mount, self._catalogue.summary(folder))
        for path, sentence in index.remarks:
            self._said.remark(f"{path}: {sentence}")
        if index.remarked > len(index.remarks):
            self._said.remark(f"/{folder.mount.path}: {index.remarked - len(index.remarks)} more are like these")
        return index

    def _remark(self, address: Address, text: str) -> str | None:
        line = merge_conflict_line(text)
        if line is None:
            return None
        remark = f"it holds an unresolved merge conflict from line {line} on"
        self._said.remark(f"{address}: {remark}")
        return remark

    def _move_folder(self, source: Address, to: Address, caller: Caller) -> Change:
        with self._changing.all_exclusive(caller):
            place, target = self._mounted.document(source), self._mounted.free(source, to)
            listed = self._note_folder(source, caller)
            self._changing.rename(place, target, caller)
            return Change(to, None, None, documents=len(listed))

    def _remove_folder(self, address: Address, caller: Caller) -> Change:
        with self._changing.all_exclusive(caller):
            listed = self._note_folder(address, caller)
            for entry in listed:
                if entry.path.is_symlink():
                    files.remove_quietly(entry.path)
                else:
                    self._changing.unlink(self._mounted.place(entry.address), caller)
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
                self._changing.note(self._mounted.place(entry.address), caller)
        return listed


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
