"""P, where a right-looking file at the wrong place stands in the way. The rest is in test_place_cases.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cases.machine import CLAUDE, CODEX, COMMAND, CURSOR, LEDGER, OPENCODE, PROJECT, Home, mode_of, said

MOVED = [
    ("claude-code", "CLAUDE_CONFIG_DIR", CLAUDE, "cfg/.claude.json"),
    ("codex", "CODEX_HOME", CODEX, "cfg/config.toml"),
    ("opencode", "OPENCODE_CONFIG_DIR", OPENCODE, "cfg/opencode.json"),
]


@pytest.mark.parametrize(("client", "variable", "usual", "moved"), MOVED, ids=[row[0] for row in MOVED])
def test_p01_an_entry_at_the_usual_place_does_not_count_for_a_client_that_moved(
    tmp_path: Path, client: str, variable: str, usual: str, moved: str
) -> None:
    home = Home(tmp_path, quick=True)
    (home.path / "cfg").mkdir()
    home.install(client)
    home.file(usual, home.read(usual))
    variables = {variable: str(home.path / "cfg")}
    done = home.install(client, "--json", *LEDGER, variables=variables).envelope["result"]["clients"][0]
    assert (done["outcome"], done["file"]) == ("created", str(home.path / moved))
    assert home.unchanged()
    home.run("undo", "--write", variables=variables)
    assert home.litter() == set()


@pytest.mark.parametrize("xdg", ["moved", "gone"])
def test_p02_what_lies_at_the_place_xdg_moved_from_is_left(tmp_path: Path, xdg: str) -> None:
    home = Home(tmp_path, quick=True)
    home.file(OPENCODE, '{ "mcp": {} }')
    (tmp_path / "moved" / "opencode").mkdir(parents=True)
    done = home.install("opencode", variables={"XDG_CONFIG_HOME": str(tmp_path / xdg)})
    assert done.exit == (0 if xdg == "moved" else 1), said(done)
    assert home.unchanged()
    assert not (tmp_path / "gone").exists()


def test_p04_a_link_in_a_project_is_followed_within_and_out_of_it(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    shared = home.file("dots/shared.json", '{ "mcpServers": {} }')
    shared.chmod(0o640)
    link = home.project / ".mcp.json"
    link.symlink_to("../../dots/shared.json")
    home.install("claude-code", level="project")
    assert (os.readlink(link), mode_of(shared)) == ("../../dots/shared.json", 0o640)
    assert home.value("dots/shared.json", "mcpServers", "ledger", "command") == COMMAND


def test_p04_two_links_to_one_file_are_one_file(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    home.file("dots/mcp.json", '{ "mcpServers": {} }\n')
    home.link(CURSOR, home.path / "dots" / "mcp.json")
    (home.project / ".cursor").mkdir()
    home.link(f"{PROJECT}/.cursor/mcp.json", home.path / "dots" / "mcp.json")
    assert home.install("cursor").exit == 0
    assert home.value("dots/mcp.json", "mcpServers", "ledger", "command") == COMMAND
    assert home.install("cursor", level="project").exit == 0
    assert home.value("dots/mcp.json", "mcpServers", "ledger", "command") == COMMAND
    assert home.litter() == set()


def test_p15_an_entry_in_a_file_that_is_not_read_does_not_make_us_unchanged(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    decoy = f'{{ "mcpServers": {{ "ledger": {{ "command": "{COMMAND}", "args": ["serve"] }} }} }}'
    for name in (".claude/settings.json", ".claude/mcp.json", ".claude/.mcp.json"):
        home.file(name, decoy)
    done = home.install("claude-code", "--json", *LEDGER).envelope["result"]["clients"][0]
    assert (done["outcome"], done["file"]) == ("created", str(home.path / CLAUDE))
    assert home.unchanged()


@pytest.mark.parametrize(
    "target", [["--", "/bin/sh", "serve"], ["https://ledger.example/mcp"]], ids=["stdio", "remote"]
)
def test_p16_status_and_uninstall_find_the_project_from_any_depth(tmp_path: Path, target: list[str]) -> None:
    home = Home(tmp_path, quick=True)
    deep = home.project / "src" / "a" / "b"
    deep.mkdir(parents=True)
    home.install("cursor", "--name", "ledger", *target, level="project", cwd=home.project)
    status = home.run("status", "--client", "cursor", "--name", "ledger", "--json", cwd=deep)
    rows = status.envelope["result"]["clients"][0]["registrations"]
    assert [(one["level"], one["status"]) for one in rows] == [("project", "live")]
    gone = home.run("uninstall", "ledger", "--client", "cursor", "--level", "project", "--write", cwd=deep)
    assert gone.exit == 0, said(gone)
    assert not (home.project / ".cursor" / "mcp.json").exists()
