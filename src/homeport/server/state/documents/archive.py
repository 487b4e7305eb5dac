"""Documents outside the home: a folder of files, or a tar archive of one, written and read.

What is read comes from anywhere: a name that leads elsewhere, a link or a device is handed over as trouble, never
followed, and nothing is unpacked to the disk.
"""

from __future__ import annotations

import contextlib
import io
import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Final, NamedTuple

from homeport import files
from homeport.errors import HomeportError
from homeport.server.state.documents.texts import LARGEST_BYTES
from homeport.server.state.paths import shown

VERSIONS: Final = "versions.jsonl"
"""The file beside the mounts that holds the versions, a line for each."""

LARGEST_VERSIONS_BYTES: Final = 256 * 1024 * 1024
_TAR_ENDS: Final = (".tar", ".tar.gz", ".tgz")
Add = Callable[[str, bytes], None]


class Item(NamedTuple):
    """name: with slashes, from the top. data: None where `trouble` says why it is not to be read; a code and a
    sentence."""

    name: str
    data: bytes | None
    trouble: tuple[str, str] | None = None


def is_archive(path: Path) -> bool:
    return path.name.endswith(_TAR_ENDS)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Add]:
    """Give a function that adds a file. A tar archive comes to be whole, at the end; a folder's files one by one.

    Raises HomeportError: usage_error (something is there already), read_only, disk_full, write_failed.
    """
    if is_archive(path):
        with _writing_tar(path) as add_member:
            yield add_member
        return
    if os.path.lexists(path) and not (path.is_dir() and not os.listdir(path)):
        raise _taken(path)
    files.make_folder(path)

    def add(name: str, data: bytes) -> None:
        target = path.joinpath(*PurePosixPath(name).parts)
        files.make_folder(target.parent)
        files.replace(target, data)

    yield add


@contextlib.contextmanager
def _writing_tar(path: Path) -> Iterator[Add]:
    if os.path.lexists(path):
        raise _taken(path)
    target = files.RealPath(Path(os.path.realpath(path)))
    temporary = files.temporary_path(target)
    # Made empty by the one who may make files, with the mode that a private text asks for; then filled.
    files.write_temporary(temporary, target, b"", new_mode=0o600)
    try:
        with tarfile.open(temporary, "w" if path.name.endswith(".tar") else "w:gz") as tar:

            def add(name: str, data: bytes) -> None:
                member = tarfile.TarInfo(name)
                member.size, member.mode = len(data), 0o600
                tar.addfile(member, io.BytesIO(data))

            yield add
        try:
            files.create_exclusively(temporary, target)
        except files.FileChanged:
            raise _taken(path) from None
    except OSError as error:
        raise files.write_error(path, error) from error
    finally:
        files.remove_quietly(temporary)


def _taken(path: Path) -> HomeportError:
    return HomeportError(
        "usage_error", f"{path} is there already", "name a new file ending in .tar or .tar.gz, or a new folder"
    )


def read_items(path: Path) -> Iterator[Item]:
    """Every file of a folder or an archive, the versions first where a folder has them; folders are no items.

    Raises HomeportError: unreadable_file (nothing there, or not an archive at all).
    """
    if path.is_dir():
        return _folder_items(path)
    return _tar_items(path)


def _folder_items(root: Path) -> Iterator[Item]:
    for folder, folders, names in os.walk(root):
        below = Path(folder).relative_to(root)
        # Walked in order, and never through a link: it could lead anywhere.
        linked = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        folders[:] = sorted(set(folders) - set(linked))
        for name in sorted([*names, *linked], key=lambda name: (name != VERSIONS, name)):
            yield _file_item((below / name).as_posix(), Path(folder) / name)


def _file_item(name: str, path: Path) -> Item:
    if path.is_symlink():
        return Item(name, None, ("memory_path_invalid", "it is a link"))
    if not path.is_file():
        return Item(name, None, ("memory_path_invalid", "it is not a regular file"))
    try:
        trouble = _too_large(name, path.stat().st_size)
        if trouble is not None:
            return trouble
        return Item(name, files.read_bytes(path) or b"")
    except (OSError, HomeportError):
        return Item(name, None, ("document_unreadable", "it cannot be read"))


def _tar_items(path: Path) -> Iterator[Item]:
    try:
        tar = tarfile.open(path)
    except (OSError, tarfile.TarError, EOFError) as error:
        raise HomeportError(
            "unreadable_file", f"{path} is no folder and no tar archive that can be read", details={"file": str(path)}
        ) from error
    last = "its beginning"
    with tar:
        try:
            for member in tar:
                if not member.isdir():
                    yield _member_item(tar, member)
                last = shown(member.name)
        except (tarfile.TarError, OSError, EOFError, ValueError):
            yield Item(path.name, None, ("unreadable_file", f"the archive is damaged behind {last}"))


def _member_item(tar: tarfile.TarFile, member: tarfile.TarInfo) -> Item:
    name = member.name.removeprefix("./")
    if not member.isreg():
        what = "a link" if member.issym() or member.islnk() else "not a regular file"
        return Item(name, None, ("memory_path_invalid", f"it is {what}"))
    trouble = _too_large(name, member.size)
    if trouble is not None:
        return trouble
    file: IO[bytes] | None = tar.extractfile(member)
    data = file.read() if file else b""
    if len(data) != member.size:
        raise tarfile.ReadError("cut off")
    return Item(name, data)


def _too_large(name: str, size_bytes: int) -> Item | None:
    limit = LARGEST_VERSIONS_BYTES if name == VERSIONS else LARGEST_BYTES
    return Item(name, None, ("document_too_large", f"it is larger than {limit} bytes")) if size_bytes > limit else None
