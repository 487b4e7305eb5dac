"""A made home for a case: files as they lay when the fault was seen, and the program run on them."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from homeport.installer.edit.json_value import decoded
from tests.harness import Completed, run_homeport

LEDGER = ("--name", "ledger", "--", "/opt/ledger/bin/ledger", "serve")
HOMES = (".claude", ".cursor", ".codex", ".config/opencode", ".config/muse", ".config/Claude")


class Home:
    """All six clients count as installed unless `homes` says otherwise."""

    def __init__(self, folder: Path, homes: tuple[str, ...] = HOMES) -> None:
        self.path = folder / "home"
        self.project = self.path / "work" / "depot"
        for name in homes:
            (self.path / name).mkdir(parents=True)
        (self.project / ".git").mkdir(parents=True)
        self.before: dict[str, bytes] = {}

    def file(self, name: str, content: bytes | str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.before[name] = path.read_bytes()
        return path

    def run(self, *words: str, variables: Mapping[str, str] | None = None, cwd: Path | None = None) -> Completed:
        return run_homeport(*words, home=self.path, cwd=cwd or self.project, variables=variables)

    def install(self, client: str, *words: str, level: str = "user", **options: Any) -> Completed:
        """Register `ledger` (or what `words` say) with --write."""
        start = ("install", "--client", client, "--level", level, "--write", "--via", "file")
        return self.run(*start, *(words or LEDGER), **options)

    def read(self, name: str) -> bytes:
        return (self.path / name).read_bytes()

    def value(self, name: str, *keys: str) -> Any:
        """What stands at a path of a file, None where nothing does."""
        source = self.read(name)
        found: Any = tomllib.loads(source.decode()) if name.endswith(".toml") else decoded(source)
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
            and not path.is_relative_to(self.path / ".local")
            and str(path.relative_to(self.path)) not in known
        }


def said(done: Completed) -> str:
    return (done.stdout + done.stderr).decode()


def refused(home: Home, done: Completed, *names: str) -> None:
    """Exit 1, the message says these names, every file is as before, nothing is left about."""
    message = said(done)
    assert done.exit == 1, message
    assert [name for name in names if name not in message] == []
    assert home.unchanged()
    assert home.litter() == set()


def entry(done: Completed) -> Any:
    return done.envelope["result"]["clients"][0]["entry"]


def as_text(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"


def is_root() -> bool:
    return os.geteuid() == 0
