"""What several clients share: the `mcpServers` shape, reading it back, names, and answers that are "nothing"."""

from __future__ import annotations

import re
from typing import Final

from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.installer.clients.references import Spell, parse_text, spell
from homeport.installer.clients.values import (
    Gate,
    Json,
    Look,
    Place,
    Reader,
    Remote,
    Server,
    Stdio,
    Text,
)

PORTABLE_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]{1,63}")


def stdio_entry(server: Stdio, spelling: Spell, label: str) -> dict[str, Json]:
    """`{"type": "stdio", "command", "args", "env"}`; empty args and env are left out."""
    entry: dict[str, Json] = {"type": "stdio", "command": spell(server.command, spelling, label, "the command")}
    if server.args:
        entry["args"] = [spell(text, spelling, label, "an argument") for text in server.args]
    if server.env:
        entry["env"] = spelled_pairs(server.env, spelling, label, "env")
    return entry


def spelled_pairs(pairs: tuple[tuple[str, Text], ...], spelling: Spell, label: str, where: str) -> dict[str, Json]:
    return {name: spell(value, spelling, label, f"{where} ({name})") for name, value in pairs}


def server_of_mcp_servers(entry: Json) -> Server | None:
    """Read an entry of the `mcpServers` shape, whatever word it has for its transport."""
    if not isinstance(entry, dict):
        return None
    command, url = entry.get("command"), entry.get("url")
    if isinstance(command, str) and command:
        args = entry.get("args") or []
        if not isinstance(args, list):
            return None
        cwd = entry.get("cwd")
        return Stdio(
            parse_text(command),
            tuple(parse_text(str(argument)) for argument in args),
            read_pairs(entry.get("env")),
            cwd if isinstance(cwd, str) else None,
        )
    if isinstance(url, str) and url:
        transport = entry.get("type") or entry.get("transport")
        return Remote(parse_text(url), read_pairs(entry.get("headers")), "sse" if transport == "sse" else "http")
    return None


def read_pairs(value: Json) -> tuple[tuple[str, Text], ...]:
    if not isinstance(value, dict):
        return ()
    return tuple((str(name), parse_text(str(text))) for name, text in value.items())


def forwards_itself(name: str, value: Text) -> bool:
    """The variable is handed on under its own name, with nothing around it and no default."""
    return len(value.parts) == 1 and bool(value.references) and value.references[0].name == name and not _default(value)


def _default(value: Text) -> bool:
    return value.references[0].default is not None


def refuse_working_folder(server: Stdio, label: str) -> None:
    """Raises HomeportError: field_unsupported, where a working folder was asked for and the client has none."""
    if server.cwd is not None:
        raise HomeportError(
            "field_unsupported",
            f"{label} has no working folder in its entries; it starts a server in the session's folder",
            "leave out --cwd, or let a small script change the folder and start the server",
            {"field": "cwd"},
        )


def transport_unsupported(label: str, what: str, hint: str) -> HomeportError:
    return HomeportError("transport_unsupported", f"{label} cannot be given {what} in its file", hint)


def level_unsupported(label: str) -> HomeportError:
    return HomeportError(
        "level_unsupported",
        f"--level project: {label} keeps one file for every project",
        "leave out --level; it registers at the user level",
    )


def any_name(name: str) -> str | None:
    return None


def no_file_problem(place: Place, reader: Reader, look: Look) -> HomeportError | None:
    return None


def no_remove_command(name: str) -> list[str] | None:
    return None


def no_apply_command(name: str, server: Server) -> list[str] | None:
    return None


def enabled_gate(
    name: str, entry: Json, place: Place, environment: Environment, reader: Reader, look: Look
) -> tuple[Gate, ...]:
    """For clients whose entries have `enabled`."""
    if isinstance(entry, dict) and entry.get("enabled") is False:
        return (Gate("off", f"the entry says enabled = false in {place.file}", "set enabled to true"),)
    return ()
