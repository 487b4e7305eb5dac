"""Look at the disk: what a file holds and what is where. Nothing here writes."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path, PurePath
from typing import Final

from homeport.errors import HomeportError

LARGEST_BYTES: Final = 256 * 1024 * 1024


class Disk:
    """The reader that plans are made with: looks, never writes. Paths are of the machine's own flavour."""

    def read(self, path: PurePath) -> bytes | None:
        """A file's bytes, or None where nothing is (a dangling link counts as nothing).

        Raises HomeportError: unreadable_file (a folder, a device, no permission), file_too_large.
        """
        return read_bytes(Path(path))

    def is_file(self, path: PurePath) -> bool:
        return os.path.isfile(path)

    def is_folder(self, path: PurePath) -> bool:
        return os.path.isdir(path)

    def names(self, path: PurePath) -> tuple[str, ...]:
        """The names in a folder, sorted; none where it cannot be listed."""
        try:
            return tuple(sorted(os.listdir(path)))
        except OSError:
            return ()

    def real(self, path: PurePath) -> PurePath:
        """The path behind all links, whether or not something is there. A loop of links gives the path itself."""
        return Path(os.path.realpath(path))

    def runnable(self, path: PurePath) -> bool:
        return os.path.isfile(path) and os.access(path, os.X_OK)

    def modified(self, path: PurePath) -> float:
        """When the file was last changed, in seconds since 1970; 0.0 where nothing is."""
        try:
            return os.stat(path).st_mtime
        except OSError:
            return 0.0

    def tracked(self, path: PurePath) -> bool:
        """Whether git tracks the file. False where git is missing or says nothing."""
        import subprocess

        line = ["git", "-C", str(path.parent), "ls-files", "--error-unmatch", "--", path.name]
        try:
            return subprocess.run(line, capture_output=True, stdin=subprocess.DEVNULL, timeout=5).returncode == 0
        except (OSError, subprocess.TimeoutExpired):
            return False


def read_bytes(path: Path) -> bytes | None:
    """See Disk.read. A file under 256 MB is read whole."""
    try:
        # Not blocking on a FIFO that somebody put in a config's place.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise unreadable(path, error) from error
    try:
        _refuse_others_than_files(path, os.fstat(descriptor))
        with open(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def _refuse_others_than_files(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
        raise HomeportError("unreadable_file", f"{path} is {kind}", details={"file": str(path)})
    if status.st_size > LARGEST_BYTES:
        raise HomeportError(
            "file_too_large",
            f"{path} holds {status.st_size} bytes; Homeport edits files up to {LARGEST_BYTES}",
            details={"file": str(path), "size_bytes": status.st_size},
        )


def unreadable(path: Path, error: OSError) -> HomeportError:
    if error.errno == errno.EISDIR:
        return HomeportError("unreadable_file", f"{path} is a folder", details={"file": str(path)})
    return HomeportError(
        "unreadable_file",
        f"{path} cannot be read: {error.strerror}",
        "look at its owner and mode",
        {"file": str(path)},
    )
