"""Homeport's public API. A name is loaded when it is asked for: `import homeport` alone costs nothing."""

from __future__ import annotations

# Not typing's, which would be an import; mypy takes any name of that spelling for true.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from homeport.errors import HomeportError as HomeportError
    from homeport.mcp_client import McpConnectionError as McpConnectionError
    from homeport.mcp_client import McpServer as McpServer
    from homeport.mcp_client import McpTool as McpTool
    from homeport.mcp_client import ToolResult as ToolResult
    from homeport.server.transport.embedded import create_server as create_server
else:
    # The same list at run time; a test holds one to the other.
    PUBLIC = {
        "HomeportError": "homeport.errors",
        "McpConnectionError": "homeport.mcp_client",
        "McpServer": "homeport.mcp_client",
        "McpTool": "homeport.mcp_client",
        "ToolResult": "homeport.mcp_client",
        "create_server": "homeport.server.transport.embedded",
    }
    __all__ = list(PUBLIC)

    def __getattr__(name):
        if name not in PUBLIC:
            raise AttributeError(f"module 'homeport' has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(PUBLIC[name]), name)

    def __dir__():
        return [*globals(), *PUBLIC]
