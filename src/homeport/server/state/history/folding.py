"""The form in which text is searched: letters without their case, one spelling for every character, one line."""

from __future__ import annotations

import unicodedata

PART_END = "\n"
"""Stands between the parts of a folded turn. No folded text holds it, so nothing is found across two parts."""


def fold(text: str) -> str:
    """NFKC and full case folding; a run of white space, line ends included, becomes one space, none stays at the ends.

    So `STRASSE` is `straße`, a full-width letter is its plain one, and a phrase is found where a line broke inside it.
    Accents stay. The dot that lower-casing leaves on a Turkish capital I goes, so that `İstanbul` is `istanbul`.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    if not folded.isascii():
        folded = unicodedata.normalize("NFKC", folded.replace("i\u0307", "i"))
    return " ".join(folded.split())


def terms_of(query: str) -> tuple[str, ...]:
    """The folded terms of a query, each once: words, and what stands between two quotes kept together.

    A quote that nothing closes reaches to the end. Empty where the query holds nothing but quotes and space.
    """
    terms: dict[str, None] = {}
    for number, piece in enumerate(query.split('"')):
        words = [piece] if number % 2 else piece.split()
        terms.update(dict.fromkeys(filter(None, map(fold, words))))
    return tuple(terms)
