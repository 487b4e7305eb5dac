"""`McpServer`: a server that somebody wants to use."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.mcp_client.endpoint import Endpoint, Http, InProcess, Stdio
from homeport.mcp_client.failures import connection_error
from homeport.mcp_client.tool import McpTool, ToolResult, failed

if TYPE_CHECKING:
    from anyio.abc import TaskGroup
    from mcp.server import MCPServer, Server

    from homeport.mcp_client.connection import Connection

TIMEOUT_S: Final = 60.0
CONNECT_TIMEOUT_S: Final = 30.0


class McpServer:
    """An MCP server and its tools, under asyncio or trio.

        async with McpServer.stdio("homeport", ["serve"]) as server:
            for tool in server.tools:
                print(tool.name, tool.description)
            result = await server.tools[0].call(command="view")

    Make one with `stdio`, `http` or `in_process`. It connects when the block is entered; that alone raises, an
    McpConnectionError. A block can be entered again, one at a time. What all three take:

    name: what messages call it; else the program, the host, or the server's own name.
    prefix: put before each tool's name, as in `gh__search`. Letters, digits, `_` and `-`.
    timeout: seconds that a call may take. connect_timeout: seconds until the tools are listed; a server of the
    handshake era that leaves an unknown method unanswered takes ten of them.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        name: str | None = None,
        prefix: str | None = None,
        timeout: float = TIMEOUT_S,
        connect_timeout: float = CONNECT_TIMEOUT_S,
    ) -> None:
        if prefix is not None and not re.fullmatch(r"[A-Za-z0-9_-]+", prefix):
            raise ValueError(f"prefix {prefix!r}: use letters, digits, _ and -")
        for seconds in (timeout, connect_timeout):
            if not 0 < seconds < math.inf:
                raise ValueError(f"a timeout is a positive number of seconds, not {seconds!r}")
        self.name = name or endpoint.name
        self.prefix = prefix
        self._endpoint = endpoint
        self._timeout_s = timeout
        self._connect_timeout_s = connect_timeout
        self._connection: Connection | None = None
        self._task: TaskGroup | None = None
        self._tools: tuple[McpTool, ...] = ()

    @classmethod
    def stdio(
        cls,
        command: str | os.PathLike[str],
        args: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        stderr: Callable[[str], object] | None = None,
        name: str | None = None,
        prefix: str | None = None,
        timeout: float = TIMEOUT_S,
        connect_timeout: float = CONNECT_TIMEOUT_S,
    ) -> Self:
        """A program that speaks MCP on its stdin and stdout. It runs as long as the block does, and so do its children.

        env: over our own environment, of which only what is listed in docs/agents.md is passed on: no credentials.
        stderr: called with each line it writes there; without it the last 64 KiB are kept for error messages, and
        nothing is printed.
        """
        if isinstance(args, str):
            raise TypeError("args is a list of words, not one string")
        folder = None if cwd is None else os.fspath(cwd)
        endpoint = Stdio(os.fspath(command), tuple(args), dict(env or {}), folder, stderr)
        return cls(endpoint, name=name, prefix=prefix, timeout=timeout, connect_timeout=connect_timeout)

    @classmethod
    def http(
        cls,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        name: str | None = None,
        prefix: str | None = None,
        timeout: float = TIMEOUT_S,
        connect_timeout: float = CONNECT_TIMEOUT_S,
    ) -> Self:
        """A server behind streamable HTTP. headers: sent with every request; never shown in a message."""
        endpoint = Http(url, dict(headers or {}))
        return cls(endpoint, name=name, prefix=prefix, timeout=timeout, connect_timeout=connect_timeout)

    @classmethod
    def in_process(
        cls,
        server: Server[Any] | MCPServer[Any],
        *,
        name: str | None = None,
        prefix: str | None = None,
        timeout: float = TIMEOUT_S,
        connect_timeout: float = CONNECT_TIMEOUT_S,
    ) -> Self:
        """A server object of the SDK, such as `homeport.create_server` makes: no process and no network between."""
        return cls(InProcess(server), name=name, prefix=prefix, timeout=timeout, connect_timeout=connect_timeout)

    @property
    def tools(self) -> tuple[McpTool, ...]:
        """Its tools, in its order. RuntimeError outside of the block: nobody has asked the server."""
        self._entered()
        return self._tools

    @property
    def instructions(self) -> str | None:
        """What the server says about its use, for a model's system prompt. RuntimeError outside of the block."""
        return self._entered().client.instructions

    @property
    def protocol_version(self) -> str:
        """The revision agreed on, such as `2026-07-28`. RuntimeError outside of the block."""
        return self._entered().client.protocol_version

    @property
    def server_info(self) -> dict[str, Any] | None:
        """`name` and `version` as the server gives them, or None. RuntimeError outside of the block."""
        info = self._entered().client.server_info
        return None if info is None else info.model_dump(mode="json", by_alias=True, exclude_none=True)

    @property
    def stderr(self) -> str:
        """The last 64 KiB that a stdio server wrote on stderr, credentials hidden; also after the block."""
        return self._connection.stderr if self._connection else ""

    @staticmethod
    def tools_of(*servers: McpServer) -> tuple[McpTool, ...]:
        """The tools of several entered servers, in order.

        Raises HomeportError: tool_names_clash, where two tools have one name.
        """
        seen: dict[str, McpServer] = {}
        for server in servers:
            for tool in server.tools:
                other = seen.setdefault(tool.name, server)
                if other is not server:
                    raise _clash(tool.name, other, server)
        return tuple(tool for server in servers for tool in server.tools)

    async def __aenter__(self) -> Self:
        """Raises McpConnectionError."""
        import anyio

        # Off the event loop: the SDK takes about a second the first time.
        await anyio.to_thread.run_sync(import_module, "homeport.mcp_client.connection")
        from homeport.mcp_client.connection import Connection
        from homeport.mcp_client.listing import as_tool

        if self._task is not None:
            raise RuntimeError(f"the block of {self!r} is entered already")
        self._connection = Connection(
            self.name, self._endpoint, self._variables(), connect_s=self._connect_timeout_s, call_s=self._timeout_s
        )
        self._task = anyio.create_task_group()
        await self._task.__aenter__()
        try:
            await self._task.start(self._connection.run)
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        self._tools = tuple(as_tool(tool, self.name, self.prefix, self._call) for tool in self._connection.tools)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        task, self._task, self._tools = self._task, None, ()
        if self._connection:
            self._connection.leave()
        if task:
            # Not told of the body's error, which it would wrap in a group. A cancelled body cancels this wait, and with
            # it the connection's task; what ends the server is done there, beyond the reach of a second cancellation.
            await task.__aexit__(None, None, None)

    def _variables(self) -> Mapping[str, str]:
        if not isinstance(self._endpoint, Stdio):
            return {}
        try:
            return Environment.current().variables
        except HomeportError as error:
            raise connection_error(self.name, self._endpoint, error.message, error.hint) from error

    def _entered(self) -> Connection:
        if self._task is None or self._connection is None:
            raise RuntimeError(f"{self!r} is not connected: use it inside `async with`")
        return self._connection

    async def _call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        if self._task is None or self._connection is None:
            said = f"the server '{self.name}' is not connected: its `async with` block was left"
            hint = f"call '{tool}' inside the block"
            return failed(HomeportError("tool_disconnected", said, hint, {"server": self.name}))
        return await self._connection.call(tool, arguments)

    def __repr__(self) -> str:
        return f"<McpServer '{self.name}': {self._endpoint.shown}>"


def _clash(tool: str, one: McpServer, other: McpServer) -> HomeportError:
    return HomeportError(
        "tool_names_clash",
        f"'{tool}' is a tool of both {one!r} and {other!r}",
        "give one of them a prefix=",
        {"tool": tool, "servers": [one.name, other.name]},
    )
