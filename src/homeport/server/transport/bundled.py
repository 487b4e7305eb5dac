"""The bundled server, put together: a home, its mounts, the operations of the chosen toolsets."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from mcp.server.lowlevel.server import Server

from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.server.operations.instructions import instructions
from homeport.server.operations.memory import memory_operation
from homeport.server.start import Start
from homeport.server.state.documents.store import Documents
from homeport.server.state.home import Home, open_home
from homeport.server.state.mounts import Mount
from homeport.server.state.projects import claimed_layout, user_scope
from homeport.server.transport.tools import sdk_server

_log = logging.getLogger(__name__)


def bundled_server(environment: Environment, start: Start) -> tuple[Server[Any], Documents]:
    """The server and the documents it serves, which the caller closes.

    Raises HomeportError: home_unusable, name_collision or memory_path_invalid (a mount's folder cannot be served).
    """
    home = open_home(Path(start.home))
    documents = Documents(home, start.mounts or _layout(environment, home))
    server = sdk_server([memory_operation(documents)], instructions(documents.index(), ["memory"]), start.actor)
    return server, documents


def _layout(environment: Environment, home: Home) -> tuple[Mount, ...]:
    try:
        return claimed_layout(environment, home)
    except HomeportError as error:
        # A home on a read-only disk can still be read; what it cannot do is remember a project.
        _log.warning("no project is served: %s", error.message)
        return (Mount(user_scope(environment), "user"),)
