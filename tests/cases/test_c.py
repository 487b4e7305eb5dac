"""C, call by call: killed, or saved by others in between. The races are in test_concurrency_cases.py."""

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

from tests.cases.machine import CLAUDE, COMMAND, CURSOR, DESKTOP, LEDGER, Home, said
from tests.harness import Completed

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


# A name of its own, so that tests beside these do not find the client running.
STAND_IN = f"desk{os.getpid()}"
DESKTOP_IS_STAND_IN = (
    "import sys; from homeport.installer.clients import claude_desktop; from homeport.cli.main import main; "
    f"claude_desktop.PROCESS_NAMES = frozenset({{{STAND_IN!r}}}); sys.exit(main(sys.argv[1:]))"
)


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


def install(home: Home, client: str, *words: str) -> Completed:
    return home.python(DESKTOP_IS_STAND_IN, "install", "--client", client, *words, *LEDGER)


def test_c07_a_program_whose_name_only_begins_so_is_not_the_client(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(DESKTOP, "{}")
    with running(f"{STAND_IN}-helper", tmp_path):
        assert install(home, "claude-desktop", "--write").exit == 0


def test_c07_a_running_client_stops_neither_printing_nor_other_clients(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(DESKTOP, "{}")
    with running(STAND_IN, tmp_path):
        assert install(home, "claude-desktop").exit == 0
        both = install(home, "claude-desktop", "--client", "cursor", "--write", "--json").envelope["result"]["clients"]
    assert [(row["client"], row["outcome"], row["applied"]) for row in both] == [
        ("claude-desktop", "refused", False),
        ("cursor", "created", True),
    ]
    assert home.unchanged()


def test_c07_the_override_repeats_the_warning(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(DESKTOP, "{}")
    with running(STAND_IN, tmp_path):
        done = install(home, "claude-desktop", "--write", "--force")
    assert done.exit == 0
    assert "Claude Desktop is running" in said(done)
    assert "would write its own copy of the file over ours" in said(done)
