"""The mounts of one server: where an address leads on them, and what each of them allows."""

from __future__ import annotations

from pathlib import Path

from homeport.errors import HomeportError
from homeport.server.state.documents import disk
from homeport.server.state.documents.places import Key, MountFolder, Place
from homeport.server.state.mounts import Mount
from homeport.server.state.paths import Address, shown


class Mounted:
    """Every method may raise HomeportError: memory_path_invalid, name_collision, document_not_found (also for a mount
    that is not there)."""

    def __init__(self, memory: Path, mounts: tuple[Mount, ...]) -> None:
        self.mounts = mounts
        self._folders = {mount.path: MountFolder(memory, mount) for mount in mounts}

    def folder(self, address: Address) -> MountFolder:
        folder = self._folders.get(address.mount)
        if folder is None:
            raise HomeportError(
                "document_not_found",
                f"there is no mount {shown('/' + address.mount)}",
                f"the mounts are {', '.join(f'/{path}' for path in self._folders)}",
                {"address": str(address)},
            )
        return folder

    def folders(self) -> list[MountFolder]:
        return list(self._folders.values())

    def place(self, address: Address) -> Place:
        """Where the address leads, which may be to nothing."""
        return self.folder(address).locate(address)

    def document(self, address: Address) -> Place:
        """Where the address leads; something is there."""
        place = self.place(address)
        if place.kind == "nothing":
            raise disk.not_found(address)
        return place

    def existing(self, address: Address, recursive: bool) -> Place:
        """The document, or the folder where `recursive` allows it, that is to be deleted or renamed.

        Raises also not_recursive.
        """
        place = self.document(address)
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

    def free(self, source: Address, to: Address) -> Place:
        """Where a rename leads. Raises also document_exists, memory_path_invalid (into itself)."""
        target = self.place(to)
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

    def check_access(self, address: Address, *, makes_or_takes: bool) -> None:
        """makes_or_takes: a document is made, removed or renamed, which an edit-only mount does not allow.

        Raises also read_only_mount, edit_only_mount.
        """
        access = self.folder(address).mount.access
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

    def address_of(self, key: Key) -> Address | None:
        """The first address a document is reached by here, None where no mount leads to it."""
        for path, folder in self._folders.items():
            if folder.mount.scope == key.scope:
                return Address(path, tuple(key.path.split("/")))
        return None
