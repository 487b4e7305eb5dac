"""What a person reads: whole outputs of small situations, folders of the machine cut short."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import run, write
from tests.harness import Completed

COMMAND = ("--name", "rota", "--", "/opt/rota")
INSTALL = ("install", "--client", "cursor", *COMMAND)


def said(done: Completed, home: Path) -> list[str]:
    """stdout, then stderr, by lines."""
    return (done.stdout + done.stderr).decode().replace(str(home), "~").splitlines()


def journal(lines: list[str]) -> list[str]:
    """Without the id of the operation, which is a time."""
    return [line.rsplit(" ", 2)[0] if line.startswith("Take it back with") else line for line in lines]


def test_an_installation(home: Path, project: Path) -> None:
    assert journal(said(run("install", "--client", "cursor", "--write", *COMMAND), home)) == [
        "Cursor: added 'rota' in ~/.cursor/mcp.json",
        "  next: Cursor picks it up by itself; if 'rota' looks dead, reload the window",
        "Take it back with: homeport undo",
    ]


def test_a_second_installation_and_two_removals(home: Path, project: Path) -> None:
    write(home / ".cursor/mcp.json", json.dumps({"mcpServers": {"rota": {"type": "stdio", "command": "/opt/rota"}}}))
    assert said(run("install", "--client", "cursor", "--write", *COMMAND), home) == [
        "Cursor: unchanged 'rota' in ~/.cursor/mcp.json"
    ]
    assert said(run("uninstall", "tally", "--client", "cursor", "--write"), home) == [
        "Cursor: nothing to do for 'tally' in ~/.cursor/mcp.json"
    ]
    assert said(run("uninstall", "rota", "--client", "cursor", "--write"), home) == [
        "Cursor: refused 'rota'",
        "error: ~/.cursor/mcp.json, line 1: Cursor already has a server named 'rota', and it runs something else: "
        "/opt/rota",
        "hint: it stays; --replace takes it out all the same",
    ]


def test_a_shadow_that_goes_and_one_that_stays(home: Path, project: Path) -> None:
    (home / ".claude").mkdir()
    write(project / ".cursor/mcp.json", '{"mcpServers": {"rota": {"command": "/opt/rota"}}}')
    write(project / ".mcp.json", '{"mcpServers": {"rota": {"command": "tally", "args": ["--token", "abcdefgh"]}}}')
    shown = said(run("install", "--client", "cursor", "--client", "claude-code", *COMMAND), home)
    assert "  would remove ours from ~/code/app/.cursor/mcp.json (mcpServers.rota)" in shown
    assert "  hidden by the project entry in ~/code/app/.mcp.json (not ours): tally --token ***" in shown


def test_a_foreign_entry(home: Path, project: Path) -> None:
    write(home / ".cursor/mcp.json", '{"mcpServers": {"rota": {"url": "https://u:pass1234@x.example/mcp"}}}')
    done = run(*INSTALL[:3], "--write", *COMMAND)
    assert (done.exit, said(done, home)[1]) == (
        1,
        "error: ~/.cursor/mcp.json, line 1: Cursor already has a server named 'rota', and it runs something else: "
        "https://u:***@x.example/mcp",
    )


def test_status_of_trouble(home: Path, project: Path) -> None:
    write(home / ".cursor/mcp.json", '{"mcpServers": {"homeport": {"command": "/none/homeport"}}}')
    assert said(run("status"), home) == [
        "CLIENT  LEVEL  SERVER    STATUS  FILE",
        "Cursor  user   homeport  stale   ~/.cursor/mcp.json",
        "Cursor, 'homeport' in ~/.cursor/mcp.json: stale: its command is gone: /none/homeport",
        "Not installed here: Claude Code, Claude Desktop, Codex, OpenCode, Muse Code.",
    ]


def test_list_of_nothing(home: Path, project: Path) -> None:
    (home / ".cursor").rmdir()
    assert said(run("list"), home) == [
        "Not installed here: Claude Code, Claude Desktop, Cursor, Codex, OpenCode, Muse Code.",
    ]


def test_list_of_a_client_without_servers(home: Path, project: Path) -> None:
    assert said(run("list", "--client", "cursor"), home) == [
        "No client here knows a server. `homeport install --client all` shows what could be registered.",
    ]


def test_list_of_a_file_that_nobody_can_read(home: Path, project: Path) -> None:
    write(home / ".cursor/mcp.json", "{,}")
    assert said(run("list", "--client", "cursor"), home)[0].startswith("Cursor: ~/.cursor/mcp.json, line 1, column 2: ")


def test_undo_from_the_journal(home: Path, project: Path) -> None:
    run("install", "--client", "cursor", "--write", *COMMAND)
    listed = said(run("undo", "--list"), home)
    assert (listed[0].split(), listed[1].split()[1], listed[1].split()[-2:]) == (
        ["ID", "OPERATION", "WHEN", "(UTC)", "STATE", "CLIENTS"],
        "install",
        ["done", "cursor"],
    )
    assert said(run("undo"), home)[0] == "cursor: ~/.cursor/mcp.json: every byte as before"
    assert run("undo", "--check").exit == 3
    assert run("undo", "--write").exit == 0
    assert run("undo", "--list", "--json").envelope["result"]["operations"][1]["state"] == "undone"


def test_an_empty_journal(home: Path, project: Path) -> None:
    assert said(run("undo", "--list"), home) == ["The journal is empty."]
    done = run("undo", "--json")
    assert (done.exit, done.envelope["error"]["code"]) == (1, "nothing_to_undo")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, home: Path, project: Path) -> None:
    done = run("completion", shell)
    assert (done.exit, b"_HOMEPORT_COMPLETE" in done.stdout, bool(done.stderr)) == (0, True, True)
