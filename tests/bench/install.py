"""One server into Cursor: Homeport beside add-mcp and neosian."""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path

from tests.bench.processes import in_turn, run, show


def bench(peers: Path, runs: int) -> None:
    """peers: a folder with throw-away installs, node_modules/.bin/add-mcp and neosian/bin/neosian."""
    homeport = [sys.executable, "-m", "homeport", "install", "--client", "cursor"]
    commands = {
        "homeport --json": [*homeport, "--json"],
        "homeport --write, again": [*homeport, "--write", "--name", "ours", "--", "/opt/ledger/ledger", "serve"],
        "python -c pass": [sys.executable, "-c", "pass"],
    }
    add_mcp = peers / "node_modules" / ".bin" / "add-mcp"
    neosian = peers / "neosian" / "bin" / "neosian"
    theirs = {
        "add-mcp 2.4.0": [str(add_mcp), "/opt/ledger/ledger serve", "-n", "theirs", "-a", "cursor", "-g", "-y"],
        "neosian 1.12.2 --json": [str(neosian), "mcp", "install", "--client", "cursor", "--json"],
    }
    for name, words in theirs.items():
        if Path(words[0]).exists():
            commands[name] = words
        else:
            print(f"{name} is left out: there is no {words[0]}")
    with tempfile.TemporaryDirectory() as folder:
        homes = {name: Path(folder) / str(number) for number, name in enumerate(commands)}
        for home in homes.values():
            (home / ".cursor").mkdir(parents=True)
        rivals = {name: partial(run, words, homes[name]) for name, words in commands.items()}
        show("One server into Cursor, whole processes", in_turn(rivals, runs))
