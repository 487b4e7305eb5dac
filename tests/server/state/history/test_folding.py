"""Folding: whatever the case, the normal form or the white space, one text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homeport.server.state.history.folding import PART_END, fold, terms_of


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        pytest.param("Проверка СКЛАДА", "проверка склада", id="cyrillic"),
        pytest.param("cafe\u0301", "café", id="decomposed"),
        pytest.param("STRASSE und Straße", "strasse und strasse", id="sharp-s"),
        pytest.param("İstanbul", "istanbul", id="turkish-capital"),
        pytest.param("ＡＢＣ ﬁne", "abc fine", id="compatibility"),
        pytest.param("a\r\n\tb\u2028c\x85", "a b c", id="white-space"),
        pytest.param("ΣΊΣΥΦΟΣ", "σίσυφοσ", id="final-sigma"),
    ],
)
def test_texts_are_folded(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.text())
def test_folded_text_is_folded_and_on_one_line(text: str) -> None:
    folded = fold(text)

    assert fold(folded) == folded
    assert PART_END not in folded


@given(st.text())
def test_every_normal_form_folds_alike(text: str) -> None:
    assert len({fold(unicodedata.normalize(form, text)) for form in ("NFC", "NFD", "NFKC", "NFKD")}) == 1


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        pytest.param("Amber ALPHA amber", ("amber", "alpha"), id="words-once"),
        pytest.param('x "Disk  Full" y', ("x", "disk full", "y"), id="phrase"),
        pytest.param('say "to the end', ("say", "to the end"), id="unclosed"),
        pytest.param('a"b c"d', ("a", "b c", "d"), id="quotes-inside-a-word"),
        pytest.param('"" " " ""', (), id="only-quotes"),
        pytest.param(" \n\t", (), id="only-space"),
        pytest.param("50% a_b* (", ("50%", "a_b*", "("), id="signs-are-themselves"),
    ],
)
def test_a_query_is_words_and_phrases(query: str, terms: tuple[str, ...]) -> None:
    assert terms_of(query) == terms
