"""The SDK's own client against a real process, in both eras."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from mcp import Client, ClientSession, StdioServerParameters, stdio_client
from mcp_types import Implementation, TextContent

from homeport.version import VERSION

TOOLS = ["memory", "list_skills", "load_skill", "search_history", "recall_turn"]


def parameters(home: Path) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "homeport", "serve", "--root", str(home), "--scope", "user:ann"],
        env={"PATH": os.defpath, "HOME": str(home.parent)},
        cwd=str(home.parent),
    )


def test_a_session_of_the_handshake_era_works_on_memory(tmp_path: Path) -> None:
    async def use() -> tuple[Any, ...]:
        async with (
            stdio_client(parameters(tmp_path / "home")) as (read, write),
            ClientSession(read, write, client_info=Implementation(name="sdk-client", version="1")) as session,
        ):
            connected = await session.initialize()
            await session.send_ping()
            tools = await session.list_tools()
            created = await session.call_tool("memory", {"command": "create", "path": "/memory/ž", "file_text": "✓"})
            viewed = await session.call_tool("memory", {"command": "view", "path": "/memory/ž"})
            failed = await session.call_tool("memory", {"command": "view", "path": "/memory/none"})
            return connected, tools, created, viewed, failed

    connected, tools, created, viewed, failed = anyio.run(use)

    assert (connected.server_info.name, connected.server_info.version) == ("homeport", VERSION)
    assert connected.capabilities.model_dump(exclude_none=True) == {
        "tools": {"list_changed": False},
        "prompts": {"list_changed": False},
    }
    assert [tool.name for tool in tools.tools] == TOOLS
    assert (created.is_error, viewed.is_error, failed.is_error) == (False, False, True)
    assert viewed.structured_content["result"]["content"] == "✓"
    assert viewed.structured_content["result"]["actor"] == "mcp:sdk-client"
    assert isinstance(failed.content[0], TextContent)
    assert failed.content[0].text.startswith("[document_not_found] ")


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_a_client_of_either_mode_connects(tmp_path: Path, mode: Literal["auto", "legacy"], version: str) -> None:
    async def use() -> tuple[str, list[str], Any]:
        async with Client(stdio_client(parameters(tmp_path / "home")), mode=mode) as client:
            tools = await client.list_tools()
            called = await client.call_tool("memory", {"command": "view"})
            return client.protocol_version, [tool.name for tool in tools.tools], called

    spoken, names, called = anyio.run(use)

    assert (spoken, names, called.is_error) == (version, TOOLS, False)
    assert called.structured_content["result"]["kind"] == "index"
