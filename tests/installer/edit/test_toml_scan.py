"""Where the scan finds things, and what it does not take for TOML. That it agrees with tomllib is in the properties."""

from __future__ import annotations

import pytest

from homeport.installer.edit.toml_scan import Statement, Stopped, inline_table, nesting, scan


def test_a_statement_says_where_its_parts_stand() -> None:
    source = b"\xef\xbb\xbf# c\r\n [ a . 'b' ] # d\r\n\r\n\tc.d = [\r\n1]\r\n[[e]]"
    assert scan(source) == (
        (
            Statement("table", ("a", "b"), 2, 1, 8, 9, 20, 20, 20, 26),
            Statement("pair", ("a", "b", "c", "d"), 2, 1, 28, 29, 32, 35, 40, 42),
            Statement("array", ("e",), 1, 2, 42, 42, 47, 47, 47, 47),
        ),
        None,
    )


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(b"a = 1\nb", id="no equals sign"),
        pytest.param(b"a = 1\nb = ", id="no value"),
        pytest.param(b"a = 1\nb = [1", id="an open bracket"),
        pytest.param(b"a = 1\nb = ['x]", id="an open string in a bracket"),
        pytest.param(b"a = 1\nb = [[1] 2", id="an open bracket behind a closed one"),
        pytest.param(b"a = 1\nb = [{}] 2", id="something behind a value"),
        pytest.param(b"a = 1\n[b", id="an open header"),
        pytest.param(b"a = 1\n[[b]\n", id="a header closed once"),
        pytest.param(b'a = 1\n"\\q" = 1', id="an escape that is none"),
    ],
)
def test_the_scan_stops_where_no_statement_stands(source: bytes) -> None:
    found = scan(source)
    assert [statement.path for statement in found.statements] == [("a",)]
    assert found.stopped_at is not None
    assert found.stopped_at >= len(b"a = 1\n")


def test_an_inline_table_may_have_the_lines_and_last_comma_of_toml_1_1() -> None:
    source = b"{ # c\n a . b = 1,\r\n 'c' = {} ,\n}"
    table = inline_table(source, 0)
    paths = [member.path for member in table.members]
    assert (paths, table.open, table.close) == ([("a", "b"), ("c",)], 1, len(source) - 1)


@pytest.mark.parametrize("source", [b"1", b"[]", b"{ a }", b"{ a = 1 b = 2 }", b"{ a = 1", b"{ a = }", b"{,}"])
def test_what_is_no_inline_table_stops(source: bytes) -> None:
    with pytest.raises(Stopped):
        inline_table(source, 0)


@pytest.mark.parametrize(
    ("source", "depth"),
    [(b"1", 0), (b"[]", 1), (b"[[], [{}]] [[[[", 3), (b"['[[[', # [[[\n]", 1), (b"[[", 2), (b"[[']", 2)],
)
def test_nesting_counts_brackets_that_are_open_at_once(source: bytes, depth: int) -> None:
    assert nesting(source, 0) == depth
