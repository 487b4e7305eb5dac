"""What planning for one client works with, and what every plan asks of it."""

from __future__ import annotations

from typing import NamedTuple

from homeport.credentials import masked_arguments, masked_url
from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.installer.clients import CLIENTS
from homeport.installer.clients.client import Client
from homeport.installer.clients.values import Json, KeyPath, Place, Reader, Server, Stdio
from homeport.installer.edit.document import Member
from homeport.installer.plan.files_view import FilesView
from homeport.installer.plan.ownership import History
from homeport.installer.plan.rows import EntryChange, Removed
from homeport.installer.plan.taking_out import take_out


class Bench(NamedTuple):
    """What planning for one client works with."""

    name: str
    client: Client
    environment: Environment
    reader: Reader
    view: FilesView
    history: History


def open_bench(name: str, environment: Environment, reader: Reader, history: History, names: tuple[str, ...]) -> Bench:
    interest: tuple[KeyPath, ...] = (("projects",), *(("mcpServers", server) for server in names))
    return Bench(name, CLIENTS[name], environment, reader, FilesView(reader, interest), history)


def foreign_entry(client: Client, place: Place, member: Member, hint: str) -> HomeportError:
    name = member.path[-1]
    return HomeportError(
        "foreign_entry",
        f"{place.file}, line {member.line}: {client.LABEL} already has a server named '{name}', and it runs something "
        f"else: {runs_what(client, member.value)}",
        hint,
        {"file": str(place.file), "line": member.line, "name": name, "runs": runs_what(client, member.value)},
    )


def runs_what(client: Client, value: Json) -> str:
    """What an entry starts, for a person, with credentials hidden."""
    return shown_command(client.server(value))


def shown_command(server: Server | None) -> str:
    if server is None:
        return "nothing that Homeport can read"
    if isinstance(server, Stdio):
        return " ".join(masked_arguments([server.command.shown(), *(text.shown() for text in server.args)]))
    return masked_url(server.url.shown())


def removal(bench: Bench, place: Place, name: str) -> tuple[Removed, EntryChange] | None:
    """Take an entry out of a nearer or stale place, and say where it was."""
    change = take_out(bench.view, place, name, bench.history)
    if change is None:
        return None
    tracked = place.level == "project" and bench.reader.tracked(place.file)
    return Removed(str(place.file), change.path, tracked), change
