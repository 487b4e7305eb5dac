"""The SDK's own client against a real process, in both eras and every published revision."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, ClientSession, StdioServerParameters, stdio_client
from mcp_types import (
    ClientCapabilities,
    Implementation,
    InitializedNotification,
    InitializeRequest,
    InitializeRequestParams,
    InitializeResult,
    TextContent,
)

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


HANDSHAKES = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


async def use_everything(client: Client | ClientSession) -> tuple[Any, ...]:
    """A call of each kind of request; what the client cannot read by its revision's schema it raises."""
    tools = [tool.name for tool in (await client.list_tools()).tools]
    skill = {"command": "create", "path": "/memory/skills/mend", "file_text": "---\ndescription: d\n---\nTurn it off."}
    written = await client.call_tool("memory", skill)
    prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
    [message] = (await client.get_prompt("mend")).messages
    assert written.structured_content is not None
    return tools, written.structured_content["ok"], prompts, message.role, message.content.model_dump()["text"]


EVERYTHING = (TOOLS, True, ["mend"], "user", "Turn it off.")


@pytest.mark.parametrize("version", HANDSHAKES)
def test_a_client_of_each_revision_with_a_handshake_uses_everything(tmp_path: Path, version: str) -> None:
    # The SDK's client asks for the newest of them alone, so its own `initialize` is spelled out with another date.
    request = InitializeRequest(
        params=InitializeRequestParams(
            protocol_version=version,
            capabilities=ClientCapabilities(),
            client_info=Implementation(name="sdk-client", version="1"),
        )
    )

    async def use() -> tuple[Any, ...]:
        async with (
            stdio_client(parameters(tmp_path / "home")) as (read, write),
            ClientSession(read, write) as session,
        ):
            session.adopt(await session.send_request(request, InitializeResult))
            await session.send_notification(InitializedNotification())
            return session.protocol_version, await use_everything(session)

    assert anyio.run(use) == (version, EVERYTHING)


@pytest.mark.parametrize(
    ("mode", "version"), [("auto", "2026-07-28"), ("2026-07-28", "2026-07-28"), ("legacy", "2025-11-25")]
)
def test_a_client_of_each_mode_uses_everything(tmp_path: Path, mode: str, version: str) -> None:
    async def use() -> tuple[Any, ...]:
        async with Client(stdio_client(parameters(tmp_path / "home")), mode=mode) as client:
            return client.protocol_version, await use_everything(client)

    assert anyio.run(use) == (version, EVERYTHING)
