"""C, call by call: killed, saved by others or held open in between. The races are in test_concurrency_cases.py."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cases.machine import (
    CLAUDE,
    COMMAND,
    CURSOR,
    DESKTOP,
    HOMES,
    LEDGER,
    Home,
    mode_of,
    refused,
    said,
)

# Runs the command once for every call that changes a file, in a fork, and does something just before that call: `kill`
# ends the process, `save` is another program that reads the file, changes a word in it and renames it in.
SWEEP = r"""
import importlib, json, os, pkgutil, shutil, signal, sys
from pathlib import Path
import filelock, homeport
from homeport import files
from homeport.cli.main import main
for module in pkgutil.walk_packages(homeport.__path__, "homeport."):
    if "server" not in module.name and "__main__" not in module.name:
        importlib.import_module(module.name)

deed, name, words = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
home = Path(os.environ["HOME"])
file, state = home / name, home / ".local"
old = file.read_bytes() if file.exists() else None
real_replace = os.replace

def kill():
    os.kill(os.getpid(), signal.SIGKILL)

def save():
    other = home / "other-programs.new"
    other.write_bytes(file.read_bytes().replace(b"count-0", b"count-1", 1))
    real_replace(other, file)

def before_call(number, deed):
    seen = 0
    def counted(function):
        def call(*given, **named):
            nonlocal seen
            seen += 1
            if seen == number:
                deed()
            return function(*given, **named)
        return call
    for one in ("link", "mkdir", "open", "rename", "replace", "rmdir", "unlink", "fsync", "fchmod", "utime"):
        setattr(os, one, counted(getattr(os, one)))
    files._exchange = counted(files._exchange)
    return lambda: seen

def run(number, deed=None):
    "The exit code, and whether the deed's moment came before the command ended."
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        calls = before_call(number, deed)
        code = main(words)
        sys.stdout.flush()
        os.write(writing, b"in time" if calls() >= number else b"too late")
        os._exit(code)
    os.close(writing)
    _, status = os.waitpid(child, 0)
    told = os.read(reading, 20)
    os.close(reading)
    return os.waitstatus_to_exitcode(status), told != b"too late"

def text():
    return file.read_text() if file.exists() else None

def litter():
    return sorted({path.name for path in (*home.iterdir(), *file.parent.iterdir()) if path not in known})

number, rounds = 1, []
known = {*home.iterdir(), *file.parent.iterdir(), file, state}
while True:
    shutil.rmtree(state, ignore_errors=True)
    file.unlink(missing_ok=True) if old is None else file.write_bytes(old)
    code, in_time = run(number, {"kill": kill, "save": save}[deed])
    if not in_time:
        break
    one = {"code": code, "left": text()}
    if deed == "kill":
        one |= {"again": run(0)[0], "after": text()}
    rounds.append(one | {"litter": litter()})
    for path in home.glob("*.lock"):
        path.rmdir()
    number += 1
print(json.dumps(rounds))
"""


def sweep(home: Home, deed: str, client: str, name: str, source: str | None) -> list[dict[str, Any]]:
    if source is not None:
        home.file(name, source)
    words = ("install", "--client", client, "--write", "--via", "file", *LEDGER)
    done = home.python(SWEEP, deed, name, *words)
    assert done.exit == 0, said(done)
    rounds: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    assert len(rounds) > 10, "the calls are counted at the wrong place"
    return rounds


STATE_FILE = '{\n  "saved": "count-0",\n  "mcpServers": {\n    "rota": { "command": "/opt/rota/rota" }\n  }\n}\n'


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks at each call")
@pytest.mark.parametrize(
    ("client", "name", "source"),
    [("claude-code", CLAUDE, STATE_FILE), ("cursor", CURSOR, None)],
    ids=["state-file", "new-file"],
)
def test_c03_a_kill_before_any_call_leaves_old_or_new_and_the_next_run_clears_up(
    tmp_path: Path, client: str, name: str, source: str | None
) -> None:
    home = Home(tmp_path)
    rounds = sweep(home, "kill", client, name, source)
    new = rounds[-1]["after"]
    assert COMMAND in new
    assert {one["left"] for one in rounds} == {source, new}
    assert {(one["code"], one["again"], one["after"]) for one in rounds} == {(-9, 0, new)}
    # The client's lock gets its mark in a second call. Killed between the two, it cannot be told from the client's own,
    # so it is left until it is stale; see test_c03_a_lock_that_nobody_can_be_known_by.
    left = [one["litter"] for one in rounds if one["litter"]]
    assert left == ([[f"{CLAUDE}.lock"]] if client == "claude-code" else [])


def test_c03_a_lock_that_nobody_can_be_known_by_goes_with_the_first_write_after_it_is_stale(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(CLAUDE, STATE_FILE)
    lock = home.path / f"{CLAUDE}.lock"
    lock.mkdir()
    assert home.install("claude-code").exit == 0
    assert lock.is_dir()
    os.utime(lock, (1, 1))
    assert home.uninstall("claude-code").exit == 0
    assert (lock.exists(), home.unchanged()) == (False, True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks at each call")
def test_c01_what_another_program_saves_before_any_call_of_ours_is_kept_and_so_is_ours(tmp_path: Path) -> None:
    rounds = sweep(Home(tmp_path), "save", "claude-code", CLAUDE, STATE_FILE)
    kept = [(one["code"], "count-1" in one["left"], COMMAND in one["left"], one["litter"]) for one in rounds]
    assert kept == [(0, True, True, [])] * len(rounds)


# Windows, where another program holds the target open for a number of tries and names cannot be exchanged.
HELD_OPEN = r"""
import os, sys
from homeport import files
from homeport.cli.main import main

name, times, patience, words = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]
target, tries, replace = os.path.join(os.environ["HOME"], name), [], os.replace

def windows(source, to):
    if str(to) == target:
        tries.append(1)
        if len(tries) <= times:
            error = PermissionError(13, "The process cannot access the file")
            error.winerror = 32
            raise error
    replace(source, to)

os.replace = windows
files._exchange = lambda first, second: False
files._replace_patiently.__defaults__ = (patience,)
code = main(words)
sys.stdout.flush()
sys.exit(code if tries else "the target was never replaced")
"""


@pytest.mark.parametrize(("client", "name"), [("claude-code", CLAUDE), ("cursor", CURSOR)])
def test_c06_a_file_held_open_for_a_moment_is_written_in_the_end(tmp_path: Path, client: str, name: str) -> None:
    home = Home(tmp_path)
    home.file(name, STATE_FILE)
    words = ("install", "--client", client, "--write", "--via", "file", *LEDGER)
    done = home.python(HELD_OPEN, name, "4", "10", *words)
    assert (done.exit, home.litter()) == (0, set()), said(done)
    assert home.value(name, "mcpServers", "ledger", "command") == COMMAND


@pytest.mark.parametrize(("client", "name"), [("claude-code", CLAUDE), ("cursor", CURSOR)])
def test_c06_a_file_held_open_for_good_is_refused_and_nothing_is_left(tmp_path: Path, client: str, name: str) -> None:
    home = Home(tmp_path)
    home.file(name, STATE_FILE)
    words = ("install", "--client", client, "--write", "--via", "file", *LEDGER)
    refused(home, home.python(HELD_OPEN, name, "1000000", "0.2", *words), str(home.path / name), "in use")
    assert names(home) == {name.split("/")[-1]}
    assert home.run("undo", "--write").exit == 1
    assert home.install(client).exit == 0


def names(home: Home) -> set[str]:
    """Every file and folder outside the clients' homes and our state, the client's lock among them."""
    known = {".local", "work", *(name.split("/")[0] for name in HOMES)}
    beside = {path.name for path in (home.path / ".cursor").iterdir()}
    return {path.name for path in home.path.iterdir() if path.name not in known} | beside


@contextmanager
def running(program: str, folder: Path) -> Iterator[None]:
    """A process whose executable has this name."""
    stand_in = folder / program
    shutil.copy(shutil.which("sleep") or "/bin/sleep", stand_in)
    process = subprocess.Popen([str(stand_in), "60"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("program", ["claude", "claude-desktop-helper", "sleep"])
def test_c07_only_the_client_itself_counts_as_running(tmp_path: Path, program: str) -> None:
    home = Home(tmp_path)
    home.file(DESKTOP, "{}")
    with running(program, tmp_path):
        assert home.install("claude-desktop").exit == 0


def test_c07_a_running_client_stops_neither_printing_nor_other_clients(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(DESKTOP, "{}")
    with running("claude-desktop", tmp_path):
        assert home.run("install", "--client", "claude-desktop", *LEDGER).exit == 0
        assert home.install("cursor").exit == 0
        refused_row = home.install("claude-desktop", "--json", *LEDGER).envelope["result"]["clients"][0]
    assert (refused_row["outcome"], refused_row["error"]["code"]) == ("refused", "client_running")
    assert home.unchanged()


def test_c07_the_override_repeats_the_warning(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(DESKTOP, "{}")
    with running("claude-desktop", tmp_path):
        done = home.install("claude-desktop", "--force", *LEDGER)
    assert done.exit == 0
    assert [word for word in ("running", "quit") if word not in said(done)] == []


def test_c08_the_first_bytes_come_back_after_many_runs_and_the_journal_is_bounded(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    home.file(CLAUDE, STATE_FILE).chmod(0o600)
    for number in range(8):
        assert home.install("claude-code", "--name", "ledger", "--", COMMAND, str(number)).exit == 0
    journal = home.path / ".local" / "state" / "homeport" / "journal"
    assert {mode_of(path) & 0o077 for path in journal.iterdir()} == {0}
    for _ in range(8):
        assert home.run("undo", "--write").exit == 0
    assert home.unchanged()
    # As after years of use: far more records than are kept.
    record = min(journal.iterdir()).read_bytes()
    for number in range(300):
        (journal / f"20000101T000000-{number:06}.json").write_bytes(record)
    assert home.install("claude-code").exit == 0
    assert len(list(journal.iterdir())) <= 200
    assert home.run("undo", "--write").exit == 0
    assert home.unchanged()
