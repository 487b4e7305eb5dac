"""The command line: commands loaded when they are asked for, and every outcome an exit code."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple

import click

from homeport.cli import output
from homeport.disk import Disk
from homeport.environment import Environment, wants_tracebacks
from homeport.errors import INTERRUPTED, OK, USAGE, HomeportError
from homeport.version import VERSION

COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "install": ("homeport.cli.install", "Register a server with AI clients."),
    "uninstall": ("homeport.cli.uninstall", "Take a registration out again."),
    "list": ("homeport.cli.list", "Show every server each client knows."),
    "status": ("homeport.cli.status", "Show where Homeport's registrations stand."),
    "undo": ("homeport.cli.undo", "Take back the last operation, or a named one."),
    "serve": ("homeport.cli.serve", "Run the bundled server on stdin and stdout."),
    "docs": ("homeport.cli.docs", "Print a page of the documentation."),
    "memory": ("homeport.cli.memory", "View and change documents, and look at their versions."),
    "history": ("homeport.cli.history", "Search and read recorded conversations."),
    "completion": ("homeport.cli.completion", "Print the completion script for a shell."),
}
"""Command -> module that holds a click command of that name, and its line in the overview."""


class Invocation(NamedTuple):
    """What every command takes. command: the words after `--`, None where there was none. disk: what is looked at;
    who writes, writes to the machine's own."""

    environment: Environment
    command: tuple[str, ...] | None
    disk: Disk


class LazyGroup(click.Group):
    """Imports the module of the command that runs, and no other."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = import_module(COMMANDS[name][0])
        command = getattr(module, name if name != "list" else "list_servers")
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """The overview without importing every module for a line of each."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(VERSION, prog_name="homeport")
def homeport() -> None:
    """Register an MCP server with every AI client on this machine, and keep every other byte of their files.

    Prints by default and changes nothing; --write applies, `homeport undo` takes back.

    \b
    Start here:
      homeport install --client all          what would be registered, client by client
      homeport install --client cursor --write
      homeport status
    """


def main(
    arguments: Sequence[str] | None = None, environment: Environment | None = None, disk: Disk | None = None
) -> int:
    """Run one command line and give its exit code. Nothing but KeyboardInterrupt of a debugger gets out.

    environment, disk: of a made machine, in place of this one's.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    words, command = _split(words)
    try:
        return _run(words, command, environment, disk or Disk())
    except BrokenPipeError:
        output.hang_up()
        return OK
    except Exception as error:
        return _report(words, _internal(error))


def _split(words: list[str]) -> tuple[list[str], tuple[str, ...] | None]:
    """What follows `--` belongs to somebody else's program and is no option of ours."""
    if "--" not in words:
        return words, None
    at = words.index("--")
    return words[:at], tuple(words[at + 1 :])


def _run(words: list[str], command: tuple[str, ...] | None, environment: Environment | None, disk: Disk) -> int:
    try:
        invocation = Invocation(environment or Environment.current(), command, disk)
        result = homeport.main(words, prog_name="homeport", standalone_mode=False, obj=invocation)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except SystemExit:
        # click's own way with a pipe whose reader is gone, which it takes for a failure.
        output.hang_up()
        return OK
    except click.exceptions.NoArgsIsHelpError as error:
        # Who types the bare name wants to be told what there is.
        output.artifact(error.format_message() + "\n")
        return OK
    except click.UsageError as error:
        return _report(words, _usage(error))
    except click.ClickException as error:
        return _report(words, HomeportError("usage_error", error.format_message()))
    except (KeyboardInterrupt, click.Abort):
        return _report(words, HomeportError("interrupted", "interrupted; nothing more was changed"))
    except HomeportError as error:
        return _report(words, error)
    return result if isinstance(result, int) else OK


def _usage(error: click.UsageError) -> HomeportError:
    path = error.ctx.command_path if error.ctx else "homeport"
    hint = f"see {path} --help"
    if path.endswith(" install") and (
        isinstance(error, click.NoSuchOption) or "extra argument" in error.format_message()
    ):
        hint += "; a server's command with its own options goes behind --, as in: -- npx -y some-server"
    return HomeportError("usage_error", error.format_message().rstrip("."), hint)


def _internal(error: Exception) -> HomeportError:
    return HomeportError(
        "internal_error",
        f"a fault of Homeport's own: {type(error).__name__}: {error}",
        "please report it, with the output of HOMEPORT_DEBUG=1 for the same command",
    )


def _report(words: Sequence[str], error: HomeportError) -> int:
    if wants_tracebacks():
        import traceback

        output.guidance(traceback.format_exc().rstrip())
    if "--json" in words:
        operation = next((word for word in words if not word.startswith("-")), "homeport")
        output.show_envelope(operation, None, error)
    elif error.exit_code == INTERRUPTED:
        output.guidance(error.message)
    else:
        output.show_error(error)
    return error.exit_code


def usage_error(message: str, hint: str | None = None, **details: Any) -> HomeportError:
    """For a combination of options that click cannot judge. Exit code 2."""
    error = HomeportError("usage_error", message, hint, details)
    assert error.exit_code == USAGE
    return error
