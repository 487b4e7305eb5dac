"""Make an undo true, for one operation of the journal or for the one at work."""

from __future__ import annotations

from pathlib import Path

from homeport.environment import Environment
from homeport.files import Disk
from homeport.installer.apply import recovery
from homeport.installer.apply.journal import ClientRecord, Journal, Operation, find, new_operation, with_client
from homeport.installer.apply.transaction import Transaction
from homeport.installer.plan.rows import ClientPlan, Row
from homeport.installer.plan.undo import FileUndo, UndoPlan, plan_undo


def plan_operation(operation: Operation) -> list[UndoPlan]:
    """What undoing would do, the last client first."""
    reader = Disk()
    return [
        plan_undo(client.client, _known(client), client.changes, reader)
        for client in reversed(operation.clients)
        if client.status == "done"
    ]


def undo(environment: Environment, identifier: str | None) -> tuple[Operation, list[UndoPlan], str]:
    """Take an operation back and journal that; give it, what was done, and the new operation's id.

    Raises HomeportError: nothing_to_undo, file_busy and the other errors of writing. A client whose entry is no
    longer ours is refused as a whole and the others are undone.
    """
    journal = Journal(environment.state)
    recovery.recover(environment, journal)
    operation = find(journal.operations(), identifier)
    transaction = Transaction(environment, journal, new_operation("undo", undoes=operation.id))
    plans = [_undo_client(transaction, client) for client in reversed(operation.clients) if client.status == "done"]
    refused = any(one.how == "refused" for plan in plans for one in plan.files)
    journal.write(operation._replace(undone=not refused))
    return operation, plans, transaction.operation.id


def undo_clients(transaction: Transaction) -> None:
    """Take back what the operation at work has done so far."""
    for client in reversed(transaction.operation.clients):
        if client.status == "done":
            _undo_client(transaction, client)
            record = client._replace(status="reverted")
            transaction.operation = with_client(transaction.operation, record)
            transaction.journal.write(transaction.operation)


def _undo_client(transaction: Transaction, client: ClientRecord) -> UndoPlan:
    latest: list[UndoPlan] = []

    def plan() -> ClientPlan:
        latest[:] = [plan_undo(client.client, _known(client), client.changes, Disk())]
        row = Row(client.client, client.client, "", "", "removed")
        return ClientPlan(client.client, (row,), latest[0].steps, latest[0].changes)

    transaction.apply(plan)
    return latest[0]


def _known(client: ClientRecord) -> list[FileUndo]:
    return [
        FileUndo(
            Path(file.path),
            file.real,
            file.digest_before,
            file.digest_after,
            file.edits,
            file.blank,
            file.file_before,
            file.mode,
            file.exact,
            None if file.client_lock is None else Path(file.client_lock),
        )
        for file in client.files
    ]
