"""What looks like a credential in running text: the detector of credentials.py, asked about words and pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from homeport.credentials import is_secret, is_secret_name, is_secret_value

_QUOTES: Final = "\"'`()[]{}<>,;."
_PAIR: Final = r"""(?P<name>[\w.-]+)["']?(?P<sign>[:=])["']?(?P<value>[^"',;&\s]+)"""
_SCHEMES: Final = ("bearer", "basic")
_SHORTEST_CHARS: Final = 8
_PLAIN_CHARS: Final = 15  # no issuer's key is a word of letters alone that is so short


def secret_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where credentials stand: an issuer's own key, a URL with one, the value of `name=value`, `name: value`, or of a
    name with a value behind it that is no word of a language. (start, end), ascending, none inside another."""
    name, is_named = "", False
    for match in re.finditer(r"\S+", text):
        word = match[0].strip(_QUOTES + ":=")
        start = match.start() + match[0].find(word)
        plain = len(word) <= _PLAIN_CHARS and word.isalpha()
        if not plain and (is_secret_value(word) or _is_value_of(name, word, is_named)):
            yield start, start + len(word)
        elif not plain:
            yield from ((start + pair.start("value"), start + pair.end("value")) for pair in _secret_pairs(word))
        if word.lower() in _SCHEMES:
            name = name or word
        elif word:
            name = word.lstrip("-") if len(word) <= 64 and is_secret_name(word.lstrip("-")) else ""
            is_named = bool(name) and match[0].rstrip("\"'`")[-1:] in (":", "=")


def _secret_pairs(word: str) -> Iterator[re.Match[str]]:
    for pair in re.finditer(_PAIR, word):
        if is_secret(pair["name"], pair["value"]):
            yield pair


def _is_value_of(name: str, word: str, is_named: bool) -> bool:
    """is_named: the name had a colon or an equals sign behind it."""
    if not name or word.lower() in _SCHEMES or not is_secret(name, word):
        return False
    mixed = not word.isalpha() and not word.isdigit()
    return mixed and (is_named or (len(word) >= _SHORTEST_CHARS and bool(re.search(r"\d", word))))
