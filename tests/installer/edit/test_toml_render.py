"""The text of a fragment, and that tomllib reads back what was rendered."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homeport.errors import HomeportError
from homeport.installer.edit.toml import render_fragment

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
PLAIN = TEXT | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)
VALUES: st.SearchStrategy[Any] = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=8
)
TABLES = st.dictionaries(TEXT, VALUES, max_size=4)


def test_a_fragment_is_a_table_with_its_sub_tables() -> None:
    value = {"command": "x", "args": ["a", "b"], "env": {"A": "b"}, "startup_timeout_sec": 20.0, "enabled": True}
    assert render_fragment(("mcp_servers", "homeport"), value) == (
        '[mcp_servers.homeport]\ncommand = "x"\nargs = ["a", "b"]\nstartup_timeout_sec = 20.0\nenabled = true\n\n'
        '[mcp_servers.homeport.env]\nA = "b"\n'
    )


def test_a_fragment_begins_with_its_beginning() -> None:
    assert render_fragment(("s", "a b"), {}, {"v": 1}) == 'v = 1\n\n[s."a b"]\n'


def test_a_plain_value_stands_under_its_parent() -> None:
    assert (render_fragment(("s", "k"), 1), render_fragment(("k",), [])) == ("[s]\nk = 1\n", "k = []\n")


def test_an_emoji_stays_raw_and_a_control_character_is_escaped() -> None:
    assert (
        render_fragment(("k",), "\U0001f600\x00\x1f\x7f\t\u2028") == 'k = "\U0001f600\\u0000\\u001f\\u007f\\t\u2028"\n'
    )


def test_a_fragment_of_null_is_refused() -> None:
    with pytest.raises(HomeportError, match="^TOML cannot hold a value of type NoneType$"):
        render_fragment(("k",), {"x": None})


@given(path=st.lists(TEXT, min_size=1, max_size=3), value=TABLES)
def test_a_fragment_reads_back_as_the_value(path: list[str], value: dict[str, Any]) -> None:
    tree: Any = tomllib.loads(render_fragment(tuple(path), value))
    for key in path:
        tree = tree[key]
    assert tree == value
