"""Cursor: a file for the person and one for the project; on the same name the project's wins.

Source: cursor.com/docs/mcp, /docs/cli/mcp and /help/customization/mcp, read 2026-12-01 (documented, not measured).
"""

from __future__ import annotations

from pathlib import PurePath

from homeport.environment import Environment
from homeport.installer.clients import shapes
from homeport.installer.clients.folders import project_root
from homeport.installer.clients.references import dollar_env_colon, names_in, spell
from homeport.installer.clients.values import (
    Dialect,
    Entry,
    Gate,
    Json,
    Level,
    Look,
    Place,
    Reader,
    Server,
    Stdio,
)

LABEL = "Cursor"
DIALECT: Dialect = "jsonc"  # inferred: an editor of the VS Code family, whose reader takes comments
IS_GUI = True
READS_BOM = True  # inferred, as the dialect
MERGES_LEVELS = False
CLEARS_ENVIRONMENT = False
HOLDS_REFERENCES = True
ADD_REPLACES = False
PROCESS_NAMES: frozenset[str] = frozenset()  # it watches the file and does not write its copy back
REWRITES: frozenset[str] = frozenset()
CLASHING_KEYS: tuple[frozenset[str], ...] = ()

server = shapes.server_of_mcp_servers
name_problem = shapes.any_name
file_problem = shapes.no_file_problem
apply_command = shapes.no_apply_command
remove_command = shapes.no_remove_command


def home(environment: Environment) -> PurePath:
    return environment.home / ".cursor"


def is_installed(environment: Environment, reader: Reader) -> bool:
    return reader.is_folder(home(environment))


def target(level: Level, environment: Environment, reader: Reader, look: Look) -> Place:
    folder = home(environment) if level == "user" else project_root(environment, reader) / ".cursor"
    # "servers" is the VS Code word: Cursor does not read it.
    return Place(level, folder / "mcp.json", ("mcpServers",), DIALECT, stale_containers=(("servers",),))


def layers(environment: Environment, reader: Reader, look: Look) -> tuple[Place, ...]:
    user = target("user", environment, reader, look)
    project = target("project", environment, reader, look)
    return (user,) if project.file == user.file else (user, project)


def entry(server: Server, place: Place) -> Entry:
    required = names_in(server)
    if isinstance(server, Stdio):
        shapes.refuse_working_folder(server, LABEL)
        return Entry(shapes.stdio_entry(server, dollar_env_colon, LABEL), required)
    # No "type": Cursor tells the transport by the keys that are present.
    value: dict[str, Json] = {"url": spell(server.url, dollar_env_colon, LABEL, "the URL")}
    if server.headers:
        value["headers"] = shapes.spelled_pairs(server.headers, dollar_env_colon, LABEL, "a header")
    return Entry(value, required)


def gates(
    name: str, entry: Json, place: Place, environment: Environment, reader: Reader, look: Look
) -> tuple[Gate, ...]:
    """None that a file shows: on and off are kept in Cursor's own storage."""
    return ()


def next_steps(name: str, place: Place) -> tuple[str, ...]:
    if place.level == "user":
        return (f"Cursor picks it up by itself; if '{name}' looks dead, reload the window",)
    return (f"switch '{name}' on in Cursor's settings under MCP: a project's servers start switched off",)
