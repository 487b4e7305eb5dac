"""Versions with their texts: listed, given back, reverted to, taken out for good."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from homeport.errors import HomeportError
from homeport.server.state.documents import disk
from homeport.server.state.documents.store import Documents
from homeport.server.state.documents.texts import digest
from homeport.server.state.documents.versions import SCHEMA
from homeport.server.state.mounts import Mount
from homeport.server.state.paths import parse_address
from tests.server.making import RW, caller, make_documents, put, text_of, version_of

A = parse_address("/m/a")


@pytest.fixture
def documents(tmp_path: Path) -> Iterator[Documents]:
    with closing(make_documents(tmp_path / "home")) as made:
        yield made


def texts_of(documents: Documents, path: str = "/m/a") -> dict[int, str | None]:
    """Every version's text, None where it has none."""
    address = parse_address(path)
    return {
        one.version.number: documents.past.text(address, one.version.number, caller())[1].decode()
        if one.has_text
        else None
        for one in documents.past.versions(address, caller())
    }


def refusal(act: object, *arguments: object) -> str:
    with pytest.raises(HomeportError) as refused:
        act(*arguments)  # type: ignore[operator]  # any method of Past
    return refused.value.code


def test_every_version_has_its_text_hand_edits_and_deletions_among_them(documents: Documents, tmp_path: Path) -> None:
    file = tmp_path / "home/memory/user=ann/a"
    put(documents, "/m/a", "one")
    file.write_text("by hand")
    put(documents, "/m/a", "three")
    documents.remove(A, None, False, caller())
    file.write_text("back by hand")
    text_of(documents, "/m/a")
    file.unlink()

    assert texts_of(documents) == {6: None, 5: "back by hand", 4: None, 3: "three", 2: "by hand", 1: "one"}
    actions = [(one.version.action, one.version.actor) for one in documents.past.versions(A, caller())]
    assert actions == [
        ("deleted", "file"),
        ("created", "file"),
        ("deleted", "mcp:test"),
        ("changed", "mcp:test"),
        ("changed", "file"),
        ("created", "mcp:test"),
    ]


def test_versions_go_along_with_a_rename(documents: Documents) -> None:
    put(documents, "/m/a", "one")
    put(documents, "/m/a", "two")
    documents.move(A, parse_address("/m/b"), None, False, caller())

    assert texts_of(documents, "/m/b") == {3: "two", 2: "two", 1: "one"}
    assert texts_of(documents, "/m/a") == {3: None}


def test_an_address_that_never_had_a_document_has_no_versions(documents: Documents) -> None:
    assert refusal(documents.past.versions, A, caller()) == "document_not_found"
    put(documents, "/m/a", "one")
    assert refusal(documents.past.text, A, 2, caller()) == "version_not_found"
    documents.remove(A, None, False, caller())
    assert refusal(documents.past.text, A, 2, caller()) == "text_not_kept"


def test_a_revert_is_a_new_version_also_of_a_deleted_document(documents: Documents) -> None:
    put(documents, "/m/a", "one")
    put(documents, "/m/a", "two")
    documents.revert(A, 1, 2, caller("cli:ann"))
    documents.remove(A, None, False, caller())
    documents.revert(A, 2, 0, caller("cli:ann"))

    assert texts_of(documents) == {5: "two", 4: None, 3: "one", 2: "two", 1: "one"}
    assert version_of(documents, "/m/a") == (5, "created", "cli:ann")


def test_a_revert_holds_to_the_expected_version_and_to_the_mount(tmp_path: Path) -> None:
    mounts = (RW, Mount("user:ann", "ro", "ro"))
    with closing(make_documents(tmp_path / "home", *mounts)) as documents:
        put(documents, "/m/a", "one")
        put(documents, "/m/a", "two")

        assert refusal(documents.revert, A, 1, 1, caller()) == "version_conflict"
        assert refusal(documents.revert, A, 7, None, caller()) == "version_not_found"
        assert refusal(documents.revert, parse_address("/ro/a"), 1, None, caller()) == "read_only_mount"
        assert refusal(documents.past.redact, parse_address("/ro/a"), 1, False, caller()) == "read_only_mount"
        assert text_of(documents, "/m/a") == "two"


def found_in(folder: Path, *traces: bytes) -> list[str]:
    """The files of a home that hold any of these bytes."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(path.name for path in files if any(trace in path.read_bytes() for trace in traces))


def traces_of(home: Path, *texts: str) -> list[bytes]:
    """The secret as it is written, and what the database has of these texts: packed, and their hashes."""
    found = [SECRET.encode()]
    with closing(sqlite3.connect(home / "versions.db")) as database:
        for text in texts:
            sha256 = digest(text.encode())
            row = database.execute("SELECT data FROM texts WHERE sha256 = ?", (sha256,)).fetchone()
            found += [row[0], sha256.encode()]
    return found


SECRET = "hunter2-Zq9xW" * 2


@pytest.mark.parametrize("others_open", [False, True], ids=["alone", "another-server-open"])
def test_a_redacted_text_is_in_no_byte_of_the_database(tmp_path: Path, others_open: bool) -> None:
    home = tmp_path / "home"
    with closing(make_documents(home)) as documents, closing(make_documents(home)) as other:
        if others_open:
            put(other, "/m/else", "x")
        put(documents, "/m/a", f"{SECRET}")
        put(documents, "/m/a", f"{SECRET} and more")
        traces = traces_of(home, SECRET, f"{SECRET} and more")
        put(documents, "/m/a", "clean")
        assert found_in(home, *traces) == ["versions.db-wal"]

        first = documents.past.redact(A, 1, False, caller())
        assert texts_of(documents) == {3: "clean", 2: f"{SECRET} and more", 1: None}
        traces += traces_of(home, f"{SECRET} and more")
        every = documents.past.redact(A, 2, False, caller())

        assert found_in(home, *traces) == []
        assert (first.numbers, every.numbers) == ((1,), (2,))
        kept = documents.past.versions(A, caller())
        assert [(one.version.number, one.version.redacted, one.version.sha256 is None) for one in kept] == [
            (3, False, False),
            (2, True, True),
            (1, True, True),
        ]
        assert refusal(documents.past.text, A, 1, caller()) == "text_not_kept"
    assert found_in(home, *traces) == []


def test_what_the_document_still_holds_is_redacted_only_when_that_is_asked_for(
    documents: Documents, tmp_path: Path
) -> None:
    put(documents, "/m/a", SECRET)
    put(documents, "/m/a", "between")
    put(documents, "/m/a", SECRET)

    packed = traces_of(tmp_path / "home", SECRET)[1]
    assert refusal(documents.past.redact, A, 1, False, caller()) == "text_in_use"
    assert refusal(documents.past.redact, A, None, False, caller()) == "text_in_use"
    assert documents.past.redact(A, 1, True, caller()).numbers == (1, 3)

    assert found_in(tmp_path / "home", SECRET.encode(), packed) == ["a"]
    # Looked at, renamed and overwritten, it does not come back.
    assert version_of(documents, "/m/a") == (3, "changed", "mcp:test")
    documents.move(A, parse_address("/m/b"), None, False, caller())
    put(documents, "/m/b", "clean")
    assert texts_of(documents, "/m/b") == {5: "clean", 4: None, 3: None, 2: "between", 1: None}
    assert found_in(tmp_path / "home", SECRET.encode(), packed) == []


def test_all_reaches_a_document_that_had_the_address_before(documents: Documents, tmp_path: Path) -> None:
    put(documents, "/m/a", SECRET)
    documents.remove(A, None, False, caller())
    put(documents, "/m/b", "other")
    documents.move(parse_address("/m/b"), A, None, False, caller())
    assert SECRET not in str(texts_of(documents))
    traces = traces_of(tmp_path / "home", SECRET)
    documents.remove(A, None, False, caller())

    documents.past.redact(A, None, False, caller())

    assert found_in(tmp_path / "home", *traces) == []


def test_another_document_with_the_same_text_keeps_it_and_is_named(documents: Documents) -> None:
    put(documents, "/m/a", SECRET)
    put(documents, "/m/b", SECRET)
    put(documents, "/m/a", "clean")

    redaction = documents.past.redact(A, 1, False, caller())

    assert (redaction.numbers, redaction.elsewhere) == ((1,), (parse_address("/m/b"),))
    assert texts_of(documents, "/m/b") == {1: SECRET}
    assert texts_of(documents) == {2: "clean", 1: None}


def test_a_reader_that_holds_the_log_is_said_and_a_second_call_overwrites(documents: Documents, tmp_path: Path) -> None:
    put(documents, "/m/a", SECRET)
    traces = traces_of(tmp_path / "home", SECRET)
    put(documents, "/m/a", "clean")
    with closing(sqlite3.connect(tmp_path / "home/versions.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM versions").fetchone()
        with pytest.raises(HomeportError) as refused:
            documents.past.redact(A, 1, False, caller(patience_s=0.2))
    assert refused.value.code == "home_busy"
    assert texts_of(documents) == {2: "clean", 1: None}

    assert documents.past.redact(A, 1, False, caller()).numbers == ()
    assert found_in(tmp_path / "home", *traces) == []


def test_a_database_of_the_first_version_is_brought_up_and_keeps_what_it_can(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with closing(make_documents(home)) as documents:
        put(documents, "/m/a", "one")
        put(documents, "/m/a", "two")
    with closing(sqlite3.connect(home / "versions.db", isolation_level=None)) as database:
        database.executescript(
            "DROP TABLE texts; DROP INDEX versions_by_text; ALTER TABLE versions DROP COLUMN redacted; "
            "DROP TABLE intents; CREATE TABLE intents (id INTEGER PRIMARY KEY, action TEXT NOT NULL, "
            "actor TEXT NOT NULL, scope TEXT NOT NULL, path TEXT NOT NULL, to_scope TEXT, to_path TEXT, sha256 TEXT, "
            "size_bytes INTEGER); INSERT INTO intents VALUES (7, 'changed', 'mcp:dead', 'user:ann', 'a', NULL, NULL, "
            f"'{digest(b'three')}', 5); PRAGMA user_version = 1"
        )

    (home / "memory/user=ann/a").write_text("three")
    with closing(make_documents(home)) as documents:
        assert version_of(documents, "/m/a") == (3, "changed", "mcp:dead")
        put(documents, "/m/a", "four")
        assert texts_of(documents) == {4: "four", 3: "three", 2: None, 1: None}
    with closing(sqlite3.connect(home / "versions.db")) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (SCHEMA.version,)


def test_a_torn_row_costs_that_version_and_no_number_is_given_twice(documents: Documents, tmp_path: Path) -> None:
    for text in ("one", "two", "three"):
        put(documents, "/m/a", text)
    with closing(sqlite3.connect(tmp_path / "home/versions.db", isolation_level=None)) as database:
        database.execute("UPDATE versions SET action = 'ch' WHERE version = 2")
        database.execute("UPDATE texts SET data = x'00ff' WHERE id = 1")

    assert text_of(documents, "/m/a") == "three"
    assert [one.version.number for one in documents.past.versions(A, caller())] == [3, 1]
    assert refusal(documents.past.text, A, 1, caller()) == "text_not_kept"
    change = put(documents, "/m/a", "four")
    assert change.after is not None
    assert change.after.number == 4


def test_a_write_that_the_disk_refuses_leaves_no_text_behind(
    documents: Documents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise HomeportError("disk_full", "no room")

    put(documents, "/m/a", "one")
    monkeypatch.setattr(disk, "put", full)

    assert refusal(put, documents, "/m/a", SECRET) == "disk_full"
    with closing(sqlite3.connect(tmp_path / "home/versions.db")) as database:
        kept = database.execute("SELECT sha256 FROM texts").fetchall()
    assert kept == [(digest(b"one"),)]
