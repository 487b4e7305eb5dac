"""The house itself: who knows whom, how large a room is, what a printing command may load, what every command says."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from homeport.cli import options
from homeport.cli.main import COMMANDS
from homeport.installer.clients import CLIENTS
from tests.harness import needs, run_homeport

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "homeport"
LARGEST_LINES = 400

# A module that is larger, with the reason for it. Empty is the aim.
LARGER: dict[str, str] = {}

NAMES_OF_NOTHING = {"utils", "util", "helpers", "helper", "common", "misc"}

# Modules of the clients' room that are no client: what clients are told in, and what several of them share.
SHARED_BY_CLIENTS = {"__init__", "client", "folders", "mcp_json", "references", "registry", "shapes", "values"}

# What a printing command loads besides the standard library, and what of the library it has no business with.
LOADED = {"click", "homeport"}
HEAVY = {
    "asyncio", "email", "http", "logging", "multiprocessing", "socket", "sqlite3", "ssl", "subprocess",
    "tempfile", "tomllib", "unittest", "urllib.request",
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


def test_who_may_know_whom() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def client_modules() -> set[str]:
    return {path.stem for path in (SOURCE / "installer" / "clients").glob("*.py")} - SHARED_BY_CLIENTS


def test_a_client_is_a_module_a_line_in_the_registry_and_a_name_on_the_command_line() -> None:
    # tests/docs/test_names.py holds its page, its rows and its folder of golden files.
    assert {name.replace("_", "-") for name in client_modules()} == set(CLIENTS)
    assert list(options.CLIENT_NAMES) == list(CLIENTS)


def modules_after(code: str, home: Path) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sorted(sys.modules), file=sys.stderr)"],
        cwd=home,
        env={"HOME": str(home), "PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    return set(done.stderr.decode().split())


def test_a_printing_install_loads_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / ".cursor").mkdir()
    command = "from homeport.cli.main import main\nassert main(['install', '--client', 'cursor', '--json']) == 0"
    loaded = modules_after(command, tmp_path) - modules_after("", tmp_path)
    foreign = {name.partition(".")[0] for name in loaded} - set(sys.stdlib_module_names)
    assert foreign == LOADED
    assert loaded & HEAVY == set()
    assert {name for name in client_modules() if f"homeport.installer.clients.{name}" in loaded} == {"cursor"}


@pytest.mark.parametrize(
    "command", [[], *([name] for name in COMMANDS)], ids=lambda words: " ".join(words) or "homeport"
)
def test_every_command_has_help_with_an_example(command: list[str], tmp_path: Path) -> None:
    done = run_homeport(*command, "--help", home=tmp_path)
    said = done.stdout.decode()
    assert (done.exit, done.stderr) == (0, b"")
    assert re.search(r"Examples:|Start here:", said)
    assert all(len(line) <= 110 for line in said.splitlines())


def tracked() -> list[Path]:
    """Every file of the repository."""
    # Whoever owns the checkout: CI runs as root.
    line = [needs("git"), "-c", f"safe.directory={ROOT}", "ls-files", "-z"]
    listed = subprocess.run(line, cwd=ROOT, capture_output=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    paths = [ROOT / os.fsdecode(name) for name in listed.stdout.split(b"\0") if name]
    return [path for path in paths if path.is_file()]


def test_no_registrys_host_is_in_the_repository() -> None:
    hosts = re.compile(rb"pypi\.org|pythonhosted|registry\.npmjs|deb\.debian\.org", re.IGNORECASE)
    assert [path for path in tracked() if path != Path(__file__) and hosts.search(path.read_bytes())] == []


def test_ci_installs_every_program_that_a_test_asks_for() -> None:
    asked = {
        name
        for path in (ROOT / "tests").rglob("*.py")
        for name in re.findall(r"needs\(\"(\w+)\"\)", path.read_text(encoding="utf-8"))
    }
    # Debian's essential packages bring these.
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert sorted(name for name in asked - {"bash", "diff"} if not re.search(rf"\b{name}\b", script)) == []


def test_the_pages_name_the_versions_of_the_real_clients_that_tests_drive() -> None:
    pins = (ROOT / "tests" / "real_clients" / "versions.txt").read_text(encoding="utf-8").split()
    page = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
    assert [pin for pin in pins if f"measured, {pin.rpartition('@')[2]} " not in page] == []


def test_constraints_pin_what_an_installation_pulls_in_by_name_and_version_alone() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines)
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    assert pulled_in("homeport", frozenset({"dev"})) - {"homeport"} <= {canonical(name) for name in pinned}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pulled_in(name: str, extras: frozenset[str]) -> set[str]:
    """The names of a distribution and of all that it asks for, installed here."""
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [(canonical(name), extras)]
    while waiting:
        asked = waiting.pop()
        if asked in seen:
            continue
        seen.add(asked)
        for line in importlib.metadata.requires(asked[0]) or []:
            requirement = Requirement(line)
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in asked[1] | {""}):
                waiting.append((canonical(requirement.name), frozenset(requirement.extras)))
    return {name for name, _ in seen}
