"""T once more, by another road: the kinds of fault that test_toml_cases.py tells, in other files and other moments."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from homeport.installer.clients.references import plain_text
from homeport.installer.clients.values import Registration, Stdio
from homeport.installer.plan.request import InstallRequest
from tests.cases.machine import CODEX, COMMAND, LEDGER, PROJECT, Home, kept, planned, refused, said, written
from tests.made import MadeDisk, make_environment

ENTRY = {"command": COMMAND, "args": ["serve"]}
MORE = ("--name", "ledger", "--", COMMAND, "serve", "--more")
PROJECT_FILE = f"{PROJECT}/.codex/config.toml"


def test_t01_an_update_keeps_what_a_person_wrote_into_our_own_table(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(CODEX, '# top\nmodel = "m" # m\n')
    home.install("codex")
    mine = (
        home.read(CODEX)
        .decode()
        .replace("args =", "startup_timeout_sec = 30 # slow disk\nweekend_mode = 'off'\nargs =")
        .replace("[mcp_servers.ledger]", "# paid per call!\n[mcp_servers.ledger] # ours")
    )
    home.file(CODEX, mine + "\n[tui]\ntheme = 'dusk' # dark\n")
    done = home.install("codex", *MORE)
    once = written(home, CODEX, lambda: home.install("codex", *MORE), done).decode()
    assert once == mine.replace('["serve"]', '["serve", "--more"]') + "\n[tui]\ntheme = 'dusk' # dark\n"


@pytest.mark.parametrize(
    "spelled", ["env", '"env"', "'env'", ' "\\u0065nv" '], ids=["bare", "basic", "literal", "escaped"]
)
def test_t02_a_variable_goes_into_the_table_that_is_there(tmp_path: Path, spelled: str) -> None:
    home = Home(tmp_path, quick=True)
    words = ("--name", "ledger", "--env", "ZONE=b", "--", COMMAND, "serve")
    home.install("codex", *words)
    table = f'[mcp_servers.ledger.{spelled}]\nZONE = "b"\n'
    source = f'[mcp_servers."ledger"]\ncommand = "{COMMAND}"\nargs = ["serve"]\n\n[tui]\n\n{table}\n[notice]\n'
    home.file(CODEX, source)
    assert home.install("codex", "--name", "ledger", "--env", "ZONE=c", "--", COMMAND, "serve").exit == 0
    assert home.read(CODEX).decode() == source.replace('"b"', '"c"')


def test_t03_arguments_and_variables_become_tables_and_inline_values_in_turn(tmp_path: Path) -> None:
    """From a server that is started to a URL and back: no key of the one is left in the other."""
    home = Home(tmp_path, quick=True)
    home.file(CODEX, "[notice]\nseen = true\n")
    home.install("codex", "--name", "ledger", "--env", "A=1", "--env", "B", "--", COMMAND, "serve")
    url = "http://127.0.0.1:4411/mcp"
    assert home.install("codex", "--name", "ledger", "--header", "X-Zone: c", url).exit == 0
    assert home.value(CODEX, "mcp_servers", "ledger") == {"url": url, "http_headers": {"X-Zone": "c"}}
    assert home.install("codex", *LEDGER).exit == 0
    assert home.value(CODEX, "mcp_servers", "ledger") == ENTRY
    home.uninstall("codex")
    assert home.unchanged()


@pytest.mark.parametrize(
    "source",
    [
        'mcp_servers = { rota = { command = "/r", args = [\n  "a", # first\n  "}",\n] } } # end\n',
        "mcp_servers = { rota.command = '/r', \"ni.ght\" = { command = '}' } }\nm = 1\n",
        "[a]\nb = { c = 1 }\n[mcp_servers]\nrota = { command = '#' , args = ['{', \"\\\"}\"] }\n",
    ],
    ids=["lines-in-an-array", "dotted-inside", "table-above"],
)
def test_t04_brackets_in_strings_do_not_end_the_inline_table(tmp_path: Path, source: str) -> None:
    home = Home(tmp_path, quick=True)
    home.file(CODEX, source)
    written(home, CODEX, lambda: home.install("codex"), home.install("codex"))
    before = tomllib.loads(source)
    assert home.value(CODEX) == {**before, "mcp_servers": {**before["mcp_servers"], "ledger": ENTRY}}
    assert home.install("codex", *MORE).exit == 0
    assert home.value(CODEX, "mcp_servers", "ledger", "args") == ["serve", "--more"]
    home.uninstall("codex")
    assert home.unchanged()


@pytest.mark.parametrize(
    "source", ['a = """\n[x]"""', "a = '''\n'''", "[[x]]", "[mcp_servers]", "a = 1\r", "\n\n#"], ids=repr
)
def test_t06_whatever_the_last_line_is(tmp_path: Path, source: str) -> None:
    home = Home(tmp_path, quick=True)
    home.file(CODEX, source)
    try:
        before = tomllib.loads(source)
    except tomllib.TOMLDecodeError:
        refused(home, home.install("codex"), str(home.path / CODEX), "line 1")
        return
    written(home, CODEX, lambda: home.install("codex"), home.install("codex"))
    assert home.value(CODEX) == {**before, "mcp_servers": {"ledger": ENTRY}}
    home.uninstall("codex")
    assert home.unchanged()


@pytest.mark.parametrize("source", [b"", b'model = "m"\r\n', b"mcp_servers = {}\r\n"], ids=["new", "crlf", "inline"])
def test_t07_a_windows_path_on_windows(source: bytes) -> None:
    environment = make_environment("win32")
    args = ("serve", "--root", r"C:\new\tables\o'clock", r"\\share\u0041", "C:\\", "'''\"\"\"")
    server = Stdio(plain_text(r"C:\Users\nora\tools\ledger.exe"), tuple(plain_text(word) for word in args))
    request = InstallRequest((Registration("ledger", server),), via="file")
    disk = MadeDisk(environment, {"~/.codex/config.toml": source})
    [step] = planned("codex", request, environment, disk).steps
    assert step.after is not None
    found = tomllib.loads(step.after.decode())["mcp_servers"]["ledger"]
    assert found == {"command": r"C:\Users\nora\tools\ledger.exe", "args": list(args)}


def test_t08_a_dot_in_a_name_is_not_the_dot_between_keys(tmp_path: Path) -> None:
    """`acme.ledger` stands beside a server `acme` that has a table `ledger`; each is taken out alone."""
    home = Home(tmp_path)
    theirs = '[mcp_servers.acme]\ncommand = "/a"\n\n[mcp_servers.acme.ledger]\ncommand = "/no/server"\n'
    home.file(CODEX, theirs)
    words = ("--name", "acme.ledger", "--", COMMAND, "serve")
    done = home.install("codex", *words)
    assert "not every client takes a name" in said(done)
    written(home, CODEX, lambda: home.install("codex", *words), done)
    before = tomllib.loads(theirs)["mcp_servers"]
    assert home.value(CODEX, "mcp_servers") == {**before, "acme.ledger": ENTRY}
    home.uninstall("codex", "acme.ledger")
    assert home.unchanged()


@pytest.mark.parametrize("name", ["my ledger", 'a"b', "a'b", "a\\b", "a]b", "a#b", "帳簿", "", "a\nb", "a=b"], ids=repr)
def test_t08_a_name_that_codex_refuses_is_refused(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path, quick=True)
    home.file(CODEX, 'model = "m"\n')
    assert home.install("codex", f"--name={name}", "--", COMMAND).exit == 2
    assert (home.unchanged(), home.litter()) == (True, set())


def test_t09_an_entry_that_codex_sorted_and_bared_is_updated_where_it_stands(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.install("codex", "--name", "ledger", "--env", "ZONE=b", "--env", "TOKEN", "--", COMMAND, "serve")
    saved = (
        'model = "m"\n\n[mcp_servers.ledger]\nargs = ["serve"]\ncommand = "/opt/ledger/bin/ledger"\n'
        'env_vars = ["TOKEN"]\nstartup_timeout_sec = 30.0\n\n[mcp_servers.ledger.env]\nZONE = "b"\n\n'
        '[mcp_servers.rota]\ncommand = "/r"\n'
    )
    home.file(CODEX, saved)
    words = ("--name", "ledger", "--env", "ZONE=c", "--env", "TOKEN", "--", COMMAND, "serve", "--more")
    once = written(home, CODEX, lambda: home.install("codex", *words), home.install("codex", *words)).decode()
    assert once == saved.replace('["serve"]', '["serve", "--more"]').replace('"b"', '"c"')


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("mcp_servers = {}\n\n[mcp_servers.rota]\ncommand = '/r'\n", 3),
        ("[mcp_servers.rota]\nenv = { A = '1' }\n\n[mcp_servers.rota.env]\nB = '2'\n", 4),
        ("[mcp_servers.rota]\nenv.A = '1'\n[mcp_servers.rota.env]\nB = '2'\n", 3),
        ("[[a]]\n[a]\n", 2),
        ("[mcp_servers.rota]\ncommand = '/r'\n'command' = '/s'\n", 3),
        ("a.b = 1\na = 2\n", 2),
    ],
    ids=["inline-then-table", "inline-env-then-table", "dotted-then-table", "array-then-table", "key", "dotted"],
)
def test_t10_a_table_twice_in_any_disguise_is_refused(tmp_path: Path, source: str, line: int) -> None:
    home = Home(tmp_path, quick=True)
    home.file(CODEX, source)
    refused(home, home.install("codex"), str(home.path / CODEX), f"line {line}")
    refused(home, home.uninstall("codex", "rota", "--replace"), str(home.path / CODEX), f"line {line}")


def test_t11_children_of_our_entry_all_over_the_file_go_together(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    home.install("codex")
    source = f"""[mcp_servers.ledger.tools.sum]
approval_mode = "approve"

[projects."/srv/depot"]
trust_level = "trusted"

[mcp_servers.ledger]
command = "{COMMAND}"
args = ["serve"]

[[skills]]
name = "n"

[mcp_servers.ledger.tools]

[[skills]]
name = "m" # last

[mcp_servers.ledger.tools.print]
approval_mode = "prompt"
"""
    home.file(CODEX, source)
    assert home.install("codex", *MORE).exit == 0
    assert home.read(CODEX).decode() == source.replace('["serve"]', '["serve", "--more"]')
    home.uninstall("codex")
    left = tomllib.loads(source)
    del left["mcp_servers"]
    assert {key: value for key, value in home.value(CODEX).items() if value} == left
    assert b'name = "m" # last\n' in home.read(CODEX)


def test_t13_values_of_our_own_entry_keep_their_spelling_where_they_stay(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    home.install("codex")
    source = f"""when = 07:08:09.500 # local
later = 2031-05-06 07:08:09Z
low = [-0.0, 1e+06, 0o17, 0b1_0]

[mcp_servers.ledger]
command = '{COMMAND}'
startup_timeout_ms = 12_000
tool_timeout_sec = 6e1
args = [
  'serve', # the verb
]
"""
    home.file(CODEX, source)
    assert home.install("codex").exit == 0
    assert home.unchanged()
    assert home.install("codex", "--name", "ledger", "--", "/opt/new", "serve").exit == 0
    assert home.read(CODEX).decode() == source.replace(f"'{COMMAND}'", '"/opt/new"')


def test_t14_a_value_that_becomes_a_reference_leaves_the_table_of_values(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    home.file(PROJECT_FILE, "")
    home.install("codex", "--name", "ledger", "--env", "ZONE=b", "--", COMMAND, "serve", level="project")
    assert home.value(PROJECT_FILE, "mcp_servers", "ledger") == {**ENTRY, "env": {"ZONE": "b"}}
    done = home.install("codex", "--name", "ledger", "--env", "ZONE", "--", COMMAND, "serve", level="project")
    assert done.exit == 0, said(done)
    assert home.value(PROJECT_FILE, "mcp_servers", "ledger") == {**ENTRY, "env_vars": ["ZONE"]}


@pytest.mark.parametrize("end", ["\n", ""], ids=["final", "no-final"])
def test_t15_an_entry_in_the_middle_of_a_crlf_file_is_changed_and_goes(tmp_path: Path, end: str) -> None:
    home = Home(tmp_path, quick=True)
    first = "[notice]\r\nseen = true # a\r\n"
    home.file(CODEX, first)
    home.install("codex")
    after = home.read(CODEX) + b"\r\n[tui]\r\ntheme = 'x'" + end.replace("\n", "\r\n").encode()
    home.file(CODEX, after)
    assert home.install("codex", *MORE).exit == 0
    made = home.read(CODEX)
    assert made == after.replace(b'["serve"]', b'["serve", "--more"]')
    assert kept(first, made)
    home.uninstall("codex")
    left = home.read(CODEX)
    assert left.count(b"\n") == left.count(b"\r\n")
    assert tomllib.loads(left.decode()) == {"notice": {"seen": True}, "tui": {"theme": "x"}}
