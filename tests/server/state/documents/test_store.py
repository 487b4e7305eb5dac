from __future__ import annotations

import os
import sqlite3
import stat
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import filelock
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from homeport.errors import HomeportError
from homeport.server.state.documents.disk import LARGEST_BYTES
from homeport.server.state.documents.locks import STRIPES
from homeport.server.state.documents.store import Documents
from homeport.server.state.mounts import Mount
from homeport.server.state.paths import parse_address
from tests.server.making import caller, make_documents, names, put, text_of, version_of


@pytest.fixture
def documents(tmp_path: Path) -> Iterator[Documents]:
    with closing(make_documents(tmp_path / "home")) as documents:
        yield documents


def code_of(call: Callable[..., object], *arguments: object) -> str:
    with pytest.raises(HomeportError) as refused:
        call(*arguments)
    return refused.value.code


def test_a_document_is_a_plain_file_of_exactly_these_bytes_for_its_owner_alone(
    documents: Documents, tmp_path: Path
) -> None:
    put(documents, "/m/a folder/ž.md", "one\r\ntwo\x00\ufeff")

    file = tmp_path / "home/memory/user=ann/a folder/ž.md"
    assert file.read_bytes() == "one\r\ntwo\x00\ufeff".encode()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    folders = [tmp_path / "home", *(folder for folder in (tmp_path / "home").rglob("*") if folder.is_dir())]
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}
    files = [file for file in (tmp_path / "home").rglob("*") if file.is_file()]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_versions_count_on_over_a_deletion(documents: Documents) -> None:
    put(documents, "/m/a", "one")
    put(documents, "/m/a", "two", actor="cli:ann")
    documents.remove(parse_address("/m/a"), None, False, caller())
    put(documents, "/m/a", "three")

    assert version_of(documents, "/m/a") == (4, "created", "mcp:test")


def test_a_change_that_changes_nothing_makes_no_version(documents: Documents, tmp_path: Path) -> None:
    put(documents, "/m/a", "one")
    before = os.stat(tmp_path / "home/memory/user=ann/a")

    change = put(documents, "/m/a", "one")

    assert change.changed is False
    assert version_of(documents, "/m/a") == (1, "created", "mcp:test")
    assert os.stat(tmp_path / "home/memory/user=ann/a") == before


@pytest.mark.parametrize(("expected", "code"), [(1, None), (2, "version_conflict"), (0, "version_conflict")])
def test_an_expected_version_is_held_to(documents: Documents, expected: int, code: str | None) -> None:
    put(documents, "/m/a", "one")

    if code is None:
        assert put(documents, "/m/a", "two", expected).after is not None
    else:
        assert code_of(put, documents, "/m/a", "two", expected) == code
        assert text_of(documents, "/m/a") == "one"


def test_an_expected_version_of_0_means_that_there_is_none(documents: Documents) -> None:
    put(documents, "/m/a", "one", 0)

    assert code_of(put, documents, "/m/a", "two", 0) == "version_conflict"
    assert code_of(put, documents, "/m/b", "two", 1) == "version_conflict"


def test_a_hand_edit_is_a_version_by_file_when_next_seen(documents: Documents, tmp_path: Path) -> None:
    file = tmp_path / "home/memory/user=ann/a"
    put(documents, "/m/a", "one")
    file.write_text("by hand")

    assert version_of(documents, "/m/a") == (2, "changed", "file")
    assert code_of(put, documents, "/m/a", "mine", 1) == "version_conflict"

    file.unlink()
    assert put(documents, "/m/a", "again").after is not None
    assert version_of(documents, "/m/a") == (4, "created", "mcp:test")


def test_a_file_put_there_by_hand_is_a_document(documents: Documents, tmp_path: Path) -> None:
    folder = tmp_path / "home/memory/user=ann/notes"
    folder.mkdir(parents=True)
    (folder / "x.md").write_text("# hello")

    assert names(documents, "/m") == ["/m/notes/x.md"]
    assert version_of(documents, "/m/notes/x.md") == (1, "created", "file")


def test_one_bad_file_hides_nothing_else(documents: Documents, tmp_path: Path) -> None:
    put(documents, "/m/good", "text")
    folder = tmp_path / "home/memory/user=ann"
    (folder / "bad").write_bytes(b"\xff\xfe")
    (folder / "big").write_bytes(b"x" * (LARGEST_BYTES + 1))
    (folder / "con").write_bytes(b"")
    os.mkfifo(folder / "pipe")
    (folder / "a:b").write_bytes(b"x")
    with open(os.fsencode(folder) + b"/\xff", "wb"):
        pass

    listed = {str(entry.path.name): documents.look(entry)[0] for entry in documents.listing(parse_address("/m"))}

    assert listed.pop("good") is None
    assert len(listed) == 6
    assert all(listed.values())
    assert code_of(text_of, documents, "/m/bad") == "document_unreadable"
    assert code_of(text_of, documents, "/m/pipe") == "document_unreadable"
    assert code_of(text_of, documents, "/m/big") == "document_too_large"


def test_a_text_over_1_mib_is_refused(documents: Documents) -> None:
    assert code_of(put, documents, "/m/a", "x" * (LARGEST_BYTES + 1)) == "document_too_large"
    assert put(documents, "/m/a", "x" * LARGEST_BYTES).changed


@pytest.mark.parametrize("link", ["folder", "file", "root"])
def test_a_link_that_leads_out_is_refused_for_reading_writing_and_listing(tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    mount = tmp_path / "home/memory/user=ann"
    if link == "root":
        mount.parent.mkdir(parents=True)
        mount.symlink_to(outside)
        address = "/m/secret"
    else:
        mount.mkdir(parents=True)
        (mount / "x").symlink_to(outside if link == "folder" else outside / "secret")
        address = "/m/x/secret" if link == "folder" else "/m/x"
    with closing(make_documents(tmp_path / "home")) as documents:
        codes = [code_of(text_of, documents, address), code_of(put, documents, address, "mine")]
        listed = names(documents, "/m") if link != "root" else code_of(names, documents, "/m")

    assert codes == ["memory_path_invalid", "memory_path_invalid"]
    assert listed == ([] if link != "root" else "memory_path_invalid")
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"secret": "secret"}


def test_a_sibling_folder_with_the_same_prefix_is_outside(tmp_path: Path) -> None:
    with closing(make_documents(tmp_path / "home")) as documents:
        evil = tmp_path / "home/memory/user=ann-evil"
        evil.mkdir()
        (evil / "a").write_text("evil")
        mount = tmp_path / "home/memory/user=ann"
        mount.mkdir()
        (mount / "x").symlink_to("../user=ann-evil")

        assert code_of(text_of, documents, "/m/x/a") == "memory_path_invalid"


def test_a_link_that_stays_inside_is_another_name_of_the_document(documents: Documents, tmp_path: Path) -> None:
    put(documents, "/m/real/a", "one")
    (tmp_path / "home/memory/user=ann/link").symlink_to("real/a")
    put(documents, "/m/link", "two")

    assert version_of(documents, "/m/real/a") == (2, "changed", "mcp:test")
    assert names(documents, "/m") == ["/m/link", "/m/real/a"]


@pytest.mark.parametrize("second", ["/m/note", "/m/NOTE", "/m/Folder", "/m/folder/A"])
def test_names_that_differ_only_by_case_never_share_data(documents: Documents, second: str) -> None:
    put(documents, "/m/Note", "one")
    put(documents, "/m/folder/a", "two")

    assert code_of(put, documents, second, "mine") == "name_collision"
    assert code_of(text_of, documents, second) == "name_collision"
    assert text_of(documents, "/m/Note") == "one"


def test_a_name_kept_in_another_unicode_form_is_the_same_document(documents: Documents, tmp_path: Path) -> None:
    folder = tmp_path / "home/memory/user=ann"
    folder.mkdir()
    (folder / unicodedata.normalize("NFD", "café")).write_text("one")

    put(documents, "/m/café", "two")

    assert [path.read_text() for path in folder.iterdir()] == ["two"]
    assert names(documents, "/m") == ["/m/café"]


def test_a_read_only_mount_is_only_viewed_and_an_edit_only_mount_only_edited(tmp_path: Path) -> None:
    mounts = [Mount("user:ann", "rw"), Mount("user:ann", "ro", "ro"), Mount("user:ann", "eo", "eo")]
    with closing(make_documents(tmp_path / "home", *mounts)) as documents:
        put(documents, "/rw/a", "one")

        assert code_of(put, documents, "/ro/a", "two") == "read_only_mount"
        assert code_of(documents.remove, parse_address("/ro/a"), None, False, caller()) == "read_only_mount"
        assert code_of(put, documents, "/eo/b", "two") == "edit_only_mount"
        assert code_of(documents.remove, parse_address("/eo/a"), None, False, caller()) == "edit_only_mount"
        for source, to in [("/eo/a", "/rw/b"), ("/rw/a", "/eo/b"), ("/rw/a", "/ro/b")]:
            with pytest.raises(HomeportError, match="read-only|edit-only"):
                documents.move(parse_address(source), parse_address(to), None, False, caller())
        assert put(documents, "/eo/a", "two").changed
        assert text_of(documents, "/ro/a") == "two"


def test_a_rename_takes_the_versions_along_across_mounts(tmp_path: Path) -> None:
    with closing(make_documents(tmp_path / "home", Mount("user:ann", "a"), Mount("user:ann/proj:x", "b"))) as documents:
        put(documents, "/b/new", "gone")
        put(documents, "/b/new", "gone again")
        put(documents, "/b/new", "and again")
        documents.remove(parse_address("/b/new"), None, False, caller())
        put(documents, "/a/old", "one")

        documents.move(parse_address("/a/old"), parse_address("/b/new"), 1, False, caller())

        # Above the four versions the address had, so that no number there means two texts.
        assert version_of(documents, "/b/new") == (5, "renamed", "mcp:test")
        assert code_of(text_of, documents, "/a/old") == "document_not_found"
        put(documents, "/a/old", "two")
        assert version_of(documents, "/a/old") == (3, "created", "mcp:test")
        with sqlite3.connect(tmp_path / "home/versions.db") as database:
            rows = database.execute(
                "SELECT version, action FROM versions JOIN documents ON id = document "
                "WHERE scope = 'user:ann/proj:x' AND path = 'new' AND live ORDER BY version"
            ).fetchall()
        database.close()
        assert rows == [(1, "created"), (5, "renamed")]


def test_a_folder_is_renamed_and_deleted_only_when_that_is_asked_for(documents: Documents, tmp_path: Path) -> None:
    put(documents, "/m/f/a", "one")
    put(documents, "/m/f/g/b", "two")

    assert code_of(documents.remove, parse_address("/m/f"), None, False, caller()) == "not_recursive"
    move = documents.move(parse_address("/m/f"), parse_address("/m/h/f"), None, True, caller())
    assert (move.documents, names(documents, "/m")) == (2, ["/m/h/f/a", "/m/h/f/g/b"])
    assert version_of(documents, "/m/h/f/g/b") == (2, "renamed", "mcp:test")
    assert documents.remove(parse_address("/m/h"), None, True, caller()).documents == 2
    assert names(documents, "/m") == []
    assert list((tmp_path / "home/memory/user=ann").iterdir()) == []


@pytest.mark.parametrize(
    ("source", "to", "code"),
    [
        ("/m/a", "/m/a", "document_exists"),
        ("/m/a", "/m/f/b", "document_exists"),
        ("/m/a", "/m/f", "document_exists"),
        ("/m/f", "/m/f/g", "memory_path_invalid"),
        ("/m/none", "/m/x", "document_not_found"),
        ("/m", "/m/x", "memory_path_invalid"),
        ("/m/a", "/n/x", "document_not_found"),
        ("/m/a", "/m/a/x", "memory_path_invalid"),
    ],
)
def test_a_rename_that_cannot_be_is_refused(documents: Documents, source: str, to: str, code: str) -> None:
    put(documents, "/m/a", "one")
    put(documents, "/m/f/b", "two")

    assert code_of(documents.move, parse_address(source), parse_address(to), None, True, caller()) == code
    assert names(documents, "/m") == ["/m/a", "/m/f/b"]


def test_a_document_that_another_process_holds_is_said_to_be_busy(documents: Documents, tmp_path: Path) -> None:
    put(documents, "/m/a", "one")
    locks = [filelock.FileLock(tmp_path / f"home/locks/documents-{number:02}.lock") for number in range(STRIPES)]
    for lock in locks:
        lock.acquire()
    try:
        with pytest.raises(HomeportError) as refused:
            documents.write(parse_address("/m/a"), lambda present: "two", None, caller(patience_s=0.05))
    finally:
        for lock in locks:
            lock.release()

    assert refused.value.code == "home_busy"
    assert text_of(documents, "/m/a") == "one"


@pytest.mark.parametrize("damage", ["garbage", "half", "zeros", "empty-with-log", "newer"])
def test_a_damaged_database_takes_down_changes_and_no_reading(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    home = tmp_path / "home"
    with closing(make_documents(home)) as documents:
        for number in range(200):
            put(documents, f"/m/{number}", "text")
    database = home / "versions.db"
    data = database.read_bytes()
    if damage == "newer":
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("PRAGMA user_version = 99")
    elif damage == "empty-with-log":
        database.write_bytes(b"")
        (home / "versions.db-wal").write_bytes(data)
    else:
        middle = len(data) // 2
        wrong = {"garbage": b"x" * 100, "half": data[:middle], "zeros": data[:4096] + bytes(4096) + data[8192:]}
        database.write_bytes(wrong[damage])
    damaged = database.read_bytes()

    with closing(make_documents(home)) as documents:
        texts = {text_of(documents, f"/m/{number}") for number in range(200)}
        versions = version_of(documents, "/m/7")
        code = code_of(put, documents, "/m/7", "changed")
        listed = names(documents, "/m")

    assert (texts, versions, len(listed)) == ({"text"}, None, 200)
    assert code == ("store_failed" if damage == "newer" else "store_damaged")
    assert (home / "memory/user=ann/7").read_text() == "text"
    assert database.read_bytes() == damaged
    assert len([record for record in caplog.records if "versions.db" in record.getMessage()]) == 1


hostile = st.one_of(
    st.text(max_size=20),
    st.lists(
        st.sampled_from(
            ["..", ".", "", "a", "x", "link", "\\", "C:", "%2e%2e", "etc", "passwd", "\x00", "con", "A", "ä"]
        ),
        max_size=6,
    ).map("/".join),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(below=hostile, prefix=st.sampled_from(["", "/", "/m/", "m/", "/m/link/", "//"]))
def test_no_address_reaches_outside_the_mount(tmp_path: Path, below: str, prefix: str) -> None:
    outside = tmp_path / "outside"
    mount = tmp_path / "home/memory/user=ann"
    if not outside.exists():
        outside.mkdir()
        (outside / "passwd").write_text("secret")
        mount.mkdir(parents=True)
        (mount / "link").symlink_to(outside)
    with closing(make_documents(tmp_path / "home")) as documents:
        _try_everything(documents, prefix + below)

    top = {path.name for path in tmp_path.iterdir()}
    assert top == {"home", "outside"}
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"passwd": "secret"}
    assert {path.name for path in (tmp_path / "home/memory").iterdir()} == {"user=ann"}


def _try_everything(documents: Documents, path: str) -> None:
    """Every use of an address; what is refused must be refused in a way that can be sent."""
    uses: list[Callable[[], object]] = [
        lambda: put(documents, path, "mine"),
        lambda: text_of(documents, path),
        lambda: names(documents, path),
        lambda: documents.move(parse_address(path), parse_address("/m/to"), None, True, caller()),
        lambda: documents.move(parse_address("/m/to"), parse_address(path), None, True, caller()),
        lambda: documents.remove(parse_address(path), None, True, caller()),
    ]
    for use in uses:
        try:
            assert use() != "secret"
        except HomeportError as error:
            (error.message + (error.hint or "")).encode()
            assert "/outside" not in error.message
