"""P: which file, whose it is, and what may be done to it."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any

import pytest

from homeport.errors import HomeportError
from homeport.installer.clients.references import parse_text, plain_text
from homeport.installer.clients.values import Reference, Registration, Stdio, Text
from homeport.installer.plan.launcher import bundled_server
from homeport.installer.plan.request import InstallRequest
from tests.cases.machine import (
    CLAUDE,
    CODEX,
    COMMAND,
    CURSOR,
    DESKTOP,
    LEDGER,
    OPENCODE,
    PROJECT,
    Home,
    is_root,
    mode_of,
    planned,
    read_json,
    refused,
    said,
    written,
)
from tests.harness import Completed
from tests.made import FOLDER, LinkTo, MadeDisk, Program, Thing, make_environment

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


@pytest.mark.parametrize(
    ("client", "name"), [("claude-code", CLAUDE), ("cursor", CURSOR), ("codex", CODEX), ("opencode", OPENCODE)]
)
@pytest.mark.parametrize("way", ["relative", "absolute", "chain", "folder", "dangling"])
def test_p04_a_link_stays_a_link_and_its_target_gets_the_entry(
    tmp_path: Path, client: str, name: str, way: str
) -> None:
    home = Home(tmp_path, quick=True)
    (home.path / "dots").mkdir()
    kept = home.path / "dots" / "kept"
    if way != "dangling":
        home.file("dots/kept", "" if client == "codex" else "{}")
    link = home.path / name
    text = os.path.relpath(kept, link.parent) if way in ("relative", "dangling") else str(kept)
    if way == "chain":
        (home.path / "dots" / "between").symlink_to("kept")
        text = os.path.relpath(home.path / "dots" / "between", link.parent)
    if way == "folder":
        (home.path / "linked").symlink_to("dots")
        text = str(home.path / "linked" / "kept")
    link.symlink_to(text)
    done = home.install(client)
    assert (done.exit, os.readlink(link), kept.is_symlink()) == (0, text, False)
    assert b"ledger" in kept.read_bytes()
    assert sorted(os.listdir(kept.parent)) == (["between", "kept"] if way == "chain" else ["kept"])
    home.uninstall(client)
    assert os.readlink(link) == text
    assert (home.unchanged(), kept.exists()) == (True, way != "dangling")


def test_p04_links_that_go_round_are_refused(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.path / CURSOR).symlink_to("other.json")
    (home.path / ".cursor" / "other.json").symlink_to("mcp.json")
    refused(home, home.install("cursor"), str(home.path / CURSOR))


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that another user can get to; pytest's own are private."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def as_nobody(home: Home, *words: str) -> Completed:
    """As a person would meet it: modes stop everybody but root."""
    if not is_root():
        return home.run(*words)
    for folder_name, names, files in os.walk(home.path):
        for name in (".", *names, *files):
            os.chown(os.path.join(folder_name, name), NOBODY, NOBODY, follow_symlinks=False)
    # Everything is loaded before root's rights are given up: the interpreter may lie where nobody else can read.
    code = (
        "import base64, difflib, filelock, hashlib, importlib, os, pkgutil, psutil, shellingham, sys, homeport; "
        "[importlib.import_module(one.name) for one in pkgutil.walk_packages(homeport.__path__, 'homeport.')"
        " if 'server' not in one.name and '__main__' not in one.name]; "
        f"os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY}); "
        "from homeport.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    return home.python(code, *words)


@pytest.mark.parametrize("way", ["store", "file", "folder", "root-as-well"])
@pytest.mark.parametrize(("client", "link"), [("claude-code", CLAUDE), ("cursor", CURSOR)])
def test_p06_a_store_that_is_read_only_is_refused_with_the_text_to_add(
    open_folder: Path, client: str, link: str, way: str
) -> None:
    home = Home(open_folder)
    store = home.file("store/cfg.json", EMPTY)
    home.link(link, store)
    if way != "folder":
        store.chmod(0o444)
    if way != "file":
        store.parent.chmod(0o555)
    words = ("install", "--client", client, "--write", "--via", "file", *LEDGER)
    done = home.run(*words) if way == "root-as-well" else as_nobody(home, *words)
    store.parent.chmod(0o755)
    refused(home, done, str(store), "read-only", f'"command": "{COMMAND}"')
    assert os.readlink(home.path / link) == str(store)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o400 | 0o200 | 0o4])
def test_p07_the_mode_stays_and_nothing_of_ours_is_read_by_more_people(tmp_path: Path, mode: int) -> None:
    home = Home(tmp_path)
    for name in (CURSOR, CLAUDE, OPENCODE):
        home.file(name, "{}").chmod(mode)
    before = os.umask(0)
    try:
        for client in ("cursor", "claude-code", "opencode", "codex"):
            assert home.install(client).exit == 0
        assert home.install("cursor", level="project").exit == 0
    finally:
        os.umask(before)
    assert {mode_of(home.path / name) for name in (CURSOR, CLAUDE, OPENCODE)} == {mode}
    assert mode_of(home.path / CODEX) == 0o600
    assert mode_of(home.project / ".cursor" / "mcp.json") == 0o644
    state = home.path / ".local" / "state" / "homeport"
    assert {mode_of(path) & 0o077 for path in (state, *state.rglob("*"))} == {0}
    home.run("undo", "--write")
    home.uninstall("claude-code")
    assert mode_of(home.path / CLAUDE) == mode


def test_p07_the_temporary_file_is_never_open_to_more_people(tmp_path: Path) -> None:
    """Each mode that a new file of the target's folder ever had, seen at every system call that could change it."""
    home = Home(tmp_path)
    home.file(CURSOR, "{}").chmod(0o600)
    code = (
        "import os, stat, sys; from homeport import files; from homeport.cli.main import main; seen = []\n"
        "def watched(function):\n"
        "    def watch(*given, **named):\n"
        "        result = function(*given, **named)\n"
        "        folder = os.path.join(os.environ['HOME'], '.cursor')\n"
        "        seen.extend(stat.S_IMODE(os.lstat(f'{folder}/{name}').st_mode) for name in os.listdir(folder))\n"
        "        return result\n"
        "    return watch\n"
        "for name in ('open', 'fchmod', 'fchown', 'fsync', 'replace', 'link', 'unlink'):\n"
        "    setattr(os, name, watched(getattr(os, name)))\n"
        "code = main(sys.argv[1:]); print(code, len(seen) > 3, sorted(set(seen)))"
    )
    done = home.python(code, "install", "--client", "cursor", "--write", *LEDGER)
    assert done.stdout.decode().splitlines()[-1] == f"0 True [{0o600}]"


GUI = {"claude-desktop": "Library/Application Support/Claude/claude_desktop_config.json", "cursor": CURSOR}


@pytest.mark.parametrize("client", [*GUI, "opencode", "claude-code"])
def test_p08_a_bare_command_is_made_absolute_for_a_gui_client_on_macos(client: str) -> None:
    found = PurePath("/Users/nora/.local/bin/ledger")
    environment = make_environment("darwin", search=lambda name: found if name == "ledger" else None)
    things: dict[str, Thing] = {f"~/{file}": EMPTY.encode() for file in GUI.values()}
    things |= {"~/.config/opencode": FOLDER, "~/.claude": FOLDER}
    disk = MadeDisk(environment, things)
    for command, expected in (("ledger", str(found)), ("unknown", "unknown"), ("./ledger", "./ledger")):
        request = InstallRequest((Registration("ledger", Stdio(parse_text(command))),), via="file")
        row = planned(client, request, environment, disk).rows[0]
        assert row.entry is not None
        spelled = row.entry["command"]
        assert spelled in ((expected,) if client in GUI else (command, [command]))


def test_p08_on_linux_it_is_found_on_the_path_of_the_person(tmp_path: Path) -> None:
    home = Home(tmp_path)
    program = home.file(".local/bin/ledger", "#!/bin/sh\n")
    program.chmod(0o755)
    variables = {"PATH": f"{program.parent}:/usr/bin:/bin"}
    for client, name in (("claude-desktop", DESKTOP), ("cursor", CURSOR)):
        home.install(client, "--name", "ledger", "--", "ledger", "serve", variables=variables)
        assert home.value(name, "mcpServers", "ledger", "command") == str(program)


CACHE = "/home/nora/.cache/uv/archive-v0/Zk3/bin"
BIN = "/home/nora/.local/bin"
CELLAR = "/opt/homebrew/Cellar/homeport/1.2.3"


@pytest.mark.parametrize(
    ("python", "things", "expected"),
    [
        (f"{CACHE}/python", {f"{CACHE}/homeport": Program(), f"{BIN}/homeport": Program()}, [f"{BIN}/homeport"]),
        (f"{CACHE}/python", {f"{CACHE}/uvx": Program(), f"{BIN}/uvx": Program()}, [f"{BIN}/uvx", "homeport=="]),
        ("/home/nora/.cache/pipx/ab/bin/python", {f"{BIN}/pipx": Program()}, [f"{BIN}/pipx", "run", "homeport=="]),
        (f"{CELLAR}/bin/python", {f"{CELLAR}/bin/python": Program(), "/opt/homebrew/opt/homeport": LinkTo(CELLAR)},
         ["/opt/homebrew/opt/homeport/bin/python", "-m", "homeport"]),
        ("/opt/tool/3.4.5/bin/python", {"/opt/tool/3.4.5/bin/python": Program(), "/opt/tool/current": LinkTo("3.4.5")},
         ["/opt/tool/current/bin/python", "-m", "homeport"]),
        ("/home/nora/venv/bin/python", {}, ["/home/nora/venv/bin/python", "-m", "homeport"]),
    ],
    ids=["p09", "uvx", "pipx", "homebrew", "current", "venv"],
)  # fmt: skip
def test_p09_what_is_written_will_be_there_tomorrow(python: str, things: dict[str, Thing], expected: list[str]) -> None:
    environment = make_environment(python=python, variables={"PATH": f"{CACHE}:{BIN}:/usr/bin"})
    server = bundled_server((), environment, MadeDisk(environment, things), portable=False)
    words = [server.command.shown(), *(word.shown() for word in server.args)]
    assert [word.split("==")[0] for word in words] == [*(word.rstrip("=") for word in expected), "serve"]
    assert not any(place in " ".join(words) for place in (".cache/", "Cellar/", "3.4.5"))


def test_p09_a_one_off_runner_without_a_launcher_is_refused_with_the_better_way() -> None:
    environment = make_environment(python=f"{CACHE}/python", variables={"PATH": CACHE})
    with pytest.raises(HomeportError) as caught:
        bundled_server((), environment, MadeDisk(environment, {f"{CACHE}/homeport": Program()}), portable=False)
    assert caught.value.code == "interpreter_unstable"
    assert "uv tool install homeport" in (caught.value.hint or "")


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


@pytest.mark.skipif(not is_root(), reason="only root can give files away")
@pytest.mark.parametrize("existing", [True, False], ids=["existing", "new"])
@pytest.mark.parametrize(("client", "name"), [("claude-code", CLAUDE), ("codex", CODEX)])
def test_p12_under_sudo_everything_stays_the_persons(tmp_path: Path, client: str, name: str, existing: bool) -> None:
    home = Home(tmp_path)
    if existing:
        home.file(name, "" if client == "codex" else EMPTY).chmod(0o600)
    for folder, names, files in os.walk(home.path):
        for one in (".", *names, *files):
            os.chown(os.path.join(folder, one), 1000, 1000)
    variables = {"SUDO_UID": "1000", "SUDO_GID": "1000", "SUDO_USER": "nora"}
    done = home.install(client, variables=variables)
    assert done.exit == 0, said(done)
    home.install(client, level="project", variables=variables)
    home.run("undo", "--write", variables=variables)
    owners = {path: (path.lstat().st_uid, path.lstat().st_gid) for path in home.path.rglob("*")}
    assert {path: owner for path, owner in owners.items() if owner != (1000, 1000)} == {}
    assert mode_of(home.path / name) == 0o600


@pytest.mark.skipif(not is_root(), reason="only root can be in somebody else's home")
def test_p12_root_in_somebody_elses_home_is_refused(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.file(CLAUDE, EMPTY)
    os.chown(home.path, 1000, 1000)
    refused(home, home.install("claude-code"), str(home.path), "root")


SPACED = ["/opt/My Tools/ledger", "serve", "--root", "/srv/Depot Nord/a'b", "", " ", 'c"d']


@pytest.mark.parametrize(
    ("client", "name", "container"),
    [("cursor", CURSOR, "mcpServers"), ("codex", CODEX, "mcp_servers"), ("opencode", OPENCODE, "mcp"),
     ("claude-code", CLAUDE, "mcpServers")],
)  # fmt: skip
def test_p13_spaces_and_quotes_arrive_as_one_word(tmp_path: Path, client: str, name: str, container: str) -> None:
    home = Home(tmp_path)
    home.install(client, "--name", "ledger", "--", *SPACED)
    found = home.value(name, container, "ledger")
    words = found["command"] if client == "opencode" else [found["command"], *found["args"]]
    assert words == SPACED


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_p13_the_printed_line_gives_the_same_words_back(tmp_path: Path, client: str) -> None:
    home = Home(tmp_path)
    printed = home.run("install", "--client", client, "--name", "ledger", "--", *SPACED).stderr.decode()
    line = next(line for line in printed.splitlines() if "its own command: " in line)
    words = shlex.split(line.partition(": ")[2])
    assert words[words.index("--") + 1 :] == SPACED


WINDOWS_SIDE = "/mnt/c/Users/nora/AppData/Roaming/Claude/claude_desktop_config.json"


def in_wsl(server: Stdio, client: str = "claude-desktop", config: str = WINDOWS_SIDE) -> Any:
    environment = make_environment(variables={"WSL_DISTRO_NAME": "Depot"})
    disk = MadeDisk(environment, {config: EMPTY.encode()})
    request = InstallRequest((Registration("ledger", server),), config=environment.path(config))
    return planned(client, request, environment, disk).rows[0]


@pytest.mark.parametrize(
    ("client", "config"),
    [("claude-desktop", WINDOWS_SIDE), ("cursor", "/mnt/d/Users/nora/.cursor/mcp.json")],
)
def test_p14_a_linux_command_in_a_windows_clients_file_goes_through_wsl(client: str, config: str) -> None:
    server = Stdio(plain_text(COMMAND), (plain_text("serve"),))
    found = in_wsl(server, client, config).entry
    assert (found["command"], found["args"]) == ("wsl.exe", ["-d", "Depot", "--", COMMAND, "serve"])
    own = in_wsl(server, client, "/home/nora/mcp.json").entry
    assert (own["command"], own["args"]) == (COMMAND, ["serve"])


def test_p14_variables_cross_by_value_and_never_by_reference() -> None:
    by_value = Stdio(plain_text(COMMAND), (), (("ZONE", plain_text("b c")),))
    assert in_wsl(by_value).entry["args"] == ["-d", "Depot", "--", "env", "ZONE=b c", COMMAND]
    by_name = by_value._replace(env=(("TOKEN", Text((Reference("TOKEN"),))),))
    error = in_wsl(by_name).error or in_wsl(by_name, "cursor").error
    assert (error.code, "TOKEN" in error.message) == ("reference_unsupported", True)


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
