"""HS, and M20 and M22: where a search of recorded conversations misses, crashes, misorders or gives away.

The lines are our own export's; what transcripts of other programs look like is their import's affair.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.cases.machine import Home
from tests.harness import Completed

NIGHT = "2031-02-03T"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path, quick=True)


def line(key: int, text: str, stamp: str | None = f"{NIGHT}04:05:06.000Z", **changes: Any) -> str:
    value = {
        "homeport_history": 1, "conversation": "s", "user": "user:nora", "project": "user:nora/proj:depot",
        "client": "claude-code", "turn": key, "key": str(key), "stamp": stamp, "actor": "hook:claude-code",
        "messages": [{"role": "user", "text": text}],
    }  # fmt: skip
    return json.dumps(value | changes) + "\n"


def take(home: Home, lines: Iterable[str | bytes], exit_code: int = 0) -> Any:
    """Import the lines; what became of them."""
    data = b"".join(one.encode() if isinstance(one, str) else one for one in lines)
    path = home.file("copy.jsonl", data)
    done = home.run("history", "import", str(path), "--json")
    assert done.exit == exit_code, done.stdout
    return done.envelope["result"]


def hits(home: Home, *words: str) -> list[dict[str, Any]]:
    done = home.run("history", "search", *words, "--json")
    assert done.exit == 0, done.stdout
    found: list[dict[str, Any]] = json.loads(done.stdout.decode("utf-8", "strict"))["result"]["hits"]
    return found


def turns(home: Home, *words: str) -> list[int]:
    return [hit["turn"] for hit in hits(home, *words)]


ITEMS = ("Проверка СКЛАДА", "cafe\u0301 servi", "設備清單は倉庫", "배포 점검", "STRASSE und Straße", "İstanbul")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_m20_every_script_is_found_in_whatever_form_it_is_typed(home: Home, form: Any) -> None:
    take(home, (line(number, text) for number, text in enumerate(ITEMS, 1)))

    queries = ("склада", "café", "清單", "점검", "strasse", "istanbul", "zzz", "🌙", "單", "cafe")
    found = [turns(home, unicodedata.normalize(form, query)) for query in queries]

    assert found == [[1], [2], [3], [4], [5], [6], [], [], [3], []]


@pytest.mark.parametrize("zone", ["Pacific/Chatham", "America/St_Johns", "UTC"])
def test_m22_a_naive_time_is_utc_whatever_the_zone_of_the_machine(home: Home, zone: str) -> None:
    take(
        home,
        [
            line(1, "amber", "2031-03-30T02:30:00+01:00"),
            line(2, "amber", "2031-10-26"),
            line(3, "amber", f"{NIGHT}01:00"),
        ],
    )

    def run(*words: str) -> Completed:
        done = subprocess.run(
            [sys.executable, "-m", "homeport", "history", *words, "--json"],
            cwd=home.project,
            env={"HOME": str(home.path), "PATH": os.defpath, "LOGNAME": "nora", "TZ": zone},
            capture_output=True,
        )
        return Completed(done.returncode, done.stdout, done.stderr)

    found = run("search", "amber").envelope["result"]["hits"]
    assert [(hit["turn"], hit["stamp"]) for hit in found] == [
        (2, "2031-10-26T00:00:00.000Z"), (1, "2031-03-30T01:30:00.000Z"), (3, f"{NIGHT}01:00:00.000Z"),
    ]  # fmt: skip
    until = run("search", "amber", "--since", "2031-03-30T01:30", "--until", "2031-03-30").envelope["result"]["hits"]
    assert [hit["turn"] for hit in until] == [1]


in_linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")


def peak_mib(home: Home, *words: str) -> float:
    """The largest memory of a command of its own process."""
    # Not of getrusage, which begins with what the process that started this one held.
    code = (
        "import sys\nfrom homeport.cli.main import main\ncode = main(sys.argv[1:])\n"
        "status = open('/proc/self/status').read()\n"
        "print(status.partition('VmHWM:')[2].split()[0], file=sys.stderr)\nsys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "history", *words],
        cwd=home.project,
        env={"HOME": str(home.path), "PATH": os.defpath, "LOGNAME": "nora"},
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stderr
    return int(done.stderr.split()[-1]) / 1024


@in_linux
def test_hs02_a_large_log_is_read_line_by_line(home: Home) -> None:
    count = 6_000
    path = home.path / "big.jsonl"
    with open(path, "w") as file:
        for number in range(1, count + 1):
            word = "amber" if number in (1, count // 2, count) else "slate"
            file.write(
                line(
                    number,
                    f"{word} {'y' * 860}",
                    f"2031-02-{1 + number // 3600:02}T00:{number // 60 % 60:02}:{number % 60:02}Z",
                )
            )

    assert (peak := peak_mib(home, "import", str(path))) < 120, peak
    assert turns(home, "amber") == [count, count // 2, 1]


@in_linux
def test_hs03_a_giant_line_costs_itself_and_a_large_one_shows_no_base64(home: Home) -> None:
    def shot(size: int) -> list[dict[str, Any]]:
        return [{"role": "tool", "text": base64.b64encode(bytes(size)).decode() + " amber two", "call": "x"}]

    path = home.file(
        "shots.jsonl",
        line(1, "amber one") + line(2, "", messages=shot(30 * 2**20)) + line(3, "amber three")
        + line(4, "", messages=shot(20 * 2**20)),
    )  # fmt: skip

    assert peak_mib(home, "import", str(path)) < 400
    found = hits(home, "amber")
    assert [(hit["turn"], hit["from"]) for hit in found] == [(1, "user"), (3, "user"), (4, "result")]
    assert all(len(hit["snippet"]) <= 160 and "AAAA" not in hit["snippet"] for hit in found)


def test_hs05_a_hit_says_which_part_of_the_turn_it_is_from(home: Home) -> None:
    calls = [{"id": "a", "name": "x", "arguments": {"q": "amber input"}}]
    messages = [
        [{"role": "user", "text": "amber string"}],
        [{"role": "assistant", "text": "amber block"}],
        [{"role": "assistant", "text": "", "calls": calls}],
        [{"role": "tool", "text": "amber result", "call": "a"}],
    ]

    refused = take(home, [*(line(at, "", messages=one) for at, one in enumerate(messages, 1)), '{"type":"new"}\n'], 1)

    assert [(hit["from"], hit["snippet"]) for hit in hits(home, "amber")] == [
        ("user", "amber string"), ("assistant", "amber block"), ("call", 'x {"q":"amber input"}'),
        ("result", "amber result"),
    ]  # fmt: skip
    assert (refused["landed"], [one["line"] for one in refused["named"]]) == (4, [5])


def test_hs06_the_order_is_by_instant_and_always_the_same(home: Home) -> None:
    stamps = (
        f"{NIGHT}09:00:00+08:00", f"{NIGHT}02:30:00+00:00", f"{NIGHT}02:30:00.000Z", f"{NIGHT}02:29:59.9Z", None,
    )  # fmt: skip
    take(home, (line(number, f"amber {number}", stamp) for number, stamp in enumerate(stamps, 1)))

    assert [turns(home, "amber") for _ in range(5)] == [[2, 3, 4, 1, 5]] * 5


def test_hs07_a_project_can_be_kept_to_itself_and_credentials_are_masked(home: Home) -> None:
    take(
        home,
        [
            line(1, "amber alpha", conversation="a"),
            line(2, "amber token zq-test-0000-not-real", conversation="b", project="user:nora/proj:b"),
            line(3, "amber gamma", conversation="c", user="user:ben", project=None),
        ],
    )
    other = home.file("ben.jsonl", line(1, "amber ben", conversation="d", user="user:ben", project=None))
    assert home.run("history", "import", str(other), "--keep-scopes").exit == 0

    own = hits(home, "amber")
    project = hits(home, "amber", "--history", "project")
    everything = hits(home, "amber", "--history", "all")

    # By default all of one's own projects, and nobody else's: docs/history.md says why one may want less or more.
    assert [hit["conversation"] for hit in own] == ["a", "b", "c"]
    assert [hit["conversation"] for hit in project] == ["a"]
    assert [hit["conversation"] for hit in everything] == ["a", "b", "c", "d"]
    assert everything[1]["snippet"] == "amber token ***"


def test_hs08_what_cannot_be_read_is_said_and_nothing_is_touched(home: Home) -> None:
    path = home.file("copy.jsonl", line(1, "amber"))
    before = path.stat()
    (home.path / "loop").symlink_to("loop")

    done = [home.run("history", "import", str(home.path / name)) for name in ("copy.jsonl", "gone", "loop", ".claude")]

    assert [one.exit for one in done] == [0, 2, 2, 2]
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert turns(home, "amber") == [1]


def test_hs09_what_is_no_text_is_replaced_and_separates_no_records(home: Home) -> None:
    lines: list[str | bytes] = [
        line(1, "amber \ud83d end"),
        line(2, "amber XX raw").encode().replace(b"XX", b"\xff\xfe"),
        line(3, "").replace('"text": ""', '"text": "amber\u2028next"'),
    ]

    done = take(home, lines)

    assert (done["lines"], done["landed"]) == (3, 3)
    assert [hit["snippet"] for hit in hits(home, "amber")] == [
        "amber \ufffd end",
        "amber \ufffd\ufffd raw",
        "amber next",
    ]
