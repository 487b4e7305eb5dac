"""P: which file, whose it is, and what may be done to it."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from homeport.installer.plan.launcher import bundled_server
from tests.cases.machine import Home, is_root, refused, said
from tests.made import MadeDisk, Program, make_environment

NOBODY = 65534
EMPTY = '{\n  "mcpServers": {}\n}\n'


def test_p01_claude_codes_own_variable_moves_its_file(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (tmp_path / "cfg").mkdir()
    home.install("claude-code", variables={"CLAUDE_CONFIG_DIR": str(tmp_path / "cfg")})
    assert "ledger" in json.loads((tmp_path / "cfg" / ".claude.json").read_bytes())["mcpServers"]
    assert home.litter() == set()


@pytest.mark.parametrize(
    ("xdg", "expected"),
    [("{tmp}/xdg", "{tmp}/xdg/opencode/opencode.json"), ("rel/dir", "{home}/.config/opencode/opencode.json"),
     ("", "{home}/.config/opencode/opencode.json")],
    ids=["absolute", "relative", "empty"],
)  # fmt: skip
def test_p02_xdg_moves_opencode_when_absolute_and_nobody_else(tmp_path: Path, xdg: str, expected: str) -> None:
    home = Home(tmp_path)
    (tmp_path / "xdg" / "opencode").mkdir(parents=True)
    variables = {"XDG_CONFIG_HOME": xdg.format(tmp=tmp_path)}

    def file(client: str) -> str:
        done = home.run("install", "--client", client, "--json", variables=variables)
        return str(done.envelope["result"]["clients"][0]["file"])

    assert file("opencode") == expected.format(tmp=tmp_path, home=home.path)
    assert file("claude-code") == f"{home.path}/.claude.json"
    assert file("codex") == f"{home.path}/.codex/config.toml"


@pytest.mark.parametrize("kept", ["dots/claude.json", "dots/deep/../claude.json"])
def test_p04_a_link_stays_a_link(tmp_path: Path, kept: str) -> None:
    home = Home(tmp_path)
    (home.path / "dots" / "deep").mkdir(parents=True)
    home.file("dots/claude.json", EMPTY)
    (home.path / ".claude.json").symlink_to(kept)
    home.install("claude-code")
    assert os.readlink(home.path / ".claude.json") == kept
    assert "ledger" in home.value("dots/claude.json", "mcpServers")


def test_p04_a_link_to_nothing_gets_its_file(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.path / "dots").mkdir()
    (home.path / ".cursor" / "mcp.json").symlink_to("../dots/cursor.json")
    assert home.install("cursor").exit == 0
    assert (home.path / ".cursor" / "mcp.json").is_symlink()
    assert "ledger" in home.value("dots/cursor.json", "mcpServers")


def test_p06_a_store_that_is_read_only_is_refused_with_the_text_to_add(tmp_path: Path) -> None:
    home = Home(tmp_path)
    store = home.file("store/cfg.json", EMPTY)
    (home.path / ".claude.json").symlink_to("store/cfg.json")
    store.chmod(0o444)
    store.parent.chmod(0o555)
    if is_root():
        # As a person would meet it: the mode stops everybody but root.
        for path in (tmp_path, *tmp_path.parents):
            if path.stat().st_uid == 0 and path.is_relative_to(tmp_path.parents[1]):
                path.chmod(0o755)
        for folder, names, files in os.walk(home.path):
            for name in (".", *names, *files):
                os.chown(os.path.join(folder, name), NOBODY, NOBODY, follow_symlinks=False)
    # Everything is loaded before root's rights are given up: the interpreter may lie where nobody else can read.
    load = "import base64, difflib, filelock, hashlib, importlib, os, pkgutil, psutil, shellingham, sys, homeport; "
    load += "[importlib.import_module(one.name) for one in pkgutil.walk_packages(homeport.__path__, 'homeport.')"
    load += " if 'server' not in one.name and '__main__' not in one.name]; "
    drop = "os.setgid(int(sys.argv[1])); os.setuid(int(sys.argv[1])); " if is_root() else ""
    code = load + drop + "from homeport.cli.main import main; sys.exit(main(sys.argv[2:]))"
    words = ["install", "--client", "claude-code", "--name", "ledger", "--write", "--via", "file", "--", "/opt/ledger"]
    done = subprocess.run(
        [sys.executable, "-c", code, str(NOBODY), *words],
        cwd=home.path,
        env={"HOME": str(home.path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
    )
    store.parent.chmod(0o755)
    message = (done.stdout + done.stderr).decode()
    assert done.returncode == 1, message
    assert all(text in message for text in (str(store), "read-only", '"command": "/opt/ledger"'))
    assert home.unchanged()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_p07_the_mode_stays_and_a_new_file_is_private(tmp_path: Path, mode: int) -> None:
    home = Home(tmp_path)
    path = home.file(".cursor/mcp.json", EMPTY)
    path.chmod(mode)
    home.install("cursor")
    home.install("codex")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert stat.S_IMODE((home.path / ".codex/config.toml").stat().st_mode) == 0o600
    journal = home.path / ".local/state/homeport/journal"
    assert {stat.S_IMODE(record.stat().st_mode) for record in journal.iterdir()} == {0o600}
    assert stat.S_IMODE(journal.stat().st_mode) == 0o700


def test_p08_a_bare_command_is_made_absolute_for_a_gui_client(tmp_path: Path) -> None:
    home = Home(tmp_path)
    program = home.file(".local/bin/ledger", "#!/bin/sh\n")
    program.chmod(0o755)
    variables = {"PATH": f"{program.parent}:/usr/bin:/bin"}
    for client, name in (
        ("claude-desktop", ".config/Claude/claude_desktop_config.json"),
        ("cursor", ".cursor/mcp.json"),
    ):
        home.install(client, "--name", "ledger", "--", "ledger", "serve", variables=variables)
        assert home.value(name, "mcpServers", "ledger", "command") == str(program)
    home.install("opencode", "--name", "ledger", "--", "ledger", "serve", variables=variables)
    assert home.value(".config/opencode/opencode.json", "mcp", "ledger", "command")[0] == "ledger"


def test_p09_a_launcher_that_lasts_is_written_and_not_the_cache() -> None:
    cache = "/home/ada/.cache/uv/archive-v0/Zk3/bin"
    environment = make_environment(
        python=type(make_environment().home)(f"{cache}/python"),
        variables={"PATH": f"{cache}:/home/ada/.local/bin:/usr/bin"},
    )
    disk = MadeDisk(environment, {f"{cache}/homeport": Program(), "/home/ada/.local/bin/homeport": Program()})
    server = bundled_server((), environment, disk, portable=False)
    assert (server.command.shown(), [word.shown() for word in server.args]) == (
        "/home/ada/.local/bin/homeport",
        ["serve"],
    )


@pytest.mark.skipif(not is_root(), reason="only root can give files away")
@pytest.mark.parametrize("existing", [True, False])
def test_p12_under_sudo_everything_stays_the_persons(tmp_path: Path, existing: bool) -> None:
    home = Home(tmp_path)
    if existing:
        home.file(".claude.json", EMPTY).chmod(0o600)
    for folder, names, files in os.walk(home.path):
        for name in (".", *names, *files):
            os.chown(os.path.join(folder, name), 1000, 1000)
    done = home.install("claude-code", variables={"SUDO_UID": "1000", "SUDO_GID": "1000", "SUDO_USER": "nora"})
    assert done.exit == 0, said(done)
    owners = {path: (path.stat().st_uid, path.stat().st_gid) for path in home.path.rglob("*")}
    assert {path: owner for path, owner in owners.items() if owner != (1000, 1000)} == {}
    assert stat.S_IMODE((home.path / ".claude.json").stat().st_mode) == 0o600


@pytest.mark.skipif(not is_root(), reason="only root can be in somebody else's home")
def test_p12_root_in_somebody_elses_home_is_refused(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(".claude.json", EMPTY)
    os.chown(home.path, 1000, 1000)
    refused(home, home.install("claude-code"), str(home.path), "root")


def test_p13_spaces_and_quotes_arrive_as_one_word(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.install("cursor", "--name", "ledger", "--", "/opt/My Tools/ledger", "--root", "/srv/Depot Nord/a'b")
    found = home.value(".cursor/mcp.json", "mcpServers", "ledger")
    assert (found["command"], found["args"]) == ("/opt/My Tools/ledger", ["--root", "/srv/Depot Nord/a'b"])


def test_p15_files_that_only_look_right_are_left_alone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for name in (".mcp.json", ".claude/settings.json", ".claude/mcp.json"):
        home.file(name, EMPTY)
    home.install("claude-code")
    assert home.unchanged()
    assert home.litter() == {".claude.json"}


def test_p16_a_worktree_has_its_own_root(tmp_path: Path) -> None:
    home = Home(tmp_path)
    main = tmp_path / "main"
    (main / ".git").mkdir(parents=True)
    source = main / "wt" / "feature" / "src"
    source.mkdir(parents=True)
    (source.parent / ".git").write_text(f"gitdir: {main}/.git/worktrees/feature\n")
    home.install("claude-code", level="project", cwd=source)
    assert (source.parent / ".mcp.json").is_file()
    assert not (main / ".mcp.json").exists()
