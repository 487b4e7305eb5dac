"""One of the home's SQLite databases: opened patiently, checked, its errors said as ours.

Every kind of state has a file of its own, so that a damaged one takes no other with it.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from homeport.errors import HomeportError
from homeport.server.state.surroundings import network_type

_CHECKED_BYTES: Final = 16 * 1024 * 1024


class Schema(NamedTuple):
    """version: PRAGMA user_version once `statements` have run. upgrades: from the version before, oldest first: the
    statements that lead from version 1 to 2 come first. damaged: what a person loses and may do where the file is
    damaged: the end of a sentence, and a hint."""

    version: int
    statements: str
    damaged: tuple[str, str]
    upgrades: tuple[str, ...] = ()


class Database:
    """One call at a time, from any thread. Opened at the first use, and anew after a damage."""

    def __init__(self, path: Path, schema: Schema, prepare: Callable[[sqlite3.Connection], None] | None = None) -> None:
        """prepare: called with each connection when it is opened, such as to give it functions."""
        self.path = path
        self._schema = schema
        self._prepare = prepare
        self._connection: sqlite3.Connection | None = None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextlib.contextmanager
    def open(self, deadline_s: float) -> Iterator[sqlite3.Connection]:
        """Give the open database, in autocommit. deadline_s: on time.monotonic(), until when locks are waited for.

        Raises HomeportError: home_busy (locked by another process until the deadline), store_damaged, store_failed.
        """
        try:
            if self._connection is None:
                self._connection = self._open_patiently(deadline_s)
            self._connection.execute(f"PRAGMA busy_timeout = {_wait_ms(deadline_s)}")
            yield self._connection
        except (sqlite3.Error, OSError) as error:
            said = self._said(error)
            if said.code == "store_damaged":
                # Opened anew by the next call, which sees what a person put in its place.
                self.close()
            raise said from error

    def _open_patiently(self, deadline_s: float) -> sqlite3.Connection:
        """Two processes that make a new home at once can meet where SQLite does not wait by itself."""
        while True:
            try:
                return self._open(deadline_s)
            except sqlite3.OperationalError as error:
                if not _is_busy(error) or time.monotonic() > deadline_s:
                    raise
                time.sleep(0.01)

    def _open(self, deadline_s: float) -> sqlite3.Connection:
        path = self.path
        if not path.exists():
            # Made here and not by SQLite, which would give it the umask's mode.
            path.touch(mode=0o600)
        left = path.with_name(path.name + "-wal")
        if path.stat().st_size == 0 and left.exists() and left.stat().st_size:
            # SQLite would delete the log, which holds all that is left, and begin anew.
            raise sqlite3.DatabaseError("empty, with a log beside it")
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            connection.execute(f"PRAGMA busy_timeout = {_wait_ms(deadline_s)}")
            # The log needs memory that all readers share: machines that share a file system have none, and damage the
            # file. Where a local one has none either this stays a rollback journal, which is as safe and slower.
            journal = "WAL" if network_type(path) is None else "DELETE"
            connection.execute(f"PRAGMA journal_mode = {journal}").fetchone()
            connection.execute("PRAGMA synchronous = FULL")
            if path.stat().st_size <= _CHECKED_BYTES:
                verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
                if verdict != "ok":
                    raise sqlite3.DatabaseError(verdict)
            if self._prepare is not None:
                self._prepare(connection)
            self._bring_up(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _bring_up(self, connection: sqlite3.Connection) -> None:
        found = _user_version(connection)
        if found > self._schema.version:
            raise sqlite3.NotSupportedError("written by a newer Homeport")
        if found == self._schema.version:
            return
        with transaction(connection):
            # Asked again under the lock: two processes may open a new home at once.
            found = _user_version(connection)
            steps = self._schema.upgrades[found - 1 :] if found else (self._schema.statements,)
            for step in steps if found != self._schema.version else ():
                for statement in step.split(";"):
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {self._schema.version}")

    def _said(self, error: Exception) -> HomeportError:
        name = self.path.name
        code = _primary_code(error)
        if _is_busy(error):
            return busy(f"{name} is locked by another process")
        if isinstance(error, sqlite3.NotSupportedError):
            return HomeportError("store_failed", f"{name} was written by a newer Homeport", "update Homeport")
        is_damage = code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
        if is_damage or (not code and type(error) is sqlite3.DatabaseError):
            lost, hint = self._schema.damaged
            return HomeportError("store_damaged", f"{name} in the home is damaged, so {lost}", hint, {"store": name})
        return HomeportError(
            "store_failed",
            f"{name} in the home could not be used ({_called(error)})",
            "look at the room left on the disk and at the mode of the home",
            {"store": name},
        )


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Write, all or nothing: the write lock is taken at once, so no two writers meet halfway."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def busy(why: str) -> HomeportError:
    return HomeportError("home_busy", f"nothing was done: {why}", "call it again in a moment")


def _user_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _wait_ms(deadline_s: float) -> int:
    return max(0, int((deadline_s - time.monotonic()) * 1000))


def _primary_code(error: Exception) -> int:
    """SQLite's code without what an extended one adds; 0 for an error that is not SQLite's own."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _is_busy(error: Exception) -> bool:
    return _primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _called(error: Exception) -> str:
    """What to call it without a host path, which an OSError's own text holds."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return str(getattr(error, "sqlite_errorname", type(error).__name__))
