"""What the JSON editor finds, puts, changes and takes out, in files as people and programs write them."""

from __future__ import annotations

import pytest

from homeport.installer.edit.document import Document, Member
from homeport.installer.edit.json_grammar import JsonDialect
from homeport.installer.edit.jsonc import open_json, render_fragment

OURS = ("mcpServers", "homeport")
ENTRY = {"command": "/opt/homeport", "args": ["serve"]}
OPENED = """\
{
  "mcpServers": {
    "homeport": {
      "command": "/opt/homeport",
      "args": [
        "serve"
      ]
    }
  }
}
"""


def put(source: str, dialect: JsonDialect = "jsonc", path: tuple[str, ...] = OURS, value: object = None) -> str:
    """The text after our entry came, once it is sure that taking it out gives `source` back."""
    after = open_json(source.encode(), dialect).set(path, ENTRY if value is None else value)
    assert open_json(after, dialect).remove(path) == source.encode()
    return after.decode()


def test_open_json_gives_a_document() -> None:
    document: Document = open_json(b'{"a": 1}', "json", interest=(OURS,))
    assert document.source == b'{"a": 1}'


def test_a_member_says_where_its_key_and_its_value_stand() -> None:
    source = '\ufeff{\r\n  "é": 1,\r\n  "a": /* x */ {"b": [1, true, null]}\r\n}'.encode()
    assert open_json(source, "jsonc").find(("a",)) == Member(("a",), {"b": [1, True, None]}, 3, 33, 55)


def test_keys_compare_by_what_they_say() -> None:
    source = b'{"mcp\\u0053ervers": {"\\u00e9": 1, "\xc3\xa8": 2, "\\ud83d\\ude00": 3}}'
    document = open_json(source, "json", interest=[("mcpServers", "é")])
    assert [document.find(("mcpServers", key)) for key in "éè😀"] == [
        Member(("mcpServers", "é"), 1, 1, 31, 32),
        Member(("mcpServers", "è"), 2, 1, 40, 41),
        Member(("mcpServers", "😀"), 3, 1, 59, 60),
    ]


def test_members_and_keys_are_in_file_order() -> None:
    document = open_json(b'{"s": {"b": 1, "a": [2], "b": 3}}', "json")
    assert document.keys(("s",)) == ("b", "a", "b")
    assert [(member.path, member.value) for member in document.members(("s",))] == [
        (("s", "b"), 1),
        (("s", "a"), [2]),
        (("s", "b"), 3),
    ]


@pytest.mark.parametrize(
    "source", [b"", b" \r\n\t", b"\xef\xbb\xbf", b'{"other": {}}'], ids=["none", "white", "BOM", "else"]
)
def test_nothing_is_found_where_nothing_stands(source: bytes) -> None:
    document = open_json(source, "json")
    assert (document.find(OURS), document.members(OURS[:1]), document.keys(OURS[:1])) == (None, (), ())
    assert document.remove(OURS, prune=1) is source


def test_lines_are_counted_from_member_to_member() -> None:
    source = b'{\r\n"a": [\n1,\r2], "b": 3,\r\n\r\n"c": 4}'
    document = open_json(source, "json")
    assert [member.line for member in document.members(())] == [2, 4, 6]
    assert [member and member.line for member in map(document.find, [("a",), ("b",), ("c",)])] == [2, 4, 6]


def test_a_number_that_python_cannot_hold_is_its_spelling() -> None:
    document = open_json(b'{"a": [1E400, -1e999, %b, 1.5, 12]}' % (b"7" * 5000), "json")
    found = document.find(("a",))
    assert found is not None
    assert found.value == ["1E400", "-1e999", "7" * 5000, 1.5, 12]


def test_comments_and_trailing_commas_in_a_value_are_no_part_of_it() -> None:
    found = open_json(b'{"a": {"u": "http://x/*y*/", // c, }\n "l": [1, /* ] */ ], },}', "jsonc").find(("a",))
    assert found is not None
    assert found.value == {"u": "http://x/*y*/", "l": [1]}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("", OPENED, id="nothing"),
        pytest.param(" \n\n", OPENED, id="blank"),
        pytest.param("\ufeff", "\ufeff" + OPENED, id="BOM"),
        pytest.param("\ufeff\r\n", "\ufeff" + OPENED.replace("\n", "\r\n"), id="BOM-and-CRLF"),
        pytest.param("{}", OPENED.removesuffix("\n"), id="braces"),
        pytest.param("\ufeff{}\n", "\ufeff" + OPENED, id="BOM-and-braces"),
        pytest.param("{\n}\n", OPENED, id="braces-on-two-lines"),
    ],
)
def test_an_empty_file_becomes_one_of_two_spaces(source: str, expected: str) -> None:
    assert open_json(source.encode(), "json").set(OURS, ENTRY).decode() == expected


def test_a_blank_file_begins_with_what_its_client_wants() -> None:
    after = open_json(b"", "json").set(("mcp", "x"), 1, beginning={"schema_version": 1})
    assert after == b'{\n  "schema_version": 1,\n  "mcp": {\n    "x": 1\n  }\n}\n'
    assert open_json(b"{}", "json").set(("x",), 1, beginning={"schema_version": 1}) == b'{\n  "x": 1\n}'


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            '{\n\t"mcpServers": {\n\t\t"a": {\n\t\t\t"args": ["x"]\n\t\t}\n\t}\n}\n',
            '{\n\t"mcpServers": {\n\t\t"a": {\n\t\t\t"args": ["x"]\n\t\t},\n\t\t"homeport": {\n'
            '\t\t\t"command": "/opt/homeport",\n\t\t\t"args": ["serve"]\n\t\t}\n\t}\n}\n',
            id="tabs-and-lists-in-a-line",
        ),
        pytest.param(
            '{\r\n   "mcpServers": {},\r\n   "z": 1\r\n}',
            '{\r\n   "mcpServers": {\r\n      "homeport": {\r\n         "command": "/opt/homeport",\r\n'
            '         "args": [\r\n            "serve"\r\n         ]\r\n      }\r\n   },\r\n   "z": 1\r\n}',
            id="three-spaces-CRLF-no-final-newline",
        ),
        pytest.param(
            '{"mcpServers":{"a":{"command":"x"}}}',
            '{"mcpServers":{"a":{"command":"x"},"homeport":{"command":"/opt/homeport","args":["serve"]}}}',
            id="minified",
        ),
        pytest.param(
            '{"mcpServers": {"a": {}}}\n',
            '{"mcpServers": {"a": {}, "homeport": {"command": "/opt/homeport", "args": ["serve"]}}}\n',
            id="one-line",
        ),
        pytest.param(
            '{ "mcpServers": { "a": { "args": [ 1 ] } } }',
            '{ "mcpServers": { "a": { "args": [ 1 ] }, '
            '"homeport": { "command": "/opt/homeport", "args": [ "serve" ] } } }',
            id="one-line-padded",
        ),
        pytest.param(
            '{ "mcpServers": {} }',
            '{ "mcpServers": {"homeport": { "command": "/opt/homeport", "args": ["serve"] }} }',
            id="one-line-empty",
        ),
        pytest.param(
            '{\n  "mcpServers": {\n    "a": { "command": "x" }\n  }\n}\n',
            '{\n  "mcpServers": {\n    "a": { "command": "x" },\n'
            '    "homeport": { "command": "/opt/homeport", "args": ["serve"] }\n  }\n}\n',
            id="entries-in-one-line",
        ),
        pytest.param(
            '{\n  "mcpServers": {\n    "a": {"x": 1}, /* last */ // really\n    // end\n  },\n}\n',
            '{\n  "mcpServers": {\n    "a": {"x": 1}, /* last */ // really\n'
            '    "homeport": {"command": "/opt/homeport", "args": ["serve"]},\n    // end\n  },\n}\n',
            id="trailing-comma-and-comments",
        ),
        pytest.param(
            '{\n  "mcpServers": {\n    "a": {"x": 1} // live\n\n    // tail\n  }\n}\n',
            '{\n  "mcpServers": {\n    "a": {"x": 1}, // live\n'
            '    "homeport": {"command": "/opt/homeport", "args": ["serve"]}\n\n    // tail\n  }\n}\n',
            id="comma-before-a-comment",
        ),
        pytest.param(
            '{\n  "mcpServers": { // none yet\n  }\n}\n',
            '{\n  "mcpServers": { // none yet\n    "homeport": {\n      "command": "/opt/homeport",\n'
            '      "args": [\n        "serve"\n      ]\n    }\n  }\n}\n',
            id="comment-in-an-empty-container",
        ),
        pytest.param(
            '{\n  "mcpServers": { /* none yet */ }\n}\n',
            '{\n  "mcpServers": { /* none yet */ "homeport": { "command": "/opt/homeport", "args": ["serve"] } }\n}\n',
            id="comment-in-an-empty-line",
        ),
        pytest.param(
            '{"mcpServers": {"a": 1 // c\n}}',
            '{"mcpServers": {"a": 1, // c\n  "homeport": {"command": "/opt/homeport", "args": ["serve"]}\n}}',
            id="line-comment-in-a-one-line-container",
        ),
        pytest.param(
            '{\n  "mcpServers": {\n    "a" : 1\r\n  }\n}',
            '{\n  "mcpServers": {\n    "a" : 1,\r\n    "homeport" : {\r\n      "command" : "/opt/homeport",\r\n'
            '      "args" : [\r\n        "serve"\r\n      ]\r\n    }\r\n  }\n}',
            id="mixed-line-ends-and-a-blank-before-the-colon",
        ),
        pytest.param(
            '{\n  "mcpServers": {\n    "a": 1 }\n}\n',
            '{\n  "mcpServers": {\n    "a": 1,\n    "homeport": {\n      "command": "/opt/homeport",\n'
            '      "args": [\n        "serve"\n      ]\n    } }\n}\n',
            id="brace-behind-the-last-member",
        ),
    ],
)
def test_an_entry_is_put_last_in_the_style_of_its_neighbours(source: str, expected: str) -> None:
    assert put(source) == expected


def test_a_container_that_is_missing_is_made_last_and_opened_up() -> None:
    source = b'{\n    "theme": "dark",\n    "permission": { "edit": "ask" }\n}\n'
    after = open_json(source, "json").set(OURS, {"url": "u"})
    assert after.decode() == (
        '{\n    "theme": "dark",\n    "permission": { "edit": "ask" },\n'
        '    "mcpServers": {\n        "homeport": {\n            "url": "u"\n        }\n    }\n}\n'
    )
    assert open_json(after, "json").remove(OURS, prune=1) == source


def test_what_we_write_is_escaped_only_where_json_must() -> None:
    after = put('{"mcpServers":{}}', "json", value={"é🌙": 'a"b\\\n\x7f\ud800/\u2028'})
    assert after == '{"mcpServers":{"homeport":{"é🌙":"a\\"b\\\\\\n\x7f\\ud800/\u2028"}}}'


def test_a_member_is_replaced_where_it_stands() -> None:
    source = b'{\n  "mcpServers": {\n    "homeport": { "url": "u" }, // ours\n    "z": 1\n  }\n}'
    after = open_json(source, "jsonc").set(OURS, ENTRY)
    assert after.decode() == (
        '{\n  "mcpServers": {\n    "homeport": { "command": "/opt/homeport", "args": ["serve"] }, // ours\n'
        '    "z": 1\n  }\n}'
    )


@pytest.mark.parametrize("value", [1, 1.0, True, "1", [1], {"1": 1}, None, "1E400"], ids=repr)
def test_an_equal_value_gives_the_very_same_bytes_object(value: object) -> None:
    source = open_json(b'{"a": [1]}', "json").set(("mcp", "x"), value)
    assert open_json(source, "json").set(("mcp", "x"), value) is source


def test_values_are_equal_by_type_too() -> None:
    assert open_json(b'{"a": 1}', "json").set(("a",), True) == b'{"a": true}'
    assert open_json(b'{"a": [0]}', "json").set(("a",), [False]) == b'{"a": [false]}'


def test_an_update_keeps_comments_and_unknown_keys() -> None:
    source = (
        b'{\n  "mcpServers": {\n    "homeport": {\n      // mine\n      "command": "/old", // moved\n'
        b'      "timeout": 30,\n      "args": ["serve"] // same\n    }\n  }\n}\n'
    )
    after = open_json(source, "jsonc").update(
        OURS, {"command": "/new", "args": ["serve"], "env": {"A": "b"}}, frozenset({"timeout", "nobody"})
    )
    assert after.decode() == (
        '{\n  "mcpServers": {\n    "homeport": {\n      // mine\n      "command": "/new", // moved\n'
        '      "args": ["serve"], // same\n      "env": {\n        "A": "b"\n      }\n    }\n  }\n}\n'
    )


def test_an_update_in_one_line_stays_there() -> None:
    source = b'{"mcpServers": {"homeport": {"a": 1, "b": [1, 2], "c": 3}}}'
    after = open_json(source, "json").update(OURS, {"b": [], "d": {"e": 1}}, frozenset({"a", "c"}))
    assert after == b'{"mcpServers": {"homeport": {"b": [], "d": {"e": 1}}}}'


def test_an_update_makes_what_is_missing() -> None:
    assert open_json(b'{"m":{}}', "json").update(("m", "x"), {"a": 1}) == b'{"m":{"x":{"a":1}}}'


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param('{"s": {"x": 1, "b": 2}}', '{"s": {"b": 2}}', id="first-in-line"),
        pytest.param('{"s": {"a": 1, "x": 2, "b": 3}}', '{"s": {"a": 1, "b": 3}}', id="middle-in-line"),
        pytest.param('{ "s": { "a": 1, "x": 2 } }', '{ "s": { "a": 1 } }', id="last-in-line"),
        pytest.param('{"s":{"a":1,"x":2}}', '{"s":{"a":1}}', id="minified"),
        pytest.param('{"s": {"a": 1, "x": 2,}}', '{"s": {"a": 1,}}', id="trailing-comma"),
        pytest.param('{"s": {"x": 1}}', '{"s": {}}', id="only-one"),
        pytest.param('{"s": { "x": 1, }}', '{"s": { }}', id="only-one-with-trailing-comma"),
        pytest.param('{"s": {\n  "x": 1\n}}', '{"s": {}}', id="only-one-on-its-line"),
        pytest.param('{"s": {\n  "x": 1,\n  "b": 2\n}}', '{"s": {\n  "b": 2\n}}', id="first"),
        pytest.param('{"s": {\n  "a": 1,\n  "x": 2\n}}', '{"s": {\n  "a": 1\n}}', id="last"),
        pytest.param(
            '{"s": {\n  // a\n  "a": 1, // b\n\n  // c\n  "x": 2, // d\n  // e\n  "b": 3 // f\n}}',
            '{"s": {\n  // a\n  "a": 1, // b\n\n  // c\n  // d\n  // e\n  "b": 3 // f\n}}',
            id="every-comment-stays",
        ),
        pytest.param(
            '{"s": {\n  "a": 1, // b\n  "x": 2 // d\n  // e\n}}',
            '{"s": {\n  "a": 1 // b\n  // d\n  // e\n}}',
            id="last-with-comments",
        ),
        pytest.param('{"s": {\n  "a": 1, // b\n  "x": 2 }}', '{"s": {\n  "a": 1 // b\n  }}', id="brace-not-swallowed"),
        pytest.param('{"s": {\n  "x": 1 /* c */, "b": 2\n}}', '{"s": {\n  /* c */ "b": 2\n}}', id="comment-then-comma"),
        pytest.param('{"s": { "a": 1\n, "x": 2\n, "b": 3 }}', '{"s": { "a": 1\n, "b": 3 }}', id="comma-first"),
        pytest.param('{"s": { "a": 1\n, "x": 2\n}}', '{"s": { "a": 1\n}}', id="comma-first-last"),
        pytest.param('{"s": {"x": 1 // c\n}}', '{"s": { // c\n}}', id="only-one-with-a-comment"),
    ],
)
def test_a_member_goes_with_its_comma_and_nothing_else(source: str, expected: str) -> None:
    assert open_json(source.encode(), "jsonc").remove(("s", "x")).decode() == expected


def test_containers_are_pruned_as_far_as_asked_and_empty() -> None:
    source = b'{"k": 1, "a": {"b": {"c": {"d": 1}}}}'
    document = open_json(source, "json")
    assert document.remove(("a", "b", "c", "d"), prune=0) == b'{"k": 1, "a": {"b": {"c": {}}}}'
    assert document.remove(("a", "b", "c", "d"), prune=2) == b'{"k": 1, "a": {}}'
    assert document.remove(("a", "b", "c", "d"), prune=9) == b'{"k": 1}'


def test_a_container_with_a_comment_in_it_is_not_pruned() -> None:
    source = b'{\n  "a": {\n    // keep\n    "b": 1\n  }\n}'
    assert open_json(source, "jsonc").remove(("a", "b"), prune=1) == b'{\n  "a": {\n    // keep\n  }\n}'


def test_what_others_wrote_stays_byte_for_byte() -> None:
    source = b'{"n": [1E400, -0, 0.10, %b], "s": "caf\\u00e9 \\/ \\ud800", "m": {}}' % (b"9" * 5000)
    after = open_json(source, "json").set(("m", "x"), 1)
    assert after == source[:-2] + b'"x": 1}}'


def test_depth_elsewhere_is_no_limit() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    source = b'{"a": %b, "m": {}, "b": {"c": %b}}' % (deep, deep)
    assert open_json(source, "json").set(("m", "x"), 1) == source.replace(b'"m": {}', b'"m": {"x": 1}')


def test_a_file_beyond_the_decoders_window_is_read_right() -> None:
    item = b'{"t": "\xc3\xa9\\n", "l": [1, -2.5, true, null, ""], "e": {}}'
    source = b'{"p": {"a": [%b], "b": {"c": [%b]}}, "n": [%b0], "m": {}}' % (
        b",\n".join([item] * 5000),
        b",".join([item] * 5000),
        b"1," * 100_000,
    )
    assert open_json(source, "json").set(("m", "x"), 1) == source[:-2] + b'"x": 1}}'
    with_comment = source.replace(b'"n": [', b'"n": [/* c */')
    assert open_json(with_comment, "jsonc").set(("m", "x"), 1) == with_comment[:-2] + b'"x": 1}}'


def test_a_fragment_holds_the_container_and_the_entry() -> None:
    assert render_fragment(OURS, ENTRY) == OPENED
    assert render_fragment(("mcp", "é"), {"a": []}, {"schema_version": 1}) == (
        '{\n  "schema_version": 1,\n  "mcp": {\n    "é": {\n      "a": []\n    }\n  }\n}\n'
    )
