"""Skills as prompts: a person picks one by name in a client that shows them, such as a slash command."""

from __future__ import annotations

import logging
import time
from typing import Any

import anyio
import mcp_types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from homeport.errors import HomeportError
from homeport.server.operations.skills import load
from homeport.server.state.documents.store import Caller, Documents
from homeport.server.state.scopes import clean_slug
from homeport.server.state.skills.library import Library, Skill

_log = logging.getLogger(__name__)


class Prompts:
    """Every usable skill under a name that clients take; listed anew each time, since any process may write one."""

    def __init__(self, library: Library, documents: Documents, turn: anyio.Lock, patience_s: float) -> None:
        """turn: what tools and prompts wait for, because the state takes one call at a time."""
        self._library = library
        self._documents = documents
        self._turn = turn
        self._patience_s = patience_s

    async def list(
        self, context: ServerRequestContext[Any], params: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListPromptsResult:
        if params is not None and params.cursor is not None:
            raise MCPError(mcp_types.INVALID_PARAMS, "Unknown cursor: the prompts are one page")
        async with self._turn:
            named = await anyio.to_thread.run_sync(self._named)
        prompts = [
            mcp_types.Prompt(name=name, title=skill.name, description=skill.description)
            for name, skill in named.items()
        ]
        return mcp_types.ListPromptsResult(prompts=prompts)

    async def get(
        self, context: ServerRequestContext[Any], params: mcp_types.GetPromptRequestParams
    ) -> mcp_types.GetPromptResult:
        async with self._turn:
            return await anyio.to_thread.run_sync(self._get, params.name)

    def _named(self) -> dict[str, Skill]:
        """No two with one name: a name that another skill has by then gets a number behind it."""
        named: dict[str, Skill] = {}
        try:
            skills = self._library.named()
        except HomeportError as error:
            _log.warning("no prompts are listed: %s", error.message)
            return named
        for skill in skills:
            name = wanted = clean_slug(skill.name, "skill")
            number = 2
            while name in named:
                name, number = f"{wanted}-{number}", number + 1
            named[name] = skill
        return named

    def _get(self, name: str) -> mcp_types.GetPromptResult:
        named = self._named()
        skill = named.get(name)
        if skill is None:
            there = ", ".join(named) or "there are none"
            raise MCPError(mcp_types.INVALID_PARAMS, f"Unknown prompt; there are: {there[:1000]}")
        caller = Caller("mcp:prompt", time.monotonic() + self._patience_s)
        try:
            text = load(self._library, self._documents, str(skill.address), caller).text
        except HomeportError as error:
            raise MCPError(mcp_types.INTERNAL_ERROR, f"[{error.code}] {error.message}") from error
        content = mcp_types.TextContent(text=text)
        return mcp_types.GetPromptResult(
            description=skill.description, messages=[mcp_types.PromptMessage(role="user", content=content)]
        )
