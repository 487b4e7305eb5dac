"""What a plan says, one row for each client and name: what `--json` prints and text is made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from homeport.errors import HomeportError
from homeport.installer.clients.values import Dialect, Json, KeyPath, Place
from homeport.installer.plan.files_view import WriteFile

Outcome = Literal["created", "updated", "unchanged", "removed", "absent", "refused", "skipped"]

CHANGES: frozenset[Outcome] = frozenset({"created", "updated", "removed"})


class Removed(NamedTuple):
    """An entry that goes together with the one we write or take out."""

    file: str
    path: KeyPath
    tracked: bool = False

    def as_json(self) -> dict[str, Json]:
        return {"file": self.file, "path": list(self.path), "tracked": self.tracked}


class ShadowedBy(NamedTuple):
    """A nearer entry of the name that stays. runs: what it starts, masked."""

    level: str
    file: str
    ours: bool
    runs: str

    def as_json(self) -> dict[str, Json]:
        return {"level": self.level, "file": self.file, "ours": self.ours, "runs": self.runs}


class Row(NamedTuple):
    """One client and one name. place is None where it could not be found; entry where none can be spelled."""

    client: str
    label: str
    level: str
    name: str
    outcome: Outcome
    place: Place | None = None
    entry: dict[str, Json] | None = None
    fragment: str | None = None
    apply_command: tuple[str, ...] | None = None
    update_command: tuple[tuple[str, ...], ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    """What the client's own program is to be run with, one after the other, where it is to write the entry itself."""
    removed: tuple[Removed, ...] = ()
    shadowed_by: tuple[ShadowedBy, ...] = ()
    requires_env: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    error: HomeportError | None = None
    broken_target: bool = False
    """The error is about what stands in the file, not about what was asked: printing still helps."""

    def as_json(self, applied: bool) -> dict[str, Any]:
        return {
            "client": self.client,
            "label": self.label,
            "level": self.level,
            "file": None if self.place is None else str(self.place.file),
            "container": None if self.place is None else list(self.place.container),
            "name": self.name,
            "entry": self.entry,
            "fragment": self.fragment,
            "outcome": self.outcome,
            "applied": applied,
            "apply_command": None if self.apply_command is None else list(self.apply_command),
            "removed": [removed.as_json() for removed in self.removed],
            "shadowed_by": [shadow.as_json() for shadow in self.shadowed_by],
            "requires_env": list(self.requires_env),
            "next": list(self.next_steps),
            "notes": list(self.notes),
            "error": None if self.error is None else self.error.as_json(),
        }


def held_back(row: Row, because: str) -> Row:
    """A row that would have changed something, where something else keeps it from being done."""
    if row.outcome == "refused" or not (row.outcome in CHANGES or row.removed):
        return row
    message = f"{row.label}: nothing was done about '{row.name}', because {because}"
    error = HomeportError("all_or_nothing", message, "see the reason given there")
    return row._replace(outcome="refused", removed=(), commands=(), error=error, broken_target=True)


def first_refusal(rows: Iterable[Row]) -> HomeportError | None:
    """The refusal to report: of those held back for another's sake, the one that held them back."""
    errors = [row.error for row in rows if row.outcome == "refused" and row.error]
    causes = (error for error in errors if error.code != "all_or_nothing")
    return next(causes, errors[0] if errors else None)


class EntryChange(NamedTuple):
    """What happens to one entry, for the journal: enough to know it again and to put it back alone.

    made: the containers that did not exist before.
    """

    file: str
    path: KeyPath
    dialect: Dialect
    before: Json
    after: Json
    identity: tuple[str, ...] | None
    made: tuple[KeyPath, ...] = ()


class ClientPlan(NamedTuple):
    """Everything one client needs: all of its steps or none of them."""

    client: str
    rows: tuple[Row, ...]
    steps: tuple[WriteFile, ...] = ()
    changes: tuple[EntryChange, ...] = ()

    @property
    def refused(self) -> HomeportError | None:
        return first_refusal(self.rows)

    @property
    def changes_something(self) -> bool:
        return any(row.outcome in CHANGES or row.removed for row in self.rows)
