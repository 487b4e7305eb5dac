"""Where a home lies: in a folder that a program synchronises, or on a file system that other machines reach."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path, PurePath, PureWindowsPath
from typing import Final

from homeport.server.state.conflict_copies import Copy, conflict_copies

# The names these programs give their folder, as a part of a path.
_SYNCED: Final = (
    ("OneDrive", re.compile(r"onedrive( - .+|-.+)?", re.IGNORECASE)),
    ("Dropbox", re.compile(r"dropbox( \(.+\)|-.+)?", re.IGNORECASE)),
    ("iCloud Drive", re.compile(r"mobile documents|com~apple~clouddocs|icloud ?drive", re.IGNORECASE)),
    ("Google Drive", re.compile(r"google ?drive(-.+)?|my drive", re.IGNORECASE)),
    ("Nextcloud", re.compile(r"nextcloud|owncloud", re.IGNORECASE)),
)
# What they leave in the folder they watch.
_MARKS: Final = (
    ("Syncthing", ".stfolder"),
    ("Dropbox", ".dropbox"),
    ("Dropbox", ".dropbox.cache"),
    ("Nextcloud", ".nextcloudsync.log"),
)
# Types in /proc/self/mounts of file systems that more than one machine can change.
_NETWORK_TYPES: Final = frozenset({
    "9p", "afs", "beegfs", "ceph", "cifs", "davfs", "fuse.ceph", "fuse.gcsfuse", "fuse.glusterfs", "fuse.rclone",
    "fuse.s3fs", "fuse.sshfs", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "prl_fs", "smb3",
    "smbfs", "vboxsf", "virtiofs",
})  # fmt: skip
_MOUNTS: Final = Path("/proc/self/mounts")


def remarks_on(home: Path) -> tuple[str, ...]:
    """What a person should know about the place of their home; a sentence each, without a path."""
    remarks = []
    synced = synchronised_by(home)
    if synced:
        remarks.append(
            f"the home lies in a folder that {synced} synchronises, which may undo or double what is written; "
            "HOMEPORT_HOME or --root names another place"
        )
    kind = network_type(home)
    if kind:
        remarks.append(
            f"the home lies on a network file system ({kind}); use it from one machine at a time, "
            "or name a local place by HOMEPORT_HOME or --root"
        )
    remarks += [f"beside {copy.main} in the home lies {name}, a copy as {copy.by} makes it; it is not used"
                for name, copy in sorted(_copies(home).items())]  # fmt: skip
    return tuple(remarks)


def synchronised_by(home: PurePath) -> str | None:
    """The program that synchronises the folder, by its name or by what lies in one of the folders above."""
    for part in home.parts:
        for program, pattern in _SYNCED:
            if pattern.fullmatch(part):
                return program
    for folder in (home, *home.parents):
        for program, mark in _MARKS:
            if os.path.exists(folder / mark) and folder != folder.parent:
                return program
    return None


def network_type(home: PurePath, mounts: Path = _MOUNTS) -> str | None:
    """The type of the network file system the home lies on, None for a local one and where that cannot be told.

    mounts: a table in the form of /proc/self/mounts; there is none on macOS.
    """
    if isinstance(home, PureWindowsPath):
        return "a share" if home.drive.startswith("\\\\") else None
    best, kind = -1, ""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        for line in mounts.read_text(encoding="utf-8").splitlines():
            _, point, mounted, *_ = line.split(" ")
            # Octal escapes: \040 is a space (proc_pid_mountinfo(5)).
            folder = PurePath(re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), point))
            # The last of those mounted at one place is the one that is seen.
            if home.is_relative_to(folder) and len(folder.parts) >= best:
                best, kind = len(folder.parts), mounted
    return kind if kind in _NETWORK_TYPES else None


def _copies(home: Path) -> dict[str, Copy]:
    try:
        names = os.listdir(home)
    except OSError:
        return {}
    return {name: copy for name, copy in conflict_copies(names).items() if ".db" in name}
