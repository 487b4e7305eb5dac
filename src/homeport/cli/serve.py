"""`homeport serve`: the bundled server."""

from __future__ import annotations

import gc
import os
import signal
import sys
from types import FrameType
from typing import Literal

import click

from homeport.cli import options, output
from homeport.cli.main import Invocation
from homeport.environment import Environment
from homeport.server.start import Start, not_in_this_version, parse_start


@click.command()
@options.serve_flags
@click.option("--stdio", is_flag=True, help="Speak MCP on stdin and stdout. The default, and all there is yet.")
@click.option("--http", metavar="HOST:PORT", help="Not in this version.")
@click.option("--url", metavar="URL", help="Not in this version.")
@click.option("--records", metavar="global|project|local", help="Not in this version.")
@click.option("--handles", metavar="URL", help="Not in this version.")
@click.option("--allow-candidate-writes", is_flag=True, help="Not in this version.")
@click.option("--allow-writes", is_flag=True, help="Not in this version.")
@click.pass_obj
def serve(
    invocation: Invocation,
    /,
    root: str | None,
    scope: str | None,
    mounts: tuple[str, ...],
    actor: str | None,
    toolsets: tuple[str, ...],
    history: Literal["own", "project", "all"] | None,
    stdio: bool,
    **coming: str | bool | None,
) -> None:
    """Run the bundled MCP server on stdin and stdout: memory, skills and history that any client can reach.

    A client starts it; `homeport install` tells the clients how. It keeps them under ~/.homeport (or --root, or
    $HOMEPORT_HOME) and ends when its stdin does. Without --scope or --mount it serves your own memory at /user and,
    inside a project, the project's at /project.

    \b
    Examples:
      homeport serve
      homeport serve --scope user:ann
      homeport serve --mount scope=user:ann,path=me --mount scope=team:web,path=team,ro
    """
    for name, value in coming.items():
        if value:
            raise not_in_this_version(
                f"--{name.replace('_', '-')}", "this version serves memory, skills and history over stdio"
            )
    environment = invocation.environment
    if environment.variable("HOMEPORT_POSTGRES_DSN"):
        raise not_in_this_version("HOMEPORT_POSTGRES_DSN", "unset it to keep documents in the home")
    start = parse_start(
        environment, root=root, scope=scope, mounts=mounts, actor=actor, toolsets=toolsets, history=history
    )
    run(environment, start)


def run(environment: Environment, start: Start) -> None:
    """Serve on this process's stdin and stdout until the client is gone. Raises HomeportError: home_unusable."""
    # Before the SDK loads, which takes most of the start: nothing is in hand yet that an early end could lose.
    _end_on_signals()
    _name_files_in_utf8()
    gc.enable()
    from homeport.server.transport.channel import claim_channel

    if output.is_terminal():
        output.guidance("Speaking MCP here, which a client does and people seldom; Ctrl-D ends it.")
    channel = claim_channel()
    from homeport.server.transport.bundled import bundled_server
    from homeport.server.transport.stdio import serve_stdio

    bundled = bundled_server(environment, start)
    try:
        serve_stdio(bundled.server, channel)
    finally:
        bundled.close()
        # The event loop put the handlers back that were there before ours.
        _end_on_signals()
        # The interpreter's last search for garbage would take a quarter of a second, and the memory goes anyway.
        gc.freeze()


def _name_files_in_utf8() -> None:
    """Start again in UTF-8 mode where the locale would spell files' names otherwise: another client's server must find
    the documents. Nothing was read from stdin yet, and the process stays the same one."""
    if sys.getfilesystemencoding() != "utf-8":
        os.execv(sys.executable, [sys.orig_argv[0], "-X", "utf8", *sys.orig_argv[1:]])


def _end_on_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end_at_once)


def _end_at_once(number: int, frame: FrameType | None) -> None:
    os._exit(0)
