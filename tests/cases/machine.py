"""A made home for a case: files as they lay when the fault was seen, and the program run on them."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import json5

from homeport.disk import Disk
from homeport.environment import Environment
from homeport.installer.plan.install import plan_install
from homeport.installer.plan.ownership import History
from homeport.installer.plan.request import InstallRequest
from homeport.installer.plan.rows import ClientPlan
from tests.cli.running import run
from tests.harness import Completed, run_homeport

COMMAND = "/opt/ledger/bin/ledger"
LEDGER = ("--name", "ledger", "--", COMMAND, "serve")
HOMES = (".claude", ".cursor", ".codex", ".config/opencode", ".config/muse", ".config/Claude")

CLAUDE = ".claude.json"
DESKTOP = ".config/Claude/claude_desktop_config.json"
CURSOR = ".cursor/mcp.json"
CODEX = ".codex/config.toml"
OPENCODE = ".config/opencode/opencode.json"
MUSE = ".config/muse/settings.json"
PROJECT = "work/depot"


class Home:
    """All six clients count as installed; the working folder is a git repository below it.

    quick: commands run in this process, for tables of many rows; else each is a process of its own.
    """

    def __init__(self, folder: Path, *, quick: bool = False) -> None:
        self.quick = quick
        self.path = folder / "home"
        self.project = self.path / PROJECT
        for name in HOMES:
            (self.path / name).mkdir(parents=True)
        (self.project / ".git").mkdir(parents=True)
        self.before: dict[str, bytes] = {}

    def file(self, name: str, content: bytes | str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.before[name] = path.read_bytes()
        return path

    def link(self, name: str, target: Path | str) -> Path:
        path = self.path / name
        path.symlink_to(target)
        self.before[name] = path.read_bytes()
        return path

    def run(self, *words: str, variables: Mapping[str, str] | None = None, cwd: Path | None = None) -> Completed:
        if self.quick:
            return run(*words, environment=self.environment(variables or {}, cwd or self.project))
        return run_homeport(*words, home=self.path, cwd=cwd or self.project, variables=variables)

    def environment(self, variables: Mapping[str, str], cwd: Path) -> Environment:
        """What Environment.current() says in a process that is started here."""
        path = variables.get("PATH", "/usr/bin:/bin")
        return Environment(
            platform="linux",
            home=self.path,
            cwd=cwd,
            variables={"HOME": str(self.path), "PATH": path, **variables},
            login="nora",
            python=Path(sys.executable),
            state=self.path / ".local" / "state" / "homeport",
            python_prefix=Path(sys.prefix),
            user_id=os.geteuid(),
            search=lambda name: None if (found := shutil.which(name, path=path)) is None else Path(found),
        )

    def install(self, client: str, *words: str, level: str = "user", **options: Any) -> Completed:
        """Register `ledger` (or what `words` say) with --write."""
        start = ("install", "--client", client, "--level", level, "--write", "--via", "file")
        return self.run(*start, *(words or LEDGER), **options)

    def python(self, code: str, *words: str) -> Completed:
        """Code of a test in an interpreter of its own, with the home of the case."""
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            cwd=self.project,
            env={"HOME": str(self.path), "PATH": os.environ["PATH"]},
            capture_output=True,
            timeout=120,
        )
        return Completed(done.returncode, done.stdout, done.stderr)

    def uninstall(self, client: str, name: str = "ledger", *words: str) -> Completed:
        return self.run("uninstall", name, "--client", client, "--write", "--via", "file", *words)

    def read(self, name: str) -> bytes:
        return (self.path / name).read_bytes()

    def value(self, name: str, *keys: str) -> Any:
        """What stands at a path of a file, None where nothing does."""
        source = self.read(name)
        found: Any = tomllib.loads(source.decode("utf-8-sig")) if name.endswith(".toml") else read_json(source)
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        return found

    def unchanged(self) -> bool:
        return all(self.read(name) == content for name, content in self.before.items())

    def litter(self) -> set[str]:
        """What lies beside the files that no case put there, our own state apart."""
        known = set(self.before)
        return {
            str(path.relative_to(self.path))
            for path in self.path.rglob("*")
            if path.is_file()
            and not path.is_relative_to(self.path / ".local" / "state" / "homeport")
            and str(path.relative_to(self.path)) not in known
        }


def read_json(source: bytes | str) -> Any:
    """By readers that are not ours: the standard one, and for comments and trailing commas json5."""
    text = source.decode("utf-8-sig") if isinstance(source, bytes) else source
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return json5.loads(text)


def said(done: Completed) -> str:
    return (done.stdout + done.stderr).decode()


def written(home: Home, name: str, again: Callable[[], Completed], done: Completed) -> bytes:
    """Exit 0, nothing left about, and the same request again moves neither byte nor inode nor time. Gives the file."""
    assert done.exit == 0, said(done)
    path = home.path / name
    once, stood = path.read_bytes(), path.stat()
    repeated = again()
    assert repeated.exit == 0, said(repeated)
    after = path.stat()
    assert path.read_bytes() == once
    assert (after.st_ino, after.st_mtime_ns) == (stood.st_ino, stood.st_mtime_ns)
    assert home.litter() <= {name}
    return once


def refused(home: Home, done: Completed, *names: str) -> None:
    """Exit 1, the message says these names, every file is as before, nothing is left about."""
    message = said(done)
    assert done.exit == 1, message
    assert [name for name in names if name not in message] == [], message
    assert home.unchanged()
    assert home.litter() == set()


def kept(old: bytes | str, new: bytes, *, commas: int = 0, opened: str | None = None) -> bool:
    """Every old line is there in order and spelled the same.

    commas: so many lines may have got a comma. opened: this line may be spread over several.
    """
    source = old.decode() if isinstance(old, bytes) else old
    lines = iter(new.decode().splitlines(keepends=True))
    changed = 0
    for line in source.splitlines(keepends=True):
        if opened is not None and line.strip() == opened:
            continue
        for candidate in lines:
            if candidate == line:
                break
            if candidate.replace(",", "").rstrip() == line.replace(",", "").rstrip():
                changed += 1
                break
        else:
            return False
    return changed <= commas


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def entry(done: Completed) -> Any:
    return done.envelope["result"]["clients"][0]["entry"]


def as_text(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"


def is_root() -> bool:
    return os.geteuid() == 0


def planned(client: str, request: InstallRequest, environment: Environment, disk: Disk) -> ClientPlan:
    """What another platform's machine would do; nothing is written."""
    return plan_install(client, request, environment, disk, History())
