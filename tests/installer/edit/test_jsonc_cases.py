"""Faults other installers were reported for, by the number of the case, told of the clients Homeport knows."""

from __future__ import annotations

from typing import Any

import pytest

from homeport.errors import HomeportError
from homeport.installer.edit.json_grammar import JsonDialect
from homeport.installer.edit.jsonc import open_json

COMMAND = "/opt/ledger/bin/ledger"
ENTRY = {"command": COMMAND, "args": ["serve"]}
LOCAL = {"type": "local", "command": [COMMAND, "serve"]}


def put(source: str, container: str, entry: dict[str, Any], dialect: JsonDialect = "jsonc") -> str:
    """The new text, once it is sure that a second run changes nothing and that uninstalling gives the first bytes."""
    path = (container, "ledger")
    after = open_json(source.encode(), dialect).set(path, entry)
    again = open_json(after, dialect)
    assert again.set(path, entry) is after
    assert again.remove(path) == source.encode()
    return after.decode()


def refusal(
    source: str, dialect: JsonDialect = "json", container: str = "mcpServers"
) -> tuple[str, str, dict[str, Any]]:
    with pytest.raises(HomeportError) as caught:
        open_json(source.encode(), dialect).set((container, "ledger"), ENTRY)
    error = caught.value
    return error.code, error.message, error.details


def test_j01_every_comment_and_line_is_kept() -> None:
    source = """{
	// night shift servers
	"servers": {
		/* off until the audit ends
		"tally": { "type": "stdio", "command": "/opt/tally/tally" },
		*/
		"rota": { "type": "stdio", "command": "/opt/rota/rota" }, // do not move
	},
	"inputs": [], // none yet
}
"""
    line = '		"ledger": { "command": "/opt/ledger/bin/ledger", "args": ["serve"] },\n'
    assert put(source, "servers", ENTRY) == source.replace("do not move\n", "do not move\n" + line)


def test_j02_jsonc_in_a_file_named_json() -> None:
    source = """{
  "$schema": "https://opencode.ai/config.json",
  // team default
  "model": "house/large-2",
  "mcp": {
    "rota": { "type": "local", "command": ["/opt/rota/rota"], "enabled": true } // live
  },
  "permission": { "edit": "ask" }
}
"""
    line = '    "ledger": { "type": "local", "command": ["/opt/ledger/bin/ledger", "serve"] }\n'
    assert put(source, "mcp", LOCAL) == source.replace("true } // live\n", "true }, // live\n" + line)


def test_j03_what_looks_like_a_comment_in_a_string_is_none() -> None:
    source = r"""{
  "$schema": "https://opencode.ai/config.json", // schema
  "instructions": ["docs/**/*.md", "say \"// not a comment\" once", "a,] b,} c"],
  "mcp": {
    "far": { "type": "remote", "url": "http://127.0.0.1:4410/mcp//v1", "enabled": true }
  }
}
"""
    line = '    "ledger": { "type": "local", "command": ["/opt/ledger/bin/ledger", "serve"] }\n'
    after = put(source, "mcp", LOCAL)
    assert after == source.replace("true }\n", "true },\n" + line)
    member = open_json(after.encode(), "jsonc").find(("instructions",))
    assert member is not None
    assert member.value == ["docs/**/*.md", 'say "// not a comment" once', "a,] b,} c"]


def test_j04_a_missing_comma_is_refused_where_the_next_key_stands() -> None:
    source = '{\n  "mcpServers": {\n    "rota": { "command": "r" }\n    "tally": { "command": "t" }\n  }\n}\n'
    assert refusal(source) == (
        "malformed_file",
        "a comma or '}' is expected here, not '\"'",
        {"line": 4, "column": 5},
    )


def test_j05_a_container_of_the_wrong_type_is_refused() -> None:
    source = '{\n  "mcpServers": [\n    { "name": "rota", "command": "/opt/rota/rota" }\n  ]\n}\n'
    assert refusal(source) == (
        "wrong_shape",
        "mcpServers holds a list, not an object",
        {"line": 2, "column": 17},
    )


@pytest.mark.parametrize("source", ["", "\ufeff", "\n\n  \n"], ids=["empty", "BOM", "blank"])
def test_j06_an_empty_file_is_an_empty_object(source: str) -> None:
    after = open_json(source.encode(), "json").set(("mcpServers", "ledger"), {"command": COMMAND})
    assert after.decode() == source.strip() + (
        '{\n  "mcpServers": {\n    "ledger": {\n      "command": "/opt/ledger/bin/ledger"\n    }\n  }\n}\n'
    )


def test_j07_a_byte_order_mark_and_crlf_are_kept() -> None:
    source = '\ufeff{\r\n  "mcpServers": {\r\n    "rota": { "command": "/opt/rota/rota" }\r\n  }\r\n}\r\n'
    line = '    "ledger": { "command": "/opt/ledger/bin/ledger", "args": ["serve"] }\r\n'
    assert put(source, "mcpServers", ENTRY, "json") == source.replace('rota" }\r\n', 'rota" },\r\n' + line)


def test_j08_utf16_is_named() -> None:
    with pytest.raises(HomeportError) as caught:
        open_json('\ufeff{"mcpServers": {}}\r\n'.encode("utf-16-le"), "json")
    assert (caught.value.code, caught.value.message) == ("unsupported_encoding", "the file is UTF-16, not UTF-8")


def test_j09_crlf_and_the_missing_final_newline_are_kept() -> None:
    source = '{\n  "mcpServers": {\n    "rota": {\n      "command": "/opt/rota/rota"\n    }\n  }\n}'.replace(
        "\n", "\r\n"
    )
    entry = '    },\n    "ledger": {\n      "command": "/opt/ledger/bin/ledger"\n    }\n'.replace("\n", "\r\n")
    after = put(source, "mcpServers", {"command": COMMAND}, "json")
    assert after == source.replace("    }\r\n", entry, 1)


def test_j12_escapes_stay_and_none_are_made() -> None:
    source = '{\n  "note": "Grüße – 東の事務所 🌙",\n  "escaped": "caf\\u00e9 \\/ bar",\n  "mcpServers": {}\n}\n'
    after = put(source, "mcpServers", {"args": ["--title", "Журнал №1"]}, "json")
    assert after == source.replace(
        "{}", '{\n    "ledger": {\n      "args": [\n        "--title",\n        "Журнал №1"\n      ]\n    }\n  }'
    )


def test_j13_a_container_that_occurs_twice_is_refused_with_both_places() -> None:
    source = """{
  "mcpServers": {
    "rota": { "command": "/opt/rota/rota" }
  },
  "numStartups": 4,
  "mcpServers": {
    "tally": { "command": "/opt/tally/tally" }
  }
}
"""
    assert refusal(source) == (
        "duplicate_key",
        "the key mcpServers occurs 2 times: line 2 and line 6",
        {"lines": [2, 6]},
    )


def test_j14_keys_that_differ_in_case_are_two_keys() -> None:
    source = """{
  "projects": {
    "C:/Work/Depot": { "allowedTools": ["a"] },
    "c:/work/depot": { "allowedTools": ["b"] }
  },
  "mcpServers": {}
}
"""
    opened = '{\n    "ledger": {\n      "command": "/opt/ledger/bin/ledger"\n    }\n  }'
    assert put(source, "mcpServers", {"command": COMMAND}, "json") == source.replace("{}", opened)


def test_j15_data_behind_the_value_is_refused_where_it_begins() -> None:
    source = '{\n  "mcpServers": { "rota": {} }\n}\n{\n  "mcpServers": {}\n}\n'
    assert refusal(source) == (
        "malformed_file",
        "something follows here after the end of the JSON value",
        {"line": 4, "column": 1},
    )


def test_j16_a_trailing_comma_before_comments_gets_no_second_comma() -> None:
    source = """{
  "servers": {
    "rota": {
      "type": "stdio",
      "command": "/opt/rota/rota", // main
    }, /* last */ // really last
    // end of list
  },
}
"""
    entry = '    "ledger": {\n      "command": "/opt/ledger/bin/ledger"\n    },\n'
    after = put(source, "servers", {"command": COMMAND})
    assert after == source.replace("really last\n", "really last\n" + entry)


def test_j17_uninstalling_leaves_no_comma_no_blank_line_and_every_comment() -> None:
    source = """{
  // hdr
  "servers": {
    "rota": { "type": "stdio", "command": "/opt/rota/rota" }, // r

    // tail note
  },
  "inputs": []
}
"""
    assert '// r\n    "ledger"' in put(source, "servers", ENTRY)


def test_j20_a_one_line_container_gets_the_entry_and_no_second_container() -> None:
    assert put('{ "servers": {} }\n', "servers", ENTRY) == (
        '{ "servers": {"ledger": { "command": "/opt/ledger/bin/ledger", "args": ["serve"] }} }\n'
    )
