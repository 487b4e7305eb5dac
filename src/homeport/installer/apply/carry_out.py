"""Several clients' plans made true: each by itself, or all of them or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.installer.apply import by_program, client_program, recovery
from homeport.installer.apply.journal import Journal, new_operation
from homeport.installer.apply.locks import locked
from homeport.installer.apply.running import client_running
from homeport.installer.apply.transaction import Transaction
from homeport.installer.apply.undoing import undo_clients
from homeport.installer.clients import CLIENTS
from homeport.installer.plan.ownership import History
from homeport.installer.plan.rows import CHANGES, ClientPlan, Row, first_refusal, held_back

PlanOne = Callable[[str, History], ClientPlan]
"""Plans one client afresh, given what the journal says now."""

_ANOTHER: Final = "another client was refused"


@dataclass(frozen=True, slots=True)
class Done:
    """rows: each with whether it was applied. journal: the operation's id, None where nothing was written."""

    rows: tuple[tuple[Row, bool], ...]
    journal: str | None

    @property
    def error(self) -> HomeportError | None:
        """The first refusal, for the exit code and the envelope."""
        return first_refusal(row for row, _ in self.rows)


@dataclass(frozen=True, slots=True)
class Manner:
    """How to write. force: though a client runs."""

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
            return Done(tuple((held_back(row, _ANOTHER), False) for plan in plans for row in plan.rows), None)
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


def _all_put_back(
    transaction: Transaction, rows: list[tuple[Row, bool]], clients: Sequence[str], plan_one: PlanOne
) -> Done:
    undo_clients(transaction)
    seen = {row.client for row, _ in rows}
    later = [plan_one(client, History()) for client in clients if client not in seen]
    every = [*(row for row, _ in rows), *(row for plan in later for row in plan.rows)]
    # The refusal that caused it comes first, so that it is the one reported.
    return Done(tuple((held_back(row, _ANOTHER), False) for row in every), None)


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
        if any(row.commands for row in plan.rows):
            return _warned(_by_program(transaction, plan, plan_again), running), True
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


def _by_program(transaction: Transaction, plan: ClientPlan, plan_again: Callable[[], ClientPlan]) -> ClientPlan:
    """Have the client's own program write its entries, then do the rest of the plan; all of it or nothing.

    Raises HomeportError: client_not_on_path, client_command_failed, and those of the transaction.
    """
    asked = [row for row in plan.rows if row.commands]
    for row in asked:
        client_program.found(row.commands[0], transaction.environment)
    record = by_program.intended(plan.client, asked)
    transaction.record(record)
    reals = frozenset(file.real for file in record.files)
    try:
        # Held while the program runs, so that another Homeport does not take this for what a dead one left.
        with locked(transaction.environment, reals):
            record = by_program.run(record, asked, transaction.environment)
        rest = transaction.apply(plan_again) if plan.steps else plan
        if rest.refused:
            raise rest.refused
    except BaseException:
        with locked(transaction.environment, reals):
            transaction.record(by_program.put_back(record))
        raise
    transaction.record(by_program.done(record))
    return plan


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
