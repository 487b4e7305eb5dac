"""Muse Code: strict JSON, a settings file with a version, an older container with another shape, levels merged by key.

Sources: meta-models.github.io/muse-code-sdk next/guides/extend/mcp-servers and dev.meta.ai/docs/muse-code (documented,
versions 1.3.0 to 1.4.4); the older container from akitaonrails/ai-memory 659 and 711 and rulesync 2790. Not measured.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.installer.clients import shapes
from homeport.installer.clients.folders import config_home, project_root, root_to_cwd
from homeport.installer.clients.references import dollar_braces, names_in, no_reference, parse_text, spell
from homeport.installer.clients.values import (
    Dialect,
    Entry,
    Gate,
    Json,
    Level,
    Look,
    Place,
    Reader,
    Reference,
    Server,
    Stdio,
    Text,
)

LABEL = "Muse Code"
DIALECT: Dialect = "json"
IS_GUI = False
READS_BOM = True  # inferred
MERGES_LEVELS = True
CLEARS_ENVIRONMENT = True
HOLDS_REFERENCES = True
ADD_REPLACES = False
PROCESS_NAMES: frozenset[str] = frozenset()
# Dropped by Muse when it rewrites settings.json.
REWRITES: frozenset[str] = frozenset({"type", "cwd", "required", "startup_timeout_sec", "tool_timeout_sec"})
# Each pair in one merged entry switches all MCP off for the session (documented).
CLASHING_KEYS: tuple[frozenset[str], ...] = (
    frozenset({"command", "url"}),
    frozenset({"type", "transport"}),
    frozenset({"required", "mode"}),
)
CONTAINER: Final = ("mcpServers",)
OLD_CONTAINER: Final = ("mcp_servers",)
BEGINNING: Final = {"schema_version": 1}

apply_command = shapes.no_apply_command  # there is no `muse mcp add`
remove_command = shapes.no_remove_command


def home(environment: Environment) -> PurePath:
    return config_home(environment) / "muse"


def is_installed(environment: Environment, reader: Reader) -> bool:
    return reader.is_folder(home(environment))


def target(level: Level, environment: Environment, reader: Reader, look: Look) -> Place:
    if level == "project":
        return _project_place(project_root(environment, reader))
    file = home(environment) / "settings.json"
    # The older container is read by every version seen, so it is the one a file without either gets.
    # Its key counts and not its value: beside a null, or one that stands twice, the other word would switch all off.
    keys = look.keys(file, DIALECT, ())
    has_new = CONTAINER[0] in keys and OLD_CONTAINER[0] not in keys
    return Place("user", file, CONTAINER if has_new else OLD_CONTAINER, DIALECT, BEGINNING)


def _project_place(folder: PurePath) -> Place:
    return Place("project", folder / ".mcp.json", CONTAINER, DIALECT, shared_with=("Claude Code",))


def layers(environment: Environment, reader: Reader, look: Look) -> tuple[Place, ...]:
    projects = (_project_place(folder) for folder in root_to_cwd(environment, reader))
    return (target("user", environment, reader, look), *projects)


def file_problem(place: Place, reader: Reader, look: Look) -> HomeportError | None:
    if place.level != "user" or not (reader.read(place.file) or b"").strip(b"\xef\xbb\xbf \t\r\n"):
        return None
    version = look.value(place.file, DIALECT, ("schema_version",))
    if type(version) is not int or version != 1:
        return HomeportError(
            "missing_field",
            f'{place.file}: "schema_version": 1 is missing, so every muse command stops at this file',
            'add "schema_version": 1 at its top level, then run it again',
            {"file": str(place.file), "field": "schema_version"},
        )
    keys = look.keys(place.file, DIALECT, ())
    if CONTAINER[0] in keys and OLD_CONTAINER[0] in keys:
        return HomeportError(
            "client_cannot_read",
            f"{place.file} holds both mcpServers and mcp_servers, which switches all of Muse's MCP off",
            "move the entries into one of the two and take the other out",
            {"file": str(place.file)},
        )
    return None


def entry(server: Server, place: Place) -> Entry:
    required = names_in(server)
    old = place.container == OLD_CONTAINER
    value = _stdio(server, place) if isinstance(server, Stdio) else _remote(server)
    if old:
        word = "stdio" if isinstance(server, Stdio) else "streamable_http"
        value = {"transport": word, **{key: item for key, item in value.items() if key != "type"}}
    notes = tuple(f"Muse Code switches all its MCP off while {name} is not set" for name in required)
    return Entry(value, required, notes)


def _stdio(server: Stdio, place: Place) -> dict[str, Json]:
    if place.shared_with:
        shapes.refuse_working_folder(server, " and ".join((LABEL, *place.shared_with)))
    # No type in the shared file: see claude_code.entry.
    value: dict[str, Json] = {} if place.shared_with else {"type": "stdio"}
    value["command"] = spell(server.command, no_reference, LABEL, "the command")
    if server.args:
        value["args"] = [spell(text, no_reference, LABEL, "an argument") for text in server.args]
    if server.env:
        value["env"] = {name: _env_value(text, place, f"env ({name})") for name, text in server.env}
    if server.cwd is not None:
        value["cwd"] = server.cwd
    return value


def _env_value(text: Text, place: Place, where: str) -> str:
    """Muse reads `$$` as a dollar sign in env. The shared file's other readers do not, so nothing there may need it.

    Raises HomeportError: reference_unsupported.
    """
    if not place.shared_with:
        parts = (part.replace("$", "$$") if isinstance(part, str) else _braces(part, where) for part in text.parts)
        return "".join(parts)
    if any(isinstance(part, str) and "$$" in part for part in text.parts):
        raise HomeportError(
            "reference_unsupported",
            f"{' and '.join((LABEL, *place.shared_with))} read $$ in {where} differently",
            "register it at the user level, or let the server read the value from somewhere else",
            {"field": where},
        )
    return spell(text, dollar_braces, LABEL, where)


def _braces(reference: Reference, where: str) -> str:
    return spell(Text((reference,)), dollar_braces, LABEL, where)


def _remote(server: Server) -> dict[str, Json]:
    assert not isinstance(server, Stdio)
    if server.transport == "sse":
        raise shapes.transport_unsupported(
            LABEL, "a server of the old SSE transport", "use its streamable HTTP address"
        )
    value: dict[str, Json] = {"type": "streamable-http", "url": spell(server.url, no_reference, LABEL, "the URL")}
    if server.headers:
        value["headers"] = shapes.spelled_pairs(server.headers, no_reference, LABEL, "a header")
    return value


def server(entry: Json) -> Server | None:
    read = shapes.server_of_mcp_servers(entry)
    if isinstance(read, Stdio) and isinstance(entry.get("env"), dict):
        return read._replace(env=tuple((name, _read_env(str(text))) for name, text in entry["env"].items()))
    return read


def _read_env(text: str) -> Text:
    parts: list[str | Reference] = []
    for index, piece in enumerate(text.split("$$")):
        for part in (*(("$",) if index else ()), *parse_text(piece).parts):
            if isinstance(part, str) and parts and isinstance(parts[-1], str):
                parts[-1] += part
            else:
                parts.append(part)
    return Text(tuple(parts))


def name_problem(name: str) -> str | None:
    return None if name and name == name.strip() else "Muse Code takes no name that is empty or has spaces around it"


def gates(
    name: str, entry: Json, place: Place, environment: Environment, reader: Reader, look: Look
) -> tuple[Gate, ...]:
    found = list(shapes.enabled_gate(name, entry, place, environment, reader, look))
    if place.level == "project":
        found.append(
            Gate(
                "waiting",
                "Muse Code reads this file in a trusted workspace only (its own trust.json says which)",
                "start muse there and trust the workspace",
            )
        )
    return tuple(found)


def next_steps(name: str, place: Place) -> tuple[str, ...]:
    if place.level == "project":
        return ("start muse again in this workspace, and trust it",)
    return ("start muse again",)
