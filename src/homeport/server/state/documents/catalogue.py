"""index.db: what each folder held when it was last looked at, so that an index asks only folders that changed since.

All of it can be made again from the folders: a damaged file is thrown away, a missing one made anew.
"""

from __future__ import annotations

import contextlib
import heapq
import json
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from homeport import files
from homeport.errors import HomeportError
from homeport.server.state.database import Database, Schema, transaction
from homeport.server.state.documents.folder_scan import Scan, modified_ns, scan_folder
from homeport.server.state.documents.places import MountFolder

MOST_NAMES: Final = 200
MOST_REMARKS: Final = 50
_PATIENCE_S: Final = 0.2  # the index can be made without it
_SAVED_EVERY_S: Final = 10.0  # a document a second must not mean a thousand names a second

# path: below the mount, "" for the mount itself, segments joined by "/". held: the files and folders as JSON.
_SCHEMA: Final = Schema(
    version=1,
    statements="""
CREATE TABLE folders (
    scope TEXT NOT NULL, path TEXT NOT NULL, modified_ns INTEGER NOT NULL, held TEXT NOT NULL,
    PRIMARY KEY (scope, path)) WITHOUT ROWID;
CREATE TABLE summaries (scope TEXT PRIMARY KEY, summary TEXT NOT NULL) WITHOUT ROWID;
""",
    damaged=("the index is made anew each time", "it may be deleted"),
)


class Summary(NamedTuple):
    """newest: at most 200 documents by their names, the newest first. counts: files in each first-level folder, ""
    for those in none. remarks: at most 50, each with the names that lead to what it is about. remarked: how many there
    are."""

    newest: tuple[tuple[str, ...], ...]
    counts: Counter[str]
    remarks: tuple[tuple[tuple[str, ...], str], ...]
    remarked: int


class _Known(NamedTuple):
    """What is known of a scope. times: of every folder. scans: None where they are in the database still."""

    summary: Summary
    times: dict[str, int]
    scans: dict[str, Scan] | None


class Catalogue:
    """One call at a time; other processes may use the same file."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, _SCHEMA, _write_at_leisure)
        self._known: dict[str, _Known] = {}
        self._saved: dict[str, tuple[float, dict[str, Scan]]] = {}

    def close(self) -> None:
        for scope, known in self._known.items():
            if known.scans is not None:
                self._save(scope, known)
        self._database.close()

    def summary(self, folder: MountFolder) -> Summary:
        """What the mount's folder holds. Raises HomeportError: memory_path_invalid, name_collision (it cannot be
        served)."""
        folder.check_root()
        scope = folder.mount.scope
        known = self._known.get(scope) or self._load(scope)
        if known is not None and _is_fresh(folder.path, known.times):
            self._known[scope] = known
            return known.summary
        if known is None or known.scans is None:
            before = self._load_scans(scope) if known else {}
            self._saved[scope] = (-_SAVED_EVERY_S, before)
        else:
            before = known.scans
        scans = _walk(folder.path, before)
        known = _Known(_summed(scans), {path: scan.modified_ns for path, scan in scans.items()}, scans)
        self._known[scope] = known
        if time.monotonic() - self._saved[scope][0] >= _SAVED_EVERY_S:
            self._save(scope, known)
        return known.summary

    def _load(self, scope: str) -> _Known | None:
        with contextlib.suppress(HomeportError, ValueError, TypeError, KeyError):
            with self._open() as database:
                row = database.execute("SELECT summary FROM summaries WHERE scope = ?", (scope,)).fetchone()
                times = dict(database.execute("SELECT path, modified_ns FROM folders WHERE scope = ?", (scope,)))
                if row is not None and times:
                    return _Known(_parsed_summary(row[0]), times, None)
        return None

    def _load_scans(self, scope: str) -> dict[str, Scan]:
        scans: dict[str, Scan] = {}
        with contextlib.suppress(HomeportError, ValueError, TypeError, KeyError):
            with self._open() as database:
                rows = database.execute("SELECT path, modified_ns, held FROM folders WHERE scope = ?", (scope,))
                for path, modified, held in rows:
                    scans[path] = _parsed_scan(modified, held)
        return scans

    def _save(self, scope: str, known: _Known) -> None:
        scans, before = known.scans or {}, self._saved[scope][1]
        self._saved[scope] = (time.monotonic(), scans)
        changed = [(scope, path, scan.modified_ns, _as_text(scan)) for path, scan in scans.items()
                   if before.get(path) != scan]  # fmt: skip
        gone = [(scope, path) for path in before if path not in scans]
        if not changed and not gone:
            return
        # Where it cannot be written the next process asks the folders again.
        with contextlib.suppress(HomeportError), self._open() as database, transaction(database):
            database.executemany("DELETE FROM folders WHERE scope = ? AND path = ?", gone)
            database.executemany("INSERT OR REPLACE INTO folders VALUES (?, ?, ?, ?)", changed)
            database.execute("INSERT OR REPLACE INTO summaries VALUES (?, ?)", (scope, _summary_text(known.summary)))

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The database; thrown away where it is damaged, for the next call to make it anew."""
        try:
            with self._database.open(time.monotonic() + _PATIENCE_S) as database:
                yield database
        except HomeportError as error:
            if error.code == "store_damaged":
                self._database.close()
                for end in ("", "-wal", "-shm"):
                    with contextlib.suppress(OSError):
                        files.remove_quietly(self._database.path.with_name(self._database.path.name + end))
            raise


def _write_at_leisure(database: sqlite3.Connection) -> None:
    """Nothing is lost where a power loss takes the last rows along."""
    database.execute("PRAGMA synchronous = OFF")


def _is_fresh(root: Path, times: dict[str, int]) -> bool:
    """Whether no folder changed. One with the time 0 was too young when it was looked at; where there was none, the
    mount's own was not made yet."""
    return bool(times) and all(
        modified and modified == modified_ns(os.path.join(root, path)) for path, modified in times.items()
    )


def _walk(root: Path, before: dict[str, Scan]) -> dict[str, Scan]:
    scans: dict[str, Scan] = {}
    waiting = [""]
    while waiting:
        path = waiting.pop()
        known = before.get(path)
        place = os.path.join(root, path)
        if known is None or not known.modified_ns or known.modified_ns != modified_ns(place):
            known = scan_folder(place, root, known)
        if known is not None:
            scans[path] = known
            waiting += [f"{path}/{name}" if path else name for name in known.folders]
    return scans


def _summed(scans: dict[str, Scan]) -> Summary:
    counts: Counter[str] = Counter()
    found: list[tuple[int, tuple[str, ...]]] = []
    remarks: list[tuple[tuple[str, ...], str]] = []
    for path, scan in scans.items():
        names = tuple(path.split("/")) if path else ()
        if scan.files:
            counts[names[0] if names else ""] += len(scan.files)
        remarks += [((*names, name), sentence) for name, sentence in scan.remarks]
        # Negative, so that the plain order is newest first, and of the same time by name.
        found += [(-modified, (*names, name)) for name, modified in scan.files.items()]
    newest = tuple(names for _, names in heapq.nsmallest(MOST_NAMES, found))
    return Summary(newest, counts, tuple(sorted(remarks)[:MOST_REMARKS]), len(remarks))


def _as_text(scan: Scan) -> str:
    return json.dumps([scan.files, scan.folders, scan.remarks], separators=(",", ":"))


def _parsed_scan(modified: int, text: str) -> Scan:
    held, folders, remarks = json.loads(text)
    return Scan(
        int(modified),
        {name: int(time_ns) for name, time_ns in held.items()},
        tuple(map(str, folders)),
        tuple((str(name), str(sentence)) for name, sentence in remarks),
    )


def _summary_text(summary: Summary) -> str:
    return json.dumps(summary, separators=(",", ":"))


def _parsed_summary(text: str) -> Summary:
    newest, counts, remarks, remarked = json.loads(text)
    return Summary(
        tuple(tuple(map(str, names)) for names in newest),
        Counter({str(name): int(number) for name, number in counts.items()}),
        tuple((tuple(map(str, names)), str(sentence)) for names, sentence in remarks),
        int(remarked),
    )
