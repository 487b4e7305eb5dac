"""Several processes on one history: nothing acknowledged is lost, and no search misses what has landed."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from homeport.server.state.history.store import History
from tests.server.recorded import ANN, every_page, find, soon

WRITER = """
import sys
from contextlib import closing
from pathlib import Path
from homeport.server.state.history.store import History
from tests.server.recorded import conversation, land, said
path, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with closing(History(path)) as history:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(count):
        turns = [said(f"amber {name} {number} own", key=f"{name} {number}"), said(f"amber shared {number}")]
        own, shared = (land(history, turn, into=conversation(into))[0] for turn, into in zip(turns, (name, "shared")))
        print(own.number, shared.is_new, flush=True)
"""


def start(path: Path, name: str, count: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=os.getcwd(),
    )


def go(writer: subprocess.Popen[bytes]) -> None:
    assert writer.stdin is not None
    writer.stdin.write(b"\n")
    writer.stdin.flush()


def test_eight_writers_land_while_another_process_searches(tmp_path: Path) -> None:
    path, count, names = tmp_path / "history.db", 25, [f"w{number}" for number in range(8)]
    writers = [start(path, name, count) for name in names]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
    for writer in writers:
        go(writer)

    with closing(History(path)) as history:
        seen = [0]
        while any(writer.poll() is None for writer in writers):
            hits = find(history, "amber w", limit=50)
            assert not hits.stopped
            seen.append(sum(one.turns for one in history.conversations(ANN, 50, soon())[0]))
        said = [writer.communicate() for writer in writers]

        assert seen == sorted(seen)
        assert [error for _, error in said] == [b""] * 8
        lines = [[line.split() for line in out.decode().splitlines()] for out, _ in said]
        assert [[int(number) for number, _ in one] for one in lines] == [list(range(1, count + 1))] * 8
        # What several land at once lands once.
        assert sum(is_new == "True" for one in lines for _, is_new in one) == count
        assert len(every_page(history, "amber own", 50)) == 8 * count
        assert len(every_page(history, '"amber shared"', 50)) == count


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    acknowledged = 0
    for round_ in range(6):
        writer = start(path, f"k{round_}", 10_000)
        assert writer.stdout is not None
        writer.stdout.readline()
        go(writer)
        for _ in range(7 + 20 * round_):
            acknowledged += writer.stdout.readline().endswith(b"\n")
        writer.kill()
        # What it still said before it died was acknowledged too.
        acknowledged += writer.communicate()[0].count(b"\n")

    with closing(History(path)) as history:
        own = every_page(history, "amber own", 50)

        # A turn may have landed whose acknowledgement died with the process: one for each.
        assert acknowledged <= len(own) <= acknowledged + 6
        for round_ in range(6):
            numbers = sorted(number for name, number in own if name == f"k{round_}")
            assert numbers == list(range(1, len(numbers) + 1))
