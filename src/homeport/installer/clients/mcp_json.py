"""The common `mcpServers` shape, printed for a host that is not known here. It has no file."""

from __future__ import annotations

from typing import Final

from homeport.installer.clients import shapes
from homeport.installer.clients.references import dollar_braces, names_in, spell
from homeport.installer.clients.values import Entry, Json, Server, Stdio

NAME: Final = "mcp-json"
LABEL: Final = "any other client"
CONTAINER: Final = ("mcpServers",)


def entry(server: Server) -> Entry:
    """References as `${NAME}`, the commonest spelling. Raises HomeportError: field_unsupported."""
    if isinstance(server, Stdio):
        value = shapes.stdio_entry(server, dollar_braces, LABEL)
        del value["type"]
        if server.cwd is not None:
            value["cwd"] = server.cwd
        return Entry(value, names_in(server))
    remote: dict[str, Json] = {
        "type": server.transport,
        "url": spell(server.url, dollar_braces, LABEL, "the URL"),
    }
    if server.headers:
        remote["headers"] = shapes.spelled_pairs(server.headers, dollar_braces, LABEL, "a header")
    return Entry(remote, names_in(server))
