"""A real terminal of eighty columns, kept by tmux, with keys pressed and the screen read."""

from __future__ import annotations

import itertools
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.harness import TIME_LIMIT_S, needs

_numbers = itertools.count()


class Terminal:
    """One command line in a window of its own."""

    def __init__(self, program: str, socket: Path, done: Path) -> None:
        self._tmux = [program, "-S", str(socket)]
        self._done = done

    def start(self, line: list[str], cwd: Path, variables: Mapping[str, str]) -> None:
        # The exit code goes to a file, and the window stays for its last screen to be read.
        shell = f"{shlex.join(line)}; echo $? > {shlex.quote(str(self._done))}; exec sleep {TIME_LIMIT_S}"
        environment = [f"{name}={value}" for name, value in variables.items()]
        command = ["env", "-i", *environment, "sh", "-c", shell]
        self._run("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "40", "-c", str(cwd), shlex.join(command))

    def press(self, *keys: str) -> None:
        """Keys by tmux's names: Enter, Down, Space, C-c, or letters."""
        self._run("send-keys", *keys)

    def screen(self, *, with_colours: bool = False) -> str:
        return self._run("capture-pane", "-p", *(["-e"] if with_colours else []))

    def wait_for(self, text: str) -> str:
        """The screen as soon as it shows `text`."""
        until = time.monotonic() + TIME_LIMIT_S
        while text not in (shown := self.screen()):
            assert time.monotonic() < until, f"{text!r} never came:\n{shown}"
        return shown

    def exit_code(self) -> int:
        """Of the program, once it has ended."""
        until = time.monotonic() + TIME_LIMIT_S
        while not (self._done.is_file() and self._done.read_text().strip()):
            assert time.monotonic() < until, self.screen()
            self.screen()
        return int(self._done.read_text())

    def _run(self, *arguments: str) -> str:
        done = subprocess.run([*self._tmux, *arguments], capture_output=True, timeout=TIME_LIMIT_S)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode()

    def close(self) -> None:
        self._run("kill-server")


@contextmanager
def homeport_at_a_terminal(
    *arguments: str, home: Path, cwd: Path, variables: Mapping[str, str] | None = None
) -> Iterator[Terminal]:
    number = next(_numbers)
    terminal = Terminal(needs("tmux"), home / f"tmux-{number}", home / f"exit-{number}")
    given = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "TERM": "tmux-256color",
        **(variables or {}),
    }
    terminal.start([sys.executable, "-m", "homeport", *arguments], cwd, given)
    try:
        yield terminal
    finally:
        terminal.close()
