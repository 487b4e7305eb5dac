"""What `uninstall` would do in one client."""

from __future__ import annotations

from homeport.environment import Environment
from homeport.errors import USAGE, HomeportError
from homeport.installer.clients.values import LEVELS, Level, Place, Reader
from homeport.installer.plan.bench import Bench, foreign_entry, open_bench, removal
from homeport.installer.plan.install import client_owned, find_place, not_installed
from homeport.installer.plan.ownership import History, is_ours
from homeport.installer.plan.request import UninstallRequest
from homeport.installer.plan.rows import ClientPlan, EntryChange, Row, held_back


def plan_uninstall(
    name: str, request: UninstallRequest, environment: Environment, reader: Reader, history: History
) -> ClientPlan:
    """Plan to take the entry `request.name` out of the client called `name`, ours only.

    Raises HomeportError with exit code 2 only: level_unsupported.
    """
    bench = open_bench(name, environment, reader, history, (request.name,))
    rows: list[Row] = []
    changes: list[EntryChange] = []
    seen: set[object] = set()
    for level in LEVELS if request.every_level else request.levels:
        row = Row(name, bench.client.LABEL, level, request.name, "refused")
        try:
            row, made = _plan_level(bench, request, level, row)
        except HomeportError as error:
            if error.code == "level_unsupported" and request.every_level:
                continue
            if error.code == "level_unsupported" and request.refused_skips:
                row, made = row._replace(outcome="skipped", error=error), []
            elif error.exit_code == USAGE:
                raise
            else:
                row, made = row._replace(error=error, broken_target=True), []
        # In the home folder the project's file is the user's own.
        where = row.place and (bench.reader.real(row.place.file), row.place.container)
        if where in seen:
            continue
        seen |= {where} - {None}
        rows.append(row)
        changes += made
    if any(row.outcome in ("refused", "skipped") for row in rows):
        because = "another entry of this client was refused"
        return ClientPlan(name, tuple(held_back(row, because) for row in rows))
    return ClientPlan(name, tuple(rows), bench.view.steps(), tuple(changes))


def _plan_level(bench: Bench, request: UninstallRequest, level: Level, row: Row) -> tuple[Row, list[EntryChange]]:
    place = find_place(bench, level, request)
    missing = None if request.config else not_installed(bench)
    if missing is not None:
        return row._replace(outcome="skipped" if request.refused_skips else "refused", error=missing), []
    command = bench.client.remove_command(row.name) if place.owner else None
    row = row._replace(place=place, apply_command=None if command is None else tuple(command))
    places = _places(bench, place, request, level)
    standing = [one for one in places[:1] if _stands(bench, one, request)]
    for other in places[1:]:
        try:
            standing += [other] if _stands(bench, other, request) else []
        except HomeportError as error:
            # The target alone decides; what stands beside it is left and told.
            row = row._replace(notes=(*row.notes, f"left as it is: {error.message}"))
    if not standing:
        return row._replace(outcome="absent"), []
    if request.writes and place.owner and request.via is None and any(one.owner for one in standing):
        raise client_owned(bench, place, row)
    row = row._replace(outcome="removed")
    if request.via == "cli" and command is not None and standing[0] is place:
        row = row._replace(commands=(tuple(command),))
        standing = standing[1:]
    done = [removal(bench, one, row.name) for one in standing]
    removed = [one for one in done if one is not None]
    return row._replace(removed=tuple(one for one, _ in removed)), [change for _, change in removed]


def _places(bench: Bench, place: Place, request: UninstallRequest, level: Level) -> list[Place]:
    """The target first, then what belongs to the same level: the losing file of a folder, a stale container, and with
    --level all every other file of the level and Claude Code's local record."""
    found = [place, *(place._replace(container=container) for container in place.stale_containers)]
    if request.config is not None:
        return found
    for other in bench.client.layers(bench.environment, bench.reader, bench.view):
        beside = other.file.parent == place.file.parent and other.level == level
        of_level = other.level == level or (level == "project" and other.level == "local")
        if (beside or (request.every_level and of_level)) and (other.file, other.container) not in [
            (one.file, one.container) for one in found
        ]:
            found.append(other)
    return found


def _stands(bench: Bench, place: Place, request: UninstallRequest) -> bool:
    """Whether an entry of the name is there to take out.

    Raises HomeportError: foreign_entry, where it is not ours; and what the editor says of the file.
    """
    member = bench.view.find(place.file, place.dialect, (*place.container, request.name))
    if member is None:
        return False
    known = bench.history.last(str(bench.reader.real(place.file)), member.path)
    if is_ours(bench.client.server(member.value), None, known) or request.replace:
        return True
    raise foreign_entry(bench.client, place, member, "it stays; --replace takes it out all the same")
