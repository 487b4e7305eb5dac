"""Mounts: a scope served under a path, read-write, read-only or edit-only."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from homeport.errors import HomeportError
from homeport.server.state.paths import segment_trouble
from homeport.server.state.scopes import parse_scope

Access = Literal["rw", "ro", "eo"]
SCOPE_MOUNT: Final = "memory"
"""Where `--scope` alone is mounted."""

_FLAGS: Final[dict[str, Access]] = {"ro": "ro", "eo": "eo"}
_PATH: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class Mount(NamedTuple):
    """`scope` under `/path`. access: rw; ro, view only; eo, change existing documents only."""

    scope: str
    path: str
    access: Access = "rw"

    @property
    def canonical(self) -> str:
        """The one spelling that `--mount` is written in."""
        flag = "" if self.access == "rw" else f",{self.access}"
        return f"scope={self.scope},path={self.path}{flag}"


def parse_mount(text: str) -> Mount:
    """Read `scope=S,path=P`, with `ro` or `eo` behind. The parts may come in any order, a path with its slash.

    Raises HomeportError: bad_scope.
    """
    values: dict[str, str] = {}
    access: Access = "rw"
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if part in _FLAGS and access == "rw":
            access = _FLAGS[part]
        elif equals and name in ("scope", "path") and name not in values:
            values[name] = value
        else:
            raise _bad_mount(text, f"{part!r} is unknown, or there twice")
    if set(values) != {"scope", "path"}:
        raise _bad_mount(text, "it needs both scope= and path=")
    path = values["path"].removeprefix("/")
    if not _PATH.fullmatch(path) or segment_trouble(path):
        raise _bad_mount(text, f"{values['path']!r} is not one name of letters, digits, '_', '-' and '.'")
    return Mount(parse_scope(values["scope"]), path, access)


def _bad_mount(text: str, why: str) -> HomeportError:
    return HomeportError(
        "bad_scope", f"--mount {text!r}: {why}", "write scope=S,path=P, then ,ro or ,eo if wanted", {"mount": text}
    )


def parse_mounts(scope: str | None, mounts: Iterable[str]) -> tuple[Mount, ...]:
    """The mounts that `--scope` or `--mount`, repeated, ask for; none where neither is given.

    Raises HomeportError: bad_scope (a path twice, case aside; a scope that breaks the grammar), usage_error (both).
    """
    parsed = tuple(map(parse_mount, mounts))
    if scope is not None and parsed:
        raise HomeportError("usage_error", "--scope and --mount do not go together", "name the scope in a --mount")
    if scope is not None:
        return (Mount(parse_scope(scope), SCOPE_MOUNT),)
    taken: dict[str, Mount] = {}
    for mount in parsed:
        if mount.path.casefold() in taken:
            raise HomeportError(
                "bad_scope", f"two mounts are at /{mount.path}", "give each --mount its own path", {"path": mount.path}
            )
        taken[mount.path.casefold()] = mount
    return parsed
