"""`homeport uninstall`."""

from __future__ import annotations

from typing import Literal

import click

from homeport.cli import options
from homeport.cli.main import Invocation, usage_error
from homeport.cli.run import MCP_JSON, Asked, chosen_clients, run
from homeport.cli.target import DEFAULT_NAME
from homeport.installer.clients.values import Level
from homeport.installer.plan.ownership import History
from homeport.installer.plan.request import UninstallRequest
from homeport.installer.plan.rows import ClientPlan
from homeport.installer.plan.uninstall import plan_uninstall


@click.command()
@click.argument("name", default=DEFAULT_NAME)
@options.clients
@click.option(
    "--level",
    type=click.Choice(["user", "project", "all"]),
    default="user",
    show_default=True,
    help="Which of the client's files; `all` is every one read in this folder.",
)
@options.config
@options.via
@click.option("--replace", is_flag=True, help="Take out an entry of this name that runs something else, too.")
@options.if_installed
@options.all_or_nothing
@options.force
@options.mode
@click.pass_obj
def uninstall(
    invocation: Invocation,
    name: str,
    clients: tuple[str, ...],
    level: Literal["user", "project", "all"],
    config: str | None,
    via: Literal["file", "cli"] | None,
    replace: bool,
    if_installed: bool,
    all_or_nothing: bool,
    force: bool,
    write: bool,
    diff: bool,
    check: bool,
    as_json: bool,
) -> int:
    """Take a registration out again, ours only: NAME defaults to `homeport`.

    Prints by default and changes nothing. A file is left as it was before `install`, byte for byte where nobody else
    changed it. An entry that runs something else is refused; --replace takes it out all the same.

    \b
    Examples:
      homeport uninstall --client all --level all
      homeport uninstall github --client codex --write --via file
    """
    environment = invocation.environment
    if invocation.command is not None:
        raise usage_error("uninstall takes a server's name, and nothing behind --")
    asked = Asked("uninstall", clients, write, diff, check, as_json, if_installed, all_or_nothing, force, via)
    file = None if config is None else environment.path(environment.expanded(config))
    levels: tuple[Level, ...] = ("user",) if level == "user" else ("project",)

    def plan(client: str, history: History, writes: bool, via: Literal["file", "cli"] | None) -> ClientPlan:
        skips = if_installed or "all" in clients
        request = UninstallRequest(name, levels, level == "all", file, via, replace, writes, skips)
        return plan_uninstall(client, request, environment, invocation.disk, history)

    chosen = chosen_clients(asked, plan, environment)
    if MCP_JSON in chosen:
        raise usage_error(f"--client {MCP_JSON} has no file to take anything out of")
    if file is not None and len(chosen) != 1:
        raise usage_error("--config goes with one --client")
    return run(asked, chosen, plan, environment, ())
