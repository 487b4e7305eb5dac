"""Every text comes back as it was, whatever was kept before it, and little is paid for a small change."""

from __future__ import annotations

import random
import sqlite3
import string
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homeport.server.state.documents import texts
from homeport.server.state.documents.texts import DamagedText, digest
from tests.server.making import make_documents, put, text_of


@pytest.fixture
def database() -> Iterator[sqlite3.Connection]:
    with closing(_database()) as connection:
        yield connection


def _database() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(texts.TABLES)
    return connection


pieces = st.lists(st.sampled_from([b"a", b"bc", b"\n", b"line of text\n", b"\xff"]), max_size=12).map(b"".join)


@settings(deadline=None)
@given(st.lists(pieces, max_size=40), st.sets(st.integers(0, 39)))
def test_every_text_comes_back_also_when_others_are_forgotten(written: list[bytes], forgotten: set[int]) -> None:
    with closing(_database()) as database:
        before = None
        for text in written:
            texts.keep(database, text, before)
            before = digest(text)
        gone = {written[at] for at in forgotten if at < len(written)}
        for text in gone:
            texts.forget(database, digest(text))

        assert {text: texts.read(database, digest(text)) for text in set(written)} == {
            text: None if text in gone else text for text in set(written)
        }


def test_a_hundred_small_edits_of_a_text_that_cannot_be_compressed_cost_little(tmp_path: Path) -> None:
    noise = random.Random(7)
    text = "".join(noise.choices(string.ascii_letters + string.digits, k=10_000))
    with closing(make_documents(tmp_path / "home")) as documents:
        for at in range(100):
            text = text[: at * 90] + "!" + text[at * 90 + 1 :]
            put(documents, "/m/a", text)
        assert text_of(documents, "/m/a") == text
    size = sum(path.stat().st_size for path in (tmp_path / "home").glob("versions.db"))
    assert size < 150_000


def test_a_rewrite_that_changes_little_here_and_there_is_kept_as_the_difference(database: sqlite3.Connection) -> None:
    lines = [f"line {number} {random.Random(number).random()}\n" for number in range(800)]
    texts.keep(database, "".join(lines).encode(), None)
    changed = "".join(line.upper() if number % 100 == 50 else line for number, line in enumerate(lines)).encode()
    texts.keep(database, changed, digest("".join(lines).encode()))

    sizes = [row[0] for row in database.execute("SELECT length(data) FROM texts ORDER BY id")]
    assert sizes[1] * 8 < sizes[0]
    assert texts.read(database, digest(changed)) == changed


def test_a_text_larger_than_a_document_is_not_kept(database: sqlite3.Connection) -> None:
    large = b"x" * (texts.LARGEST_BYTES + 1)
    texts.keep(database, large, None)
    assert texts.read(database, digest(large)) is None


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE texts SET data = x'00' WHERE id = 1",
        "UPDATE texts SET data = substr(data, 1, 5) WHERE id = 1",
        "DELETE FROM texts WHERE id = 1",
        "UPDATE texts SET base = 2 WHERE id = 1",
        "UPDATE texts SET head = 'x' WHERE id = 2",
    ],
)
def test_a_damaged_row_is_told_and_never_gives_another_text(database: sqlite3.Connection, damage: str) -> None:
    first, second = b"one two three four five six\n" * 20, b"one two three four five SIX\n" + b"one two\n" * 20
    texts.keep(database, first, None)
    texts.keep(database, second, digest(first))
    database.execute(damage)

    with pytest.raises(DamagedText):
        texts.read(database, digest(second))
