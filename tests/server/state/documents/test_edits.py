from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from homeport.errors import HomeportError
from homeport.server.state.documents.edits import PAGE_BYTES, insert_after, lines_of, page_of, replace_once

texts = st.text(st.sampled_from("ab\n\r\u2028ž"), max_size=30)


@settings(deadline=None)
@given(texts)
def test_lines_put_together_are_the_text(text: str) -> None:
    assert "".join(lines_of(text)) == text


def test_one_occurrence_is_replaced_and_its_line_told() -> None:
    assert replace_once("one\ntwo\nthree", "two\n", "") == ("one\nthree", 2)


@pytest.mark.parametrize(
    ("text", "old", "code", "lines"),
    [
        ("aaa", "aa", "several_matches", [1, 1]),
        ("a\nb\na", "a", "several_matches", [1, 3]),
        ("abc", "x", "no_match", None),
    ],
)
def test_any_other_number_of_occurrences_is_refused(text: str, old: str, code: str, lines: list[int] | None) -> None:
    with pytest.raises(HomeportError) as refused:
        replace_once(text, old, "y")

    assert (refused.value.code, refused.value.details.get("lines")) == (code, lines)


@pytest.mark.parametrize(
    ("text", "line", "inserted", "expected"),
    [
        pytest.param("a\nb\n", 0, "x", "x\na\nb\n", id="top"),
        pytest.param("a\nb\n", 1, "x", "a\nx\nb\n", id="middle"),
        pytest.param("a\nb\n", 2, "x", "a\nb\nx\n", id="end-of-a-text-with-a-final-line-end"),
        pytest.param("a\nb", 2, "x", "a\nb\nx", id="end-of-a-text-without-one"),
        pytest.param("", 0, "x", "x", id="empty"),
        pytest.param("a\n", 1, "x\n", "a\nx\n", id="own-line-end-is-not-doubled"),
        pytest.param("a\r\nb\r\n", 1, "x", "a\r\nx\r\nb\r\n", id="crlf"),
    ],
)
def test_lines_are_inserted(text: str, line: int, inserted: str, expected: str) -> None:
    assert insert_after(text, line, inserted) == expected


def test_a_line_behind_the_end_is_refused() -> None:
    with pytest.raises(HomeportError) as refused:
        insert_after("a\nb\n", 3, "x")

    assert refused.value.details == {"field": "insert_line", "lines": 2}


@settings(deadline=None)
@given(texts, st.integers(0, 40), texts.filter(bool))
def test_insert_keeps_every_line_that_was_there(text: str, line: int, inserted: str) -> None:
    lines = lines_of(text)
    line = min(line, len(lines))

    result = insert_after(text, line, inserted)

    assert result.startswith("".join(lines[:line]))
    assert result.endswith("".join(lines[line:]))
    assert inserted in result
    assert len(lines_of(result)) >= len(lines) + 1


@settings(deadline=None)
@given(st.lists(st.sampled_from(["", "short", "x" * 40_000, "東" * 30_000]), max_size=6), st.booleans())
@example(["x" * (PAGE_BYTES * 2)], False)
@example(["東" * 100_000], True)
def test_following_the_pages_gives_the_whole_text(lines: list[str], ends: bool) -> None:
    text = "\n".join(lines) + ("\n" if ends else "")

    read, page = "", page_of(text, 1, -1) if text else page_of(text, 1, 1)
    read += page.text
    while page.next_line is not None:
        page = page_of(text, page.next_line, -1, page.next_offset)
        read += page.text
        assert 0 < len(page.text.encode()) <= PAGE_BYTES

    assert read == text


@pytest.mark.parametrize(("first", "last"), [(4, -1), (2, 1), (4, 9)])
def test_a_range_that_is_not_there_is_refused(first: int, last: int) -> None:
    with pytest.raises(HomeportError) as refused:
        page_of("a\nb\nc\n", first, last)

    assert refused.value.details == {"field": "view_range", "lines": 3}


def test_a_last_line_behind_the_end_means_the_end() -> None:
    page = page_of("a\nb\nc\n", 2, 99)

    assert (page.text, page.first, page.last, page.next_line) == ("b\nc\n", 2, 3, None)
