"""S, where the journal says whose an entry is: an earlier run of ours wrote it. The rest is in test_shadow_cases.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.machine import CLAUDE, COMMAND, CURSOR, LEDGER, OPENCODE, PROJECT, Home, as_text, refused, said

# A program that is there, so that status finds nothing else to say.
HERE = ("--name", "ledger", "--", "/bin/sh", "serve")
OLD = ("--name", "ledger", "--", "/old/ledger", "old-words")
NAMES_AND_FILES = [
    ("claude-code", f"{PROJECT}/.mcp.json"),
    ("cursor", f"{PROJECT}/.cursor/mcp.json"),
    ("codex", f"{PROJECT}/.codex/config.toml"),
    ("opencode", f"{PROJECT}/opencode.json"),
]


def row(home: Home, client: str, *words: str, **options: Any) -> Any:
    return home.install(client, "--json", *words, **options).envelope["result"]["clients"][0]


@pytest.mark.parametrize(("client", "name"), NAMES_AND_FILES)
def test_s01_a_nearer_entry_that_the_journal_knows_goes_though_it_runs_another_command(
    tmp_path: Path, client: str, name: str
) -> None:
    home = Home(tmp_path, quick=True)
    home.install(client, *OLD, level="project")
    assert b"/old/ledger" in home.read(name)
    done = row(home, client, *HERE)
    assert [removed["file"] for removed in done["removed"]] == [str(home.path / name)]
    assert not (home.path / name).exists() or b"ledger" not in home.read(name)
    status = home.run("status", "--client", client, "--name", "ledger", "--json").envelope["result"]["clients"][0]
    assert [(one["level"], one["status"]) for one in status["registrations"]] == [("user", "live")]


@pytest.mark.parametrize("client", ["claude-code", "cursor"])
def test_s01_a_nearer_entry_that_a_person_changed_since_is_foreign_again(tmp_path: Path, client: str) -> None:
    home = Home(tmp_path, quick=True)
    name = dict(NAMES_AND_FILES)[client]
    home.install(client, *OLD, level="project")
    home.file(name, home.read(name).replace(b"/old/ledger", b"/home/nora/own.sh"))
    done = row(home, client, *LEDGER)
    assert (done["removed"], [shadow["ours"] for shadow in done["shadowed_by"]]) == ([], [False])
    assert home.unchanged()


def test_s01_print_mode_tells_what_would_go_and_takes_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    name = f"{PROJECT}/.cursor/mcp.json"
    home.install("cursor", *OLD, level="project")
    home.file(name, home.read(name))
    done = home.run("install", "--client", "cursor", *LEDGER)
    assert (done.exit, str(home.path / name) in said(done)) == (0, True)
    assert home.unchanged()


@pytest.mark.parametrize(("client", "name"), [("cursor", CURSOR), ("claude-code", CLAUDE), ("opencode", OPENCODE)])
def test_s03_what_we_wrote_and_a_person_redirected_is_refused(tmp_path: Path, client: str, name: str) -> None:
    home = Home(tmp_path, quick=True)
    home.install(client)
    home.file(name, home.read(name).replace(COMMAND.encode(), b"/home/nora/own.sh"))
    refused(home, home.install(client, "--name", "ledger", "--", COMMAND, "other"), "ledger", "/home/nora/own.sh")
    refused(home, home.uninstall(client), "ledger", "/home/nora/own.sh")


def test_s05_a_server_registered_again_stays_off_until_a_person_says_otherwise(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    home.install("claude-code", *HERE)
    content = json.loads(home.read(CLAUDE))
    assert home.run("status", "--client", "claude-code").exit == 0
    off = {"mcpServers": {}, "disabledMcpServers": ["ledger", "rota"], "disabledMcpjsonServers": []}
    home.file(CLAUDE, as_text({**content, "projects": {str(home.project): off}}))
    home.uninstall("claude-code")
    home.install("claude-code", *HERE)
    done = home.run("status", "--client", "claude-code")
    assert home.value(CLAUDE, "projects", str(home.project)) == off
    assert (done.exit, [word for word in ("disabledMcpServers", "ledger") if word not in said(done)]) == (1, [])


def test_s08_what_is_taken_from_a_record_leaves_its_neighbours(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    home.install("claude-code")
    same = json.loads(home.read(CLAUDE))["mcpServers"]["ledger"]
    record = {"mcpServers": {"ledger": same}, "hasTrustDialogAccepted": True}
    home.file(CLAUDE, as_text({**json.loads(home.read(CLAUDE)), "projects": {str(home.project): record}}))
    done = row(home, "claude-code", *LEDGER)
    assert (done["outcome"], len(done["removed"])) == ("updated", 1)
    assert home.value(CLAUDE, "projects", str(home.project)) == {"mcpServers": {}, "hasTrustDialogAccepted": True}
    assert home.value(CLAUDE, "mcpServers") == {"ledger": same}


def test_s09_a_parents_entry_is_told_by_status_and_taken_by_no_uninstall(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    home.file("work/.mcp.json", as_text({"mcpServers": {"ledger": {"command": "/bin/sh", "args": ["serve"]}}}))
    home.install("claude-code", *HERE)
    done = home.run("status", "--client", "claude-code", "--name", "ledger")
    assert (done.exit, str(home.path / "work/.mcp.json") in said(done)) == (1, True)
    assert home.uninstall("claude-code", "ledger", "--level", "all").exit == 0
    assert home.unchanged()
