"""Our own entry brought up to date, and nothing else of it touched."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homeport.installer.edit.jsonc import open_json
from homeport.installer.plan.merging import merged

PATH = ("mcpServers", "rota")
KEYS = st.sampled_from(["type", "command", "args", "env", "url", "headers", "note", "enabled"])
VALUES = st.sampled_from(["a", "b", ["a"], [], {"A": "1"}, {"A": "2", "B": "3"}, {}, True, 1, None])
present_entries = st.dictionaries(KEYS, VALUES, max_size=6)
# No client is ever written a null.
entries = st.dictionaries(KEYS, VALUES.filter(lambda value: value is not None), max_size=6)


def merge(present: Any, wanted: dict[str, Any], written: Any = None, rewrites: frozenset[str] = frozenset()) -> Any:
    source = json.dumps({"mcpServers": {"rota": present}}).encode()
    after = merged(open_json(source, "json"), PATH, present, wanted, written, rewrites)
    return source if after is source else json.loads(after)["mcpServers"]["rota"]


@settings(deadline=None)
@given(
    present=present_entries, wanted=entries.map(lambda entry: {**entry, "command": "rota"}), written=st.none() | entries
)
def test_what_is_wanted_is_there_and_a_second_time_changes_nothing(
    present: dict[str, Any], wanted: dict[str, Any], written: Any
) -> None:
    source = json.dumps({"mcpServers": {"rota": present}}).encode()
    after = merged(open_json(source, "json"), PATH, present, wanted, written, frozenset())
    found = json.loads(after)["mcpServers"]["rota"]
    for key, value in wanted.items():
        kept = found.get(key)
        # A person's variables stay beside ours.
        assert {**kept, **value} == kept if isinstance(value, dict) and isinstance(kept, dict) else kept == value
    again = merged(open_json(after, "json"), PATH, found, wanted, wanted, frozenset())
    assert again is after


@pytest.mark.parametrize(
    ("present", "wanted", "written", "expected"),
    [
        pytest.param(
            {"command": "a", "x": 1}, {"command": "b"}, None, {"command": "b", "x": 1}, id="a person's key stays"
        ),
        pytest.param(
            {"command": "a", "x": 1}, {"command": "a"}, {"command": "a", "x": 1}, {"command": "a"}, id="ours goes"
        ),
        pytest.param(
            {"command": "a", "env": {"A": "1", "B": "2"}},
            {"command": "a", "env": {"A": "3"}},
            None,
            {"command": "a", "env": {"A": "3", "B": "2"}},
            id="a person's variable stays",
        ),
        pytest.param(
            {"command": "a", "env": {"A": "1", "B": "2"}},
            {"command": "a", "env": {"C": "3"}},
            {"command": "a", "env": {"A": "1"}},
            {"command": "a", "env": {"B": "2", "C": "3"}},
            id="our variable goes",
        ),
        pytest.param(
            {"command": "a", "args": [], "env": {}, "x": 1},
            {"url": "u"},
            None,
            {"x": 1, "url": "u"},
            id="another transport",
        ),
        pytest.param({"enabled": 1}, {"enabled": True}, None, {"enabled": True}, id="one is not true"),
        pytest.param("text", {"command": "a"}, None, {"command": "a"}, id="no object"),
    ],
)
def test_an_entry_is_merged(present: Any, wanted: dict[str, Any], written: Any, expected: dict[str, Any]) -> None:
    assert merge(present, wanted, written) == expected


def test_a_key_that_the_client_itself_drops_is_not_put_back() -> None:
    source = merge({"command": "a"}, {"type": "stdio", "command": "a"}, None, frozenset({"type"}))
    assert isinstance(source, bytes)
