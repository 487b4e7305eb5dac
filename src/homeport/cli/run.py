"""One operation over several clients: planned, then printed, compared, checked or applied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol

from homeport.cli import output, report
from homeport.cli.main import usage_error
from homeport.environment import Environment
from homeport.errors import CHANGE_NEEDED, FAILED, OK, HomeportError
from homeport.files import Disk
from homeport.installer.clients import CLIENTS
from homeport.installer.clients.values import Registration
from homeport.installer.plan.ownership import History
from homeport.installer.plan.rows import ClientPlan, Row

Via = Literal["file", "cli"] | None
MCP_JSON = "mcp-json"


class Asked(NamedTuple):
    """How an operation is to be shown or applied. clients: as given, `all` not yet resolved."""

    operation: str
    clients: tuple[str, ...]
    write: bool
    diff: bool
    check: bool
    as_json: bool
    if_installed: bool
    all_or_nothing: bool
    force: bool
    via: Via

    @property
    def prints(self) -> bool:
        return not (self.write or self.diff or self.check)

    @property
    def may_ask(self) -> bool:
        """Nothing decides yet and a person is there to."""
        return self.prints and not self.as_json and output.is_terminal()


class Planner(Protocol):
    def __call__(self, client: str, history: History, writes: bool, via: Via) -> ClientPlan: ...


def chosen_clients(asked: Asked, plan: Planner, environment: Environment) -> tuple[str, ...]:
    """The clients to go through, in the order given, each once; a checklist where none is named and a person is there.

    Raises HomeportError: unknown_client, usage_error.
    """
    if sum((asked.write, asked.diff, asked.check)) > 1:
        raise usage_error("--write, --diff and --check do not go together")
    if asked.clients:
        return _named(asked.clients)
    if asked.may_ask:
        from homeport.cli.choose import checklist

        return checklist({name: plan(name, History(), False, asked.via) for name in CLIENTS})
    raise usage_error("--client is missing", f"one of {', '.join(CLIENTS)}; or all, for every client found here")


def _named(clients: tuple[str, ...]) -> tuple[str, ...]:
    named: list[str] = []
    for client in clients:
        if client not in CLIENTS and client not in ("all", MCP_JSON):
            raise HomeportError("unknown_client", f"'{client}' is not a client that Homeport knows", _near(client))
        named += CLIENTS if client == "all" else [client]
    return tuple(dict.fromkeys(named))


def _near(client: str) -> str:
    from difflib import get_close_matches

    known = [*CLIENTS, "all", MCP_JSON]
    if "," in client:
        return f"say --client once for each; known: {', '.join(known)}"
    near = get_close_matches(client.lower(), known, n=1, cutoff=0.7)
    return (f"did you mean {near[0]}? " if near else "") + f"known: {', '.join(known)}"


def run(
    asked: Asked,
    clients: Sequence[str],
    plan: Planner,
    environment: Environment,
    found: tuple[Registration, ...],
    notes: tuple[str, ...] = (),
) -> int:
    """Show or apply, and give the exit code."""
    if MCP_JSON in clients:
        if len(clients) > 1 or not asked.prints:
            raise usage_error(f"--client {MCP_JSON} prints alone: it has no file")
        return report.print_common_shape(found, asked.as_json, notes)
    if asked.write:
        return _apply(asked, clients, plan, environment, found, notes)
    plans = _plans(asked, clients, plan, environment)
    if asked.as_json:
        _envelope(asked, plans, found)
    elif asked.diff:
        report.show_diff(plans, environment)
    elif asked.check:
        report.show_check(plans, environment)
    else:
        report.show_print(asked.operation, plans, environment, notes)
    if asked.may_ask and any(one.changes_something and not one.refused for one in plans):
        return _ask(asked, plans, plan, environment, found)
    return _exit_code(asked, plans)


def _plans(asked: Asked, clients: Sequence[str], plan: Planner, environment: Environment) -> list[ClientPlan]:
    history = _history(environment)
    return [plan(client, history, False, asked.via) for client in clients]


def _history(environment: Environment) -> History:
    if not Disk().is_folder(environment.state / "journal"):
        return History()
    from homeport.installer.apply.journal import Journal

    return Journal(environment.state).history()


def _exit_code(asked: Asked, plans: Sequence[ClientPlan]) -> int:
    if _refusal(asked, plans) is not None:
        return FAILED
    return CHANGE_NEEDED if asked.check and any(one.changes_something for one in plans) else OK


def _refusal(asked: Asked, plans: Sequence[ClientPlan]) -> HomeportError | None:
    """The first error that fails the run. What stands in a target never fails printing: the fragment still helps."""
    for one in plans:
        for row in one.rows:
            if row.outcome == "refused" and row.error and not (asked.prints and row.broken_target):
                return row.error
    return None


def _envelope(asked: Asked, plans: Sequence[ClientPlan], found: tuple[Registration, ...]) -> None:
    rows = [(row, False) for one in plans for row in one.rows]
    output.show_envelope(asked.operation, result(rows, found, None), _refusal(asked, plans))


def result(rows: Sequence[tuple[Row, bool]], found: tuple[Registration, ...], journal: str | None) -> dict[str, Any]:
    """The `result` of install and uninstall: docs/schemas/install.json."""
    shown = [report.registration(one) for one in found]
    return {
        "registration": shown[0] if len(shown) == 1 else None,
        "registrations": shown,
        "clients": [report.masked_row(row, applied) for row, applied in rows],
        "journal": journal,
    }


def _apply(
    asked: Asked,
    clients: Sequence[str],
    plan: Planner,
    environment: Environment,
    found: tuple[Registration, ...],
    notes: tuple[str, ...],
) -> int:
    from homeport.installer.apply.carry_out import Manner, carry_out

    manner = Manner(asked.force, asked.all_or_nothing)
    done = carry_out(
        asked.operation, clients, lambda client, history: plan(client, history, True, asked.via), environment, manner
    )
    if asked.as_json:
        output.show_envelope(asked.operation, result(done.rows, found, done.journal), done.error)
    else:
        report.show_done(done.rows, done.journal, environment, notes)
    return FAILED if done.error else OK


def _ask(
    asked: Asked,
    plans: Sequence[ClientPlan],
    plan: Planner,
    environment: Environment,
    found: tuple[Registration, ...],
) -> int:
    """The closing question at a terminal. No is an answer like any other: nothing was written, exit 0."""
    from homeport.cli.choose import apply_question

    clients = [one.client for one in plans if one.changes_something and not one.refused]
    owned = asked.via is None and any(
        row.place and row.place.owner for one in plans for row in one.rows if one.client in clients
    )
    answer = apply_question(owned)
    if answer is None:
        output.guidance("Nothing was written.")
        return OK
    via: Via = asked.via if not owned else answer
    wanted = Asked(
        asked.operation, tuple(clients), True, False, False, False, asked.if_installed, asked.all_or_nothing,
        asked.force, via,
    )  # fmt: skip
    return _apply(wanted, clients, plan, environment, found, ())
