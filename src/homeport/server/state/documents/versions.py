"""versions.db: the versions of a document, who wrote them, and what was about to be done when a process died.

A document's bytes are its file; this says what is known about them, and keeps what they were. Every change is first
written down as an intent, with the text the file is to have, then made, then landed: the intent goes and the version
comes in one transaction.
"""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

from homeport.server.state.database import Database, Schema, transaction
from homeport.server.state.documents import texts
from homeport.server.state.documents.places import Key
from homeport.server.state.documents.said import Said
from homeport.server.state.documents.texts import digest

Action = Literal["created", "changed", "deleted", "renamed"]
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
FILE_ACTOR: Final = "file"
"""Who wrote what nobody told us of: a hand edit."""

# live: the document that has its address, or had it last. Where a rename brings another document to an address,
# the one whose address it was stays in the table, with its versions, and is no longer live.
# redacted: the version's text was taken out for good. Its sha256 stays only where the document still held that text.
# AUTOINCREMENT: an intent's number is never used again. Who read the list of intents a moment ago would otherwise drop
# somebody's new one in place of the old.
_INTENTS: Final = """
CREATE TABLE intents (
    id INTEGER PRIMARY KEY AUTOINCREMENT, action TEXT NOT NULL, actor TEXT NOT NULL, scope TEXT NOT NULL,
    path TEXT NOT NULL, to_scope TEXT, to_path TEXT, sha256 TEXT, size_bytes INTEGER);
"""
_TABLES: Final = f"""
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, scope TEXT NOT NULL, path TEXT NOT NULL, live INTEGER NOT NULL DEFAULT 1);
CREATE UNIQUE INDEX live_documents ON documents (scope, path) WHERE live;
CREATE TABLE versions (
    document INTEGER NOT NULL REFERENCES documents, version INTEGER NOT NULL, action TEXT NOT NULL,
    actor TEXT NOT NULL, stamp TEXT NOT NULL, sha256 TEXT, size_bytes INTEGER, redacted INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (document, version)
) WITHOUT ROWID;
CREATE INDEX versions_by_text ON versions (sha256);
{_INTENTS}{texts.TABLES}"""
# The first version knew the texts' hashes alone. What stands in a file is kept when the document is next changed.
_WITH_TEXTS: Final = f"""
ALTER TABLE versions ADD COLUMN redacted INTEGER NOT NULL DEFAULT 0;
CREATE INDEX versions_by_text ON versions (sha256);
ALTER TABLE intents RENAME TO intents_before;
{_INTENTS}INSERT INTO intents SELECT * FROM intents_before;
DROP TABLE intents_before;
{texts.TABLES}"""
SCHEMA: Final = Schema(
    version=2,
    statements=_TABLES,
    damaged=(
        "documents can be viewed and not changed",
        "the documents are whole: tell the person to move versions.db aside (a new one starts at version 1) "
        "or to put a copy back",
    ),
    upgrades=(_WITH_TEXTS,),
)


class Version(NamedTuple):
    """One version of a document. number: from 1, never used twice at one address. sha256: None where it was deleted,
    and where its text was redacted."""

    number: int
    action: Action
    actor: str
    stamp: str
    sha256: str | None
    size_bytes: int | None
    redacted: bool = False


class Intent(NamedTuple):
    """A change that was about to be made. to: where a rename leads. sha256: of the new bytes, None for the others."""

    id: int
    action: Action
    actor: str
    key: Key
    to: Key | None
    sha256: str | None
    size_bytes: int | None


class Versions:
    """The database. One call at a time, from any thread; every method may raise the errors of Database.open."""

    def __init__(self, path: Path, said: Said) -> None:
        self._said = said
        self.database = Database(path, SCHEMA)

    def close(self) -> None:
        self.database.close()

    def latest(self, key: Key, deadline_s: float) -> Version | None:
        """The version that `key` is at, a deletion included; None where nothing was ever known there."""
        with self.database.open(deadline_s) as database:
            return self._latest(database, key)

    def note(self, key: Key, data: bytes | None, deadline_s: float) -> Version | None:
        """Record what stands in the file where it is not what was last recorded: somebody edited by hand.

        data: the document's bytes, None where there is none. The document's lock is held by the caller.
        """
        with self.database.open(deadline_s) as database:
            last = self._latest(database, key)
            sha256 = None if data is None else digest(data)
            known = sha256 == (last.sha256 if last else None)
            if known and (data is None or (last and last.redacted) or texts.has(database, data)):
                return last
            with transaction(database):
                if data is not None:
                    texts.keep(database, data, last.sha256 if last else None)
                if known:
                    return last
                action: Action = "deleted" if data is None else "changed" if last and last.sha256 else "created"
                return append(database, key, action, FILE_ACTOR, sha256, None if data is None else len(data))

    def _latest(self, database: sqlite3.Connection, key: Key) -> Version | None:
        newest = database.execute(f"SELECT max(version) FROM versions WHERE document = ({LIVE})", key).fetchone()[0]
        last = latest(database, key)
        if newest != (last.number if last else None):
            self._said.say(f"versions.db: version {newest} of {key.path} in {key.scope} is torn, and left aside")
        return last

    def intend(
        self, action: Action, actor: str, key: Key, data: bytes | None, deadline_s: float, to: Key | None = None
    ) -> Intent:
        """Write down what is about to be done, on the disk before this returns, and keep the text it is done with."""
        sha256, size_bytes = (None, None) if data is None else (digest(data), len(data))
        to_scope, to_path = to or (None, None)
        with self.database.open(deadline_s) as database, transaction(database):
            if data is not None:
                last = latest(database, key)
                texts.keep(database, data, last.sha256 if last else None)
            row = database.execute(
                "INSERT INTO intents (action, actor, scope, path, to_scope, to_path, sha256, size_bytes) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (action, actor, *key, to_scope, to_path, sha256, size_bytes),
            )
            return Intent(row.lastrowid or 0, action, actor, key, to, sha256, size_bytes)

    def intents(self, deadline_s: float) -> list[Intent]:
        """What is being done now, and what a process that died left."""
        with self.database.open(deadline_s) as database:
            rows = database.execute(
                "SELECT id, action, actor, scope, path, to_scope, to_path, sha256, size_bytes FROM intents ORDER BY id"
            )
            return [
                Intent(row[0], row[1], row[2], Key(row[3], row[4]), Key(row[5], row[6]) if row[5] else None, *row[7:])
                for row in rows
            ]

    def land(self, intent: Intent, deadline_s: float) -> Version | None:
        """The change was made: the intent becomes a version. None where another process landed it first."""
        with self.database.open(deadline_s) as database, transaction(database):
            if not database.execute("DELETE FROM intents WHERE id = ?", (intent.id,)).rowcount:
                return None
            if intent.to is not None:
                return _land_rename(database, intent, intent.to)
            return append(database, intent.key, intent.action, intent.actor, intent.sha256, intent.size_bytes)

    def drop(self, intent: Intent, deadline_s: float) -> None:
        """The change was not made: the intent goes."""
        with self.database.open(deadline_s) as database, transaction(database):
            database.execute("DELETE FROM intents WHERE id = ?", (intent.id,))
            if intent.sha256 is not None:
                texts.forget_unused(database, intent.sha256)


def latest(database: sqlite3.Connection, key: Key) -> Version | None:
    """A torn row is passed over, so the version before it counts; the next one gets a number above both."""
    rows = database.execute(f"SELECT {COLUMNS} FROM versions WHERE document = ({LIVE}) ORDER BY version DESC", key)
    return next((version for row in rows if (version := parsed(row)) is not None), None)


LIVE: Final = "SELECT id FROM documents WHERE scope = ? AND path = ? AND live"
COLUMNS: Final = "version, action, actor, stamp, sha256, size_bytes, redacted"


def parsed(row: tuple[Any, ...]) -> Version | None:
    """A row of the table, None where it is torn."""
    number, action, actor, stamp, sha256, size_bytes, redacted = row
    whole = (
        isinstance(number, int) and action in ACTIONS and isinstance(actor, str) and isinstance(stamp, str)
        and (sha256 is None or isinstance(sha256, str)) and (size_bytes is None or isinstance(size_bytes, int))
    )  # fmt: skip
    if whole:
        return Version(number, action, actor, stamp, sha256, size_bytes, bool(redacted))
    return None


def live_document(database: sqlite3.Connection, key: Key) -> int:
    database.execute("INSERT OR IGNORE INTO documents (scope, path) VALUES (?, ?)", key)
    return int(database.execute(LIVE, key).fetchone()[0])


def append(
    database: sqlite3.Connection,
    key: Key,
    action: Action,
    actor: str,
    sha256: str | None,
    size_bytes: int | None,
    above: int = 0,
    redacted: bool = False,
) -> Version:
    """Add the next version of the live document at `key`. above: a number it must come after."""
    document = live_document(database, key)
    last = database.execute(
        "SELECT max(version) FROM versions WHERE document = ? AND typeof(version) = 'integer'", (document,)
    ).fetchone()[0]
    stamp = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    version = Version(max(last or 0, above) + 1, action, actor, stamp, sha256, size_bytes, redacted)
    database.execute(
        f"INSERT INTO versions (document, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (document, *version)
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
        last = latest(database, old)
        if last is None or last.sha256 is None:
            continue
        new = Key(to.scope, to.path + path[len(source.path) :])
        before = latest(database, new)
        database.execute("UPDATE documents SET live = 0 WHERE scope = ? AND path = ? AND live", new)
        database.execute("UPDATE documents SET scope = ?, path = ? WHERE scope = ? AND path = ? AND live", (*new, *old))
        above = before.number if before else 0
        landed = append(database, new, "renamed", intent.actor, last.sha256, last.size_bytes, above, last.redacted)
        append(database, old, "renamed", intent.actor, None, None, last.number)
    return landed
