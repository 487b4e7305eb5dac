"""What `homeport serve` is told on its command line: checked, and spelled the one way that a config file gets.

Light on purpose: `homeport install` asks this module, and must not load what a server needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Final, NamedTuple

from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.server.state.history.reach import Reach
from homeport.server.state.home import home_path
from homeport.server.state.mounts import Mount, parse_mounts
from homeport.server.state.scopes import parse_actor

TOOLSETS: Final = ("memory", "skills", "history")
"""Those that this version serves, in the order in which their tools are listed."""

_COMING: Final = ("records", "handles")


class Start(NamedTuple):
    """home: absolute. mounts: empty for the layout of the working folder. actor: None for the connected client.
    history: whose conversations are shown."""

    home: PurePath
    mounts: tuple[Mount, ...]
    actor: str | None
    toolsets: tuple[str, ...]
    history: Reach = "own"


def parse_start(
    environment: Environment,
    *,
    root: str | None = None,
    scope: str | None = None,
    mounts: Sequence[str] = (),
    actor: str | None = None,
    toolsets: Sequence[str] = (),
    history: Reach | None = None,
) -> Start:
    """Read the flags. Nothing is looked up on the disk and nothing is made.

    Raises HomeportError: bad_scope, usage_error, not_in_this_version (exit 2); home_unusable.
    """
    return Start(
        home_path(environment, root),
        parse_mounts(scope, mounts),
        parse_actor(actor) if actor is not None else None,
        _parse_toolsets(toolsets) or TOOLSETS,
        history or "own",
    )


def canonical_serve_arguments(
    environment: Environment,
    *,
    root: str | None = None,
    scope: str | None = None,
    mounts: Sequence[str] = (),
    actor: str | None = None,
    toolsets: Sequence[str] = (),
    history: Reach | None = None,
) -> tuple[str, ...]:
    """The words behind `serve` for a registration: the root absolute, each mount and toolset in its one spelling.

    What was not given is left out. Raises what parse_start raises.
    """
    start = parse_start(environment, root=root, scope=scope, mounts=mounts, actor=actor, toolsets=toolsets)
    words: list[str] = []
    if root:
        words += ["--root", str(start.home)]
    if scope is not None:
        words += ["--scope", scope]
    for mount in () if scope is not None else start.mounts:
        words += ["--mount", mount.canonical]
    if start.actor is not None:
        words += ["--actor", start.actor]
    for toolset in _parse_toolsets(toolsets):
        words += ["--toolset", toolset]
    if history is not None:
        words += ["--history", history]
    return tuple(words)


def not_in_this_version(what: str, hint: str) -> HomeportError:
    return HomeportError("not_in_this_version", f"{what} is not in this version of Homeport", hint, {"option": what})


def _parse_toolsets(names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if name in _COMING:
            raise not_in_this_version(f"--toolset {name}", f"this version serves {', '.join(TOOLSETS)}")
        if name not in TOOLSETS:
            raise HomeportError(
                "usage_error", f"there is no toolset {name!r}", f"choose of {', '.join(TOOLSETS)}", {"toolset": name}
            )
    return tuple(name for name in TOOLSETS if name in names)
