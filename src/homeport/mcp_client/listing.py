"""The tools of a server: every page of its list, to its end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import mcp_types
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from homeport.mcp_client.failures import Refused, one_line
from homeport.mcp_client.tool import McpTool, ToolResult

_MOST_TOOLS: Final = 10_000
_MOST_PAGES: Final = 1_000


async def list_tools(client: Client) -> list[mcp_types.Tool]:
    """Every tool that the server lists, in its order; none where it has no tools.

    A tool that comes twice just as it was is one tool. Raises Refused where two differ under one name, or the list does
    not end; MCPError and ValidationError as the SDK does.
    """
    found: dict[str, mcp_types.Tool] = {}
    cursors: set[str] = set()
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        try:
            page = await client.list_tools(cursor=cursor, cache_mode="bypass")
        except MCPError as error:
            if cursor is None and error.code == mcp_types.METHOD_NOT_FOUND and not client.server_capabilities.tools:
                return []
            raise
        for tool in page.tools:
            if found.setdefault(tool.name, tool) != tool:
                raise Refused(f"it lists two different tools named '{one_line(tool.name, 100)}'")
        cursor = page.next_cursor
        if cursor is None:
            return list(found.values())
        if cursor in cursors or len(found) > _MOST_TOOLS:
            break
        cursors.add(cursor)
    raise Refused("its list of tools does not end")


def as_tool(
    tool: mcp_types.Tool,
    server: str,
    prefix: str | None,
    call: Callable[[str, Mapping[str, Any]], Awaitable[ToolResult]],
) -> McpTool:
    hints = tool.annotations.model_dump(mode="json", by_alias=True, exclude_unset=True) if tool.annotations else {}

    async def call_it(arguments: Mapping[str, Any]) -> ToolResult:
        return await call(tool.name, arguments)

    return McpTool(
        name=f"{prefix}__{tool.name}" if prefix else tool.name,
        description=tool.description or "",
        input_schema=tool.input_schema,
        title=tool.title or hints.get("title"),
        output_schema=tool.output_schema,
        annotations=hints,
        server=server,
        _call=call_it,
    )
