"""OpenCode: JSONC under either ending, many files merged key by key, one wrong entry stops the whole program.

Sources: opencode.ai/docs/config and /docs/mcp-servers (documented); files, order, shapes and text substitution
measured with opencode 1.18.33.
"""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Final

from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.installer.clients import shapes
from homeport.installer.clients.folders import config_home, git_root, project_root, root_to_cwd
from homeport.installer.clients.references import env_colon, names_in, parse_text, spell
from homeport.installer.clients.values import (
    Dialect,
    Entry,
    Gate,
    Json,
    LayerLevel,
    Level,
    Look,
    Place,
    Reader,
    Remote,
    Server,
    Stdio,
)

LABEL = "OpenCode"
DIALECT: Dialect = "jsonc"
IS_GUI = False
READS_BOM = True
MERGES_LEVELS = True
CLEARS_ENVIRONMENT = False
HOLDS_REFERENCES = True
ADD_REPLACES = False
PROCESS_NAMES: frozenset[str] = frozenset()
REWRITES: frozenset[str] = frozenset()
# OpenCode accepts both in one entry (measured), but then it is not the server that was asked for.
CLASHING_KEYS: tuple[frozenset[str], ...] = (frozenset({"command", "url"}),)
CONTAINER: Final = ("mcp",)
# Written by us, because OpenCode puts it into a file that lacks it, even when it only reads (measured).
BEGINNING: Final = {"$schema": "https://opencode.ai/config.json"}

name_problem = shapes.any_name
apply_command = shapes.no_apply_command  # `opencode mcp add` asks questions and cannot be scripted
remove_command = shapes.no_remove_command


def home(environment: Environment) -> PurePath:
    given = environment.variable("OPENCODE_CONFIG_DIR")
    return environment.path(given) if given else _general_folder(environment)


def _general_folder(environment: Environment) -> PurePath:
    return config_home(environment) / "opencode"


def _relative_note(environment: Environment) -> tuple[str, ...]:
    given = environment.variable("XDG_CONFIG_HOME")
    if given is None or environment.path(given) == type(environment.home)(given):
        return ()
    return (
        f"XDG_CONFIG_HOME is relative ({given}), which the base directory specification says to pass over; OpenCode "
        "1.18.33 takes it from the folder it is started in, so make it absolute or unset it",
    )


def is_installed(environment: Environment, reader: Reader) -> bool:
    own = environment.variable("OPENCODE_CONFIG")
    if own and reader.is_folder(environment.path(own).parent):
        return True
    return reader.is_folder(home(environment)) or reader.is_folder(_general_folder(environment))


def target(level: Level, environment: Environment, reader: Reader, look: Look) -> Place:
    if level == "project":
        return _winning("project", project_root(environment, reader), reader)
    own = environment.variable("OPENCODE_CONFIG")
    if own:
        return _place("user", environment.path(own))
    return _winning("user", home(environment), reader)._replace(notes=_relative_note(environment))


def _winning(level: LayerLevel, folder: PurePath, reader: Reader) -> Place:
    """Both files of one folder are read and the .jsonc wins, so an entry goes there when there is one."""
    jsonc = folder / "opencode.jsonc"
    return _place(level, jsonc if reader.is_file(jsonc) else folder / "opencode.json")


def _place(level: LayerLevel, file: PurePath) -> Place:
    return Place(level, file, CONTAINER, DIALECT, BEGINNING, stale_containers=(("mcpServers",),))


def layers(environment: Environment, reader: Reader, look: Look) -> tuple[Place, ...]:
    general = _general_folder(environment)
    places = [_place("user", general / name) for name in ("config.json", "opencode.json", "opencode.jsonc")]
    own = environment.variable("OPENCODE_CONFIG")
    if own:
        places.append(_place("user", environment.path(own)))
    if _reads_projects(environment):
        places += _project_places(environment, reader)
    places += _pair("user", environment.home / ".opencode")
    given = environment.variable("OPENCODE_CONFIG_DIR")
    if given:
        places += _pair("user", environment.path(given))
    places += _pair("managed", _managed_folder(environment))
    # A file that two rules name is read where the stronger one stands.
    return tuple({place.file: place for place in reversed(places)}.values())[::-1]


def _reads_projects(environment: Environment) -> bool:
    # Any other value, "yes" too, leaves them on (measured).
    return environment.variables.get("OPENCODE_DISABLE_PROJECT_CONFIG") not in ("1", "true")


def _project_places(environment: Environment, reader: Reader) -> list[Place]:
    """From the git root down to the working folder; without a repository every parent counts."""
    folders = root_to_cwd(environment, reader)
    above = [] if git_root(environment, reader) else [*reversed(environment.cwd.parents)]
    places = [place for folder in above for place in _pair("parent", folder)]
    places += [place for folder in folders for place in _pair("project", folder)]
    return places + [place for folder in folders for place in _pair("project", folder / ".opencode")]


def _pair(level: LayerLevel, folder: PurePath) -> list[Place]:
    return [_place(level, folder / "opencode.json"), _place(level, folder / "opencode.jsonc")]


def _managed_folder(environment: Environment) -> PurePath:
    path = type(environment.home)
    if environment.platform == "darwin":
        return path("/Library/Application Support/opencode")
    if environment.platform == "win32":
        return path(environment.variable("ProgramData") or r"C:\ProgramData") / "opencode"
    return path("/etc/opencode")


def file_problem(place: Place, reader: Reader, look: Look) -> HomeportError | None:
    """Another client's word for the type in any entry, and OpenCode refuses the whole file (measured)."""
    for name in look.keys(place.file, DIALECT, CONTAINER):
        word = look.value(place.file, DIALECT, (*CONTAINER, name, "type"))
        if isinstance(word, str) and word not in ("local", "remote"):
            return HomeportError(
                "client_cannot_read",
                f"{place.file}: the entry '{name}' says type \"{word}\", and OpenCode then refuses the whole file",
                'make it "local", with the command and its arguments in one list, or "remote"; or take it out',
                {"file": str(place.file), "name": name},
            )
    return None


def entry(server: Server, place: Place) -> Entry:
    required = names_in(server)
    notes = (
        (
            f"OpenCode pastes the value of {', '.join(required)} into its file as text: a quote or backslash in it "
            "stops the program",
        )
        if required
        else ()
    )
    return Entry(_stdio(server) if isinstance(server, Stdio) else _remote(server), required, notes)


def _stdio(server: Stdio) -> dict[str, Json]:
    words = [spell(server.command, env_colon, LABEL, "the command")]
    words += [spell(text, env_colon, LABEL, "an argument") for text in server.args]
    value: dict[str, Json] = {"type": "local", "command": words}
    if server.env:
        value["environment"] = shapes.spelled_pairs(server.env, env_colon, LABEL, "environment")
    if server.cwd is not None:
        value["cwd"] = server.cwd
    value["enabled"] = True
    return value


def _remote(server: Remote) -> dict[str, Json]:
    value: dict[str, Json] = {"type": "remote", "url": spell(server.url, env_colon, LABEL, "the URL")}
    if server.headers:
        value["headers"] = shapes.spelled_pairs(server.headers, env_colon, LABEL, "a header")
    value["enabled"] = True
    return value


def server(entry: Json) -> Server | None:
    if not isinstance(entry, dict):
        return None
    command, url = entry.get("command"), entry.get("url")
    if entry.get("type") != "remote" and isinstance(command, list) and command:
        words = tuple(parse_text(str(word)) for word in command)
        cwd = entry.get("cwd")
        env = shapes.read_pairs(entry.get("environment"))
        return Stdio(words[0], words[1:], env, cwd if isinstance(cwd, str) else None)
    if isinstance(url, str) and url:
        return Remote(parse_text(url), shapes.read_pairs(entry.get("headers")))
    return None


def gates(
    name: str, entry: Json, place: Place, environment: Environment, reader: Reader, look: Look
) -> tuple[Gate, ...]:
    if place.level in ("project", "parent") and not _reads_projects(environment):
        return (Gate("off", "OPENCODE_DISABLE_PROJECT_CONFIG is set, so OpenCode reads no project's file"),)
    if name in _inline_names(environment):
        return (Gate("off", "OPENCODE_CONFIG_CONTENT has an entry of this name, which is nearer than any file"),)
    # The other clients' word is taken too (measured).
    if isinstance(entry, dict) and entry.get("disabled") is True:
        return (Gate("off", f"the entry says disabled = true in {place.file}", "take disabled out"),)
    return shapes.enabled_gate(name, entry, place, environment, reader, look)


def _inline_names(environment: Environment) -> tuple[str, ...]:
    """The names in OPENCODE_CONFIG_CONTENT, a whole config in a variable. One that is no JSON stops OpenCode itself."""
    try:
        found = json.loads(environment.variable("OPENCODE_CONFIG_CONTENT") or "{}")
    except (ValueError, RecursionError):
        return ()
    servers = found.get("mcp") if isinstance(found, dict) else None
    return tuple(servers) if isinstance(servers, dict) else ()


def next_steps(name: str, place: Place) -> tuple[str, ...]:
    return ("start OpenCode again",)
