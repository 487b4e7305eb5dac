"""The invariants of an edit, on files generated in every spelling, and on files that are hardly TOML at all."""

from __future__ import annotations

import random
import tomllib
from typing import Any

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from homeport.errors import HomeportError
from homeport.installer.edit.toml import open_toml
from homeport.installer.edit.toml_scan import scan

SERVERS = ("mcp_servers",)
OURS = ("mcp_servers", "homeport")

ROOT = [
    'model = "house-1"',
    "stamp = 2031-05-06 07:08:09.500",
    "words = [\n  \"one\", # first ]\n  'two',\n]",
    'text = """\n[mcp_servers.homeport]\ncommand = \'x\'\n\\""" """"',
    "literal = '''\n[tui]\n# x''''",
    "a.b . c = 1",
    '"quo ted"."x.y" = 0xFF',
    "inline = { x = { y = 1 }, z.w = [ { q = 1 }, [2] ] }",
]
SERVERS_IN_ROOT = [
    "mcp_servers = {}",
    "mcp_servers = { }",
    'mcp_servers = {rota={command="x"}} # end',
    'mcp_servers = { rota.command = "x", rota.args = [] , "b.c" = {} }',
    'mcp_servers.rota.command = "x"',
    "\"mcp_servers\" . 'rota'.x=1",
    'mcp_servers.rota = { command = "x" }',
]
SECTIONS = [
    '[tui]\ntheme = "dusk"',
    '[projects."/srv/depot"]\ntrust_level = "trusted"',
    "[[list]]\nx=1",
    "[[list]]\nx=1\n[list.sub]\ny=1\n[[list]]",
    "[empty]",
    '  [indented]\n    k = "v"',
    "[mcp_servers]",
    '[mcp_servers]\nother.command = "x"',
    '[mcp_servers]\nother = { command = "x" } # c',
    '[mcp_servers.ledger]\ncommand = "x"\n# startup = 3',
    '["mcp_servers"."quoted"]\ncommand="x"',
    "[ mcp_servers . 'literal' ]\nargs = [\n\"a\",\n]",
    '[mcp_servers.ledger.env]\nA="b"',
    '[mcp_servers.deep.tools.sum]\nm = "a"',
    "[mcp_servers.deep.tools]",
    "[[mcp_servers.deep.list]]\nx=1",
]
OURS_IN_ROOT = [
    'mcp_servers.homeport.command = "old"',
    'mcp_servers = { homeport = { command = "old", env = {A="1"} }, z = {} }',
    'mcp_servers = { homeport.command = "old", z = {}, homeport.env.A = "1" }',
]
OUR_SECTIONS = [
    "[mcp_servers.homeport]\ncommand = 'old' # c\nargs = [ \"a\" ]",
    '[mcp_servers.homeport.env]\nA = "1"',
    '[mcp_servers]\nhomeport.command = "old"\nhomeport.env.A = "1"',
    '[mcp_servers.homeport]\ncommand = "h"\n# in\nenv.B = "2"\nextra = 2031-01-01',
    '[mcp_servers.homeport]\nenv = { A = "1" }\ntimeout = 1_0',
    "[[mcp_servers.homeport.list]]\nq=1",
]
GAPS = [
    "",
    "",
    "\n",
    "\n\n",
    "# comment\n",
    "\n# c\n",
    "\n# c\n\n",
    "  \n",
    "# [mcp_servers.homeport]\n",
    "\t# t\n\n\n",
]

ENTRIES: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {},
        {"command": "x"},
        {"command": "C:\\x\\\U0001f600", "args": ["a"], "env": {"A": "b", "X y": "z"}},
        {"command": "old", "env": {"A": "1"}},
        {"url": "u", "http_headers": {}},
        {"env": 3, "command": {"q": {"r": 1}}},
    ]
)


@st.composite
def toml_files(draw: st.DrawFn, with_ours: bool = False) -> bytes:
    """A valid file of statements in every spelling, with gaps, line ends, BOM and final newline as they may be."""
    root = draw(st.lists(st.sampled_from(ROOT), unique=True, max_size=3))
    root += draw(st.lists(st.sampled_from(SERVERS_IN_ROOT + OURS_IN_ROOT * with_ours), max_size=1))
    sections = SECTIONS + OUR_SECTIONS * with_ours
    blocks = draw(st.permutations(root)) + draw(st.lists(st.sampled_from(sections), unique=True, max_size=4))
    text = draw(st.sampled_from(GAPS))
    for block in blocks:
        text += f"{block}\n{draw(st.sampled_from(GAPS))}"
    if draw(st.booleans()):
        text = text.removesuffix("\n")
    ends = draw(st.sampled_from(["lf", "crlf", "mixed"]))
    mixture = random.Random(len(text))
    lines = [
        line + ("\r\n" if ends == "crlf" or (ends == "mixed" and mixture.random() < 0.5) else "\n")
        for line in text.split("\n")
    ]
    text = "".join(lines[:-1]) + text.split("\n")[-1]
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        assume(False)
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + text.encode()


@given(source=toml_files(), entry=ENTRIES)
@example(source=b"\xef\xbb\xbf \n\n", entry={"command": "x"})
@example(source=b"mcp_servers = {\t}", entry={"command": "x"})
def test_install_then_uninstall_gives_the_first_bytes_back(source: bytes, entry: dict[str, Any]) -> None:
    installed = open_toml(source).set(OURS, entry)
    assert open_toml(installed).remove(OURS) == source


@given(source=toml_files(), entry=ENTRIES)
def test_a_new_entry_is_one_span_and_every_other_byte_stays(source: bytes, entry: dict[str, Any]) -> None:
    installed = open_toml(source).set(OURS, entry)
    length = len(installed) - len(source)
    spans = (installed[:at] + installed[at + length :] for at in range(len(source) + 1))
    assert source in spans


@given(source=toml_files(with_ours=True), entry=ENTRIES)
def test_install_twice_equals_once(source: bytes, entry: dict[str, Any]) -> None:
    installed = open_toml(source).set(OURS, entry)
    assert open_toml(installed).set(OURS, entry) is installed


@given(source=toml_files(with_ours=True), entry=ENTRIES)
def test_an_edit_makes_our_entry_and_nothing_else(source: bytes, entry: dict[str, Any]) -> None:
    before, after = tomllib.loads(source.decode("utf-8-sig")), open_toml(source).set(OURS, entry)
    expected = {**before, "mcp_servers": {**before.get("mcp_servers", {}), "homeport": entry}}
    assert tomllib.loads(after.decode("utf-8-sig")) == expected


@given(source=toml_files(with_ours=True), entry=ENTRIES)
def test_statements_of_others_keep_their_bytes_and_order(source: bytes, entry: dict[str, Any]) -> None:
    assert foreign_lines(open_toml(source).set(OURS, entry)) == foreign_lines(source)


def foreign_lines(source: bytes) -> list[bytes]:
    return [
        source[statement.start : statement.end].rstrip(b"\r\n")
        for statement in scan(source).statements
        if statement.path != SERVERS and statement.path[:2] != OURS
    ]


@given(source=toml_files(with_ours=True))
def test_removing_takes_our_entry_and_nothing_else(source: bytes) -> None:
    before, after = tomllib.loads(source.decode("utf-8-sig")), open_toml(source).remove(OURS)
    before.get("mcp_servers", {}).pop("homeport", None)
    found = tomllib.loads(after.decode("utf-8-sig"))
    assert (found.pop("mcp_servers", {}), found) == (before.pop("mcp_servers", {}), before)


@given(source=toml_files(with_ours=True))
def test_update_changes_the_named_keys_alone(source: bytes) -> None:
    document = open_toml(source)
    held = document.find(OURS)
    found = open_toml(document.update(OURS, {"command": "new"}, frozenset({"args"}))).find(OURS)
    kept = {key: value for key, value in (held.value if held else {}).items() if key != "args"}
    assert found is not None
    assert found.value == {**kept, "command": "new"}


@given(source=toml_files(with_ours=True))
def test_members_are_the_tables_tomllib_finds_in_file_order(source: bytes) -> None:
    document = open_toml(source)
    members = document.members(SERVERS)
    assert set(document.keys(SERVERS)) == tomllib.loads(source.decode("utf-8-sig")).get("mcp_servers", {}).keys()
    assert [member.path[1] for member in members] == list(document.keys(SERVERS))
    assert [member.start for member in members] == sorted(member.start for member in members)
    assert [document.find(member.path) for member in members] == list(members)


TOKENS = [
    b"[",
    b"]]",
    b"{",
    b"}",
    b'"',
    b'"""',
    b"'''",
    b"\\",
    b"#",
    b"=",
    b".",
    b",",
    b"\n",
    b"\r",
    b"\0",
    b"\xff",
    b"mcp_servers",
]


@given(
    source=toml_files(with_ours=True),
    changes=st.lists(st.tuples(st.floats(0, 1), st.sampled_from(TOKENS), st.booleans()), min_size=1, max_size=3),
)
def test_a_damaged_file_gives_an_error_of_ours_or_a_right_edit(
    source: bytes, changes: list[tuple[float, bytes, bool]]
) -> None:
    for place, token, instead in changes:
        at = int(place * len(source))
        source = source[:at] + token + source[at + instead :]
    edit_or_refuse(source)


@given(source=st.binary(max_size=60) | st.lists(st.sampled_from(TOKENS), max_size=30).map(b"".join))
@settings(max_examples=300)
def test_any_bytes_give_an_error_of_ours_or_a_right_edit(source: bytes) -> None:
    edit_or_refuse(source)


def edit_or_refuse(source: bytes) -> None:
    try:
        document = open_toml(source)
        held = document.find(OURS)
        installed = document.set(OURS, {"command": "x", "env": {"A": "b"}})
        removed = open_toml(installed).remove(OURS)
    except HomeportError:
        return
    assert held is not None or removed == source
