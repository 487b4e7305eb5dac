"""The bundled server's own flags, in the one form that is written into a client's file."""

from __future__ import annotations

from typing import NamedTuple

from homeport.disk import Disk
from homeport.environment import Environment


class Flags(NamedTuple):
    """As given on the command line. See options.serve_flags."""

    root: str | None
    scope: str | None
    mounts: tuple[str, ...]
    actor: str | None
    toolsets: tuple[str, ...]

    @property
    def given(self) -> bool:
        return bool(self.root or self.scope or self.mounts or self.actor or self.toolsets)

    def canonical(self, environment: Environment, disk: Disk, *, level: str, portable: bool) -> tuple[str, ...]:
        """The arguments behind `serve`. At the project level the folder's layout is spelled out, unless the line is to
        travel: then the server derives it where it starts.

        Raises HomeportError: bad_scope.
        """
        if not self.given and level == "user":
            return ()
        from homeport.server.state.mounts import parse_mounts
        from homeport.server.state.projects import project_layout
        from homeport.server.state.scopes import parse_scope

        mounts = parse_mounts(self.scope, self.mounts)
        words: list[str] = []
        if self.root is not None:
            words += ["--root", str(environment.path(environment.expanded(self.root)))]
        if self.scope is not None:
            words += ["--scope", parse_scope(self.scope)]
        elif mounts or (level == "project" and not portable):
            for mount in mounts or project_layout(environment, self.root, disk):
                words += ["--mount", mount.canonical]
        if self.actor is not None:
            words += ["--actor", self.actor]
        for toolset in self.toolsets:
            words += ["--toolset", toolset]
        return tuple(words)
