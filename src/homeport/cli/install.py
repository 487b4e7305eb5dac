"""`homeport install`: flags into registrations, a plan, and one of five ways to show or apply it."""

from __future__ import annotations

from pathlib import PurePath
from typing import Literal, NamedTuple

import click

from homeport.cli import options, serve_line
from homeport.cli.main import Invocation, usage_error
from homeport.cli.run import Asked, chosen_clients, run
from homeport.cli.target import Target, registrations
from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.installer.clients.values import Level, Registration, Stdio
from homeport.installer.plan.install import plan_install
from homeport.installer.plan.launcher import bundled_server, unstable_interpreter
from homeport.installer.plan.ownership import History
from homeport.installer.plan.request import InstallRequest
from homeport.installer.plan.rows import ClientPlan


class Choices(NamedTuple):
    """The options of one `install` that are not about showing it."""

    level: Level
    config: str | None
    via: Literal["file", "cli"] | None
    replace: bool
    keep_shadows: bool
    if_installed: bool
    portable: bool
    force: bool


@click.command()
@click.argument("target", required=False)
@options.clients
@options.level
@click.option("--name", help="The server's name; default `homeport` for the bundled server, required for any other.")
@click.option(
    "--env", "env", multiple=True, metavar="NAME[=VALUE]", help="Forward a variable by reference, or set one."
)
@click.option("--header", "headers", multiple=True, metavar="'K: V'", help="A header for a URL. Repeatable.")
@click.option(
    "--transport", type=click.Choice(["http", "sse"]), help="For a URL: streamable HTTP (default) or the old SSE."
)
@click.option("--cwd", metavar="DIR", help="The server's working folder, where the client has one.")
@click.option(
    "--from", "snippet", metavar="FILE", help="Servers from a pasted snippet, in any client's shape; - is stdin."
)
@click.option("--literal", is_flag=True, help="Take $NAME and ${NAME} in arguments as plain text, not as references.")
@click.option("--allow-secret", is_flag=True, help="Write a value that looks like a credential, at the user level.")
@click.option("--portable", is_flag=True, help="For a teammate's machine: `homeport` from PATH, no path of this one.")
@options.serve_flags
@options.config
@options.via
@options.replace
@click.option("--keep-shadows", is_flag=True, help="Report entries that hide ours, and remove none.")
@options.if_installed
@options.all_or_nothing
@options.force
@options.mode
@click.pass_obj
def install(
    invocation: Invocation,
    target: str | None,
    clients: tuple[str, ...],
    level: Level,
    name: str | None,
    env: tuple[str, ...],
    headers: tuple[str, ...],
    transport: str | None,
    cwd: str | None,
    snippet: str | None,
    literal: bool,
    allow_secret: bool,
    portable: bool,
    root: str | None,
    scope: str | None,
    mounts: tuple[str, ...],
    actor: str | None,
    toolsets: tuple[str, ...],
    history: Literal["own", "project", "all"] | None,
    config: str | None,
    via: Literal["file", "cli"] | None,
    replace: bool,
    keep_shadows: bool,
    if_installed: bool,
    all_or_nothing: bool,
    force: bool,
    write: bool,
    diff: bool,
    check: bool,
    as_json: bool,
) -> int:
    """Register a server with AI clients.

    Prints by default and changes nothing. With --write, every byte outside our entry stays, and `homeport undo` puts
    back what was changed. Without a target it is the bundled server that is registered; `-- COMMAND` is any server
    that is started, a URL one that runs already, --from a snippet pasted from a README.

    \b
    Examples:
      homeport install --client cursor
      homeport install --client all --write --via file
      homeport install --client codex --name github --env GITHUB_TOKEN -- npx -y server-github
      homeport install --client claude-code --name docs https://docs.example.com/mcp
      homeport install --client opencode --from snippet.json --level project --write
    """
    asked = Asked("install", clients, write, diff, check, as_json, if_installed, all_or_nothing, force, via)
    said = Target(target, invocation.command, snippet, name, env, headers, transport, cwd, literal, allow_secret)
    choices = Choices(level, config, via, replace, keep_shadows, if_installed, portable, force)
    flags = serve_line.Flags(root, scope, mounts, actor, toolsets, history)
    bundled = _bundled(said, flags, choices, invocation)
    found, notes = registrations(said, bundled, level)
    if bundled is not None and not portable:
        notes += _look_at_interpreter(bundled, invocation, write=write, force=force)
    return _go(asked, found, notes, choices, invocation)


def _bundled(said: Target, flags: serve_line.Flags, choices: Choices, invocation: Invocation) -> Stdio | None:
    if not said.is_bundled:
        if flags.given or choices.portable:
            raise usage_error("--root, --scope, --mount, --actor, --toolset and --portable go with the bundled server")
        return None
    environment, disk = invocation.environment, invocation.disk
    arguments = flags.canonical(environment, disk, level=choices.level, portable=choices.portable)
    return bundled_server(arguments, environment, disk, portable=choices.portable)


def _look_at_interpreter(bundled: Stdio, invocation: Invocation, *, write: bool, force: bool) -> tuple[str, ...]:
    """Printing says what is wrong with the interpreter; writing refuses.

    Raises HomeportError: interpreter_unstable.
    """
    unstable = unstable_interpreter(invocation.environment, invocation.disk)
    if not write:
        return () if unstable is None else (f"{unstable.message}; {unstable.hint}",)
    if unstable is not None and not force:
        raise unstable
    from homeport.installer.probe.interpreter import check_starts

    check_starts(bundled, invocation.environment)
    return ()


def _go(
    asked: Asked, found: tuple[Registration, ...], notes: tuple[str, ...], choices: Choices, invocation: Invocation
) -> int:
    environment = invocation.environment
    config = None if choices.config is None else _config_path(choices.config, environment)

    def plan(client: str, history: History, writes: bool, via: Literal["file", "cli"] | None) -> ClientPlan:
        request = InstallRequest(
            found,
            choices.level,
            config,
            via,
            choices.replace,
            choices.keep_shadows,
            writes,
            choices.if_installed or "all" in asked.clients,
        )
        return plan_install(client, request, environment, invocation.disk, history)

    clients = chosen_clients(asked, plan, environment)
    if config is not None and len(clients) != 1:
        raise usage_error("--config goes with one --client")
    return run(asked, clients, plan, environment, found, notes)


def _config_path(text: str, environment: Environment) -> PurePath:
    if not text:
        raise HomeportError("usage_error", "--config is empty", "name a file")
    return environment.path(environment.expanded(text))
