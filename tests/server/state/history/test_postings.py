"""Postings: what goes in comes out, joined or not, and no page that holds a term lacks its grams."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from homeport.server.state.history import postings
from homeport.server.state.history.postings import Piece, after_prefix, decode, encode, grams_to_ask, join, pages_of

LETTERS = st.text(alphabet="ab c設🌙é", max_size=40)


@st.composite
def pieces(draw: st.DrawFn) -> tuple[list[Piece], set[int], int]:
    """Postings of segments that follow one another, the slots of all in the joined one, and its size."""
    made, together, offset = [], set(), 0
    for size in draw(st.lists(st.integers(1, 200), min_size=1, max_size=6)):
        slots = draw(st.sets(st.integers(0, size - 1), max_size=size))
        if slots:
            made.append(Piece(offset, size, encode(sorted(slots), size)))
            together |= {slot + offset for slot in slots}
        offset += size
    return made, together, offset


@given(st.integers(1, 3000).flatmap(lambda size: st.tuples(st.just(size), st.sets(st.integers(0, size - 1)))))
def test_slots_come_back(made: tuple[int, set[int]]) -> None:
    size, slots = made

    kept = encode(sorted(slots), size)

    assert list(postings.slots_of(decode(kept, size))) == sorted(slots)
    assert len(kept) <= (size + 7) // 8


@given(pieces())
def test_joined_postings_are_those_of_all(made: tuple[list[Piece], set[int], int]) -> None:
    parts, slots, size = made

    assert join(parts, size) == encode(sorted(slots), size)


@given(
    before=LETTERS,
    term=st.text(alphabet="ab c設🌙é", min_size=1, max_size=200),
    after=LETTERS,
    gap=st.integers(0, 5000),
)
def test_the_page_in_which_a_term_begins_has_every_gram_that_is_asked_for(
    before: str, term: str, after: str, gap: int
) -> None:
    folded = before + "x" * gap + term + after
    page = list(pages_of(folded))[folded.index(term) // postings.PAGE_CHARS]

    if len(term) < postings.GRAM_CHARS:
        assert any(gram.startswith(term) for gram in page)
    else:
        assert set(grams_to_ask(term)) <= page


@given(prefix=st.text(min_size=1, max_size=2), rest=st.text(max_size=3), other=st.text(min_size=1, max_size=4))
def test_what_begins_with_a_prefix_lies_before_its_end(prefix: str, rest: str, other: str) -> None:
    inside = prefix <= other < after_prefix(prefix)

    assert prefix <= prefix + rest < after_prefix(prefix)
    assert inside == other.startswith(prefix)


def test_a_big_endian_machine_reads_the_same_numbers() -> None:
    kept = postings.as_blob(postings.numbers("H", b"\x01\x00\x00\x02"))

    assert (kept, list(postings.numbers("H", kept))) == (b"\x01\x00\x00\x02", [1, 512])
