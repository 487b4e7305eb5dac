"""OpenAI Codex: TOML, one table per server; a project's file is read in trusted projects only; levels merge by key.

Sources: learn.chatgpt.com/docs/extend/mcp and openai/codex codex-rs/config (documented, seen in source); layers,
trust, environment and refusals measured with codex-cli 0.171.0.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Final

from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.installer.clients import shapes
from homeport.installer.clients.folders import project_root, root_to_cwd
from homeport.installer.clients.references import no_reference, spell, unsupported
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
    Remote,
    Server,
    Stdio,
    Text,
)

LABEL = "Codex"
DIALECT: Dialect = "toml"
IS_GUI = False
READS_BOM = True
MERGES_LEVELS = True
CLEARS_ENVIRONMENT = True
HOLDS_REFERENCES = True
ADD_REPLACES = True
PROCESS_NAMES: frozenset[str] = frozenset()  # it reads again before it writes
REWRITES: frozenset[str] = frozenset()
# Both in one entry, and Codex refuses to start at all (command or env with url measured, the others seen in source).
CLASHING_KEYS: tuple[frozenset[str], ...] = (
    *(frozenset({key, "url"}) for key in ("command", "args", "env", "env_vars", "cwd")),
    *(frozenset({key, "command"}) for key in ("bearer_token_env_var", "http_headers", "env_http_headers")),
)
CONTAINER: Final = ("mcp_servers",)
# A hyphen at the start is read wrongly by its command line, after `--` too (measured).
_NAME: Final = r"[A-Za-z0-9_:@/.][A-Za-z0-9_:@/.-]*"


def home(environment: Environment) -> PurePath:
    # A relative value is taken from the working folder, and `~` is not expanded: Rust's plain path.
    given = environment.variable("CODEX_HOME")
    return environment.path(given) if given else environment.home / ".codex"


def is_installed(environment: Environment, reader: Reader) -> bool:
    return reader.is_folder(home(environment))


def target(level: Level, environment: Environment, reader: Reader, look: Look) -> Place:
    if level == "user":
        return _place("user", home(environment) / "config.toml", owner="codex")
    return _place("project", project_root(environment, reader) / ".codex" / "config.toml")


def _place(level: Level, file: PurePath, owner: str | None = None) -> Place:
    # Codex passes both stale words over in silence.
    return Place(level, file, CONTAINER, DIALECT, owner=owner, stale_containers=(("mcpServers",), ("mcp",)))


def layers(environment: Environment, reader: Reader, look: Look) -> tuple[Place, ...]:
    user = target("user", environment, reader, look)
    places = [user]
    for folder in root_to_cwd(environment, reader):
        file = folder / ".codex" / "config.toml"
        if file != user.file:
            places.append(_place("project", file))
    if environment.platform == "linux":
        etc = type(environment.home)("/etc/codex")
        places.insert(0, Place("system", etc / "config.toml", CONTAINER, DIALECT))
        places.append(Place("managed", etc / "managed_config.toml", CONTAINER, DIALECT))
    return tuple(places)


def file_problem(place: Place, reader: Reader, look: Look) -> HomeportError | None:
    """One table with the keys of both transports, and Codex does not start at all (measured)."""
    for name in look.keys(place.file, DIALECT, CONTAINER):
        table = look.value(place.file, DIALECT, (*CONTAINER, name))
        for keys in CLASHING_KEYS:
            if isinstance(table, dict) and keys <= table.keys():
                return HomeportError(
                    "client_cannot_read",
                    f"{place.file}: [mcp_servers.{name}] has both {' and '.join(sorted(keys))}, and Codex then does "
                    "not start",
                    "take one of the two out",
                    {"file": str(place.file), "name": name},
                )
    return None


def entry(server: Server, place: Place) -> Entry:
    if isinstance(server, Stdio):
        return _stdio(server)
    return _remote(server)


def _stdio(server: Stdio) -> Entry:
    value: dict[str, Json] = {"command": spell(server.command, no_reference, LABEL, "the command")}
    if server.args:
        value["args"] = [spell(text, no_reference, LABEL, "an argument") for text in server.args]
    forwarded = [name for name, text in server.env if shapes.forwards_itself(name, text)]
    literal = tuple((name, text) for name, text in server.env if name not in forwarded)
    if forwarded:
        value["env_vars"] = forwarded
    if literal:
        value["env"] = shapes.spelled_pairs(literal, no_reference, LABEL, "env under another name")
    if server.cwd is not None:
        value["cwd"] = server.cwd
    return Entry(value, tuple(forwarded))


def _remote(server: Remote) -> Entry:
    if server.transport == "sse":
        raise shapes.transport_unsupported(
            LABEL, "a server of the old SSE transport", "use its streamable HTTP address"
        )
    value: dict[str, Json] = {"url": spell(server.url, no_reference, LABEL, "the URL")}
    literal: dict[str, str] = {}
    by_variable: dict[str, str] = {}
    required: list[str] = []
    for name, text in server.headers:
        bearer = _bearer(name, text)
        if bearer:
            value["bearer_token_env_var"] = bearer
            required.append(bearer)
        elif text.plain is not None:
            literal[name] = text.plain
        else:
            by_variable[name] = _whole_variable(text, name)
            required.append(by_variable[name])
    if literal:
        value["http_headers"] = literal
    if by_variable:
        value["env_http_headers"] = by_variable
    return Entry(value, tuple(required))


def _bearer(header: str, text: Text) -> str | None:
    """The variable's name in `Authorization: Bearer ${NAME}`, which Codex spells bearer_token_env_var."""
    match text.parts:
        case ("Bearer ", Reference(name, None)) if header.lower() == "authorization":
            return name
    return None


def _whole_variable(text: Text, header: str) -> str:
    match text.parts:
        case (Reference(name, None),):
            return name
    raise unsupported(text.references[0], LABEL, f"a part of the header {header}")


def server(entry: Json) -> Server | None:
    read = shapes.server_of_mcp_servers(_literal(entry)) if isinstance(entry, dict) else None
    if isinstance(read, Stdio):
        forwarded = tuple((name, Text((Reference(name),))) for name in _forwarded(entry))
        return Stdio(read.command, read.args, (*forwarded, *read.env), read.cwd)
    if isinstance(read, Remote):
        return Remote(read.url, (*shapes.read_pairs(entry.get("http_headers")), *_variable_headers(entry)))
    return None


def _literal(entry: dict[str, Json]) -> dict[str, Json]:
    """Without what Codex does not know, `headers` and `type` above all."""
    return {key: value for key, value in entry.items() if key not in ("headers", "type", "transport")}


def _forwarded(entry: dict[str, Json]) -> list[str]:
    """env_vars holds names, or tables with one."""
    listed = entry.get("env_vars")
    names = (
        [item.get("name") if isinstance(item, dict) else item for item in listed] if isinstance(listed, list) else []
    )
    return [name for name in names if isinstance(name, str)]


def _variable_headers(entry: dict[str, Json]) -> tuple[tuple[str, Text], ...]:
    headers = [(name, Text((Reference(str(variable)),))) for name, variable in _table(entry, "env_http_headers")]
    token = entry.get("bearer_token_env_var")
    if isinstance(token, str):
        headers.insert(0, ("Authorization", Text(("Bearer ", Reference(token)))))
    return tuple(headers)


def _table(entry: dict[str, Json], key: str) -> list[tuple[str, Json]]:
    value = entry.get(key)
    return list(value.items()) if isinstance(value, dict) else []


def name_problem(name: str) -> str | None:
    if re.fullmatch(_NAME, name):
        return None
    return "Codex takes letters, digits and - _ : @ / . in a name, and no hyphen at its start"


def gates(
    name: str, entry: Json, place: Place, environment: Environment, reader: Reader, look: Look
) -> tuple[Gate, ...]:
    found = list(shapes.enabled_gate(name, entry, place, environment, reader, look))
    if place.level == "project":
        root = str(reader.real(project_root(environment, reader)))
        user_file = home(environment) / "config.toml"
        if look.value(user_file, DIALECT, ("projects", root, "trust_level")) != "trusted":
            found.append(
                Gate(
                    "waiting",
                    f"Codex reads this file only when {root} is a trusted project",
                    f'start codex there and trust it, or put [projects."{root}"] trust_level = "trusted" '
                    f"into {user_file}",
                )
            )
    return tuple(found)


def next_steps(name: str, place: Place) -> tuple[str, ...]:
    if place.level == "project":
        return (f"start codex in {place.file.parent.parent} and trust it: the file is read in trusted projects only",)
    return ("start a new Codex session",)


def apply_command(name: str, server: Server) -> list[str] | None:
    """`codex mcp add` writes the user file and replaces an entry of that name. It has no option for what it lacks."""
    value = entry(server, target_of_nothing()).value
    if isinstance(server, Stdio):
        if "env_vars" in value or "cwd" in value:
            return None
        pairs = [word for key, text in value.get("env", {}).items() for word in ("--env", f"{key}={text}")]
        return ["codex", "mcp", "add", name, *pairs, "--", value["command"], *value.get("args", [])]
    if "http_headers" in value or "env_http_headers" in value:
        return None
    token = value.get("bearer_token_env_var")
    return ["codex", "mcp", "add", name, "--url", value["url"], *(["--bearer-token-env-var", token] if token else [])]


def target_of_nothing() -> Place:
    """A place for spelling an entry that goes through the client's own command, which chooses the file."""
    return Place("user", PurePath("config.toml"), CONTAINER, DIALECT)


def remove_command(name: str) -> list[str] | None:
    return ["codex", "mcp", "remove", name]
