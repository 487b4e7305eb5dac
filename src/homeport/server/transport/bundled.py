"""The bundled server, put together: a home, its mounts, the operations of the chosen toolsets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, NamedTuple

from mcp.server.lowlevel.server import Server

from homeport.environment import Environment
from homeport.server.operations.history import history_operations
from homeport.server.operations.instructions import instructions
from homeport.server.operations.memory import memory_operation
from homeport.server.operations.operation import Operation
from homeport.server.operations.skills import skills_operations
from homeport.server.start import Start
from homeport.server.state.documents.store import Documents
from homeport.server.state.history.reach import user_of
from homeport.server.state.history.store import History
from homeport.server.state.home import open_home
from homeport.server.state.mounts import Mount
from homeport.server.state.projects import served_layout, user_scope
from homeport.server.state.skills.library import Library
from homeport.server.transport.tools import sdk_server


class Bundled(NamedTuple):
    """close: lets go of the home's files; the server can answer nothing after it."""

    server: Server[Any]
    close: Callable[[], None]


def bundled_server(environment: Environment, start: Start) -> Bundled:
    """Raises HomeportError: home_unusable; name_collision, memory_path_invalid (a mount's folder cannot be served)."""
    home = open_home(Path(start.home))
    mounts = start.mounts or served_layout(environment, home)
    operations: list[Operation] = []
    with ExitStack() as opened:
        documents = opened.enter_context(closing(Documents(home, mounts)))
        if "memory" in start.toolsets:
            operations.append(memory_operation(documents))
        library = Library(documents)
        if "skills" in start.toolsets:
            operations += skills_operations(library, documents)
        if "history" in start.toolsets:
            history = opened.enter_context(closing(History(home.history)))
            operations += history_operations(history, start.history, *_whose(mounts, environment))
        indexes = documents.index() if {"memory", "skills"} & {*start.toolsets} else []
        skills = (library, documents) if "skills" in start.toolsets else None
        server = sdk_server(operations, instructions(indexes, start.toolsets), start.actor, skills)
        return Bundled(server, opened.pop_all().close)


def _whose(mounts: Sequence[Mount], environment: Environment) -> tuple[str, str | None]:
    """Whose history is shown: the user the mounts are of, else the account's; and the project among them, if any."""
    account = user_scope(environment)
    users = [user_of(mount.scope) for mount in mounts if mount.scope.startswith("user:")]
    user = account if account in users or not users else users[0]
    return user, next((mount.scope for mount in mounts if mount.scope.startswith(f"{user}/proj:")), None)
