"""P: links, modes and owners stay as they are, and what may not be written is refused."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases.machine import (
    CLAUDE,
    CODEX,
    COMMAND,
    CURSOR,
    LEDGER,
    OPENCODE,
    Home,
    is_root,
    mode_of,
    refused,
    said,
)
from tests.harness import Completed

NOBODY = 65534
EMPTY = '{\n  "mcpServers": {}\n}\n'


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
    home = Home(tmp_path, quick=True)
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
