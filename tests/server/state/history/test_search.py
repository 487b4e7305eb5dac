"""The search finds what a look at every turn would find, in the order of instants, whatever lies in the index."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from homeport.server.state.history.folding import fold, terms_of
from homeport.server.state.history.instants import UNDATED
from homeport.server.state.history.reach import Viewer
from homeport.server.state.history.store import Asked, History
from homeport.server.state.history.turns import Message, Turn
from tests.server.recorded import ANN, conversation, every_page, find, found, land, said, soon

# More than the largest segment holds, so that segments of every size and turns in none are there.
MANY = 9_500
WORDS = ("amber", "slate", "倉庫", "設備", "Straße", "naïve", "src/main.py", "🌙", "a", "ß", "disk full", "ambergris")


@pytest.fixture(scope="module")
def turns() -> list[Turn]:
    """Short turns, some of several pages; instants at random, many of them the same, some unknown."""
    made = random.Random(11)
    found = []
    for number in range(MANY):
        text = " ".join(made.choices(WORDS, k=made.randint(0, 4)))
        if number % 500 == 7:
            text = "filler " * made.randint(300, 900) + text + " filler" * 400
        instant = UNDATED if number % 97 == 0 else made.randint(0, 3_000)
        found.append(Turn(f"k{number}", instant, f"hook:{made.choice('ab')}", (Message("user", text),)))
    return found


@pytest.fixture(scope="module")
def large(turns: list[Turn], tmp_path_factory: pytest.TempPathFactory) -> Iterator[History]:
    with closing(History(tmp_path_factory.mktemp("large") / "history.db")) as history:
        for start in range(0, MANY, 150):
            into = conversation(f"c{start % 4}", project=f"user:ann/proj:p{start % 2}")
            land(history, *turns[start : start + 150], into=into)
        yield history


def looked_at(turns: list[Turn], query: str) -> list[int]:
    """By looking at every turn: the positions of those that hold every term, newest first, else as they landed."""
    terms = terms_of(query)
    holding = [at for at, turn in enumerate(turns) if all(term in fold(turn.messages[0].text) for term in terms)]
    return sorted(holding, key=lambda at: (-turns[at].instant, at))


def _positions() -> dict[tuple[str, int], int]:
    counts: dict[str, int] = {}
    places = {}
    for at in range(MANY):
        name = f"c{at // 150 * 150 % 4}"
        counts[name] = counts.get(name, 0) + 1
        places[name, counts[name]] = at
    return places


PLACES = _positions()


def test_segments_of_every_size_are_there(large: History) -> None:
    with closing(sqlite3.connect(large._database.path)) as database:
        pages = [row[0] for row in database.execute("SELECT pages FROM segments ORDER BY first")]
        last = database.execute("SELECT max(first + size - 1) FROM segments").fetchone()[0]

    assert pages[0] >= 8192
    assert any(size < 1024 for size in pages[1:])
    assert 0 < MANY - last < 128, pages


@pytest.mark.parametrize(
    "query",
    [
        "amber", "AMBER", "a", "🌙", "ß", "ss", "庫", "設備", "備", "strasse", "NAÏVE", '"disk full"', "full amber",
        "main.py slate 倉庫", "ambergris", "bergri", "filler", "f", "nowhere", "amberx", '"full disk"', "設庫", "é",
    ],
)  # fmt: skip
def test_it_finds_what_a_look_at_every_turn_finds(large: History, turns: list[Turn], query: str) -> None:
    expected = looked_at(turns, query)

    hits = find(large, query, limit=50)

    assert [PLACES[hit.conversation, hit.number] for hit in hits.hits] == expected[:50]
    assert (hits.cursor is not None, hits.stopped, hits.unreadable) == (len(expected) > 50, False, 0)


def test_pages_together_are_all_hits_once(large: History, turns: list[Turn]) -> None:
    pages = every_page(large, "ambergris", limit=37)

    assert [PLACES[hit] for hit in pages] == looked_at(turns, "ambergris")


def test_filters_leave_out_what_they_should(large: History, turns: list[Turn]) -> None:
    names = {place: name for (name, _), place in PLACES.items()}
    everywhere = looked_at(turns, "slate")

    for name, actor, project in product((None, "c0"), (None, "hook:a"), (None, "user:ann/proj:p0")):
        viewer = ANN if project is None else Viewer("project", "user:ann", project)
        hits = find(large, "slate", viewer, conversation=name, actor=actor).hits
        expected = [
            at
            for at in everywhere
            if (name is None or names[at] == name) and (actor is None or turns[at].actor == actor)
        ]
        assert [PLACES[hit.conversation, hit.number] for hit in hits] == expected[:50]


def test_a_range_of_time_has_both_its_ends_and_nothing_undated(large: History, turns: list[Turn]) -> None:
    asked = Asked(("slate",), since=1_000, until=1_100)

    hits = large.search(asked, ANN, 50, soon()).hits
    until = large.search(Asked(("slate",), until=40), ANN, 50, soon()).hits

    everywhere = looked_at(turns, "slate")
    assert [PLACES[hit.conversation, hit.number] for hit in hits] == [
        at for at in everywhere if 1_000 <= turns[at].instant <= 1_100
    ][:50]
    assert [PLACES[hit.conversation, hit.number] for hit in until] == [
        at for at in everywhere if 0 <= turns[at].instant <= 40
    ][:50]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(alphabet='abs设庫🌙 "ßm.', min_size=1, max_size=8).filter(lambda text: bool(terms_of(text))))
def test_any_query_finds_what_a_look_finds(large: History, turns: list[Turn], query: str) -> None:
    hits = find(large, query, limit=10).hits

    assert [PLACES[hit.conversation, hit.number] for hit in hits] == looked_at(turns, query)[:10]


def test_pages_stay_right_while_turns_land(tmp_path: Path) -> None:
    with closing(History(tmp_path / "history.db")) as history:
        land(history, *(said(f"amber {number}", at=f"2031-02-03T00:00:{number:02}Z") for number in range(10)))
        first = find(history, "amber", limit=4)
        newer = said("amber newer", at="2031-02-04")
        older = said("amber older", at="2031-02-03T00:00:02.5Z")
        land(history, newer, older, into=conversation("c2"))

        second = find(history, "amber", limit=50, cursor=first.cursor)

        assert [hit.number for hit in first.hits] == [10, 9, 8, 7]
        assert [(hit.conversation, hit.number) for hit in second.hits] == [
            ("c1", 6), ("c1", 5), ("c1", 4), ("c2", 2), ("c1", 3), ("c1", 2), ("c1", 1),
        ]  # fmt: skip


def test_a_search_that_runs_out_of_time_says_so_and_can_be_gone_on_with(tmp_path: Path) -> None:
    with closing(History(tmp_path / "history.db")) as history:
        land(history, said("amber"))

        late = history.search(Asked(("amber",)), ANN, 10, 0.0)

        assert (late.hits, late.stopped) == ([], True)
        assert found(history, "amber", cursor=late.cursor) == [("c1", 1)]


def test_a_term_across_two_parts_or_pages(tmp_path: Path) -> None:
    with closing(History(tmp_path / "history.db")) as history:
        apart = Turn("apart", 0, "hook:a", (Message("user", "amb"), Message("assistant", "er")))
        across = said("x" * 2044 + "amber" + "y" * 3000)
        # Enough to be in a segment.
        land(history, apart, across, *(said(f"slate {number}") for number in range(200)))

        assert found(history, "amber") == [("c1", 2)]
        assert found(history, "xamb ery") == [("c1", 2)]
        assert found(history, "amb er") == [("c1", 2), ("c1", 1)]
