"""The ground floor: any MCP server's tools, used from Python. The SDK is loaded when a server is entered."""

from homeport.mcp_client.failures import McpConnectionError
from homeport.mcp_client.server import McpServer
from homeport.mcp_client.tool import McpTool, ToolResult

__all__ = ["McpConnectionError", "McpServer", "McpTool", "ToolResult"]
