"""J: what we add follows the file, what was there stays as it was spelled, and all of it goes again."""

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
    OPENCODE,
    Home,
    as_text,
    kept,
    read_json,
    said,
    written,
)

LOCAL = {"type": "local", "command": [COMMAND, "serve"], "enabled": True}
STDIO = {"type": "stdio", "command": COMMAND, "args": ["serve"]}
BOM = b"\xef\xbb\xbf"

LINES = ("{", '  "mcpServers": {', '    "rota": {', '      "command": "/opt/rota/rota"', "    }", "  }", "}")


@pytest.mark.parametrize(
    ("source", "ends"),
    [
        ("\r\n".join(LINES), {"\r\n"}),
        ("\r\n".join(LINES) + "\r\n", {"\r\n"}),
        ("\n".join(LINES), {"\n"}),
        ("\r\n".join(LINES[:4]) + "\n" + "\n".join(LINES[4:]) + "\n", {"\r\n", "\n"}),
        ("\n".join(LINES[:2]) + "\r\n" + "\r\n".join(LINES[2:]) + "\n", {"\r\n", "\n"}),
        ('{ "mcpServers": {} }\r\n', {"\r\n"}),
        ('{"mcpServers":{"rota":{"command":"/opt/rota/rota"}}}', set()),
        ('{\r\n  "theme": "dusk"\r\n}', {"\r\n"}),
    ],
    ids=["crlf", "crlf-final", "lf-no-final", "mixed-lf-inside", "mixed-crlf-inside", "one-line", "dense",
         "no-container"],
)  # fmt: skip
def test_j09_line_ends_and_the_final_newline_stay(tmp_path: Path, source: str, ends: set[str]) -> None:
    home = Home(tmp_path)
    home.file(CURSOR, source)
    made = written(home, CURSOR, lambda: home.install("cursor"), home.install("cursor")).decode()
    found = {
        "\r\n" if line.endswith("\r\n") else "\n" for line in made.splitlines(keepends=True) if line.endswith("\n")
    }
    assert found <= ends or (not ends and found <= {"\n"})
    assert made[len(made.rstrip("\r\n")) :] == source[len(source.rstrip("\r\n")) :]
    if len(source.splitlines()) > 1:
        assert kept(source, made.encode(), commas=1)
    assert home.value(CURSOR, "mcpServers", "ledger", "command") == COMMAND
    home.uninstall("cursor")
    assert home.unchanged()


SPELLED = r"""{
  "note": "Grüße – 東の事務所 🌙",
  "escaped": "caf\u00e9 \/ bar \ud83c\udf19 \ud800",
  "numbers": [1E400, -0.0, 1.0, 10000000000000000000000001],
  "mcpServers": {}
}
"""


@pytest.mark.parametrize(("client", "name"), [("cursor", CURSOR), ("claude-code", CLAUDE), ("claude-desktop", DESKTOP)])
def test_j12_other_peoples_spelling_stays_and_ours_is_plain(tmp_path: Path, client: str, name: str) -> None:
    home = Home(tmp_path, quick=True)
    home.file(name, SPELLED)
    words = ("--name", "ledger", "--", "/opt/Büro/ledger", "serve", "--title", "Журнал №1", "🌙", 'a"b\\c\t')
    made = written(home, name, lambda: home.install(client, *words), home.install(client, *words))
    assert kept(SPELLED, made, opened='"mcpServers": {}')
    assert "Журнал №1".encode() in made
    assert home.value(name, "mcpServers", "ledger", "args") == ["serve", "--title", "Журнал №1", "🌙", 'a"b\\c\t']
    home.uninstall(client)
    assert home.unchanged()


@pytest.mark.parametrize(
    "others",
    [
        {"projects": {"C:/Work/Depot": {"allowedTools": ["a"]}, "c:/work/depot": {"allowedTools": ["b"]}}},
        {"MCPSERVERS": {"x": 1}, "mcpservers": {"x": 2}},
    ],
    ids=["projects", "containers"],
)
def test_j14_keys_that_differ_by_case_are_two(tmp_path: Path, others: dict[str, object]) -> None:
    home = Home(tmp_path)
    rota = {"Ledger": {"command": "/opt/other"}, "LEDGER": {"command": "/opt/third"}}
    source = as_text({**others, "mcpServers": rota})
    home.file(CLAUDE, source)
    made = written(home, CLAUDE, lambda: home.install("claude-code"), home.install("claude-code"))
    assert kept(source, made, commas=1)
    assert home.value(CLAUDE) == {**others, "mcpServers": {**rota, "ledger": STDIO}}


def test_j13_a_key_twice_off_our_path_is_left_as_it_is(tmp_path: Path) -> None:
    home = Home(tmp_path)
    source = '{\n  "a": 1,\n  "a": 2,\n  "mcpServers": {\n    "rota": { "env": {}, "env": {} }\n  }\n}\n'
    home.file(CLAUDE, source)
    assert home.install("claude-code").exit == 0
    assert kept(source, home.read(CLAUDE), commas=1)


J17 = [
    '{\n  // hdr\n  "mcp": {\n    "r": { "type": "local", "command": ["/r"] }, // r\n\n    // tail\n  },\n}\n',
    '{ "mcp": { } }',
    '{\n  "mcp": {\n\n  }\n}\n',
    '{\n  "mcp": { /* none */ },\n}',
    '{"a":1,"mcp":{"r":{"type":"local","command":["/r"]}}}\r\n',
    '{\n  "model": "x" // last\n  // after\n}\n\n\n',
    "// nothing but this\n{}\n",
]


@pytest.mark.parametrize("source", J17, ids=[f"f{number}" for number in range(len(J17))])
def test_j17_uninstall_gives_the_first_bytes_back(tmp_path: Path, source: str) -> None:
    home = Home(tmp_path, quick=True)
    home.file(OPENCODE, source)
    assert home.install("opencode").exit == 0
    assert home.value(OPENCODE, "mcp", "ledger") == LOCAL
    home.uninstall("opencode")
    assert home.read(OPENCODE) == source.encode()


@pytest.mark.parametrize("source", J17[:6], ids=[f"f{number}" for number in range(6)])
def test_j17_an_entry_between_others_goes_without_a_trace(tmp_path: Path, source: str) -> None:
    """Ours is not the last any more when it goes, and the journal's bytes do not fit."""
    home = Home(tmp_path, quick=True)
    home.file(OPENCODE, source)
    for name in ("ledger", "second"):
        home.install("opencode", "--name", name, "--", COMMAND, name)
    both = home.read(OPENCODE)
    home.uninstall("opencode", "ledger")
    home.install("opencode", "--name", "ledger", "--", COMMAND, "ledger")
    home.uninstall("opencode", "second")
    home.uninstall("opencode", "ledger")
    assert b"second" in both
    assert home.read(OPENCODE) == source.encode()


def test_j19_a_file_of_60_mb_gets_one_piece_in_little_memory_and_time(tmp_path: Path) -> None:
    home = Home(tmp_path)
    history = [{"display": "x" * 900 + str(number)} for number in range(650)]
    projects = {f"/srv/p{number}": {"history": history} for number in range(100)}
    content = {"numStartups": 7, "projects": projects, "mcpServers": {"rota": {"command": "/opt/rota"}}}
    old = home.file(CLAUDE, json.dumps(content, indent=2)).read_bytes()
    time_s, memory_kib = _measured(home, "install", "--client", "claude-code", "--write", "--via", "file", *LEDGER)
    new = home.read(CLAUDE)
    at = old.rindex(b"\n    }\n  }\n}")
    assert new.startswith(old[:at])
    assert new.endswith(old[at:])
    assert json.loads(new[new.rindex(b'"ledger": ') + 10 : -len(b"\n  }\n}")]) == STDIO
    assert len(new) - len(old) < 200
    assert (time_s < 15, memory_kib < 900 * 1024, home.litter()) == (True, True, set())


def _measured(home: Home, *words: str) -> tuple[float, int]:
    """Seconds and the largest resident size in KiB of one run, asked of the run itself."""
    code = (
        "import resource, sys, time; from homeport.cli.main import main; began = time.monotonic(); "
        "code = main(sys.argv[1:]); print(code, time.monotonic() - began, "
        "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = home.python(code, *words)
    code_text, time_s, memory = done.stdout.decode().split()[-3:]
    assert code_text == "0", said(done)
    return float(time_s), int(memory)


@pytest.mark.parametrize("source", ['{ "mcp": {} }\n', "{}", '{"mcp":{"rota":{"type":"local","command":["/r"]}}}'])
@pytest.mark.parametrize(
    "snippet",
    [
        {"mcpServers": {"ledger": {"command": COMMAND, "args": ["serve"]}}},
        {"servers": {"ledger": {"type": "stdio", "command": COMMAND, "args": ["serve"]}}},
        {"mcp": {"servers": {"ledger": {"command": COMMAND, "args": ["serve"]}}}},
        {"ledger": {"command": COMMAND, "args": ["serve"]}},
        None,
    ],
    ids=["mcpServers", "servers", "mcp.servers", "bare", "command"],
)
def test_j20_the_entry_stands_at_its_place_and_nowhere_else(
    tmp_path: Path, source: str, snippet: dict[str, object] | None
) -> None:
    home = Home(tmp_path, quick=True)
    home.file(OPENCODE, source)
    words = LEDGER if snippet is None else ("--from", str(home.file("pasted.json", json.dumps(snippet))))
    assert home.install("opencode", *words).exit == 0
    before = read_json(source)
    assert home.value(OPENCODE) == {**before, "mcp": {**before.get("mcp", {}), "ledger": LOCAL}}
    assert home.read("pasted.json" if snippet else OPENCODE)
