"""Many processes and one file: nothing that could have been seen is lost, and a kill leaves old or new."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

PYTHON = sys.executable
ROTA = {"command": "/opt/rota/rota"}


def start(home: Path, name: str, client: str = "cursor") -> subprocess.Popen[bytes]:
    words = ["install", "--client", client, "--name", name, "--write", "--via", "file"]
    return subprocess.Popen(
        [PYTHON, "-m", "homeport", *words, "--", "/opt/ledger/ledger", name],
        cwd=home,
        env={"HOME": str(home), "PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finish(process: subprocess.Popen[bytes]) -> int:
    _, error = process.communicate(timeout=120)
    assert process.returncode in (0, 1), error.decode()
    return process.returncode


def cursor_home(tmp_path: Path, servers: dict[str, object]) -> tuple[Path, Path]:
    (tmp_path / ".cursor").mkdir()
    file = tmp_path / ".cursor" / "mcp.json"
    file.write_text(json.dumps({"count": 0, "mcpServers": servers}, indent=2) + "\n")
    return tmp_path, file


@pytest.mark.parametrize("round_number", range(2))
def test_twenty_processes_registering_twenty_names_all_survive(tmp_path: Path, round_number: int) -> None:
    home, file = cursor_home(tmp_path, {"rota": ROTA})
    names = [f"n{number:02}" for number in range(20)]
    processes = [start(home, name) for name in names]
    assert [finish(process) for process in processes] == [0] * 20
    assert sorted(json.loads(file.read_bytes())["mcpServers"]) == [*names, "rota"]
    assert os.listdir(file.parent) == ["mcp.json"]


class OutsideWriter(threading.Thread):
    """A program that counts in the same file: reads it, adds one, saves by rename; and one that reads all the time."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = file
        self.stop = threading.Event()
        self.saves = 0
        self.unreadable: list[bytes] = []

    def run(self) -> None:
        while not self.stop.is_set():
            source = self.file.read_bytes()
            try:
                content = json.loads(source)
            except ValueError:
                self.unreadable.append(source)
                continue
            content["count"] += 1
            new = self.file.with_name("outside.new")
            new.write_text(json.dumps(content, indent=2) + "\n")
            if self.file.read_bytes() == source:  # as careful as a good program is
                os.replace(new, self.file)
                self.saves += 1
            # Paced, not waited for: a loop without pause would leave nobody else a moment.
            self.stop.wait(0.005)
        new = self.file.with_name("outside.new")
        new.unlink(missing_ok=True)


def test_twenty_processes_beside_a_program_that_saves_in_a_loop(tmp_path: Path) -> None:
    home, file = cursor_home(tmp_path, {"rota": ROTA})
    outside = OutsideWriter(file)
    outside.start()
    try:
        names = [f"n{number:02}" for number in range(20)]
        processes = [start(home, name) for name in names]
        codes = [finish(process) for process in processes]
    finally:
        outside.stop.set()
        outside.join()
    content = json.loads(file.read_bytes())
    written = {name for name, code in zip(names, codes, strict=True) if code == 0}
    # A name that was refused is not there; one that was written is, unless the outside program, having read before us,
    # saved over it in the moment between its own last look and its rename.
    lost = written - set(content["mcpServers"])
    assert outside.unreadable == []
    assert content["count"] == outside.saves
    assert "rota" in content["mcpServers"]
    assert len(lost) <= 1, lost
    assert set(content["mcpServers"]) - {"rota"} <= written
    assert os.listdir(file.parent) == ["mcp.json"]


@pytest.mark.parametrize("seed", range(4))
def test_a_kill_at_any_moment_leaves_the_old_file_or_the_new_one(tmp_path: Path, seed: int) -> None:
    """Fifty kills a seed, two hundred in all."""
    home, file = cursor_home(tmp_path, {"rota": ROTA})
    old = file.read_bytes()
    finish(start(home, "ledger"))
    new = file.read_bytes()
    assert new != old
    whole_s = _typical_s(home, file, old)
    moments = random.Random(seed)
    seen = set()
    for _ in range(50):
        file.write_bytes(old)
        process = start(home, "ledger")
        time.sleep(moments.uniform(0.3, 1.05) * whole_s)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        left = file.read_bytes()
        assert left in (old, new)
        seen.add(left)
        assert finish(start(home, "ledger")) == 0
        assert file.read_bytes() == new
        assert os.listdir(file.parent) == ["mcp.json"]
    assert seen == {old, new}, "the kills came all before or all after the save"


def _typical_s(home: Path, file: Path, old: bytes) -> float:
    file.write_bytes(old)
    started = time.monotonic()
    finish(start(home, "ledger"))
    return time.monotonic() - started
