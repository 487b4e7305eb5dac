"""`homeport history`: recorded conversations, for people: the two tools, and what only people need."""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import click

from homeport.cli import options, output
from homeport.cli.main import Invocation, usage_error
from homeport.cli.memory_home import given, printable
from homeport.errors import OK, HomeportError

if TYPE_CHECKING:
    from homeport.server.operations.operation import Call, Outcome
    from homeport.server.state.history.reach import Reach, Viewer
    from homeport.server.state.history.store import History

# Nothing waits longer than five seconds for another process's lock without saying so.
_PATIENCE_S: Final = 4.5


class Opened(NamedTuple):
    """The history of a home, and who looks at it. words: what stood behind `--`, which is never an option of ours."""

    history: History
    viewer: Viewer
    call: Call
    as_json: bool
    words: tuple[str, ...]

    def perform(self, name: str, **arguments: Any) -> Outcome:
        from homeport.server.operations.history import history_operations
        from homeport.server.operations.operation import perform

        operations = history_operations(self.history, self.viewer.reach, self.viewer.user, self.viewer.project)
        operation = next(one for one in operations if one.name == name)
        return perform(operation, given(**arguments), self.call)

    def show(self, outcome: Outcome, show: Callable[[Mapping[str, Any]], None]) -> int:
        """Print what came of it, and give the exit code. show: prints a result for a person."""
        error = outcome.error
        if self.as_json:
            output.show_envelope("history", outcome.result, error)
        else:
            if outcome.result is not None:
                show(outcome.result)
            if error is not None:
                output.show_error(error)
        return OK if error is None else error.exit_code


def with_history(function: Callable[..., int]) -> Callable[..., int]:
    """Give a command what is Opened, and the options that choose it."""

    @click.option("--root", metavar="DIR", help="The home of the state; default ~/.homeport or $HOMEPORT_HOME.")
    @click.option("--scope", metavar="SCOPE", help="Whose: user:NAME, or user:NAME/proj:NAME. Default: yours.")
    @click.option(
        "--history",
        "reach",
        type=click.Choice(["own", "project", "all"]),
        default="own",
        show_default=True,
        help="Every conversation of yours, those of this project, or every one in the home.",
    )
    @options.json_output
    @click.pass_obj
    @functools.wraps(function)
    def command(
        invocation: Invocation, /, root: str | None, scope: str | None, reach: Reach, as_json: bool, **rest: Any
    ) -> int:
        from homeport.server.operations.operation import Call
        from homeport.server.state.history.store import History
        from homeport.server.state.home import home_path, open_home
        from homeport.server.state.scopes import clean_slug

        environment = invocation.environment
        home = open_home(Path(home_path(environment, root)))
        actor = f"cli:{clean_slug(environment.login, 'user')}"
        with closing(History(home.history)) as history:
            viewer = _viewer(invocation, home, scope, reach)
            call = Call(actor, time.monotonic() + _PATIENCE_S)
            return function(Opened(history, viewer, call, as_json, invocation.command or ()), **rest)

    return cast("Callable[..., int]", command)


def _viewer(invocation: Invocation, home: Any, scope: str | None, reach: Reach) -> Viewer:
    from homeport.server.state.history.reach import Viewer, user_of
    from homeport.server.state.projects import served_layout, user_scope
    from homeport.server.state.scopes import parse_scope

    if scope is not None:
        user = user_of(parse_scope(scope))
        return Viewer(reach, user, scope if scope != user else None)
    user = user_scope(invocation.environment)
    if reach != "project":
        return Viewer(reach, user, None)
    layout = served_layout(invocation.environment, home)
    return Viewer(reach, user, next((mount.scope for mount in layout if mount.path == "project"), None))


@click.group()
def history() -> None:
    """Search and read recorded conversations, take copies of them elsewhere.

    The same conversations that the server's tools search_history and recall_turn show.

    \b
    Examples:
      homeport history search '"disk full" journal' --since 2031-02-01
      homeport history show 0b7c-11 7
      homeport history list
      homeport history export history.jsonl
    """


@history.command()
@click.argument("query", nargs=-1)
@click.option("--conversation", metavar="ID", help="In this conversation alone.")
@click.option("--limit", type=int, metavar="N", help="So many hits, 1 to 50; default 10.")
@click.option("--cursor", metavar="CURSOR", help="Go on behind the page that named it.")
@click.option("--since", metavar="TIME", help="An ISO date or time; without a zone it is UTC.")
@click.option("--until", metavar="TIME", help="The same; a date alone is the whole day.")
@click.option("--actor", metavar="ACTOR", help="Recorded by this one alone, such as hook:codex.")
@with_history
def search(opened: Opened, query: tuple[str, ...], **filters: Any) -> int:
    """Find turns that hold every term of QUERY, the newest first.

    A term is any part of a word, in any script, whatever its case; in double quotes it may hold spaces. What looks like
    a credential is hidden here, and shown by `show`.
    """
    words = (*query, *opened.words)
    if not words:
        raise usage_error("it takes a QUERY", "one that begins with - goes behind --")
    outcome = opened.perform("search_history", query=" ".join(words), **filters)
    return opened.show(outcome, _show_hits)


@history.command()
@click.argument("conversation")
@click.argument("turn", type=int)
@click.option("--call", metavar="ID", help="This tool call alone, with its whole result.")
@click.option("--offset", type=int, metavar="N", help="Leave out so many characters.")
@with_history
def show(opened: Opened, conversation: str, turn: int, call: str | None, offset: int | None) -> int:
    """Show a turn word for word. Of a long tool result head and tail are shown; --call shows all of it.

    With --json it is one page, as the tool answers it; `next` says how to go on.
    """
    while True:
        outcome = opened.perform("recall_turn", turn=turn, conversation=conversation, call=call, offset=offset)
        code = opened.show(outcome, _show_pieces)
        following = (outcome.result or {}).get("next")
        if opened.as_json or not following:
            return code
        offset = following["offset"]


@history.command("list")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, metavar="N", help="So many.")
@click.option("--cursor", metavar="CURSOR", help="Go on behind the page that named it.")
@with_history
def list_command(opened: Opened, limit: int, cursor: str | None) -> int:
    """List conversations, those with the newest turns first."""
    from homeport.server.operations.history_transfer import conversations

    outcome = conversations(opened.history, opened.viewer, limit, cursor, opened.call)
    return opened.show(outcome, _show_conversations)


@history.command("export")
@click.argument("target", type=click.Path())
@click.option("--conversation", metavar="ID", help="This conversation alone.")
@with_history
def export_command(opened: Opened, target: str, conversation: str | None) -> int:
    """Write turns as JSON lines to the new file TARGET, or to stdout where it is -."""
    from homeport.server.operations.history_transfer import export_to, exported

    if target != "-":
        outcome = export_to(opened.history, opened.viewer, Path(target), conversation)
        return opened.show(outcome, lambda result: output.guidance(outcome.text))
    if opened.as_json:
        raise usage_error("--json and - would both write to stdout", "name a file")
    for line in exported(opened.history, opened.viewer, conversation):
        output.artifact(line.decode())
    return OK


@history.command("import")
@click.argument("source", type=click.Path(exists=True, allow_dash=True, dir_okay=False))
@click.option("--keep-scopes", is_flag=True, help="Each turn for the user that its line names, not for you.")
@with_history
def import_command(opened: Opened, source: str, keep_scopes: bool) -> int:
    """Take the turns of an export. Those that are there stay as they are; a line that cannot be read is named."""
    from homeport.server.operations.history_transfer import import_from

    user = None if keep_scopes else opened.viewer.user
    try:
        with sys.stdin.buffer if source == "-" else open(source, "rb") as stream:
            outcome = import_from(opened.history, stream, user)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise HomeportError("unreadable_file", f"{source}: {why}", "what was read before is taken") from error
    return opened.show(outcome, lambda result: output.guidance(_counted(result)))


def _counted(result: Mapping[str, Any]) -> str:
    return f"{result['landed']} turns are new, {result['known']} were there."


def _show_hits(result: Mapping[str, Any]) -> None:
    for hit in result["hits"]:
        head = f"[{hit['conversation']} #{hit['turn']}] {hit['stamp'] or 'undated'} {hit['actor']}"
        output.artifact(printable(f"{head}\n  {hit['from']}: {hit['snippet']}\n"))
    if result["unreadable"]:
        output.guidance(f"Damaged and left out: {result['unreadable']}.")
    if result["stopped"]:
        output.guidance("Time ran out before every turn was looked at.")
    if result["next"]:
        output.guidance(f"More with: --cursor {result['next']}")
    if result["hits"]:
        first = result["hits"][0]
        output.guidance(f"Read one with: homeport history show {first['conversation']} {first['turn']}")
    else:
        output.guidance("No turn holds that.")


def _show_pieces(result: Mapping[str, Any]) -> None:
    if not result["offset"]:
        output.guidance(f"{result['stamp'] or 'undated'} {result['actor']}, recorded from {result['client']}")
    for piece in result["pieces"]:
        name, call, left_out = (piece.get(key) for key in ("name", "call", "left_out"))
        if left_out:
            output.artifact(f"[... {left_out} characters left out; --call {call} shows them ...]\n")
        else:
            label = " ".join(filter(None, (piece["kind"], name, call and f"({call})")))
            output.artifact(printable(f"--- {label}\n"))
        text = piece["text"]
        output.artifact(printable(text if text.endswith("\n") else f"{text}\n"))


def _show_conversations(result: Mapping[str, Any]) -> None:
    rows = [
        (one["conversation"], str(one["turns"]), one["newest"] or "undated", one["client"], one["project"] or "-")
        for one in result["conversations"]
    ]
    if rows:
        output.artifact(output.table([("CONVERSATION", "TURNS", "NEWEST", "CLIENT", "PROJECT"), *rows]) + "\n")
    else:
        output.guidance("No conversations are recorded here.")
    if result["next"]:
        output.guidance(f"More with: --cursor {result['next']}")
