"""The suite's own promises, held by a suite of two tests that it runs in a folder of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parent / "conftest.py"
SUITE = """
import os
from pathlib import Path

import pytest

REAL = Path(os.environ["HOME"])

def test_rendering(golden):
    golden.check("cursor/user.txt", b"one\\r\\ntwo\\n")

def test_guarding(monkeypatch):
    assert "OPENCODE_CONFIG" not in os.environ
    assert Path.home() != REAL
    for touch in (lambda path: path.open(), lambda path: path.mkdir(), lambda path: path.unlink()):
        with pytest.raises(RuntimeError, match="run in the home that every test has"):
            touch(REAL / ".claude.json")
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    shutil.copy(CONFTEST, tmp_path / "tests")
    (tmp_path / "tests" / "test_two.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\ntestpaths = tests\naddopts = --import-mode=importlib -p no:cacheprovider\n"
    )
    return tmp_path


def run(suite: Path, *words: str, **variables: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=suite,
        env={"HOME": str(suite / "person"), "PATH": os.environ["PATH"], "OPENCODE_CONFIG": "/moved", **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout


def golden_file(suite: Path, name: str, content: bytes) -> Path:
    path = suite / "golden" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_what_is_rendered_as_it_was_passes(suite: Path) -> None:
    golden_file(suite, "cursor/user.txt", b"one\r\ntwo\n")
    assert run(suite)[0] == 0


def test_another_line_end_fails_and_is_shown(suite: Path) -> None:
    golden_file(suite, "cursor/user.txt", b"one\ntwo\n")
    code, said = run(suite)
    assert code == 1
    assert "-one\n+one\\r\\n\n two\n`make golden` renders it again" in said


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one process", "two workers"])
def test_a_file_that_no_test_asks_for_fails_a_whole_run(suite: Path, workers: tuple[str, ...]) -> None:
    golden_file(suite, "cursor/user.txt", b"one\r\ntwo\n")
    golden_file(suite, "cursor/forgotten.txt", b"")
    code, said = run(suite, *workers)
    assert code == 1
    assert "cursor/forgotten.txt" in said
    assert "2 passed, 1 error" in said.splitlines()[-1]


def test_a_run_of_some_tests_asks_for_some_files(suite: Path) -> None:
    golden_file(suite, "cursor/user.txt", b"one\r\ntwo\n")
    golden_file(suite, "cursor/of_another_test.txt", b"")
    assert run(suite, "-k", "rendering")[0] == 0


def test_rendering_again_writes_what_changed_and_removes_what_nobody_asks_for(suite: Path) -> None:
    forgotten = golden_file(suite, "cursor/forgotten.txt", b"")
    assert run(suite, "--update-golden")[0] == 0
    assert (suite / "golden" / "cursor" / "user.txt").read_bytes() == b"one\r\ntwo\n"
    assert not forgotten.exists()


def test_rendering_again_is_refused_in_ci(suite: Path) -> None:
    code, said = run(suite, "--update-golden", CI="true")
    assert code == pytest.ExitCode.USAGE_ERROR
    assert "in CI a golden file is compared" in said
