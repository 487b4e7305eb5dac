"""J once more, by another road: the kinds of fault that test_json_cases.py tells, in other files and other moments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from homeport.installer.clients.references import plain_text
from homeport.installer.clients.values import Registration, Stdio
from homeport.installer.plan.request import InstallRequest
from tests.cases.machine import (
    CLAUDE,
    COMMAND,
    CURSOR,
    DESKTOP,
    LEDGER,
    OPENCODE,
    PROJECT,
    Home,
    kept,
    planned,
    read_json,
    refused,
    said,
    written,
)
from tests.harness import run_homeport
from tests.made import MadeDisk, make_environment

LOCAL = {"type": "local", "command": [COMMAND, "serve"], "enabled": True}
STDIO = {"type": "stdio", "command": COMMAND, "args": ["serve"]}
BOM = b"\xef\xbb\xbf"
OPENCODE_PROJECT = f"{PROJECT}/opencode.jsonc"


def test_j01_what_a_person_adds_after_our_entry_stays_when_ours_goes(tmp_path: Path) -> None:
    home = Home(tmp_path)
    first = '{\r\n\t// day shift\r\n\t"mcp": {\r\n\t\t"rota": { "type": "local", "command": ["/r"] }\r\n\t}\r\n}\r\n'
    home.file(OPENCODE_PROJECT, first)
    assert home.install("opencode", level="project").exit == 0
    end = "\r\n\t}\r\n}\r\n"
    theirs = ',\r\n\t\t// mine, keep\r\n\t\t"tally": { "type": "local", "command": ["/t"] } /* new */' + end
    ours = home.read(OPENCODE_PROJECT).decode().removesuffix(end)
    home.file(OPENCODE_PROJECT, ours + theirs)
    done = home.uninstall("opencode", "ledger", "--level", "project")
    assert done.exit == 0, said(done)
    assert home.read(OPENCODE_PROJECT).decode() == first.removesuffix(end) + theirs


def test_j02_comments_in_cursors_json_stay(tmp_path: Path) -> None:
    home = Home(tmp_path)
    source = (
        '{\n  "mcpServers": {\n    // "tally": { "command": "/t" },\n    "rota": { "command": "/r" } // live\n  }\n}\n'
    )
    home.file(CURSOR, source)
    once = written(home, CURSOR, lambda: home.install("cursor"), home.install("cursor"))
    assert kept(source, once, commas=1)
    assert read_json(once)["mcpServers"].keys() == {"rota", "ledger"}


def test_j03_keys_that_look_like_comments_are_keys(tmp_path: Path) -> None:
    """People write notes into strict JSON as members named `//`, also twice in one object."""
    home = Home(tmp_path)
    source = """{
  "//": "servers below, not /* here",
  "mcpServers": {
    "//": "say \\"*/\\" and end in a backslash \\\\",
    "//mcpServers": { "command": "/*" },
    "rota": { "command": "/opt/rota", "args": ["//", "/* ", "}", ",]"] }
  },
  "//": "second note"
}
"""
    home.file(CLAUDE, source)
    once = written(home, CLAUDE, lambda: home.install("claude-code"), home.install("claude-code"))
    assert kept(source, once, commas=1)
    assert home.value(CLAUDE, "mcpServers") == {**json.loads(source)["mcpServers"], "ledger": STDIO}
    home.uninstall("claude-code")
    assert home.unchanged()


@pytest.mark.parametrize(
    ("tail", "line"),
    [
        ('  "a": NaN\n}\n', 5),
        ('  "a": 0x1F\n}\n', 5),
        ('  "a": 012\n}\n', 5),
        ('  "a": +1\n}\n', 5),
        ("  a: 1\n}\n", 5),
        ('  "a": "\\x41"\n}\n', 5),
        ('  "a": "b\tc"\n}\n', 5),
        ('  "a": tru\n}\n', 5),
        ('  "a": 1,,\n  "b": 2\n}\n', 5),
        ('  "a" 1\n}\n', 5),
        ('  "a": [1 2]\n}\n', 5),
        ('  "a": 1\n', 6),
    ],
)
@pytest.mark.parametrize(("client", "name"), [("cursor", CURSOR), ("claude-code", CLAUDE), ("claude-desktop", DESKTOP)])
def test_j04_a_fault_far_behind_our_place_is_a_fault_of_the_file(
    tmp_path: Path, client: str, name: str, tail: str, line: int
) -> None:
    home = Home(tmp_path, quick=True)
    home.file(name, '{\n  "mcpServers": {\n    "rota": { "command": "/r" }\n  },\n' + tail)
    refused(home, home.install(client), str(home.path / name), f"line {line}")
    refused(home, home.uninstall(client, "rota", "--replace"), str(home.path / name), f"line {line}")


@pytest.mark.parametrize("value", ["[]", '"off"', "null", "false", "3", '[{"command": "/x"}]'])
@pytest.mark.parametrize(
    ("client", "name", "container"), [("cursor", CURSOR, "mcpServers"), ("opencode", OPENCODE, "mcp")]
)
def test_j05_an_entry_of_the_wrong_type_is_somebody_elses(
    tmp_path: Path, client: str, name: str, container: str, value: str
) -> None:
    home = Home(tmp_path, quick=True)
    home.file(name, '{\n  "' + container + '": {\n    "ledger": ' + value + "\n  }\n}\n")
    refused(home, home.install(client), str(home.path / name), "ledger")
    refused(home, home.uninstall(client), "ledger")
    assert home.install(client, "--replace", *LEDGER).exit == 0
    command = home.value(name, container, "ledger", "command")
    assert command == ([COMMAND, "serve"] if client == "opencode" else COMMAND)


@pytest.mark.parametrize("source", ["// nothing yet\n", "/* off */", BOM + b"// a\r\n\r\n"], ids=repr)
def test_j06_comments_alone_are_no_configuration(tmp_path: Path, source: str | bytes) -> None:
    """OpenCode takes an empty file for none, and stops at one that holds a comment and no value."""
    home = Home(tmp_path, quick=True)
    home.file(OPENCODE_PROJECT, source)
    refused(home, home.install("opencode", level="project"), str(home.path / OPENCODE_PROJECT), "line", "value")


def test_j07_a_mark_inside_the_file_is_no_mark(tmp_path: Path) -> None:
    """Two marks, or one behind a blank, are a letter where none may be: no client reads that file."""
    home = Home(tmp_path, quick=True)
    for source in (BOM + BOM + b'{"mcpServers": {}}\n', b"\n" + BOM + b'{"mcpServers": {}}\n'):
        home.file(DESKTOP, source)
        refused(home, home.install("claude-desktop"), str(home.path / DESKTOP), "line")


def test_j07_the_mark_goes_from_a_file_named_by_hand_too(tmp_path: Path) -> None:
    home = Home(tmp_path)
    old = b'{\r\n  "mcpServers": {\r\n    "rota": { "command": "/r" }\r\n  }\r\n}\r\n'
    path = home.file("Library/Application Support/Claude/claude_desktop_config.json", BOM + old)
    done = home.install("claude-desktop", "--config", str(path), *LEDGER)
    assert done.exit == 0, said(done)
    assert "byte order mark" in said(done)
    made = path.read_bytes()
    assert kept(old, made, commas=1)
    assert (made.count(b"\r\n"), read_json(made)["mcpServers"].keys()) == (made.count(b"\n"), {"rota", "ledger"})


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_j08_every_command_says_utf_16_and_leaves_it(tmp_path: Path, encoding: str) -> None:
    home = Home(tmp_path, quick=True)
    home.file(f"{PROJECT}/.mcp.json", '{"mcpServers": {"ledger": {"command": "/x"}}}\r\n'.encode(encoding))
    path = str(home.project / ".mcp.json")
    refused(home, home.install("claude-code", level="project"), path, "UTF-16")
    refused(home, home.uninstall("claude-code", "ledger", "--level", "project"), path, "UTF-16")
    for words in (("status", "--client", "claude-code"), ("list", "--client", "claude-code")):
        assert "UTF-16" in said(home.run(*words))
    assert (home.unchanged(), home.litter()) == (True, set())


@pytest.mark.parametrize(
    "source",
    [
        '{\r  "mcpServers": {\r    "rota": { "command": "/r" }\r  }\r}\r',
        '{\r\n  "note": "a\u2028b\u2029c\u0085d",\r\n  "mcpServers": {\r\n    "rota": { "command": "/r" }\r\n  }\r\n}',
    ],
    ids=["cr-alone", "separators-in-a-string"],
)
def test_j09_what_is_no_line_end_does_not_count_as_one(tmp_path: Path, source: str) -> None:
    home = Home(tmp_path)
    home.file(CURSOR, source)
    made = written(home, CURSOR, lambda: home.install("cursor"), home.install("cursor"))
    assert kept(source, made, commas=1)
    end = "\r\n" if "\n" in source else "\r"
    bare = made.decode().replace(end, "")
    assert "\r" not in bare
    assert "\n" not in bare
    assert home.value(CURSOR, "mcpServers").keys() == {"rota", "ledger"}
    assert made.decode().endswith(source[-1])
    home.uninstall("cursor")
    assert home.unchanged()


@pytest.mark.parametrize(
    "words",
    [
        [b"--", b"/opt/x", b"caf\xe9"],
        [b"--env", b"A=b\xe9", b"--", b"/opt/x"],
        [b"--env", b"A\xe9=b", b"--", b"/opt/x"],
        [b"--cwd", b"/opt/\xe9", b"--", b"/opt/x"],
        [b"--header", b"X-A: \xe9", b"http://127.0.0.1:1/mcp"],
        [b"--from", b"pasted.json"],
    ],
    ids=["argument", "value", "name", "folder", "header", "snippet"],
)
@pytest.mark.parametrize(("client", "name"), [(b"cursor", CURSOR), (b"opencode", OPENCODE)])
def test_j12_a_word_that_is_no_text_is_refused_and_not_bent(
    tmp_path: Path, client: bytes, name: str, words: list[bytes]
) -> None:
    """A shell hands over any bytes; escaped as half a surrogate pair, the server would be given another word."""
    home = Home(tmp_path)
    home.file(name, "{}\n")
    home.file(f"{PROJECT}/pasted.json", '{"ledger": {"command": "/opt/x", "args": ["\\ud800"]}}')
    done = subprocess.run(
        [os.fsencode(sys.executable), b"-m", b"homeport", b"install", b"--client", client, b"--write",
         b"--name", b"ledger", *words],
        cwd=home.project,
        env={"HOME": str(home.path), "PATH": os.environ["PATH"]},
        capture_output=True,
        timeout=60,
    )  # fmt: skip
    assert (done.returncode, b"not UTF-8" in done.stderr, b"Traceback" in done.stderr) == (2, True, False)
    assert (home.unchanged(), home.litter()) == (True, set())


def test_j13_a_key_twice_is_told_by_every_command(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(CURSOR, '{\n  "mcpServers": {\n    "ledger": { "command": "/a" }\n  },\n  "mcpServers": {}\n}\n')
    for done in (home.install("cursor"), home.uninstall("cursor"), home.uninstall("cursor", "ledger", "--replace")):
        refused(home, done, str(home.path / CURSOR), "mcpServers", "line 2", "line 5")
    assert "mcpServers" in said(home.run("status", "--client", "cursor"))


def test_j14_on_windows_keys_that_differ_by_case_are_two_as_well() -> None:
    environment = make_environment("win32")
    lines = (
        "{",
        '  "projects": {',
        '    "C:/Work/Depot": { "allowedTools": ["a"] },',
        '    "c:/work/depot": { "allowedTools": ["b"] }',
        "  },",
        '  "mcpServers": {',
        '    "Ledger": { "command": "/opt/other" }',
        "  }",
        "}",
        "",
    )
    source = "\r\n".join(lines).encode()
    server = Registration("ledger", Stdio(plain_text(COMMAND), (plain_text("serve"),)))
    request = InstallRequest((server,), via="file", writes=True)
    [step] = planned("claude-code", request, environment, MadeDisk(environment, {"~/.claude.json": source})).steps
    assert step.after is not None
    assert kept(source, step.after, commas=1)
    before = json.loads(source)
    assert json.loads(step.after) == {**before, "mcpServers": {**before["mcpServers"], "ledger": STDIO}}


def test_j14_uninstall_takes_the_name_as_it_is_spelled(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(CURSOR, '{\n  "mcpServers": {\n    "LEDGER": { "command": "/x" }\n  }\n}\n')
    home.install("cursor")
    assert home.uninstall("cursor").exit == 0
    assert home.unchanged()


@pytest.mark.parametrize(
    "tail", ["}\n", ",\n", "\n;\n", "\x0b\n", "\u00a0", "\n// end\n{}", '"', "\n0", "/*", "/"], ids=repr
)
def test_j15_nothing_but_comments_and_blanks_may_follow(tmp_path: Path, tail: str) -> None:
    home = Home(tmp_path, quick=True)
    home.file(OPENCODE, '{\n  "mcp": {}\n}' + tail)
    refused(home, home.install("opencode"), str(home.path / OPENCODE), f"line {3 + tail.rstrip().count(chr(10))}")


def test_j16_a_comma_that_stands_behind_a_comment_is_the_comma(tmp_path: Path) -> None:
    home = Home(tmp_path)
    source = """{
  "mcp": {
    "rota": { "type": "local", "command": ["/r"] } /* before */ , // after
    "tally": {
      "type": "local", "command": ["/t"],
    }
    // the comma has a line of its own
    ,
    /* the end */
  } /* c */ , // d
}
"""
    home.file(OPENCODE, source)
    once = written(home, OPENCODE, lambda: home.install("opencode"), home.install("opencode"))
    assert kept(source, once)
    assert list(home.value(OPENCODE, "mcp")) == ["rota", "tally", "ledger"]
    home.uninstall("opencode", "tally", "--replace")
    assert home.value(OPENCODE, "mcp").keys() == {"rota", "ledger"}
    assert b"/* the end */" in home.read(OPENCODE)


@pytest.mark.parametrize(
    "source",
    [
        '{\n  // hdr\n  "mcp": {\n    "rota": { "type": "local", "command": ["/r"] }, // r\n\n    // tail\n  },\n}\n',
        "{ /* nothing */ }\n",
        "{\n\n}\n",
        '{"mcp":{},}',
    ],
    ids=["case", "only-a-comment", "blank", "comma"],
)
def test_j17_a_setting_changed_in_between_is_all_that_differs(tmp_path: Path, source: str) -> None:
    """The journal's bytes do not fit any more, so the way back is an edit of its own."""
    home = Home(tmp_path, quick=True)
    home.file(OPENCODE, source)
    home.install("opencode")
    home.file(OPENCODE, "// saved by hand\n" + home.read(OPENCODE).decode())
    home.uninstall("opencode")
    assert home.read(OPENCODE).decode() == "// saved by hand\n" + source


def test_j19_one_line_of_64_mb_with_our_container_first(tmp_path: Path) -> None:
    home = Home(tmp_path)
    history = "é" * 500_000
    rows = ",".join(f'"/srv/p{number}":{{"history":["{history}"]}}' for number in range(64))
    source = '{"mcpServers":{"rota":{"command":"/r"}},"projects":{' + rows + "}}"
    old = home.file(CLAUDE, source).read_bytes()
    code = (
        "import resource, sys; from homeport.cli.main import main; code = main(sys.argv[1:]); "
        "print(code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = home.python(code, "install", "--client", "claude-code", "--write", "--via", "file", *LEDGER)
    exit_code, memory_kib = done.stdout.split()[-2:]
    assert (exit_code, int(memory_kib) < 900 * 1024) == (b"0", True), done.stderr
    new, at = home.read(CLAUDE), len('{"mcpServers":{"rota":{"command":"/r"}')
    piece = new[at : len(new) - (len(old) - at)]
    assert (new[:at], new[at + len(piece) :] == old[at:]) == (old[:at], True)
    assert json.loads(b"{" + piece.lstrip(b",") + b"}") == {"ledger": STDIO}
    assert home.litter() == set()


@pytest.mark.parametrize(
    "pasted",
    [
        '{"mcpServers": {"ledger": {"command": "/opt/ledger/bin/ledger", "args": ["serve"]}}}',
        '{"mcp": {"ledger": {"type": "local", "command": ["/opt/ledger/bin/ledger", "serve"]}}}',
        '[mcp_servers.ledger]\ncommand = "/opt/ledger/bin/ledger"\nargs = ["serve"]\n',
        '// paste this\n{"servers": {"ledger": {"command": "/opt/ledger/bin/ledger", "args": ["serve",],},},}',
    ],
    ids=["mcpServers", "opencode", "codex", "jsonc"],
)
@pytest.mark.parametrize(
    ("client", "name", "path"), [("cursor", CURSOR, ["mcpServers"]), ("opencode", OPENCODE, ["mcp"])]
)
def test_j20_a_paste_through_stdin_lands_at_the_same_place(
    tmp_path: Path, client: str, name: str, path: list[str], pasted: str
) -> None:
    home = Home(tmp_path)
    words = ("install", "--client", client, "--from", "-", "--write")
    done = run_homeport(*words, home=home.path, cwd=home.project, input=pasted.encode())
    assert done.exit == 0, said(done)
    found = home.value(name)
    expected = LOCAL if client == "opencode" else {"command": COMMAND, "args": ["serve"]}
    assert {key: value for key, value in found[path[0]]["ledger"].items() if key in expected} == expected
    assert (found[path[0]].keys(), found.keys() - {"$schema"}) == ({"ledger"}, set(path))
