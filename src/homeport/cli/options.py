"""Options that several commands share: declared once, so that one word means one thing everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Command], Command]

# Kept beside the registry by a test: importing six modules of facts for a help text would slow every command.
CLIENT_NAMES: Final = ("claude-code", "claude-desktop", "cursor", "codex", "opencode", "muse-code")


def _all(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def decorate(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


clients = click.option(
    "--client",
    "clients",
    multiple=True,
    metavar="CLIENT",
    shell_complete=lambda context, parameter, incomplete: [
        name for name in (*CLIENT_NAMES, "all", "mcp-json") if name.startswith(incomplete)
    ],
    help=f"A client ({', '.join(CLIENT_NAMES)}), or `all` for every one found. Repeatable.",
)

level = click.option(
    "--level",
    type=click.Choice(["user", "project"]),
    default="user",
    show_default=True,
    help="The client's file for you, or for this project.",
)

json_output = click.option("--json", "as_json", is_flag=True, help="One line of JSON on stdout, in every outcome.")

mode = _all(
    click.option("--write", is_flag=True, help="Apply it. Without this nothing is changed."),
    click.option("--diff", is_flag=True, help="Show the unified diff that --write would apply, values masked."),
    click.option("--check", is_flag=True, help="Apply nothing; exit 3 if something would change."),
    json_output,
)

if_installed = click.option("--if-installed", is_flag=True, help="Skip a client that is not installed here.")
replace = click.option("--replace", is_flag=True, help="Take over an entry of this name that runs something else.")
all_or_nothing = click.option("--all-or-nothing", is_flag=True, help="Write nothing unless every client can be done.")
force = click.option(
    "--force", is_flag=True, help="Go on though the client is running or the interpreter lies in a temporary folder."
)
via = click.option(
    "--via",
    type=click.Choice(["file", "cli"]),
    help="For a file that the client's own program writes: merge it here, or run the client's command.",
)
config = click.option(
    "--config", type=click.Path(), metavar="PATH", help="This file instead of the client's own place (one client)."
)

state_flags = _all(
    click.option("--root", metavar="DIR", help="The home of the state; default ~/.homeport or $HOMEPORT_HOME."),
    click.option(
        "--scope",
        metavar="SCOPE",
        help="Whose state, served alone at /memory: user:NAME, user:NAME/proj:NAME, team:NAME.",
    ),
    click.option(
        "--mount",
        "mounts",
        multiple=True,
        metavar="scope=S,path=P[,ro|,eo]",
        help="A scope under a path; ro is read-only, eo edits only. Repeatable. Default: the working folder's layout.",
    ),
    click.option(
        "--actor", metavar="NAME", help="Who writes: by default the connected client, or on the command line you."
    ),
)
"""Which home, whose state in it, and who asks."""

serve_flags = _all(
    state_flags,
    click.option("--toolset", "toolsets", multiple=True, metavar="NAME", help="A group of tools to serve. Repeatable."),
    click.option(
        "--history",
        type=click.Choice(["own", "project", "all"]),
        help="Whose conversations are shown: all of yours (own), this project's, or every one in the home.",
    ),
)
"""What the bundled server takes: the same for `serve` and for a registration of it."""
