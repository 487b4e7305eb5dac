"""S: entries that hide ours, and whose they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases.machine import Home, as_text, refused, said

ROTA = {"command": "/opt/rota/rota"}
OLD = {"type": "stdio", "command": "/old/python", "args": ["-m", "homeport", "serve"], "env": {}}
FOREIGN = {"command": "/home/nora/own.sh", "args": ["--mine"]}
# Our own server, whose entries are known by what they run. --force: the interpreter of a test may lie anywhere.
OURS = ("--force",)


def claude(home: Home, **projects: Any) -> None:
    records = {str(home.project if key == "here" else key): value for key, value in projects.items()}
    home.file(".claude.json", as_text({"mcpServers": {}, "projects": records}))


def test_s01_the_local_entry_goes_another_projects_stays_and_both_are_told(tmp_path: Path) -> None:
    home = Home(tmp_path)
    here = {"allowedTools": ["x"], "mcpServers": {"homeport": OLD, "rota": ROTA}}
    record = {str(home.project): here, "/srv/other": {"mcpServers": {"homeport": OLD}}}
    home.file(".claude.json", as_text({"mcpServers": {}, "projects": record}))
    done = home.install("claude-code", *OURS)
    assert home.value(".claude.json", "mcpServers", "homeport", "args")[:2] == ["-m", "homeport"]
    assert home.value(".claude.json", "projects", str(home.project)) == {
        "allowedTools": ["x"],
        "mcpServers": {"rota": ROTA},
    }
    assert home.value(".claude.json", "projects", "/srv/other", "mcpServers", "homeport") == OLD
    assert all(text in said(done) for text in (str(home.project), "/srv/other"))
    home.run("undo", "--write")
    assert home.unchanged()


@pytest.mark.parametrize("client", ["claude-code", "cursor", "opencode", "codex"])
def test_s01_a_projects_entry_of_ours_goes_and_a_foreign_one_is_told(tmp_path: Path, client: str) -> None:
    home = Home(tmp_path)
    home.install(client, *OURS, level="project")
    kept = home.run("install", "--client", client, "--keep-shadows", "--json").envelope["result"]["clients"][0]
    assert [shadow["ours"] for shadow in kept["shadowed_by"]] == [True]
    removed = home.install(client, *OURS, "--json").envelope["result"]["clients"][0]["removed"]
    assert len(removed) == 1
    assert home.run("status", "--client", client).exit == 0


def test_s03_a_foreign_entry_of_the_name_is_refused_and_shown(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(".cursor/mcp.json", as_text({"mcpServers": {"ledger": FOREIGN}}))
    refused(home, home.install("cursor"), "ledger", "/home/nora/own.sh", "--replace")
    home.install("cursor", "--replace", "--name", "ledger", "--", "/x")
    assert home.value(".cursor/mcp.json", "mcpServers", "ledger", "command") == "/x"
    home.run("undo", "--write")
    assert home.unchanged()


def test_s03_what_a_person_added_to_our_entry_stays(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.install("cursor")
    source = home.read(".cursor/mcp.json").replace(b'"command":', b'"disabled": true,\n      "command":')
    home.file(".cursor/mcp.json", source)
    home.install("cursor", "--name", "ledger", "--", "/opt/ledger/bin/ledger", "serve", "--more")
    found = home.value(".cursor/mcp.json", "mcpServers", "ledger")
    assert (found["disabled"], found["args"]) == (True, ["serve", "--more"])


def test_s04_one_server_at_two_levels_is_a_problem_that_status_tells(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.install("opencode", *OURS)
    home.install("opencode", *OURS, level="project")
    done = home.run("status", "--client", "opencode")
    assert done.exit == 1
    assert ".config/opencode/opencode.json" in said(done)
    assert "work/depot/opencode.json" in said(done)


def test_s05_a_disabled_list_is_told_and_left_alone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    claude(home, here={"mcpServers": {}, "disabledMcpServers": ["homeport", "rota"]})
    home.install("claude-code", *OURS)
    done = home.run("status", "--client", "claude-code")
    assert done.exit == 1
    assert all(text in said(done) for text in ("disabledMcpServers", "homeport"))
    assert home.value(".claude.json", "projects", str(home.project), "disabledMcpServers") == ["homeport", "rota"]


@pytest.mark.parametrize("word", ["mcpServers", "mcp"])
def test_s07_an_entry_under_a_container_that_is_not_read_goes(tmp_path: Path, word: str) -> None:
    home = Home(tmp_path)
    entry = 'command = "/old/python"\nargs = ["-m", "homeport", "serve"]\n'
    home.file(".codex/config.toml", f'[{word}.homeport]\n{entry}\n[{word}.rota]\ncommand = "/opt/rota"\n')
    home.install("codex", *OURS)
    assert home.value(".codex/config.toml", word) == {"rota": {"command": "/opt/rota"}}
    assert "homeport" in home.value(".codex/config.toml", "mcp_servers")


def test_s08_an_emptied_record_does_not_hide_the_users_entry(tmp_path: Path) -> None:
    home = Home(tmp_path)
    claude(home, here={"mcpServers": {"homeport": OLD}, "hasTrustDialogAccepted": True})
    home.install("claude-code", *OURS)
    record = home.value(".claude.json", "projects", str(home.project))
    assert record == {"mcpServers": {}, "hasTrustDialogAccepted": True}
    rows = home.run("status", "--client", "claude-code", "--json").envelope["result"]["clients"][0]["registrations"]
    assert [(row["level"], row["status"]) for row in rows] == [("user", "live")]


def test_s09_a_parents_entry_is_told_and_left_alone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file("work/.mcp.json", as_text({"mcpServers": {"homeport": OLD}}))
    done = home.run("install", "--client", "claude-code", "--json")
    shadows = done.envelope["result"]["clients"][0]["shadowed_by"]
    assert [(shadow["level"], shadow["file"]) for shadow in shadows] == [("parent", str(home.path / "work/.mcp.json"))]
    home.install("claude-code", *OURS)
    assert home.unchanged()


def test_a_losing_file_of_the_same_folder_gives_its_entry_up(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(
        ".config/opencode/opencode.json", '{"mcp": {"homeport": {"type": "local", "command": ["homeport", "serve"]}}}'
    )
    home.file(".config/opencode/opencode.jsonc", "{\n  // mine\n}\n")
    home.install("opencode", *OURS)
    assert home.value(".config/opencode/opencode.json", "mcp") == {}
    assert "homeport" in home.value(".config/opencode/opencode.jsonc", "mcp")


def test_levels_that_would_make_an_entry_codex_dies_of_are_refused(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file("work/depot/.codex/config.toml", '[mcp_servers.ledger]\nurl = "http://127.0.0.1:1/mcp"\n')
    refused(home, home.install("codex"), "command", "url", "work/depot/.codex/config.toml")
