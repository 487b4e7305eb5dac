"""versions.db: which version a document is at, who wrote it, and what was about to be done when a process died.

A document's bytes are its file; this says what is known about them. Every change is first written down as an intent,
with the hash the file is to have, then made, then landed: the intent goes and the version comes in one transaction.
"""

from __future__ import annotations

import hashlib
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, NamedTuple

from homeport.server.state.database import Database, Schema, transaction
from homeport.server.state.documents.places import Key

Action = Literal["created", "changed", "deleted", "renamed"]
FILE_ACTOR: Final = "file"
"""Who wrote what nobody told us of: a hand edit."""

# live: the document that has its address, or had it last. Where a rename brings another document to an address,
# the one whose address it was stays in the table, with its versions, and is no longer live.
_TABLES: Final = """
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, scope TEXT NOT NULL, path TEXT NOT NULL, live INTEGER NOT NULL DEFAULT 1);
CREATE UNIQUE INDEX live_documents ON documents (scope, path) WHERE live;
CREATE TABLE versions (
    document INTEGER NOT NULL REFERENCES documents, version INTEGER NOT NULL, action TEXT NOT NULL,
    actor TEXT NOT NULL, stamp TEXT NOT NULL, sha256 TEXT, size_bytes INTEGER, PRIMARY KEY (document, version)
) WITHOUT ROWID;
CREATE TABLE intents (
    id INTEGER PRIMARY KEY, action TEXT NOT NULL, actor TEXT NOT NULL, scope TEXT NOT NULL, path TEXT NOT NULL,
    to_scope TEXT, to_path TEXT, sha256 TEXT, size_bytes INTEGER);
"""
_SCHEMA: Final = Schema(
    version=1,
    statements=_TABLES,
    damaged=(
        "documents can be viewed and not changed",
        "the documents are whole: tell the person to move versions.db aside (a new one starts at version 1) "
        "or to put a copy back",
    ),
)


class Version(NamedTuple):
    """One version of a document. number: from 1, never used twice at one address. sha256: None where it was deleted."""

    number: int
    action: Action
    actor: str
    stamp: str
    sha256: str | None
    size_bytes: int | None


class Intent(NamedTuple):
    """A change that was about to be made. to: where a rename leads. sha256: of the new bytes, None for the others."""

    id: int
    action: Action
    actor: str
    key: Key
    to: Key | None
    sha256: str | None
    size_bytes: int | None


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Versions:
    """The database. One call at a time, from any thread; every method may raise the errors of Database.open."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, _SCHEMA)

    def close(self) -> None:
        self._database.close()

    def latest(self, key: Key, deadline_s: float) -> Version | None:
        """The version that `key` is at, a deletion included; None where nothing was ever known there."""
        with self._database.open(deadline_s) as database:
            return _latest(database, key)

    def note(self, key: Key, data: bytes | None, deadline_s: float) -> Version | None:
        """Record what stands in the file where it is not what was last recorded: somebody edited by hand.

        data: the document's bytes, None where there is none. The document's lock is held by the caller.
        """
        with self._database.open(deadline_s) as database:
            last = _latest(database, key)
            sha256 = None if data is None else digest(data)
            if sha256 == (last.sha256 if last else None):
                return last
            action: Action = "deleted" if data is None else "changed" if last and last.sha256 else "created"
            with transaction(database):
                size_bytes = None if data is None else len(data)
                return _append(database, key, action, FILE_ACTOR, sha256, size_bytes)

    def intend(
        self, action: Action, actor: str, key: Key, data: bytes | None, deadline_s: float, to: Key | None = None
    ) -> Intent:
        """Write down what is about to be done, on the disk before this returns."""
        sha256, size_bytes = (None, None) if data is None else (digest(data), len(data))
        to_scope, to_path = to or (None, None)
        with self._database.open(deadline_s) as database:
            row = database.execute(
                "INSERT INTO intents (action, actor, scope, path, to_scope, to_path, sha256, size_bytes) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (action, actor, *key, to_scope, to_path, sha256, size_bytes),
            )
            return Intent(row.lastrowid or 0, action, actor, key, to, sha256, size_bytes)

    def intents(self, deadline_s: float) -> list[Intent]:
        """What is being done now, and what a process that died left."""
        with self._database.open(deadline_s) as database:
            rows = database.execute(
                "SELECT id, action, actor, scope, path, to_scope, to_path, sha256, size_bytes FROM intents ORDER BY id"
            )
            return [
                Intent(row[0], row[1], row[2], Key(row[3], row[4]), Key(row[5], row[6]) if row[5] else None, *row[7:])
                for row in rows
            ]

    def land(self, intent: Intent, deadline_s: float) -> Version | None:
        """The change was made: the intent becomes a version. None where another process landed it first."""
        with self._database.open(deadline_s) as database, transaction(database):
            if not database.execute("DELETE FROM intents WHERE id = ?", (intent.id,)).rowcount:
                return None
            if intent.to is not None:
                return _land_rename(database, intent, intent.to)
            return _append(database, intent.key, intent.action, intent.actor, intent.sha256, intent.size_bytes)

    def drop(self, intent: Intent, deadline_s: float) -> None:
        """The change was not made: the intent goes."""
        with self._database.open(deadline_s) as database:
            database.execute("DELETE FROM intents WHERE id = ?", (intent.id,))


def _latest(database: sqlite3.Connection, key: Key) -> Version | None:
    row = database.execute(
        "SELECT version, action, actor, stamp, sha256, size_bytes FROM versions WHERE document = "
        "(SELECT id FROM documents WHERE scope = ? AND path = ? AND live) ORDER BY version DESC LIMIT 1",
        key,
    ).fetchone()
    return None if row is None else Version(*row)


def _live_document(database: sqlite3.Connection, key: Key) -> int:
    database.execute("INSERT OR IGNORE INTO documents (scope, path) VALUES (?, ?)", key)
    row = database.execute("SELECT id FROM documents WHERE scope = ? AND path = ? AND live", key).fetchone()
    return int(row[0])


def _append(
    database: sqlite3.Connection,
    key: Key,
    action: Action,
    actor: str,
    sha256: str | None,
    size_bytes: int | None,
    above: int = 0,
) -> Version:
    """Add the next version of the live document at `key`. above: a number it must come after."""
    last = _latest(database, key)
    stamp = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    version = Version(max(last.number if last else 0, above) + 1, action, actor, stamp, sha256, size_bytes)
    database.execute(
        "INSERT INTO versions (document, version, action, actor, stamp, sha256, size_bytes) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (_live_document(database, key), *version),
    )
    return version


def _land_rename(database: sqlite3.Connection, intent: Intent, to: Key) -> Version | None:
    """Move the document, or every document of the folder, to its new address with its versions.

    Numbers go on above both documents', and a tombstone keeps counting at the old address: no number ever means
    two different texts at one address, so an expected version cannot be met by accident.
    """
    source = intent.key
    rows = database.execute(
        # '0' follows '/': everything below the folder, and nothing beside it.
        "SELECT path FROM documents WHERE scope = ? AND (path = ? OR (path > ? AND path < ?)) AND live",
        (source.scope, source.path, f"{source.path}/", f"{source.path}0"),
    ).fetchall()
    landed = None
    for (path,) in rows:
        old = Key(source.scope, path)
        last = _latest(database, old)
        if last is None or last.sha256 is None:
            continue
        new = Key(to.scope, to.path + path[len(source.path) :])
        before = _latest(database, new)
        database.execute("UPDATE documents SET live = 0 WHERE scope = ? AND path = ? AND live", new)
        database.execute("UPDATE documents SET scope = ?, path = ? WHERE scope = ? AND path = ? AND live", (*new, *old))
        above = before.number if before else 0
        landed = _append(database, new, "renamed", intent.actor, last.sha256, last.size_bytes, above)
        _append(database, old, "renamed", intent.actor, None, None, last.number)
    return landed
