"""What stands when the client's own program fails, lies, is interrupted or dies between its two commands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.harness import Completed, run_homeport

# Stands in for Claude Code's program where that has to fail; tests/real_clients runs the real one.
# CLAUDE_DOES tells what `mcp add` does; `mcp remove` always does as it is told.
PROGRAM = f"""#!{sys.executable}
import json, os, pathlib, sys, time
file = pathlib.Path.home() / ".claude.json"
data = json.loads(file.read_text())
words = sys.argv[1:]
name = [word for word in words if word in ("ledger", "tally")][0]
does = os.environ.get("CLAUDE_DOES", "add")
if words[:2] == ["mcp", "remove"]:
    data["mcpServers"].pop(name)
    file.write_text(json.dumps(data))
elif does == "fail":
    sys.exit("no")
elif does == "wait":
    (pathlib.Path.home() / "waiting").touch()
    time.sleep(60)
elif does == "add":
    at = words.index("--")
    data["mcpServers"][name] = {{"type": "stdio", "command": words[at + 1], "args": words[at + 2:], "env": {{}}}}
    file.write_text(json.dumps(data))
"""
ENTRY = {"type": "stdio", "command": "/bin/sh", "args": ["one"], "env": {}, "timeout": 7}
OTHER = {"command": "/bin/other"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / ".claude").mkdir()
    (tmp_path / "project").mkdir()
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "claude").write_text(PROGRAM)
    (programs / "claude").chmod(0o755)
    write_state(tmp_path, ledger={**ENTRY}, other=OTHER)
    homeport(tmp_path, "install", "--name", "ledger", "--client", "claude-code", "--write", "--via", "file", *SAME)
    return tmp_path


SAME = ("--", "/bin/sh", "one")
UPDATE = (
    *("install", "--name", "ledger", "--client", "claude-code", "--write", "--via", "cli", "--json", "--replace"),
    *("--", "/bin/sh", "two"),
)


def write_state(home: Path, **servers: Any) -> None:
    (home / ".claude.json").write_text(json.dumps({"numStartups": 3, "mcpServers": servers}))


def servers(home: Path) -> dict[str, Any]:
    data = json.loads((home / ".claude.json").read_text())
    return dict(data["mcpServers"])


def variables(home: Path, does: str) -> dict[str, str]:
    return {"PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}", "CLAUDE_DOES": does}


def homeport(home: Path, *arguments: str, does: str = "add") -> Completed:
    return run_homeport(*arguments, home=home, cwd=home / "project", variables=variables(home, does))


def start_and_wait_for_the_add(home: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-m", "homeport", *UPDATE],
        cwd=home / "project",
        env={"HOME": str(home), **variables(home, "wait")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 30
    while not (home / "waiting").exists():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.01)
    assert "ledger" not in servers(home)
    return process


def test_an_update_is_removed_and_added_and_can_be_undone(home: Path) -> None:
    done = homeport(home, *UPDATE)
    assert done.exit == 0, done.stdout
    assert servers(home)["ledger"]["args"] == ["two"]
    assert homeport(home, "undo", "--write").exit == 0
    assert servers(home) == {"ledger": ENTRY, "other": OTHER}


@pytest.mark.parametrize("does", ["fail", "lie"])
def test_the_old_entry_comes_back_where_the_program_fails_or_lies(home: Path, does: str) -> None:
    done = homeport(home, *UPDATE, does=does)
    assert done.exit == 1
    assert done.envelope["error"]["code"] == "client_command_failed"
    assert servers(home) == {"ledger": ENTRY, "other": OTHER}


def test_the_old_entry_comes_back_on_an_interrupt(home: Path) -> None:
    process = start_and_wait_for_the_add(home)
    # As a terminal does: to the whole foreground group.
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=30) == 130
    assert servers(home) == {"ledger": ENTRY, "other": OTHER}


def test_the_old_entry_comes_back_at_the_next_run_after_a_kill(home: Path) -> None:
    process = start_and_wait_for_the_add(home)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=30)
    assert "ledger" not in servers(home)
    next_run = ("install", "--name", "tally", "--client", "claude-code", "--write", "--via", "file", *SAME)
    assert homeport(home, *next_run).exit == 0
    assert {name: servers(home)[name] for name in ("ledger", "other")} == {"ledger": ENTRY, "other": OTHER}


def test_the_next_run_leaves_what_somebody_else_put_there_after_a_kill(home: Path) -> None:
    process = start_and_wait_for_the_add(home)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=30)
    theirs = {"command": "/bin/theirs"}
    write_state(home, ledger=theirs, other=OTHER)
    next_run = ("install", "--name", "tally", "--client", "claude-code", "--write", "--via", "file", *SAME)
    assert homeport(home, *next_run).exit == 0
    assert servers(home)["ledger"] == theirs


def test_our_entry_that_hides_the_one_the_program_writes_goes_too(home: Path) -> None:
    project = home / "project" / ".mcp.json"
    project.write_text('{"mcpServers": {"mine": {"command": "x"}}}\n')
    before = project.read_bytes()
    install = ("install", "--name", "ledger", "--client", "claude-code", "--write")
    assert homeport(home, *install, "--level", "project", *SAME).exit == 0
    assert project.read_bytes() != before
    done = homeport(home, *UPDATE)
    assert done.exit == 0, done.stdout
    [row] = done.envelope["result"]["clients"]
    assert [one["file"] for one in row["removed"]] == [str(project)]
    assert project.read_bytes() == before
    assert servers(home)["ledger"]["args"] == ["two"]
    assert homeport(home, "undo", "--write").exit == 0
    assert servers(home)["ledger"] == ENTRY
    assert json.loads(project.read_text())["mcpServers"].keys() == {"mine", "ledger"}


def test_a_shadow_that_cannot_be_taken_out_leaves_the_programs_entry_as_it_was(home: Path) -> None:
    project = home / "project" / ".mcp.json"
    install = ("install", "--name", "ledger", "--client", "claude-code", "--write")
    assert homeport(home, *install, "--level", "project", *SAME).exit == 0
    project.chmod(0o444)
    done = homeport(home, *UPDATE)
    assert done.exit == 1
    assert done.envelope["error"]["code"] == "read_only"
    assert servers(home) == {"ledger": ENTRY, "other": OTHER}


def test_uninstall_of_every_level_takes_out_what_the_program_does_not_reach(home: Path) -> None:
    project = home / "project" / ".mcp.json"
    install = ("install", "--name", "ledger", "--client", "claude-code", "--write", "--keep-shadows")
    assert homeport(home, *install, "--level", "project", *SAME).exit == 0
    uninstall = (
        "uninstall",
        "ledger",
        "--client",
        "claude-code",
        "--level",
        "all",
        "--via",
        "cli",
        "--write",
        "--replace",
    )
    assert homeport(home, *uninstall).exit == 0
    assert servers(home) == {"other": OTHER}
    assert not project.exists()


def test_what_is_held_back_is_not_said_to_be_done(home: Path) -> None:
    install = ("install", "--name", "ledger", "--client", "claude-code", "--write", "--keep-shadows")
    assert homeport(home, *install, "--level", "project", *SAME).exit == 0
    write_state(home, ledger=OTHER)
    uninstall = ("uninstall", "ledger", "--client", "claude-code", "--level", "all", "--via", "file", "--json")
    done = homeport(home, *uninstall, "--write")
    assert done.exit == 1
    assert done.envelope["error"]["code"] == "foreign_entry"
    rows = {row["level"]: (row["outcome"], row["applied"]) for row in done.envelope["result"]["clients"]}
    assert rows == {"user": ("refused", False), "project": ("refused", False)}
