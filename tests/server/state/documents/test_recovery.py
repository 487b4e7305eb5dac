"""A kill between any two steps leaves the old text or the new, and the versions agree with what is there."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from homeport.server.state.documents import disk
from homeport.server.state.documents.places import Key
from homeport.server.state.documents.store import Documents
from homeport.server.state.paths import is_temporary, parse_address
from tests.server.making import caller, make_documents, names, put, text_of, version_of

# Two texts in turn, a rename there and back, and a document that comes and goes; a line for every change that returned.
WRITER = """
import sys
from contextlib import closing
from pathlib import Path
from homeport.server.state.paths import parse_address
from tests.server.making import caller, make_documents, put
with closing(make_documents(Path(sys.argv[1]))) as documents:
    at, to = parse_address("/m/f/moving"), parse_address("/m/g/moved")
    put(documents, "/m/f/moving", "travels")
    print("ready", flush=True)
    for number in range(1_000_000):
        put(documents, "/m/counter", str(number) * 2000)
        documents.move(at, to, None, False, caller())
        put(documents, "/m/passing", "here")
        documents.remove(parse_address("/m/passing"), None, False, caller())
        at, to = to, at
        print(number, flush=True)
"""


@pytest.mark.parametrize("seed", range(24))
def test_a_kill_at_any_point_leaves_old_or_new_and_the_next_process_goes_on(tmp_path: Path, seed: int) -> None:
    home = tmp_path / "home"
    acknowledged = _write_until_killed(home, after_lines=random.Random(seed).randrange(1, 4), spin=seed * 997)

    with closing(make_documents(home)) as documents:
        there = names(documents, "/m")
        counter = text_of(documents, "/m/counter")
        moving = [path for path in there if path.endswith(("moving", "moved"))]
        versions = [version_of(documents, path) for path in there]
        put(documents, "/m/counter", "after")
        put(documents, "/m/passing", "after")

        assert len(counter) % 2000 == 0
        number = int(counter[: len(counter) // 2000])
        assert (counter, number >= acknowledged) == (str(number) * 2000, True)
        assert len(moving) == 1
        assert text_of(documents, moving[0]) == "travels"
        # Nothing that a process of ours wrote is taken for somebody's hand edit.
        assert all(version and version[2] == "mcp:test" for version in versions)
    assert _intents(home) == 0
    assert not [path for path in (home / "memory").rglob("*") if is_temporary(path.name)]


def _write_until_killed(home: Path, after_lines: int, spin: int) -> int:
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(home)], stdout=subprocess.PIPE, cwd=os.getcwd())
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"ready\n"
    last = -1
    for _ in range(after_lines):
        last = int(writer.stdout.readline())
    sum(range(spin * 20))  # some microseconds, different every time
    writer.send_signal(signal.SIGKILL)
    rest, _ = writer.communicate()
    return max([last, *(int(line) for line in rest.splitlines())])


def _intents(home: Path) -> int:
    with closing(sqlite3.connect(home / "versions.db")) as database:
        return int(database.execute("SELECT count(*) FROM intents").fetchone()[0])


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("change", ["create", "edit", "delete", "rename", "rename-folder"])
def test_an_intent_that_was_left_is_finished_or_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, moment: str
) -> None:
    home = tmp_path / "home"
    with closing(make_documents(home)) as dying:
        put(dying, "/m/f/a", "one")
        put(dying, "/m/f/b", "two")
        _die(dying, monkeypatch, change, moment)

    with closing(make_documents(home)) as documents:
        found = {path: (text_of(documents, path), version_of(documents, path)) for path in names(documents, "/m")}

    a, b = ("one", (1, "created", "mcp:test")), ("two", (1, "created", "mcp:test"))
    moved = {"one": ("one", (2, "renamed", "mcp:test")), "two": ("two", (2, "renamed", "mcp:test"))}
    after = {
        "create": {"/m/f/a": a, "/m/f/b": b, "/m/f/c": ("new", (1, "created", "mcp:test"))},
        "edit": {"/m/f/a": ("new", (2, "changed", "mcp:test")), "/m/f/b": b},
        "delete": {"/m/f/b": b},
        "rename": {"/m/f/b": b, "/m/g/x": moved["one"]},
        "rename-folder": {"/m/g/x/a": moved["one"], "/m/g/x/b": moved["two"]},
    }[change]
    assert found == (after if moment == "after" else {"/m/f/a": a, "/m/f/b": b})
    assert _intents(home) == 0


class _Killed(BaseException):
    """Stands for SIGKILL at one exact call: nothing in the code may catch it."""


def _die(documents: Documents, monkeypatch: pytest.MonkeyPatch, change: str, moment: str) -> None:
    def die(*arguments: object) -> None:
        raise _Killed

    if moment == "after":
        monkeypatch.setattr(documents._changing.versions, "land", die)
    else:
        for step in ("put", "rename", "unlink"):
            monkeypatch.setattr(disk, step, die)
    with pytest.raises(_Killed):
        if change in ("create", "edit"):
            put(documents, "/m/f/c" if change == "create" else "/m/f/a", "new")
        elif change == "delete":
            documents.remove(parse_address("/m/f/a"), None, False, caller())
        else:
            source = "/m/f/a" if change == "rename" else "/m/f"
            documents.move(parse_address(source), parse_address("/m/g/x"), None, True, caller())
    monkeypatch.undo()


def test_a_change_that_landed_nowhere_yet_is_acknowledged_and_found_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from homeport.server.state.database import busy

    def locked(*arguments: object) -> None:
        raise busy("locked")

    with closing(make_documents(tmp_path / "home")) as documents:
        monkeypatch.setattr(documents._changing.versions, "land", locked)
        change = put(documents, "/m/a", "one")
        monkeypatch.undo()

        assert (change.changed, change.after) == (True, None)
        put(documents, "/m/a", "two")
        assert version_of(documents, "/m/a") == (2, "changed", "mcp:test")


def test_an_intent_of_somebody_else_is_never_taken_for_one_that_was_read_before(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with closing(make_documents(home)) as slow, closing(make_documents(home)) as quick:
        versions = quick._changing.versions
        first = versions.intend("created", "mcp:quick", Key("user:ann", "a"), b"one", caller().deadline_s)
        [read_before] = slow._changing.versions.intents(caller().deadline_s)
        versions.land(first, caller().deadline_s)
        second = versions.intend("created", "mcp:quick", Key("user:ann", "b"), b"two", caller().deadline_s)

        slow._changing.versions.drop(read_before, caller().deadline_s)

        assert versions.land(second, caller().deadline_s) is not None
