"""The bundled server for a host that runs it in its own process: an object of the SDK."""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from typing import Any

from mcp.server.lowlevel.server import Server

from homeport.environment import Environment
from homeport.server.start import parse_start
from homeport.server.state.history.reach import Reach
from homeport.server.transport.bundled import bundled_server


def create_server(
    home: str | os.PathLike[str] | None = None,
    *,
    conversations: Reach = "own",
    toolsets: Sequence[str] = (),
    scope: str | None = None,
    mounts: Sequence[str] = (),
    actor: str | None = None,
) -> Server[Any]:
    """What `homeport serve` serves, to be put on a transport of the SDK or given to `McpServer.in_process`.

    home: the folder, made where it is missing; else $HOMEPORT_HOME, else ~/.homeport. conversations: whose are shown,
    as `--history` has it. toolsets, scope, mounts (`scope=S,path=P[,ro|,eo]`), actor: as the options of `homeport
    serve`. Without scope and mounts it serves the layout of the working folder.

    The home's files are open until the server object is gone, or the interpreter ends.

    Raises HomeportError: bad_scope, usage_error, not_in_this_version, home_unusable, name_collision,
    memory_path_invalid.
    """
    environment = Environment.current()
    start = parse_start(
        environment,
        root=None if home is None else os.fspath(home),
        scope=scope,
        mounts=mounts,
        actor=actor,
        toolsets=toolsets,
        history=conversations,
    )
    bundled = bundled_server(environment, start)
    weakref.finalize(bundled.server, bundled.close)
    return bundled.server
