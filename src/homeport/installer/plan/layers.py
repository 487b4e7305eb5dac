"""One client's other places: what hides our entry, what goes with it, and what the levels make together."""

from __future__ import annotations

import json

from homeport.errors import HomeportError
from homeport.installer.clients.shapes import server_of_mcp_servers
from homeport.installer.clients.values import Json, Place, Registration, Server
from homeport.installer.plan.bench import Bench, removal, shown_command
from homeport.installer.plan.ownership import is_ours
from homeport.installer.plan.rows import EntryChange, Removed, Row, ShadowedBy


def settle(
    bench: Bench, registration: Registration, level: str, keep_shadows: bool, place: Place, row: Row
) -> tuple[Row, list[EntryChange]]:
    """Take out what of ours hides or doubles the entry just planned at `place`, and report what stays.

    Raises HomeportError: layers_conflict, where the levels the client merges give an entry it rejects.
    """
    removed: list[tuple[Removed, EntryChange]] = []
    shadows: list[ShadowedBy] = []
    notes: list[str] = []
    for other in _others(bench, place, registration.name):
        try:
            member = bench.view.find(other.file, other.dialect, (*other.container, registration.name))
        except HomeportError as error:
            notes.append(f"not looked at for entries of this name: {error.message}")
            continue
        if member is None:
            continue
        known = bench.history.last(str(bench.reader.real(other.file)), member.path)
        server = _server(bench, place, other, member.value)
        ours = is_ours(server, registration, known, bench.client.server(row.entry))
        if ours and not keep_shadows and _may_go(other, place, level):
            done = removal(bench, other, registration.name)
            removed += [] if done is None else [done]
        elif other.level == "other-project":
            notes.append(f"{other.file}: the record of {other.container[1]} has an entry of this name too; it stays")
        else:
            shadows.append(ShadowedBy(other.level, str(other.file), ours, shown_command(server)))
    _check_merged(bench, registration.name)
    notes += _switched_off(bench, place, registration.name)
    row = row._replace(
        removed=tuple(one for one, _ in removed),
        shadowed_by=tuple(shadows),
        notes=(*row.notes, *notes),
    )
    return row, [change for _, change in removed]


def _server(bench: Bench, place: Place, other: Place, value: Json) -> Server | None:
    """What an entry runs. Under another client's word it most likely has another client's shape, too."""
    found = bench.client.server(value)
    if found is None and other.container in place.stale_containers:
        return server_of_mcp_servers(value)
    return found


def _switched_off(bench: Bench, place: Place, name: str) -> list[str]:
    """A list that names our entry, so that nobody waits for a server that will not start."""
    entry = bench.view.value(place.file, place.dialect, (*place.container, name))
    gates = bench.client.gates(name, entry, place, bench.environment, bench.reader, bench.view)
    return [f"it will not start: {gate.message}" for gate in gates if gate.status == "off"]


def _others(bench: Bench, place: Place, name: str) -> list[Place]:
    """What hides the entry, is hidden beside it, or is left over: stale containers of the target's file, losing files
    of its folder, and every stronger place; other projects' records of the same file for the report."""
    order = list(bench.client.layers(bench.environment, bench.reader, bench.view))
    # A place that the client does not read at all, by a variable that is set, is hidden by none.
    here = next((at for at, one in enumerate(order) if _same(bench, one, place)), len(order))
    found = [place._replace(container=container) for container in place.stale_containers]
    elsewhere = _mentioned_elsewhere(bench, place, name)
    for at, other in enumerate(order):
        if _same(bench, other, place) or (other.level == "other-project" and not elsewhere):
            continue
        if other.level == "other-project" or at > here or other.file.parent == place.file.parent:
            found.append(other)
    return found


def _same(bench: Bench, left: Place, right: Place) -> bool:
    """Two levels' files may be links to one: then the entry of one is the entry of the other, and hides nothing."""
    return left.container == right.container and (
        left.file == right.file or bench.reader.real(left.file) == bench.reader.real(right.file)
    )


def _mentioned_elsewhere(bench: Bench, place: Place, name: str) -> bool:
    """A quick look before a large file is searched record by record."""
    source = bench.view.before(place.file) or b""
    key = json.dumps(name, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return source.count(key) > 0


def _may_go(other: Place, place: Place, level: str) -> bool:
    if other.level in ("managed", "system", "parent", "other-project"):
        return False
    if other.file.parent == place.file.parent and other.level == place.level:
        return True
    # A project's file that another client reads too is not ours to change for one client's sake, unless it is the
    # client that keeps it (Claude Code).
    return level == "user" and not (other.shared_with and "Claude Code" in other.shared_with)


def _check_merged(bench: Bench, name: str) -> None:
    if not bench.client.MERGES_LEVELS:
        return
    merged: dict[str, Json] = {}
    files: list[str] = []
    for place in bench.client.layers(bench.environment, bench.reader, bench.view):
        value = bench.view.value(place.file, place.dialect, (*place.container, name))
        if isinstance(value, dict):
            merged.update(value)
            files.append(str(place.file))
    for keys in bench.client.CLASHING_KEYS:
        if keys <= merged.keys() and len(files) > 1:
            raise HomeportError(
                "layers_conflict",
                f"{bench.client.LABEL} merges the entries named '{name}' of {' and '.join(files)} into one with both "
                f"{' and '.join(sorted(keys))}, which it cannot use",
                "take another name with --name, or take the other entry out first",
                {"files": files, "keys": sorted(keys)},
            )
