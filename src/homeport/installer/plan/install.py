"""What `install` would do in one client: nothing is written, every file is read through the reader given."""

from __future__ import annotations

from homeport.credentials import masked_arguments
from homeport.environment import Environment
from homeport.errors import USAGE, HomeportError
from homeport.installer.clients.client import Client
from homeport.installer.clients.shapes import PORTABLE_NAME
from homeport.installer.clients.values import (
    Entry,
    Place,
    Reader,
    Reference,
    Registration,
    Server,
    Stdio,
    Text,
)
from homeport.installer.edit.document import Document, Member
from homeport.installer.plan import layers, merging
from homeport.installer.plan.bench import Bench, foreign_entry, open_bench
from homeport.installer.plan.command import command_for
from homeport.installer.plan.files_view import fragment
from homeport.installer.plan.ownership import History, identity, is_ours
from homeport.installer.plan.quoting import command_line, shell_named
from homeport.installer.plan.request import InstallRequest
from homeport.installer.plan.rows import ClientPlan, EntryChange, Row, held_back
from homeport.installer.plan.taking_out import put


def plan_install(
    name: str, request: InstallRequest, environment: Environment, reader: Reader, history: History
) -> ClientPlan:
    """Plan every registration of `request` in the client called `name`.

    Raises HomeportError with exit code 2 only: bad_name, level_unsupported. Everything else is a refused row.
    """
    names = tuple(registration.name for registration in request.registrations)
    bench = open_bench(name, environment, reader, history, names)
    for registration in request.registrations:
        check_name(registration.name, bench.client)
    rows: list[Row] = []
    changes: list[EntryChange] = []
    for registration in request.registrations:
        row = _blank_row(bench, registration.name, request.level)
        try:
            row, made = _plan_one(bench, registration, request, row)
        except HomeportError as error:
            if error.code == "level_unsupported" and request.refused_skips:
                row, made = row._replace(outcome="skipped", error=error), []
            elif error.exit_code == USAGE:
                raise
            else:
                row, made = row._replace(outcome="refused", error=error), []
        rows.append(row)
        changes += made
    if any(row.outcome in ("refused", "skipped") for row in rows):
        because = "another entry of this client was refused"
        return ClientPlan(name, tuple(held_back(row, because) for row in rows))
    return ClientPlan(name, tuple(rows), bench.view.steps(), tuple(changes))


def check_name(name: str, client: Client) -> None:
    """A client's own rule decides where it has one, else the portable rule that every client of the field takes.

    Raises HomeportError: bad_name.
    """
    problem = client.name_problem(name)
    has_own_rule = client.name_problem("a b") is not None
    if problem is None and not has_own_rule and not PORTABLE_NAME.fullmatch(name):
        problem = "a name starts with a letter and goes on with letters, digits and hyphens, 2 to 64 characters in all"
    if problem is not None:
        raise HomeportError(
            "bad_name",
            f"'{name}' cannot be a server's name in {client.LABEL}: {problem}",
            "letters, digits and hyphens are safe in every client, underscores in most; choose another with --name",
            {"name": name},
        )


def _blank_row(bench: Bench, name: str, level: str) -> Row:
    return Row(bench.name, bench.client.LABEL, level, name, "refused")


def _plan_one(
    bench: Bench, registration: Registration, request: InstallRequest, row: Row
) -> tuple[Row, list[EntryChange]]:
    # A level that the client does not have is wrong whether or not the client is here.
    place = find_place(bench, request.level, request)
    missing = None if request.config else not_installed(bench)
    if missing is not None:
        return row._replace(outcome="skipped" if request.refused_skips else "refused", error=missing), []
    row = row._replace(place=place)
    try:
        server, notes = command_for(
            registration.server, bench.client, place, bench.environment, keeps_bare=registration.bundled
        )
        server, forwarded = _with_our_variables(server, registration, place, bench)
        entry = bench.client.entry(server, place)
    except HomeportError as error:
        return row._replace(outcome="refused", error=error), []
    row = _described(row, bench, place, entry, server, (*notes, *_name_notes(registration.name), *forwarded.notes))
    row = row._replace(requires_env=(*entry.requires_env, *forwarded.requires_env))
    try:
        return _decide(bench, registration, request, place, entry, row)
    except HomeportError as error:
        return row._replace(outcome="refused", error=error, broken_target=True), []


def not_installed(bench: Bench) -> HomeportError | None:
    if bench.client.is_installed(bench.environment, bench.reader):
        return None
    home = bench.client.home(bench.environment)
    return HomeportError(
        "client_not_installed",
        f"{bench.client.LABEL} is not installed here: {home} does not exist",
        "start the client once, or name its file with --config; Homeport never makes another program's folder",
        {"client": bench.name, "folder": str(home)},
    )


def find_place(bench: Bench, level: str, request: object) -> Place:
    place = bench.client.target(
        "project" if level == "project" else "user", bench.environment, bench.reader, bench.view
    )
    config = getattr(request, "config", None)
    if config is None:
        return place
    if place.dialect == "toml" and config.suffix.lower() == ".json":
        raise HomeportError("usage_error", f"--config {config}: {bench.client.LABEL} reads TOML", "name its TOML file")
    return place._replace(file=config, owner=None, shared_with=(), lock_suffix=None)


def _with_our_variables(server: Server, registration: Registration, place: Place, bench: Bench) -> tuple[Server, Entry]:
    """The bundled server needs each HOMEPORT_* variable that is set; a client that clears the environment takes it by
    name. What cannot be said in the entry is said in requires_env and a note."""
    client = bench.client
    names = tuple(sorted(name for name in bench.environment.variables if name.startswith("HOMEPORT_")))
    if not registration.bundled or not isinstance(server, Stdio) or not client.CLEARS_ENVIRONMENT or not names:
        return server, Entry({})
    if not client.HOLDS_REFERENCES or place.shared_with:
        why = "cannot forward it" if not place.shared_with else "shares this file, where it would not suit every client"
        notes = tuple(f"{name} is set here; {client.LABEL} {why}, so set it where the server starts" for name in names)
        return server, Entry({}, names, notes)
    given = {name for name, _ in server.env}
    added = tuple((name, Text((Reference(name),))) for name in names if name not in given)
    return server._replace(env=(*server.env, *added)), Entry({})


def _name_notes(name: str) -> tuple[str, ...]:
    if PORTABLE_NAME.fullmatch(name):
        return ()
    return (f"not every client takes a name like '{name}'; letters, digits and hyphens are safe everywhere",)


def _described(row: Row, bench: Bench, place: Place, entry: Entry, server: Server, notes: tuple[str, ...]) -> Row:
    client = bench.client
    path = (*place.container, row.name)
    beginning = None if bench.reader.is_file(place.file) else dict(place.beginning)
    apply_command = client.apply_command(row.name, server) if place.owner else None
    remove_command = client.remove_command(row.name) if place.owner else None
    return row._replace(
        place=place,
        entry=entry.value,
        fragment=fragment(path, entry.value, place.dialect, beginning),
        apply_command=None if apply_command is None else tuple(apply_command),
        update_command=(tuple(remove_command), tuple(apply_command)) if remove_command and apply_command else (),
        next_steps=client.next_steps(row.name, place),
        notes=(*notes, *place.notes, *entry.notes),
    )


def _decide(
    bench: Bench, registration: Registration, request: InstallRequest, place: Place, entry: Entry, row: Row
) -> tuple[Row, list[EntryChange]]:
    if request.writes and place.owner and request.via is None:
        raise client_owned(bench, place, row)
    if request.via == "cli" and place.owner:
        return _through_the_client(bench, registration, request, place, row)
    row, document = _readable(bench, place, row)
    row, change = _edit(bench, registration, request, place, entry, row, document)
    # Of the file as it will be: what was wrong in our own entry is right by then.
    problem = bench.client.file_problem(place, bench.reader, bench.view)
    if problem is not None:
        raise problem
    changes = [] if change is None else [change]
    if request.config is None:
        row, removed = layers.settle(bench, registration, request.level, request.keep_shadows, place, row)
        changes += removed
    if row.outcome == "unchanged" and any(step.path == place.file for step in bench.view.steps()):
        row = row._replace(outcome="updated")
    return row, changes


def client_owned(bench: Bench, place: Place, row: Row) -> HomeportError:
    shell = shell_named(None, bench.environment.platform)
    words = masked_arguments(list(row.apply_command or ()))
    line = command_line(words, shell) if words else None
    return HomeportError(
        "client_owned_file",
        f"{bench.client.LABEL}'s own program writes {place.file}",
        f"run: {line}\nor say --via file to merge it here or --via cli to have that command run"
        if line
        else "say --via file to merge it here",
        {"file": str(place.file), "apply_command": words},
    )


def _through_the_client(
    bench: Bench, registration: Registration, request: InstallRequest, place: Place, row: Row
) -> tuple[Row, list[EntryChange]]:
    """Only what has to change; the bytes of the entry itself are the client's own affair."""
    if row.apply_command is None:
        raise HomeportError(
            "field_unsupported",
            f"{bench.client.LABEL}'s own command has no option for all of this registration",
            "say --via file",
        )
    add = (row.apply_command,)
    member = bench.view.find(place.file, place.dialect, (*place.container, row.name))
    _refuse_foreign(bench, registration, request, place, member, row)
    if member is None:
        row = row._replace(outcome="created", commands=add)
    elif _unordered(bench.client.server(member.value)) == _unordered(bench.client.server(row.entry)):
        row = row._replace(outcome="unchanged")
    else:
        row = row._replace(outcome="updated", commands=add if bench.client.ADD_REPLACES else row.update_command)
    if request.config is not None:
        return row, []
    return layers.settle(bench, registration, request.level, request.keep_shadows, place, row)


def _unordered(server: Server | None) -> Server | None:
    """For comparing: a client's own program writes variables in an order of its own."""
    if isinstance(server, Stdio):
        return server._replace(env=tuple(sorted(server.env, key=lambda pair: pair[0])))
    return server


def _readable(bench: Bench, place: Place, row: Row) -> tuple[Row, Document]:
    """The file's document, without a byte order mark that the client itself cannot read."""
    document = bench.view.document(place.file, place.dialect)
    if document.source.startswith(b"\xef\xbb\xbf") and not bench.client.READS_BOM:
        put(bench.view, place, document.source[3:])
        note = f"the byte order mark of {place.file} goes: {bench.client.LABEL} cannot read a file that has one"
        return row._replace(notes=(*row.notes, note)), bench.view.document(place.file, place.dialect)
    return row, document


def _edit(
    bench: Bench,
    registration: Registration,
    request: InstallRequest,
    place: Place,
    entry: Entry,
    row: Row,
    document: Document,
) -> tuple[Row, EntryChange | None]:
    path = (*place.container, registration.name)
    file = str(bench.reader.real(place.file))
    member = bench.view.find(place.file, place.dialect, path)
    ours = _refuse_foreign(bench, registration, request, place, member, row)
    known = bench.history.last(file, path)
    try:
        if member is None:
            after, outcome = document.set(path, entry.value, place.beginning), "created"
        elif ours:
            after = merging.merged(
                document,
                path,
                member.value,
                entry.value,
                known.entry if known else None,
                bench.client.REWRITES,
                bench.client.CLASHING_KEYS,
            )
            outcome = "unchanged" if after is document.source else "updated"
        else:
            after, outcome = document.set(path, entry.value), "updated"
    except HomeportError as error:
        raise error.in_file(place.file) from error
    if outcome == "unchanged":
        return row._replace(outcome="unchanged"), None
    made = tuple(place.container[:end] for end in range(1, len(place.container) + 1) if _missing(document, place, end))
    put(bench.view, place, after)
    before = None if member is None else member.value
    runs = identity(bench.client.server(entry.value))
    change = EntryChange(file, path, place.dialect, before, entry.value, runs, made)
    return row._replace(outcome="created" if outcome == "created" else "updated"), change


def _missing(document: Document, place: Place, end: int) -> bool:
    return document.find(place.container[:end]) is None


def _refuse_foreign(
    bench: Bench, registration: Registration, request: InstallRequest, place: Place, member: Member | None, row: Row
) -> bool:
    """Whether the entry is ours. Raises HomeportError: foreign_entry, unless --replace takes it over."""
    if member is None:
        return False
    known = bench.history.last(str(bench.reader.real(place.file)), member.path)
    if is_ours(bench.client.server(member.value), registration, known, bench.client.server(row.entry)):
        return True
    if request.replace:
        return False
    hint = "take another name with --name, or take this one over with --replace"
    raise foreign_entry(bench.client, place, member, hint)
