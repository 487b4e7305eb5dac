"""What holds for every JSON and JSONC file: invariants 2, 3, 4 and 8 of the editor, and uninstall undoes install."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from homeport.errors import HomeportError
from homeport.installer.edit.json_grammar import JsonDialect
from homeport.installer.edit.json_scan import Scanner
from homeport.installer.edit.json_source import content_start
from homeport.installer.edit.jsonc import open_json
from tests.installer.edit.jsonc_texts import CONTAINER, NAME, files

OURS = (CONTAINER, NAME)
ENTRY = {"command": "/opt/homeport", "args": ["serve", "Журнал №1"], "env": {}}
ENTRIES = st.sampled_from([ENTRY, {}, {"command": "x"}, {"url": "u", "headers": {"K": "${V}"}}, {"args": []}])

both_dialects = pytest.mark.parametrize("dialect", ["json", "jsonc"])
# An empty object that holds nothing but a line end and some indentation may come back as {}: json_splice says when.
BLANK_LINE_OBJECT = re.compile(rb"\{(?:\r\n|\n|\r)[ \t]*\}")


def values_of(source: bytes, dialect: JsonDialect) -> list[tuple[str, Any]]:
    return [(member.path[0], member.value) for member in open_json(source, dialect).members(())]


@both_dialects
@given(data=st.data(), entry=ENTRIES)
@settings(max_examples=100, deadline=None)
def test_what_was_put_into_a_container_comes_out_without_a_trace(
    dialect: JsonDialect, data: st.DataObject, entry: dict[str, Any]
) -> None:
    source = data.draw(files(dialect, with_container=True))
    assume(not BLANK_LINE_OBJECT.search(source))
    installed = open_json(source, dialect).set(OURS, entry)
    assert open_json(installed, dialect).remove(OURS) == source


@both_dialects
@given(data=st.data(), entry=ENTRIES, path=st.sampled_from([OURS, ("new", *OURS)]))
@settings(max_examples=100, deadline=None)
def test_containers_that_were_made_go_with_the_entry(
    dialect: JsonDialect, data: st.DataObject, entry: dict[str, Any], path: tuple[str, ...]
) -> None:
    source = data.draw(files(dialect, with_container=False))
    assume(not BLANK_LINE_OBJECT.search(source))
    installed = open_json(source, dialect).set(path, entry)
    assert open_json(installed, dialect).remove(path, prune=len(path) - 1) == source


@both_dialects
@given(data=st.data(), entry=ENTRIES)
@settings(max_examples=100, deadline=None)
def test_only_our_span_changes(dialect: JsonDialect, data: st.DataObject, entry: dict[str, Any]) -> None:
    source = data.draw(files(dialect, with_container=True))
    installed = open_json(source, dialect).set(OURS, entry)
    member = open_json(installed, dialect).find(OURS)
    assert member is not None
    assert member.value == entry
    assert _is_subsequence(source, installed)


def _is_subsequence(old: bytes, new: bytes) -> bool:
    rest = iter(new)
    return all(byte in rest for byte in old)


@both_dialects
@given(data=st.data(), entry=ENTRIES)
@settings(max_examples=60, deadline=None)
def test_the_second_time_gives_the_very_same_object(
    dialect: JsonDialect, data: st.DataObject, entry: dict[str, Any]
) -> None:
    installed = open_json(data.draw(files(dialect, with_container=True)), dialect).set(OURS, entry)
    again = open_json(installed, dialect)
    assert again.set(OURS, entry) is installed
    assert again.update(OURS, entry) is installed
    assert again.remove((CONTAINER, "nobody"), prune=1) is installed


@both_dialects
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_any_member_can_be_taken_out_and_every_comment_stays(dialect: JsonDialect, data: st.DataObject) -> None:
    source = data.draw(files(dialect, with_container=True))
    document = open_json(source, dialect)
    members = document.members(())
    gone = data.draw(st.sampled_from(members))
    after = document.remove(gone.path)
    assert values_of(after, dialect) == [(one.path[0], one.value) for one in members if one.path != gone.path]
    slots = Scanner(source, dialect).whole(content_start(source), {}).slots()
    key = next(slot.key for slot in slots if slot.start == gone.start)
    assert _comments(after) == _comments(source[:key]) + _comments(source[gone.end :])


def _comments(source: bytes) -> list[str]:
    tokens = re.findall(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*(?s:.*?)\*/', source.decode())
    return [token for token in tokens if token.startswith("/")]


@both_dialects
@given(data=st.data(), value=st.sampled_from([1, True, "neu", ["x"], {"k": {"l": []}}]))
@settings(max_examples=100, deadline=None)
def test_an_update_changes_nothing_but_its_keys(dialect: JsonDialect, data: st.DataObject, value: Any) -> None:
    source = data.draw(files(dialect, with_container=True))
    document = open_json(source, dialect)
    keys = document.keys((CONTAINER,))
    dropped = frozenset(data.draw(st.lists(st.sampled_from([*keys, "nobody"]), max_size=2)))
    changes = dict.fromkeys(data.draw(st.lists(st.sampled_from([*keys, "new", "other"]), max_size=3)), value)
    after = open_json(document.update((CONTAINER,), changes, dropped), dialect)
    found = document.find((CONTAINER,))
    assert found is not None
    kept = {key: held for key, held in found.value.items() if key not in dropped}
    expected = {key: held for key, held in values_of(source, dialect) if key != CONTAINER}
    assert dict(values_of(after.source, dialect)) == {**expected, CONTAINER: {**kept, **changes}}


@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_strict_results_are_json_to_the_standard_library(data: st.DataObject) -> None:
    installed = open_json(data.draw(files("json", with_container=True)), "json").set(OURS, ENTRY)
    assert json.loads(installed.decode("utf-8-sig"), parse_int=str)[CONTAINER][NAME] == ENTRY


@both_dialects
@given(source=st.binary(max_size=40))
@example(source=b"[" * 100_000)
@example(source=b'{"a":' * 100_000)
@example(source=b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
@example(source=b'{"a":' * 50_000 + b"NaN" + b"}" * 50_000)
@example(source=b'{"a":' * 50_000 + b"/*x*/1" + b"}" * 50_000)
@example(source=b"{/" + b"*" * 100_000)
@example(source=b'{"' + b"\\" * 100_001)
@example(source=b'{"' + b"a" * 100_001)
@example(source=b'{"n": -' + b"9" * 100_000 + b"}")
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_edited_or_refused_in_words(dialect: JsonDialect, source: bytes) -> None:
    with contextlib.suppress(HomeportError):
        open_json(source, dialect).set(OURS, ENTRY)


@both_dialects
@given(data=st.data())
@settings(max_examples=200, deadline=None)
def test_a_damaged_file_is_edited_right_or_refused_with_its_place(dialect: JsonDialect, data: st.DataObject) -> None:
    source = bytearray(data.draw(files(dialect, with_container=True)))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(source) - 1))
        piece = data.draw(
            st.sampled_from([b"", b",", b"{", b"}", b"]", b'"', b"/", b"*", b"\\", b"\xff", b"\x00", b"0"])
        )
        source[at : at + data.draw(st.integers(0, 2))] = piece
    try:
        installed = open_json(bytes(source), dialect).set(OURS, ENTRY)
    except HomeportError as error:
        assert error.code in (
            "malformed_file", "client_cannot_read", "wrong_shape", "duplicate_key", "unsupported_encoding",
        )  # fmt: skip
        assert "line" in error.details or "lines" in error.details or "UTF-" in error.message
    else:
        member = open_json(installed, dialect).find(OURS)
        assert member is not None
        assert member.value == ENTRY


@given(data=st.data())
@settings(max_examples=200, deadline=None)
def test_strict_json_is_what_the_standard_library_reads(data: st.DataObject) -> None:
    source = bytearray(data.draw(files("json", with_container=True)))
    at = data.draw(st.integers(0, len(source) - 1))
    source[at : at + 1] = data.draw(st.sampled_from([b"", b",", b"}", b"]", b'"', b"\\", b"0", b".", b"e", b"\x0b"]))
    try:
        right = isinstance(json.loads(source.decode("utf-8-sig"), parse_int=str, parse_constant=_refuse), dict)
    except ValueError:
        right = False
    try:
        open_json(bytes(source), "json")
        ours = True
    except HomeportError:
        ours = False
    assert ours == right


def _refuse(name: str) -> Any:
    raise ValueError(name)
