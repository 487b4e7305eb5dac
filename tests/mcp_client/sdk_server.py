"""A server made with the SDK: `python sdk_server.py stdio`, or `http PORT_FILE [TOKEN]` on a port of its own choice."""

from __future__ import annotations

import base64
import socket
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

PICTURE = base64.b64encode(b"\x89PNG" + b"x" * 2044).decode()
SCHEMA = {
    "type": "object",
    "properties": {"z": {"type": "string", "x-vendor": [1.0, None]}, "a": {"type": "integer", "minimum": 10**20}},
    "required": ["z"],
    "additionalProperties": False,
    "$comment": "as it is",
}
SUM = {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}
TOOLS = [
    types.Tool(name="echo", title="Echo", description="gives it back", input_schema=SCHEMA),
    types.Tool(
        name="add", input_schema={"type": "object"}, output_schema=SUM,
        annotations=types.ToolAnnotations(read_only_hint=True),
    ),
    types.Tool(name="show", input_schema={"type": "object"}),
    types.Tool(name="fail", input_schema={"type": "object"}),
    types.Tool(name="lie", input_schema={"type": "object"}, output_schema=SUM),
    types.Tool(name="wait", input_schema={"type": "object"}),
    types.Tool(name="end", input_schema={"type": "object"}),
    types.Tool(name="large", input_schema={"type": "object"}),
]  # fmt: skip


def text(said: str) -> types.TextContent:
    return types.TextContent(text=said)


async def call(context: ServerRequestContext[Any], params: types.CallToolRequestParams) -> types.CallToolResult:
    arguments = params.arguments or {}
    match params.name:
        case "echo":
            return types.CallToolResult(content=[text(arguments["z"]), text("and that was it")])
        case "add":
            return types.CallToolResult(content=[], structured_content={"sum": arguments["x"] + arguments["y"]})
        case "show":
            return types.CallToolResult(content=everything())
        case "fail":
            return types.CallToolResult(
                content=[text("the disk\nis full")], structured_content={"free": 0}, is_error=True
            )
        case "lie":
            return types.CallToolResult(content=[text("3")], structured_content={"total": 3})
        case "wait":
            await anyio.sleep(arguments["seconds"])
            return types.CallToolResult(content=[text("waited")])
        case "large":
            return types.CallToolResult(content=[text("x" * arguments["size"])])
        case "end":
            import os

            os._exit(7)
    raise AssertionError(params.name)


def everything() -> list[Any]:
    return [
        text("a picture:"),
        types.ImageContent(data=PICTURE, mime_type="image/png"),
        types.AudioContent(data=base64.b64encode(b"12345").decode(), mime_type="audio/wav"),
        types.EmbeddedResource(
            resource=types.TextResourceContents(uri="file:///notes/ž.md", mime_type="text/markdown", text="# ž\n")
        ),
        types.EmbeddedResource(resource=types.BlobResourceContents(uri="file:///x", blob=PICTURE)),
        types.ResourceLink(uri="https://example.com/a", name="a", size=7),
        text("that is all"),
    ]


async def list_tools(context: ServerRequestContext[Any], params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=TOOLS)


def make() -> Server[Any]:
    return Server("bench", version="2", instructions="Use it well.", on_list_tools=list_tools, on_call_tool=call)


async def on_stdio() -> None:
    server = make()
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def on_http(port_file: Path, token: str | None, stateless: bool) -> None:
    import uvicorn

    app: Any = make().streamable_http_app(stateless_http=stateless)

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        given = dict(scope.get("headers", ())).get(b"authorization")
        if scope["type"] == "http" and token and given != f"Bearer {token}".encode():
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b"no"})
        else:
            await app(scope, receive, send)

    listening = socket.create_server(("127.0.0.1", 0))
    made = port_file.with_suffix(".new")
    made.write_text(str(listening.getsockname()[1]))
    made.rename(port_file)
    uvicorn.Server(uvicorn.Config(guarded, log_level="warning")).run([listening])


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        anyio.run(on_stdio)
    else:
        on_http(Path(sys.argv[2]), sys.argv[3] or None, sys.argv[1] == "stateless")
