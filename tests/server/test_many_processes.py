"""Many servers and command lines on one home, also killed: what was acknowledged is there, and numbered once.

The suite runs a part; `LOAD=whole pytest tests/server/test_many_processes.py` the 10,000 operations and 100 kills.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from homeport.server.state.paths import parse_address
from tests.server.making import RW, caller, make_documents, names, text_of
from tests.server.serving import Serving

WHOLE: Final = os.environ.get("LOAD") == "whole"
OPERATIONS: Final = 10_000 if WHOLE else 500
KILLS: Final = 100 if WHOLE else 10
SERVERS: Final = 16
COMMAND_LINES: Final = 4
MOUNT: Final = ("--mount", RW.canonical)
# A change may meet somebody else's; that it did is said.
CONFLICTS: Final = {"version_conflict"}


_STARTING: Final = threading.Lock()


class Said(NamedTuple):
    """What a change was told. text: what it wrote, None where that depends on what was there."""

    path: str
    version: int
    text: str | None


class Worker:
    """One program that works on the home: a share of the operations, each told or refused."""

    def __init__(self, name: str, home: Path, operations: int) -> None:
        self.name, self.home, self.operations = name, home, operations
        self.thread = threading.Thread(target=self._run)
        self.said: list[Said] = []
        self.lines: list[tuple[str, str]] = []
        self.own: dict[str, str] = {}
        self.refused: Counter[str] = Counter()
        self.failed: BaseException | None = None
        self._random = random.Random(name)

    def _run(self) -> None:
        try:
            self.work()
        except BaseException as error:  # shown by the test: a thread's own traceback fails nothing
            self.failed = error

    def work(self) -> None:
        raise NotImplementedError

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """The envelope of one call."""
        raise NotImplementedError

    def do(self, number: int) -> None:
        """One operation of several sorts, the same ones in each run."""
        kind = self._random.choices(["shared", "contested", "new", "edit", "rename", "delete"], [4, 3, 3, 2, 1, 1])[0]
        mine = sorted(self.own)
        if kind == "shared":
            self._insert(f"/m/shared {self._random.randrange(3)}", f"{self.name} {number}")
        elif kind == "contested":
            self._overwrite("/m/contested", f"{self.name} {number}")
        elif kind == "new" or not mine:
            self._create(f"/m/of {self.name}/{number}", f"text {number} of {self.name}")
        elif kind == "edit":
            self._edit(self._random.choice(mine), number)
        elif kind == "rename":
            self._give_name(self._random.choice(mine), f"/m/moved {number % 5}/{self.name} {number}")
        else:
            self._take_away(self._random.choice(mine))

    def tell(self, command: str, text: str | None, **arguments: Any) -> bool:
        """Make a change and note what was told; False where it was refused."""
        answer = self.ask(command, **arguments)
        if not answer["ok"]:
            self.refused[answer["error"]["code"]] += 1
            return False
        result = answer["result"]
        if result["version"] is not None:
            self.said.append(Said(result["path"], result["version"], text))
        return True

    def _insert(self, path: str, line: str) -> None:
        if self.tell("insert", None, path=path, insert_line=0, insert_text=line):
            self.lines.append((path, line))

    def _overwrite(self, path: str, text: str) -> None:
        version = self.ask("view", path=path)["result"]["version"]
        self.tell("create", text, path=path, file_text=text, expected_version=version)

    def _create(self, path: str, text: str) -> None:
        if self.tell("create", text, path=path, file_text=text):
            self.own[path] = text

    def _edit(self, path: str, number: int) -> None:
        text = f"{self.own[path]} {number}"
        if self.tell("str_replace", text, path=path, old_str=self.own[path], new_str=text):
            self.own[path] = text

    def _give_name(self, path: str, to: str) -> None:
        if self.tell("rename", self.own[path], old_path=path, new_path=to):
            self.own[to] = self.own.pop(path)

    def _take_away(self, path: str) -> None:
        if self.tell("delete", None, path=path):
            del self.own[path]


class Server(Worker):
    """A server and its client, which starts it again where it was killed."""

    serving: Serving | None = None
    stop = False

    def work(self) -> None:
        done = 0
        while done < self.operations and not self.stop:
            try:
                with self._started() as self.serving:
                    while done < self.operations and not self.stop:
                        done += 1
                        self.do(done)
            except (OSError, json.JSONDecodeError):
                _bury(self.serving)
                # Killed in the middle: what it was asked may have happened or not, and was not acknowledged.
                self._find_out()

    def _started(self) -> Serving:
        # One after the other: sixteen at once would take two cores longer than a client waits.
        with _STARTING:
            serving = Serving(self.home, *MOUNT)
            try:
                serving.initialize()
            except BaseException:
                _bury(serving)
                raise
            return serving

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        assert self.serving is not None
        return self.serving.memory(command, **arguments)

    def _find_out(self) -> None:
        """What became of our own documents in the call that was not answered."""
        with closing(make_documents(self.home)) as documents:
            there = [path for path in names(documents, "/m") if f"of {self.name}/" in path or f"/{self.name} " in path]
            lost = set(self.own) - set(there)
            assert len(lost) <= 1, "one call cannot have touched two documents"
            self.own = {path: text_of(documents, path) for path in there}


def _bury(serving: Serving | None) -> None:
    """Leave nothing of a server that was killed, whose pipes may complain when they are closed."""
    if serving is None:
        return
    serving.process.kill()
    serving.process.wait()
    for stream in (serving.process.stdin, serving.process.stdout, serving.process.stderr):
        with suppress(OSError):
            if stream is not None:
                stream.close()


class CommandLines(Worker):
    def work(self) -> None:
        for number in range(self.operations):
            self.do(number)

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        expected = arguments.pop("expected_version", None)
        words = [command, *map(str, arguments.values()), "--json", "--root", str(self.home), *MOUNT]
        words += [] if expected is None else ["--expected-version", str(expected)]
        done = subprocess.run(
            [sys.executable, "-m", "homeport", "memory", *words],
            env={"PATH": os.defpath, "HOME": str(self.home.parent)},
            capture_output=True,
        )
        assert done.stderr == b"", done.stderr
        answer = json.loads(done.stdout)
        assert isinstance(answer, dict)
        return answer


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    home = tmp_path / "home"
    with closing(make_documents(home)) as documents:
        for path in ("/m/shared 0", "/m/shared 1", "/m/shared 2", "/m/contested"):
            documents.write(parse_address(path), lambda present: "begin", 0, caller())
    yield home


def run_all(workers: list[Worker]) -> None:
    for worker in workers:
        worker.thread.start()
    for worker in workers:
        worker.thread.join()
    for worker in workers:
        if worker.failed is not None:
            raise worker.failed


def check(home: Path, workers: list[Worker]) -> None:
    """What was acknowledged is there, whoever died since, and no number was given twice."""
    said = [one for worker in workers for one in worker.said]
    assert [key for key, times in Counter((one.path, one.version) for one in said).items() if times > 1] == []
    with closing(make_documents(home)) as documents:
        kept: dict[str, dict[int, Any]] = {}
        for one in said:
            if one.path not in kept:
                past = documents.past.whole(parse_address(one.path), caller())
                kept[one.path] = {version.number: version for version in past}
            # A document that was renamed since took its versions along.
            found = kept[one.path].get(one.version)
            if found is not None and one.text is not None:
                assert found.data == one.text.encode(), one
        for path in ("/m/shared 0", "/m/shared 1", "/m/shared 2"):
            lines = text_of(documents, path).splitlines()
            assert len(lines) == len(set(lines))
            acknowledged = {line for worker in workers for there, line in worker.lines if there == path}
            assert acknowledged - set(lines) == set()
            assert list(kept.get(path, {})) == list(range(1, len(kept[path]) + 1))
        assert list(kept["/m/contested"]) == list(range(1, len(kept["/m/contested"]) + 1))
        mine = {path: text for worker in workers for path, text in worker.own.items()}
        assert {path: text_of(documents, path) for path in names(documents, "/m") if path in mine} == mine
        assert [
            (path, past) for path, versions in kept.items() for past in versions.values() if past.actor == "file"
        ] == []


@pytest.mark.timeout(1800 if WHOLE else 300)
def test_sixteen_servers_and_four_command_lines_lose_nothing(home: Path) -> None:
    by_hand = OPERATIONS // 100  # a process each, so fewer
    each = (OPERATIONS - by_hand) // SERVERS
    servers: list[Worker] = [Server(f"s{number}", home, each) for number in range(SERVERS)]
    people: list[Worker] = [
        CommandLines(f"c{number}", home, by_hand // COMMAND_LINES) for number in range(COMMAND_LINES)
    ]

    run_all([*servers, *people])

    workers = [*servers, *people]
    assert sum((worker.refused for worker in workers), Counter()).keys() <= CONFLICTS
    check(home, workers)
    with closing(make_documents(home)) as documents:
        mine = {path for worker in workers for path in worker.own}
        shared = {"/m/shared 0", "/m/shared 1", "/m/shared 2", "/m/contested"}
        assert set(names(documents, "/m")) == mine | shared


@pytest.mark.timeout(1800 if WHOLE else 300)
def test_servers_that_are_killed_lose_nothing_that_was_acknowledged(home: Path) -> None:
    servers = [Server(f"s{number}", home, 1_000_000) for number in range(4)]
    chance = random.Random(3)
    for server in servers:
        server.thread.start()
    try:
        for _ in range(KILLS):
            victim = chance.choice(servers)
            told = len(victim.said)
            # It is at work again, and somewhere in the middle of it.
            while len(victim.said) < told + chance.randrange(1, 12) and victim.failed is None:
                victim.thread.join(0.002)
            with suppress(AttributeError):  # between two of its servers
                victim.serving.process.kill()  # type: ignore[union-attr]  # see above
    finally:
        for server in servers:
            server.stop = True
    for server in servers:
        server.thread.join()
        if server.failed is not None:
            raise server.failed

    assert sum((server.refused for server in servers), Counter()).keys() <= CONFLICTS
    check(home, list(servers))
