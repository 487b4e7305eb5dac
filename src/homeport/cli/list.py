"""`homeport list`: every server each client knows."""

from __future__ import annotations

from typing import Any

import click

from homeport.cli import options, output
from homeport.cli.main import Invocation
from homeport.cli.run import _named
from homeport.errors import OK
from homeport.installer.apply.journal import Journal
from homeport.installer.clients import CLIENTS
from homeport.installer.plan.survey import ClientSurvey, survey


@click.command("list")
@options.clients
@options.json_output
@click.pass_obj
def list_servers(invocation: Invocation, clients: tuple[str, ...], as_json: bool) -> int:
    """Show every server each client knows in this folder, ours and others'.

    Reads files only and starts nothing; values of variables and headers are hidden.

    \b
    Examples:
      homeport list
      homeport list --client codex --json
    """
    surveys = surveys_of(invocation, clients)
    if as_json:
        output.show_envelope("list", {"clients": [_as_json(one) for one in surveys]}, None)
    else:
        _show(surveys)
    return OK


def surveys_of(invocation: Invocation, clients: tuple[str, ...]) -> list[ClientSurvey]:
    """What stands in the files of the clients named, or of all."""
    names = _named(clients) if clients else tuple(CLIENTS)
    history = Journal(invocation.environment.state).history()
    return [survey(name, invocation.environment, invocation.disk, history) for name in names if name in CLIENTS]


def _as_json(one: ClientSurvey) -> dict[str, Any]:
    return {
        "client": one.client,
        "label": one.label,
        "installed": one.installed,
        "servers": [found.as_json() for found in one.entries],
        "unreadable": [error.as_json() for error in one.unreadable],
    }


def _show(surveys: list[ClientSurvey]) -> None:
    rows: list[tuple[str, ...]] = []
    for one in surveys:
        for found in one.entries:
            runs = found.as_json()
            what = " ".join(runs["command"]) if runs["command"] else runs["url"] or "?"
            mark = "*" if found.ours else " "
            rows.append((one.label, found.place.level, f"{mark}{found.name}", found.status, what))
        for error in one.unreadable:
            output.guidance(f"{one.label}: {error.message}")
    if rows:
        output.artifact(output.table([("CLIENT", "LEVEL", " SERVER", "STATUS", "RUNS"), *rows]) + "\n")
        output.guidance("* ours")
    missing = [one.label for one in surveys if not one.installed]
    if missing:
        output.guidance(f"Not installed here: {', '.join(missing)}.")
    if not rows and any(one.installed for one in surveys):
        output.guidance(
            "No client here knows a server. `homeport install --client all` shows what could be registered."
        )
