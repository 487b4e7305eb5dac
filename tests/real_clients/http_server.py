"""The bundled server behind the SDK's own HTTP app, for suites that speak nothing else. Prints its URL, serves on.

HTTP is not in this version of Homeport. What is under test is the server object: the bytes here are the SDK's.
"""

from __future__ import annotations

import socket
import sys

import uvicorn

from homeport.environment import Environment
from homeport.server.start import parse_start
from homeport.server.transport.bundled import bundled_server


def main() -> None:
    environment = Environment.current()
    bundled = bundled_server(environment, parse_start(environment, root=sys.argv[1], scope="user:ann"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        sys.stdout.write(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp\n")
        sys.stdout.flush()
        app = bundled.server.streamable_http_app()
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])


if __name__ == "__main__":
    main()
