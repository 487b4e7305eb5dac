"""Skills as prompts, as the SDK's own client sees them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from homeport.server.operations.memory import memory_operation
from homeport.server.state.documents.store import Documents
from homeport.server.state.mounts import Mount
from homeport.server.state.skills.library import Library
from homeport.server.transport.tools import sdk_server
from tests.server.making import make_documents, put

MOUNTS = (Mount("user:ann", "user"), Mount("user:ann/proj:x", "project"))
HEAD = "---\ndescription: {}\n---\n"


def server_of(documents: Documents) -> Server[Any]:
    return sdk_server([memory_operation(documents)], "", None, (Library(documents), documents))


def test_a_skill_written_by_one_client_is_a_prompt_of_the_next(tmp_path: Path) -> None:
    async def run(documents: Documents) -> tuple[list[str], list[str], str]:
        async with Client(server_of(documents)) as one:
            before = [prompt.name for prompt in (await one.list_prompts()).prompts]
            text = HEAD.format("How we deploy") + "push"
            await one.call_tool("memory", {"command": "create", "path": "/user/skills/deploy", "file_text": text})
        async with Client(server_of(documents)) as other:
            after = [prompt.name for prompt in (await other.list_prompts()).prompts]
            got = await other.get_prompt("deploy")
        return before, after, got.messages[0].content.text  # type: ignore[union-attr]  # it is text

    with closing(make_documents(tmp_path / "home", *MOUNTS)) as documents:
        assert anyio.run(run, documents) == ([], ["deploy"], "push")


def test_no_two_have_one_name_and_every_name_is_one_that_clients_take(tmp_path: Path) -> None:
    async def names(documents: Documents) -> list[tuple[str, str | None, str | None]]:
        async with Client(server_of(documents)) as client:
            return [(one.name, one.title, one.description) for one in (await client.list_prompts()).prompts]

    with closing(make_documents(tmp_path / "home", *MOUNTS)) as documents:
        for path, what in {
            "/user/skills/a b": "one",
            "/user/skills/a-b": "two",
            "/user/skills/東": "three",
            "/project/skills/a b": "hidden by the user's",
        }.items():
            put(documents, path, HEAD.format(f'"{what}"'))
        put(documents, "/user/skills/bad", "no head")
        listed = anyio.run(names, documents)
    assert [(title, what) for _, title, what in listed] == [("a b", "one"), ("a-b", "two"), ("東", "three")]
    assert [name for name, _, _ in listed][:2] == ["a-b", "a-b-2"]
    assert all(name.isascii() and " " not in name for name, _, _ in listed)


def test_an_unknown_prompt_is_an_error_that_names_those_there_are(tmp_path: Path) -> None:
    async def get(documents: Documents) -> str:
        async with Client(server_of(documents)) as client:
            with pytest.raises(MCPError) as refused:
                await client.get_prompt("none")
            return str(refused.value)

    with closing(make_documents(tmp_path / "home", *MOUNTS)) as documents:
        put(documents, "/user/skills/deploy", HEAD.format("x"))
        assert anyio.run(get, documents) == "Unknown prompt; there are: deploy"
