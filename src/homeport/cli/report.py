"""What install and uninstall say: fragments for stdout, guidance for a person, rows for the envelope."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from homeport.cli import output
from homeport.credentials import is_reference, is_secret, masked, masked_arguments, masked_diff, masked_url
from homeport.environment import Environment
from homeport.errors import OK
from homeport.installer.clients.values import Json, Registration, Stdio
from homeport.installer.plan.files_view import fragment
from homeport.installer.plan.quoting import Shell, command_line, shell_named, then
from homeport.installer.plan.rows import ClientPlan, Row

_WOULD = {
    "created": "would be added",
    "updated": "would be updated",
    "unchanged": "is there already, as it should be",
    "removed": "would be taken out",
    "absent": "is not there; nothing to do",
}
_DONE = {
    "created": "added",
    "updated": "updated",
    "unchanged": "unchanged",
    "removed": "removed",
    "absent": "nothing to do for",
}


def registration(found: Registration) -> dict[str, Any]:
    """For the envelope: what was asked for, values that look like credentials masked."""
    server = found.server
    shown: dict[str, Any] = {"name": found.name, "bundled": found.bundled}
    if isinstance(server, Stdio):
        words = masked_arguments([server.command.shown(), *(text.shown() for text in server.args)])
        env = {name: value.shown() if value.references else masked(name, value.shown()) for name, value in server.env}
        return {**shown, "transport": "stdio", "command": words[0], "args": words[1:], "env": env, "cwd": server.cwd}
    headers = {
        name: value.shown() if value.references else masked(name, value.shown()) for name, value in server.headers
    }
    return {**shown, "transport": server.transport, "url": masked_url(server.url.shown()), "headers": headers}


def masked_row(row: Row, applied: bool) -> dict[str, Any]:
    shown = row.as_json(applied)
    shown["entry"] = None if row.entry is None else masked_entry(row.entry)
    shown["fragment"] = shown_fragment(row)
    shown["apply_command"] = None if row.apply_command is None else masked_arguments(list(row.apply_command))
    return shown


def masked_entry(entry: dict[str, Json]) -> dict[str, Json]:
    """An entry in any client's shape with its credentials hidden."""
    hidden: dict[str, Json] = {}
    for key, value in entry.items():
        if key == "env_http_headers":  # Codex's: names of variables, not values
            hidden[key] = value
        elif isinstance(value, dict):
            hidden[key] = {name: _masked_value(name, text) for name, text in value.items()}
        elif isinstance(value, list):
            hidden[key] = masked_arguments([str(word) for word in value])
        elif isinstance(value, str):
            hidden[key] = masked_url(value)
        else:
            hidden[key] = value
    return hidden


def _masked_value(name: str, value: Json) -> Json:
    """A reference is no credential."""
    if not isinstance(value, str) or is_reference(value):
        return value
    return masked(name, value) if is_secret(name, value) else value


def shown_fragment(row: Row) -> str | None:
    if row.entry is None or row.place is None or row.fragment is None:
        return row.fragment
    hidden = masked_entry(row.entry)
    if hidden == row.entry:
        return row.fragment
    return fragment((*row.place.container, row.name), hidden, row.place.dialect)


def print_common_shape(found: Sequence[Registration], as_json: bool, notes: Sequence[str]) -> int:
    """`--client mcp-json`: the shape most hosts read, for one that is not known here."""
    from homeport.installer.clients import mcp_json

    servers = {one.name: masked_entry(mcp_json.entry(one.server).value) for one in found}
    if as_json:
        output.show_envelope(
            "install", {"registrations": [registration(one) for one in found], "entries": servers}, None
        )
        return OK
    import json

    output.artifact(json.dumps({mcp_json.CONTAINER[0]: servers}, indent=2, ensure_ascii=False) + "\n")
    output.guidance("Paste it into your client's MCP settings, then restart the client.")
    _say_notes(notes)
    return OK


def show_print(operation: str, plans: Sequence[ClientPlan], environment: Environment, notes: Sequence[str]) -> None:
    """Fragments on stdout, an empty line between two; the rest on stderr. A terminal, which shows both, has each
    fragment between the line that names its file and what to do with it."""
    rows = [row for one in plans for row in one.rows]
    if fragments_hidden(rows):
        output.guidance("note: values that look like credentials are shown as ***; --write puts in what you gave")
    _say_notes(notes)
    printed = False
    for row in rows:
        if row.outcome == "skipped":
            continue
        text = shown_fragment(row) if operation == "install" else None
        if text is not None and printed:
            output.artifact("\n")
        _say_place(row)
        if text is not None:
            output.artifact(text)
            printed = True
        _say_row(row, environment)
    _say_ending(operation, rows, environment)


def fragments_hidden(rows: Sequence[Row]) -> bool:
    return any(row.entry is not None and masked_entry(row.entry) != row.entry for row in rows)


def _say_ending(operation: str, rows: Sequence[Row], environment: Environment) -> None:
    if all(row.outcome == "skipped" for row in rows):
        output.guidance("None of these clients is on this machine. Looked for:")
        # Once for a client that was asked about at several levels.
        looked = {row.label: row.error.details.get("folder", row.error.message) for row in rows if row.error}
        for label, folder in looked.items():
            output.guidance(f"  {label}: {folder}")
        output.guidance("Name another client's file with --config, or print for any client with --client mcp-json.")
        return
    changing = [row for row in rows if row.outcome in ("created", "updated", "removed")]
    if changing:
        owned = any(row.place and row.place.owner for row in changing)
        output.guidance(
            f"Nothing was written. --diff shows the lines. To apply it, run the same command with --write"
            f"{' --via file' if owned else ''}; `homeport undo` takes it back."
        )


def _say_place(row: Row) -> None:
    place = f", {row.level} level: {row.place.file}" if row.place else ""
    output.guidance(f"{row.label}{place}")


def _say_row(row: Row, environment: Environment) -> None:
    if row.error is not None:
        output.guidance(f"  {'not possible' if not row.broken_target else 'refused with --write'}: {row.error.message}")
        for line in (row.error.hint or "").splitlines():
            output.guidance(f"  hint: {line}")
    else:
        output.guidance(f"  '{row.name}' {_WOULD.get(row.outcome, row.outcome)}")
    _say_details(row, done=False)
    can_be_done = row.error is None or row.broken_target
    if row.place and row.place.owner and can_be_done and row.outcome not in ("unchanged", "absent"):
        _say_commands(row, environment)
    if row.outcome in ("created", "updated"):
        for step in row.next_steps:
            output.guidance(f"  next: {step}")


def _say_details(row: Row, done: bool) -> None:
    for removed in row.removed:
        if row.place and removed.file == str(row.place.file) and removed.path == (*row.place.container, row.name):
            continue
        where = f"{removed.file} ({'.'.join(removed.path)})"
        tracked = "; git tracks that file" if removed.tracked else ""
        output.guidance(f"  {'removed ours' if done else 'would remove ours'} from {where}{tracked}")
    for shadow in row.shadowed_by:
        whose = "ours" if shadow.ours else "not ours"
        output.guidance(f"  hidden by the {shadow.level} entry in {shadow.file} ({whose}): {shadow.runs}")
    if row.requires_env:
        output.guidance(f"  needs in the client's environment: {', '.join(row.requires_env)}")
    for note in row.notes:
        output.guidance(f"  note: {note}")


def _say_commands(row: Row, environment: Environment) -> None:
    if row.apply_command is None:
        output.guidance("  its own command has no option for all of this")
        output.guidance("  let Homeport do it: the same command with --write --via file")
        return
    shell = person_shell(environment)
    words = masked_arguments(list(row.apply_command))
    output.guidance(f"  its own command: {command_line(words, shell)}")
    if row.update_command:
        lines = [command_line(masked_arguments(list(line)), shell) for line in row.update_command]
        if row.client == "claude-code":
            output.guidance(f"  to replace one:  {then(lines, shell)}")
    output.guidance("  or let Homeport:  the same command with --write --via file")


def person_shell(environment: Environment) -> Shell:
    """The shell a printed line is pasted into: the one we were started from, else the platform's."""
    return shell_named(environment.shell(), environment.platform)


def show_done(
    rows: Sequence[tuple[Row, bool]], journal: str | None, environment: Environment, notes: Sequence[str]
) -> None:
    """What --write did: a row each on stdout, guidance on stderr."""
    _say_notes(notes)
    if all(row.outcome == "skipped" for row, _ in rows):
        _say_ending("", [row for row, _ in rows], environment)
    for row, _ in rows:
        if row.outcome == "refused" and row.error is not None:
            output.guidance(f"{row.label}: refused '{row.name}'")
            output.show_error(row.error)
            fragment_text = shown_fragment(row)
            if row.broken_target and fragment_text and row.error.code in ("read_only", "edit_refused", "write_failed"):
                output.guidance("by hand, this is what goes in:")
                output.guidance(fragment_text.rstrip())
            continue
        if row.outcome != "skipped":
            output.artifact(
                f"{row.label}: {_DONE.get(row.outcome, row.outcome)} '{row.name}' in {row.place and row.place.file}\n"
            )
            _say_details(row, done=True)
        if row.outcome in ("created", "updated"):
            for step in row.next_steps:
                output.guidance(f"  next: {step}")
    if journal is not None:
        output.guidance(f"Take it back with: homeport undo {journal} --write")


def show_diff(plans: Sequence[ClientPlan], environment: Environment) -> None:
    from homeport.installer.plan.difference import unified_diff

    for one in plans:
        for step in one.steps:
            for line in masked_diff(unified_diff(step)):
                output.artifact(line)
        _say_refusals(one)


def show_check(plans: Sequence[ClientPlan], environment: Environment) -> None:
    for one in plans:
        for row in one.rows:
            if row.outcome not in ("refused", "skipped"):
                output.artifact(f"{row.label}: '{row.name}' {_WOULD.get(row.outcome, row.outcome)}\n")
                _say_details(row, done=False)
        _say_refusals(one)


def _say_refusals(plan: ClientPlan) -> None:
    for row in plan.rows:
        if row.outcome == "refused" and row.error is not None:
            output.guidance(f"{row.label}: refused '{row.name}'")
            output.show_error(row.error)


def _say_notes(notes: Sequence[str]) -> None:
    for note in notes:
        output.guidance(f"note: {note}")
