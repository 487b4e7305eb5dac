"""The bundled server's own flags, in the one form that is written into a client's file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from homeport.disk import Disk
from homeport.environment import Environment

if TYPE_CHECKING:
    from homeport.server.state.history.reach import Reach


class Flags(NamedTuple):
    """As given on the command line. See options.serve_flags."""

    root: str | None
    scope: str | None
    mounts: tuple[str, ...]
    actor: str | None
    toolsets: tuple[str, ...]
    history: Reach | None

    @property
    def given(self) -> bool:
        return bool(self.root or self.scope or self.mounts or self.actor or self.toolsets or self.history)

    def canonical(self, environment: Environment, disk: Disk, *, level: str, portable: bool) -> tuple[str, ...]:
        """The arguments behind `serve`. At the project level the folder's layout is spelled out, unless the line is to
        travel: then the server derives it where it starts.

        Raises HomeportError: bad_scope, usage_error, not_in_this_version.
        """
        if not self.given and level == "user":
            return ()
        from homeport.server.start import canonical_serve_arguments
        from homeport.server.state.projects import project_layout

        mounts = self.mounts
        if level == "project" and not portable and not mounts and self.scope is None:
            mounts = tuple(mount.canonical for mount in project_layout(environment, self.root, disk))
        return canonical_serve_arguments(
            environment,
            root=self.root,
            scope=self.scope,
            mounts=mounts,
            actor=self.actor,
            toolsets=self.toolsets,
            history=self.history,
        )
