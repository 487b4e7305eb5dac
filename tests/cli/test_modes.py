"""Five ways to show one plan: printed, compared, checked, as JSON, and written."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from tests.cli.running import run, write
from tests.harness import Completed, run_homeport

INSTALL = ("install", "--client", "cursor", "--name", "rota")
COMMAND = ("--", "/opt/rota", "serve")
ROTA = {"type": "stdio", "command": "/opt/rota", "args": ["serve"]}


def install(*options: str) -> Completed:
    return run(*INSTALL, *options, *COMMAND)


def snapshot(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Every file's bytes, inode and time of change."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_ino, path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize(
    "mode", [(), ("--diff",), ("--check",), ("--json",), ("--diff", "--json"), ("--check", "--json")]
)
def test_no_mode_but_write_changes_or_makes_a_file(mode: tuple[str, ...], home: Path, project: Path) -> None:
    write(home / ".cursor/mcp.json", '{"mcpServers": {}}\n')
    before = snapshot(home)
    install(*mode)
    assert snapshot(home) == before


def test_printing_puts_the_fragment_alone_on_stdout(home: Path, project: Path) -> None:
    done = install()
    assert (done.exit, json.loads(done.stdout)) == (0, {"mcpServers": {"rota": ROTA}})
    assert b"would be added" in done.stderr


def test_several_clients_are_separated_by_an_empty_line(home: Path, project: Path) -> None:
    (home / ".codex").mkdir()
    done = run(*INSTALL, "--client", "codex", *COMMAND)
    first, second = done.stdout.decode().split("\n\n")
    assert json.loads(first) == {"mcpServers": {"rota": ROTA}}
    assert second == '[mcp_servers.rota]\ncommand = "/opt/rota"\nargs = ["serve"]\n'


def test_write_applies_and_a_second_time_nothing_moves(home: Path, project: Path) -> None:
    done = install("--write")
    file = home / ".cursor/mcp.json"
    assert (done.exit, json.loads(file.read_bytes())) == (0, {"mcpServers": {"rota": ROTA}})
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = snapshot(home / ".cursor")
    again = install("--write", "--json")
    (row,) = again.envelope["result"]["clients"]
    assert (again.exit, row["outcome"], row["applied"]) == (0, "unchanged", False)
    assert snapshot(home / ".cursor") == before


@pytest.mark.parametrize(("installed", "code"), [(False, 3), (True, 0)], ids=["needed", "not needed"])
def test_check_says_by_its_exit_code_whether_something_would_change(
    installed: bool, code: int, home: Path, project: Path
) -> None:
    if installed:
        install("--write")
    assert (install("--check").exit, install("--check", "--json").exit) == (code, code)
    assert run("uninstall", "rota", "--client", "cursor", "--check").exit == (3 if installed else 0)


def test_the_diff_is_what_write_does(home: Path, project: Path) -> None:
    source = '{\n  "mcpServers": {\n    "tally": {"command": "x"}\n  }\n}\n'
    write(home / ".cursor/mcp.json", source)
    assert install("--diff").stdout.decode().splitlines()[2:] == [
        "@@ -1,5 +1,6 @@",
        " {",
        '   "mcpServers": {',
        '-    "tally": {"command": "x"}',
        '+    "tally": {"command": "x"},',
        '+    "rota": {"type": "stdio", "command": "/opt/rota", "args": ["serve"]}',
        "   }",
        " }",
    ]


def test_uninstall_and_undo_give_the_bytes_back(home: Path, project: Path) -> None:
    file = write(home / ".cursor/mcp.json", '{\r\n\t"mcpServers": {}, // mine\r\n}')
    source = file.read_bytes()
    install("--write")
    assert run("uninstall", "rota", "--client", "cursor", "--write").exit == 0
    assert file.read_bytes() == source
    assert run("undo", "--write").exit == 0
    assert b"rota" in file.read_bytes()
    assert run("undo", "--write").exit == 0
    assert file.read_bytes() == source


def test_a_malformed_target_warns_in_print_mode_and_refuses_with_write(home: Path, project: Path) -> None:
    file = write(home / ".cursor/mcp.json", '{\n  "mcpServers": {,}\n}\n')
    printed = install()
    assert (printed.exit, json.loads(printed.stdout)) == (0, {"mcpServers": {"rota": ROTA}})
    assert f"refused with --write: {file}, line 2, column 18".encode() in printed.stderr
    written = install("--write")
    assert (written.exit, written.stdout) == (1, b"")
    assert f"error: {file}, line 2, column 18: ".encode() in written.stderr
    assert file.read_bytes() == b'{\n  "mcpServers": {,}\n}\n'


@pytest.mark.parametrize("options", [("--write",), ("--check",), ("--diff",)])
def test_a_malformed_targets_envelope_has_the_place_and_the_plan(
    options: tuple[str, ...], home: Path, project: Path
) -> None:
    file = write(home / ".cursor/mcp.json", "{\n")
    envelope = install(*options, "--json").envelope
    (row,) = envelope["result"]["clients"]
    assert (envelope["ok"], envelope["error"]["code"], row["outcome"]) == (False, "malformed_file", "refused")
    assert envelope["error"]["details"] == {"file": str(file), "line": 2, "column": 1}
    assert row["error"] == envelope["error"]


def test_one_clients_trouble_does_not_hold_up_another(home: Path, project: Path) -> None:
    (home / ".codex").mkdir()
    write(home / ".cursor/mcp.json", "{")
    done = run(*INSTALL, "--client", "codex", "--via", "file", "--write", "--json", *COMMAND)
    outcomes = {row["client"]: (row["outcome"], row["applied"]) for row in done.envelope["result"]["clients"]}
    assert (done.exit, outcomes) == (1, {"cursor": ("refused", False), "codex": ("created", True)})
    assert b"rota" in (home / ".codex/config.toml").read_bytes()


def test_all_or_nothing_writes_nothing_then(home: Path, project: Path) -> None:
    (home / ".codex").mkdir()
    write(home / ".cursor/mcp.json", "{")
    done = run(*INSTALL, "--client", "codex", "--via", "file", "--write", "--all-or-nothing", *COMMAND)
    assert (done.exit, (home / ".codex/config.toml").exists()) == (1, False)


def test_a_client_that_is_not_here_is_refused_or_skipped(home: Path, project: Path) -> None:
    named = run("install", "--client", "opencode", "--json")
    assert (named.exit, named.envelope["error"]["code"]) == (1, "client_not_installed")
    skipped = run("install", "--client", "opencode", "--if-installed", "--json")
    assert (skipped.exit, skipped.envelope["result"]["clients"][0]["outcome"]) == (0, "skipped")
    rows = run("install", "--client", "all", "--json").envelope["result"]["clients"]
    assert {row["client"]: row["outcome"] for row in rows}["cursor"] == "created"
    assert {row["outcome"] for row in rows if row["client"] != "cursor"} == {"skipped"}


def test_where_no_client_is_found_it_says_where_it_looked(home: Path, project: Path) -> None:
    (home / ".cursor").rmdir()
    done = run("install", "--client", "all")
    assert (done.exit, done.stdout) == (0, b"")
    assert f"Cursor: {home}/.cursor".encode() in done.stderr


def test_the_owned_file_is_refused_without_a_way(home: Path, project: Path) -> None:
    (home / ".claude").mkdir()
    done = run("install", "--client", "claude-code", "--name", "rota", "--write", "--json", *COMMAND)
    assert (done.exit, done.envelope["error"]["code"]) == (1, "client_owned_file")
    assert done.envelope["error"]["details"]["apply_command"][:3] == ["claude", "mcp", "add"]
    assert not (home / ".claude.json").exists()


def test_a_snippet_goes_to_every_client_in_its_own_words(home: Path, project: Path) -> None:
    (home / ".codex").mkdir()
    text = "```json\n{mcpServers: {a: {command: 'x', env: {T: '${T}'}}, bb: {url: 'https://x.example/mcp'}}}\n```"
    snippet = write(home / "snippet.md", text)
    rows = run("install", "--client", "cursor", "--client", "codex", "--from", str(snippet), "--json").envelope
    assert rows["error"]["code"] == "bad_name"
    write(home / "snippet.md", text.replace("{a:", "{aa:"))
    done = run("install", "--client", "cursor", "--client", "codex", "--from", str(snippet))
    assert done.exit == 0
    assert b'"T": "${env:T}"' in done.stdout
    assert b'[mcp_servers.aa]\ncommand = "x"\nenv_vars = ["T"]' in done.stdout


def test_projects_files_are_at_the_git_root(home: Path, project: Path) -> None:
    (project / "src").mkdir()
    os.chdir(project / "src")
    try:
        done = install("--level", "project", "--write")
    finally:
        os.chdir(project)
    assert done.exit == 0
    assert json.loads((project / ".cursor/mcp.json").read_bytes()) == {"mcpServers": {"rota": ROTA}}


def test_status_tells_trouble_by_its_exit_code(home: Path, project: Path) -> None:
    assert run("status").exit == 0
    file = write(home / ".cursor/mcp.json", '{"mcpServers": {"homeport": {"command": "/none/homeport"}}}')
    done = run("status", "--json")
    (one,) = [row for row in done.envelope["result"]["clients"] if row["client"] == "cursor"]
    assert (done.exit, one["status"], one["registrations"][0]["file"]) == (1, "stale", str(file))


def test_list_names_ours_and_others(home: Path, project: Path) -> None:
    write(
        home / ".cursor/mcp.json",
        '{"mcpServers": {"homeport": {"command": "homeport"}, "tally": {"url": "https://x"}}}',
    )
    shown = run("list").stdout.decode().splitlines()
    assert [line.split()[2] for line in shown] == ["SERVER", "*homeport", "tally"]


@pytest.mark.parametrize(
    ("given", "file"),
    [("~/own.json", "own.json"), ("own.json", "code/app/own.json"), ("sub/../own.json", "code/app/own.json")],
)
def test_a_named_file_is_made_where_it_was_named(given: str, file: str, home: Path, project: Path) -> None:
    (project / "sub").mkdir()
    done = install("--config", given, "--write")
    assert (done.exit, json.loads((home / file).read_bytes())) == (0, {"mcpServers": {"rota": ROTA}})
    assert not (home / ".cursor/mcp.json").exists()
    assert run("uninstall", "rota", "--client", "cursor", "--config", given, "--write").exit == 0
    assert not (home / file).exists()


def test_a_folder_is_no_file(home: Path, project: Path) -> None:
    done = install("--config", str(project), "--write", "--json")
    assert (done.exit, done.envelope["error"]["code"]) == (1, "unreadable_file")


def test_a_snippet_is_read_from_stdin(home: Path, project: Path) -> None:
    text = b'"rota": {"command": "/opt/rota", "args": ["serve"]}'
    done = run_homeport("install", "--client", "cursor", "--from", "-", home=home, cwd=project, input=text)
    assert (done.exit, json.loads(done.stdout)) == (0, {"mcpServers": {"rota": ROTA}})


@pytest.mark.parametrize("text", [b"", b"\xff\xfe", b"npx -y rota", b"{}"])
def test_what_is_no_snippet_is_an_error(text: bytes, home: Path, project: Path) -> None:
    file = home / "snippet"
    file.write_bytes(text)
    done = run("install", "--client", "cursor", "--from", str(file), "--json")
    assert (done.exit, done.envelope["error"]["code"]) == (1, "bad_snippet")


def test_a_snippets_keys_that_are_not_carried_over_are_told(home: Path, project: Path) -> None:
    file = write(home / "snippet", '{"rota": {"command": "/opt/rota", "disabled": true, "autoApprove": ["*"]}}')
    done = run("install", "--client", "cursor", "--from", str(file))
    assert b"note: 'rota': left out of the snippet, since clients differ in them: autoApprove, disabled" in done.stderr


def test_a_reference_is_translated_and_one_with_a_default_refused_by_field(home: Path, project: Path) -> None:
    printed = run(*INSTALL, "--", "/opt/rota", "--day", "$DAY")
    assert json.loads(printed.stdout)["mcpServers"]["rota"]["args"] == ["--day", "${env:DAY}"]
    refused = run(*INSTALL, "--json", "--", "/opt/rota", "${DAY:-monday}")
    assert (refused.exit, refused.envelope["error"]["details"]) == (1, {"variable": "DAY", "field": "an argument"})
    literal = run(*INSTALL, "--literal", "--", "/opt/rota", "$DAY")
    assert json.loads(literal.stdout)["mcpServers"]["rota"]["args"] == ["$DAY"]


def test_a_credential_by_value_is_refused_before_anything_is_looked_at(home: Path, project: Path) -> None:
    done = run(*INSTALL, "--env", "ROTA_TOKEN=abcdefgh", "--json", *COMMAND)
    assert (done.exit, done.envelope["error"]["code"], done.envelope["result"]) == (1, "secret_literal", None)
    level = ("--level", "project", "--allow-secret")
    done = run(*INSTALL, *level, "--env", "ROTA_TOKEN=abcdefgh", "--json", *COMMAND)
    assert (done.exit, done.envelope["error"]["code"]) == (1, "secret_literal")


def test_portable_lines_hold_nothing_of_this_machine(home: Path, project: Path) -> None:
    done = run("install", "--client", "cursor", "--level", "project", "--portable")
    entry = json.loads(done.stdout)["mcpServers"]["homeport"]
    assert entry == {"type": "stdio", "command": "homeport", "args": ["serve"]}
