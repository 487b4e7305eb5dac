"""Golden files, and a guard: no test sees or changes the machine it runs on."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "golden"

# What moves a client's or our own files somewhere else: a person's settings must not reach a test.
MOVING = (
    "CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_CONTENT",
    "OPENCODE_DISABLE_PROJECT_CONFIG", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME",
    "HOMEPORT_HOME", "HOMEPORT_DEBUG", "HOMEPORT_POSTGRES_DSN", "WSL_DISTRO_NAME", "NO_COLOR",
)  # fmt: skip


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="Render the golden files again instead of comparing.")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--update-golden") and os.environ.get("CI"):
        raise pytest.UsageError("--update-golden is for people: in CI a golden file is compared")


class Golden:
    """Compares bytes with a file under golden/."""

    def __init__(self, *, updates: bool) -> None:
        self.updates = updates

    def check(self, name: str, data: bytes) -> None:
        path = GOLDEN / name
        if self.updates:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            return
        expected = path.read_bytes() if path.is_file() else b""
        if data != expected:
            lines = difflib.unified_diff(
                expected.decode("utf-8", "replace").splitlines(),
                data.decode("utf-8", "replace").splitlines(),
                f"golden/{name}",
                "rendered now",
                lineterm="",
            )
            pytest.fail("\n".join([*lines, "`make golden` renders it again"]), pytrace=False)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(updates=request.config.getoption("--update-golden"))


@pytest.fixture(autouse=True)
def _own_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A home of its own for every test; one that leaves the working folder or the environment changed fails."""
    # A patch of its own: the test's is undone before the look at what it left.
    with pytest.MonkeyPatch.context() as patch:
        for name in MOVING:
            patch.delenv(name, raising=False)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield from _unchanged()


def _unchanged() -> Iterator[None]:
    folder, variables = os.getcwd(), dict(os.environ)
    yield
    assert os.getcwd() == folder, "the test left another working folder"
    changed = {name for name in {*variables, *os.environ} if variables.get(name) != os.environ.get(name)}
    # pytest's own, which tells the phase a test is in.
    assert changed - {"PYTEST_CURRENT_TEST"} == set(), "the test left the environment changed"
