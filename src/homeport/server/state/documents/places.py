"""From an address to a place on the disk, and back: the only module of the state that turns names into paths."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from homeport.errors import HomeportError
from homeport.server.state.mounts import Mount
from homeport.server.state.paths import Address, folded, is_temporary, segment_trouble, shown
from homeport.server.state.scopes import scope_folder

Kind = Literal["document", "folder", "nothing", "other"]


class Key(NamedTuple):
    """What a document is known by, whatever mount it is reached through: its scope and its path below that."""

    scope: str
    path: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where an address leads. path: real, behind every link that stays inside. other: a device, a socket, a pipe."""

    address: Address
    key: Key
    path: Path
    kind: Kind


class Listed(NamedTuple):
    """A document found below a folder. trouble: why it cannot be opened, where that is known without reading it."""

    address: Address
    path: Path
    trouble: str | None


class MountFolder:
    """The folder of one mount's scope. A link in it that leads out is refused, whoever made it."""

    def __init__(self, memory: Path, mount: Mount) -> None:
        self.mount = mount
        self.path = Path(os.path.realpath(memory)) / scope_folder(mount.scope)

    def locate(self, address: Address) -> Place:
        """Find the place of `address`, which may hold nothing yet. Every folder on the way is looked into, because
        what the file system takes for the same name must be the same name.

        Raises HomeportError: memory_path_invalid (a link leads out; a document on the way), name_collision.
        """
        self.check_root()
        path = self.path
        remaining = list(address.segments)
        while remaining:
            name = _entry_name(path, remaining[0], address)
            if name is None:
                break
            path = self._inside(path / name, address)
            remaining.pop(0)
            if remaining and not path.is_dir():
                raise HomeportError(
                    "memory_path_invalid",
                    f"{address} lies below something that is not a folder",
                    "take another name, or rename the document that has the folder's name",
                    {"address": str(address)},
                )
        place = path.joinpath(*remaining)
        relative = place.relative_to(self.path).as_posix()
        key = Key(self.mount.scope, unicodedata.normalize("NFC", "" if relative == "." else relative))
        # Nothing is at a mount before its first document; it is a folder all the same.
        kind = "nothing" if remaining else _kind(place) if address.segments else "folder"
        return Place(address, key, place, kind)

    def documents(self, below: Place) -> Iterator[Listed]:
        """Every document in a folder and its folders, in no order, one at a time. No file is opened.

        Links are listed where they lead to a file inside; folders that are links are not gone into, because what
        is in them is listed where it lies.
        """
        waiting = [(below.path, below.address)]
        while waiting:
            folder, address = waiting.pop()
            names: set[str] = set()
            for entry in _entries(folder):
                name = unicodedata.normalize("NFC", entry.name)
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_temporary(name) or (is_folder and segment_trouble(name)) or self._leads_out(entry):
                    continue
                if is_folder:
                    waiting.append((Path(entry.path), address.below(name)))
                    continue
                trouble = segment_trouble(name)
                if trouble is None and folded(name) in names:
                    trouble = "another name differs from it only by case or by Unicode form"
                names.add(folded(name))
                yield Listed(address.below(name), Path(entry.path), trouble)

    def check_root(self) -> None:
        """Raises HomeportError: memory_path_invalid (a link leads out), name_collision (two scopes but for case)."""
        if os.path.realpath(self.path) != str(self.path):
            raise _leads_out(Address(self.mount.path))
        name = self.path.name
        for other in _names(self.path.parent):
            if other != name and folded(other) == folded(name):
                raise HomeportError(
                    "name_collision",
                    f"the home holds a scope whose name differs from {self.mount.scope} only by case",
                    "write the scope as it was first written",
                )

    def _inside(self, path: Path, address: Address) -> Path:
        real = Path(os.path.realpath(path))
        if real != path and not real.is_relative_to(self.path):
            raise _leads_out(address)
        return real

    def _leads_out(self, entry: os.DirEntry[str]) -> bool:
        """Whether a link leads out, to a folder or to nothing: none of them is a document of this mount."""
        if not entry.is_symlink():
            return False
        real = Path(os.path.realpath(entry.path))
        return not (real.is_relative_to(self.path) and real.is_file())


def _entry_name(folder: Path, segment: str, address: Address) -> str | None:
    """The name in `folder` that the segment means: itself, or on the disk in another Unicode form.

    Raises HomeportError: name_collision, where the one there differs by case.
    """
    names = _names(folder)
    if segment in names:
        return segment
    others = [name for name in names if folded(name) == folded(segment)]
    for name in others:
        if unicodedata.normalize("NFC", name) == segment:
            return name
    if others:
        raise HomeportError(
            "name_collision",
            f"{address} differs only by case from a name that is there: {shown(others[0])}",
            "use the name as it is there, or take a name of its own",
            {"address": str(address)},
        )
    return None


def _leads_out(address: Address) -> HomeportError:
    return HomeportError(
        "memory_path_invalid",
        f"{address} is, or lies behind, a link that leads out of the mount",
        "documents are plain files in the home; copy the text in",
        {"address": str(address)},
    )


def _kind(path: Path) -> Kind:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return "nothing"
    if stat.S_ISREG(mode):
        return "document"
    return "folder" if stat.S_ISDIR(mode) else "other"


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            # The plain spelling first: of two names that are one address it is the one that can be opened.
            yield from sorted(
                entries, key=lambda entry: (unicodedata.normalize("NFC", entry.name) != entry.name, entry.name)
            )
    except OSError:
        return
