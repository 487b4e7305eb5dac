"""`homeport memory`: the tool's functions under a person's hands."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import run
from tests.cli.terminal import homeport_at_a_terminal
from tests.harness import Completed
from tests.server.serving import Serving


def memory(*words: str) -> Completed:
    return run("memory", *words)


def result(done: Completed) -> Any:
    return done.envelope["result"]


@pytest.fixture
def user(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the person's documents; the working folder is the home, where there is no project."""
    monkeypatch.chdir(home)
    monkeypatch.setenv("LOGNAME", "ann")
    return home / ".homeport/memory/user=ann"


def stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_the_six_commands(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, b"one\r\ntwo")
    said = [
        memory("create", "/user/a", "-"),
        memory("str_replace", "/user/a", "two", "three"),
        memory("insert", "/user/a", "0", "zero"),
        memory("rename", "/user/a", "/user/f/b"),
        memory("delete", "/user/f", "--recursive"),
        memory("view", "/"),
    ]

    assert [(done.exit, done.stdout.decode(), done.stderr) for done in said] == [
        (0, "Created /user/a: version 1.\n", b""),
        (0, "Replaced text at line 2 of /user/a: version 2, version 1 before.\n", b""),
        (0, "Inserted after line 0 of /user/a: version 3, version 2 before.\n", b""),
        (0, "Renamed /user/a to /user/f/b: version 4.\n", b""),
        (0, "Deleted /user/f and the 1 documents in it.\n", b""),
        (0, "## /user\n- (empty)\n", b""),
    ]


def test_a_viewed_document_is_its_bytes_on_stdout_however_long(user: Path) -> None:
    text = "".join(f"line {number} {'ž' * 30}\r\n" for number in range(6000)) + "end"
    user.mkdir(parents=True)
    (user / "a").write_bytes(text.encode())

    done = memory("view", "/user/a")

    assert done.stdout == text.encode()
    assert done.stderr.startswith(b"/user/a: version 1 by file, ")
    assert memory("view", "/user/a", "--lines", "6001").stdout == b"end"


def test_the_result_is_the_tools(user: Path) -> None:
    memory("create", "/user/a", "one\ntwo\n")
    told = [
        memory("view", "/user/a", "--lines", "2:-1", "--json").envelope,
        memory("view", "/user", "--json").envelope,
        memory("view", "--json").envelope,
        memory("str_replace", "/user/a", "none", "", "--json").envelope,
        memory("create", "/user/a", "x", "--expected-version", "7", "--json").envelope,
    ]
    with Serving(user.parent.parent, "--mount", "scope=user:ann,path=user", cwd=user.parent) as server:
        server.initialize()
        assert told == [
            server.memory("view", path="/user/a", view_range=[2, -1]),
            server.memory("view", path="/user"),
            server.memory("view"),
            server.memory("str_replace", path="/user/a", old_str="none", new_str=""),
            server.memory("create", path="/user/a", file_text="x", expected_version=7),
        ]


def test_a_text_that_begins_with_a_dash_goes_behind_two(user: Path) -> None:
    assert memory("create", "/user/a", "--", "--json").exit == 0
    assert memory("create", "/user/b", "--", "-").exit == 0
    assert [(user / name).read_text() for name in "ab"] == ["--json", "-"]


@pytest.mark.parametrize(
    ("words", "code", "exit_code"),
    [
        (("create", "/user/a"), "usage_error", 2),
        (("create", "/user/a", "b", "c"), "usage_error", 2),
        (("str_replace", "/user/a", "-", "-"), "usage_error", 2),
        (("insert", "/user/a", "x", "y"), "usage_error", 2),
        (("view", "/user/a", "--lines", "x"), "usage_error", 2),
        (("view", "/user/none"), "document_not_found", 1),
        (("view", "/../x"), "memory_path_invalid", 1),
        (("view", "/", "--scope", "nobody"), "bad_scope", 2),
        (("versions", "/user/none"), "document_not_found", 1),
        (("versions", "/user"), "bad_argument", 1),
        (("versions", "/user/none", "--show", "1", "--diff", "1"), "usage_error", 2),
        (("versions", "/user/none", "--diff", "a:b"), "usage_error", 2),
        (("revert", "/user/none", "0"), "bad_argument", 1),
        (("redact", "/user/none"), "usage_error", 2),
        (("redact", "/user/none", "1", "--all"), "usage_error", 2),
        (("redact", "/user/none", "1"), "document_not_found", 1),
        (("redact", "/user/none", "--all"), "document_not_found", 1),
        (("search", ""), "bad_argument", 1),
        (("export", ""), "usage_error", 2),
        (("import", "none"), "usage_error", 2),
    ],
)
def test_what_is_wrong_is_said_with_its_code(
    user: Path, words: tuple[str, ...], code: str, exit_code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin(monkeypatch, b"")
    done = memory(*words, "--json")
    assert (done.exit, done.envelope["error"]["code"], done.envelope["operation"]) == (exit_code, code, "memory")


def test_stdin_that_is_not_text_is_refused(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, b"ab\xff")
    done = memory("create", "/user/a", "-")
    assert (done.exit, done.stderr) == (1, b"error: stdin is not UTF-8 (byte 3)\nhint: convert it first\n")


def test_versions_are_listed_shown_compared_and_reverted_to(user: Path) -> None:
    memory("create", "/user/a", "one\n")
    memory("create", "/user/a", "two\n", "--actor", "hook:cursor")
    memory("delete", "/user/a")
    listed = memory("versions", "/user/a", "--limit", "2").stdout.decode()
    stamps = [one["stamp"] for one in result(memory("versions", "/user/a", "--json"))["versions"]]

    assert listed == (
        f"v3 deleted cli:ann {stamps[0]} -\n"
        f"v2 changed hook:cursor {stamps[1]} 4 bytes\n"
        "(1 older ones; --limit 3 lists all)\n"
    )
    assert memory("versions", "/user/a", "--show", "1").stdout == b"one\n"
    assert memory("versions", "/user/a", "--diff", "1").stdout == (
        b"--- /user/a v1\n+++ /user/a v2\n@@ -1 +1 @@\n-one\n+two\n"
    )
    assert memory("revert", "/user/a", "1", "--expected-version", "3").exit == 1
    done = memory("revert", "/user/a", "1")
    assert (done.stdout, (user / "a").read_text()) == (
        b"Reverted /user/a to the text of version 1: version 4.\n",
        "one\n",
    )
    conflict = memory("revert", "/user/a", "2", "--expected-version", "1", "--json").envelope
    assert (conflict["error"]["code"], conflict["result"]["content"]) == ("version_conflict", "one\n")


def test_a_redaction_says_what_it_did(user: Path) -> None:
    memory("create", "/user/a", "password")
    memory("create", "/user/b", "password")
    assert memory("redact", "/user/a", "1").stderr.startswith(b"error: /user/a still holds that text, as version 1\n")
    memory("create", "/user/a", "clean")

    done = memory("redact", "/user/a", "--all", "--current")

    assert done.stdout.decode() == (
        "Redacted /user/a: version 1, 2.\nOther documents have the same text in their versions, and keep it: /user/b.\n"
    )
    assert [line.rpartition(" (")[2] for line in memory("versions", "/user/a").stdout.decode().splitlines()] == [
        "redacted)",
        "redacted)",
    ]


def test_export_import_and_search(user: Path, tmp_path: Path) -> None:
    memory("create", "/user/a", "needle")
    target = str(tmp_path / "out.tar.gz")
    assert memory("export", target, "--versions").stdout == b"Exported 1 documents; versions: 1.\n"
    memory("create", "/user/a", "other")
    done = memory("import", target)
    assert (done.exit, done.stdout, done.stderr) == (
        1,
        b"Imported: 0 created, 0 replaced, 0 unchanged.\n"
        b"- refused: user/a: /user/a is there with another text; --replace overwrites it [document_exists]\n",
        b"error: 1 of the items could not be imported; the others were\nhint: each is named with its reason\n",
    )
    assert memory("import", target, "--replace").stdout == b"Imported: 0 created, 1 replaced, 0 unchanged.\n"
    assert memory("search", "NEEDLE").stdout == b"/user/a:1: needle\n"


def test_a_terminal_is_not_steered_by_a_stored_text(user: Path, home: Path) -> None:
    memory("create", "/user/a", "red \x1b[31m\n")
    with homeport_at_a_terminal("memory", "view", "/user/a", home=home, cwd=home, variables={"LOGNAME": "ann"}) as seen:
        assert seen.exit_code() == 0
        assert "red \\x1b[31m" in seen.screen()


def test_no_sdk_is_loaded_for_a_command(user: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "homeport", "memory", "view", "/"],
        capture_output=True, text=True, env={"HOME": os.environ["HOME"], "PATH": os.defpath},
    )  # fmt: skip
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "homeport.server.operations.memory" in loaded
    assert {name for name in loaded if name.split(".")[0] in ("mcp", "anyio", "pydantic")} == set()
    assert done.returncode == 0
