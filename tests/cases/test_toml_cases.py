"""T: what stands in Codex's TOML, through the whole command. The edits by themselves are in tests/installer/edit."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.cases.machine import CODEX, COMMAND, LEDGER, PROJECT, Home, kept, refused, written
from tests.harness import Completed

ENTRY = {"command": COMMAND, "args": ["serve"]}
# Our own server's entry as an older Homeport left it: ours by what it runs, though no journal knows it.
OLD = 'command = "/old/python"\nargs = ["-m", "homeport", "serve"]\n'
OURS = ("--force",)  # a test's interpreter may lie anywhere

SHIFT_PLAN = """# shift plan, ask before editing
model = "house-1"

# paid per call!
[mcp_servers.rota]
command = "/opt/rota/rota"     # pinned
args = [ "serve", ]
startup_timeout_sec = 30
weekend_mode = "off"          # unknown to this build

[tui]
theme = "dusk"
"""
SPELLINGS = """stamp = 2031-05-06T07:08:09.500+02:00
day = 2031-05-06
big = 9_007_199_254_740_993
mask = 0xFF
ratio = 1.0
low = -0.0
far = [+inf, -nan, 1e+06]
words = [
  "one", # first
  'two',
]
text = \"\"\"
[mcp_servers.not_a_table]
# no comment
\"\"\"
raw = '''C:\\[mcp_servers]'''

[mcp_servers.rota]
command = "/opt/rota/rota"
startup_timeout_ms = 12_000
"""
OUT_OF_ORDER = """[mcp_servers.rota]
command = "/opt/rota/rota"

[mcp_servers.rota.tools.sum]
approval_mode = "approve"

[mcp_servers.rota.tools]

[projects."/srv/depot"]
trust_level = "trusted"

[mcp_servers.rota.tools.print]
approval_mode = "prompt"
"""
ONLY_CHILDREN = """[mcp_servers.rota.env]
A = "1"

[[agents]]
name = "n"

[mcp_servers.rota]
command = "/opt/rota/rota"

[[agents]]
name = "m"
"""
COMMENTED_OUT = """# [mcp_servers.ledger]
# command = "/old/ledger"

[mcp_servers] # all of them
# nothing here yet

[notice]
seen = true
# the end
"""
QUOTED = """["mcp_servers"."rota"]
command = "/opt/rota/rota"

['mcp_servers'.'night.shift']
command = "/opt/night"
"""


@pytest.mark.parametrize(
    "source",
    [SHIFT_PLAN, SPELLINGS, OUT_OF_ORDER, ONLY_CHILDREN, COMMENTED_OUT, QUOTED],
    ids=["t01", "t13", "t11", "own-children-first", "own-commented-out", "own-quoted"],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "t15-crlf"])
def test_t01_t11_t13_t15_other_tables_stay_as_spelled(tmp_path: Path, source: str, end: str) -> None:
    home = Home(tmp_path)
    old = source.replace("\n", end).encode()
    home.file(CODEX, old)
    once = written(home, CODEX, lambda: home.install("codex"), home.install("codex"))
    assert kept(old, once)
    assert once.count(b"\n") == once.count(end.encode())
    before = tomllib.loads(source.replace("\n", end))
    servers = {**before.get("mcp_servers", {}), "ledger": ENTRY}
    assert str(home.value(CODEX, "mcp_servers")) == str(servers)
    assert str({**home.value(CODEX), "mcp_servers": 0}) == str({**before, "mcp_servers": 0})
    home.uninstall("codex")
    assert home.unchanged()


@pytest.mark.parametrize(
    "header",
    ["[mcp_servers.homeport]", '["mcp_servers".homeport]', "[mcp_servers.'homeport']", '[ mcp_servers . "homeport" ]',
     '[mcp_servers."\\u0068omeport"]'],
    ids=["bare", "quoted-parent", "quoted-child", "spaces", "escaped"],
)  # fmt: skip
def test_t02_a_key_is_the_same_however_it_is_spelled(tmp_path: Path, header: str) -> None:
    home = Home(tmp_path, quick=True)
    child = header[:-1] + ".env]"
    source = f'model = "house-1"\n\n{header}\n{OLD}\n{child}\nZONE = "b"\n\n["mcp_servers"."rota"]\ncommand = "/r"\n'
    home.file(CODEX, source)
    once = written(home, CODEX, lambda: home.install("codex", *OURS), home.install("codex", *OURS))
    found = home.value(CODEX, "mcp_servers")
    assert (found["homeport"]["args"], found["homeport"]["env"]) == (["-m", "homeport", "serve"], {"ZONE": "b"})
    assert found["homeport"]["command"] != "/old/python"
    assert found["rota"] == {"command": "/r"}
    assert (once.count(header.encode()), once.count(child.encode())) == (1, 1)
    assert kept(source.replace('command = "/old/python"\n', ""), once)


@pytest.mark.parametrize(
    "source",
    [
        "mcp_servers.homeport = { command = '/old/python', args = ['-m', 'homeport', 'serve'] }\nmodel = 'x'\n",
        "mcp_servers.homeport.command = '/old/python'\nmcp_servers.homeport.args = ['-m', 'homeport', 'serve']\n",
        "[mcp_servers]\nhomeport.command = '/old/python'\nhomeport.args = ['-m', 'homeport', 'serve']\nr.a = 1\n",
        "[mcp_servers]\nhomeport = { command = '/old/python', args = ['-m', 'homeport', 'serve'] } # us\n[t]\na = 1\n",
        f"[mcp_servers.homeport]\n{OLD}\n[tui]\na = 1\n\n[mcp_servers.homeport.env]\nA = 'b'\n",
    ],
    ids=["inline", "dotted", "dotted-in-table", "inline-in-table", "children-elsewhere"],
)
def test_t02_t09_an_entry_of_ours_is_found_and_changed_in_place_in_every_spelling(tmp_path: Path, source: str) -> None:
    home = Home(tmp_path, quick=True)
    before = tomllib.loads(source)
    home.file(CODEX, source)
    written(home, CODEX, lambda: home.install("codex", *OURS), home.install("codex", *OURS))
    after = home.value(CODEX)
    assert after["mcp_servers"]["homeport"].pop("command") != before["mcp_servers"]["homeport"].pop("command")
    assert after == before
    home.uninstall("codex", "homeport")
    assert "homeport" not in home.value(CODEX).get("mcp_servers", {})


REMOTE = """[mcp_servers.ledger]
url = "http://127.0.0.1:4410/mcp"

[mcp_servers.ledger.http_headers]
X-Zone = "b"

[notice]
seen = true
"""
NEW_URL = ("--name", "ledger", "--header", "X-Zone: c", "http://127.0.0.1:4411/mcp")


@pytest.mark.parametrize(
    "source",
    [
        REMOTE,
        REMOTE.replace("[mcp_servers.ledger.http_headers]\nX-Zone", "http_headers.X-Zone"),
        REMOTE.replace('[mcp_servers.ledger.http_headers]\nX-Zone = "b"', "http_headers = { X-Zone = 'b' } # zone"),
    ],
    ids=["sub-table", "dotted", "inline"],
)
def test_t03_a_value_that_became_a_sub_table_is_set_there(tmp_path: Path, source: str) -> None:
    home = Home(tmp_path, quick=True)
    home.file(CODEX, source)

    def run() -> Completed:
        return home.install("codex", "--replace", *NEW_URL)

    written(home, CODEX, run, run())
    assert home.value(CODEX) == {
        "mcp_servers": {"ledger": {"url": "http://127.0.0.1:4411/mcp", "http_headers": {"X-Zone": "c"}}},
        "notice": {"seen": True},
    }


def test_t03_codex_moved_our_own_headers_and_the_next_run_still_knows_them(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.install("codex", "--name", "ledger", "--header", "X-Zone: b", "http://127.0.0.1:4410/mcp")
    home.file(CODEX, REMOTE)
    assert home.install("codex", *NEW_URL[:3], "X-Zone: c", "http://127.0.0.1:4410/mcp").exit == 0
    assert home.read(CODEX) == REMOTE.replace('"b"', '"c"').encode()


@pytest.mark.parametrize(
    ("source", "survives"),
    [
        (
            '# one line on purpose\nmcp_servers = { rota = { command = "/r", args = ["a", "b"] } } # end\nm = "x"\n',
            ["# one line on purpose", "# end", '["a", "b"]'],
        ),
        ("mcp_servers = {} # empty\n", ["# empty"]),
        ('mcp_servers = {rota={command="/r"}}', ['{command="/r"}']),
        ('[mcp_servers]\nrota = { command = "/r" } # r\n\n[tui]\n', ["# r", "[tui]"]),
        ('mcp_servers.rota = { command = "/r" } # r\nmodel = "x"\n', ["# r", 'model = "x"']),
    ],
    ids=["t04", "empty", "dense", "inline-children", "dotted"],
)
def test_t04_an_inline_parent_takes_the_entry(tmp_path: Path, source: str, survives: list[str]) -> None:
    home = Home(tmp_path, quick=True)
    home.file(CODEX, source)
    once = written(home, CODEX, lambda: home.install("codex"), home.install("codex")).decode()
    before = tomllib.loads(source)
    assert home.value(CODEX) == {**before, "mcp_servers": {**before["mcp_servers"], "ledger": ENTRY}}
    assert [text for text in survives if text not in once] == []
    home.uninstall("codex")
    assert home.unchanged()


@pytest.mark.parametrize(
    "source",
    [
        "[notice]\nseen = true",
        "seen = true # so",
        "[notice]",
        "# only a comment",
        '[notice]\r\nseen = "a"',
        "a = [\n1,\n]",
    ],
    ids=["t06", "key", "header", "comment", "crlf", "array"],
)
def test_t06_a_table_is_not_glued_to_the_last_line(tmp_path: Path, source: str) -> None:
    home = Home(tmp_path, quick=True)
    home.file(CODEX, source)
    written(home, CODEX, lambda: home.install("codex"), home.install("codex"))
    assert home.value(CODEX) == {**tomllib.loads(source), "mcp_servers": {"ledger": ENTRY}}
    home.uninstall("codex")
    assert home.unchanged()


@pytest.mark.parametrize(
    ("command", "args"),
    [
        (r"C:\Users\nora\tools\ledger.exe", ["serve", "--root", r"C:\new\tables\o'clock"]),
        (r"\\share\x\u1234", ['"', "'''", '"""', "a\tb", "\\"]),
        ("/opt/é/\x7f", ["a\nb", "\x01", "🌙", "#", "{env}"]),
    ],
    ids=["t07", "quotes", "control"],
)
def test_t07_what_toml_would_take_for_an_escape_arrives(tmp_path: Path, command: str, args: list[str]) -> None:
    home = Home(tmp_path, quick=True)
    home.file(CODEX, 'model = "house-1"\n')
    assert home.install("codex", "--name", "ledger", "--", command, *args).exit == 0
    assert home.value(CODEX, "mcp_servers", "ledger") == {"command": command, "args": args}


@pytest.mark.parametrize("name", ["acme.ledger", "acme/ledger", "a:b", "@acme/x", "127.0.0.1", "1e5", "true"])
def test_t08_a_name_is_one_key_whatever_letters_it_has(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path, quick=True)
    home.file(CODEX, 'model = "house-1"\n')
    words = ("--name", name, "--", COMMAND, "serve")
    written(home, CODEX, lambda: home.install("codex", *words), home.install("codex", *words))
    assert home.value(CODEX, "mcp_servers") == {name: ENTRY}
    home.uninstall("codex", name)
    assert home.unchanged()


OUR_TABLE = """[mcp_servers.ledger]
args = ["serve"]
command = "/opt/ledger/bin/ledger"

"""
SAVED_BY_CODEX = f"""model = "house-1"

{OUR_TABLE}[mcp_servers.rota]
command = "/opt/rota/rota"
"""


@pytest.mark.parametrize("before", [True, False], ids=["ours-by-the-journal", "ours-by-what-it-runs"])
def test_t09_an_entry_is_known_without_marks_of_ours(tmp_path: Path, before: bool) -> None:
    home = Home(tmp_path)
    if before:
        home.install("codex")
    home.file(CODEX, SAVED_BY_CODEX)
    done = home.install("codex", "--json", *LEDGER)
    assert done.envelope["result"]["clients"][0]["outcome"] == "unchanged"
    assert home.unchanged()
    taken = home.uninstall("codex")
    assert (home.read(CODEX).decode() == SAVED_BY_CODEX.replace(OUR_TABLE, "")) == before, taken


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ('[mcp_servers.rota]\ncommand = "/a"\n\n[tui]\ntheme = "x"\n\n[mcp_servers.rota]\ncommand = "/c"\n',
         ["line 7"]),
        ('[mcp_servers.ledger]\ncommand = "/a"\n\n[mcp_servers."ledger"]\ncommand = "/b"\n', ["line 4"]),
        ('a = 1\na = 2\n', ["line 2"]),
        ('[mcp_servers.x]\ncommand = "C:\\Users"\n', ["line 2"]),
        ('mcp_servers = []\n', ["mcp_servers"]),
        ('mcp_servers = "off"\n', ["mcp_servers"]),
        ('[[mcp_servers]]\ncommand = "/a"\n', ["mcp_servers"]),
        ('[mcp_servers]\nx = 1\n<<<<<<< mine\n', ["line 3"]),
        (b"\xff\xfe[\0t\0]\0", ["UTF-16"]),
        (b'a = "\xe9"\n', ["UTF-8"]),
        ("a = " + "[" * 100_000, ["line 1"]),
    ],
    ids=["t10", "t10-spelled-apart", "key-twice", "bad-escape", "list", "string", "array-of-tables", "markers",
         "utf-16", "latin-1", "deep"],
)  # fmt: skip
def test_t10_a_file_that_is_not_certain_is_refused(tmp_path: Path, source: str | bytes, names: list[str]) -> None:
    home = Home(tmp_path, quick=True)
    home.file(CODEX, source)
    refused(home, home.install("codex"), str(home.path / CODEX), *names)
    printed = home.run("install", "--client", "codex", *LEDGER)
    assert (printed.exit, tomllib.loads(printed.stdout.decode())) == (0, {"mcp_servers": {"ledger": ENTRY}})


@pytest.mark.parametrize("source", ["", "[mcp_servers]\n", None], ids=["empty", "container", "missing"])
def test_t14_variables_stand_where_codex_reads_them_and_as_text(tmp_path: Path, source: str | None) -> None:
    home = Home(tmp_path)
    if source is not None:
        home.file(CODEX, source)
    words = ("--name", "ledger", "--env", "LEDGER_LIMIT=3", "--env", "LEDGER_TOKEN", "--env", "LEDGER_ON=true")
    home.install("codex", *words, "--", COMMAND, "serve")
    assert home.value(CODEX) == {
        "mcp_servers": {
            "ledger": {
                "command": COMMAND,
                "args": ["serve"],
                "env_vars": ["LEDGER_TOKEN"],
                "env": {"LEDGER_LIMIT": "3", "LEDGER_ON": "true"},
            }
        }
    }


def test_t14_a_pasted_number_becomes_the_text_that_codex_asks_for(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    home.file(
        "pasted.json",
        '{"mcpServers": {"ledger": {"command": "/x", "args": [8080, true], "env": {"N": 3, "B": false}}}}',
    )
    home.install("codex", "--from", str(home.path / "pasted.json"))
    assert home.value(CODEX, "mcp_servers", "ledger") == {
        "command": "/x",
        "args": ["8080", "true"],
        "env": {"N": "3", "B": "false"},
    }


def test_t15_a_crlf_block_of_ours_is_known_again_and_changed_in_kind(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    home.file(CODEX, b"[notice]\r\nseen = true\r\n")
    home.install("codex")
    home.install("codex", "--name", "ledger", "--env", "A=1", "--", COMMAND, "serve", "--more")
    made = home.read(CODEX)
    assert made.count(b"\n") == made.count(b"\r\n")
    assert home.value(CODEX, "mcp_servers", "ledger") == {**ENTRY, "args": ["serve", "--more"], "env": {"A": "1"}}
    home.uninstall("codex")
    assert home.unchanged()


def test_t15_a_projects_file_with_a_mark_and_mixed_ends_keeps_both(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    name = f"{PROJECT}/.codex/config.toml"
    source = b"\xef\xbb\xbf[notice]\r\nseen = true\n"
    home.file(name, source)
    assert home.install("codex", level="project").exit == 0
    assert home.read(name).startswith(source)
    entry: Any = home.value(name, "mcp_servers", "ledger")
    assert entry == ENTRY
