"""What stands where: every entry each client knows, and where we are registered. Reads files only, starts nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from homeport.credentials import masked, masked_arguments, masked_url
from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.installer.clients import CLIENTS
from homeport.installer.clients.values import Gate, Json, KeyPath, Place, Reader, Server, Stdio
from homeport.installer.edit.document import Member
from homeport.installer.plan.bench import Bench, open_bench
from homeport.installer.plan.launcher import find_on_path
from homeport.installer.plan.ownership import History, identity, is_ours, runs_homeport

Status = Literal["live", "shadowed", "drifted", "stale", "off", "waiting", "absent"]

PROBLEMS: frozenset[Status] = frozenset({"shadowed", "drifted", "stale", "off"})


@dataclass(frozen=True, slots=True)
class Found:
    """One entry in one file. by: the nearer place that hides it. doubled: other names that start the same server."""

    client: str
    place: Place
    member: Member
    server: Server | None
    ours: bool
    status: Status
    reasons: tuple[str, ...] = ()
    by: Place | None = None
    doubled: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.member.path[-1]

    def as_json(self) -> dict[str, Any]:
        return {
            "client": self.client,
            "level": self.place.level,
            "file": str(self.place.file),
            "line": self.member.line,
            "name": self.name,
            "ours": self.ours,
            "status": self.status,
            "reasons": list(self.reasons),
            "shadowed_by": None if self.by is None else {"level": self.by.level, "file": str(self.by.file)},
            "doubled": list(self.doubled),
            **shown_server(self.server),
        }


@dataclass(frozen=True, slots=True)
class Lost:
    """An entry that the journal says we wrote, and that is not there any more."""

    name: str
    level: str
    file: str

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "level": self.level, "file": self.file}


@dataclass(frozen=True, slots=True)
class ClientSurvey:
    """unreadable: what could not be read, each as an error that names the file. lost: ours that somebody took out."""

    client: str
    label: str
    installed: bool
    entries: tuple[Found, ...] = ()
    unreadable: tuple[HomeportError, ...] = ()
    lost: tuple[Lost, ...] = ()


def shown_server(server: Server | None) -> dict[str, Any]:
    """What an entry starts, with the values of variables and headers hidden unless they are references."""
    if server is None:
        return {"transport": None, "command": None, "url": None, "variables": {}}
    pairs = server.env if isinstance(server, Stdio) else server.headers
    variables = {name: _shown_value(name, text.plain, text.shown()) for name, text in pairs}
    if isinstance(server, Stdio):
        words = masked_arguments([server.command.shown(), *(text.shown() for text in server.args)])
        return {"transport": "stdio", "command": words, "url": None, "variables": variables}
    return {
        "transport": server.transport,
        "command": None,
        "url": masked_url(server.url.shown()),
        "variables": variables,
    }


def _shown_value(name: str, plain: str | None, shown: str) -> str:
    return shown if plain is None else masked(name, plain) if len(plain) < 6 else "***"


def survey(name: str, environment: Environment, reader: Reader, history: History) -> ClientSurvey:
    """Every entry of every place the client reads in this folder, strongest last."""
    bench = open_bench(name, environment, reader, history, ())
    client = CLIENTS[name]
    if not client.is_installed(environment, reader):
        return ClientSurvey(name, client.LABEL, False)
    unreadable: list[HomeportError] = []
    try:
        places = client.layers(environment, reader, bench.view)
    except HomeportError as error:
        return ClientSurvey(name, client.LABEL, True, (), (error,))
    standing: list[tuple[Place, Member]] = []
    for place in _one_per_file(bench, places):
        try:
            problem = client.file_problem(place, reader, bench.view)
            unreadable += [] if problem is None else [problem]
            members = bench.view.document(place.file, place.dialect).members(place.container)
        except HomeportError as error:
            if error.details.get("file") not in [known.details.get("file") for known in unreadable]:
                unreadable.append(error.in_file(place.file))
            continue
        standing += [(place, member) for member in members]
    found = tuple(_judge(bench, place, member, standing) for place, member in standing)
    readable = [place for place in places if str(place.file) not in [one.details.get("file") for one in unreadable]]
    return ClientSurvey(name, client.LABEL, True, found, tuple(unreadable), _lost(bench, readable, standing))


def _one_per_file(bench: Bench, places: Sequence[Place]) -> list[Place]:
    """Where links make two levels one file, its entries are there once: at the level that is read first."""
    first = {(bench.reader.real(place.file), place.container): place for place in reversed(places)}
    return [place for place in places if first[bench.reader.real(place.file), place.container] is place]


def _lost(bench: Bench, places: list[Place], standing: list[tuple[Place, Member]]) -> tuple[Lost, ...]:
    there = {(str(bench.reader.real(place.file)), member.path) for place, member in standing}
    found: dict[tuple[str, KeyPath], Lost] = {}
    for place in places:
        real = str(bench.reader.real(place.file))
        for change in bench.history.by_file.get(real, ()):
            key = (real, change.path)
            if change.path[:-1] != place.container or key in there:
                continue
            found.pop(key, None)
            if change.entry is not None:
                found[key] = Lost(change.path[-1], place.level, str(place.file))
    return tuple(found.values())


def _judge(bench: Bench, place: Place, member: Member, standing: list[tuple[Place, Member]]) -> Found:
    server = bench.client.server(member.value)
    known = bench.history.last(str(bench.reader.real(place.file)), member.path)
    ours = runs_homeport(server) or is_ours(server, None, known)
    nearer = _nearer(bench, place, member, standing)
    status, reasons = _status(bench, place, member, server, nearer, known.entry if known and ours else None)
    doubled = _doubled(bench, place, member, server, standing)
    return Found(bench.name, place, member, server, ours, status, reasons, nearer, doubled)


def _nearer(bench: Bench, place: Place, member: Member, standing: list[tuple[Place, Member]]) -> Place | None:
    """The strongest other place that has the name and is not waiting for an approval."""
    if place.level == "other-project":
        return None
    at = next(index for index, one in enumerate(standing) if one[1] is member)
    for other, rival in reversed(standing[at + 1 :]):
        if rival.path[-1] == member.path[-1] and other.level != "other-project":
            if not any(gate.status == "waiting" for gate in _gates(bench, other, rival)):
                return other
    return None


def _gates(bench: Bench, place: Place, member: Member) -> tuple[Gate, ...]:
    return bench.client.gates(member.path[-1], member.value, place, bench.environment, bench.reader, bench.view)


def _status(
    bench: Bench, place: Place, member: Member, server: Server | None, nearer: Place | None, written: Json
) -> tuple[Status, tuple[str, ...]]:
    if place.level == "other-project":
        return "absent", (f"read in {place.container[1]} only",)
    gates = _gates(bench, place, member)
    off = [gate for gate in gates if gate.status == "off"]
    if off:
        return "off", tuple(gate.message for gate in off)
    if nearer is not None:
        return "shadowed", (f"the {nearer.level} entry in {nearer.file} is nearer",)
    gone = _missing_command(bench, server)
    if gone:
        return "stale", (f"its command is gone: {gone}",)
    if written is not None and _drifted(member.value, written, bench.client.REWRITES):
        return "drifted", ("it is not as Homeport wrote it",)
    waiting = [gate for gate in gates if gate.status == "waiting"]
    if waiting:
        return "waiting", tuple(gate.next_step or gate.message for gate in waiting)
    return "live", _not_on_path(bench, server)


def _missing_command(bench: Bench, server: Server | None) -> str | None:
    if not isinstance(server, Stdio) or server.command.plain is None:
        return None
    path = bench.environment.path(server.command.plain)
    absolute = path == type(path)(server.command.plain)
    return str(path) if absolute and not bench.reader.is_file(path) else None


def _not_on_path(bench: Bench, server: Server | None) -> tuple[str, ...]:
    """A remark and no problem: a client may be started with another PATH than this shell's, an app always is."""
    command = server.command.plain if isinstance(server, Stdio) else None
    if command is None or bench.client.IS_GUI or "/" in command or "\\" in command:
        return ()
    if find_on_path(command, bench.environment, bench.reader) is not None:
        return ()
    return (f"'{command}' is not on PATH here",)


def _drifted(present: Json, written: Json, rewrites: frozenset[str]) -> bool:
    """A key we wrote has another value or is gone; what a person added is no drift, nor what the client drops."""
    if not isinstance(present, dict) or not isinstance(written, dict):
        return bool(present != written)
    return any(
        (key not in present and key not in rewrites) or (key in present and not _contains(present[key], value))
        for key, value in written.items()
    )


def _contains(present: Json, written: Json) -> bool:
    if isinstance(present, dict) and isinstance(written, dict):
        return all(present.get(key) == value for key, value in written.items())
    return bool(present == written)


def _doubled(
    bench: Bench, place: Place, member: Member, server: Server | None, standing: list[tuple[Place, Member]]
) -> tuple[str, ...]:
    """Other entries that start the very same server: at another name every tool is there twice."""
    runs = identity(server)
    if runs is None or place.level == "other-project":
        return ()
    return tuple(
        f"{rival.path[-1]} ({other.level}, {other.file})"
        for other, rival in standing
        if rival is not member and other.level != "other-project" and identity(bench.client.server(rival.value)) == runs
    )
