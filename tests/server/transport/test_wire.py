from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from homeport.server.transport.wire import LineSplitter, Refusal, TooLong, read_line


@settings(deadline=None)
@given(st.lists(st.binary(max_size=30)), st.booleans())
def test_lines_do_not_depend_on_the_pieces_they_come_in(pieces: list[bytes], ends: bool) -> None:
    whole = b"".join(pieces) + (b"\n" if ends else b"")
    splitter = LineSplitter(1000)

    lines = [line for piece in [*pieces, b"\n" if ends else b""] for line in splitter.feed(piece)] + splitter.end()

    *ended, rest = whole.split(b"\n")
    assert lines == [*ended, rest] if rest else lines == ended


@settings(deadline=None)
@given(st.lists(st.binary(max_size=20), max_size=8), st.integers(1, 30))
def test_a_line_over_the_limit_is_told_with_its_size_and_the_next_ones_are_whole(
    pieces: list[bytes], limit: int
) -> None:
    splitter = LineSplitter(limit)

    lines = [line for piece in [*pieces, b"\n", b"x\n"] for line in splitter.feed(piece)]

    for line, expected in zip(lines, b"".join(pieces).split(b"\n"), strict=False):
        if len(expected) > limit:
            assert isinstance(line, TooLong)
            assert (line.size_bytes, line.tail) == (len(expected), expected[-4096:])
            assert line.head
            assert expected.startswith(line.head)
        else:
            assert line == expected
    assert lines[-1] == b"x"


@settings(deadline=None)
@given(st.binary())
@example(b'{"jsonrpc":"2.0","id":"\\ud800","method":"x"}')
@example(b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}')
@example(b"1" * 5000)
def test_any_line_is_a_message_or_a_refusal_that_can_be_sent(line: bytes) -> None:
    found = read_line(line)

    if isinstance(found, Refusal):
        sent = json.loads(found.encoded())
        assert sent["error"]["code"] in (-32700, -32600)
        assert b"\n" not in found.encoded()
    else:
        assert found is None or isinstance(found, dict)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=4), values, max_size=3),
    max_leaves=6,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params", "x"]), json_values))
def test_a_request_with_a_usable_id_is_never_left_without_it(members: dict[str, Any]) -> None:
    found = read_line(json.dumps({**members, "jsonrpc": "2.0"}).encode())

    usable = isinstance(members.get("id"), str | int) and not isinstance(members.get("id"), bool)
    if isinstance(found, Refusal) and usable:
        assert found.id == members["id"]
    elif isinstance(found, dict) and "method" in found:
        assert isinstance(found["method"], str)


@pytest.mark.parametrize(
    ("line", "id"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"', 7),
        (b'{ "method" : "tools/call", "id" : "a\\"b" , "params":{"a":"', 'a"b'),
        (b'{"id":7,"method":"x","params":{"a":"', 7),
        (b'{"jsonrpc":"2.0","params":{"id":7,"a":"', None),
        (b'{"jsonrpc":"2.0","method":"x","params":{"id":7},"a":"', None),
    ],
)
def test_the_id_of_a_line_that_was_not_kept_is_told_where_it_is_certain(line: bytes, id: object) -> None:
    refused = read_line(TooLong(line, b'xxx"}}', 20_000_000))

    assert isinstance(refused, Refusal)
    assert refused.id == id


@pytest.mark.parametrize(
    ("tail", "id"),
    [
        (b'xx"}},"jsonrpc":"2.0","id":7}', 7),
        (b'xx"}},"id":"q"} \r', "q"),
        (b'xx","id":7}}', None),
        (b'\\",\\"id\\":7}"}}', None),
    ],
)
def test_an_id_at_the_end_counts_right_before_the_closing_brace_alone(tail: bytes, id: object) -> None:
    refused = read_line(TooLong(b'{"params":{"a":"xx', tail, 20_000_000))

    assert isinstance(refused, Refusal)
    assert refused.id == id
