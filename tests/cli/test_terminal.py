"""Questions to a person, at a real terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.running import write
from tests.cli.terminal import homeport_at_a_terminal

ROTA = ("--name", "rota", "--", "/opt/rota", "serve")
ENTRY = {"type": "stdio", "command": "/opt/rota", "args": ["serve"]}
COLOUR = re.compile(r"\x1b\[[\d;]*(?:3[0-8]|4[0-8]|9[0-7])[\d;]*m")


def test_a_checklist_of_the_clients_found_then_the_plan_then_yes(home: Path, project: Path) -> None:
    (home / ".codex").mkdir()
    with homeport_at_a_terminal("install", *ROTA, home=home, cwd=project) as terminal:
        shown = terminal.wait_for("Which clients?")
        assert "Cursor: would be added" in shown
        assert re.search(r"Muse Code: .*not installed", shown)
        # Codex is unticked: the cursor stands on the first client that can be chosen.
        terminal.press("Down", "Space", "Enter")
        shown = terminal.wait_for("Apply?")
        assert '"command": "/opt/rota"' in shown
        assert "mcp_servers" not in shown
        terminal.press("y")
        assert terminal.exit_code() == 0
        assert "Cursor: added 'rota'" in terminal.screen()
    assert json.loads((home / ".cursor/mcp.json").read_bytes()) == {"mcpServers": {"rota": ENTRY}}
    assert not (home / ".codex/config.toml").exists()


@pytest.mark.parametrize(("keys", "code"), [(("n",), 0), (("Enter",), 0), (("C-c",), 130)], ids=["no", "Enter", "^C"])
def test_anything_but_yes_writes_nothing(keys: tuple[str, ...], code: int, home: Path, project: Path) -> None:
    with homeport_at_a_terminal("install", "--client", "cursor", *ROTA, home=home, cwd=project) as terminal:
        terminal.wait_for("Apply?")
        terminal.press(*keys)
        assert terminal.exit_code() == code
        shown = terminal.screen()
    assert ("Nothing was written." if code == 0 else "interrupted; nothing more was changed") in shown
    assert "Traceback" not in shown
    assert not (home / ".cursor/mcp.json").exists()


def test_a_file_that_the_clients_program_writes_asks_which_way(home: Path, project: Path) -> None:
    write(home / ".claude.json", '{\n  "numStartups": 7\n}\n')
    with homeport_at_a_terminal("install", "--client", "claude-code", *ROTA, home=home, cwd=project) as terminal:
        shown = terminal.wait_for("by the client's own command")
        assert "claude mcp add --scope user rota -- /opt/rota serve" in shown
        terminal.press("Down", "Enter")
        assert terminal.exit_code() == 0
    assert json.loads((home / ".claude.json").read_bytes()) == {"numStartups": 7, "mcpServers": {"rota": ENTRY}}


def test_where_nothing_would_change_nothing_is_asked(home: Path, project: Path) -> None:
    write(home / ".cursor/mcp.json", json.dumps({"mcpServers": {"rota": ENTRY}}))
    with homeport_at_a_terminal("install", "--client", "cursor", *ROTA, home=home, cwd=project) as terminal:
        assert terminal.exit_code() == 0
        assert "is there already, as it should be" in terminal.screen()


def test_a_refused_client_is_not_asked_about(home: Path, project: Path) -> None:
    write(home / ".cursor/mcp.json", "{")
    with homeport_at_a_terminal("install", "--client", "cursor", *ROTA, home=home, cwd=project) as terminal:
        assert terminal.exit_code() == 0
        assert "refused with --write" in terminal.screen()


def test_an_empty_checklist_is_a_usage_error(home: Path, project: Path) -> None:
    with homeport_at_a_terminal("install", *ROTA, home=home, cwd=project) as terminal:
        terminal.wait_for("Which clients?")
        terminal.press("Space", "Enter")
        assert terminal.exit_code() == 2
        assert "no client was chosen" in terminal.screen()


def test_a_checklist_that_is_left_is_an_interrupt(home: Path, project: Path) -> None:
    with homeport_at_a_terminal("install", *ROTA, home=home, cwd=project) as terminal:
        terminal.wait_for("Which clients?")
        terminal.press("C-c")
        assert terminal.exit_code() == 130


def test_undo_asks_too(home: Path, project: Path) -> None:
    for line in (("install", "--client", "cursor", *ROTA), ("undo",)):
        with homeport_at_a_terminal(*line, home=home, cwd=project) as terminal:
            terminal.wait_for("Apply?")
            terminal.press("y")
            assert terminal.exit_code() == 0
    assert not (home / ".cursor/mcp.json").exists()


def test_no_color_is_respected(home: Path, project: Path) -> None:
    line = ("install", "--client", "cursor", *ROTA)
    with homeport_at_a_terminal(*line, home=home, cwd=project) as terminal:
        terminal.wait_for("Apply?")
        assert COLOUR.search(terminal.screen(with_colours=True))
    with homeport_at_a_terminal(*line, home=home, cwd=project, variables={"NO_COLOR": "1"}) as terminal:
        terminal.wait_for("Apply?")
        assert not COLOUR.search(terminal.screen(with_colours=True))
