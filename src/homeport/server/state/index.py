"""The index: which documents there are, by name alone, newest first, older ones folded per folder.

No document is opened, and only folders are asked when they changed: a document that is replaced changes its folder's
time, so the newest documents are in the folders changed last, and the others need not be looked at one by one.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from homeport.server.state.mounts import Mount
from homeport.server.state.paths import Address
from homeport.server.state.places import Listed, MountFolder

_MOST_NAMES = 200


@dataclass(frozen=True, slots=True)
class MountIndex:
    """newest: at most 200 documents. folders: how many lie in each first-level folder, in "" those in none.
    unnamed: files that have no address."""

    mount: Mount
    newest: tuple[Address, ...]
    folders: Counter[str]
    unnamed: int = 0

    @property
    def total(self) -> int:
        return sum(self.folders.values())


def index_of(memory: Path, mount: Mount) -> MountIndex:
    """Raises HomeportError: memory_path_invalid, name_collision (the mount's own folder cannot be served)."""
    folder = MountFolder(memory, mount)
    by_folder: dict[Path, list[Listed]] = {}
    unnamed = 0
    for listed in folder.documents(folder.locate(Address(mount.path))):
        if listed.trouble:
            unnamed += 1
        else:
            by_folder.setdefault(listed.path.parent, []).append(listed)
    folders = Counter(
        listed.address.segments[0] if len(listed.address.segments) > 1 else ""
        for documents in by_folder.values()
        for listed in documents
    )
    return MountIndex(mount, _newest(by_folder), folders, unnamed)


def _newest(by_folder: dict[Path, list[Listed]]) -> tuple[Address, ...]:
    changed = sorted(((_modified_ns(folder), folder) for folder in by_folder), reverse=True)
    found: list[tuple[int, Address]] = []
    for modified_ns, folder in changed:
        if len(found) >= _MOST_NAMES and found[_MOST_NAMES - 1][0] > modified_ns:
            break
        found += [(_modified_ns(listed.path), listed.address) for listed in by_folder[folder]]
        found.sort(key=lambda pair: (-pair[0], pair[1].segments))
        del found[_MOST_NAMES:]
    return tuple(address for _, address in found)


def _modified_ns(path: Path) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def render_index(indexes: list[MountIndex], budget_chars: int) -> str:
    """A block per mount, within `budget_chars` for all of them together; what does not fit is folded, then counted."""
    blocks: list[str] = []
    left = budget_chars
    for position, index in enumerate(indexes):
        share = left // (len(indexes) - position)
        blocks.append(_block(index, share - 1))
        left -= len(blocks[-1]) + 1
    return "\n".join(blocks)


def _block(index: MountIndex, budget_chars: int) -> str:
    flag = {"rw": "", "ro": " (read-only)", "eo": " (edit-only)"}[index.mount.access]
    head = f"## /{index.mount.path}{flag}"
    for shown in range(len(index.newest), -1, -1):
        lines = [head, *(f"- {address}" for address in index.newest[:shown]), *_folded(index, shown)]
        block = "\n".join(lines)
        if len(block) <= budget_chars:
            return block
    return f"{head}\n- {_count(index.total)}"


def _folded(index: MountIndex, shown: int) -> list[str]:
    rest = Counter(index.folders)
    rest.subtract(address.segments[0] if len(address.segments) > 1 else "" for address in index.newest[:shown])
    loose = rest.pop("", 0)
    root = f"/{index.mount.path}/"
    lines = [f"- {root}{name}/ ({_count(count)}{' more' if count < index.folders[name] else ''})"
             for name, count in sorted(rest.items()) if count]  # fmt: skip
    if loose:
        lines.append(f"- {root} ({_count(loose)}{' more' if shown else ''})")
    if index.unnamed:
        lines.append(f"- {root} ({index.unnamed} files whose names cannot be addresses)")
    return lines if index.total or lines else ["- (empty)"]


def _count(number: int) -> str:
    return "1 document" if number == 1 else f"{number} documents"
