"""A tool of a server, and what a call of it gave."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from homeport.errors import HomeportError
from homeport.mcp_client.failures import one_line

if TYPE_CHECKING:
    from mcp_types import CallToolResult


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave, for a program and for a model.

    ok: the server did what it was asked. data: its `structuredContent`, None where it sent none.
    text: all of it for a reader: the text blocks joined by line ends, one line in brackets for each image, audio or
    resource; without blocks the data as JSON; where the call failed, what the tool said, or the error with its code.
    error: None exactly where `ok`. Its code is one of `tool_failed` (the tool said so itself), `tool_refused` (an error
    of the protocol), `tool_timed_out`, `tool_disconnected`, `tool_reply_unusable`, `bad_argument`.
    blocks: the content as the server sent it, images in base64 too.
    """

    ok: bool
    data: Any
    text: str
    error: HomeportError | None = None
    blocks: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool as the server listed it.

    name: with the server's prefix, if it was given one. input_schema, output_schema, annotations: as the server sent
    them. server: the name of the server.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    title: str | None
    output_schema: dict[str, Any] | None
    annotations: dict[str, Any]
    server: str
    _call: Callable[[Mapping[str, Any]], Awaitable[ToolResult]] = field(repr=False, compare=False)

    async def call(self, /, **arguments: Any) -> ToolResult:
        """Call the tool. Nothing is raised for what the server says, does or fails to do: see `ToolResult.error`.

        arguments: JSON values by the names of `input_schema`. A cancelled caller is cancelled, and the server is told.
        """
        return await self._call(arguments)


def failed(error: HomeportError) -> ToolResult:
    said = f"[{error.code}] {error.message}" + (f"\n{error.hint}" if error.hint else "")
    return ToolResult(False, None, said, error)


def read_result(server: str, tool: str, result: CallToolResult) -> ToolResult:
    blocks = tuple(block.model_dump(mode="json", by_alias=True, exclude_unset=True) for block in result.content)
    data = result.structured_content
    text = "\n".join(_line(block) for block in blocks)
    if not blocks and data is not None:
        text = json.dumps(data, ensure_ascii=False)
    if not result.is_error:
        return ToolResult(True, data, text, None, blocks)
    said = one_line(text) or "it gave no reason"
    error = HomeportError("tool_failed", f"'{tool}' of the server '{server}' failed: {said}", None, {"server": server})
    return ToolResult(False, data, text or said, error, blocks)


def _line(block: Mapping[str, Any]) -> str:
    if block["type"] == "text":
        return str(block["text"])
    resource = block.get("resource", block)
    words = [block["type"].replace("_", " "), resource.get("mimeType")]
    words.append(_size(resource))
    place = f": {one_line(str(resource['uri']), 200)}" if "uri" in resource else ""
    return f"[{' '.join(one_line(str(word), 100) for word in words if word)}{place}]"


def _size(resource: Mapping[str, Any]) -> str | None:
    encoded = resource.get("data") or resource.get("blob")
    if encoded:
        return f"{len(encoded.rstrip('=')) * 3 // 4} bytes"
    if "text" in resource:
        return f"{len(resource['text'].encode(errors='replace'))} bytes"
    return f"{resource['size']} bytes" if resource.get("size") is not None else None
