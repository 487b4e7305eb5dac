"""C: others at the same file, kills in the middle of a save, and the way back. See also tests/installer/apply."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from homeport import files
from homeport.installer.apply import journal
from homeport.installer.clients import CLIENTS
from tests.cases.machine import CLAUDE, CODEX, COMMAND, CURSOR, DESKTOP, LEDGER, PROJECT, Home, mode_of, refused, said
from tests.harness import Completed

STARTED = {
    "numStartups": 0,
    "mcpServers": {"rota": {"type": "stdio", "command": "/opt/rota/rota", "args": [], "env": {}}},
}
STATE = json.dumps(STARTED, indent=2) + "\n"


class Counter(threading.Thread):
    """A client that counts in the same file without any lock: reads, adds one, saves by temporary file and rename."""

    def __init__(self, file: Path, times: int) -> None:
        super().__init__()
        self.file, self.times, self.done = file, times, threading.Event()

    def run(self) -> None:
        for _ in range(self.times):
            content = json.loads(self.file.read_bytes())
            content["numStartups"] += 1
            new = self.file.with_name("counter.new")
            new.write_text(json.dumps(content, indent=2))
            os.replace(new, self.file)
            self.done.wait(0.005)  # paced as the report has it; nobody waits for it
        self.done.set()


class Watcher(threading.Thread):
    """Reads the file all the time and keeps what did not parse."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file, self.done, self.torn = file, threading.Event(), list[bytes]()

    def run(self) -> None:
        while not self.done.is_set():
            source = self.file.read_bytes()
            try:
                json.loads(source)
            except ValueError:
                self.torn.append(source)


@pytest.mark.parametrize("install", [True, False], ids=["install", "uninstall"])
def test_c01_a_counter_beside_us_loses_nothing_and_no_reader_sees_a_torn_file(tmp_path: Path, install: bool) -> None:
    home = Home(tmp_path)
    file = home.file(CLAUDE, STATE)
    if not install:
        home.install("claude-code")
    counter, watcher = Counter(file, 200), Watcher(file)
    watcher.start()
    counter.start()
    done = home.install("claude-code") if install else home.uninstall("claude-code")
    counter.join()
    watcher.done.set()
    watcher.join()
    content = json.loads(file.read_bytes())
    assert watcher.torn == []
    assert (content["numStartups"], "rota" in content["mcpServers"]) == (200, True)
    assert ("ledger" in content["mcpServers"]) == (install == (done.exit == 0)), said(done)
    assert done.exit == 0 or "kept changing" in said(done)


@pytest.mark.parametrize("there", [True, False], ids=["existing", "new"])
def test_c01_every_command_that_writes_holds_the_clients_own_lock(tmp_path: Path, there: bool) -> None:
    """Seen by a lock of a program that died, which who locks takes over."""
    home = Home(tmp_path, quick=True)
    if there:
        home.file(CLAUDE, STATE)
    lock = home.path / f"{CLAUDE}.lock"
    commands: list[Callable[[], Completed]] = [
        lambda: home.install("claude-code"),
        lambda: home.uninstall("claude-code"),
        lambda: home.run("undo", "--write"),
        lambda: home.run("undo", "--write"),
    ]
    for command in commands:
        lock.mkdir()
        os.utime(lock, (1, 1))
        assert (command().exit, lock.exists()) == (0, False)
    assert home.unchanged()


def at_once(*runs: Callable[[], Completed]) -> list[int]:
    """The exit code of each, all started together."""
    codes = [-1] * len(runs)

    def one(number: int) -> None:
        codes[number] = runs[number]().exit

    threads = [threading.Thread(target=one, args=(number,)) for number in range(len(runs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return codes


def register(home: Home, client: str, name: str, level: str = "user") -> Callable[[], Completed]:
    return lambda: home.install(client, "--name", name, "--", COMMAND, name, level=level)


NAMES = [f"n{number:02}" for number in range(20)]


@pytest.mark.parametrize(
    ("client", "name", "container"), [("claude-code", CLAUDE, "mcpServers"), ("codex", CODEX, "mcp_servers")]
)
def test_c02_twenty_registrations_in_one_file_all_survive(
    tmp_path: Path, client: str, name: str, container: str
) -> None:
    home = Home(tmp_path)
    home.file(name, STATE if client == "claude-code" else '[mcp_servers.rota]\ncommand = "/opt/rota/rota"\n')
    assert at_once(*(register(home, client, one) for one in NAMES)) == [0] * 20
    assert sorted(home.value(name, container)) == [*NAMES, "rota"]
    assert home.litter() == set()


def test_c02_two_clients_that_share_a_file_and_a_file_that_nobody_had_yet(tmp_path: Path) -> None:
    home = Home(tmp_path)
    clients = ["claude-code", "muse-code"] * 6
    codes = at_once(*(register(home, client, one, "project") for client, one in zip(clients, NAMES, strict=False)))
    assert codes == [0] * 12
    assert sorted(home.value(f"{PROJECT}/.mcp.json", "mcpServers")) == NAMES[:12]
    assert home.litter() == {f"{PROJECT}/.mcp.json"}


def test_c02_some_go_while_others_come(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for name in NAMES[:6]:
        register(home, "cursor", name)()
    going = [lambda name=name: home.uninstall("cursor", name) for name in NAMES[:6]]
    coming = [register(home, "cursor", name) for name in NAMES[6:12]]
    assert at_once(*going, *coming) == [0] * 12
    assert sorted(home.value(CURSOR, "mcpServers")) == NAMES[6:12]


WORDS = ("install", "--client", "claude-code", "--write", "--via", "file", *LEDGER)


def settled(home: Home, new: bytes) -> None:
    """The next run succeeds, and nothing of the killed one is left."""
    home.quick = True
    assert home.install("claude-code").exit == 0
    assert home.read(CLAUDE) == new
    assert home.litter() == set()
    lock = home.path / (CLAUDE + ".lock")
    if lock.exists():
        # Killed after making it and before marking it as ours: like anybody's, it is taken over once it is stale.
        os.utime(lock, (0, 0))
    assert home.run("undo", "--write").exit == 0
    assert (home.read(CLAUDE).decode(), lock.exists()) == (STATE, False)


@pytest.mark.parametrize("seed", range(4))
def test_c03_fifty_kills_at_any_moment_leave_old_or_new(tmp_path: Path, seed: int) -> None:
    """Two hundred in all."""
    home = Home(tmp_path)
    old = home.file(CLAUDE, STATE).read_bytes()
    began = time.monotonic()
    assert home.install("claude-code").exit == 0
    whole_s = time.monotonic() - began
    new = home.read(CLAUDE)
    moments = random.Random(seed)
    for _ in range(50):
        home.file(CLAUDE, old)
        process = subprocess.Popen(
            [sys.executable, "-m", "homeport", *WORDS],
            cwd=home.project,
            env={"HOME": str(home.path), "PATH": os.environ["PATH"]},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(moments.uniform(0.2, 1.1) * whole_s)
        process.kill()
        process.wait()
        assert home.read(CLAUDE) in (old, new)
    settled(home, new)


FOR_EVER = 10_000


class HeldOpen:
    """os.replace as Windows has it while another program holds the target open, for so many tries."""

    def __init__(self, target: Path, tries: int, number: int) -> None:
        self.target, self.tries, self.number = target, tries, number
        self.seen: list[bytes] = []
        self.now_s = 1000.0

    def replace(self, source: Path, target: Path) -> None:
        if Path(target) == self.target and len(self.seen) < self.tries:
            self.seen.append(self.target.read_bytes())
            error = PermissionError(13, "Access is denied")
            error.winerror = self.number  # type: ignore[attr-defined]  # an attribute on Windows alone
            raise error
        os.rename(source, target)

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, int, int], HeldOpen]:
    def hold(target: Path, tries: int, number: int) -> HeldOpen:
        program = HeldOpen(target, tries, number)
        monkeypatch.setattr(files, "_exchange", lambda first, second: False)
        monkeypatch.setattr(os, "replace", program.replace)
        monkeypatch.setattr(time, "sleep", program.sleep)
        monkeypatch.setattr(time, "monotonic", lambda: program.now_s)
        return program

    return hold


@pytest.mark.parametrize("number", [5, 32, 33], ids=["access-denied", "sharing-violation", "lock-violation"])
def test_c06_a_target_held_open_for_a_second_is_tried_again(
    tmp_path: Path, held: Callable[[Path, int, int], HeldOpen], number: int
) -> None:
    home = Home(tmp_path, quick=True)
    file = home.file(CURSOR, STATE)
    program = held(file, 20, number)
    assert home.install("cursor").exit == 0
    assert program.seen == [STATE.encode()] * 20
    assert "ledger" in home.value(CURSOR, "mcpServers")
    assert (home.litter(), 1 <= program.now_s - 1000 < 10) == (set(), True)


@pytest.mark.parametrize(("client", "name"), [("cursor", CURSOR), ("claude-code", CLAUDE)])
def test_c06_one_held_open_for_ever_is_refused_and_told(
    tmp_path: Path, held: Callable[[Path, int, int], HeldOpen], client: str, name: str
) -> None:
    home = Home(tmp_path, quick=True)
    program = held(home.file(name, STATE), FOR_EVER, 32)
    done = home.install(client, "--json", *LEDGER)
    assert done.envelope["error"]["code"] == "file_in_use"
    refused(home, done, str(home.path / name), "in use")
    assert set(program.seen) == {STATE.encode()}
    assert 10 <= program.now_s - 1000 < 90


def test_c06_what_is_no_sharing_violation_is_not_waited_for(
    tmp_path: Path, held: Callable[[Path, int, int], HeldOpen]
) -> None:
    home = Home(tmp_path, quick=True)
    program = held(home.file(CURSOR, STATE), FOR_EVER, 1314)
    refused(home, home.install("cursor"), str(home.path / CURSOR))
    assert (len(program.seen), program.now_s < 1001) == (1, True)


def test_c07_a_running_client_that_writes_its_copy_back_is_refused_and_force_goes_on(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(DESKTOP, '{ "mcpServers": {}, "preferences": { "sidebar": "on" } }\n')
    stand_in = tmp_path / f"desk{os.getpid()}"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", stand_in)
    # A name of its own, so that tests beside this one do not find the client running.
    code = (
        "import sys; from homeport.installer.clients import claude_desktop; from homeport.cli.main import main; "
        f"claude_desktop.PROCESS_NAMES = frozenset({{{stand_in.name!r}}}); sys.exit(main(sys.argv[1:]))"
    )
    words = ("install", "--client", "claude-desktop", "--write")
    running = subprocess.Popen([str(stand_in), "60"])
    try:
        refused(home, home.python(code, *words, *LEDGER), "Claude Desktop", "running", "quit", "--force")
        done = home.python(code, *words, "--force", *LEDGER)
    finally:
        running.kill()
        running.wait()
    assert (done.exit, "quit Claude Desktop" in said(done)) == (0, True)
    assert home.value(DESKTOP, "mcpServers", "ledger", "command") == COMMAND
    assert home.python(code, *words, "--name", "second", "--", COMMAND).exit == 0
    # What it then does with its copy.
    home.file(DESKTOP, '{ "preferences": { "sidebar": "on" } }\n')
    status = home.run("status", "--client", "claude-desktop", "--name", "ledger")
    assert (status.exit, "took it out" in said(status), str(home.path / DESKTOP) in said(status)) == (1, True, True)


def test_c07_the_command_line_client_is_not_taken_for_the_app() -> None:
    assert CLIENTS["claude-desktop"].PROCESS_NAMES == {"Claude", "Claude.exe", "claude-desktop"}
    assert [name for name, client in CLIENTS.items() if client.PROCESS_NAMES] == ["claude-desktop"]


@pytest.mark.parametrize(("client", "name"), [("claude-code", CLAUDE), ("cursor", CURSOR)])
def test_c08_what_was_first_comes_back_after_several_runs(tmp_path: Path, client: str, name: str) -> None:
    home = Home(tmp_path, quick=True)
    home.file(name, STATE).chmod(0o600)
    runs = 4
    for number in range(runs):
        home.install(client, "--name", "ledger", "--", COMMAND, "serve", f"--n={number}")
    kept = [path for path in (home.path / ".local/state/homeport/journal").iterdir() if path.is_file()]
    assert {mode_of(path) for path in kept} == {0o600}
    for _ in range(runs):
        assert home.run("undo", "--write").exit == 0
    assert (home.unchanged(), home.litter()) == (True, set())
    assert home.run("undo", "--write").exit == 1


def test_c08_another_part_of_the_file_that_changed_since_stays(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(CLAUDE, STATE)
    for number in range(2):
        home.install("claude-code", "--name", "ledger", "--", COMMAND, f"--n={number}")
    home.file(CLAUDE, home.read(CLAUDE).replace(b'"numStartups": 0', b'"numStartups": 9'))
    for _ in range(2):
        assert home.run("undo", "--write").exit == 0
    assert home.read(CLAUDE).decode() == STATE.replace('"numStartups": 0', '"numStartups": 9')


def test_c08_an_operation_is_taken_back_by_its_name_while_later_ones_stay(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(CURSOR, STATE)
    first = home.install("cursor", "--json", "--name", "first", "--", COMMAND).envelope["result"]["journal"]
    home.install("cursor", "--name", "second", "--", COMMAND)
    assert home.run("undo", first, "--write").exit == 0
    assert sorted(home.value(CURSOR, "mcpServers")) == ["rota", "second"]


def test_c08_the_journal_holds_our_span_and_nobody_elses_and_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert journal.KEPT == 200
    monkeypatch.setattr(journal, "KEPT", 5)
    home = Home(tmp_path, quick=True)
    home.file(CLAUDE, json.dumps({"oauth": "their-own-secret", "mcpServers": {}, "history": ["private words"]}))
    for number in range(8):
        home.install("claude-code", "--name", "ledger", "--", COMMAND, f"--n={number}")
    records = list((home.path / ".local/state/homeport/journal").glob("*.json"))
    kept = b"".join(path.read_bytes() for path in records)
    assert len(records) == 5
    assert (b"ledger" in kept, b"their-own-secret" in kept, b"private words" in kept) == (True, False, False)
