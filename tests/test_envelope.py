"""The one JSON envelope."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from homeport.envelope import as_line, envelope
from homeport.errors import HomeportError
from homeport.version import VERSION


def test_a_result_is_ok() -> None:
    assert envelope("install", {"a": 1}) == {
        "version": 1,
        "homeport": VERSION,
        "operation": "install",
        "ok": True,
        "result": {"a": 1},
        "error": None,
    }


def test_an_error_may_stand_beside_a_result() -> None:
    error = HomeportError("bad_name", "no", "yes", {"name": "x"})
    found = envelope("install", {"a": 1}, error)
    assert (found["ok"], found["result"]) == (False, {"a": 1})
    assert found["error"] == {"code": "bad_name", "message": "no", "hint": "yes", "details": {"name": "x"}}


@settings(deadline=None)
@given(st.dictionaries(st.text(), st.text(st.characters()) | st.integers() | st.none()))
def test_it_is_always_one_line_that_encodes_and_reads_back(result: dict[str, Any]) -> None:
    line = as_line(envelope("list", result))
    assert "\n" not in line
    assert json.loads(line.encode("utf-8"))["result"] == result
