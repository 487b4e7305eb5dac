"""Golden files, and a guard: no test sees or changes the machine it runs on."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "golden"

# What moves a client's or our own files somewhere else, or says who a person is: none of it may reach a test.
MOVING_PREFIXES = ("CLAUDE", "CODEX_", "HOMEPORT_", "MUSE_", "OPENCODE", "SUDO_", "XDG_")
MOVING = ("FORCE_COLOR", "NO_COLOR", "WSL_DISTRO_NAME")

# Where clients and we keep things below a home. The rest of the real home stays open: the checkout may lie in it.
KEPT = (
    ".claude", ".claude.json", ".claude.json.lock", ".codex", ".config/Claude", ".config/muse", ".config/opencode",
    ".cursor", ".homeport", ".local/state/homeport", ".opencode", "Library/Application Support/Claude",
    "Library/Application Support/homeport",
)  # fmt: skip
_AUDITED = {"open", "os.chmod", "os.link", "os.listdir", "os.mkdir", "os.remove", "os.rename", "os.scandir"}

_asked = pytest.StashKey[set[str]]()


class RealHomeTouched(RuntimeError):
    """A test reached for the home of the person who runs it."""


def _guard_the_real_home() -> None:
    real = Path.home()
    kept = [str(real / name) for name in KEPT]
    inside = tuple(path + os.sep for path in kept)

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _AUDITED or not isinstance(arguments[0], (str, bytes, os.PathLike)):
            return
        path = os.fsdecode(arguments[0])
        if path.startswith(inside) or path in kept:
            raise RealHomeTouched(f"{event} of {path}: run in the home that every test has, or make an Environment")

    # An audit hook sees every way to open, list or change a path. It cannot be taken out again, nor has to be.
    sys.addaudithook(refuse)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="Render the golden files again instead of comparing.")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--update-golden") and os.environ.get("CI"):
        raise pytest.UsageError("--update-golden is for people: in CI a golden file is compared")
    config.stash[_asked] = set()
    _guard_the_real_home()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object | None) -> None:
    """xdist: the names that one worker's tests asked for."""
    _names_asked(node.config).update(getattr(node, "workeroutput", {}).get("golden", ()))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["golden"] = sorted(_names_asked(config))
    elif exitstatus == pytest.ExitCode.OK and _whole_suite(config):
        _settle(session, _files() - _names_asked(config))


def _names_asked(config: pytest.Config) -> set[str]:
    return config.stash[_asked]


def _whole_suite(config: pytest.Config) -> bool:
    chosen = ("keyword", "markexpr", "deselect", "collectonly", "lf", "ignore", "ignore_glob")
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS and not any(
        config.getoption(name, None) for name in chosen
    )


def _files() -> set[str]:
    return {path.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("*") if path.is_file()}


def _settle(session: pytest.Session, unasked: set[str]) -> None:
    """What no test asks for goes with --update-golden, and fails a run without it."""
    if session.config.getoption("--update-golden"):
        for name in unasked:
            (GOLDEN / name).unlink()
    elif unasked:
        message = "\n".join(["No test asks for these; `make golden` removes them:", *sorted(unasked)])
        place = ("golden", None, "golden files")
        report = pytest.TestReport("golden", place, {}, "failed", message, "teardown")
        session.config.hook.pytest_runtest_logreport(report=report)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


class Golden:
    """Compares bytes with a file under golden/."""

    def __init__(self, asked: set[str], *, updates: bool) -> None:
        self._asked = asked
        self._updates = updates

    def check(self, name: str, data: bytes) -> None:
        """Fail with a diff where `data` is not what golden/`name` holds; write it there with --update-golden."""
        self._asked.add(name)
        path = GOLDEN / name
        if self._updates:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            return
        if not path.is_file():
            pytest.fail(f"golden/{name} is not there; `make golden` renders it", pytrace=False)
        expected = path.read_bytes()
        if data != expected:
            pytest.fail(
                "\n".join([*_difference(name, expected, data), "`make golden` renders it again"]), pytrace=False
            )


def _difference(name: str, expected: bytes, data: bytes) -> Iterator[str]:
    # Line ends are kept, and shown where they are not \n: bytes that differ never give an empty diff.
    before, after = (text.decode("utf-8", "backslashreplace").splitlines(keepends=True) for text in (expected, data))
    for line in difflib.unified_diff(before, after, f"golden/{name}", "rendered now"):
        yield line[:-1] if line.endswith("\n") and not line.endswith("\r\n") else repr(line)[1:-1]


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(_names_asked(request.config), updates=request.config.getoption("--update-golden"))


@pytest.fixture(autouse=True)
def _own_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A home of its own for every test; one that leaves the working folder or the environment changed fails."""
    # A patch of its own: the test's is undone before the look at what it left.
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(MOVING_PREFIXES) or name in MOVING]:
            patch.delenv(name)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield from _unchanged()


def _unchanged() -> Iterator[None]:
    folder, variables = os.getcwd(), dict(os.environ)
    yield
    assert os.getcwd() == folder, "the test left another working folder"
    changed = {name for name in {*variables, *os.environ} if variables.get(name) != os.environ.get(name)}
    # pytest's own, which tells the phase a test is in.
    assert changed - {"PYTEST_CURRENT_TEST"} == set(), "the test left the environment changed"
