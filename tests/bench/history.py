"""Searching recorded turns: hits common and rare, misses, of any length, in a history of a given size."""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import tempfile
import time
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Final

from homeport.server.state.history.folding import terms_of
from homeport.server.state.history.reach import Viewer
from homeport.server.state.history.store import Asked, History
from tests.bench.turns import USER, Vocabulary, made_turns

_WORDS: Final = Vocabulary().words
QUERIES: Final = {
    "hit, in every turn": _WORDS[0],
    "hit, one turn in 1000": "quarterly",
    "hit, one turn of all": "needle-in-the-middle",
    "hit, two common words": f"{_WORDS[3]} {_WORDS[40]}",
    "hit, a phrase": '"quarterly report"',
    "hit, one character": "a",
    "miss, no such letters": "zzqqxx",
    "miss, of common letters": _WORDS[0] + _WORDS[1] + _WORDS[2] + _WORDS[3],
    "miss, two words": f"{_WORDS[1]} needle-in-the-muddle",
    "miss, two characters": "設備",
    "miss, one character": "🌙",
}
_BATCH: Final = 1000
_PATIENCE_S: Final = 600.0


def fill(path: Path, count: int) -> float:
    """Land `count` made turns; seconds it took, without the making of them."""
    history, spent, waiting = History(path), 0.0, []
    for conversation, turn in made_turns(count):
        waiting.append((conversation, turn))
        if len(waiting) >= _BATCH:
            spent += _land(history, waiting)
            waiting.clear()
    spent += _land(history, waiting)
    history.close()
    return spent


def _land(history: History, turns: list) -> float:  # type: ignore[type-arg]
    started = time.perf_counter()
    for conversation, group in groupby(turns, key=itemgetter(0)):
        history.land(conversation, [turn for _, turn in group], time.monotonic() + _PATIENCE_S)
    return time.perf_counter() - started


def search(path: Path, runs: int) -> dict[str, tuple[float, float, int]]:
    """Of each query: the first call in ms, the median of the others, and the hits of a page of ten."""
    history, viewer = History(path), Viewer("own", USER, None)
    found = {}
    for name, query in QUERIES.items():
        times = []
        for _ in range(runs + 1):
            started = time.perf_counter()
            hits = history.search(Asked(terms_of(query)), viewer, 10, time.monotonic() + _PATIENCE_S).hits
            times.append((time.perf_counter() - started) * 1000)
        found[name] = (times[0], statistics.median(times[1:]), len(hits))
    history.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--keep", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = (asked.keep or Path(folder)) / f"history-{asked.count}.db"
        if not path.exists():
            spent = fill(path, asked.count)
            print(f"{asked.count} turns landed in {spent:.0f} s, {spent / asked.count * 1e6:.0f} us each; {path.stat().st_size / 2**20:.0f} MiB; peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss/1024:.0f} MiB")
        for name, (first, median, hits) in search(path, asked.runs).items():
            print(f"{name:28}{first:9.2f}{median:9.2f} ms {hits:4} hits")
if __name__ == "__main__":
    sys.exit(main())
