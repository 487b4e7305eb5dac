"""Questions to a person at a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import questionary

from homeport.cli.main import usage_error
from homeport.installer.plan.rows import ClientPlan


def checklist(plans: Mapping[str, ClientPlan]) -> tuple[str, ...]:
    """Let a person tick clients; those found are ticked, the others shown as not installed.

    Raises HomeportError: usage_error, where nothing is ticked. KeyboardInterrupt where the question is left.
    """
    choices = [
        questionary.Choice(
            title=f"{plan.rows[0].label}: {_state(plan)}",
            value=name,
            checked=plan.refused is None and plan.changes_something,
            disabled=_reason(plan),
        )
        for name, plan in plans.items()
    ]
    if all(choice.disabled for choice in choices):
        raise usage_error("no client was found on this machine", "homeport install --client all shows where it looked")
    ticked = questionary.checkbox("Which clients?", choices=choices).unsafe_ask()
    if not ticked:
        raise usage_error("no client was chosen")
    return tuple(ticked)


def _state(plan: ClientPlan) -> str:
    row = plan.rows[0]
    words = {"created": "would be added", "updated": "would be updated", "unchanged": "is there already"}
    words |= {"removed": "would be taken out", "absent": "is not there"}
    if row.error is not None:
        return row.error.message.removeprefix(f"{row.label} ").removeprefix(f"{row.label}: ")
    return words.get(row.outcome, row.outcome)


def _reason(plan: ClientPlan) -> str | None:
    error = plan.rows[0].error
    return "not installed" if error is not None and error.code == "client_not_installed" else None


def apply_question(owned: bool) -> Literal["file", "cli"] | None:
    """Whether to apply; where a client's own program writes the file, also how. None is no."""
    if not owned:
        return "file" if questionary.confirm("Apply?", default=False).unsafe_ask() else None
    answer = questionary.select(
        "Apply?",
        choices=[
            questionary.Choice("no", value="no"),
            questionary.Choice("yes, merge it into the file (keeps every other byte)", value="file"),
            questionary.Choice("yes, by the client's own command (formats the file as it likes)", value="cli"),
        ],
    ).unsafe_ask()
    return answer if answer in ("file", "cli") else None
