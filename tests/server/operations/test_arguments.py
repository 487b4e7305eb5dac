from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homeport.errors import HomeportError
from homeport.server.operations.arguments import check_arguments

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "word": {"type": "string", "description": "A word.", "minLength": 1, "maxLength": 5},
        "pick": {"type": "string", "description": "One.", "enum": ["a", "b"]},
        "line": {"type": "integer", "description": "A line.", "minimum": 0, "maximum": 9},
        "flag": {"type": "boolean", "description": "A flag."},
        "pair": {
            "type": "array",
            "description": "Two lines.",
            "items": {"type": "integer", "minimum": -1, "maximum": 9},
            "minItems": 2,
            "maxItems": 2,
        },
    },
    "required": ["word"],
    "additionalProperties": False,
}


def test_what_fits_is_given_back_and_null_counts_as_left_out() -> None:
    arguments = {"word": "x", "line": 0, "flag": False, "pair": [1, -1], "pick": None}

    assert check_arguments(arguments, SCHEMA) == {"word": "x", "line": 0, "flag": False, "pair": [1, -1]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "word: it is missing"),
        ({"word": ""}, "word: it must not be empty"),
        ({"word": "secret"}, "word: it has 6 characters, and at most 5 are taken"),
        ({"word": 1}, "word: it must be a string"),
        ({"word": "a\ud800"}, "word: character 2 is half of a surrogate pair, which is not text"),
        ({"word": "x", "line": True}, "line: it must be a whole number"),
        ({"word": "x", "line": 1.0}, "line: it must be a whole number"),
        ({"word": "x", "line": "1"}, "line: it must be a whole number"),
        ({"word": "x", "line": 10}, "line: it must be from 0 to 9"),
        ({"word": "x", "flag": 1}, "flag: it must be true or false"),
        ({"word": "x", "pick": "c"}, "pick: it must be one of a, b"),
        ({"word": "x", "pair": [1]}, "pair: it must have 2 items"),
        ({"word": "x", "pair": [1, "2"]}, "pair: an item is wrong: it must be a whole number"),
        ({"word": "x", "pair": [True, 1]}, "pair: an item is wrong: it must be a whole number"),
        ({"word": "x", "wrod": 1}, "wrod: there is no such argument"),
        ({"word": "x", "\ud800\n": 1}, "\\ud800\\n: there is no such argument"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_field(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(HomeportError) as refused:
        check_arguments(arguments, SCHEMA)

    assert (refused.value.code, refused.value.message) == ("bad_argument", message)
    assert refused.value.details == {"field": message.partition(":")[0]}
    assert refused.value.hint


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=3), values, max_size=3),
    max_leaves=5,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"], "other"]), json_values))
def test_any_json_is_taken_or_refused_and_nothing_else(arguments: dict[str, Any]) -> None:
    try:
        given_back = check_arguments(arguments, SCHEMA)
    except HomeportError as refused:
        assert refused.code == "bad_argument"
    else:
        assert given_back == {name: value for name, value in arguments.items() if value is not None}
