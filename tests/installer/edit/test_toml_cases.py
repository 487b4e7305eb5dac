"""Faults other tools had with a Codex config.toml, each told with a file of its own; the link is where it was seen."""

from __future__ import annotations

import tomllib

import pytest

from homeport.errors import HomeportError
from homeport.installer.edit.toml import open_toml

LEDGER = ("mcp_servers", "ledger")
ENTRY = {"command": "/opt/ledger/bin/ledger", "args": ["serve"]}
TABLE = '[mcp_servers.ledger]\ncommand = "/opt/ledger/bin/ledger"\nargs = ["serve"]\n'


def added(source: str) -> str:
    """The file with ENTRY in it, once it is shown that a second run changes nothing."""
    after = open_toml(source.encode()).set(LEDGER, ENTRY)
    assert open_toml(after).set(LEDGER, ENTRY) is after
    return after.decode()


def test_other_tables_keep_comments_spelling_and_unknown_keys() -> None:
    """T01, openai/codex#45432: the whole file came back from a typed model."""
    top = (
        '# ask before editing\nmodel = "house-1"\n\n# paid per call!\n'
        '[mcp_servers.rota]\ncommand = "/opt/rota"     # pinned\n'
        'args = [ "serve", ]\nstartup_timeout_sec = 30\nweekend_mode = "off"          # unknown\n'
    )
    assert added(top + '\n[tui]\ntheme = "dusk"\n') == f'{top}\n{TABLE}\n[tui]\ntheme = "dusk"\n'


@pytest.mark.parametrize(
    "header",
    ["[mcp_servers.ledger]", '["mcp_servers"."ledger"]', "[ mcp_servers . 'ledger' ]", '[mcp_servers."led\\u0067er"]'],
)
def test_bare_and_quoted_names_are_one_key(header: str) -> None:
    """T02, taptap/instant-games-open-mcp#194: a second table was added beside the first."""
    others = '\n[mcp_servers.ledger.env]\nZONE = \'b\'\n\n["mcp_servers"."rota"]\n'
    source = f"{header}\ncommand = '/old'\nargs = ['serve']\n{others}"
    after = open_toml(source.encode()).update(LEDGER, ENTRY).decode()
    assert after == source.replace("'/old'", '"/opt/ledger/bin/ledger"')


def test_a_sub_table_is_changed_in_place_and_not_doubled_inline() -> None:
    """T03, Dicklesworthstone/mcp_agent_mail_rust#328."""
    source = (
        '[mcp_servers.ledger]\nurl = "http://h:1"\n\n[mcp_servers.ledger.http_headers]\nX-Zone = "b"\n\n'
        "[notice]\nseen = true\n"
    )
    after = open_toml(source.encode()).update(LEDGER, {"url": "http://h:2", "http_headers": {"X-Zone": "c"}})
    assert after.decode() == source.replace("h:1", "h:2").replace('"b"', '"c"')


def test_an_inline_parent_gets_the_entry_inside_it() -> None:
    """T04, peters/horizon#730: a header cannot extend an inline table."""
    source = (
        '# one line\nmcp_servers = { rota = { command = "/opt/rota", args = ["a", "b"] } } # end\nmodel = "house-1"\n'
    )
    inline = ', ledger = { command = "/opt/ledger/bin/ledger", args = ["serve"] }'
    assert added(source) == source.replace('"b"] }', '"b"] }' + inline)


def test_a_file_without_final_newline_captures_no_key() -> None:
    """T06, BaseIntelligence/bounty-challenge#7664."""
    assert added("[notice]\nseen = true") == f"[notice]\nseen = true\n\n{TABLE[:-1]}"


def test_backslashes_and_quotes_are_escaped() -> None:
    """T07, manufosela/karajan-code#1426: `\\U` of a Windows path was read as an escape."""
    value = {"command": "C:\\Users\\nora\\tools\\ledger.exe", "args": ["--root", 'C:\\new\\o\'clock "\U0001f600\x7f"']}
    after = open_toml(b'model = "house-1"\n').set(LEDGER, value).decode()
    assert tomllib.loads(after)["mcp_servers"]["ledger"] == value
    assert '"C:\\\\Users\\\\nora\\\\tools\\\\ledger.exe"' in after
    assert '"C:\\\\new\\\\o\'clock \\"\U0001f600\\u007f\\""' in after


@pytest.mark.parametrize("name", ["acme.ledger", "@acme/ledger", "two words", "", "é", 'q"\\'])
def test_a_name_that_is_no_bare_key_is_quoted(name: str) -> None:
    """T08, dmtrkzntsv/syncai#10: a dotted name became a nested table."""
    after = open_toml(b'model = "house-1"\n').set(("mcp_servers", name), ENTRY).decode()
    assert tomllib.loads(after) == {"model": "house-1", "mcp_servers": {name: ENTRY}}


def test_an_entry_that_the_client_saved_anew_is_known_by_its_table() -> None:
    """T09, BeppeTemp/cartographer#50: ownership hung on comments, which Codex drops."""
    source = f'[mcp_servers.ledger]\nargs = ["serve"]\ncommand = "{ENTRY["command"]}"\n\n[mcp_servers.rota]\n'
    assert added(source) == source


def test_a_file_with_a_table_twice_is_refused_with_both_lines() -> None:
    """T10, Yeachan-Heo/oh-my-claudecode#2748."""
    rota = b'[mcp_servers.rota]\ncommand = "a"\n'
    source = rota + b'\n[mcp_servers.ledger]\ncommand = "b"\n\n' + rota
    with pytest.raises(HomeportError) as caught:
        open_toml(source)
    assert caught.value.in_file("config.toml").as_json() == {
        "code": "malformed_file",
        "message": "config.toml, line 7, column 1: [mcp_servers.rota] is defined a second time; "
        "the first stands in line 1",
        "hint": "keep one of the two, then run this again",
        "details": {"file": "config.toml", "line": 7, "column": 1, "lines": [1, 7]},
    }


def test_sub_tables_before_their_parents_are_fine() -> None:
    """T11, python-poetry/tomlkit#571: a valid order was refused."""
    top = (
        '[mcp_servers.rota]\nx = 1\n\n[mcp_servers.rota.tools.sum]\nm = "a"\n\n[mcp_servers.rota.tools]\n\n'
        '[projects."/srv"]\nt = 1\n'
    )
    last = '\n[mcp_servers.rota.tools.print]\nm = "p"\n'
    assert added(top + last) == f"{top}{last}\n{TABLE}"


def test_no_value_changes_its_spelling() -> None:
    """T13, getgaal/gaal#255: dates, underscores, hexadecimals and -0.0 came back differently."""
    source = (
        "stamp = 2031-05-06T07:08:09.500+02:00\nbig = 9_007_199_254_740_993\nmask = 0xFF\nratio = 1.0\nlow = -0.0\n"
        "words = [\n  \"one\", # first\n  'two',\n]\n\n[mcp_servers.rota]\nstartup_timeout_ms = 12_000\n"
    )
    assert added(source) == f"{source}\n{TABLE}"


def test_names_of_variables_stay_out_of_the_env_table() -> None:
    """T14, openai/codex#7802: a list below the sub-table's header became a key of that."""
    value = {"command": "x", "env": {"LIMIT": "3"}, "env_vars": ["TOKEN"]}
    after = open_toml(b"").set(LEDGER, value).decode()
    assert tomllib.loads(after)["mcp_servers"]["ledger"] == value


def test_a_file_of_crlf_gets_crlf() -> None:
    """T15, vshulcz/deja-vu#1668."""
    source = "[notice]\r\nseen = true\r\n"
    assert added(source) == source + "\r\n" + TABLE.replace("\n", "\r\n")


def test_a_file_of_both_line_ends_gets_that_of_the_line_before() -> None:
    assert added("[a]\r\n[mcp_servers.b]\n\n[c]\r\n") == f"[a]\r\n[mcp_servers.b]\n{TABLE}\n[c]\r\n"
