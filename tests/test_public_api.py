"""What `homeport` exports: one list, for mypy and at run time, and a package that costs nothing until it is used."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import homeport

PUBLIC = {"HomeportError", "McpConnectionError", "McpServer", "McpTool", "ToolResult", "create_server"}


def loaded_by(code: str) -> set[str]:
    script = f"import sys\nbefore = set(sys.modules)\n{code}\nprint(*(set(sys.modules) - before))"
    # -S: nothing that an installation adds at the start.
    source = str(Path(homeport.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys\nsys.path.insert(0, {source!r})\n{script}"],
        env={"PATH": os.defpath},
        capture_output=True,
        check=True,
        text=True,
    )
    return set(done.stdout.split())


def test_what_is_exported_is_what_is_promised() -> None:
    assert set(vars(homeport)["__all__"]) == PUBLIC
    assert set(dir(homeport)) >= PUBLIC


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_a_name_is_the_one_that_mypy_sees(name: str) -> None:
    tree = ast.parse(Path(homeport.__file__).read_text(encoding="utf-8"))
    seen = {
        alias.asname: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    assert seen[name] is not None
    assert getattr(homeport, name) is getattr(import_module(seen[name]), name)


def test_a_name_that_is_none_is_said_to_be_none() -> None:
    with pytest.raises(AttributeError, match="module 'homeport' has no attribute 'McpServr'"):
        getattr(homeport, "McpServr")  # noqa: B009 - mypy knows that it is not there


def test_import_homeport_loads_nothing() -> None:
    assert loaded_by("import homeport") - {"__future__"} == {"homeport"}


def test_the_class_is_there_without_the_sdk() -> None:
    loaded = loaded_by("from homeport import McpServer\nMcpServer.stdio('homeport', ['serve'])")
    assert {"mcp", "anyio", "httpx2", "pydantic", "asyncio"} & loaded == set()
