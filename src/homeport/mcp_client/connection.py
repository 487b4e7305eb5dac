"""One connection: the SDK's client in a task of its own, so that whatever becomes of it never reaches the caller's."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

import anyio
import mcp_types
from anyio.abc import TaskStatus
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from homeport.errors import HomeportError
from homeport.mcp_client.child import Child
from homeport.mcp_client.endpoint import Endpoint, Http, InProcess, Stdio, without_secrets
from homeport.mcp_client.failures import McpConnectionError, Refused, connection_error, http_hint, innermost, one_line
from homeport.mcp_client.http import http_streams
from homeport.mcp_client.listing import list_tools
from homeport.mcp_client.tool import ToolResult, failed, read_result
from homeport.version import VERSION

_STDERR_CHARS: Final = 2_000
"""How much of a server's stderr an error's details hold."""

_CLOSED: Final = (anyio.ClosedResourceError, anyio.BrokenResourceError)


class Connection:
    """A server in use. tools: as it listed them.

    connect_s: until it has listed its tools. call_s: for each call.
    """

    def __init__(
        self, name: str, endpoint: Endpoint, variables: Mapping[str, str], *, connect_s: float, call_s: float
    ) -> None:
        self._name = name
        self._endpoint = endpoint
        self._variables = variables
        self._connect_s = connect_s
        self._call_s = call_s
        self._child: Child | None = None
        self._client: Client | None = None
        self._left = anyio.Event()
        self._broken: BaseException | None = None
        self.tools: list[mcp_types.Tool] = []

    @property
    def client(self) -> Client:
        assert self._client is not None
        return self._client

    @property
    def stderr(self) -> str:
        return without_secrets(self._endpoint, self._child.stderr) if self._child else ""

    def leave(self) -> None:
        self._left.set()

    async def run(self, *, task_status: TaskStatus[None]) -> None:
        """Connect, say `started`, and stay until `leave`. Raises McpConnectionError before it has started, only."""
        with anyio.CancelScope(deadline=anyio.current_time() + self._connect_s) as limit:
            error = await self._attempt("auto", limit, task_status)
            if error and not self._client and isinstance(self._endpoint, Stdio) and _is_closed(error):
                # Servers of the handshake era exist that end when the first message is another one than `initialize`.
                error = await self._attempt("legacy", limit, task_status)
        if self._client is not None:
            return  # if it broke later, every call says so
        if limit.cancelled_caught:
            said = f"it did not answer within {self._connect_s:g} s{self._child.remarks if self._child else ''}"
            raise self._connection_error(said, "give it more time with connect_timeout=, or try its command by hand")
        assert error is not None
        raise await self._in_words(error)

    async def _attempt(
        self, mode: str, limit: anyio.CancelScope, task_status: TaskStatus[None]
    ) -> BaseException | None:
        """Connect and stay; what kept it from connecting, if anything did."""
        self._broken = None
        try:
            async with Client(
                self._transport(),
                mode=mode,
                client_info=mcp_types.Implementation(name="homeport", version=VERSION),
            ) as client:
                self.tools = await list_tools(client)
                limit.deadline = math.inf
                self._client = client
                if self._child:
                    self._child.serves = True
                task_status.started()
                await self._left.wait()
        except Exception as error:
            self._broken = innermost(error)
        return self._broken

    def _transport(self) -> Any:
        match self._endpoint:
            case Stdio():
                self._child = Child(self._endpoint, self._endpoint.variables(self._variables))
                return self._child.streams()
            case Http():
                return http_streams(self._endpoint, self._connect_s, self._call_s)
            case InProcess(server):
                return server

    async def _in_words(self, error: BaseException) -> McpConnectionError:
        if isinstance(error, Refused):
            return self._connection_error(error.reason, error.hint)
        if _is_closed(error):
            said = await self._child.last_words() if self._child else one_line(str(error))
            return self._connection_error(said)
        remarks = self._child.remarks if self._child else ""
        if isinstance(error, MCPError):
            status = error.data.get("http_status") if isinstance(error.data, dict) else None
            details = {"http_status": status} if isinstance(status, int) else {}
            return self._connection_error(one_line(error.message) + remarks, http_hint(status), details)
        if isinstance(error, ValidationError):
            return self._connection_error(f"its answer is not what the protocol says: {_in_short(error)}{remarks}")
        return self._connection_error(f"{_in_short(error) or type(error).__name__}{remarks}")

    def _connection_error(
        self, reason: str, hint: str | None = None, details: Mapping[str, Any] | None = None
    ) -> McpConnectionError:
        more = dict(details or {})
        if self._child:
            more["exit_code"] = self._child.exit_code
            more["stderr"] = self.stderr[-_STDERR_CHARS:]
        return connection_error(self._name, self._endpoint, reason, hint, more)

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool by the server's own name of it. Only a cancelled caller is raised."""
        unusable = _not_json(arguments)
        if unusable:
            return self._failed("bad_argument", f"the arguments of '{tool}' are not JSON: {unusable}")
        # Around everything: the SDK's own timeout does not run while a request is still being written.
        with anyio.move_on_after(self._call_s):
            try:
                result = await self.client.call_tool(tool, dict(arguments))
            except Exception as error:
                return await self._call_failure(tool, error)
            return read_result(self._name, tool, result)
        said = f"the server '{self._name}' did not answer '{tool}' within {self._call_s:g} s"
        return self._failed("tool_timed_out", said, "it was told to stop, and may have done it all the same")

    async def _call_failure(self, tool: str, error: Exception) -> ToolResult:
        if self._broken or _is_closed(error):
            said = one_line(str(self._broken or error)) or "the connection is closed"
            if self._child:
                said = await self._child.last_words()
            return self._failed(
                "tool_disconnected",
                f"the server '{self._name}' did not answer '{tool}': {said}",
                "whether it was done is not known; leave the block and enter it again to connect anew",
            )
        if isinstance(error, MCPError) and error.code != mcp_types.PARSE_ERROR:
            said = f"the server '{self._name}' refused '{tool}': {one_line(error.message)} ({error.code})"
            return self._failed("tool_refused", said, details={"code": error.code})
        said = f"the server '{self._name}' answered '{tool}' with what cannot be used: {_in_short(error)}"
        return self._failed("tool_reply_unusable", said, "whether it was done is not known")

    def _failed(
        self, code: str, message: str, hint: str | None = None, details: Mapping[str, Any] | None = None
    ) -> ToolResult:
        more = {"server": self._name, **(details or {})}
        return failed(HomeportError(code, without_secrets(self._endpoint, message), hint, more))


def _is_closed(error: BaseException) -> bool:
    return isinstance(error, _CLOSED) or (isinstance(error, MCPError) and error.code == mcp_types.CONNECTION_CLOSED)


def _in_short(error: BaseException) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return one_line(f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    # A library's first line is a sentence, what follows is the value.
    return one_line(str(error).partition("\n")[0])


def _not_json(arguments: Mapping[str, Any]) -> str | None:
    try:
        json.dumps(arguments, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        return one_line(str(error))
    return None
