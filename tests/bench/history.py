"""Searching recorded turns in histories of a given size: hits common and rare, and misses, of any length.

python -m tests.bench.history [COUNT]... [--runs N] [--keep FOLDER]

Landing a million turns takes a quarter of an hour; with --keep the history stays and is taken again the next time.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Final

from homeport.server.state.history.folding import terms_of
from homeport.server.state.history.reach import Viewer
from homeport.server.state.history.store import Asked, History
from tests.bench.turns import USER, Vocabulary, made_turns

_WORDS: Final = Vocabulary().words
QUERIES: Final = {
    "hit, in nearly every turn": _WORDS[0],
    "hit, one turn in 1000": "quarterly",
    "hit, one turn of all": "needle-in-the-middle",
    "hit, two common words": f"{_WORDS[3]} {_WORDS[40]}",
    "hit, a phrase": '"quarterly report"',
    "hit, one character": "a",
    "miss, no such letters": "zzqqxx",
    "miss, a word like others": "quarterback",
    "miss, two words": f"{_WORDS[1]} needle-in-the-muddle",
    "miss, four common words as one": "".join(_WORDS[:4]),
    "miss, two characters": "設備",
    "miss, one character": "🌙",
}
_BATCH: Final = 1000
_PATIENCE_S: Final = 600.0


def bench(runs: int, counts: Sequence[int] = (50_000,), keep: Path | None = None) -> None:
    """runs: of each query, behind one that warms what it needs. keep: a folder in which histories stay."""
    with tempfile.TemporaryDirectory() as folder:
        for count in counts:
            path = (keep or Path(folder)) / f"history-{count}.db"
            print(f"\nSearching {count:,} turns, pages of ten hits")
            if not path.exists():
                spent_s = _fill(path, count)
                print(f"landed in {spent_s:.0f} s; {path.stat().st_size / 2**20:.0f} MiB; peak {_peak_mib():.0f} MiB")
            print(f"{'':32}{'first ms':>9}{'p50 ms':>9}{'hits':>6}")
            for name, query in QUERIES.items():
                first_ms, median_ms, hits = _search(path, query, runs)
                print(f"{name:32}{first_ms:9.2f}{median_ms:9.2f}{hits:6}")


def _fill(path: Path, count: int) -> float:
    """Land the made turns; the seconds it took, without the making of them."""
    spent_s = 0.0
    with closing(History(path)) as history:
        made = made_turns(count)
        while batch := list(islice(made, _BATCH)):
            started = time.perf_counter()
            for conversation, turns in groupby(batch, key=itemgetter(0)):
                history.land(conversation, [turn for _, turn in turns], time.monotonic() + _PATIENCE_S)
            spent_s += time.perf_counter() - started
    return spent_s


def _search(path: Path, query: str, runs: int) -> tuple[float, float, int]:
    """The first call on a history just opened, the median of those behind it, and the hits of a page."""
    asked, viewer, hits = Asked(terms_of(query)), Viewer("own", USER, None), 0
    times_ms = []
    with closing(History(path)) as history:
        for _ in range(runs + 1):
            started = time.perf_counter()
            hits = len(history.search(asked, viewer, 10, time.monotonic() + _PATIENCE_S).hits)
            times_ms.append((time.perf_counter() - started) * 1000)
    return times_ms[0], statistics.median(times_ms[1:]), hits


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.history")
    parser.add_argument("counts", type=int, nargs="*", default=[50_000, 1_000_000])
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    bench(given.runs, given.counts, given.keep)
