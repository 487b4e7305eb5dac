"""Wrong command lines: exit 2, one envelope with --json, and nothing looked at or written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from homeport.cli.main import COMMANDS
from homeport.errors import CODES, USAGE
from tests.cli.running import run

CURSOR = ("install", "--client", "cursor")
OTHER = (*CURSOR, "--name", "rota")

WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "no such command": (("instal",), "usage_error"),
    "no such option": ((*CURSOR, "--frob"), "usage_error"),
    "no client": (("install",), "usage_error"),
    "unknown client": (("install", "--client", "curser"), "unknown_client"),
    "empty client": (("install", "--client", ""), "unknown_client"),
    "uninstall from an unknown client": (("uninstall", "--client", "zed"), "unknown_client"),
    "list of an unknown client": (("list", "--client", "zed"), "unknown_client"),
    "status of an unknown client": (("status", "--client", "zed"), "unknown_client"),
    "unknown level": ((*CURSOR, "--level", "local"), "usage_error"),
    "write and check": ((*CURSOR, "--write", "--check"), "usage_error"),
    "diff and check": ((*CURSOR, "--diff", "--check"), "usage_error"),
    "unknown way": ((*CURSOR, "--via", "hand"), "usage_error"),
    "bad name": ((*CURSOR, "--name", "a b"), "bad_name"),
    "reserved name": (("install", "--client", "claude-code", "--name", "workspace"), "bad_name"),
    "another server without a name": ((*CURSOR, "--", "npx"), "usage_error"),
    "a URL without a name": ((*CURSOR, "https://x.example"), "usage_error"),
    "nothing behind --": ((*OTHER, "--"), "usage_error"),
    "a URL and a command": ((*OTHER, "https://x.example", "--", "npx"), "usage_error"),
    "a URL and a snippet": ((*OTHER, "https://x.example", "--from", "x"), "usage_error"),
    "no URL": ((*OTHER, "npx"), "bad_url"),
    "no host": ((*OTHER, "https://"), "bad_url"),
    "another scheme": ((*OTHER, "ftp://x.example"), "bad_url"),
    "a broken host": ((*OTHER, "http://[::1"), "bad_url"),
    "a header without a URL": ((*OTHER, "--header", "A: b", "--", "npx"), "usage_error"),
    "a header without a colon": ((*OTHER, "--header", "A", "https://x.example"), "usage_error"),
    "a header of two lines": ((*OTHER, "--header", "A: b\nC: d", "https://x.example"), "usage_error"),
    "a variable for a URL": ((*OTHER, "--env", "A", "https://x.example"), "usage_error"),
    "a folder for a URL": ((*OTHER, "--cwd", "/x", "https://x.example"), "usage_error"),
    "a transport for a command": ((*OTHER, "--transport", "sse", "--", "npx"), "usage_error"),
    "a variable without a name": ((*OTHER, "--env", "=x", "--", "npx"), "usage_error"),
    "a variable that is a reference": ((*OTHER, "--env", "$A", "--", "npx"), "usage_error"),
    "a scope for another server": ((*OTHER, "--scope", "user:ann", "--", "npx"), "usage_error"),
    "a portable line of another server": ((*OTHER, "--portable", "--", "npx"), "usage_error"),
    "scope and mount": ((*CURSOR, "--scope", "user:ann", "--mount", "scope=user:ann,path=me"), "usage_error bad_scope"),
    "a bad scope": ((*CURSOR, "--scope", "ann?"), "bad_scope"),
    "a bad mount": ((*CURSOR, "--mount", "path=me"), "bad_scope"),
    "a file for two clients": ((*CURSOR, "--client", "codex", "--config", "x"), "usage_error"),
    "an empty file": ((*CURSOR, "--config", ""), "usage_error"),
    "a project of one file": (("install", "--client", "claude-desktop", "--level", "project"), "level_unsupported"),
    "the common shape with others": ((*CURSOR, "--client", "mcp-json"), "usage_error"),
    "the common shape written": (("install", "--client", "mcp-json", "--write"), "usage_error"),
    "the common shape taken out": (("uninstall", "--client", "mcp-json"), "usage_error"),
    "a snippet that is not there": ((*OTHER, "--from", "/none/x.json"), "usage_error"),
    "uninstall of a command": (("uninstall", "--client", "cursor", "--", "npx"), "usage_error"),
    "undo of a command": (("undo", "--", "npx"), "usage_error"),
    "undo, written and checked": (("undo", "--write", "--check"), "usage_error"),
    "no such shell": (("completion", "ksh"), "usage_error"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_command_line_is_exit_2_with_a_sentence_on_stderr(case: str, project: Path) -> None:
    arguments, _ = WRONG[case]
    done = run(*arguments)
    assert (done.exit, done.stdout) == (USAGE, b""), done
    assert done.stderr.startswith(b"error: "), done
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("case", WRONG)
def test_with_json_it_is_one_envelope_and_nothing_else(case: str, project: Path) -> None:
    arguments, codes = WRONG[case]
    at = arguments.index("--") if "--" in arguments else len(arguments)
    done = run(*arguments[:at], "--json", *arguments[at:])
    envelope = done.envelope
    assert (done.exit, done.stderr, envelope["ok"], envelope["result"]) == (USAGE, b"", False, None)
    assert envelope["error"]["code"] in codes.split()
    assert envelope["error"]["code"] in CODES
    assert set(envelope) == {"version", "homeport", "operation", "ok", "result", "error"}


@pytest.mark.parametrize("case", WRONG)
def test_nothing_is_made_in_the_home(case: str, home: Path, project: Path) -> None:
    run(*WRONG[case][0])
    found = sorted(str(path.relative_to(home)) for path in home.rglob("*"))
    assert found == [".cursor", "code", "code/app", "code/app/.git"]


def test_a_near_miss_is_named(project: Path) -> None:
    assert b"did you mean cursor?" in run("install", "--client", "curser").stderr
    assert b"did you mean claude-code?" in run("install", "--client", "ClaudeCode").stderr


def test_the_operation_of_an_envelope_is_the_command_that_was_asked(project: Path) -> None:
    assert run("uninstall", "--json").envelope["operation"] == "uninstall"
    assert run("--json", "frob").envelope["operation"] == "frob"
    assert run("--json").exit in (0, USAGE)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_command_explains_itself_with_an_example(command: str, project: Path) -> None:
    done = run(*command.split(), "--help")
    assert (done.exit, done.stderr) == (0, b"")
    assert b"homeport " + command.encode() in done.stdout


def test_the_version() -> None:
    assert run("--version").stdout.startswith(b"homeport, version ")


def test_no_other_folder_is_asked_for(project: Path) -> None:
    """A folder that is gone under the person's feet is an error of its own."""
    gone = project / "gone"
    gone.mkdir()
    os.chdir(gone)
    try:
        gone.rmdir()
        done = run(*CURSOR, "--json")
    finally:
        os.chdir(project)
    assert (done.exit, done.envelope["error"]["code"]) == (1, "home_unusable")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        pytest.param(("install", "cursor"), "did you mean --client cursor?", id="a client for a server"),
        pytest.param(("install", "--client", "cursor,codex"), "say --client once for each", id="a list"),
        pytest.param(
            ("install", "--client", "cursor", "--name", "x", "python3", "x.py"), "goes behind --", id="no dashes"
        ),
    ],
)
def test_a_likely_slip_is_told_how_it_is_said(home: Path, words: tuple[str, ...], hint: str) -> None:
    done = run(*words, "--json")
    assert done.exit == 2
    assert hint in done.envelope["error"]["hint"]
