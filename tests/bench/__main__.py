"""Whole-process time and memory, ours and others' in turn, so that a noisy machine disturbs both alike.

python -m tests.bench [--runs N] [--peers FOLDER]

FOLDER holds throw-away installs of the peers: node_modules/.bin/add-mcp and neosian/bin/neosian. One that is missing is
left out and said to be. `make bench` makes them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent


class Run(NamedTuple):
    """cpu_s: user and system time. peak_mib: of the largest process."""

    wall_s: float
    cpu_s: float
    peak_mib: float


def run(words: Sequence[str], home: Path) -> Run:
    started = time.perf_counter()
    pid = os.posix_spawn(
        words[0],
        list(words),
        {"HOME": str(home), "PATH": os.environ["PATH"], "NO_COLOR": "1", "CI": "1"},
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ],
    )
    _, status, usage = os.wait4(pid, 0)
    wall_s = time.perf_counter() - started
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        sys.exit(f"{' '.join(words)} ended with {code}")
    return Run(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def in_turn(commands: dict[str, Sequence[str]], folder: Path, runs: int) -> dict[str, list[Run]]:
    """A B C, A B C, ...; the first round warms caches and does not count. Each has a home of its own."""
    homes = {name: folder / str(number) for number, name in enumerate(commands)}
    for home in homes.values():
        (home / ".cursor").mkdir(parents=True)
    results: dict[str, list[Run]] = {name: [] for name in commands}
    for number in range(runs + 1):
        for name, words in commands.items():
            result = run(words, homes[name])
            if number:
                results[name].append(result)
    return results


def middle(runs: list[Run], pick: Callable[[Run], float]) -> float:
    return statistics.median(pick(one) for one in runs)


def show(title: str, results: dict[str, list[Run]]) -> None:
    first = next(iter(results))
    print(f"\n{title}")
    print(f"{'':28}{'wall s':>8}{'cpu s':>8}{'MiB':>7}   {first} takes, of its cpu time")
    for name, runs in results.items():
        ratio = statistics.median(
            ours.cpu_s / theirs.cpu_s for ours, theirs in zip(results[first], runs, strict=True) if theirs.cpu_s
        )
        figures = (middle(runs, lambda one: one.wall_s), middle(runs, lambda one: one.cpu_s))
        print(f"{name:28}{figures[0]:8.3f}{figures[1]:8.3f}{middle(runs, lambda one: one.peak_mib):7.1f}   {ratio:.2f}")


def bench_install(peers: Path, runs: int) -> None:
    homeport = [sys.executable, "-m", "homeport", "install", "--client", "cursor"]
    server = ["--name", "ours", "--", "/opt/ledger/ledger", "serve"]
    add_mcp = peers / "node_modules" / ".bin" / "add-mcp"
    neosian = peers / "neosian" / "bin" / "neosian"
    commands: dict[str, Sequence[str]] = {
        "homeport --json": [*homeport, "--json"],
        "homeport --write, again": [*homeport, "--write", *server],
        "python -c pass": [sys.executable, "-c", "pass"],
    }
    if add_mcp.exists():
        words = [str(add_mcp), "/opt/ledger/ledger serve", "-n", "theirs", "-a", "cursor", "-g", "-y"]
        commands["add-mcp 2.4.0"] = words
    if neosian.exists():
        commands["neosian 1.12.2 --json"] = [str(neosian), "mcp", "install", "--client", "cursor", "--json"]
    for name, path in (("add-mcp", add_mcp), ("neosian", neosian)):
        if not path.exists():
            print(f"{name} is not in {peers} and is left out")
    with tempfile.TemporaryDirectory() as folder:
        show("One server into Cursor, whole processes", in_turn(commands, Path(folder), runs))


def large_file() -> bytes:
    """20 MB like a .claude.json that has seen years: projects with their histories, then the servers."""
    history = [{"display": "x" * 200 + str(number) + "é", "pasted": {}} for number in range(650)]
    projects = {f"/srv/p{number}": {"history": history, "costs": [1, 2.5, 3] * 20} for number in range(125)}
    content = {"numStartups": 7, "projects": projects, "mcpServers": {"rota": {"command": "/opt/rota/rota"}}}
    return json.dumps(content, indent=2, ensure_ascii=False).encode()


def bench_edit(runs: int) -> None:
    """In this process: the editor beside json.loads of the same bytes, in turn."""
    import tracemalloc

    from homeport.installer.edit.jsonc import open_json

    source = large_file()
    path = ("mcpServers", "ledger")

    def edit() -> bytes:
        return open_json(source, "json", [("projects",), path]).set(path, {"command": "/opt/ledger/ledger"})

    ratios = []
    for _ in range(runs):
        started = time.perf_counter()
        json.loads(source)
        loaded = time.perf_counter()
        edit()
        ratios.append((time.perf_counter() - loaded) / (loaded - started))
    tracemalloc.start()
    edit()
    peak = tracemalloc.get_traced_memory()[1] / len(source)
    tracemalloc.stop()
    print(f"\nOne entry into a {len(source) / 1e6:.1f} MB .claude.json")
    print(f"time, in json.loads of it:      {statistics.median(ratios):.2f}")
    print(f"memory beside it, in its size:  {peak:.2f}")


def bench_large_write(runs: int) -> None:
    """The whole command on the same file, the journal, the syncs and the read-back included."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        file = home / ".claude.json"
        words = [sys.executable, "-m", "homeport", "install", "--client", "claude-code", "--name", "ledger", "--write"]
        words += ["--via", "file", "--", "/opt/ledger/ledger"]
        loads = [sys.executable, "-c", f"import json; json.loads(open({str(file)!r}, 'rb').read())"]
        results: dict[str, list[Run]] = {"install --write": [], "python, json.loads": []}
        for _ in range(runs):
            file.write_bytes(large_file())
            results["install --write"].append(run(words, home))
            results["python, json.loads"].append(run(loads, home))
    show("The same by the whole command", results)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--peers", type=Path, default=ROOT / ".real-clients" / "peers")
    asked = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, medians of {asked.runs} runs in turn")
    bench_install(asked.peers, asked.runs)
    bench_edit(asked.runs)
    bench_large_write(max(3, asked.runs // 3))


if __name__ == "__main__":
    main()
