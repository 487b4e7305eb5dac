"""`homeport status`: where we are registered, and whether it counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from homeport.cli import options, output
from homeport.cli.list import surveys_of
from homeport.cli.main import Invocation
from homeport.errors import FAILED, OK
from homeport.installer.plan.survey import PROBLEMS, ClientSurvey, Found


@click.command()
@options.clients
@click.option("--name", help="This server alone.")
@options.json_output
@click.pass_obj
def status(invocation: Invocation, clients: tuple[str, ...], name: str | None, as_json: bool) -> int:
    """Show where Homeport's registrations stand, client by level. Reads files only and starts nothing.

    Exit 1 if one of them is shadowed, drifted, stale, off, there twice, or gone though nobody uninstalled it.

    \b
    Examples:
      homeport status
      homeport status --client claude-code --json
    """
    surveys = surveys_of(invocation, clients)
    ours = {one.client: [found for found in one.entries if _is_meant(found, name)] for one in surveys}
    surveys = [_with_lost(one, name) for one in surveys]
    troubled = any(one.lost for one in surveys) or any(
        _is_problem(found) for entries in ours.values() for found in entries
    )
    if as_json:
        rows = [_as_json(one, ours[one.client]) for one in surveys]
        output.show_envelope("status", {"clients": rows, "problems": troubled}, None)
    else:
        _show(surveys, ours)
    return FAILED if troubled else OK


def _is_meant(found: Found, name: str | None) -> bool:
    return found.ours and found.place.level != "other-project" and (name is None or found.name == name)


def _with_lost(one: ClientSurvey, name: str | None) -> ClientSurvey:
    return replace(one, lost=tuple(lost for lost in one.lost if name is None or lost.name == name))


def _is_problem(found: Found) -> bool:
    return found.status in PROBLEMS or bool(found.doubled)


def _as_json(one: ClientSurvey, entries: list[Found]) -> dict[str, Any]:
    return {
        "client": one.client,
        "label": one.label,
        "installed": one.installed,
        "status": entries[-1].status if entries else "absent",
        "registrations": [found.as_json() for found in entries],
        "lost": [lost.as_json() for lost in one.lost],
        "unreadable": [error.as_json() for error in one.unreadable],
    }


def _show(surveys: list[ClientSurvey], ours: dict[str, list[Found]]) -> None:
    rows: list[tuple[str, ...]] = [("CLIENT", "LEVEL", "SERVER", "STATUS", "FILE")]
    for one in surveys:
        if not one.installed:
            continue
        entries = ours[one.client]
        rows += [(one.label, found.place.level, found.name, found.status, str(found.place.file)) for found in entries]
        rows += [(one.label, lost.level, lost.name, "absent", lost.file) for lost in one.lost]
        if not entries and not one.lost:
            rows.append((one.label, "", "", "absent", ""))
    if len(rows) > 1:
        output.artifact(output.table(rows) + "\n")
    for one in surveys:
        for found in ours[one.client]:
            _say_reasons(one.label, found)
        for lost in one.lost:
            output.guidance(
                f"{one.label}, '{lost.name}' in {lost.file}: Homeport wrote it and somebody took it out since; "
                "install it again, or undo"
            )
        for error in one.unreadable:
            output.guidance(f"{one.label}: {error.message}")
    missing = [one.label for one in surveys if not one.installed]
    if missing:
        output.guidance(f"Not installed here: {', '.join(missing)}.")


def _say_reasons(label: str, found: Found) -> None:
    for reason in found.reasons:
        output.guidance(f"{label}, '{found.name}' in {found.place.file}: {found.status}: {reason}")
    for other in found.doubled:
        output.guidance(
            f"{label}, '{found.name}' in {found.place.file}: the same server is there twice, also as {other}"
        )
