"""What the JSON editor refuses: the code, the words, and the place with line and column."""

from __future__ import annotations

from typing import Any

import pytest

from homeport.errors import HomeportError
from homeport.installer.edit import json_check, json_source, jsonc
from homeport.installer.edit.json_grammar import JsonDialect
from homeport.installer.edit.jsonc import open_json, render_fragment

OURS = ("mcpServers", "homeport")
REPAIR = "repair the file, or restore an older copy of it, then run this again"


def refusal(source: bytes, dialect: JsonDialect = "json") -> HomeportError:
    with pytest.raises(HomeportError) as caught:
        open_json(source, dialect).set(OURS, {"command": "x"})
    return caught.value


MALFORMED = [
    pytest.param(
        b'{\n  "a": {\n    "b": 1\n    "c": 2\n  }\n}',
        4,
        5,
        "a comma or '}' is expected here, not '\"'",
        id="missing-comma",
    ),
    pytest.param(b'{"a": [1 2]}', 1, 10, "a comma or ']' is expected here, not '2'", id="missing-comma-in-list"),
    pytest.param(b'{"a" 1}', 1, 6, "a colon is expected here, not '1'", id="missing-colon"),
    pytest.param(b'{"a": }', 1, 7, "a value is expected here, not '}'", id="missing-value"),
    pytest.param(b'{"a": 1,,}', 1, 9, "a key in double quotes is expected here, not ','", id="two-commas"),
    pytest.param(b'{"a": [1,,2]}', 1, 10, "a value is expected here, not ','", id="two-commas-in-list"),
    pytest.param(b"{a: 1}", 1, 2, "a key in double quotes is expected here, not 'a'", id="bare-key"),
    pytest.param(b"{'a': 1}", 1, 2, "single quotes are not JSON", id="single-quotes"),
    pytest.param(b'{"a": NaN}', 1, 7, "NaN is not JSON", id="NaN"),
    pytest.param(b'{"a": {"b": [-Infinity]}}', 1, 14, "-Infinity is not JSON", id="Infinity-inside"),
    pytest.param(b'{"a": True}', 1, 7, "True is not JSON", id="True"),
    pytest.param(b'{"a": 012}', 1, 7, "a number may not begin with 0", id="leading-zero"),
    pytest.param(b'{"a": -01}', 1, 7, "a number may not begin with 0", id="negative-leading-zero"),
    pytest.param(b'{"a": 1.}', 1, 7, "this is no number of JSON", id="bare-point"),
    pytest.param(b'{"a": 1e}', 1, 7, "this is no number of JSON", id="bare-exponent"),
    pytest.param(b'{"a": .5}', 1, 7, "a value is expected here, not '.'", id="no-digit-before-the-point"),
    pytest.param(b'{"a": +1}', 1, 7, "a value is expected here, not '+'", id="plus"),
    pytest.param(b'{"a": 0x1}', 1, 7, "this is no number of JSON", id="hexadecimal"),
    pytest.param(b'{"a": truely}', 1, 7, "a value is expected here, not 't'", id="longer-than-true"),
    pytest.param(
        b'{"a": "b\tc"}', 1, 9, "a string may not hold the control character U+0009 as it is", id="tab-in-string"
    ),
    pytest.param(b'{"a\x00": 1}', 1, 4, "a string may not hold the control character U+0000 as it is", id="NUL-in-key"),
    pytest.param(b'{"a": "b\nc"}', 1, 7, "the string that begins here is not closed in its line", id="open-string"),
    pytest.param(b'{"a": "b', 1, 7, "the string that begins here is not closed in its line", id="string-to-the-end"),
    pytest.param(
        b'{"a": "b\\', 1, 7, "the string that begins here is not closed in its line", id="backslash-at-the-end"
    ),
    pytest.param(b'{"a": "\\x41"}', 1, 8, "this backslash begins no escape that JSON has", id="bad-escape"),
    pytest.param(b'{"a": "\\u12g4"}', 1, 8, "this backslash begins no escape that JSON has", id="bad-unicode-escape"),
    pytest.param(b'{"a": {\n"b": [', 2, 7, "the file ends where a value is expected", id="open-list"),
    pytest.param(b'{"a": 1\n', 2, 1, "the file ends where a comma or '}' is expected", id="open-object"),
    pytest.param(b'{"a": ]}', 1, 7, "a value is expected here, not ']'", id="wrong-bracket"),
    pytest.param(b'{"a": [1}}', 1, 9, "a comma or ']' is expected here, not '}'", id="crossed-brackets"),
    pytest.param(
        '{"é🌙": 1 é}'.encode(), 1, 10, "a comma or '}' is expected here, not 'é'", id="columns-in-characters"
    ),
    pytest.param(b'\xef\xbb\xbf{"a" 1}', 1, 6, "a colon is expected here, not '1'", id="BOM-is-no-column"),
    pytest.param(b'{"a": 1,\r"b" 2}', 2, 5, "a colon is expected here, not '2'", id="CR-ends-a-line"),
    pytest.param(b'{"a": 1,\r\n"b" 2}', 2, 5, "a colon is expected here, not '2'", id="CRLF-ends-one-line"),
    pytest.param(
        b'{"a": 1}\xc2\xa0', 1, 9, "something follows here after the end of the JSON value", id="no-break-space"
    ),
    pytest.param(
        b'{"a": 1}\n{"b": 2}\n', 2, 1, "something follows here after the end of the JSON value", id="trailing-data"
    ),
    pytest.param(b'{"a": 1}}', 1, 9, "something follows here after the end of the JSON value", id="one-brace-too-many"),
    pytest.param(b"hello", 1, 1, "a value is expected here, not 'h'", id="no-JSON"),
    pytest.param(b"\x00\x00\x00\x00\x00", 1, 1, "a value is expected here, not U+0000", id="zeros"),
]


@pytest.mark.parametrize(("source", "line", "column", "message"), MALFORMED)
@pytest.mark.parametrize("dialect", ["json", "jsonc"])
def test_what_is_malformed_is_named_with_its_place(
    dialect: JsonDialect, source: bytes, line: int, column: int, message: str
) -> None:
    error = refusal(source, dialect)
    assert (error.code, error.message, error.details) == ("malformed_file", message, {"line": line, "column": column})
    assert error.hint


@pytest.mark.parametrize("marker", ["<<<<<<< HEAD", "=======", ">>>>>>> theirs", "||||||| base"])
@pytest.mark.parametrize(
    "before", ['{\n  "a": 1,\n', '{\n  "a": 1\n', '{\n  "a": {"b": [\n'], ids=["key", "comma", "value"]
)
def test_merge_conflict_markers_are_called_by_their_name(before: str, marker: str) -> None:
    error = refusal(f"{before}{marker}\n  1\n}}".encode())
    assert (error.code, error.message) == ("malformed_file", "the file holds merge-conflict markers")
    assert error.details == {"line": 3, "column": 1}


@pytest.mark.parametrize(
    ("source", "what", "line", "column"),
    [
        pytest.param(b"// x\n{}", "a comment", 1, 1, id="above"),
        pytest.param(b'{\n  "a": 1 /* x */\n}', "a comment", 2, 10, id="inside"),
        pytest.param(b'{"a": [1, {"b": // x\n1}]}', "a comment", 1, 17, id="deep"),
        pytest.param(b"{}\n// x", "a comment", 2, 1, id="below"),
        pytest.param(b'{"a": 1 , \n}', "a comma behind the last item", 1, 9, id="comma"),
        pytest.param(b'{"a": {"b": [1, 2,]}}', "a comma behind the last item", 1, 18, id="comma-in-list"),
        pytest.param(b'{"a": {"b": 1,}}', "a comma behind the last item", 1, 14, id="comma-deep"),
    ],
)
def test_what_only_jsonc_has_is_refused_in_strict_json(source: bytes, what: str, line: int, column: int) -> None:
    error = refusal(source)
    assert (error.code, error.message, error.hint, error.details) == (
        "client_cannot_read",
        f"the file holds {what}, which its client cannot read: it ignores the whole file",
        "remove it, then run this again",
        {"line": line, "column": column},
    )
    open_json(source, "jsonc")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b'{"a": 1 /* x', "the comment that begins here has no end"),
        (b'{"a": 1 /*/}', "the comment that begins here has no end"),
        (b'{"a": [1 / 2]}', "a comma or ']' is expected here, not '/'"),
        (b"{,}", "a key in double quotes is expected here, not ','"),
        (b'{"a": [,]}', "a value is expected here, not ','"),
        (b"// nothing else\n", "the file ends where a value is expected"),
    ],
)
def test_jsonc_has_its_limits_too(source: bytes, message: str) -> None:
    error = refusal(source, "jsonc")
    assert (error.code, error.message) == ("malformed_file", message)


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (b"[]", "a list"),
        (b' "x"', "a string"),
        (b"1", "a number"),
        (b"null", "null"),
        (b"\ntrue", "true"),
        (b"false\n", "false"),
    ],
)
def test_a_root_that_is_no_object_is_refused(source: bytes, kind: str) -> None:
    error = refusal(source)
    assert (error.code, error.message) == ("wrong_shape", f"the file holds {kind}, not an object")
    assert error.details == {"line": 2 if source[0] == 10 else 1, "column": 2 if source[0] == 32 else 1}


@pytest.mark.parametrize(
    ("value", "kind"),
    [("[]", "a list"), ('"x"', "a string"), ("-1", "a number"), ("null", "null"), ("true", "true")],
)
def test_a_container_that_is_no_object_is_refused_by_every_method(value: str, kind: str) -> None:
    document = open_json(f'{{\n  "mcpServers": {value}\n}}'.encode(), "json")
    for call in (
        lambda: document.find(OURS),
        lambda: document.members(OURS[:1]),
        lambda: document.keys(OURS[:1]),
        lambda: document.set(OURS, 1),
        lambda: document.update(OURS, {"a": 1}),
        lambda: document.update(OURS[:1], {"a": 1}),
        lambda: document.remove(OURS),
    ):
        with pytest.raises(HomeportError) as caught:
            call()
        assert (caught.value.code, caught.value.message) == ("wrong_shape", f"mcpServers holds {kind}, not an object")
        assert caught.value.details == {"line": 2, "column": 17}


def test_a_member_that_is_no_object_is_found_and_replaced() -> None:
    document = open_json(b'{"mcpServers": null}', "json")
    found = document.find(OURS[:1])
    assert found is not None
    assert found.value is None
    assert document.set(OURS[:1], {}) == b'{"mcpServers": {}}'


def test_a_key_that_occurs_twice_on_the_path_is_refused_with_both_lines() -> None:
    source = b'{\n  "mcpServers": {},\n  "n": 4,\n  "x": {"y": 1, "y": 2},\n\n  "mcp\\u0053ervers": {}\n}'
    error = refusal(source)
    assert (error.code, error.message, error.details) == (
        "duplicate_key",
        "the key mcpServers occurs 2 times: line 2 and line 6",
        {"lines": [2, 6]},
    )
    assert open_json(source, "json").set(("n",), 5) == source.replace(b"4", b"5")


def test_a_key_that_occurs_twice_in_the_entry_is_refused_where_it_is_changed() -> None:
    document = open_json(b'{"e": {"a": 1, "a": 2, "b": 3}}', "json")
    assert document.update(("e",), {"b": 4}) == b'{"e": {"a": 1, "a": 2, "b": 4}}'
    for changes, dropped in (({"a": 5}, frozenset[str]()), ({}, frozenset({"a"}))):
        with pytest.raises(HomeportError) as caught:
            document.update(("e",), changes, dropped)
        assert caught.value.code == "duplicate_key"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_other_encodings_are_called_by_their_name(encoding: str) -> None:
    error = refusal('{"mcpServers": {}}'.encode(encoding))
    name = encoding[:6].upper()
    assert (error.code, error.message) == ("unsupported_encoding", f"the file is {name}, not UTF-8")


@pytest.mark.parametrize(
    ("wrong", "byte"),
    [
        (b"\xe9", 0xE9),
        (b"\xc0\xaf", 0xC0),
        (b"\xed\xa0\x80", 0xED),
        (b"\xf4\x90\x80\x80", 0xF4),
        (b"\x80", 0x80),
        (b"\xc3", 0xC3),
    ],
)
def test_the_first_byte_that_is_not_utf8_is_named_with_its_place(wrong: bytes, byte: int) -> None:
    error = refusal('{\r\n "é🌙": "'.encode() + wrong)
    assert (error.code, error.message, error.details) == (
        "unsupported_encoding",
        f"the file is not UTF-8: byte 0x{byte:02x} does not belong there",
        {"line": 2, "column": 9},
    )


def test_bytes_are_checked_across_the_pieces_they_are_read_in() -> None:
    padding = b"x" * (1024 * 1024 - 8)
    whole = b'{"a": "' + padding + "🌙é".encode() + b'"}'
    assert open_json(whole, "json").keys(()) == ("a",)
    error = refusal(whole[:-2] + b"\xff")
    assert (error.code, error.details) == ("unsupported_encoding", {"line": 1, "column": len(padding) + 10})


def test_a_file_too_large_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_source, "LARGEST_BYTES", 10)
    assert open_json(b'{"a": 123}', "json").keys(()) == ("a",)
    error = refusal(b'{"a": 1234}')
    assert (error.code, error.details) == ("file_too_large", {"size_bytes": 11})


def test_a_value_too_deep_to_decode_is_refused_only_where_it_is_looked_up() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    document = open_json(b'{"deep": %b, "flat": 1}' % deep, "json")
    assert document.keys(()) == ("deep", "flat")
    assert document.set(("flat",), 2) == b'{"deep": %b, "flat": 2}' % deep
    with pytest.raises(HomeportError) as caught:
        document.find(("deep",))
    assert caught.value.code == "edit_refused"


def test_a_mistake_in_the_depth_is_found_where_it_is() -> None:
    error = refusal(b'{"deep": ' + b"[" * 50_000 + b"1 2" + b"]" * 50_000 + b"}")
    assert (error.message, error.details) == (
        "a comma or ']' is expected here, not '2'",
        {"line": 1, "column": 9 + 50_000 + 3},
    )


def test_a_mistake_far_behind_is_found_where_it_is() -> None:
    lines = b"".join(b'    {"a": [%d, {"b": "c"}], "d": null},\n' % number for number in range(9000))
    error = refusal(b'{\n  "p": {"l": [\n' + lines + b"    01\n  ]}\n}")
    assert (error.message, error.details) == ("a number may not begin with 0", {"line": 9003, "column": 5})


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), pytest.param(object(), id="object"), {1, 2}, b"x"], ids=repr
)
def test_a_value_that_is_no_json_is_refused(value: Any) -> None:
    for call in (
        lambda: open_json(b"{}", "json").set(OURS, value),
        lambda: open_json(b"{}", "json").update(OURS, {"a": value}),
        lambda: render_fragment(OURS, value),
    ):
        with pytest.raises(HomeportError) as caught:
            call()
        assert (caught.value.code, caught.value.message) == ("edit_refused", "the entry is not a JSON value")


def test_a_value_nested_without_end_is_refused() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(HomeportError) as caught:
        open_json(b"{}", "json").set(OURS, value)
    assert caught.value.code == "edit_refused"
    while value:  # taken apart here, since the interpreter does it recursively
        value = value.pop()


SAYS_SO = "this is a fault of Homeport's own"


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        pytest.param(b'{"a": 1, "mcpServers": {"x": 2, "homeport": 1}', "it would have damaged the file", id="broken"),
        pytest.param(b'{"a": 1, "mcpServers": {"x": 2, "homeport": 2}}', "would not have become", id="another-entry"),
        pytest.param(b'{"a": 1, "mcpServers": {"x": 2}}', "would not have become", id="no-entry"),
        pytest.param(
            b'{"a": 1.0, "mcpServers": {"x": 2, "homeport": 1}}', "more than the entry", id="another-spelling"
        ),
        pytest.param(b'{"mcpServers": {"x": 2, "homeport": 1}, "a": 1}', "more than the entry", id="another-order"),
        pytest.param(b'{"b": 1, "mcpServers": {"x": 2, "homeport": 1}}', "more than the entry", id="another-key"),
        pytest.param(b'{"a": 1, "mcpServers": {"homeport": 1}}', "more than the entry", id="a-neighbour-gone"),
        pytest.param(b'{"a": 1, "mcpServers": {"x": 2, "y": 3, "homeport": 1}}', "more than the entry", id="one-more"),
        pytest.param(b'{"mcpServers": {"x": 2, "homeport": 1}}', "more than the entry", id="a-member-gone"),
    ],
)
def test_an_edit_gone_wrong_is_refused_as_our_own_fault(
    monkeypatch: pytest.MonkeyPatch, new: bytes, reason: str
) -> None:
    monkeypatch.setattr(jsonc, "changed", lambda source, changes: new)
    error = refusal_of_one(b'{"a": 1, "mcpServers": {"x": 2}}')
    assert error.code == "edit_refused"
    assert reason in error.message
    assert SAYS_SO in error.message
    assert "report it" in (error.hint or "")


def test_a_container_that_would_bring_something_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonc, "changed", lambda source, changes: b'{"mcpServers": {"homeport": 1, "x": 2}}')
    assert SAYS_SO in refusal_of_one(b"{}").message
    monkeypatch.setattr(jsonc, "changed", lambda source, changes: b'{"y": 1, "mcpServers": {"homeport": 1}}')
    assert SAYS_SO in refusal_of_one(b"").message


def test_a_value_is_compared_beyond_the_first_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_check, "_COMPARED_BYTES", 4)
    monkeypatch.setattr(jsonc, "changed", lambda source, changes: b'{"a": "123456789", "mcpServers": {"homeport": 1}}')
    assert SAYS_SO in refusal_of_one(b'{"a": "123456780"}').message
    assert open_json(b'{"a": "123456789"}', "json").set(OURS, 1)


def refusal_of_one(source: bytes) -> HomeportError:
    with pytest.raises(HomeportError) as caught:
        open_json(source, "json").set(OURS, 1)
    return caught.value
