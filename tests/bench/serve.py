"""From start to the answer to `initialize`: `homeport serve` beside a bare server of the SDK."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tests.bench.processes import Run, environment, in_turn, show

ROOT = Path(__file__).parent.parent.parent
_CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


def start(words: Sequence[str], home: Path) -> Run:
    """wall_s: until the answer came. cpu_s: of the whole process, its end included. peak_mib: until the answer came."""
    started = time.perf_counter()
    process = subprocess.Popen(
        words, env=environment(home), cwd=home, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(_CALL).encode() + b"\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    wall_s = time.perf_counter() - started
    if "result" not in answer:
        sys.exit(f"{' '.join(words)} answered {answer}")
    peak_mib = _peak_mib(process.pid)
    process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    return Run(wall_s, usage.ru_utime + usage.ru_stime, peak_mib)


def _peak_mib(pid: int) -> float:
    # Not of wait4, which knows what this process took too.
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def bench(runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        rivals = {
            "homeport serve": partial(start, [sys.executable, "-m", "homeport", "serve"], home),
            "bare SDK server": partial(start, [sys.executable, str(ROOT / "tests/bench/bare_server.py")], home),
        }
        show("From start to the answer to initialize", in_turn(rivals, runs))
