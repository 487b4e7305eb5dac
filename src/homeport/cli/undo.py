"""`homeport undo`."""

from __future__ import annotations

from typing import Any

import click

from homeport.cli import options, output
from homeport.cli.main import Invocation, usage_error
from homeport.errors import CHANGE_NEEDED, FAILED, OK, HomeportError
from homeport.installer.apply.journal import Journal, Operation, find
from homeport.installer.plan.undo import UndoPlan

_HOW = {
    "restored": "every byte as before",
    "taken_out": "our entries alone: other parts of the file changed since",
    "as_before": "is as before already",
    "refused": "refused",
}


@click.command()
@click.argument("operation", required=False, metavar="[ID]")
@click.option("--list", "show_list", is_flag=True, help="Show the journal, newest first.")
@options.mode
@click.pass_obj
def undo(
    invocation: Invocation, operation: str | None, show_list: bool, write: bool, diff: bool, check: bool, as_json: bool
) -> int:
    """Take back the last operation, or the one named by ID.

    Prints by default and changes nothing. A file that is still as Homeport left it gets every byte back; where a client
    or a person changed other parts since, our entry alone is taken back.

    \b
    Examples:
      homeport undo
      homeport undo --list
      homeport undo 20261201-101500-123456-ab12 --write
    """
    if invocation.command is not None or sum((write, diff, check)) > 1:
        raise usage_error(
            "--write, --diff and --check do not go together" if write or diff else "undo takes an ID only"
        )
    if show_list:
        return _list(invocation, as_json)
    from homeport.installer.apply import undoing

    if write:
        taken, plans, journal = undoing.undo(invocation.environment, operation)
        return _show(taken, plans, journal, applied=True, as_json=as_json, check=False)
    taken = find(Journal(invocation.environment.state).operations(), operation)
    plans = undoing.plan_operation(taken)
    if diff and not as_json:
        _show_diff(plans)
    code = _show(taken, plans, None, applied=False, as_json=as_json, check=check)
    if not as_json and not diff and not check and code == OK and output.is_terminal():
        return _ask(invocation, taken)
    return code


def _ask(invocation: Invocation, taken: Operation) -> int:
    from homeport.cli.choose import apply_question
    from homeport.installer.apply import undoing

    if apply_question(owned=False) is None:
        output.guidance("Nothing was written.")
        return OK
    done, plans, journal = undoing.undo(invocation.environment, taken.id)
    return _show(done, plans, journal, applied=True, as_json=False, check=False)


def _show(
    taken: Operation, plans: list[UndoPlan], journal: str | None, *, applied: bool, as_json: bool, check: bool
) -> int:
    error = next((file.error for plan in plans for file in plan.files if file.error), None)
    if as_json:
        output.show_envelope("undo", _result(taken, plans, journal, applied), error)
    else:
        _say(taken, plans, applied)
    if error is not None:
        return FAILED
    return CHANGE_NEEDED if check and any(plan.steps for plan in plans) else OK


def _result(taken: Operation, plans: list[UndoPlan], journal: str | None, applied: bool) -> dict[str, Any]:
    clients = [
        {"client": plan.client, "files": [file.as_json(applied and bool(plan.steps)) for file in plan.files]}
        for plan in plans
    ]
    return {
        "undoes": taken.id,
        "operation": taken.operation,
        "when": taken.when,
        "clients": clients,
        "journal": journal,
    }


def _say(taken: Operation, plans: list[UndoPlan], applied: bool) -> None:
    output.guidance(f"{taken.operation} of {taken.when} ({taken.id})")
    for plan in plans:
        for file in plan.files:
            output.artifact(f"{plan.client}: {file.file}: {_HOW[file.how]}\n")
            if file.error is not None:
                output.show_error(file.error)
    if not applied:
        output.guidance("Nothing was written. To take it back, run the same command with --write.")


def _show_diff(plans: list[UndoPlan]) -> None:
    from homeport.credentials import masked_diff
    from homeport.installer.plan.difference import unified_diff

    for plan in plans:
        for step in plan.steps:
            for line in masked_diff(unified_diff(step)):
                output.artifact(line)


def _list(invocation: Invocation, as_json: bool) -> int:
    journal = Journal(invocation.environment.state)
    operations = list(reversed(journal.operations()))
    if as_json:
        output.show_envelope("undo", {"operations": [_summary(one) for one in operations]}, None)
        return OK
    rows = [
        (
            one.id,
            one.operation,
            one.when,
            _state(one),
            ", ".join(dict.fromkeys(client.client for client in one.clients)),
        )
        for one in operations
    ]
    if rows:
        output.artifact(output.table([("ID", "OPERATION", "WHEN (UTC)", "STATE", "CLIENTS"), *rows]) + "\n")
    else:
        output.guidance("The journal is empty.")
    for path in journal.damaged:
        output.show_error(HomeportError("journal_damaged", f"{path} cannot be read and is passed over"))
    return OK


def _state(one: Operation) -> str:
    if one.undone:
        return "undone"
    if one.pending:
        return "interrupted"
    return "done" if any(client.status == "done" for client in one.clients) else "reverted"


def _summary(one: Operation) -> dict[str, Any]:
    files = [{"client": client.client, "file": file.path} for client in one.clients for file in client.files]
    return {"id": one.id, "operation": one.operation, "when": one.when, "state": _state(one), "files": files}
