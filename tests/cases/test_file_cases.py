"""J and T: what stands in a file, through the whole command. The edits themselves are in tests/installer/edit."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases.machine import Home, as_text, refused, said

ROTA = '{ "command": "/opt/rota/rota" }'
CURSOR = ".cursor/mcp.json"
CODEX = ".codex/config.toml"
OPENCODE = ".config/opencode/opencode.json"


def lines_kept(old: bytes, new: bytes) -> bool:
    """Every old line is there in order, but for one that got a comma."""
    lines = iter(new.decode().splitlines())
    changed = 0
    for line in old.decode().splitlines():
        for candidate in lines:
            if candidate == line:
                break
            if candidate.count(",") == line.count(",") + 1 and candidate.replace(",", "") == line.replace(",", ""):
                changed += 1
                break
        else:
            return False
    return changed <= 1


COMMENTED = """{
	// off for now
	"mcp": {
		/* "tally": {} */
		"rota": { "type": "local", "command": ["/opt/rota"] }, // stay
	},
	"model": "x", // none
}
"""
TEAM = """{
  // team default
  "mcp": {
    "rota": { "type": "local", "command": ["/opt/rota"] } // live
  },
  "permission": { "edit": "ask" }
}
"""
STRINGS = """{
  "instructions": ["docs/**/*.md", "say \\"// no\\" once", "a,] b,} c"],
  "mcp": {
    "far": { "type": "remote", "url": "http://127.0.0.1:4410/mcp//v1" }
  }
}
"""


@pytest.mark.parametrize("source", [COMMENTED, TEAM, STRINGS], ids=["j01-j16", "j02", "j03"])
def test_comments_and_strings_survive_and_the_second_run_changes_nothing(tmp_path: Path, source: str) -> None:
    home = Home(tmp_path)
    home.file(OPENCODE, source)
    assert home.install("opencode").exit == 0
    once = home.read(OPENCODE)
    assert lines_kept(source.encode(), once)
    assert home.value(OPENCODE, "mcp", "ledger", "command") == ["/opt/ledger/bin/ledger", "serve"]
    home.install("opencode")
    assert home.read(OPENCODE) == once


def test_j17_uninstall_gives_a_commented_file_back(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(
        OPENCODE,
        '{\n  // hdr\n  "mcp": {\n    "r": { "type": "local", "command": ["/r"] }, // r\n\n    // tail\n  },\n}\n',
    )
    home.install("opencode")
    home.run("uninstall", "ledger", "--client", "opencode", "--write")
    assert home.unchanged()


@pytest.mark.parametrize(
    ("source", "names"),
    [
        pytest.param('{\n  "mcpServers": {\n    "a": {}\n    "b": {}\n  }\n}\n', ["line 4"], id="j04-missing-comma"),
        pytest.param('{\n  "mcpServers": [\n    1\n  ]\n}\n', ["mcpServers", "line 2"], id="j05-list"),
        pytest.param('{\n  "mcpServers": null\n}\n', ["mcpServers", "null"], id="j05-null"),
        pytest.param(b"\xff\xfe" + '{"mcpServers": {}}\r\n'.encode("utf-16-le"), ["UTF-16"], id="j08-utf-16"),
        pytest.param(b'{"a": "\xff"}', ["UTF-8"], id="j08-no-utf-8"),
        pytest.param('{\n  "mcpServers": {},\n  "n": 4,\n  "mcpServers": {}\n}\n', ["mcpServers", "line 2", "line 4"],
                     id="j13-duplicate-container"),
        pytest.param('{\n  "mcpServers": {}\n}\n{\n}\n', ["line 4"], id="j15-trailing-data"),
        pytest.param('{\n<<<<<<< mine\n  "a": 1\n=======\n', ["merge"], id="conflict-markers"),
        pytest.param("[" * 100_000, ["line 1"], id="deep"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_certain_is_refused_and_printing_still_helps(
    tmp_path: Path, source: str | bytes, names: list[str]
) -> None:
    home = Home(tmp_path)
    home.file(CURSOR, source)
    refused(home, home.install("cursor"), str(home.path / CURSOR), *names)
    printed = home.run("install", "--client", "cursor", "--name", "ledger", "--", "/opt/ledger/bin/ledger")
    assert printed.exit == 0
    assert json.loads(printed.stdout)["mcpServers"]["ledger"]["command"] == "/opt/ledger/bin/ledger"
    envelope = home.install("cursor", "--json", "--name", "ledger", "--", "/x").envelope
    assert (envelope["ok"], envelope["error"]["details"]["file"]) == (False, str(home.path / CURSOR))


@pytest.mark.parametrize("source", [b"\xef\xbb\xbf", b"", b"\n  \n"], ids=["mark-only", "empty", "blank"])
def test_j06_a_file_with_nothing_in_it_gets_the_entry_and_is_blank_again(tmp_path: Path, source: bytes) -> None:
    home = Home(tmp_path)
    home.file(CURSOR, source)
    assert home.install("cursor").exit == 0
    made = home.read(CURSOR)
    assert made.startswith(source[:3] if source.startswith(b"\xef") else b"{")
    assert made.endswith(b"}\n")
    assert json.loads(made.decode("utf-8-sig"))["mcpServers"]["ledger"]["command"] == "/opt/ledger/bin/ledger"
    home.run("uninstall", "ledger", "--client", "cursor", "--write")
    assert home.unchanged()


def test_j07_a_mark_that_claude_desktop_cannot_read_goes_and_is_told(tmp_path: Path) -> None:
    home = Home(tmp_path)
    name = ".config/Claude/claude_desktop_config.json"
    home.file(name, b'\xef\xbb\xbf{\r\n  "mcpServers": {\r\n    "rota": { "command": "/opt/rota" }\r\n  }\r\n}\r\n')
    done = home.install("claude-desktop")
    assert "byte order mark" in said(done)
    made = home.read(name)
    assert not made.startswith(b"\xef\xbb\xbf")
    assert made.count(b"\n") == made.count(b"\r\n")
    assert set(home.value(name, "mcpServers")) == {"rota", "ledger"}


@pytest.mark.parametrize("end", ["", "\r\n"], ids=["no-final-newline", "final-newline"])
def test_j09_line_ends_stay(tmp_path: Path, end: str) -> None:
    home = Home(tmp_path)
    old = home.file(
        CURSOR, '{\r\n  "mcpServers": {\r\n    "rota": {\r\n      "command": "/r"\r\n    }\r\n  }\r\n}' + end
    )
    source = old.read_bytes()
    home.install("cursor")
    made = home.read(CURSOR)
    assert made.count(b"\n") == made.count(b"\r\n")
    assert made.endswith(b"}" + end.encode())
    assert lines_kept(source, made)


def test_j12_other_peoples_spelling_stays_and_ours_is_plain(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(
        CURSOR, '{\n  "note": "Grüße 🌙",\n  "escaped": "caf\\u00e9 \\/ bar",\n  "n": 1E400,\n  "mcpServers": {}\n}\n'
    )
    home.install("cursor", "--name", "ledger", "--", "/x", "--title", "Журнал №1")
    made = home.read(CURSOR).decode()
    assert all(text in made for text in ("Grüße 🌙", "caf\\u00e9 \\/ bar", "1E400", "Журнал №1"))


def test_j14_projects_that_differ_by_case_are_two(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(".claude.json", as_text({"projects": {"C:/W": {"a": 1}, "c:/w": {"a": 2}}, "mcpServers": {}}))
    assert home.install("claude-code").exit == 0
    assert home.value(".claude.json", "projects") == {"C:/W": {"a": 1}, "c:/w": {"a": 2}}


def test_j19_a_file_of_64_mb_gets_one_piece_in_little_memory(tmp_path: Path) -> None:
    home = Home(tmp_path)
    history = [{"display": "x" * 900 + str(number)} for number in range(650)]
    projects = {f"/srv/p{number}": {"history": history} for number in range(100)}
    content = {"numStartups": 7, "projects": projects, "mcpServers": {"rota": {"command": "/opt/rota"}}}
    old = home.file(".claude.json", json.dumps(content, indent=2)).read_bytes()
    code = "import sys; from homeport.cli.main import main; sys.exit(main(sys.argv[1:]))"
    words = ["install", "--client", "claude-code", "--write", "--via", "file", "--name", "ledger", "--", "/x"]
    subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=home.path,
        env={"HOME": str(home.path)},
        check=True,
        capture_output=True,
    )
    peak_bytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    new = home.read(".claude.json")
    start = next(at for at in range(len(old)) if old[at : at + 4096] != new[at : at + 4096])
    assert new.endswith(old[start + 4096 :])
    assert home.value(".claude.json", "mcpServers", "ledger", "command") == "/x"
    assert peak_bytes < 9 * len(old)
    assert home.litter() == set()


def test_j20_the_entry_stands_at_its_place_and_nowhere_else(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(OPENCODE, '{ "mcp": {} }\n')
    home.install("opencode")
    assert set(home.value(OPENCODE)) == {"mcp"}
    assert set(home.value(OPENCODE, "mcp", "ledger")) <= {"type", "command", "enabled"}


def test_t01_t13_other_tables_stay_as_spelled(tmp_path: Path) -> None:
    home = Home(tmp_path)
    source = home.file(
        CODEX,
        '# ask first\nmodel = "house-1"\nbig = 9_007\nmask = 0xFF\nlow = -0.0\n\n# paid!\n[mcp_servers.rota]\n'
        'command = "/opt/rota"     # pinned\nargs = [ "serve", ]\nstartup_timeout_sec = 30\nweekend = \'off\'\n\n'
        '[tui]\ntheme = "dusk"\n',
    ).read_bytes()
    assert home.install("codex").exit == 0
    once = home.read(CODEX)
    assert lines_kept(source, once)
    home.install("codex")
    assert home.read(CODEX) == once
    home.run("uninstall", "ledger", "--client", "codex", "--write", "--via", "file")
    assert home.unchanged()


def test_t04_an_inline_parent_takes_the_entry_on_its_line(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(CODEX, 'mcp_servers = { rota = { command = "/opt/rota" } } # end\nmodel = "x"\n')
    home.install("codex")
    assert home.value(CODEX, "mcp_servers", "ledger") == {"command": "/opt/ledger/bin/ledger", "args": ["serve"]}
    assert b"# end" in home.read(CODEX)


def test_t07_backslashes_arrive(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.install("codex", "--name", "ledger", "--", r"C:\Users\nora\ledger.exe", "--root", r"C:\new\o'clock")
    found = home.value(CODEX, "mcp_servers", "ledger")
    assert (found["command"], found["args"][1]) == (r"C:\Users\nora\ledger.exe", r"C:\new\o'clock")


def test_t08_a_dotted_name_is_one_key(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.install("codex", "--name", "acme.ledger", "--", "/x")
    assert home.value(CODEX, "mcp_servers") == {"acme.ledger": {"command": "/x"}}


def test_t10_a_table_defined_twice_is_refused(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(
        CODEX,
        '[mcp_servers.rota]\ncommand = "/a"\n\n[mcp_servers.x]\ncommand = "/b"\n\n[mcp_servers.rota]\ncommand = "/c"\n',
    )
    refused(home, home.install("codex"), str(home.path / CODEX), "line 7")


def test_t14_variables_stand_where_codex_reads_them(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(CODEX, "")
    home.install("codex", "--name", "ledger", "--env", "LEDGER_LIMIT=3", "--env", "LEDGER_TOKEN", "--", "/x")
    assert home.value(CODEX, "mcp_servers", "ledger") == {
        "command": "/x",
        "env_vars": ["LEDGER_TOKEN"],
        "env": {"LEDGER_LIMIT": "3"},
    }
