"""Claude Desktop: one strict JSON file, in three possible places on Windows; remote servers are not read from it.

Sources: modelcontextprotocol.io and support.claude.com (documented); the Windows package's places from
anthropics/claude-code issues 26073, 25579 and others, the newest one from third-party sources (weaker); Linux is
community builds only (aaddrick/claude-desktop-debian). Not measured.
"""

from __future__ import annotations

from pathlib import PurePath

from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.installer.clients import shapes
from homeport.installer.clients.folders import config_home
from homeport.installer.clients.references import no_reference
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

LABEL = "Claude Desktop"
DIALECT: Dialect = "json"
IS_GUI = True
READS_BOM = False  # from an issue: tradesdontlie/tradingview-mcp 406; it then rewrites the file without our servers
MERGES_LEVELS = False
CLEARS_ENVIRONMENT = True
HOLDS_REFERENCES = False
ADD_REPLACES = False
# It keeps the file in memory and writes that copy back (anthropics/claude-code 90101, 85005 and others).
PROCESS_NAMES: frozenset[str] = frozenset({"Claude", "Claude.exe", "claude-desktop"})
REWRITES: frozenset[str] = frozenset()
CLASHING_KEYS: tuple[frozenset[str], ...] = ()
FILE_NAME = "claude_desktop_config.json"

server = shapes.server_of_mcp_servers
name_problem = shapes.any_name
file_problem = shapes.no_file_problem
apply_command = shapes.no_apply_command
remove_command = shapes.no_remove_command


def home(environment: Environment) -> PurePath:
    if environment.platform == "darwin":
        return environment.home / "Library" / "Application Support" / "Claude"
    if environment.platform == "win32":
        return _roaming(environment) / "Claude"
    return config_home(environment) / "Claude"


def is_installed(environment: Environment, reader: Reader) -> bool:
    if environment.platform == "win32":
        return bool(_windows_homes(environment, reader))
    return reader.is_folder(home(environment))


def target(level: Level, environment: Environment, reader: Reader, look: Look) -> Place:
    if level == "project":
        raise shapes.level_unsupported(LABEL)
    return Place("user", _folder(environment, reader) / FILE_NAME, ("mcpServers",), DIALECT)


def layers(environment: Environment, reader: Reader, look: Look) -> tuple[Place, ...]:
    return (target("user", environment, reader, look),)


def _folder(environment: Environment, reader: Reader) -> PurePath:
    """The folder the app reads. On Windows one of three; several that hold a config are not guessed between.

    Raises HomeportError: ambiguous_config, details `files`.
    """
    if environment.platform != "win32":
        return home(environment)
    homes = _windows_homes(environment, reader)
    live = [folder for folder in homes if reader.is_file(folder / FILE_NAME)]
    if len(live) > 1:
        files = [str(folder / FILE_NAME) for folder in live]
        raise HomeportError(
            "ambiguous_config",
            f"{LABEL} could be reading any of these files: {', '.join(files)}",
            "in the app open Settings, Developer, Edit Config to see which, then name it with --config",
            {"files": files},
        )
    return (live or homes or (home(environment),))[0]


def _windows_homes(environment: Environment, reader: Reader) -> tuple[PurePath, ...]:
    """The existing ones of: Claude-Data (package 2.4 and later), the package's virtual AppData, the classic folder."""
    local = _local(environment)
    data = local / "Claude-Data"
    packages = local / "Packages"
    candidates = [data / name for name in reader.names(data) if name.lower().startswith("claude")]
    candidates = [folder for folder in candidates if reader.is_folder(folder)]
    candidates.append(data)
    candidates += [
        packages / name / "LocalCache" / "Roaming" / "Claude"
        for name in reader.names(packages)
        if name.startswith("Claude_")
    ]
    candidates.append(_roaming(environment) / "Claude")
    return tuple(folder for folder in candidates if reader.is_folder(folder))


def _roaming(environment: Environment) -> PurePath:
    given = environment.variable("APPDATA")
    return environment.path(given) if given else environment.home / "AppData" / "Roaming"


def _local(environment: Environment) -> PurePath:
    given = environment.variable("LOCALAPPDATA")
    return environment.path(given) if given else environment.home / "AppData" / "Local"


def entry(server: Server, place: Place) -> Entry:
    if not isinstance(server, Stdio):
        raise shapes.transport_unsupported(
            LABEL,
            "a remote server",
            "add it in the app under Settings, Connectors; or register a stdio bridge: -- npx -y mcp-remote URL",
        )
    shapes.refuse_working_folder(server, LABEL)
    value = shapes.stdio_entry(server, no_reference, LABEL)
    # The documented entry has no type.
    del value["type"]
    return Entry(value)


def gates(
    name: str, entry: Json, place: Place, environment: Environment, reader: Reader, look: Look
) -> tuple[Gate, ...]:
    """None that a file shows: on and off are kept in the app."""
    return ()


def next_steps(name: str, place: Place) -> tuple[str, ...]:
    return ("quit Claude Desktop fully (its tray icon too) and start it again",)
