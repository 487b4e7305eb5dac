"""Whose conversations a server may see."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, get_args

Reach = Literal["own", "project", "all"]
REACHES: Final = get_args(Reach)


class Viewer(NamedTuple):
    """own: every conversation of `user`, whichever project or client recorded it. project: those of `user` in
    `project`, or with none those that no project was named for. all: every one in the home."""

    reach: Reach
    user: str
    project: str | None

    @property
    def condition(self) -> tuple[str, tuple[str | None, ...]]:
        """What is to hold of a row of `conversations c`, in SQL, and its values."""
        if self.reach == "all":
            return "1", ()
        if self.reach == "own":
            return "c.user = ?", (self.user,)
        return "c.user = ? AND c.project IS ?", (self.user, self.project)


def user_of(scope: str) -> str:
    """Whose conversations go with a scope: `user:ann` for `user:ann/proj:site`."""
    return scope.partition("/")[0]
