"""A real MCP server that writes down each of its starts: a line of JSON in the file that is its first argument."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer


def main() -> None:
    log = Path(sys.argv[1])
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"argv": sys.argv[2:], "env": dict(os.environ), "cwd": os.getcwd()}) + "\n")
    server = MCPServer("ledger")

    @server.tool()
    def count() -> int:
        """Count."""
        return 1

    server.run("stdio")


if __name__ == "__main__":
    main()
