"""What the TOML editor finds, puts, changes and takes out. Sources are written as a person writes a Codex config."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from homeport.installer.edit.document import Document, Member
from homeport.installer.edit.toml import open_toml

SERVERS = ("mcp_servers",)
OURS = ("mcp_servers", "homeport")
ENTRY = {"command": "/opt/homeport", "args": ["serve"]}
EVERY_SPELLING = (Path(__file__).parent / "every_spelling.toml").read_bytes().replace(b"\r\n", b"\n")

SECTION = '[mcp_servers.homeport]\ncommand = "/opt/homeport"\nargs = ["serve"]\n'


def test_open_toml_gives_a_document() -> None:
    document: Document = open_toml(b"a = 1\n", interest=(OURS,))
    assert document.source == b"a = 1\n"


def test_every_spelling_of_a_server_is_found_in_file_order() -> None:
    found = [(member.path[1], member.line) for member in open_toml(EVERY_SPELLING).members(SERVERS)]
    assert found == [
        ("quoted", 15),
        ("literal", 18),
        ("inline", 32),
        ("dotted", 33),
        ("café", 35),
        ("with.dot", 45),
        ("deep", 51),
    ]


def test_every_spelling_is_read_as_tomllib_reads_it() -> None:
    read = {member.path[1]: member.value for member in open_toml(EVERY_SPELLING).members(SERVERS)}
    assert read == tomllib.loads(EVERY_SPELLING.decode())["mcp_servers"]


@pytest.mark.parametrize("name", ["quoted", "literal", "inline", "dotted", "café", "with.dot", "deep"])
def test_every_spelling_can_be_taken_out_alone(name: str) -> None:
    after = tomllib.loads(open_toml(EVERY_SPELLING).remove(("mcp_servers", name)).decode())
    expected = tomllib.loads(EVERY_SPELLING.decode())
    del expected["mcp_servers"][name]
    assert after == expected


@pytest.mark.parametrize("name", ["quoted", "literal", "inline", "dotted", "café", "with.dot", "deep"])
def test_every_spelling_is_changed_where_it_stands(name: str) -> None:
    document = open_toml(EVERY_SPELLING)
    before = document.find(("mcp_servers", name))
    assert before is not None
    after = document.update(("mcp_servers", name), {"command": "new", "env": {"B": "c"}})
    found = open_toml(after).find(("mcp_servers", name))
    assert found is not None
    assert (found.line, found.value) == (before.line, {**before.value, "command": "new", "env": {"B": "c"}})


def test_a_member_says_where_its_header_or_key_stands() -> None:
    source = b'\xef\xbb\xbfa = 1\r\n[mcp_servers.rota]\r\ncommand = "x"\r\n'
    document = open_toml(source)
    assert document.find(("mcp_servers", "rota", "command")) == Member(
        ("mcp_servers", "rota", "command"), "x", 3, 30, 37
    )
    assert document.find(("mcp_servers", "rota")) == Member(("mcp_servers", "rota"), {"command": "x"}, 2, 10, 28)


def test_what_json_cannot_hold_appears_as_text() -> None:
    source = b"d = 2031-05-06\nt = 07:08:09.5\nz = 2031-05-06T07:08:09Z\nf = [inf, -inf, nan]\nbig = 0x%b\n" % (
        b"f" * 20
    )
    assert {member.path[0]: member.value for member in open_toml(source).members(())} == {
        "d": "2031-05-06",
        "t": "07:08:09.500000",
        "z": "2031-05-06T07:08:09+00:00",
        "f": ["inf", "-inf", "nan"],
        "big": "0x" + "f" * 20,
    }


def test_nothing_is_found_where_nothing_stands() -> None:
    document = open_toml(b"[mcp_servers.rota]\n")
    assert (document.find(OURS), document.members(("tui",)), document.keys(("tui",))) == (None, (), ())


def test_keys_are_in_file_order() -> None:
    assert open_toml(b"[s.b.x]\n[t]\n[s.a]\n[s.b]\n").keys(("s",)) == ("a", "b")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("", SECTION, id="an empty file"),
        pytest.param("\n\n", SECTION + "\n\n", id="a blank file"),
        pytest.param("\ufeff", "\ufeff" + SECTION, id="a BOM alone"),
        pytest.param("# mine\n", "# mine\n\n" + SECTION, id="a comment alone"),
        pytest.param("a = 1", "a = 1\n\n" + SECTION[:-1], id="no final newline"),
        pytest.param("a = 1\n\n\n", "a = 1\n\n" + SECTION + "\n\n", id="blank lines at the end"),
        pytest.param("[a]\nb = 1\n[c]\n", "[a]\nb = 1\n[c]\n" + SECTION, id="a file without blank lines"),
        pytest.param(
            "[mcp_servers.rota]\nx = 1\n\n# the look\n[tui]\n",
            "[mcp_servers.rota]\nx = 1\n\n" + SECTION + "\n# the look\n[tui]\n",
            id="behind the last server, before the comment of the next table",
        ),
        pytest.param(
            "[mcp_servers.rota]\nx = 1\n# y = 2\n\n[tui]\n",
            "[mcp_servers.rota]\nx = 1\n# y = 2\n\n" + SECTION + "\n[tui]\n",
            id="behind a comment that belongs to the last server",
        ),
        pytest.param(
            "[mcp_servers.rota]\nx = 1\n\n[mcp_servers.rota.env]\nA = 'b'\n\n[tui]\n",
            "[mcp_servers.rota]\nx = 1\n\n[mcp_servers.rota.env]\nA = 'b'\n\n" + SECTION + "\n[tui]\n",
            id="behind a server's sub-table",
        ),
        pytest.param("[mcp_servers]\n", "[mcp_servers]\n\n" + SECTION, id="an empty container"),
        pytest.param(
            "mcp_servers = {}\n",
            'mcp_servers = {homeport = { command = "/opt/homeport", args = ["serve"] }}\n',
            id="an empty inline container",
        ),
        pytest.param(
            "mcp_servers = { } # none\n",
            'mcp_servers = { homeport = { command = "/opt/homeport", args = ["serve"] } } # none\n',
            id="an empty inline container with a blank",
        ),
        pytest.param(
            "[a]\nmcp.servers = { x = 1 }\n",
            "[a]\nmcp.servers = { x = 1 }\n\n" + SECTION,
            id="an inline table elsewhere",
        ),
        pytest.param(
            'mcp_servers.rota.command = "x"\nmodel = "m"\n[tui]\n',
            'mcp_servers.rota.command = "x"\n'
            'mcp_servers.homeport.command = "/opt/homeport"\nmcp_servers.homeport.args = ["serve"]\n'
            'model = "m"\n[tui]\n',
            id="a container of dotted keys",
        ),
        pytest.param(
            'mcp_servers.rota.command = "x"\n\n[mcp_servers.rota.env]\nA = "b"\n',
            'mcp_servers.rota.command = "x"\n\n[mcp_servers.rota.env]\nA = "b"\n\n' + SECTION,
            id="dotted keys and a header",
        ),
        pytest.param(
            "[mcp_servers]\n  rota.command='x'\n",
            "[mcp_servers]\n  rota.command='x'\n\n"
            '[mcp_servers.homeport]\n  command="/opt/homeport"\n  args=["serve"]\n',
            id="indented and tight keys",
        ),
    ],
)
def test_a_new_entry_is_spelled_as_its_neighbours_are(source: str, expected: str) -> None:
    assert open_toml(source.encode()).set(OURS, ENTRY).decode() == expected


def test_dicts_of_a_new_entry_become_tables_behind_its_keys() -> None:
    value = {
        "env": {"A": "b", "C D": "e"},
        "command": "x",
        "env_vars": ["T", {"name": "U", "source": "local"}],
        "e": {},
    }
    assert open_toml(b"").set(OURS, value).decode() == (
        '[mcp_servers.homeport]\ncommand = "x"\nenv_vars = ["T", { name = "U", source = "local" }]\n\n'
        '[mcp_servers.homeport.env]\nA = "b"\n"C D" = "e"\n\n[mcp_servers.homeport.e]\n'
    )


def test_a_beginning_goes_into_a_blank_file_only() -> None:
    beginning = {"schema": 1, "tui": {"theme": "dusk"}}
    assert open_toml(b"\xef\xbb\xbf").set(OURS, ENTRY, beginning).decode() == (
        '\ufeffschema = 1\ntui = { theme = "dusk" }\n\n' + SECTION
    )
    assert open_toml(b"a = 1\n").set(OURS, ENTRY, beginning).decode() == "a = 1\n\n" + SECTION


@pytest.mark.parametrize(
    ("source", "path", "expected"),
    [
        pytest.param("# c\n", ("k",), "# c\nk = 1\n", id="a file of comments"),
        pytest.param("a = 2\n\n[t]\n", ("k",), "a = 2\nk = 1\n\n[t]\n", id="behind the last key of the root"),
        pytest.param("# top\n\n# t's\n[t]\n", ("k",), "# top\n\nk = 1\n# t's\n[t]\n", id="before the first header"),
        pytest.param("[t]\na=2 # c\n# d\n[u]", ("t", "k"), "[t]\na=2 # c\nk=1\n# d\n[u]", id="in a table"),
        pytest.param("[t.u]\nv = 2", ("t", "k"), "[t.u]\nv = 2\n\n[t]\nk = 1", id="in a table without header"),
        pytest.param("t.u.v = 2\n[x]\n", ("t", "k"), "t.u.v = 2\nt.k = 1\n[x]\n", id="in a table of dotted keys"),
        pytest.param("[a]\n", ("t", "k"), "[a]\n\n[t]\nk = 1\n", id="in a table that is not there"),
        pytest.param("t = { u.v = 2 }", ("t", "u", "k"), "t = { u.v = 2, u.k = 1 }", id="in an inline table"),
        pytest.param("t = { u = { } }", ("t", "u", "k"), "t = { u = { k = 1 } }", id="in an inner inline table"),
    ],
)
def test_a_plain_value_is_put_as_a_key(source: str, path: tuple[str, ...], expected: str) -> None:
    assert open_toml(source.encode()).set(path, 1).decode() == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("t = 1 # c\n", 't = { a = "b" } # c\n', id="a plain value"),
        pytest.param("x = 1\n[[t]]\nq = 1\n[[t]]\n", 'x = 1\n\n[t]\na = "b"\n', id="an array of tables"),
        pytest.param("[t]\n# why\na = 'b' # c\nz = 1\n", "[t]\n# why\na = 'b' # c\n", id="a table with more in it"),
        pytest.param("t.z = 1\nt.a = 'b'\n", "t.a = 'b'\n", id="dotted keys"),
        pytest.param("t = { z = 1, a.c = 1 }", 't = { a = "b" }', id="an inline table"),
    ],
)
def test_set_makes_what_stands_there_equal(source: str, expected: str) -> None:
    assert open_toml(source.encode()).set(("t",), {"a": "b"}).decode() == expected


def test_a_list_is_replaced_whole() -> None:
    assert open_toml(b"a = [1, 2]  # c\n").set(("a",), [1]) == b"a = [1]  # c\n"


def test_an_equal_value_gives_the_same_object() -> None:
    source = b"[mcp_servers.homeport]\nargs = [ 'serve', ] # mine\n\"command\" = '''/opt/homeport'''\n"
    assert open_toml(source).set(OURS, ENTRY) is source


def test_one_and_true_and_one_point_zero_are_three_things() -> None:
    document = open_toml(b"a = 1\n")
    assert [document.set(("a",), value) for value in (1, True, 1.0)] == [b"a = 1\n", b"a = true\n", b"a = 1.0\n"]


def test_update_keeps_what_it_does_not_name() -> None:
    source = (
        b"[mcp_servers.homeport]\n# mine\n  command = 'old' # pinned\nextra = 2031-01-01\nargs = ['serve'] # same\n\n"
        b"# the zone\n[mcp_servers.homeport.env]\nA = '1' # one\nB = '2'\n\n[tui]\n"
    )
    after = open_toml(source).update(OURS, {"command": "new", "args": ["serve"], "env": {"A": "9", "C": "3"}})
    assert after == (
        b"[mcp_servers.homeport]\n# mine\n  command = \"new\" # pinned\nextra = 2031-01-01\nargs = ['serve'] # same\n\n"
        b'# the zone\n[mcp_servers.homeport.env]\nA = "9" # one\nC = "3"\n\n[tui]\n'
    )


def test_update_takes_out_what_is_dropped() -> None:
    source = (
        b"[mcp_servers.homeport]\ncommand = 'x'\nurl = 'u'\n\n[mcp_servers.homeport.http_headers]\nA = 'b'\n\n[tui]\n"
    )
    after = open_toml(source).update(OURS, {"command": "x"}, frozenset({"url", "http_headers", "absent"}))
    assert after == b"[mcp_servers.homeport]\ncommand = 'x'\n\n[tui]\n"


def test_update_makes_a_missing_table() -> None:
    assert open_toml(b"").update(OURS, ENTRY, frozenset({"url"})).decode() == SECTION


def test_a_table_of_dotted_keys_that_loses_them_all_stays_a_table() -> None:
    source = b"[mcp_servers]\nhomeport.env.A = 'b'\nhomeport.command = 'x'\n"
    after = open_toml(source).update(OURS, {"env": {}})
    assert after == b"[mcp_servers]\nhomeport.command = 'x'\nhomeport.env = {}\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("# why\n" + SECTION + "# below\n", "# why\n# below\n", id="comments around stay"),
        pytest.param("a = 1\n\n[mcp_servers.homeport]\n# in\nx = 1\n", "a = 1\n", id="a comment inside goes"),
        pytest.param(SECTION + "\n[tui]\n", "[tui]\n", id="the blank line below a first table"),
        pytest.param("a = 1\n\n" + SECTION[:-1], "a = 1", id="no final newline"),
        pytest.param("\ufeffmcp_servers.homeport = 1", "\ufeff", id="all of the file"),
        pytest.param(
            "[mcp_servers]\nhomeport.a = 1\n# c\nhomeport.b = 2\nz = 1\n", "[mcp_servers]\nz = 1\n", id="dotted"
        ),
        pytest.param("[mcp_servers.homeport.env]\n[t]\n[mcp_servers.homeport]", "[t]", id="pieces apart"),
        pytest.param(
            "a.homeport = 1\nmcp_servers.homeport = { b = 1 } # c\n", "a.homeport = 1\n", id="an inline value"
        ),
        pytest.param(
            "mcp_servers = { homeport.a = 1, x = 1, homeport.b = 2, y.z = 2 } # c",
            "mcp_servers = { x = 1, y.z = 2 } # c",
            id="inline members apart",
        ),
        pytest.param("mcp_servers = { x = 1 , homeport = {} }", "mcp_servers = { x = 1 }", id="the last inline member"),
        pytest.param("mcp_servers = {homeport = {}}", "mcp_servers = {}", id="the only inline member"),
    ],
)
def test_remove_takes_every_piece(source: str, expected: str) -> None:
    assert open_toml(source.encode()).remove(OURS).decode() == expected


@pytest.mark.parametrize(
    ("source", "prune", "expected"),
    [
        pytest.param("a = 1\n\n[mcp_servers]\n\n" + SECTION, 0, "a = 1\n\n[mcp_servers]\n", id="kept without prune"),
        pytest.param("a = 1\n\n[mcp_servers]\n\n" + SECTION, 1, "a = 1\n", id="an empty header"),
        pytest.param("[mcp_servers]\n# mine\n\n" + SECTION, 1, "# mine\n", id="a comment in the container stays"),
        pytest.param("mcp_servers = { homeport = {} }\n", 1, "", id="an inline container"),
        pytest.param("mcp_servers = { homeport = {}, x = 1 }\n", 1, "mcp_servers = { x = 1 }\n", id="not empty"),
        pytest.param("[mcp_servers]\n[mcp_servers.homeport]\n", 9, "", id="never further than the root"),
    ],
)
def test_prune_takes_containers_left_empty(source: str, prune: int, expected: str) -> None:
    assert open_toml(source.encode()).remove(OURS, prune).decode() == expected


def test_prune_goes_up_through_inline_tables() -> None:
    assert open_toml(b"x = 1\na = { b.c = 1 }\n").remove(("a", "b", "c"), 2) == b"x = 1\n"


def test_prune_stops_at_its_number() -> None:
    assert open_toml(b"[a]\n[a.b]\nc = 1\n").remove(("a", "b", "c"), 1) == b"[a]\n"


def test_removing_nothing_gives_the_same_object() -> None:
    source = b"[mcp_servers.rota]\n"
    assert open_toml(source).remove(OURS) is source
