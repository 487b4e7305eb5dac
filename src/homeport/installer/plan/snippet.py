"""Servers out of a snippet that somebody pasted from a README, whichever client it was written for."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from homeport.errors import HomeportError
from homeport.installer.clients.references import parse_text
from homeport.installer.clients.shapes import read_pairs
from homeport.installer.clients.values import Json, Reference, Remote, Server, Stdio, Text

CONTAINERS: Final = ("mcpServers", "mcp_servers", "servers", "context_servers", "mcp", "amp.mcpServers")
_FENCE: Final = r"(?sm)^\s*(?:```|~~~)[^\n]*\n(?P<body>.*?)\n\s*(?:```|~~~)\s*$"
_URL_KEYS: Final = ("url", "httpUrl", "serverUrl", "uri")
_READ_KEYS: Final = frozenset(
    {*_URL_KEYS, "command", "cmd", "args", "env", "environment", "envs", "env_vars", "env_keys", "cwd", "type"}
    | {"transport", "headers", "http_headers", "env_http_headers", "bearer_token_env_var", "name", "source"}
)


@dataclass(frozen=True, slots=True)
class Pasted:
    """name: None where the snippet is one entry without one. left_out: keys that were not carried over."""

    name: str | None
    server: Server
    left_out: tuple[str, ...] = ()


def parse_snippet(text: str) -> tuple[Pasted, ...]:
    """Every server in a snippet: JSON with comments, trailing commas, single quotes or bare keys, with or without its
    outer braces or a Markdown fence; or TOML with `[mcp_servers.NAME]`.

    Raises HomeportError: bad_snippet (nothing can be read, no server in it), reference_unsupported (`${input:...}`).
    """
    fenced = re.search(_FENCE, text)
    data = _parse(fenced["body"] if fenced else text)
    found = tuple(_pasted(name, entry) for name, entry in _entries(data))
    if not found:
        raise HomeportError(
            "bad_snippet",
            "the snippet holds no server",
            f"it should have one of {', '.join(CONTAINERS)} with entries that have a command or a url",
        )
    return found


def _parse(text: str) -> Json:
    if re.search(r"^\s*\[[^\[\]{}\n]*\]\s*(?:#.*)?$", text, re.MULTILINE) and not text.lstrip().startswith(("{", '"')):
        try:
            return tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
            raise _unreadable(str(error)) from error
    import json5

    bare = text.strip().rstrip(",")
    for candidate in (bare, "{" + bare + "}"):
        try:
            return json5.loads(candidate, allow_duplicate_keys=False)
        except (ValueError, RecursionError) as error:
            reason = error
    raise _unreadable(str(reason))


def _unreadable(reason: str) -> HomeportError:
    return HomeportError(
        "bad_snippet",
        f"the snippet cannot be read: {reason[:200] or 'it nests too deeply'}",
        "paste it whole, from its first brace to its last",
    )


def _entries(data: Json) -> Iterator[tuple[str | None, dict[str, Json]]]:
    if not isinstance(data, dict):
        return
    if _is_entry(data):
        yield (data["name"] if isinstance(data.get("name"), str) else None), data
        return
    containers = [data[key] for key in CONTAINERS if isinstance(data.get(key), dict)]
    nested = [one["servers"] for one in containers if isinstance(one.get("servers"), dict)]
    for container in [*containers, *nested] or [data]:
        for name, entry in container.items():
            if isinstance(entry, dict) and _is_entry(entry):
                yield str(name), entry


def _is_entry(value: dict[str, Json]) -> bool:
    return _command_of(value) is not None or any(isinstance(value.get(key), str) for key in _URL_KEYS)


def _command_of(entry: dict[str, Json]) -> Json:
    """What a program is named by in one of the shapes there are, or None."""
    command = entry.get("command", entry.get("cmd"))
    if isinstance(command, dict):  # Zed's older shape
        return command if isinstance(command.get("path"), str) and command["path"] else None
    return command if isinstance(command, (str, list)) and command else None


def _pasted(name: str | None, entry: dict[str, Json]) -> Pasted:
    left_out = tuple(sorted(key for key in entry if key not in _READ_KEYS))
    command = _command_of(entry)
    return Pasted(name, _remote(entry) if command is None else _stdio(command, entry), left_out)


def _stdio(command: Json, entry: dict[str, Json]) -> Stdio:
    if isinstance(command, dict):
        entry = {**entry, **command}
        command = command["path"]
    words = command if isinstance(command, list) else [command]
    args = entry.get("args") or []
    if not isinstance(args, list):
        raise HomeportError("bad_snippet", "the snippet's args is not a list", "write each argument as an item")
    env: dict[str, Json] = next(
        (entry[key] for key in ("env", "environment", "envs") if isinstance(entry.get(key), dict)), {}
    )
    forwarded = tuple((name, Text((Reference(name),))) for name in _names(entry))
    cwd = entry.get("cwd")
    return Stdio(
        _text(words[0]),
        tuple(_text(word) for word in [*words[1:], *args]),
        (*forwarded, *((name, _text(value)) for name, value in env.items() if value is not None)),
        cwd if isinstance(cwd, str) else None,
    )


def _names(entry: dict[str, Json]) -> list[str]:
    listed = entry.get("env_vars") or entry.get("env_keys") or []
    names = (
        [item.get("name") if isinstance(item, dict) else item for item in listed] if isinstance(listed, list) else []
    )
    return [name for name in names if isinstance(name, str)]


def _remote(entry: dict[str, Json]) -> Remote:
    url = next(entry[key] for key in _URL_KEYS if isinstance(entry.get(key), str))
    word = str(entry.get("type") or entry.get("transport") or "")
    headers = [(name, _text(text)) for name, text in _pairs(entry.get("headers") or entry.get("http_headers"))]
    token = entry.get("bearer_token_env_var")
    if isinstance(token, str):
        headers.append(("Authorization", Text(("Bearer ", Reference(token)))))
    for name, variable in _pairs(entry.get("env_http_headers")):
        headers.append((name, Text((Reference(variable),))))
    return Remote(_text(url), tuple(headers), "sse" if word.lower() == "sse" else "http")


def _pairs(value: Json) -> list[tuple[str, str]]:
    return [(name, text.shown()) for name, text in read_pairs(value)]


def _text(value: Json) -> Text:
    text = ("true" if value else "false") if isinstance(value, bool) else str(value)
    asked = re.search(r"\$\{(input|prompt|command|config|user_config):([^}]*)\}", text)
    if asked:
        raise HomeportError(
            "reference_unsupported",
            f"the snippet asks the client for a value by {asked[0]}, which belongs to the client it was written for",
            "write a variable in its place, such as ${NAME}",
            {"reference": asked[0]},
        )
    return parse_text(text)
