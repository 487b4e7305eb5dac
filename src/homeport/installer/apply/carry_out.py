"""Several clients' plans made true: each by itself, or all of them or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.files import Disk
from homeport.installer.apply import client_program, recovery
from homeport.installer.apply.journal import ClientRecord, Journal, new_operation, with_client
from homeport.installer.apply.running import client_running
from homeport.installer.apply.transaction import Transaction
from homeport.installer.apply.undoing import undo_clients
from homeport.installer.clients import CLIENTS
from homeport.installer.clients.values import Place
from homeport.installer.plan.files_view import FilesView
from homeport.installer.plan.ownership import History, identity
from homeport.installer.plan.rows import CHANGES, ClientPlan, EntryChange, Row
from homeport.installer.plan.splices import digest

PlanOne = Callable[[str, History], ClientPlan]
"""Plans one client afresh, given what the journal says now."""


@dataclass(frozen=True, slots=True)
class Done:
    """rows: each with whether it was applied. journal: the operation's id, None where nothing was written."""

    rows: tuple[tuple[Row, bool], ...]
    journal: str | None

    @property
    def error(self) -> HomeportError | None:
        """The first refusal, for the exit code and the envelope."""
        return next((row.error for row, _ in self.rows if row.outcome == "refused" and row.error), None)


@dataclass(frozen=True, slots=True)
class Manner:
    """How to write. via_cli: by the client's own program where one owns the file. force: though a client runs."""

    via_cli: bool = False
    force: bool = False
    all_or_nothing: bool = False


def carry_out(name: str, clients: Sequence[str], plan_one: PlanOne, environment: Environment, manner: Manner) -> Done:
    """Apply an operation called `name` to these clients. One client's trouble never holds up another, unless
    all_or_nothing is asked for: then the first refusal leaves, or puts back, everything as it was.

    Raises HomeportError with exit code 2 from planning; everything else is a refused row.
    """
    check_home(environment)
    journal = Journal(environment.state)
    recovery.recover(environment, journal)
    if manner.all_or_nothing:
        plans = [plan_one(client, journal.history()) for client in clients]
        if any(plan.refused for plan in plans):
            return Done(tuple((_held_back(row), False) for plan in plans for row in plan.rows), None)
    transaction = Transaction(environment, journal, new_operation(name))
    rows: list[tuple[Row, bool]] = []
    for client in clients:
        plan, applied = _one_client(transaction, client, plan_one, manner)
        rows += [(row, applied and _changes(row)) for row in plan.rows]
        if plan.refused and manner.all_or_nothing:
            return _all_put_back(transaction, rows, clients, plan_one)
    journal.prune()
    wrote = any(client.status == "done" for client in transaction.operation.clients)
    return Done(tuple(rows), transaction.operation.id if wrote else None)


def _changes(row: Row) -> bool:
    return row.outcome in CHANGES or bool(row.removed)


def _held_back(row: Row) -> Row:
    if row.outcome == "refused" or not _changes(row):
        return row
    error = HomeportError(
        "all_or_nothing", f"{row.label}: nothing was written, because another client was refused", "see its reason"
    )
    return row._replace(outcome="refused", error=error)


def _all_put_back(
    transaction: Transaction, rows: list[tuple[Row, bool]], clients: Sequence[str], plan_one: PlanOne
) -> Done:
    undo_clients(transaction)
    seen = {row.client for row, _ in rows}
    later = [plan_one(client, History()) for client in clients if client not in seen]
    every = [*(row for row, _ in rows), *(row for plan in later for row in plan.rows)]
    # The refusal that caused it comes first, so that it is the one reported.
    return Done(tuple((_held_back(row), False) for row in every), None)


def _one_client(transaction: Transaction, client: str, plan_one: PlanOne, manner: Manner) -> tuple[ClientPlan, bool]:
    def plan_again() -> ClientPlan:
        return plan_one(client, transaction.journal.history())

    try:
        plan = plan_again()
        if plan.refused or not plan.changes_something:
            return plan, False
        running = _running(client)
        if running is not None and not manner.force:
            return _refused(plan, running), False
        if manner.via_cli and any(row.place and row.place.owner for row in plan.rows):
            return _by_program(transaction, client, plan), True
        applied = transaction.apply(_first(plan, plan_again))
        return _warned(applied, running), not applied.refused
    except HomeportError as error:
        if error.exit_code == 2:
            raise
        return _refused(plan_again(), error), False


def _first(plan: ClientPlan, plan_again: Callable[[], ClientPlan]) -> Callable[[], ClientPlan]:
    """The plan that is at hand already, then new ones: a large file is not read twice for nothing."""
    ready = [plan]
    return lambda: ready.pop() if ready else plan_again()


def _running(client: str) -> HomeportError | None:
    names = CLIENTS[client].PROCESS_NAMES
    return client_running(CLIENTS[client].LABEL, names) if names else None


def _warned(plan: ClientPlan, running: HomeportError | None) -> ClientPlan:
    """A person who insisted is told all the same what may undo it: the client saves its own copy when it quits."""
    if running is None:
        return plan
    note = f"{running.message}; quit it fully, and see with `homeport status` whether the entry is still there"
    rows = (row._replace(notes=(*row.notes, note)) if _changes(row) else row for row in plan.rows)
    return plan._replace(rows=tuple(rows))


def _refused(plan: ClientPlan, error: HomeportError) -> ClientPlan:
    rows = tuple(
        row._replace(outcome="refused", error=error, broken_target=True) if _changes(row) else row for row in plan.rows
    )
    return ClientPlan(plan.client, rows)


def _by_program(transaction: Transaction, client: str, plan: ClientPlan) -> ClientPlan:
    """Run the client's own commands; put the old entry back where one fails or lies.

    Raises HomeportError: client_not_on_path, client_command_failed.
    """
    for row in plan.rows:
        if row.outcome not in CHANGES or row.place is None:
            continue
        before = _entry_bytes(row.place, row.name)
        try:
            for words in _commands(row):
                client_program.run(words, transaction.environment)
            change = _look(row, client, before)
        except HomeportError:
            _restore(transaction, client, row, before)
            raise
        _remember(transaction, client, row.place, change)
    return plan


def _commands(row: Row) -> list[tuple[str, ...]]:
    """Codex's `add` replaces; Claude Code's refuses a name that exists, so the old one is removed first."""
    if row.outcome == "updated" and row.update_command and row.client == "claude-code":
        return list(row.update_command)
    return [row.apply_command] if row.apply_command else []


def _entry_bytes(place: Place, name: str) -> object:
    return FilesView(Disk()).value(place.file, place.dialect, (*place.container, name))


def _look(row: Row, client: str, before: object) -> EntryChange:
    assert row.place is not None
    present = _entry_bytes(row.place, row.name)
    server = CLIENTS[client].server
    wanted = None if row.outcome == "removed" else identity(server(row.entry))
    if identity(server(present)) != wanted:
        raise client_program.did_not_do_it(row.apply_command or ())
    file = str(Disk().real(row.place.file))
    path = (*row.place.container, row.name)
    return EntryChange(file, path, row.place.dialect, before, present, wanted)


def _restore(transaction: Transaction, client: str, row: Row, before: object) -> None:
    """The entry as it was before the command, where the command left something else."""
    place = row.place
    assert place is not None

    def plan() -> ClientPlan:
        view = FilesView(Disk())
        document = view.document(place.file, place.dialect)
        path = (*place.container, row.name)
        view.put(place.file, document.remove(path) if before is None else document.set(path, before), 0o600)
        return ClientPlan(client, (row._replace(outcome="updated", error=None),), view.steps())

    transaction.apply(plan)


def _remember(transaction: Transaction, client: str, place: Place, change: EntryChange) -> None:
    from homeport.installer.apply.journal import FileRecord

    record = FileRecord(
        path=str(place.file),
        real=change.file,
        temporary="",
        digest_before="",
        digest_after=digest(Disk().read(place.file)),
        edits=(),
        blank=False,
        file_before=None,
        mode=0o600,
        exact=False,
    )
    transaction.operation = with_client(transaction.operation, ClientRecord(client, "done", (record,), (change,)))
    transaction.journal.write(transaction.operation)


def check_home(environment: Environment) -> None:
    """Raises HomeportError: home_unusable, where what we write would lie in the root folder, or belong to root in
    somebody else's home without sudo having said whose."""
    home = Path(environment.home)
    if environment.user_id is None:
        return
    if str(home) == "/" and environment.user_id != 0:
        raise HomeportError("home_unusable", "HOME is /, which is nobody's home folder", "set HOME to your home folder")
    if environment.user_id == 0 and home.is_dir() and not environment.variable("SUDO_UID"):
        owner = home.stat().st_uid
        if owner != 0:
            raise HomeportError(
                "home_unusable",
                f"{home} belongs to user {owner}, and this runs as root: the client could not read what we write",
                "run it as that user",
                {"home": str(home), "owner": owner},
            )
