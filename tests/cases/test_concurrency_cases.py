"""C: others at the same file. The races and kills in strength are in tests/installer/apply/test_races.py."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from pathlib import Path

from tests.cases.machine import LEDGER, Home, refused, said

DESKTOP = ".config/Claude/claude_desktop_config.json"


def test_c01_a_counter_beside_us_loses_nothing_and_no_reader_sees_a_torn_file(tmp_path: Path) -> None:
    home = Home(tmp_path)
    file = home.file(".claude.json", json.dumps({"numStartups": 0, "mcpServers": {"rota": {"command": "/r"}}}))
    torn: list[bytes] = []
    done = threading.Event()

    def count() -> None:
        for _ in range(200):
            content = json.loads(file.read_bytes())
            content["numStartups"] += 1
            new = file.with_name("counter.new")
            new.write_text(json.dumps(content))
            os.replace(new, file)
            done.wait(0.005)

    def watch() -> None:
        while not done.is_set():
            source = file.read_bytes()
            try:
                json.loads(source)
            except ValueError:
                torn.append(source)

    counter, watcher = threading.Thread(target=count), threading.Thread(target=watch)
    watcher.start()
    counter.start()
    result = home.install("claude-code")
    counter.join()
    done.set()
    watcher.join()
    content = json.loads(file.read_bytes())
    assert torn == []
    assert content["numStartups"] == 200
    assert "rota" in content["mcpServers"]
    assert ("ledger" in content["mcpServers"]) == (result.exit == 0), said(result)


def test_c02_twenty_registrations_of_one_state_file_all_survive(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(".claude.json", json.dumps({"mcpServers": {"rota": {"command": "/r"}}}, indent=2))
    names = [f"n{number:02}" for number in range(20)]
    results: dict[str, int] = {}

    def register(name: str) -> None:
        results[name] = home.install("claude-code", "--name", name, "--", "/opt/ledger", name).exit

    threads = [threading.Thread(target=register, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(results.values()) == {0}
    assert sorted(home.value(".claude.json", "mcpServers")) == [*names, "rota"]
    assert home.litter() == set()


def test_c07_a_running_claude_desktop_is_refused_and_force_goes_on(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(DESKTOP, '{ "mcpServers": {}, "preferences": { "sidebar": "on" } }\n')
    stand_in = tmp_path / "claude-desktop"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", stand_in)
    running = subprocess.Popen([str(stand_in), "60"])
    try:
        refused(home, home.install("claude-desktop"), "running", "quit")
        assert home.install("claude-desktop", "--force", *LEDGER).exit == 0
    finally:
        running.kill()
        running.wait()
    home.file(DESKTOP, '{ "preferences": { "sidebar": "on" } }\n')
    status = home.run("status", "--client", "claude-desktop", "--name", "ledger")
    assert status.exit == 1
    assert "took it out" in said(status)


def test_c08_two_installs_are_taken_back_to_the_first_bytes(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(".claude.json", '{\n  "numStartups": 0,\n  "mcpServers": { "rota": { "command": "/r" } }\n}\n')
    home.install("claude-code")
    home.install("claude-code", "--name", "ledger", "--", "/opt/ledger/bin/ledger", "serve", "--other")
    assert home.run("undo", "--write").exit == 0
    assert home.run("undo", "--write").exit == 0
    assert home.unchanged()
    assert home.run("undo", "--write").exit == 1


def test_c08_the_journal_holds_our_span_and_nobody_elses(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(".claude.json", json.dumps({"oauth": "their-own-secret", "mcpServers": {}, "history": ["private words"]}))
    home.install("claude-code")
    kept = b"".join(path.read_bytes() for path in (home.path / ".local/state/homeport/journal").iterdir())
    assert b"ledger" in kept
    assert b"their-own-secret" not in kept
    assert b"private words" not in kept
