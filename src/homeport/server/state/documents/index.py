"""The index: which documents there are, by name alone, newest first, older ones folded per folder."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass

from homeport.server.state.documents.catalogue import Summary
from homeport.server.state.mounts import Mount
from homeport.server.state.paths import Address, segment_trouble, shown


@dataclass(frozen=True, slots=True)
class MountIndex:
    """newest: at most 200 documents. folders: how many files lie in each first-level folder, in "" those in none.
    remarks: what a person should look at, as an address, quoted where it cannot be one, and a sentence; at most 50.
    remarked: how many there are."""

    mount: Mount
    newest: tuple[Address, ...]
    folders: Counter[str]
    remarks: tuple[tuple[str, str], ...] = ()
    remarked: int = 0

    @property
    def total(self) -> int:
        return sum(self.folders.values())


def index_of(mount: Mount, summary: Summary) -> MountIndex:
    named = (tuple(unicodedata.normalize("NFC", name) for name in segments) for segments in summary.newest)
    newest = tuple(Address(mount.path, segments) for segments in named if not any(map(segment_trouble, segments)))
    remarks = tuple((shown(str(Address(mount.path, names)), 300)[1:-1], text) for names, text in summary.remarks)
    return MountIndex(mount, newest, summary.counts, remarks, summary.remarked)


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
    if not index.total:
        return f"{head}\n- (empty)"
    names = [f"- {address}" for address in index.newest]
    most = _fitting(names, budget_chars - len(head))
    for lines, fewest in (_Folded(index, most), 3), (_Summed(index, most), 0):
        for number in range(most, min(fewest, len(names)) - 1, -1):
            lines.show(number)
            if len(head) + sum(len(name) + 1 for name in names[:number]) + lines.chars <= budget_chars:
                return "\n".join([head, *names[:number], *lines.lines()])
    return f"{head}\n- {_count(index.total)}"


def _fitting(names: list[str], budget_chars: int) -> int:
    """How many names there is room for at the very most."""
    for position, name in enumerate(names):
        budget_chars -= len(name) + 1
        if budget_chars < 0:
            return position
    return len(names)


class _Summed:
    """One line for all that is not shown, for a mount with more folders than a block has room for."""

    def __init__(self, index: MountIndex, shown: int) -> None:
        self._index = index
        self.show(shown)

    def show(self, number: int) -> None:
        """The newest `number` documents are shown by name."""
        rest = self._index.total - number
        self._lines = [f"- /{self._index.mount.path}/ ({_count(rest)} more)"] if rest else []
        self.chars = sum(len(line) + 1 for line in self._lines)

    def lines(self) -> list[str]:
        return self._lines


class _Folded:
    """A line for each first-level folder that holds documents not shown, and one for those in none."""

    def __init__(self, index: MountIndex, shown: int) -> None:
        self._index = index
        self._shown = shown
        self._rest = Counter(index.folders)
        self._rest.subtract(map(_folder, index.newest[:shown]))
        # Kept up as documents go from shown to folded, one by one: a mount may have a thousand folders.
        self.chars = sum(map(self._chars, self._rest))

    def show(self, number: int) -> None:
        """The newest `number` documents, no more than before, are shown by name."""
        touched = Counter(map(_folder, self._index.newest[number : self._shown]))
        loose = {""} if "" in self._rest else set()
        before = sum(map(self._chars, touched.keys() | loose))
        self._shown = number
        self._rest.update(touched)
        self.chars += sum(map(self._chars, touched.keys() | loose)) - before

    def lines(self) -> list[str]:
        names = sorted(name for name in self._rest if name)
        return [line for name in (*names, "") if (line := self._line(name))]

    def _chars(self, name: str) -> int:
        line = self._line(name)
        return len(line) + 1 if line else 0

    def _line(self, name: str) -> str:
        count = self._rest[name]
        if not count:
            return ""
        below = f"/{self._index.mount.path}/{name}/" if name else f"/{self._index.mount.path}/"
        more = " more" if (count < self._index.folders[name] if name else self._shown) else ""
        return f"- {below} ({_count(count)}{more})"


def _folder(address: Address) -> str:
    return address.segments[0] if len(address.segments) > 1 else ""


def _count(number: int) -> str:
    return "1 document" if number == 1 else f"{number} documents"
