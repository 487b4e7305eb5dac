"""No credential is written by value unless a person insists."""

from __future__ import annotations

from homeport.credentials import is_secret, is_secret_value, secret_argument
from homeport.errors import HomeportError
from homeport.installer.clients.values import Level, Reference, Registration, Stdio, Text


def refuse_secrets(registration: Registration, level: Level, *, allowed: bool) -> None:
    """Look at every text that would land in a file.

    allowed: --allow-secret, which counts at the user level only: a project's file is made to be shared.
    Raises HomeportError: secret_literal; details `where`, never the value.
    """
    where = _secret_place(registration)
    if where is None or (allowed and level == "user"):
        return
    name = where.split(" ")[-1].strip("'")
    at_project = allowed and level == "project"
    raise HomeportError(
        "secret_literal",
        f"{where} of '{registration.name}' looks like a credential and would be written into a file in plain text"
        + (" that a project shares" if at_project else ""),
        f"set it in your environment and forward it by reference (--env {name}), or write ${{{name}}} in its place"
        + ("" if at_project else "; --allow-secret writes it all the same, at the user level"),
        {"where": where},
    )


def _secret_place(registration: Registration) -> str | None:
    server = registration.server
    if isinstance(server, Stdio):
        texts = (server.command, *server.args, *(value for _, value in server.env))
    else:
        texts = (server.url, *(value for _, value in server.headers))
    default = next((one for text in texts for one in text.references if _is_secret_default(one)), None)
    if default is not None:
        return f"the default of the variable {default.name}"
    if isinstance(server, Stdio):
        found = next((f"the variable {name}" for name, value in server.env if _is_secret(name, value)), None)
        return found or _argument((server.command, *server.args))
    for name, value in server.headers:
        if _is_secret(name, value):
            return f"the header {name}"
    return "the URL" if is_secret_value(_plain(server.url)) else None


def _argument(texts: tuple[Text, ...]) -> str | None:
    option = secret_argument(tuple(_plain(text) for text in texts))
    if option is None:
        return None
    return f"the value of the argument --{option}" if option else "an argument"


def _is_secret_default(reference: Reference) -> bool:
    """`${TOKEN:-abc}` is a reference that carries the value along."""
    return reference.default is not None and is_secret(reference.name, reference.default)


def _is_secret(name: str, value: Text) -> bool:
    """`Bearer ${TOKEN}` holds no credential, `Bearer abc` does."""
    return not value.references and is_secret(name, _plain(value))


def _plain(value: Text) -> str:
    """References stand as nothing, so that only what is written out is judged."""
    return "".join(part for part in value.parts if isinstance(part, str))
