"""What the TOML editor refuses, with which code, sentence and place, and that nothing a file holds gets past that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from homeport.errors import HomeportError
from homeport.installer.edit import toml_read, toml_scan
from homeport.installer.edit.toml import TomlDocument, open_toml
from homeport.installer.edit.toml_scan import InlineTable, Stopped

OURS = ("mcp_servers", "homeport")


def refusal(source: bytes) -> tuple[str, str, dict[str, Any]]:
    with pytest.raises(HomeportError) as caught:
        open_toml(source)
    return caught.value.code, caught.value.message, caught.value.details


@pytest.mark.parametrize(
    ("source", "message", "details"),
    [
        pytest.param(b"a = 1\nb = \n", "invalid value", {"line": 2, "column": 5}, id="no value"),
        pytest.param(b"[a]\nx = ", "invalid value", {"line": 2, "column": 5}, id="the end of the file"),
        pytest.param(b"a = 1\r\nb = 'x", "expected", {"line": 2, "column": 7}, id="an open string"),
        pytest.param(b"\xef\xbb\xbfa = 1 b", "expected", {"line": 1, "column": 7}, id="behind a BOM"),
        pytest.param("é = 1".encode(), "invalid statement", {"line": 1, "column": 1}, id="a bare key beyond ASCII"),
        pytest.param("a = 'é' b".encode(), "expected", {"line": 1, "column": 9}, id="columns are characters"),
        pytest.param(b"a = 1\rb = 2", "expected", {"line": 1, "column": 6}, id="a bare carriage return"),
        pytest.param(b"a = '\x01'", "found invalid character", {"line": 1, "column": 6}, id="a control character"),
        pytest.param(b"\xef\xbb\xbf" * 2 + b"a = 1", "invalid statement", {"line": 1, "column": 1}, id="two BOMs"),
        pytest.param(b'["\\uD800"]', "escaped character", {"line": 1, "column": 9}, id="a lone surrogate"),
        pytest.param(b"[[a]]\nx = 1\n[[a]]\nx = 01\n", "expected", {"line": 4, "column": 6}, id="an array's element"),
    ],
)
def test_a_file_that_is_not_toml_is_refused_with_its_place(
    source: bytes, message: str, details: dict[str, int]
) -> None:
    code, said, place = refusal(source)
    assert (code, said.startswith(f"the file is not TOML: {message}"), place) == ("malformed_file", True, details)


@pytest.mark.parametrize(
    ("source", "message", "details"),
    [
        pytest.param(
            b'a = 1\n\n "a" = """\nx\n"""\n',
            '"a" is defined a second time; the first stands in line 1',
            {"line": 3, "column": 2, "lines": [1, 3]},
            id="a key, noticed behind its long value",
        ),
        pytest.param(
            b"[[a]]\nb.c = 1\n[[a]]\n[t]\nx.y = 1\nx . y = 2",
            "x . y is defined a second time; the first stands in line 5",
            {"line": 6, "column": 1, "lines": [5, 6]},
            id="a dotted key",
        ),
        pytest.param(
            b"a = {}\n[a]\n",
            "[a] is defined a second time; the first stands in line 1",
            {"line": 2, "column": 1, "lines": [1, 2]},
            id="a key and a header",
        ),
        pytest.param(
            b"a = 1\r\n<<<<<<< HEAD\r\nb = 1\r\n=======\r\n>>>>>>> theirs\r\n",
            "an unresolved merge conflict stands in the file",
            {"line": 2, "column": 1},
            id="conflict markers",
        ),
        pytest.param(
            b"a = [\n1,\n=======\n]",
            "an unresolved merge conflict stands in the file",
            {"line": 3, "column": 1},
            id="the middle marker in an array",
        ),
        pytest.param(
            b"a = 1\nb = " + b"9" * 5_000,
            "a number has more digits than any TOML reader takes",
            {"line": 2},
            id="5,000 digits",
        ),
        pytest.param(
            b"x = [1]\na = [[[]]]\nb = " + b"[" * 100_000 + b"]" * 100_000 + b"\nc = [[]]\n",
            "values are nested more deeply than Homeport reads",
            {"line": 3},
            id="100,000 brackets",
        ),
        pytest.param(
            b"\na = " + b"[" * 100_000,
            "values are nested more deeply than Homeport reads",
            {"line": 2},
            id="100,000 brackets left open",
        ),
        pytest.param(
            b"\n[a" + b".a" * 100_000 + b"]",
            "a dotted key has more parts than Homeport reads",
            {"line": 2},
            id="a header of 100,000 parts",
        ),
        pytest.param(
            b"x = [{ a" + b".a" * 100_000 + b" = 1 }]",
            "a dotted key has more parts than Homeport reads",
            {"line": 1},
            id="an inline key of 100,000 parts",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_in_words(source: bytes, message: str, details: dict[str, Any]) -> None:
    assert refusal(source) == ("malformed_file", message, details)


@pytest.mark.parametrize(
    ("source", "message", "line"),
    [
        pytest.param("a = 1".encode("utf-16"), "the file is UTF-16, not UTF-8", 1, id="UTF-16"),
        pytest.param("a = 1".encode("utf-32"), "the file is UTF-32, not UTF-8", 1, id="UTF-32"),
        pytest.param(
            "a = 1".encode("utf-16-be"),
            "the file looks like UTF-16 without a byte order mark, not UTF-8",
            1,
            id="no mark",
        ),
        pytest.param(b"a = 1\nb = '\xe9'", "the file is not UTF-8: byte 0xe9 begins no character", 2, id="Latin 1"),
        pytest.param(
            b"a = '\xed\xa0\x80'", "the file is not UTF-8: byte 0xed begins no character", 1, id="a surrogate"
        ),
    ],
)
def test_another_encoding_is_refused_by_name(source: bytes, message: str, line: int) -> None:
    assert refusal(source) == ("unsupported_encoding", message, {"line": line})


def test_a_file_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toml_read, "LARGEST_BYTES", 5)
    assert refusal(b"a = 10") == ("file_too_large", "the file has 6 bytes, more than the 5 Homeport edits", {})


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(b"\nmcp_servers = 3\n", id="a number"),
        pytest.param(b"\n[[mcp_servers]]\nhomeport = 1\n", id="an array of tables"),
        pytest.param(b"\nmcp_servers = [{ homeport = {} }]\n", id="an array"),
    ],
)
@pytest.mark.parametrize("ask", ["find", "members", "keys", "set", "update", "remove"])
def test_a_container_that_is_no_table_is_refused(source: bytes, ask: str) -> None:
    document = open_toml(source)
    questions: dict[str, Callable[[], object]] = {
        "find": lambda: document.find(OURS),
        "members": lambda: document.members(OURS[:1]),
        "keys": lambda: document.keys(OURS[:1]),
        "set": lambda: document.set(OURS, {}),
        "update": lambda: document.update(OURS, {}),
        "remove": lambda: document.remove(OURS),
    }
    with pytest.raises(HomeportError) as caught:
        questions[ask]()
    assert (caught.value.code, caught.value.message, caught.value.details) == (
        "wrong_shape",
        "mcp_servers is not a table",
        {"line": 2},
    )


def test_update_of_what_is_no_table_is_refused() -> None:
    with pytest.raises(HomeportError, match=r"^mcp_servers\.homeport is not a table$"):
        open_toml(b"[mcp_servers]\nhomeport = 1\n").update(OURS, {"command": "x"})


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param(None, "TOML cannot hold a value of type NoneType", id="null"),
        pytest.param(2**63, "TOML cannot hold an integer beyond 64 bits", id="a large integer"),
        pytest.param(
            "\ud83d", "the entry holds half of a surrogate pair, which is no character", id="a lone surrogate"
        ),
        pytest.param({"\udc00": 1}, "the entry holds half of a surrogate pair, which is no character", id="in a key"),
        pytest.param(float("nan"), "the entry is not a JSON value", id="nan"),
        pytest.param(b"x", "the entry is not a JSON value", id="bytes"),
        pytest.param(nested(5_000), "the entry is nested more deeply than a TOML file is read", id="5,000 lists"),
    ],
)
def test_what_toml_cannot_hold_is_refused(value: Any, message: str) -> None:
    with pytest.raises(HomeportError) as caught:
        open_toml(b"").set(OURS, {"x": value})
    assert (caught.value.code, caught.value.message) == ("edit_refused", message)


def test_an_entry_too_deep_for_python_is_refused() -> None:
    part = b"a" + b".a" * 250
    document = open_toml(b"x = " + b"".join(b"{" + part + b" = " for _ in range(8)) + b"1" + b"}" * 8)
    with pytest.raises(HomeportError) as caught:
        document.find(("x",))
    assert (caught.value.code, document.keys(("x",))) == ("edit_refused", ("a",))


def test_an_edit_that_does_something_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Invariant 3: the whole is read again, whatever the splicing did."""
    monkeypatch.setattr("homeport.installer.edit.toml.drop", lambda layout, path: b"")
    with pytest.raises(HomeportError) as caught:
        open_toml(b"a = 1\n[mcp_servers.homeport]\n").remove(OURS)
    assert caught.value.code == "edit_refused"


def test_an_edit_that_breaks_the_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("homeport.installer.edit.toml.put", lambda layout, path, value: b"a = ")
    with pytest.raises(HomeportError) as caught:
        open_toml(b"").set(OURS, {})
    assert caught.value.message.startswith("the edit would have damaged the file: the file is not TOML")


def test_an_inline_table_the_scan_cannot_follow_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(source: bytes, position: int) -> InlineTable:
        raise Stopped(position)

    monkeypatch.setattr("homeport.installer.edit.toml_splice.inline_table", stop)
    with pytest.raises(HomeportError) as caught:
        open_toml(b"a = 1\nmcp_servers = {}\n").set(OURS, {})
    assert (caught.value.code, caught.value.details) == ("edit_refused", {"line": 2})


def test_a_file_the_scan_cannot_follow_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toml_read, "scan", lambda source: toml_scan.scan(source)._replace(stopped_at=6))
    with pytest.raises(HomeportError) as caught:
        TomlDocument(b"a = 1\nb = 2\n")
    assert (caught.value.code, caught.value.details) == ("edit_refused", {"line": 2})
