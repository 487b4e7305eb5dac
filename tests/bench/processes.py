"""Whole processes, ours and others' in turn, so that a machine that does other work disturbs all of them alike."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

SPAWN = str(Path(__file__).with_name("spawn.py"))
Measured = Mapping[str, list["Run"]]


class Run(NamedTuple):
    """cpu_s: user and system time, of the processes it started too. peak_mib: of the largest of them."""

    wall_s: float
    cpu_s: float
    peak_mib: float


def environment(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"], "NO_COLOR": "1", "CI": "1"}


def run(words: Sequence[str], home: Path) -> Run:
    """Run a command to its end; the whole bench ends where it fails."""
    command = [sys.executable, "-I", "-S", SPAWN, *words]
    done = subprocess.run(command, env=environment(home), stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)} ended with {done.returncode}\n{done.stderr.decode()}")
    wall_s, cpu_s, peak_kib = map(float, done.stdout.split())
    return Run(wall_s, cpu_s, peak_kib / 1024)


def in_turn(rivals: Mapping[str, Callable[[], Run]], runs: int) -> Measured:
    """A B C, A B C, ...; the first round warms caches and does not count."""
    rounds = [{name: once() for name, once in rivals.items()} for _ in range(runs + 1)][1:]
    return {name: [one[name] for one in rounds] for name in rivals}


def show(title: str, results: Measured) -> None:
    """Medians, and what the first takes of each: the median of the rounds' ratios."""
    first = next(iter(results))
    print(f"\n{title}")
    print(f"{'':28}{'wall s':>8}{'cpu s':>8}{'MiB':>7}   {first}: of its wall, of its cpu")
    for name, runs in results.items():
        pairs = list(zip(results[first], runs, strict=True))
        wall = statistics.median(ours.wall_s / theirs.wall_s for ours, theirs in pairs)
        cpu = statistics.median(ours.cpu_s / theirs.cpu_s for ours, theirs in pairs)
        figures = [statistics.median(column) for column in zip(*runs, strict=True)]
        print(f"{name:28}{figures[0]:8.3f}{figures[1]:8.3f}{figures[2]:7.1f}   {wall:.2f}  {cpu:.2f}")
