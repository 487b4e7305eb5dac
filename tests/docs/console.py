"""Ada's machine, on which every `console` block of a page is run, from the top of the page to its end.

A block's lines that begin with `$ ` are commands (`> ` continues one); the rest is what they print, both streams as a
terminal shows them. A line `...` stands for any lines. `<!-- clients: cursor codex -->` at the top of a page says which
clients are installed; without it, all are.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from homeport.version import VERSION
from tests.docs.pages import Block
from tests.harness import TIME_LIMIT_S, needs

SHOWN_HOME: Final = "/home/ada"
SHOWN_PYTHON: Final = "/home/ada/.local/share/uv/tools/homeport/bin/python"
SHOWN_TIME: Final = "2026-12-01T10:15:00+00:00"
SHOWN_VERSION: Final = "0.1.0"
ELISION: Final = "..."

# Client -> what is on the disk of somebody who uses it; an ending slash is a folder.
CLIENT_FILES: Final[Mapping[str, Mapping[str, str]]] = {
    "claude-code": {".claude/": "", ".claude.json": '{\n  "numStartups": 7\n}\n'},
    "claude-desktop": {".config/Claude/claude_desktop_config.json": '{\n  "preferences": {}\n}\n'},
    "cursor": {
        ".cursor/mcp.json": """\
{
  // mine
  "mcpServers": {
    "tally": { "command": "/opt/tally/tally" }
  }
}
"""
    },
    "codex": {".codex/config.toml": 'model = "o3"  # the large one\n\n[tui]\ntheme = "dark"\n'},
    "opencode": {".config/opencode/": ""},
    "muse-code": {".config/muse/settings.json": '{\n  "schema_version": 1\n}\n'},
}


class Command(NamedTuple):
    """What is typed, and what the page says it prints. line: of the block, from 0, where it stands."""

    line: int
    typed: str
    output: tuple[str, ...]


def commands(block: Block) -> list[Command]:
    found: list[Command] = []
    for index, line in enumerate(block.lines):
        last = found[-1] if found else None
        if line.startswith("$ "):
            found.append(Command(index, line[2:], ()))
        elif last and line.startswith("> ") and not last.output:
            found[-1] = last._replace(typed=f"{last.typed}\n{line[2:]}")
        elif last:
            found[-1] = last._replace(output=(*last.output, line))
        else:
            raise AssertionError(f"{block.page}:{block.first}: the block begins without a command")
    return found


def clients_of(page: Path) -> tuple[str, ...]:
    said = re.search(r"<!-- clients: ([\w\- ]+) -->", page.read_text(encoding="utf-8"))
    return tuple(said[1].split()) if said else tuple(CLIENT_FILES)


class Machine:
    """Ada's home, and a shell in her project."""

    def __init__(self, home: Path, clients: tuple[str, ...]) -> None:
        self.home = home.resolve()
        self.folder = self.home / "code" / "app"
        self._bash = needs("bash")
        self._exit = 0
        self._ids: dict[str, str] = {}
        (self.folder / ".git").mkdir(parents=True)
        for client in clients:
            for name, text in CLIENT_FILES[client].items():
                self._put(name, text)
        # -m, so that no program's path gets into what is registered.
        self._program("homeport", f'exec {shlex.quote(sys.executable)} -m homeport "$@"')
        self._program("python3", f'exec {shlex.quote(sys.executable)} "$@"')
        self._program("npx", "exit 0")

    def _put(self, name: str, text: str) -> None:
        path = self.home / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.write_text(text, encoding="utf-8")

    def _program(self, name: str, line: str) -> None:
        self._put(f".local/bin/{name}", f"#!{self._bash}\n{line}\n")
        (self.home / ".local/bin" / name).chmod(0o755)

    def run(self, typed: str) -> tuple[str, ...]:
        """What a command prints, with what differs from machine to machine shown as on Ada's."""
        left = self.home / ".left"
        for real, shown in self._ids.items():
            typed = typed.replace(shown, real)
        script = f'(exit {self._exit})\n{typed}\ncode=$?; printf %s "$PWD" >{shlex.quote(str(left))}; exit $code\n'
        done = subprocess.run(
            [self._bash, "--noprofile", "--norc", "-c", script],
            cwd=self.folder,
            env={
                "HOME": str(self.home),
                "LOGNAME": "ada",
                "PATH": os.pathsep.join([str(self.home / ".local/bin"), "/usr/bin", "/bin"]),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIME_LIMIT_S,
        )
        self._exit = done.returncode
        self.folder = Path(left.read_text(encoding="utf-8"))
        left.unlink()
        return tuple(self._as_adas(done.stdout.decode()).splitlines())

    def _as_adas(self, text: str) -> str:
        for _, shown in FILTERS:
            text = shown(self, text)
        return text

    def _interpreter(self, text: str) -> str:
        return text.replace(sys.executable, SHOWN_PYTHON)

    def _paths(self, text: str) -> str:
        return text.replace(str(self.home), SHOWN_HOME)

    def _journal_ids(self, text: str) -> str:
        pattern = r"\b\d{8}-\d{6}-\d{6}-[0-9a-f]{4}\b"
        # Sorted as they sort by time, so that a list shows them in order.
        for real in sorted({*re.findall(pattern, text)} - self._ids.keys()):
            number = len(self._ids)
            self._ids[real] = f"20261201-1015{number:02}-482913-ab{number:02}"
        return re.sub(pattern, lambda match: self._ids[match[0]], text)

    def _times(self, text: str) -> str:
        return re.sub(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", SHOWN_TIME, text)

    def _versions(self, text: str) -> str:
        return re.sub(rf'("homeport": ?"|version ){re.escape(VERSION)}', rf"\g<1>{SHOWN_VERSION}", text)


FILTERS: Final = (
    ("interpreter", Machine._interpreter),
    ("paths", Machine._paths),
    ("journal ids", Machine._journal_ids),
    ("times", Machine._times),
    ("versions", Machine._versions),
)


def matches(said: tuple[str, ...], printed: tuple[str, ...]) -> bool:
    if ELISION not in said:
        return said == printed
    parts = [r"(?:.*\n)*" if line == ELISION else re.escape(line + "\n") for line in said]
    return re.fullmatch("".join(parts), "".join(f"{line}\n" for line in printed)) is not None


def run_block(machine: Machine, block: Block) -> Iterator[tuple[Command, tuple[str, ...]]]:
    """Each command with what it really prints."""
    for command in commands(block):
        yield command, machine.run(command.typed)
