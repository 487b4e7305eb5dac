"""One folder's names, looked at once: its files with their times, its folders, and what a person should know of."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from homeport.server.state.conflict_copies import conflict_copies
from homeport.server.state.paths import segment_trouble

NO_ADDRESS: Final = "it has no address: "
"""How a remark on such a name begins."""

# File systems tell times this coarsely at worst (FAT): a folder that changed just now may change again unseen.
_SETTLED_NS: Final = 2_000_000_000
_TEXT_ENDINGS: Final = (".md", ".markdown", ".txt", ".rst", ".org", ".json", ".yaml", ".yml", ".toml", ".csv")


class Scan(NamedTuple):
    """modified_ns: the folder's time, 0 where it is too young to be trusted. files: name -> time.
    remarks: names, each with a sentence."""

    modified_ns: int
    files: Mapping[str, int]
    folders: tuple[str, ...]
    remarks: tuple[tuple[str, str], ...]


def modified_ns(path: str) -> int:
    """0 where nothing is."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def scan_folder(path: str, root: Path, before: Scan | None) -> Scan | None:
    """Look at a folder; None where it cannot be listed. No file is opened.

    root: the mount's folder, out of which no link may lead. before: an earlier look. Every file is asked for its time:
    its inode would not tell a new one, for the system gives the number of a file that is gone to the next one.
    """
    changed_ns = modified_ns(path)
    files: dict[str, int] = {}
    folders: list[str] = []
    links: list[os.DirEntry[str]] = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_symlink():
                    links.append(entry)
                elif entry.is_file(follow_symlinks=False) and not entry.name.endswith(".homeport"):
                    files[entry.name] = _time_of(entry)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
    except OSError:
        return None
    remarks = [*_on_links(links, root), *_on_folders(folders), *_on_copies(files), *_on_files(files, before)]
    settled = changed_ns if time.time_ns() - changed_ns > _SETTLED_NS else 0
    usable = tuple(name for name in folders if segment_trouble(name) is None)
    return Scan(settled, files, usable, tuple(sorted(remarks)))


def _time_of(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0


def _on_links(links: list[os.DirEntry[str]], root: Path) -> list[tuple[str, str]]:
    found = []
    for entry in links:
        real = Path(os.path.realpath(entry.path))
        if not real.is_relative_to(root):
            found.append((entry.name, "it is a link that leads out of the mount, and is not served"))
        elif not real.exists():
            found.append((entry.name, "it is a link that leads to nothing"))
    return found


def _on_folders(folders: list[str]) -> list[tuple[str, str]]:
    found = []
    for name in folders:
        trouble = segment_trouble(name)
        # Folders of version control systems are meant to be there, and are not served.
        if trouble is not None and "version control" not in trouble:
            found.append((name, f"it is a folder that is not served: {trouble}"))
        elif trouble is None and name.endswith(_TEXT_ENDINGS):
            found.append((name, "it is a folder with a document's name"))
    return found


def _on_copies(files: Mapping[str, object]) -> list[tuple[str, str]]:
    return [
        (name, f"it looks like a copy of {copy.main} that {copy.by} left; compare them and keep one")
        for name, copy in conflict_copies(files).items()
    ]


def _on_files(files: Mapping[str, object], before: Scan | None) -> list[tuple[str, str]]:
    """What was said of a name before still holds; only new ones are looked at."""
    kept = [one for one in before.remarks if one[1].startswith(NO_ADDRESS)] if before else []
    new = files.keys() - before.files.keys() if before else files.keys()
    return [
        *(one for one in kept if one[0] in files),
        *((name, NO_ADDRESS + trouble) for name in new if (trouble := segment_trouble(name))),
    ]
