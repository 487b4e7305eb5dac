"""The house itself: who knows whom, how large a room is, what a printing command may load, what every command says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from homeport.cli import options
from homeport.cli.main import COMMANDS
from homeport.installer.clients import CLIENTS
from tests.harness import run_homeport

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "homeport"
LARGEST_LINES = 400

# A module that is larger, with the reason for it. Empty is the aim.
LARGER: dict[str, str] = {}

NAMES_OF_NOTHING = {"utils", "util", "helpers", "helper", "common", "misc"}

# What a printing command has no business loading.
HEAVY = {
    "asyncio", "filelock", "json5", "mcp", "platformdirs", "prompt_toolkit", "psutil", "pydantic", "questionary",
    "rich", "shellingham", "sqlite3", "subprocess", "tomlkit", "tomllib", "urllib.request", "yaml",
}  # fmt: skip


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_fits_a_readers_mind_and_is_named_for_something(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= LARGEST_LINES or str(path.relative_to(SOURCE)) in LARGER, (
        f"{lines} lines: does it hold two meanings?"
    )
    assert not NAMES_OF_NOTHING & {part.removesuffix(".py") for part in path.relative_to(SOURCE).parts}


def test_the_names_of_the_clients_are_the_registry() -> None:
    assert options.CLIENT_NAMES == tuple(CLIENTS)


def test_a_printing_install_loads_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / ".cursor").mkdir()
    code = (
        "import sys; from homeport.cli.main import main; "
        "code = main(['install', '--client', 'cursor', '--json']); "
        "print(*sorted(sys.modules), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    loaded = set(done.stderr.decode().split())
    assert "homeport.installer.clients.cursor" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.parametrize(
    "command", [[], *([name] for name in COMMANDS)], ids=lambda words: " ".join(words) or "homeport"
)
def test_every_command_has_help_with_an_example(command: list[str], tmp_path: Path) -> None:
    done = run_homeport(*command, "--help", home=tmp_path)
    said = done.stdout.decode()
    assert (done.exit, done.stderr) == (0, b"")
    assert re.search(r"Examples:|Start here:", said)
    assert all(len(line) <= 110 for line in said.splitlines())


def test_nothing_of_a_machine_or_workplace_is_in_the_repository() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    hosts = re.compile(rb"pypi\.org|pythonhosted|registry\.npmjs|deb\.debian\.org", re.IGNORECASE)
    for name in filter(None, listed.stdout.split(b"\0")):
        path = ROOT / os.fsdecode(name)
        if path.is_file() and path != Path(__file__):
            assert not hosts.search(path.read_bytes()), path
