"""The home that a `homeport memory` command works on, opened as the server opens it, and how its outcomes are shown."""

from __future__ import annotations

import functools
import sys
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import click

from homeport.cli import options, output
from homeport.cli.main import Invocation, usage_error
from homeport.errors import OK, HomeportError

if TYPE_CHECKING:
    from homeport.server.operations.operation import Call, Outcome
    from homeport.server.state.documents.store import Documents

# Nothing waits longer than five seconds for another process's lock without saying so.
_PATIENCE_S: Final = 4.5


class OpenHome(NamedTuple):
    """words: what stood behind `--`, which is never an option of ours."""

    documents: Documents
    call: Call
    as_json: bool
    words: tuple[str, ...]

    def show(self, outcome: Outcome, text: str | None = None) -> int:
        """Print what came of it and give the exit code. text: for a person, in place of what a tool says, also where
        there is an error."""
        if self.as_json:
            output.show_envelope("memory", outcome.result, outcome.error)
            return OK if outcome.error is None else outcome.error.exit_code
        if text is not None or outcome.error is None:
            output.artifact(printable(outcome.text + "\n" if text is None else text))
        if outcome.error is not None:
            output.show_error(outcome.error)
        return OK if outcome.error is None else outcome.error.exit_code


def with_home(function: Callable[..., int]) -> Callable[..., int]:
    """Give a command its OpenHome and the options that choose it."""

    @options.state_flags
    @options.json_output
    @click.pass_obj
    @functools.wraps(function)
    def command(
        invocation: Invocation,
        /,
        root: str | None,
        scope: str | None,
        mounts: tuple[str, ...],
        actor: str | None,
        as_json: bool,
        **rest: Any,
    ) -> int:
        from homeport.server.operations.operation import Call
        from homeport.server.start import parse_start
        from homeport.server.state.documents.said import Said
        from homeport.server.state.documents.store import Documents
        from homeport.server.state.home import open_home
        from homeport.server.state.projects import served_layout
        from homeport.server.state.scopes import clean_slug

        environment = invocation.environment
        start = parse_start(environment, root=root, scope=scope, mounts=mounts, actor=actor)
        home = open_home(Path(start.home))
        served = start.mounts or served_layout(environment, home)
        with closing(Documents(home, served, Said(remarks=False))) as documents:
            login = f"cli:{clean_slug(environment.login, 'user')}"
            call = Call(start.actor or login, time.monotonic() + _PATIENCE_S)
            return function(OpenHome(documents, call, as_json, invocation.command or ()), **rest)

    return cast("Callable[..., int]", command)


def words_of(given: Sequence[str], home: OpenHome, *names: str) -> list[str]:
    """The words of a command, those behind `--` among them, one for each name; `-` is the whole of stdin, once.

    Raises HomeportError: usage_error; document_unreadable (stdin is not UTF-8).
    """
    words = [*given, *home.words]
    if len(words) != len(names):
        raise usage_error(
            f"it takes {' '.join(names)}, and {len(words)} words were given",
            "a text that begins with - goes behind --, or comes from stdin by the word -",
        )
    texts = [at for at, name in enumerate(names) if name in ("TEXT", "OLD", "NEW") and words[at] == "-"]
    # Behind `--` a dash is a dash.
    texts = [at for at in texts if at < len(given)]
    if len(texts) > 1:
        raise usage_error("stdin can be one text alone", "give the other one on the command line")
    for at in texts:
        words[at] = _stdin()
    return words


def _stdin() -> str:
    stream = sys.stdin
    if stream is None:
        raise usage_error("stdin is closed")
    try:
        return stream.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise HomeportError(
            "document_unreadable", f"stdin is not UTF-8 (byte {error.start + 1})", "convert it first"
        ) from error


def printable(text: str) -> str:
    """A stored text as a terminal may show it: what would steer the terminal is shown as its escape. Into a file or
    a pipe it goes as it is."""
    if sys.stdout is None or not sys.stdout.isatty():
        return text
    return "".join(
        character
        if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cs")
        else character.encode("unicode_escape", "surrogatepass").decode("ascii")
        for character in text
    )


def given(**values: Any) -> Mapping[str, Any]:
    """The arguments that were given: what was left out is no argument."""
    return {name: value for name, value in values.items() if value is not None}
