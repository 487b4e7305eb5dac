"""Claude Code: the user file is its own state file, the project file is shared, the nearest level is taken whole.

Sources: code.claude.com/docs/en/mcp (documented); files, levels, keys, expansion, approval and locking measured with
claude 2.1.197.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import Final

from homeport.environment import Environment
from homeport.installer.clients import shapes
from homeport.installer.clients.folders import above_root, main_checkout, project_root, root_to_cwd
from homeport.installer.clients.references import dollar_braces, names_in, spell
from homeport.installer.clients.values import (
    Dialect,
    Entry,
    Gate,
    Json,
    KeyPath,
    LayerLevel,
    Level,
    Look,
    Place,
    Reader,
    Server,
    Stdio,
)

LABEL = "Claude Code"
DIALECT: Dialect = "json"
IS_GUI = False
READS_BOM = True
MERGES_LEVELS = False
CLEARS_ENVIRONMENT = False
HOLDS_REFERENCES = True
ADD_REPLACES = False
PROCESS_NAMES: frozenset[str] = frozenset()  # it reads again before it writes, within milliseconds
# `claude mcp add` puts an empty env; a rewrite of the file keeps everything else.
REWRITES: frozenset[str] = frozenset({"env"})
CLASHING_KEYS: tuple[frozenset[str], ...] = ()
_NAME: Final = r"[A-Za-z0-9_][A-Za-z0-9_-]*"  # a hyphen at the start is an option to its command line
_RESERVED: Final = frozenset({"workspace", "claude-in-chrome", "computer-use", "__proto__", "constructor"})

server = shapes.server_of_mcp_servers
file_problem = shapes.no_file_problem


def home(environment: Environment) -> PurePath:
    # `~` in the variable is not expanded and a relative value is taken from the working folder: node's path.join.
    given = environment.variable("CLAUDE_CONFIG_DIR")
    return environment.path(given) if given else environment.home / ".claude"


def is_installed(environment: Environment, reader: Reader) -> bool:
    return reader.is_folder(home(environment)) or reader.is_file(_state_file(environment, reader))


def _state_file(environment: Environment, reader: Reader) -> PurePath:
    old = home(environment) / ".config.json"
    if reader.is_file(old):
        # Where it exists it is read instead of .claude.json.
        return old
    given = environment.variable("CLAUDE_CONFIG_DIR")
    return (environment.path(given) if given else environment.home) / ".claude.json"


def target(level: Level, environment: Environment, reader: Reader, look: Look) -> Place:
    if level == "user":
        return _state_place("user", _state_file(environment, reader), ("mcpServers",))
    return _project_place("project", project_root(environment, reader))


def _state_place(level: LayerLevel, file: PurePath, container: KeyPath) -> Place:
    # proper-lockfile's folder: Claude Code waits for it a moment, then goes on without it (measured).
    return Place(level, file, container, DIALECT, owner="claude", lock_suffix=".lock")


def _project_place(level: LayerLevel, folder: PurePath) -> Place:
    return Place(level, folder / ".mcp.json", ("mcpServers",), DIALECT, shared_with=("Muse Code",))


def layers(environment: Environment, reader: Reader, look: Look) -> tuple[Place, ...]:
    state = _state_file(environment, reader)
    here = _same_folder(main_checkout(environment, reader), environment)
    records: list[Place] = []
    elsewhere: list[Place] = []
    for key in look.keys(state, DIALECT, ("projects",)):
        level: LayerLevel = "local" if _same_folder(key, environment) == here else "other-project"
        place = _state_place(level, state, ("projects", key, "mcpServers"))
        (records if level == "local" else elsewhere).append(place)
    return (
        *elsewhere,
        target("user", environment, reader, look),
        *(_project_place("parent", folder) for folder in above_root(environment, reader)),
        *(_project_place("project", folder) for folder in root_to_cwd(environment, reader)),
        *records,
        Place("managed", _managed_folder(environment) / "managed-mcp.json", ("mcpServers",), DIALECT),
    )


def _same_folder(path: PurePath | str, environment: Environment) -> str:
    """One spelling for one folder: on Windows a project has records that differ by case and slashes."""
    text = str(path)
    return text.replace("\\", "/").casefold() if environment.platform == "win32" else text


def _managed_folder(environment: Environment) -> PurePath:
    path = type(environment.home)
    if environment.platform == "darwin":
        return path("/Library/Application Support/ClaudeCode")
    if environment.platform == "win32":
        return path(r"C:\Program Files\ClaudeCode")
    return path("/etc/claude-code")


def entry(server: Server, place: Place) -> Entry:
    required = names_in(server)
    notes = _unset_notes(required)
    if isinstance(server, Stdio):
        shapes.refuse_working_folder(server, LABEL)
        value = shapes.stdio_entry(server, dollar_braces, LABEL)
        # The type is written, because `claude mcp get` shows command and arguments only where it stands; not in the
        # shared file, because Muse merges it over a user entry of the older shape, and two words for one thing switch
        # all of Muse's MCP off.
        if place.shared_with:
            del value["type"]
        return Entry(value, required, notes + _shared_notes(server, place))
    value = {
        "type": _transport(server.transport, place),
        "url": spell(server.url, dollar_braces, LABEL, "the URL"),
    }
    if server.headers:
        value["headers"] = shapes.spelled_pairs(server.headers, dollar_braces, LABEL, "a header")
    return Entry(value, required, notes + _shared_notes(server, place))


def _transport(transport: str, place: Place) -> str:
    # Muse reads the shared project file too and does not know "http" there; Claude Code takes both words.
    return "streamable-http" if transport == "http" and place.shared_with else transport


def _unset_notes(required: tuple[str, ...]) -> tuple[str, ...]:
    if not required:
        return ()
    return (f"Claude Code hands on the text ${{{required[0]}}} itself where the variable is not set",)


def _shared_notes(server: Server, place: Place) -> tuple[str, ...]:
    in_env = server.env if isinstance(server, Stdio) else ()
    elsewhere = set(names_in(server)) - {one.name for _, text in in_env for one in text.references}
    if not place.shared_with or not elsewhere:
        return ()
    return (
        f"{' and '.join(place.shared_with)} reads {place.file.name} too and takes references outside env literally",
    )


def name_problem(name: str) -> str | None:
    if name in _RESERVED:
        return f"Claude Code takes letters, numbers, hyphens and underscores, but keeps the name '{name}' for itself"
    if re.fullmatch(_NAME, name):
        return None
    return "Claude Code takes letters, numbers, hyphens and underscores in a name, and no hyphen at its start"


def gates(
    name: str, entry: Json, place: Place, environment: Environment, reader: Reader, look: Look
) -> tuple[Gate, ...]:
    barred = _barred(name, entry, place, environment, reader, look)
    if place.level in ("project", "parent"):
        return barred + _approval(name, environment, reader, look)
    state = _state_file(environment, reader)
    here = _same_folder(main_checkout(environment, reader), environment)
    return barred + tuple(
        Gate("off", f"disabledMcpServers of {key} in {state} names '{name}'", "in a session, switch it on under /mcp")
        for key in look.keys(state, DIALECT, ("projects",))
        if _same_folder(key, environment) == here
        and _lists(look.value(state, DIALECT, ("projects", key, "disabledMcpServers")), name)
    )


def _barred(
    name: str, entry: Json, place: Place, environment: Environment, reader: Reader, look: Look
) -> tuple[Gate, ...]:
    """What an administrator's file, or a list in the settings, takes away."""
    managed = _managed_folder(environment)
    if place.level != "managed" and reader.is_file(managed / "managed-mcp.json"):
        # Exclusive even when it holds no server (measured).
        return (Gate("off", f"{managed / 'managed-mcp.json'} is there, and Claude Code then reads no other servers"),)
    for file in (managed / "managed-settings.json", home(environment) / "settings.json"):
        if _ruled(name, entry, look.value(file, DIALECT, ("deniedMcpServers",)) or []):
            return (Gate("off", f"deniedMcpServers in {file} forbids '{name}'"),)
        allowed = look.value(file, DIALECT, ("allowedMcpServers",))
        if isinstance(allowed, list) and not _ruled(name, entry, _decisive(entry, allowed)):
            return (Gate("off", f"allowedMcpServers in {file} does not allow '{name}'"),)
    return ()


def _decisive(entry: Json, rules: list[Json]) -> list[Json]:
    """As soon as one rule is about commands, a server that is started must match one of those (measured once)."""
    about = [rule for rule in rules if isinstance(rule, dict) and "serverCommand" in rule]
    return about if about and isinstance(entry, dict) and "command" in entry else rules


def _ruled(name: str, entry: Json, rules: Json) -> bool:
    if not isinstance(entry, dict):
        return False
    args = entry.get("args")
    words = [entry.get("command"), *(args if isinstance(args, list) else [])]
    return isinstance(rules, list) and any(
        isinstance(rule, dict)
        and (
            rule.get("serverName") == name
            or rule.get("serverCommand") == words
            or ("url" in entry and fnmatchcase(str(entry["url"]), str(rule.get("serverUrl", ""))))
        )
        for rule in rules
    )


def _approval(name: str, environment: Environment, reader: Reader, look: Look) -> tuple[Gate, ...]:
    """Where the dialog writes its answer, and where else it counts. What is committed approves in a trusted folder
    alone, so that a repository cannot approve its own servers; that it forbids one always counts (measured)."""
    root = project_root(environment, reader)
    local, own, shared = (
        root / ".claude" / "settings.local.json",
        home(environment) / "settings.json",
        root / ".claude" / "settings.json",
    )
    for file in (local, own, shared):
        if _lists(look.value(file, DIALECT, ("disabledMcpjsonServers",)), name):
            return (Gate("off", f"disabledMcpjsonServers in {file} names '{name}'", f"take '{name}' out of that list"),)
    is_trusted = _is_trusted(environment, reader, look)
    for file in (own, local, shared):
        approves = look.value(file, DIALECT, ("enableAllProjectMcpServers",)) is True or _lists(
            look.value(file, DIALECT, ("enabledMcpjsonServers",)), name
        )
        if approves and (file == own or is_trusted or (file == local and not reader.tracked(file))):
            return ()
    return (
        Gate(
            "waiting", "Claude Code asks before it starts a project's server", f"start claude in {root} and approve it"
        ),
    )


def _is_trusted(environment: Environment, reader: Reader, look: Look) -> bool:
    state = _state_file(environment, reader)
    here = _same_folder(main_checkout(environment, reader), environment)
    return any(
        _same_folder(key, environment) == here
        and look.value(state, DIALECT, ("projects", key, "hasTrustDialogAccepted")) is True
        for key in look.keys(state, DIALECT, ("projects",))
    )


def _lists(value: Json, name: str) -> bool:
    return isinstance(value, list) and name in value


def next_steps(name: str, place: Place) -> tuple[str, ...]:
    if place.level == "user":
        return ("start a new Claude Code session, or reconnect under /mcp",)
    return (f"start claude in {place.file.parent} and approve '{name}'",)


def apply_command(name: str, server: Server) -> list[str] | None:
    """`claude mcp add` at the user level. -e and -H take every word up to the next option, so the name goes first."""
    value = entry(server, Place("user", PurePath(".claude.json"), ("mcpServers",), DIALECT)).value
    start = ["claude", "mcp", "add", "--scope", "user"]
    if isinstance(server, Stdio):
        pairs = [word for key, text in value.get("env", {}).items() for word in ("-e", f"{key}={text}")]
        return [*start, name, *pairs, "--", value["command"], *value.get("args", [])]
    headers = [word for key, text in value.get("headers", {}).items() for word in ("--header", f"{key}: {text}")]
    return [*start, "--transport", value["type"], name, value["url"], *headers]


def remove_command(name: str) -> list[str] | None:
    return ["claude", "mcp", "remove", "--scope", "user", name]
