"""The table of codes, and errors that name their file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from homeport.errors import CHANGE_NEEDED, CODES, FAILED, INTERRUPTED, USAGE, HomeportError

SOURCE = Path(__file__).parent.parent / "src/homeport"


@pytest.mark.parametrize("code", CODES)
def test_a_code_is_a_word_with_an_exit_code_and_a_sentence(code: str) -> None:
    exit_code, meaning = CODES[code]
    assert re.fullmatch(r"[a-z]+(?:_[a-z]+)*", code)
    assert exit_code in (FAILED, USAGE, INTERRUPTED)
    assert meaning.endswith(".")


def test_no_error_has_the_exit_code_of_a_check() -> None:
    assert CHANGE_NEEDED not in {exit_code for exit_code, _ in CODES.values()}


def test_every_code_that_the_source_raises_is_in_the_table_and_every_one_there_is_raised() -> None:
    text = "\n".join(path.read_text() for path in SOURCE.rglob("*.py") if path.name != "errors.py")
    raised = set(re.findall(r"""(?:HomeportError|Trouble|_refuse\w*|_error|error_of|failed)\(\s*"([a-z_]+)",""", text))
    assert raised <= CODES.keys()
    assert {code for code in CODES if f'"{code}"' not in text} == set()


@pytest.mark.parametrize(
    ("details", "message"),
    [
        ({}, "/x/f.json: wrong"),
        ({"line": 3}, "/x/f.json, line 3: wrong"),
        ({"line": 3, "column": 7}, "/x/f.json, line 3, column 7: wrong"),
        ({"file": "/y", "line": 3}, "wrong"),
    ],
)
def test_a_file_is_named_once_in_front(details: dict[str, object], message: str) -> None:
    error = HomeportError("malformed_file", "wrong", "hint", details).in_file("/x/f.json")
    assert (error.message, error.hint, str(error)) == (message, "hint", message)
    assert error.details == {"file": "/x/f.json", **details}
    assert error.in_file("/z") is error
