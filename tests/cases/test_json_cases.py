"""J: comments, marks and what is not certain in a JSON file, by the whole command. See tests/installer/edit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases.machine import (
    CLAUDE,
    COMMAND,
    CURSOR,
    DESKTOP,
    LEDGER,
    MUSE,
    OPENCODE,
    PROJECT,
    Home,
    kept,
    read_json,
    refused,
    said,
    written,
)
from tests.harness import Completed

LOCAL = {"type": "local", "command": [COMMAND, "serve"], "enabled": True}
STDIO = {"type": "stdio", "command": COMMAND, "args": ["serve"]}
BOM = b"\xef\xbb\xbf"

NIGHT_SHIFT = """{
	// night shift servers
	"mcp": {
		/* off until the audit ends
		"tally": { "type": "local", "command": ["/opt/tally/tally"] },
		*/
		"rota": { "type": "local", "command": ["/opt/rota/rota"] }, // do not move
	},
	"keybinds": {}, // none yet
}
"""
TEAM = """{
  "$schema": "https://opencode.ai/config.json",
  // team default
  "model": "house/large-2",
  "mcp": {
    "rota": { "type": "local", "command": ["/opt/rota/rota"], "enabled": true } // live
  },
  "permission": { "edit": "ask" }
}
"""
IN_STRINGS = r"""{
  "$schema": "https://opencode.ai/config.json", // schema
  "instructions": ["docs/**/*.md", "say \"// no\" once", "a,] b,} c", "C:\\", "/* // */", "\\\"//"],
  "mcp": {
    "far": { "type": "remote", "url": "http://127.0.0.1:4410/mcp//v1", "headers": { "a,}": "// b" } }
  }
}
"""
LAST_COMMA = """{
  "mcp": {
    "rota": {
      "type": "local",
      "command": ["/opt/rota/rota"], // main
    }, /* last */ // really last
    // end of list
  },
}
"""
COMMENTED_OUT = """{
   "mcp": {
      // "ledger": { "type": "local", "command": ["/old/ledger"] },
      /* } ] */ "rota" /* { */ : { "type": "local", "command": ["/opt/rota/rota"] } /* , */
      // nothing follows
   } // }
}
"""


@pytest.mark.parametrize("name", [OPENCODE, ".config/opencode/opencode.jsonc"], ids=["json", "jsonc"])
@pytest.mark.parametrize(
    ("source", "commas", "indentation"),
    [
        pytest.param(NIGHT_SHIFT, 0, "\t\t", id="j01"),
        pytest.param(TEAM, 1, "    ", id="j02"),
        pytest.param(IN_STRINGS, 1, "    ", id="j03"),
        pytest.param(LAST_COMMA, 0, "    ", id="j16"),
        pytest.param(COMMENTED_OUT, 1, "      ", id="own"),
    ],
)
def test_j01_j02_j03_j16_comments_strings_and_commas_survive(
    tmp_path: Path, source: str, commas: int, indentation: str, name: str
) -> None:
    home = Home(tmp_path)
    home.file(name, source)
    once = written(home, name, lambda: home.install("opencode"), home.install("opencode"))
    before = read_json(source)
    assert kept(source, once, commas=commas)
    assert b",," not in once.replace(b'"a,]', b"")
    assert home.value(name) == {**before, "mcp": {**before["mcp"], "ledger": LOCAL}}
    assert any(line.startswith(indentation + '"ledger"') for line in once.decode().splitlines())
    home.uninstall("opencode")
    assert home.unchanged()


def test_j01_comments_survive_an_update_and_a_key_that_a_person_added(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.install("opencode")
    mine = (
        home.read(OPENCODE)
        .decode()
        .replace('"enabled": true', '"enabled": true, // mine\n      "timeout": 9000 /* ms */')
    )
    home.file(OPENCODE, mine)
    home.install("opencode", "--name", "ledger", "--", COMMAND, "serve", "--more")
    assert home.read(OPENCODE).decode() == mine.replace('"serve"\n', '"serve",\n        "--more"\n')


@pytest.mark.parametrize(
    ("client", "name", "container"),
    [("cursor", CURSOR, "mcpServers"), ("opencode", OPENCODE, "mcp"), ("claude-code", CLAUDE, "mcpServers"),
     ("claude-desktop", DESKTOP, "mcpServers")],
    ids=["cursor", "opencode", "claude-code", "claude-desktop"],
)  # fmt: skip
class TestWhatIsRefused:
    """Faults of a file, in every client that keeps JSON; CONTAINER is the client's own word for it."""

    @pytest.mark.parametrize(
        ("source", "names"),
        [
            pytest.param('{\n  "CONTAINER": {\n    "a": {}\n    "b": {}\n  }\n}\n', ["line 4"], id="j04-missing-comma"),
            pytest.param('{\n  "CONTAINER": {\n    "a": {},\n', ["line 4"], id="j04-cut-off"),
            pytest.param('{\n  "CONTAINER": {}\n\n]\n', ["line 4"], id="j04-wrong-bracket"),
            pytest.param("{\n  'CONTAINER': {}\n}\n", ["line 2"], id="j04-single-quotes"),
            pytest.param('{\n  "CONTAINER": {},\n  ,\n}\n', ["line 3"], id="j04-two-commas"),
            pytest.param('{\n  "a": "b\nc",\n  "CONTAINER": {}\n}\n', ["line 2"], id="j04-open-string"),
            pytest.param('{\n  "CONTAINER": [\n    { "name": "a" }\n  ]\n}\n', ["CONTAINER", "line 2"], id="j05-list"),
            pytest.param('{\n  "CONTAINER": null\n}\n', ["CONTAINER", "null"], id="j05-null"),
            pytest.param('{\n  "CONTAINER": "off"\n}\n', ["CONTAINER", "string"], id="j05-string"),
            pytest.param('{\n  "CONTAINER": false\n}\n', ["CONTAINER", "line 2"], id="j05-false"),
            pytest.param("[]\n", ["line 1", "list"], id="j05-root"),
            pytest.param(b"\xff\xfe" + '{"CONTAINER": {}}\r\n'.encode("utf-16-le"), ["UTF-16"], id="j08-utf-16-le"),
            pytest.param(b"\xfe\xff" + '{"CONTAINER": {}}\n'.encode("utf-16-be"), ["UTF-16"], id="j08-utf-16-be"),
            pytest.param('{"CONTAINER": {}}\r\n'.encode("utf-16-le"), ["UTF-16"], id="j08-utf-16-no-mark"),
            pytest.param('{"CONTAINER": {}}\n'.encode("utf-32"), ["UTF-32"], id="j08-utf-32"),
            pytest.param('{"a": "é", "CONTAINER": {}}'.encode("latin-1"), ["UTF-8"], id="j08-latin-1"),
            pytest.param('{\n  "CONTAINER": {},\n  "n": 4,\n  "CONTAINER": {}\n}\n', ["CONTAINER", "line 2", "line 4"],
                         id="j13-container"),
            pytest.param('{\n  "CONTAINER": {\n    "ledger": {},\n    "ledger": {}\n  }\n}\n',
                         ["ledger", "line 3", "line 4"], id="j13-entry"),
            pytest.param('{\n  "CONTAINER": {},\n  "ESCAPED": {}\n}\n', ["CONTAINER", "line 2", "line 3"],
                         id="j13-escaped"),
            pytest.param('{\n  "CONTAINER": {}\n}\n{\n  "CONTAINER": {}\n}\n', ["line 4"], id="j15-second-object"),
            pytest.param('{\n  "CONTAINER": {}\n}\nend\n', ["line 4"], id="j15-text"),
            pytest.param(b'{\n  "CONTAINER": {}\n}\n\0\0', ["line 4"], id="j15-nul-bytes"),
            pytest.param('{\n<<<<<<< mine\n  "a": 1\n=======\n', ["merge", "line 2"], id="own-conflict-markers"),
            pytest.param("[" * 100_000, ["line 1"], id="own-deep"),
        ],
    )  # fmt: skip
    def test_j04_j05_j08_j13_j15_a_file_that_is_not_certain_is_refused_and_printing_still_helps(
        self, tmp_path: Path, client: str, name: str, container: str, source: str | bytes, names: list[str]
    ) -> None:
        home = Home(tmp_path, quick=True)
        raw = source.encode() if isinstance(source, str) else source
        escaped = f"\\u{ord(container[0]):04x}{container[1:]}"
        for encoding in ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le"):
            raw = raw.replace("CONTAINER".encode(encoding), container.encode(encoding))
        home.file(name, raw.replace(b"ESCAPED", escaped.encode()))
        words = [word.replace("CONTAINER", container) for word in names]
        done = home.install(client, "--json", *LEDGER)
        error = done.envelope["error"]
        assert (done.exit, error["details"]["file"]) == (1, str(home.path / name))
        assert [word for word in (str(home.path / name), *words) if word not in error["message"]] == []
        assert (home.unchanged(), home.litter()) == (True, set())
        printed = home.run("install", "--client", client, *LEDGER)
        assert printed.exit == 0
        assert json.loads(printed.stdout)[container].keys() == {"ledger"}


@pytest.mark.parametrize(
    ("client", "level", "name", "container"),
    [
        ("cursor", "user", CURSOR, "mcpServers"),
        ("claude-code", "project", f"{PROJECT}/.mcp.json", "mcpServers"),
        ("claude-desktop", "user", DESKTOP, "mcpServers"),
        ("opencode", "project", f"{PROJECT}/opencode.json", "mcp"),
        ("muse-code", "user", MUSE, "mcp_servers"),
    ],
)
@pytest.mark.parametrize("source", [BOM, b"", b"\n  \n", BOM + b"\r\n", b" \t"], ids=repr)
def test_j06_a_file_with_nothing_in_it_gets_the_entry_and_is_blank_again(
    tmp_path: Path, client: str, level: str, name: str, container: str, source: bytes
) -> None:
    home = Home(tmp_path, quick=True)
    home.file(name, source)

    def run() -> Completed:
        return home.install(client, level=level)

    made = written(home, name, run, run())
    command = home.value(name, container, "ledger", "command")
    assert command == ([COMMAND, "serve"] if client == "opencode" else COMMAND)
    assert made.endswith((b"}\n", b"}\r\n"))
    assert made.startswith(BOM) == (source.startswith(BOM) and client != "claude-desktop")
    home.run("uninstall", "ledger", "--client", client, "--level", level, "--write")
    assert home.unchanged() or client == "claude-desktop"


CRLF = b'{\r\n  "mcpServers": {\r\n    "rota": { "command": "/opt/rota/rota" }\r\n  }\r\n}\r\n'


def test_j07_a_mark_that_claude_desktop_cannot_read_goes_and_is_told(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(DESKTOP, BOM + CRLF)
    done = home.install("claude-desktop")
    assert "byte order mark" in said(done)
    made = written(home, DESKTOP, lambda: home.install("claude-desktop"), done)
    assert kept(CRLF, made, commas=1)
    assert made.count(b"\n") == made.count(b"\r\n")
    assert set(home.value(DESKTOP, "mcpServers")) == {"rota", "ledger"}
    home.run("undo", "--write")
    assert home.unchanged()


@pytest.mark.parametrize(("client", "name"), [("cursor", CURSOR), ("claude-code", CLAUDE)])
def test_j07_a_mark_that_the_client_reads_stays(tmp_path: Path, client: str, name: str) -> None:
    home = Home(tmp_path)
    home.file(name, BOM + CRLF)
    assert home.install(client).exit == 0
    assert kept(BOM + CRLF, home.read(name), commas=1)


def test_j07_only_the_mark_to_take_is_a_change_too(tmp_path: Path) -> None:
    """The entry stands already; without the mark's going the client would still not read it."""
    home = Home(tmp_path)
    home.install("claude-desktop")
    plain = home.read(DESKTOP)
    home.file(DESKTOP, BOM + plain)
    assert home.install("claude-desktop", "--json", *LEDGER).envelope["result"]["clients"][0]["outcome"] == "updated"
    assert home.read(DESKTOP) == plain


@pytest.mark.parametrize(
    ("client", "name"),
    [("claude-desktop", DESKTOP), ("claude-code", CLAUDE), ("muse-code", MUSE)],
    ids=["claude-desktop", "claude-code", "muse-code"],
)
@pytest.mark.parametrize(
    "source",
    [
        '{\n  "schema_version": 1,\n  "mcpServers": {},\n}\n',
        '{\n  "schema_version": 1,\n  // here\n  "mcpServers": {}\n}\n',
        '{\n  "schema_version": 1,\n  "mcpServers": { "a": {}, }\n}\n',
    ],
    ids=["trailing-comma", "comment", "inside"],
)
def test_j16_a_comma_or_comment_too_many_is_told_where_the_client_reads_strict_json(
    tmp_path: Path, client: str, name: str, source: str
) -> None:
    home = Home(tmp_path, quick=True)
    home.file(name, source)
    done = home.install(client, "--json", *LEDGER)
    assert done.envelope["error"]["code"] == "client_cannot_read"
    refused(home, done, str(home.path / name), "line 3")


@pytest.mark.parametrize("container", ["mcpServers", "mcp_servers"])
@pytest.mark.parametrize(
    ("value", "name"),
    [("[]", "list"), ("null", "null"), ('"off"', "string"), ("{}, CONTAINER: {}", "line 3")],
    ids=["j05-list", "j05-null", "j05-string", "j13-twice"],
)
def test_j05_j13_muse_codes_two_containers_are_looked_at_alike(
    tmp_path: Path, container: str, value: str, name: str
) -> None:
    home = Home(tmp_path, quick=True)
    source = '{\n  "schema_version": 1,\n  CONTAINER: ' + value + "\n}\n"
    home.file(MUSE, source.replace("CONTAINER", f'"{container}"'))
    refused(home, home.install("muse-code"), str(home.path / MUSE), container, name)
