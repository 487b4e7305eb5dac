"""A home and a project for tests that run command lines in this process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def home() -> Path:
    """The home that every test has of its own. Cursor is installed, and nothing else."""
    home = Path(os.environ["HOME"])
    (home / ".cursor").mkdir()
    return home


@pytest.fixture
def project(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git project in the home, which is the working folder."""
    folder = home / "code" / "app"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder
