"""The index: which documents there are, by name alone, newest first, older ones folded per folder.

No document is opened, and only folders are asked when they changed: a document that is replaced changes its folder's
time, so the newest documents are in the folders changed last, and the others need not be looked at one by one.
"""

from __future__ import annotations

import os
import unicodedata
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from homeport.server.state.documents.places import MountFolder
from homeport.server.state.mounts import Mount
from homeport.server.state.paths import Address, segment_trouble

_MOST_NAMES: Final = 200


@dataclass(frozen=True, slots=True)
class MountIndex:
    """newest: at most 200 documents. folders: how many files lie in each first-level folder, in "" those in none."""

    mount: Mount
    newest: tuple[Address, ...]
    folders: Counter[str]

    @property
    def total(self) -> int:
        return sum(self.folders.values())


def index_of(memory: Path, mount: Mount) -> MountIndex:
    """Raises HomeportError: memory_path_invalid, name_collision (the mount's own folder cannot be served)."""
    counts: Counter[str] = Counter()
    changed: list[tuple[int, str, tuple[str, ...], list[str]]] = []
    for path, names, files in MountFolder(memory, mount).folders():
        counts[names[0] if names else ""] += len(files)
        changed.append((_modified_ns(path), path, names, files))
    return MountIndex(mount, _newest(mount, sorted(changed, reverse=True)), counts)


def _newest(mount: Mount, changed: list[tuple[int, str, tuple[str, ...], list[str]]]) -> tuple[Address, ...]:
    found: list[tuple[int, tuple[str, ...]]] = []
    for modified_ns, path, names, files in changed:
        if len(found) >= _MOST_NAMES and -found[_MOST_NAMES - 1][0] > modified_ns:
            break
        # Negative, so that the plain order is newest first, and of the same time by name.
        found += [(-_modified_ns(os.path.join(path, name)), (*names, name)) for name in files]
        found.sort()
        del found[_MOST_NAMES:]
    named = (tuple(unicodedata.normalize("NFC", name) for name in segments) for _, segments in found)
    return tuple(Address(mount.path, segments) for segments in named if not any(map(segment_trouble, segments)))


def _modified_ns(path: str) -> int:
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
    most = _fitting(index, budget_chars - len(head))
    for fold, fewest in ((_folded, 3), (_summed, 0)):
        for shown in range(most, min(fewest, len(index.newest)) - 1, -1):
            lines = [head, *(f"- {address}" for address in index.newest[:shown]), *fold(index, shown)]
            block = "\n".join(lines)
            if len(block) <= budget_chars:
                return block
    return f"{head}\n- {_count(index.total)}"


def _fitting(index: MountIndex, budget_chars: int) -> int:
    """How many names there is room for at the very most."""
    for position, address in enumerate(index.newest):
        budget_chars -= len(str(address)) + 3
        if budget_chars < 0:
            return position
    return len(index.newest)


def _summed(index: MountIndex, shown: int) -> list[str]:
    """For a mount with more folders than a block has room for."""
    rest = index.total - shown
    return [f"- /{index.mount.path}/ ({_count(rest)} more)"] if rest else []


def _folded(index: MountIndex, shown: int) -> list[str]:
    rest = Counter(index.folders)
    rest.subtract(address.segments[0] if len(address.segments) > 1 else "" for address in index.newest[:shown])
    loose = rest.pop("", 0)
    root = f"/{index.mount.path}/"
    lines = [f"- {root}{name}/ ({_count(count)}{' more' if count < index.folders[name] else ''})"
             for name, count in sorted(rest.items()) if count]  # fmt: skip
    if loose:
        lines.append(f"- {root} ({_count(loose)}{' more' if shown else ''})")
    return lines if index.total else ["- (empty)"]


def _count(number: int) -> str:
    return "1 document" if number == 1 else f"{number} documents"
