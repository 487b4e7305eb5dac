"""The program's own streams, as a process: pipes, code pages, colour, interrupts."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import IO

import pytest

from tests.harness import Completed, needs, run_homeport

MODES = {"printed": (), "JSON": ("--json",), "diff": ("--diff",), "check": ("--check",)}


@pytest.fixture
def moon(tmp_path: Path) -> Path:
    """A home whose name no legacy code page has."""
    home = tmp_path / "домой-🌙"
    (home / ".cursor").mkdir(parents=True)
    return home


def rota(home: Path, mode: str, **variables: str) -> Completed:
    line = ("install", "--client", "cursor", "--name", "rota", *MODES[mode], "--", "/opt/rota", "день")
    done = run_homeport(*line, home=home, variables=variables)
    assert done.exit == (3 if mode == "check" else 0), done
    assert b"Traceback" not in done.stderr
    return done


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-16", "utf-8"])
def test_a_legacy_code_page_changes_nothing_of_what_is_taken_away(encoding: str, mode: str, moon: Path) -> None:
    done = rota(moon, mode, PYTHONIOENCODING=encoding)
    if mode == "JSON":
        (row,) = done.envelope["result"]["clients"]
        assert (row["file"], row["entry"]["args"]) == (str(moon / ".cursor/mcp.json"), ["день"])
    if mode == "printed":
        assert json.loads(done.stdout)["mcpServers"]["rota"]["args"] == ["день"]
    if mode == "diff":
        assert "день".encode() in done.stdout


@pytest.mark.parametrize("mode", MODES)
def test_a_locale_without_letters_never_crashes_it(mode: str, moon: Path) -> None:
    rota(moon, mode, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")


@pytest.mark.parametrize("mode", ["", "--json", "--help", "--diff"])
def test_a_reader_that_goes_away_gets_no_complaint(mode: str, moon: Path) -> None:
    line = [sys.executable, "-m", "homeport", "install", "--client", "cursor", *mode.split()]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(line, stdout=write, stderr=subprocess.PIPE, cwd=moon, env=minimal(moon), timeout=60)
    os.close(write)
    assert (done.returncode, b"Traceback" in done.stderr, b"BrokenPipe" in done.stderr) == (0, False, False)


def minimal(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"]}


def test_in_a_shells_pipe_too(moon: Path) -> None:
    line = f"'{sys.executable}' -m homeport list | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run([needs("bash"), "-c", line], cwd=moon, env=minimal(moon), capture_output=True, timeout=60)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_a_closed_stream_is_no_fault(closed: str, moon: Path) -> None:
    line = f"'{sys.executable}' -m homeport install --client cursor {closed}"
    done = subprocess.run([needs("bash"), "-c", line], cwd=moon, env=minimal(moon), capture_output=True, timeout=60)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr


def test_an_interrupt_is_exit_130_without_a_traceback(moon: Path) -> None:
    line = [sys.executable, "-m", "homeport", "install", "--client", "cursor", "--from", "-", "--name", "rota"]
    with subprocess.Popen(line, cwd=moon, env=minimal(moon), stdin=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdin is not None
        running.stdin.write(b"{")
        running.stdin.flush()
        wait_until_read(running.stdin)
        running.send_signal(signal.SIGINT)
        assert running.stderr is not None
        stderr = running.stderr.read()
        running.stdin.close()
    # The empty line ends the one on which a terminal shows ^C.
    assert (running.returncode, stderr) == (130, b"\ninterrupted; nothing more was changed\n")


def wait_until_read(pipe: IO[bytes]) -> None:
    """The program is in the middle of its work: it took what was written and waits for the rest."""
    until = time.monotonic() + 60
    while int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4), sys.byteorder):
        assert time.monotonic() < until, "the program never read its input"
        os.sched_yield()


def test_without_a_terminal_there_is_no_colour(moon: Path) -> None:
    for variables in ({}, {"NO_COLOR": "1"}, {"FORCE_COLOR": "1"}):
        done = run_homeport("status", home=moon, variables=variables)
        assert b"\x1b" not in done.stdout + done.stderr


def test_without_a_terminal_a_missing_client_is_an_error_and_no_question(moon: Path) -> None:
    done = run_homeport("install", home=moon)
    assert (done.exit, b"--client is missing" in done.stderr) == (2, True)


def test_a_traceback_is_added_for_who_asks(moon: Path) -> None:
    asked = run_homeport("install", "--client", "zed", home=moon, variables={"HOMEPORT_DEBUG": "1"})
    assert (asked.exit, b"Traceback" in asked.stderr) == (2, True)
    assert b"Traceback" not in run_homeport("install", "--client", "zed", home=moon).stderr


def test_an_argument_that_is_no_text_gives_one_envelope(moon: Path) -> None:
    """Bytes that are no UTF-8, as a Linux shell passes them on."""
    words = ["-m", "homeport", "install", "--client", "cursor", "--name", "rota", "--json", "--"]
    line: list[str | bytes] = [sys.executable, *words, b"/opt/\xff"]
    done = subprocess.run(line, cwd=moon, env=minimal(moon), capture_output=True, timeout=60)
    assert (b"Traceback" in done.stderr, done.stdout.count(b"\n")) == (False, 1)
    assert json.loads(done.stdout)["operation"] == "install"
