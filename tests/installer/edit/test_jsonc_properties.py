"""What holds for every JSON and JSONC file: only our span changes, and what was put in comes out without a trace."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from homeport.errors import HomeportError
from homeport.installer.edit.json_grammar import JsonDialect
from homeport.installer.edit.json_value import without_comments
from homeport.installer.edit.jsonc import open_json
from tests.installer.edit.json_documents import documents

OURS = ("mcpServers", "homeport")
ENTRY = {"command": "/opt/ledger", "args": ["serve", "Журнал №1"], "env": {"A": "${A}"}}
ENTRIES = st.sampled_from([ENTRY, {"command": "x"}, {"type": "local", "command": ["a"], "enabled": True}, {"url": "u"}])


def parsed(source: bytes) -> Any:
    """By the standard library alone, numbers as they are spelled."""
    return json.loads(without_comments(source.removeprefix(b"\xef\xbb\xbf")), parse_int=str, parse_float=str)


def each_dialect(check: Any) -> Any:
    return pytest.mark.parametrize("dialect", ["json", "jsonc"])(check)


@each_dialect
@settings(max_examples=150, deadline=None)
@given(data=st.data(), entry=ENTRIES)
def test_uninstall_gives_the_first_bytes_back(dialect: JsonDialect, data: st.DataObject, entry: dict[str, Any]) -> None:
    source = data.draw(documents(is_jsonc=dialect == "jsonc"))
    installed = open_json(source, dialect).set(OURS, entry)
    assert open_json(installed, dialect).remove(OURS) == source


@each_dialect
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_container_that_was_made_goes_with_the_entry(dialect: JsonDialect, data: st.DataObject) -> None:
    source = data.draw(documents(is_jsonc=dialect == "jsonc", container="other"))
    if b'"mcpServers"' in source:
        return
    installed = open_json(source, dialect).set(OURS, ENTRY)
    assert open_json(installed, dialect).remove(OURS, prune=1) == source


@each_dialect
@settings(max_examples=100, deadline=None)
@given(data=st.data(), entry=ENTRIES)
def test_every_other_value_and_every_line_stays(
    dialect: JsonDialect, data: st.DataObject, entry: dict[str, Any]
) -> None:
    source = data.draw(documents(is_jsonc=dialect == "jsonc", filled=True))
    installed = open_json(source, dialect).set(OURS, entry)
    expected = parsed(source)
    expected["mcpServers"]["homeport"] = json.loads(json.dumps(entry), parse_int=str, parse_float=str)
    assert parsed(installed) == expected
    assert _is_inserted(source, installed), "more than one piece and one comma came in"


def _is_inserted(old: bytes, new: bytes) -> bool:
    """The new file is the old one with one piece put in, and at most one comma before it."""
    start = next((at for at in range(len(old)) if old[at] != new[at]), len(old))
    comma = new[start : start + 1] == b","
    rest = start + 1 if comma else start
    while rest < len(new) and start < len(old) and old[start] == new[rest]:
        start, rest = start + 1, rest + 1
    return new.endswith(old[start:]) or any(new.endswith(old[at:]) and new[: at + comma] for at in range(start))


@each_dialect
@settings(max_examples=60, deadline=None)
@given(data=st.data(), entry=ENTRIES)
def test_installing_twice_equals_once(dialect: JsonDialect, data: st.DataObject, entry: dict[str, Any]) -> None:
    source = data.draw(documents(is_jsonc=dialect == "jsonc"))
    installed = open_json(source, dialect).set(OURS, entry)
    assert open_json(installed, dialect).set(OURS, entry) is not None
    again = open_json(installed, dialect)
    assert again.set(OURS, entry) is again.source
    assert again.update(OURS, entry) is again.source


@each_dialect
@settings(max_examples=100, deadline=None)
@given(data=st.data(), value=st.sampled_from([1, "neu", ["x"], {"k": "v"}, True]))
def test_an_update_changes_its_keys_alone(dialect: JsonDialect, data: st.DataObject, value: Any) -> None:
    source = data.draw(documents(is_jsonc=dialect == "jsonc", filled=True))
    document = open_json(source, dialect)
    entries = [member for member in document.members(("mcpServers",)) if isinstance(member.value, dict)]
    if not entries:
        return
    path = entries[0].path
    changed = document.update(path, {"command": value}, frozenset({"a"}))
    expected = parsed(source)
    expected["mcpServers"][path[1]].pop("a", None)
    expected["mcpServers"][path[1]]["command"] = json.loads(json.dumps(value), parse_int=str)
    assert parsed(changed) == expected


@each_dialect
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_removing_any_entry_keeps_the_others_and_every_comment(dialect: JsonDialect, data: st.DataObject) -> None:
    source = data.draw(documents(is_jsonc=dialect == "jsonc", filled=True))
    document = open_json(source, dialect)
    path = data.draw(st.sampled_from([member.path for member in document.members(("mcpServers",))]))
    removed = document.remove(path)
    expected = parsed(source)
    del expected["mcpServers"][path[1]]
    assert parsed(removed) == expected


@settings(max_examples=300, deadline=None)
@given(source=st.binary(max_size=60), dialect=st.sampled_from(["json", "jsonc"]))
@example(source=b"[" * 100_000, dialect="json")
@example(source=b'{"a":' * 100_000, dialect="json")
@example(source=b'{"mcpServers":{},"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", dialect="json")
@example(source=b'{"n":' + b"9" * 5000 + b"}", dialect="json")
@example(source=b"{/" + b"*" * 50_000, dialect="jsonc")
@example(source=b'{"' + b"\\" * 50_001, dialect="json")
def test_hostile_bytes_are_refused_in_words_or_edited(source: bytes, dialect: JsonDialect) -> None:
    with contextlib.suppress(HomeportError):
        open_json(source, dialect).set(OURS, ENTRY)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_damaged_file_is_refused_or_still_edited_right(data: st.DataObject) -> None:
    source = bytearray(data.draw(documents(is_jsonc=True)))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(source) - 1))
        source[at : at + data.draw(st.integers(0, 2))] = data.draw(
            st.sampled_from([b"", b",", b"}", b'"', b"/", b"\xff"])
        )
    try:
        installed = open_json(bytes(source), "jsonc").set(OURS, ENTRY)
    except HomeportError as error:
        assert error.code in (
            "malformed_file", "wrong_shape", "duplicate_key", "unsupported_encoding", "client_cannot_read",
        ), error  # fmt: skip
    else:
        assert parsed(installed)["mcpServers"]["homeport"] == ENTRY
