"""Variable references: read in every spelling people paste, written in each client's own.

Sources: the clients' own pages, and measured with Claude Code 2.1.197, Codex 0.171.0 and OpenCode 1.18.33.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from homeport.errors import HomeportError
from homeport.installer.clients.values import Reference, Server, Stdio, Text

_REFERENCE: Final = (
    r"\$\{env:(?P<cursor>[A-Za-z_][A-Za-z0-9_]*)\}"
    r"|\{env:(?P<opencode>[A-Za-z_][A-Za-z0-9_]*)\}"
    r"|\$\{(?P<braced>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^{}]*))?\}"
    r"|\$(?P<bare>[A-Za-z_][A-Za-z0-9_]*)"
)

# Cursor's and VS Code's own variables look like references but name no environment variable (cursor.com/docs/mcp).
EDITOR_VARIABLES: Final = frozenset({"workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator"})

Spell = Callable[[Reference], str | None]
"""A reference in a client's own words, or None where the client has none for it."""


def parse_text(text: str) -> Text:
    """Split a string at its references: `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `{env:NAME}`, `$NAME`."""
    parts: list[str | Reference] = []
    end = 0
    # Compiled for the first text that could hold one: most commands have none.
    found = re.finditer(_REFERENCE, text) if "$" in text or "{" in text else ()
    for match in found:
        if match.start() > end:
            parts.append(text[end : match.start()])
        name = match["cursor"] or match["opencode"] or match["braced"] or match["bare"]
        parts.append(Reference(name, match["default"]))
        end = match.end()
    if end < len(text):
        parts.append(text[end:])
    return Text(tuple(parts))


def plain_text(text: str) -> Text:
    """A string in which nothing is a reference, whatever it looks like."""
    return Text((text,) if text else ())


def dollar_braces(reference: Reference) -> str | None:
    """`${NAME}` and `${NAME:-default}`: Claude Code, and Muse in the values of env."""
    if reference.name in EDITOR_VARIABLES:
        return None
    return f"${{{reference.name}}}" if reference.default is None else f"${{{reference.name}:-{reference.default}}}"


def dollar_env_colon(reference: Reference) -> str | None:
    """`${env:NAME}`, without a form for a default: Cursor. Its own variables keep their spelling."""
    if reference.default is not None:
        return None
    return f"${{{reference.name}}}" if reference.name in EDITOR_VARIABLES else f"${{env:{reference.name}}}"


def env_colon(reference: Reference) -> str | None:
    """`{env:NAME}`, without a form for a default: OpenCode."""
    if reference.default is not None or reference.name in EDITOR_VARIABLES:
        return None
    return f"{{env:{reference.name}}}"


def no_reference(reference: Reference) -> str | None:
    return None


def spell(text: Text, spelling: Spell, label: str, where: str) -> str:
    """The string as the client is to read it.

    label, where: of the client and the field, for the message.
    Raises HomeportError: reference_unsupported.
    """
    words: list[str] = []
    for part in text.parts:
        if isinstance(part, str):
            _refuse_expanded(part, spelling, label, where)
        word = part if isinstance(part, str) else spelling(part)
        if word is None:
            raise unsupported(part, label, where)
        words.append(word)
    return "".join(words)


def _refuse_expanded(plain: str, spelling: Spell, label: str, where: str) -> None:
    """Plain text that the client would take for a reference all the same; none of them has an escape for it."""
    for reference in parse_text(plain).references:
        spelled = spelling(reference)
        if spelled is not None and spelled in plain:
            raise HomeportError(
                "reference_unsupported",
                f"{label} would expand {spelled} in {where}, and has no way to write it as plain text",
                "let a small script hold that text and start the server",
                {"variable": reference.name, "field": where},
            )


def unsupported(reference: str | Reference, label: str, where: str) -> HomeportError:
    name = reference if isinstance(reference, str) else reference.name
    default = isinstance(reference, Reference) and reference.default is not None
    what = f"the variable {name} with a default" if default else f"the variable {name}"
    return HomeportError(
        "reference_unsupported",
        f"{label} cannot put {what} into {where}",
        _ways_out(name, where),
        {"variable": name, "field": where},
    )


def _ways_out(name: str, where: str) -> str:
    value = "(with --allow-secret, where it is a credential)"
    if where.startswith("env"):
        return f"give its value with --env {name}=VALUE {value}, or start the server by a script that sets it"
    if where in ("the command", "an argument"):
        return (
            f"let the server read {name} itself and forward it with --env {name}, write the value, or say --literal "
            "where the text is meant as it stands"
        )
    return f"write the value {value}, or say --literal where the text is meant as it stands"


def names_in(server: Server) -> tuple[str, ...]:
    """The environment variables a server's texts refer to, each once, in order. An editor's own are none."""
    if isinstance(server, Stdio):
        texts = [server.command, *server.args, *(value for _, value in server.env)]
    else:
        texts = [server.url, *(value for _, value in server.headers)]
    names = (reference.name for text in texts for reference in text.references)
    return tuple(dict.fromkeys(name for name in names if name not in EDITOR_VARIABLES))
