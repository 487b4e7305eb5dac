"""The index from what is kept is the one from the folders, whatever happened in between."""

from __future__ import annotations

import itertools
import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from homeport.server.state.documents import catalogue, folder_scan
from homeport.server.state.documents.index import MountIndex
from homeport.server.state.paths import parse_address
from tests.server.making import caller, make_documents, put

LONG_AGO = 1_000_000_000
_ticks = itertools.count(LONG_AGO)


def settle(home: Path) -> None:
    """Give what changed since the last call a time of its own, long ago: nothing is too young to be trusted."""
    for folder in [home / "memory", *(path for path in (home / "memory").rglob("*") if path.is_dir())]:
        if folder.stat().st_mtime > LONG_AGO + 10_000_000:
            os.utime(folder, (next(_ticks),) * 2)


def indexed(home: Path) -> list[MountIndex]:
    with closing(make_documents(home)) as documents:
        return documents.index()


def anew(home: Path) -> list[MountIndex]:
    (home / "index.db").unlink(missing_ok=True)
    return indexed(home)


steps = st.lists(
    st.tuples(st.sampled_from(["put", "remove", "move", "by hand", "folder by hand", "restart"]), st.integers(0, 7)),
    max_size=14,
)


@settings(deadline=None, max_examples=25)
@given(done=steps)
@example(done=[("put", 1), ("put", 0), ("by hand", 1)])  # the new file gets the inode of the old one
def test_what_is_kept_never_differs_from_what_is_there(
    tmp_path_factory: pytest.TempPathFactory, done: list[tuple[str, int]]
) -> None:
    home = tmp_path_factory.mktemp("kept") / "home"
    root = home / "memory/user=ann"
    names = ["a", "f/a", "f/b", "f/g/a", "h/a", "h/b (1)", "h/b", "i/j/k/a"]
    documents = make_documents(home)
    for at, (step, number) in enumerate(done):
        path = names[number]
        there = (root / path).is_file()
        if step == "put":
            put(documents, f"/m/{path}", str(at))
        elif step == "remove" and there:
            documents.remove(parse_address(f"/m/{path}"), None, False, caller())
        elif step == "move" and there:
            documents.move(parse_address(f"/m/{path}"), parse_address(f"/m/to {at}/x"), None, False, caller())
        elif step == "by hand":
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).unlink(missing_ok=True)
            (root / path).write_text("by hand")
        elif step == "folder by hand" and (root / path).parent.is_dir():
            os.rename((root / path).parent, root.parent / "aside")
            root.mkdir(exist_ok=True)
            os.rename(root.parent / "aside", root / f"moved {at}")
        elif step == "restart":
            documents.close()
            documents = make_documents(home)
        settle(home)
        documents.index()
    kept = documents.index()
    documents.close()

    assert kept == indexed(home) == anew(home)


def test_an_unchanged_home_is_not_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    with closing(make_documents(home)) as documents:
        for number in range(30):
            put(documents, f"/m/f{number % 3}/{number}", "x")
    settle(home)
    before = indexed(home)
    looked: list[str] = []

    def look(path: str, *arguments: object) -> folder_scan.Scan | None:
        looked.append(Path(path).name)
        return scan(path, *arguments)  # type: ignore[arg-type]  # as it is called

    scan = folder_scan.scan_folder
    monkeypatch.setattr(catalogue, "scan_folder", look)

    assert (indexed(home), looked) == (before, [])
    with closing(make_documents(home)) as documents:
        put(documents, "/m/f1/new", "x")
        settle(home)
        [index] = documents.index()
    assert (str(index.newest[0]), index.total, looked) == ("/m/f1/new", 31, ["f1"])


def test_a_folder_that_changed_just_now_is_looked_at_again(tmp_path: Path) -> None:
    home = tmp_path / "home"
    root = home / "memory/user=ann"
    with closing(make_documents(home)) as documents:
        put(documents, "/m/a", "x")
        first = documents.index()
        changed = root.stat().st_mtime_ns
        (root / "b").write_text("within one tick of the clock")
        os.utime(root, ns=(changed, changed))
        second = documents.index()

    assert (first[0].total, second[0].total) == (1, 2)


@pytest.mark.parametrize("damage", ["garbage", "torn-row", "torn-summary", "folder", "newer", "read-only"])
def test_a_damaged_or_unusable_index_costs_nothing_but_a_walk(tmp_path: Path, damage: str) -> None:
    home = tmp_path / "home"
    with closing(make_documents(home)) as documents:
        put(documents, "/m/f/a", "x")
    settle(home)
    right = indexed(home)
    file = home / "index.db"
    if damage == "garbage":
        file.write_bytes(random.Random(1).randbytes(9000))
    elif damage == "folder":
        file.unlink()
        file.mkdir()
    elif damage == "read-only":
        file.write_bytes(b"")
        file.chmod(0)
    else:
        change = {
            "torn-row": "UPDATE folders SET held = '[{\"a', modified_ns = 7",
            "torn-summary": "UPDATE summaries SET summary = '[7'",
            "newer": "PRAGMA user_version = 99",
        }[damage]
        with closing(sqlite3.connect(file, isolation_level=None)) as database:
            database.execute(change)

    assert [indexed(home), indexed(home)] == [right, right]
    if damage == "garbage":
        with closing(sqlite3.connect(file)) as database:
            assert database.execute("SELECT count(*) FROM folders").fetchone() == (2,)


def test_two_processes_keep_one_index(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with closing(make_documents(home)) as one, closing(make_documents(home)) as two:
        put(one, "/m/a", "x")
        one.index()
        put(two, "/m/b", "x")
        assert one.index() == two.index()
        (home / "index.db").unlink()
        put(one, "/m/c", "x")
        assert [index.total for index in (*one.index(), *two.index())] == [3, 3]
