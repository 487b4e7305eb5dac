"""One entry into 20 MB: the editor beside json.loads of the same bytes, and the whole command."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

from homeport.installer.edit.jsonc import open_json
from tests.bench.processes import Run, in_turn, run, show

PATH = ("mcpServers", "ledger")
ENTRY = {"command": "/opt/ledger/ledger"}


def large_file() -> bytes:
    """Like a .claude.json that has seen years: projects with their histories, then the servers."""
    content = {
        "numStartups": 7,
        "projects": {f"/srv/p{number}": _project(number) for number in range(860)},
        "mcpServers": {"rota": {"command": "/opt/rota/rota"}},
    }
    return json.dumps(content, indent=2, ensure_ascii=False).encode()


def _project(number: int) -> dict[str, Any]:
    lines = ("run the tests", 'why is "count" 0 here?\nsee below: ' + "x" * 300, "später mit ключ", "y" * 120)
    return {
        "allowedTools": [],
        "history": [{"display": f"{line} {number}", "pastedContents": {}} for line in lines * 25],
        "mcpServers": {},
        "enabledMcpjsonServers": ["rota"],
        "hasTrustDialogAccepted": True,
        "lastCost": 1.25 * number,
        "lastModelUsage": {f"model-{model}": {"inputTokens": number, "costUSD": 0.5} for model in range(12)},
        "exampleFiles": [f"src/module_{file}.py" for file in range(40)],
    }


def _edit(source: bytes) -> bytes:
    # Asked for as the installer asks: the projects may hold an entry of their own.
    return open_json(source, "json", [("projects",), PATH]).set(PATH, ENTRY)


def bench_edit(runs: int) -> None:
    source = large_file()
    ratios = []
    for _ in range(runs):
        started = time.perf_counter()
        json.loads(source)
        loaded = time.perf_counter()
        _edit(source)
        ratios.append((time.perf_counter() - loaded) / (loaded - started))
    tracemalloc.start()
    _edit(source)
    peak = tracemalloc.get_traced_memory()[1] / len(source)
    tracemalloc.stop()
    print(f"\nOne entry into a .claude.json of {len(source) / 1e6:.1f} MB, in this process")
    print(f"time, in json.loads of it:                 {statistics.median(ratios):.2f}")
    print(f"memory, in its size, the file itself too:  {1 + peak:.2f}")


def bench_command(runs: int) -> None:
    """The journal, the syncs and the read-back included."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        file = home / ".claude.json"
        source = large_file()
        words = [sys.executable, "-m", "homeport", "install", "--client", "claude-code", "--name", "ledger", "--write"]
        words += ["--via", "file", "--", "/opt/ledger/ledger"]
        loads = [sys.executable, "-c", f"import json; json.loads(open({str(file)!r}, 'rb').read())"]

        def install() -> Run:
            file.write_bytes(source)
            return run(words, home)

        rivals = {"homeport --write": install, "python, json.loads": lambda: run(loads, home)}
        show("The same by the whole command", in_turn(rivals, runs))
