"""The least that the official SDK can serve over stdio: what `homeport serve` is measured beside."""

from __future__ import annotations

from typing import Any

import anyio
import mcp_types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server


async def list_tools(context: Any, parameters: Any) -> mcp_types.ListToolsResult:
    return mcp_types.ListToolsResult(tools=[])


async def main() -> None:
    server: Server[Any] = Server("bare", version="1", on_list_tools=list_tools)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
