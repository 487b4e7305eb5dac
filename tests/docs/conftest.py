"""`--update-docs`: write what a command says today into the pages, instead of comparing."""

from __future__ import annotations

import os

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-docs", action="store_true", help="Write outputs and lists into docs/ again.")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--update-docs", default=False) and os.environ.get("CI"):
        raise pytest.UsageError("--update-docs is for people: in CI the pages are compared")


@pytest.fixture
def updates_docs(request: pytest.FixtureRequest) -> bool:
    # The option is known only where this folder was named on the command line.
    return bool(request.config.getoption("--update-docs", default=False))
