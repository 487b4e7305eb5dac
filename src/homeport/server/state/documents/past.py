"""What documents were: their versions, the texts of these, and how one is taken out for good."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import NamedTuple

from homeport.errors import HomeportError
from homeport.server.state.database import busy, transaction
from homeport.server.state.documents import disk, texts
from homeport.server.state.documents.changing import Caller, Changing
from homeport.server.state.documents.mounted import Mounted
from homeport.server.state.documents.places import Key, Place
from homeport.server.state.documents.versions import COLUMNS, LIVE, Action, Version, latest, live_document, parsed
from homeport.server.state.paths import Address


class Kept(NamedTuple):
    """has_text: whether the version's text can be shown; a deletion has none."""

    version: Version
    has_text: bool


class Redaction(NamedTuple):
    """numbers: the versions whose text is gone. elsewhere: other documents of the home that have the same text in a
    version, and keep it; None for one that no mount leads to."""

    numbers: tuple[int, ...]
    elsewhere: tuple[Address | None, ...]


class PastVersion(NamedTuple):
    """A version with its text, as it is taken elsewhere. data: None for a deletion, and where no text is kept."""

    number: int
    action: Action
    actor: str
    stamp: str
    size_bytes: int | None
    redacted: bool
    data: bytes | None


class Past:
    """Every method takes the address of a document that is there or was, and may raise HomeportError:
    document_not_found, home_busy, store_damaged, store_failed, memory_path_invalid, name_collision."""

    def __init__(self, mounted: Mounted, changing: Changing) -> None:
        self._mounted = mounted
        self._changing = changing

    def versions(self, address: Address, caller: Caller) -> list[Kept]:
        """The versions, newest first, a hand edit that nobody saw yet among them."""
        place = self._noted(address, caller)
        with self._changing.versions.database.open(caller.deadline_s) as database:
            kept = _kept(database, place.key)
        if not kept:
            raise disk.not_found(address)
        return kept

    def text(self, address: Address, number: int, caller: Caller) -> tuple[Version, bytes]:
        """A version and its bytes. Raises also version_not_found, text_not_kept."""
        place = self._noted(address, caller)
        with self._changing.versions.database.open(caller.deadline_s) as database:
            version = _find(address, _kept(database, place.key), number).version
            return version, _text(database, address, version)

    def known(self, start: Address, caller: Caller) -> list[Address]:
        """Every address at or below `start` (ROOT: all mounts) that has versions, deleted documents among them."""
        found: list[Address] = []
        with self._changing.versions.database.open(caller.deadline_s) as database:
            for mount in self._mounted.mounts:
                if start.mount not in ("", mount.path):
                    continue
                rows = database.execute("SELECT path FROM documents WHERE scope = ? AND live", (mount.scope,))
                found += [Address(mount.path, tuple(path.split("/"))) for (path,) in rows]
        return sorted(address for address in found if address.segments[: len(start.segments)] == start.segments)

    def whole(self, address: Address, caller: Caller) -> list[PastVersion]:
        """The versions with their texts, oldest first."""
        key = self._noted(address, caller).key
        found: list[PastVersion] = []
        with self._changing.versions.database.open(caller.deadline_s) as database:
            for version, has_text in reversed(_kept(database, key)):
                data = None
                if has_text:
                    # A damaged one is as good as none: the others go their way.
                    with contextlib.suppress(HomeportError):
                        data = _text(database, address, version)
                found.append(PastVersion(*version[:4], version.size_bytes, version.redacted, data))
        return found

    def adopt(self, address: Address, past: list[PastVersion], caller: Caller) -> bool:
        """Take over versions that were made elsewhere, and make the document that the last one was. False, and
        nothing done, where a document or its versions are there already.

        past: oldest first. Raises also read_only_mount, edit_only_mount, text_not_kept (of the last version).
        """
        self._mounted.check_access(address, makes_or_takes=True)
        place = self._mounted.place(address)
        with self._changing.exclusive([place], caller):
            with self._changing.versions.database.open(caller.deadline_s) as database:
                if self._mounted.place(address).kind != "nothing" or latest(database, place.key) is not None:
                    return False
                last = past[-1]
                if last.data is not None:
                    disk.put(place, last.data)
                elif last.action != "deleted" and last.size_bytes is not None:
                    raise HomeportError("text_not_kept", f"the last text of {address} is not among its versions")
                with transaction(database):
                    _insert(database, place.key, past)
        return True

    def redact(self, address: Address, number: int | None, current: bool, caller: Caller) -> Redaction:
        """Take the text of a version out of versions.db for good, and of every version of the document that has the
        same text; without `number`, of all. Numbers, actors, stamps and sizes stay.

        current: also where the document still holds that text, which then stays in its file alone. May be called
        again: what another process kept from being overwritten is overwritten then.

        Raises also version_not_found, text_in_use, read_only_mount.
        """
        self._mounted.check_access(address, makes_or_takes=False)
        place = self._noted(address, caller)
        with self._changing.exclusive([place], caller):
            with self._changing.versions.database.open(caller.deadline_s) as database:
                kept = _kept(database, place.key)
                if number is not None:
                    _check_text(address, _find(address, kept, number))
                elif not kept:
                    raise disk.not_found(address)
                with transaction(database):
                    redaction = self._take_out(database, place, number, current)
        self._overwrite(caller)
        return redaction

    def _noted(self, address: Address, caller: Caller) -> Place:
        place = self._mounted.place(address)
        if place.kind in ("folder", "other"):
            disk.data_of(place)
        with self._changing.exclusive([place], caller):
            place = self._mounted.place(address)
            data = None if place.kind == "nothing" else disk.data_of(place)
            self._changing.versions.note(place.key, data, caller.deadline_s)
        return place

    def _take_out(self, database: sqlite3.Connection, place: Place, number: int | None, current: bool) -> Redaction:
        live = database.execute(LIVE, place.key).fetchone()[0]
        # The text of documents that had this address before are meant by `all` too.
        documents = [
            row[0] for row in database.execute("SELECT id FROM documents WHERE scope = ? AND path = ?", place.key)
        ]
        marks = ", ".join("?" * len(documents))
        hashes = {
            row[0]
            for row in database.execute(
                f"SELECT sha256 FROM versions WHERE document IN ({marks}) AND sha256 IS NOT NULL "
                "AND (? IS NULL OR (document = ? AND version = ?))",
                (*documents, number, live, number),
            )
        }
        last = _kept(database, place.key)[0].version
        if last.sha256 in hashes and not current:
            raise _in_use(place.address, last)
        numbers: list[int] = []
        elsewhere: set[Key] = set()
        for sha256 in hashes:
            numbers += _mark(database, sha256, documents, live, last)
            elsewhere |= _forget(database, sha256)
        addresses = tuple(self._mounted.address_of(key) for key in sorted(elsewhere))
        return Redaction(tuple(sorted(numbers)), addresses)

    def _overwrite(self, caller: Caller) -> None:
        """Leave no byte of what was taken out in the file or its log."""
        with self._changing.versions.database.open(caller.deadline_s) as database:
            with contextlib.suppress(sqlite3.OperationalError):
                database.execute("VACUUM")
                if database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0:
                    return
        raise busy("the text is taken out, and its bytes are not overwritten yet: another process reads versions.db")


def _kept(database: sqlite3.Connection, key: Key) -> list[Kept]:
    rows = database.execute(
        f"SELECT {COLUMNS}, EXISTS (SELECT 1 FROM texts WHERE texts.sha256 = versions.sha256) FROM versions "
        f"WHERE document = ({LIVE}) ORDER BY version DESC",
        key,
    )
    found = ((parsed(row[:-1]), row[-1]) for row in rows)
    return [Kept(version, bool(there) and not version.redacted) for version, there in found if version is not None]


def _find(address: Address, kept: list[Kept], number: int) -> Kept:
    for one in kept:
        if one.version.number == number:
            return one
    if not kept:
        raise disk.not_found(address)
    raise HomeportError(
        "version_not_found",
        f"{address} has no version {number} that is kept; its versions end at {kept[0].version.number}",
        "list them with versions",
        {"address": str(address), "version": number},
    )


def _insert(database: sqlite3.Connection, key: Key, past: list[PastVersion]) -> None:
    document = live_document(database, key)
    before: str | None = None
    for one in past:
        sha256 = None
        if one.data is not None:
            sha256 = texts.digest(one.data)
            texts.keep(database, one.data, before)
            before = sha256
        database.execute(
            f"INSERT INTO versions (document, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (document, one.number, one.action, one.actor, one.stamp, sha256, one.size_bytes, one.redacted),
        )


def _check_text(address: Address, kept: Kept) -> None:
    if kept.version.sha256 is None and not kept.version.redacted:
        raise _without_text(address, kept.version, "the document was deleted or renamed away then")


def _text(database: sqlite3.Connection, address: Address, version: Version) -> bytes:
    if version.redacted:
        raise _without_text(address, version, "it was redacted")
    if version.sha256 is None:
        raise _without_text(address, version, "the document was deleted or renamed away then")
    try:
        data = texts.read(database, version.sha256)
    except texts.DamagedText:
        raise _without_text(address, version, "what versions.db has of it is damaged") from None
    if data is None:
        raise _without_text(address, version, "it was made by a Homeport that kept none, or is over 1 MiB")
    return data


def _without_text(address: Address, version: Version, why: str) -> HomeportError:
    return HomeportError(
        "text_not_kept",
        f"{address} has no text of version {version.number}: {why}",
        "take another version",
        {"address": str(address), "version": version.number},
    )


def _in_use(address: Address, last: Version) -> HomeportError:
    return HomeportError(
        "text_in_use",
        f"{address} still holds that text, as version {last.number}",
        "change or delete the document first; --current takes it out of the versions and leaves the document alone",
        {"address": str(address), "version": last.number},
    )


def _mark(database: sqlite3.Connection, sha256: str, documents: list[int], live: int, last: Version) -> list[int]:
    """Mark the versions of these documents that have the text, and give their numbers."""
    numbers: list[int] = []
    for document in documents:
        rows = database.execute(
            "SELECT version FROM versions WHERE document = ? AND sha256 = ? AND NOT redacted", (document, sha256)
        ).fetchall()
        for (number,) in rows:
            numbers.append(number)
            # A hash tells a short text to whoever tries them all. The last one stays, for the file still has the text.
            stays = document == live and number == last.number
            database.execute(
                "UPDATE versions SET redacted = 1, sha256 = ? WHERE document = ? AND version = ?",
                (sha256 if stays else None, document, number),
            )
    return numbers


def _forget(database: sqlite3.Connection, sha256: str) -> set[Key]:
    """Take the text out, unless other documents have it in a version: these."""
    texts.forget_unused(database, sha256)
    rows = database.execute(
        "SELECT scope, path FROM documents WHERE id IN "
        "(SELECT document FROM versions WHERE sha256 = ? AND NOT redacted)",
        (sha256,),
    )
    return {Key(*row) for row in rows}
