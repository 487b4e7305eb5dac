"""P: which file it is, and whose home."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cases.machine import (
    CLAUDE,
    CODEX,
    CURSOR,
    DESKTOP,
    LEDGER,
    OPENCODE,
    PROJECT,
    Home,
    read_json,
    written,
)

NOBODY = 65534
EMPTY = '{\n  "mcpServers": {}\n}\n'


@pytest.mark.parametrize(
    ("client", "variable", "value", "file"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "HOME/cfg", "cfg/.claude.json"),
        ("claude-code", "CLAUDE_CONFIG_DIR", "", ".claude.json"),
        ("claude-code", "CLAUDE_CONFIG_DIR", "cfg", f"{PROJECT}/cfg/.claude.json"),
        ("codex", "CODEX_HOME", "HOME/cfg", "cfg/config.toml"),
        ("codex", "CODEX_HOME", "", CODEX),
        ("opencode", "OPENCODE_CONFIG_DIR", "HOME/cfg", "cfg/opencode.json"),
        ("opencode", "OPENCODE_CONFIG", "HOME/cfg/own.json", "cfg/own.json"),
        ("opencode", "OPENCODE_CONFIG", "", OPENCODE),
    ],
)
def test_p01_the_clients_own_variable_moves_its_file(
    tmp_path: Path, client: str, variable: str, value: str, file: str
) -> None:
    home = Home(tmp_path)
    (home.path / "cfg").mkdir()
    (home.project / "cfg").mkdir()
    variables = {variable: value.replace("HOME", str(home.path))}
    done = home.install(client, variables=variables)
    written(home, file, lambda: home.install(client, variables=variables), done)
    assert home.litter() == {file}


@pytest.mark.parametrize(
    ("xdg", "moved"), [("{tmp}/xdg", True), ("rel/dir", False), ("", False)], ids=["absolute", "relative", "empty"]
)
def test_p02_xdg_moves_those_who_follow_it_when_absolute_and_nobody_else(tmp_path: Path, xdg: str, moved: bool) -> None:
    home = Home(tmp_path, quick=True)
    (tmp_path / "xdg" / "opencode").mkdir(parents=True)
    variables = {"XDG_CONFIG_HOME": xdg.format(tmp=tmp_path)}

    def file(client: str) -> str:
        done = home.run("install", "--client", client, "--json", *LEDGER, variables=variables)
        return str(done.envelope["result"]["clients"][0]["file"] or done.envelope["error"]["details"])

    base = f"{tmp_path}/xdg" if moved else f"{home.path}/.config"
    assert file("opencode") == f"{base}/opencode/opencode.json"
    assert f"{base}/muse" in file("muse-code")
    assert file("claude-code") == f"{home.path}/{CLAUDE}"
    assert file("codex") == f"{home.path}/{CODEX}"
    assert file("cursor") == f"{home.path}/{CURSOR}"


@pytest.mark.parametrize("given", [{}, {"HOME": "/"}, {"HOME": ""}], ids=["missing", "root", "empty"])
def test_p11_the_server_keeps_its_state_in_the_accounts_own_home(tmp_path: Path, given: dict[str, str]) -> None:
    account = tmp_path / "account"
    account.mkdir()
    # The account's entry in the user database, for this process alone.
    code = (
        "import pwd, sys; real = pwd.getpwuid(0); "
        f"pwd.getpwuid = lambda number: pwd.struct_passwd((*real[:5], {str(account)!r}, real[6])); "
        "from homeport.cli.main import main; sys.exit(main(['serve']))"
    )
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    note = {"command": "create", "path": "/user/note.md", "file_text": "kept"}
    lines: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": start},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {"id": 3, "method": "tools/call", "params": {"name": "memory", "arguments": note}},
    ]
    before = set(os.listdir("/"))
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd="/",
        env={"PATH": "/usr/bin:/bin", **given},
        input=b"".join(json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n" for line in lines),
        capture_output=True,
        timeout=60,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, [answer["id"] for answer in answers]) == (0, [1, 2, 3]), done.stderr
    assert answers[2]["result"].get("isError") is not True, answers[2]
    assert [path.read_text() for path in account.rglob("note.md")] == ["kept"]
    assert set(os.listdir("/")) == before


def test_p11_the_installer_refuses_the_root_folder_for_a_home(tmp_path: Path) -> None:
    home = Home(tmp_path)
    before = set(os.listdir("/"))
    code = (
        f"import os, sys, filelock, homeport.cli.install, homeport.installer.apply.carry_out; "
        f"os.getuid() or os.setuid({NOBODY}); from homeport.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    words = ("install", "--client", "cursor", "--config", str(home.path / CURSOR), "--write", *LEDGER)
    done = subprocess.run([sys.executable, "-c", code, *words], cwd="/", env={"HOME": "/"}, capture_output=True)
    assert done.returncode == 1
    assert b"HOME" in done.stderr, done.stderr
    assert (set(os.listdir("/")), home.litter()) == (before, set())


@pytest.mark.parametrize(
    ("client", "level", "lookalikes", "right"),
    [
        ("claude-code", "user", [".mcp.json", ".claude/settings.json", ".claude/mcp.json", ".claude/.claude.json"],
         CLAUDE),
        ("claude-code", "project", [f"{PROJECT}/.claude/mcp.json", f"{PROJECT}/mcp.json"], f"{PROJECT}/.mcp.json"),
        ("cursor", "user", [".mcp.json", ".cursor/settings.json", ".config/Cursor/mcp.json"], CURSOR),
        ("cursor", "project", [f"{PROJECT}/mcp.json", f"{PROJECT}/.mcp.json"], f"{PROJECT}/.cursor/mcp.json"),
        ("codex", "user", [".codex/config.json", ".codex/mcp.toml", ".config/codex/config.toml"], CODEX),
        ("opencode", "user", [".opencode.json", ".config/opencode/mcp.json"], OPENCODE),
        ("muse-code", "user", [".muse/settings.json", ".config/muse/mcp.json"], ".config/muse/settings.json"),
        ("claude-desktop", "user", [".config/Claude/config.json", ".config/Claude/mcp.json"], DESKTOP),
    ],
)  # fmt: skip
def test_p15_files_that_only_look_right_are_left_alone(
    tmp_path: Path, client: str, level: str, lookalikes: list[str], right: str
) -> None:
    home = Home(tmp_path)
    for name in lookalikes:
        home.file(name, EMPTY)
    assert home.install(client, level=level).exit == 0
    assert home.unchanged()
    assert home.litter() == {right}


@pytest.mark.parametrize(
    ("client", "name"),
    [("claude-code", ".mcp.json"), ("cursor", ".cursor/mcp.json"), ("codex", ".codex/config.toml"),
     ("opencode", "opencode.json"), ("muse-code", ".mcp.json")],
)  # fmt: skip
@pytest.mark.parametrize("mark", ["worktree", "submodule", "repository", "none"])
def test_p16_the_project_is_the_nearest_checkout(tmp_path: Path, client: str, name: str, mark: str) -> None:
    home = Home(tmp_path, quick=True)
    main = tmp_path / "main"
    here = main / "wt" / "feature" / "src"
    here.mkdir(parents=True)
    if mark != "none":
        (main / ".git").mkdir()
    inner = here.parent / ".git"
    if mark == "repository":
        inner.mkdir()
    elif mark != "none":
        where = "worktrees/feature" if mark == "worktree" else "modules/feature"
        inner.write_text(f"gitdir: {main}/.git/{where}\n")
    assert home.install(client, level="project", cwd=here).exit == 0
    root = here if mark == "none" else here.parent
    found = [path for path in main.rglob("*") if path.is_file() and path != inner]
    assert found == [root / name]
    assert stat.S_IMODE(found[0].stat().st_mode) == 0o644


def test_p16_without_a_repository_nothing_above_is_taken_for_the_project(tmp_path: Path) -> None:
    home = Home(tmp_path)
    plain = tmp_path / "plain" / "deep"
    plain.mkdir(parents=True)
    (plain.parent / "package.json").write_text("{}")
    home.install("cursor", level="project", cwd=plain)
    assert "ledger" in read_json((plain / ".cursor" / "mcp.json").read_bytes())["mcpServers"]
    assert sorted(os.listdir(plain.parent)) == ["deep", "package.json"]
