"""The bundled server as an object for hosts: the options of the command, and what it holds open."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from homeport import HomeportError, create_server


def listed(server: Any) -> list[str]:
    async def use() -> list[str]:
        async with Client(server) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    return anyio.run(use)


def open_files(folder: Path) -> list[str]:
    links = (Path("/proc/self/fd") / name for name in os.listdir("/proc/self/fd"))
    return [str(link.readlink()) for link in links if link.exists() and link.readlink().is_relative_to(folder)]


def test_it_serves_the_toolsets_that_the_command_serves(tmp_path: Path) -> None:
    whole = listed(create_server(tmp_path))
    assert whole[0] == "memory" and "search_history" in whole
    assert listed(create_server(tmp_path, toolsets=["memory"])) == ["memory"]


def test_its_writes_carry_the_actor_that_the_host_names(tmp_path: Path) -> None:
    server = create_server(tmp_path, mounts=["scope=user:ann,path=me"], actor="agent:planner")

    async def use() -> Any:
        async with Client(server) as client:
            await client.call_tool("memory", {"command": "create", "path": "/me/a", "file_text": "x"})
            return (await client.call_tool("memory", {"command": "view", "path": "/me/a"})).structured_content

    assert anyio.run(use)["result"]["actor"] == "agent:planner"
    assert (tmp_path / "memory/user=ann/a").read_text() == "x"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"toolsets": ["memori"]}, "usage_error"),
        ({"toolsets": ["records"]}, "not_in_this_version"),
        ({"scope": "Ann"}, "bad_scope"),
        ({"actor": "planner"}, "bad_scope"),
    ],
)
def test_what_the_command_refuses_is_refused(options: dict[str, Any], code: str, tmp_path: Path) -> None:
    with pytest.raises(HomeportError) as caught:
        create_server(tmp_path, **options)
    assert caught.value.code == code


def test_the_homes_files_are_let_go_with_the_object(tmp_path: Path) -> None:
    server = create_server(tmp_path)
    listed(server)
    assert open_files(tmp_path) != []
    del server
    gc.collect()
    assert open_files(tmp_path) == []
