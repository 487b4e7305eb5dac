"""Flags into registrations: which server, under which name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from homeport.cli.main import usage_error
from homeport.cli.options import CLIENT_NAMES
from homeport.errors import HomeportError
from homeport.installer.clients.references import parse_text, plain_text
from homeport.installer.clients.values import Level, Reference, Registration, Remote, Server, Stdio, Text
from homeport.installer.plan.secrets import refuse_secrets

DEFAULT_NAME = "homeport"


class Target(NamedTuple):
    """What was said about the server. url: the one positional argument. command: the words after `--`."""

    url: str | None
    command: tuple[str, ...] | None
    snippet: str | None
    name: str | None
    env: tuple[str, ...]
    headers: tuple[str, ...]
    transport: str | None
    cwd: str | None
    literal: bool
    allow_secret: bool

    @property
    def is_bundled(self) -> bool:
        return self.url is None and self.command is None and self.snippet is None


def registrations(
    target: Target, bundled: Stdio | None, level: Level
) -> tuple[tuple[Registration, ...], tuple[str, ...]]:
    """The registrations a command line asks for, and notes on what of a snippet was left out.

    bundled: our own server's command, where that is what is registered.
    Raises HomeportError: usage_error, bad_url, bad_snippet, secret_literal, reference_unsupported.
    """
    _check_together(target)
    notes: tuple[str, ...] = ()
    if bundled is not None:
        found = [Registration(target.name or DEFAULT_NAME, bundled, bundled=True)]
    elif target.snippet is not None:
        found, notes = _from_snippet(target)
    else:
        found = [Registration(_required_name(target), _server(target))]
    made = tuple(one._replace(server=_with_options(one.server, target)) for one in found)
    for registration in made:
        _refuse_bytes(registration.server)
        refuse_secrets(registration, level, allowed=target.allow_secret)
    return made, notes


def _as_utf8(text: str) -> str:
    """A word of the command line as UTF-8, whatever the locale took its bytes for."""
    if os.name != "posix":
        return text
    try:
        return os.fsencode(text).decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # no word that a shell can hand over; _refuse_bytes says so
        return text


def _refuse_bytes(server: Server) -> None:
    """A shell may hand over any bytes, and a client's file holds characters: escaped, the server would get others."""
    if isinstance(server, Stdio):
        texts = [server.command, *server.args, *_both(server.env), plain_text(server.cwd or "")]
    else:
        texts = [server.url, *_both(server.headers)]
    for text in texts:
        try:
            text.shown().encode()
        except UnicodeEncodeError:
            # Not shown: it may be a credential.
            message = "a word of the server's command, variables or headers is not UTF-8"
            raise usage_error(message, "a client's file can hold nothing else; say it in UTF-8") from None


def _both(pairs: tuple[tuple[str, Text], ...]) -> list[Text]:
    return [text for name, value in pairs for text in (plain_text(name), value)]


def _check_together(target: Target) -> None:
    given = [
        word
        for word, is_there in (("a URL", target.url), ("-- COMMAND", target.command), ("--from", target.snippet))
        if is_there is not None
    ]
    if len(given) > 1:
        raise usage_error(f"{' and '.join(given)} do not go together", "say one of them")
    if target.command == ():
        raise usage_error("nothing stands after --", "write the server's command there: -- COMMAND ARG...")
    remote = target.url is not None
    for option, value in (("--header", target.headers), ("--transport", target.transport)):
        if value and not (remote or target.snippet is not None):
            raise usage_error(f"{option} goes with a URL")
    if remote and (target.env or target.cwd):
        raise usage_error(f"{'--env' if target.env else '--cwd'} goes with a server that is started, not with a URL")


def _required_name(target: Target) -> str:
    if target.name is None:
        if target.url in CLIENT_NAMES:
            raise usage_error(f"'{target.url}' is a client", f"did you mean --client {target.url}?")
        raise usage_error("--name is needed for a server that is not the bundled one", "choose one with --name NAME")
    return target.name


def _server(target: Target) -> Server:
    read = plain_text if target.literal else parse_text
    if target.command is not None:
        command, *arguments = map(_as_utf8, target.command)
        return Stdio(read(command), tuple(read(word) for word in arguments))
    assert target.url is not None
    return Remote(
        _url(_as_utf8(target.url), literal=target.literal), (), "sse" if target.transport == "sse" else "http"
    )


def _url(text: str, *, literal: bool) -> Text:
    from urllib.parse import urlsplit

    parsed = plain_text(text) if literal else parse_text(text)
    try:
        parts = urlsplit(text)
        good = parts.scheme in ("http", "https") and bool(parts.netloc) and not any(letter.isspace() for letter in text)
    except ValueError:
        good = False
    if not good and not (parsed.references and isinstance(parsed.parts[0], Reference)):
        hint = "it starts with http:// or https://; a command goes behind --, as in: install --name NAME -- COMMAND ARG"
        raise HomeportError("bad_url", f"'{text}' is not an http or https address", hint)
    return parsed


def _from_snippet(target: Target) -> tuple[list[Registration], tuple[str, ...]]:
    from homeport.installer.plan.snippet import parse_snippet

    assert target.snippet is not None
    pasted = parse_snippet(_snippet_text(target.snippet))
    if target.name is not None and len(pasted) > 1:
        raise usage_error(f"--name goes with one server, and the snippet holds {len(pasted)}", "leave out --name")
    if (target.env or target.cwd) and all(isinstance(one.server, Remote) for one in pasted):
        raise usage_error("--env and --cwd go with a server that is started, and the snippet holds none")
    found = []
    notes = []
    for one in pasted:
        name = target.name or one.name
        if name is None:
            raise usage_error("the snippet's server has no name", "choose one with --name NAME")
        found.append(Registration(name, one.server))
        if one.left_out:
            notes.append(f"'{name}': left out of the snippet, since clients differ in them: {', '.join(one.left_out)}")
    return found, tuple(notes)


def _snippet_text(source: str) -> str:
    try:
        return _snippet_bytes(source).decode("utf-8-sig")
    except OSError as error:
        raise usage_error(f"--from {source}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise HomeportError("bad_snippet", f"--from {source} is not UTF-8", "save it as UTF-8") from error


def _snippet_bytes(source: str) -> bytes:
    import sys

    if source != "-":
        return Path(source).read_bytes()
    return sys.stdin.buffer.read() if sys.stdin else b""  # closed before the program began (`<&-`)


def _with_options(server: Server, target: Target) -> Server:
    if isinstance(server, Remote):
        added = tuple(_header(text, literal=target.literal) for text in target.headers)
        names = {name.lower() for name, _ in added}
        kept = tuple((name, value) for name, value in server.headers if name.lower() not in names)
        transport = server.transport if target.transport is None else "sse" if target.transport == "sse" else "http"
        return server._replace(headers=kept + added, transport=transport)
    variables = dict(server.env)
    for text in target.env:
        name, value = _variable(text, literal=target.literal)
        variables[name] = value
    return server._replace(env=tuple(variables.items()), cwd=target.cwd or server.cwd)


def _variable(text: str, *, literal: bool) -> tuple[str, Text]:
    name, given, value = _as_utf8(text).partition("=")
    if not name or any(letter.isspace() or letter in "\0\"'$%{}" for letter in name):
        raise usage_error(
            f"--env {text.partition('=')[0]!r} is not a variable's name", "write --env NAME or --env NAME=VALUE"
        )
    if not given:
        return name, Text((Reference(name),))
    return name, plain_text(value) if literal else parse_text(value)


def _header(text: str, *, literal: bool) -> tuple[str, Text]:
    name, given, value = _as_utf8(text).partition(":")
    if not given or not name.strip() or any(letter in "\r\n" for letter in text):
        raise usage_error("--header is written 'Name: value'")
    return name.strip(), (plain_text if literal else parse_text)(value.strip())


def names(found: Sequence[Registration]) -> str:
    return ", ".join(f"'{registration.name}'" for registration in found)
