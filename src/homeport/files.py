"""Replace, create and remove: the only module that changes a file by its name."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from pathlib import Path
from typing import NamedTuple, NewType

from homeport.disk import Disk as Disk  # who writes looks too: one name for both halves
from homeport.disk import read_bytes as read_bytes
from homeport.disk import unreadable
from homeport.errors import HomeportError

RealPath = NewType("RealPath", Path)
"""A path behind every link: where bytes really lie."""


class Stamp(NamedTuple):
    """What tells one state of a file from another without reading it: a new file, size or write time."""

    inode: int
    size_bytes: int
    modified_ns: int


def stamp(path: Path) -> Stamp | None:
    """The stamp of the file at `path` (links followed), None where nothing is."""
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return Stamp(status.st_ino, status.st_size, status.st_mtime_ns)


class FileChanged(Exception):
    """The file was no longer what the caller had read; nothing was changed, or what was there is back."""


def temporary_path(target: RealPath) -> Path:
    """A name beside `target`, so that the rename stays on one file system."""
    return target.parent / f".{target.name[:80]}.{os.urandom(6).hex()}.homeport"


def write_temporary(temporary: Path, target: RealPath, data: bytes, *, new_mode: int) -> None:
    """Write `data` to `temporary` and sync it; mode, owner, group and attributes as `target` has them.

    new_mode: for a target that does not exist yet, whose owner is then the folder's (that matters under sudo).

    Raises HomeportError: ownership_lost, disk_full, read_only, write_failed. Nothing is left behind then.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        # 0600 until the bytes are in and the owner is set: a wide mode would show a secret for a moment.
        descriptor = os.open(temporary, flags, 0o600)
    except OSError as error:
        raise write_error(target, error) from error
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            _take_over(descriptor, target, new_mode)
            os.fsync(descriptor)
    except BaseException as error:
        remove_quietly(temporary)
        if isinstance(error, OSError):
            raise write_error(target, error) from error
        raise


def _take_over(descriptor: int, target: RealPath, new_mode: int) -> None:
    if not hasattr(os, "fchown"):
        return
    try:
        status = os.stat(target)
        mode = stat.S_IMODE(status.st_mode)
    except FileNotFoundError:
        status = os.stat(target.parent)
        mode = new_mode
    mine = os.fstat(descriptor)
    if (status.st_uid, status.st_gid) != (mine.st_uid, mine.st_gid):
        _give(descriptor, target, status.st_uid, status.st_gid, existing=os.path.lexists(target))
    os.fchmod(descriptor, mode)
    _copy_attributes(target, descriptor)


def _give(descriptor: int, target: RealPath, uid: int, gid: int, *, existing: bool) -> None:
    try:
        os.fchown(descriptor, uid, gid)
    except PermissionError as error:
        if existing:
            raise HomeportError(
                "ownership_lost",
                f"{target} belongs to user {uid}, group {gid}, and a new file could not be given to them",
                "run it as the file's owner",
                {"file": str(target)},
            ) from error
        # A new file in a shared folder: the writer owns it, as with any program.


def _copy_attributes(target: RealPath, descriptor: int) -> None:
    """Extended attributes, access lists among them. The kernel's own (security.*) are set by the kernel again."""
    if sys.platform != "linux" or not os.path.exists(target):
        return
    for name in os.listxattr(target):
        if name.startswith("security."):
            continue
        try:
            os.setxattr(descriptor, name, os.getxattr(target, name))
        except OSError as error:
            raise HomeportError(
                "ownership_lost",
                f"{target} has the attribute {name}, which the system did not let us keep",
                "edit it by hand; the fragment is what to paste",
                {"file": str(target), "attribute": name},
            ) from error


def create_exclusively(temporary: Path, target: RealPath) -> None:
    """Make `target` from `temporary` where nothing was. Raises FileChanged where something is there by now."""
    try:
        os.link(temporary, target)
    except FileExistsError as error:
        raise FileChanged from error
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EOPNOTSUPP):
            raise write_error(target, error) from error
        # No hard links on this file system (FAT, some network ones): look, then rename.
        if os.path.lexists(target):
            raise FileChanged from error
        os.replace(temporary, target)
        return
    remove_quietly(temporary)


def swap_in(temporary: Path, target: RealPath, expected: Stamp) -> None:
    """Put `temporary` in the place of `target`, which must still be `expected`.

    Where the kernel can exchange two names (Linux), what another program renamed into place between our last look
    and the exchange is noticed and put back: FileChanged. Elsewhere the window is that of one system call.

    Raises FileChanged, HomeportError (file_in_use, write_failed, read_only).
    """
    if stamp(target) != expected:
        raise FileChanged
    try:
        exchanged = _exchange(temporary, target)
    except OSError as error:
        raise write_error(target, error) from error
    if not exchanged:
        _replace_patiently(temporary, target)
        return
    if stamp(temporary) == expected:
        remove_quietly(temporary)
        return
    _put_back(temporary, target)
    raise FileChanged


def take_away(target: RealPath, temporary: Path, expected: Stamp) -> None:
    """Remove `target`, which must still be `expected`; what another program saved in between is put back.

    Raises FileChanged, HomeportError.
    """
    if stamp(target) != expected:
        raise FileChanged
    try:
        os.rename(target, temporary)
    except OSError as error:
        raise write_error(target, error) from error
    if stamp(temporary) != expected:
        with contextlib.suppress(FileChanged):
            create_exclusively(temporary, target)
        remove_quietly(temporary)
        raise FileChanged
    remove_quietly(temporary)


def _put_back(theirs: Path, target: RealPath) -> None:
    """`theirs` holds a file that came in between: give it its name again, unless a still newer one has it by now."""
    ours = stamp(target)
    _exchange(theirs, target)
    while stamp(theirs) != ours:
        # A third write landed on top of ours: it is the newest, so it goes back on top.
        ours = stamp(target)
        _exchange(theirs, target)
    remove_quietly(theirs)


def restore_swapped(temporary: Path, target: RealPath) -> None:
    """For recovery after a kill: `temporary` holds a foreign write that a swap displaced. It gets its name back."""
    _put_back(temporary, target)


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two names in one step; False where the system or file system cannot."""
    if sys.platform != "linux":
        return False
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    try:
        rename = library.renameat2
    except AttributeError:  # glibc before 2.28, musl before 1.2.4
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE of linux/fs.h
    if rename(here, os.fsencode(first), here, os.fsencode(second), exchange) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP):
        return False
    raise OSError(number, os.strerror(number))


def _replace_patiently(temporary: Path, target: RealPath, patience_s: float = 10.0) -> None:
    """Rename over. On Windows a target that another program holds open is tried again for `patience_s`."""
    import time

    deadline = time.monotonic() + patience_s
    while True:
        try:
            os.replace(temporary, target)
            return
        except PermissionError as error:
            if time.monotonic() > deadline or not _held_open(error):
                raise _in_use(target, error) from error
            time.sleep(0.05)
        except OSError as error:
            raise write_error(target, error) from error


def _held_open(error: OSError) -> bool:
    return getattr(error, "winerror", None) in (5, 32, 33)  # access denied, sharing violation, lock violation


def _in_use(target: RealPath, error: OSError) -> HomeportError:
    if not _held_open(error):
        return write_error(target, error)
    return HomeportError(
        "file_in_use",
        f"{target} is in use: another program holds it open and it cannot be replaced",
        "close the program that has it open and run it again",
        {"file": str(target)},
    )


def replace(target: Path, data: bytes, *, new_mode: int = 0o600) -> None:
    """Write a file of our own whole: old or new after a kill, its folder synced. Links are followed."""
    real = RealPath(Path(os.path.realpath(target)))
    temporary = temporary_path(real)
    write_temporary(temporary, real, data, new_mode=new_mode)
    try:
        _replace_patiently(temporary, real)
    except BaseException:
        remove_quietly(temporary)
        raise
    sync_folder(real.parent)


def rename(path: Path, target: Path) -> None:
    """Give a file or folder another name, which the caller knows to be free; both folders are synced.

    Raises HomeportError: read_only, disk_full, write_failed (details `errno`).
    """
    try:
        os.rename(path, target)
    except OSError as error:
        raise write_error(target, error) from error
    for folder in (target.parent, path.parent):
        sync_folder(folder)


def make_folder(path: Path, *, mode: int = 0o700) -> tuple[Path, ...]:
    """Make a folder and its missing parents; give those made, outermost first. They belong to who owns the parent.

    Raises HomeportError: read_only, disk_full, write_failed.
    """
    missing: list[Path] = []
    folder = path
    while not os.path.lexists(folder):
        missing.append(folder)
        folder = folder.parent
    made: list[Path] = []
    try:
        for new in reversed(missing):
            with contextlib.suppress(FileExistsError):
                os.mkdir(new, mode)
                made.append(new)
                own_like_parent(new)
    except OSError as error:
        raise write_error(path, error) from error
    return tuple(made)


def own_like_parent(path: Path) -> None:
    """Under sudo, what we or a library of ours made belongs to its folder's owner."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        parent = os.stat(path.parent)
        os.chown(path, parent.st_uid, parent.st_gid)


def remove_quietly(path: Path) -> None:
    """Remove a file of our own; that it is gone already is no error."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def remove_folder_if_empty(path: Path) -> None:
    with contextlib.suppress(OSError):
        os.rmdir(path)


def sync_folder(path: Path) -> None:
    """Make a rename in `path` survive a power loss. Folders cannot be synced on Windows, nor on some file systems."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def check_writable(target: RealPath) -> None:
    """Refuse early what a rename would change against somebody's will.

    Raises HomeportError: read_only (the file has no write bit, as in a Nix or home-manager store; its folder cannot
    be written), unreadable_file (not a regular file), ownership_lost (a second hard link would keep the old bytes).
    """
    try:
        status = os.stat(target)
    except FileNotFoundError:
        folder = target.parent
        while not folder.exists():
            folder = folder.parent
        _check_folder(target, folder)
        return
    except OSError as error:
        raise unreadable(target, error) from error
    if not stat.S_ISREG(status.st_mode):
        raise HomeportError("unreadable_file", f"{target} is not a regular file", details={"file": str(target)})
    # The mode is asked as well as the system: root may write anything, and a file without a write bit is meant so.
    if not status.st_mode & 0o222 or not os.access(target, os.W_OK):
        raise read_only(target, f"{target} is read-only")
    if status.st_nlink > 1:
        raise HomeportError(
            "ownership_lost",
            f"{target} has {status.st_nlink} hard links, and replacing it would leave the others with the old bytes",
            "make it a symbolic link, or edit it by hand",
            {"file": str(target)},
        )
    _check_folder(target, target.parent)


def _check_folder(target: RealPath, folder: Path) -> None:
    status = os.stat(folder)
    if not stat.S_ISDIR(status.st_mode):
        raise HomeportError("unreadable_file", f"{folder} is not a folder", details={"file": str(target)})
    if (os.name != "nt" and not status.st_mode & 0o222) or not os.access(folder, os.W_OK | os.X_OK):
        raise read_only(target, f"{target} cannot be replaced: the folder {folder} is read-only")


def read_only(target: Path, message: str) -> HomeportError:
    return HomeportError(
        "read_only",
        message,
        "if a configuration system writes this file, add the fragment there; else give yourself write permission",
        {"file": str(target)},
    )


def write_error(target: Path, error: OSError) -> HomeportError:
    """An OSError of a write, said with a code a script can act on."""
    details = {"file": str(target), "errno": error.errno}
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return HomeportError("disk_full", f"{target}: no room left for the new file", "free some space", details)
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return read_only(target, f"{target} cannot be written: {error.strerror} (a read-only place?)")
    if error.errno == errno.EBUSY:
        return HomeportError(
            "write_failed",
            f"{target} cannot be replaced: it is mounted by itself, as a container does with a single file",
            "edit it where it is mounted from",
            details,
        )
    return HomeportError("write_failed", f"{target} cannot be written: {error.strerror}", None, details)
