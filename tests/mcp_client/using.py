"""How tests use a server: enter it, do something, leave it, under one backend or each."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest

from homeport import McpConnectionError, McpServer, McpTool, ToolResult

HERE = Path(__file__).parent
T = TypeVar("T")

BACKENDS = pytest.mark.parametrize(
    "backend",
    [
        "asyncio",
        # No part of Homeport needs it: it is there where somebody installed it.
        pytest.param("trio", marks=pytest.mark.skipif(not importlib.util.find_spec("trio"), reason="no trio here")),
    ],
)


def raw(how: str, *arguments: str, **options: Any) -> McpServer:
    """raw_server.py, misbehaving as named."""
    return McpServer.stdio(sys.executable, [str(HERE / "raw_server.py"), how, *arguments], **{"name": "raw", **options})


def sdk(**options: Any) -> McpServer:
    return McpServer.stdio(sys.executable, [str(HERE / "sdk_server.py"), "stdio"], **{"name": "sdk", **options})


def using(server: McpServer, body: Callable[[McpServer], Awaitable[T]], backend: str = "asyncio") -> T:
    """What `body` gives, in the block of the server."""

    async def main() -> T:
        async with server:
            return await body(server)

    return anyio.run(main, backend=backend)


def tools(server: McpServer) -> tuple[McpTool, ...]:
    async def body(server: McpServer) -> tuple[McpTool, ...]:
        return server.tools

    return using(server, body)


def call(server: McpServer, tool: str, backend: str = "asyncio", **arguments: Any) -> ToolResult:
    async def body(server: McpServer) -> ToolResult:
        return await by_name(server, tool).call(**arguments)

    return using(server, body, backend)


def by_name(server: McpServer, name: str) -> McpTool:
    return next(tool for tool in server.tools if tool.name == name)


def refusal(server: McpServer, backend: str = "asyncio") -> McpConnectionError:
    """The error of a server that does not connect."""

    async def body(server: McpServer) -> None:
        raise AssertionError(f"it connected: {server.tools}")

    with pytest.raises(McpConnectionError) as caught:
        using(server, body, backend)
    return caught.value


def is_alive(process: int) -> bool:
    """Whether a process runs; one that has ended and waits to be collected does not."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{process}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
