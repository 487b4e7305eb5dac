"""Operations as tools of the official SDK."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import anyio
import mcp_types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from homeport.envelope import envelope
from homeport.server.operations.operation import Call, Operation, Outcome, perform
from homeport.server.state.documents.store import Documents
from homeport.server.state.scopes import client_actor
from homeport.server.state.skills.library import Library
from homeport.server.transport.prompts import Prompts
from homeport.version import VERSION

# With the rest of a call it stays under the five seconds that nothing waits longer than.
PATIENCE_S: Final = 4.5


def sdk_server(
    operations: Sequence[Operation],
    instructions: str,
    actor: str | None = None,
    skills: tuple[Library, Documents] | None = None,
) -> Server[Any]:
    """A server that offers `operations` as tools, and skills as prompts. actor: None for the name that each client
    gives of itself."""
    turn = anyio.Lock()
    tools = _Tools(operations, actor, turn)
    prompts = None if skills is None else Prompts(*skills, turn, PATIENCE_S)
    return Server(
        "homeport",
        version=VERSION,
        title="Homeport",
        instructions=instructions,
        on_list_tools=tools.list,
        on_call_tool=tools.call,
        on_list_prompts=None if prompts is None else prompts.list,
        on_get_prompt=None if prompts is None else prompts.get,
    )


class _Tools:
    def __init__(self, operations: Sequence[Operation], actor: str | None, turn: anyio.Lock) -> None:
        self._operations: Mapping[str, Operation] = {operation.name: operation for operation in operations}
        self._actor = actor
        # In the order they came: a client may send a create and the view of it without waiting in between. Pings and
        # listings do not queue here, so they are answered while a call waits for somebody's lock.
        self._turn = turn

    async def list(
        self, context: ServerRequestContext[Any], params: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListToolsResult:
        if params is not None and params.cursor is not None:
            raise MCPError(mcp_types.INVALID_PARAMS, "Unknown cursor: the tools are one page")
        return mcp_types.ListToolsResult(tools=[_tool(operation) for operation in self._operations.values()])

    async def call(
        self, context: ServerRequestContext[Any], params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult:
        operation = self._operations.get(params.name)
        if operation is None:
            raise MCPError(mcp_types.INVALID_PARAMS, f"Unknown tool; there are: {', '.join(self._operations)}")
        call = Call(self._actor or _client_actor(context), time.monotonic() + PATIENCE_S)
        async with self._turn:
            # Not abandoned when the request is cancelled: a write that began is finished.
            outcome = await anyio.to_thread.run_sync(perform, operation, params.arguments or {}, call)
        return _result(operation, outcome)


def _tool(operation: Operation) -> mcp_types.Tool:
    return mcp_types.Tool(
        name=operation.name,
        title=operation.title,
        description=operation.description,
        input_schema=dict(operation.input_schema),
        output_schema=dict(operation.output_schema),
        annotations=mcp_types.ToolAnnotations(
            read_only_hint=operation.hints.read_only,
            destructive_hint=operation.hints.destructive,
            idempotent_hint=operation.hints.idempotent,
            open_world_hint=False,
        ),
    )


def _client_actor(context: ServerRequestContext[Any]) -> str:
    client = context.session.client_params
    return client_actor(client.client_info.name if client else None)


def _result(operation: Operation, outcome: Outcome) -> mcp_types.CallToolResult:
    return mcp_types.CallToolResult(
        content=[mcp_types.TextContent(text=outcome.text)],
        structured_content=envelope(operation.name, outcome.result, outcome.error),
        is_error=outcome.error is not None,
    )
