"""What an adapter takes and gives: registrations, the places a client reads, entries, gates.

Values are named tuples, here and in the plan: a frozen dataclass costs a millisecond to define, and a command that
prints would spend a third of its time on that.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, Protocol

Json = Any
KeyPath = tuple[str, ...]
Dialect = Literal["json", "jsonc", "toml"]
Level = Literal["user", "project"]
"""The levels a person can ask for."""

LEVELS: Final[tuple[Level, ...]] = ("user", "project")

LayerLevel = Literal["managed", "system", "user", "project", "local", "parent", "other-project"]
"""Where an entry can stand: the two above, Claude Code's local one, a parent folder's file, an administrator's, and
another project's record in the same file (never read in this folder; reported only)."""


class Reference(NamedTuple):
    """A variable that the client is to put in; default is used when it is unset, where the client has such a form."""

    name: str
    default: str | None = None


class Text(NamedTuple):
    """A string with references in it. Neighbouring plain parts are one part; an empty string has no part."""

    parts: tuple[str | Reference, ...]

    @property
    def plain(self) -> str | None:
        """The string where nothing in it is a reference, else None."""
        return None if self.references else "".join(part for part in self.parts if isinstance(part, str))

    @property
    def references(self) -> tuple[Reference, ...]:
        return tuple(part for part in self.parts if isinstance(part, Reference))

    def shown(self) -> str:
        """For a message: references as `${NAME}`."""
        return "".join(part if isinstance(part, str) else f"${{{part.name}}}" for part in self.parts)


class Stdio(NamedTuple):
    """A server that the client starts. env: name and value, in order; a value may be one reference to its own name."""

    command: Text
    args: tuple[Text, ...] = ()
    env: tuple[tuple[str, Text], ...] = ()
    cwd: str | None = None


class Remote(NamedTuple):
    """A server behind a URL."""

    url: Text
    headers: tuple[tuple[str, Text], ...] = ()
    transport: Literal["http", "sse"] = "http"


Server = Stdio | Remote


class Registration(NamedTuple):
    """A name and what it runs. bundled: it is our own server, judged ours by what an entry runs."""

    name: str
    server: Server
    bundled: bool = False


class Place(NamedTuple):
    """One container of entries in one file.

    beginning: top-level members that a new file starts with. owner: the client's own program, where that program
    writes the file. shared_with: labels of the other clients that read this very file.
    stale_containers: keys of the same file that hold entries this client does not read (any more, or never did).
    """

    level: LayerLevel
    file: PurePath
    container: KeyPath
    dialect: Dialect
    beginning: Mapping[str, Json] = MappingProxyType({})
    owner: str | None = None
    shared_with: tuple[str, ...] = ()
    stale_containers: tuple[KeyPath, ...] = ()
    lock_suffix: str | None = None
    """Added to the real file's name: the folder by which the client itself locks it."""
    notes: tuple[str, ...] = ()
    """What a person should know of how the place was found."""


class Entry(NamedTuple):
    """A registration as one client spells it. requires_env: variables that must be set where the client is started."""

    value: dict[str, Json]
    requires_env: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Gate(NamedTuple):
    """What keeps an entry from being live: `off` (a list or flag names it) or `waiting` (approval, trust)."""

    status: Literal["off", "waiting"]
    message: str
    next_step: str | None = None


class Reader(Protocol):
    """The only way from a client's facts or a plan to the disk. See files.Disk."""

    def read(self, path: PurePath) -> bytes | None: ...
    def is_file(self, path: PurePath) -> bool: ...
    def is_folder(self, path: PurePath) -> bool: ...
    def names(self, path: PurePath) -> tuple[str, ...]: ...
    def real(self, path: PurePath) -> PurePath: ...
    def runnable(self, path: PurePath) -> bool: ...
    def modified(self, path: PurePath) -> float: ...
    def tracked(self, path: PurePath) -> bool: ...


class Look(Protocol):
    """Values of files, as facts need them: lists of disabled names, trust levels, a field's presence."""

    def value(self, file: PurePath, dialect: Dialect, path: KeyPath) -> Json:
        """The value at `path`, or None where file or member is missing or cannot be read."""
        ...

    def keys(self, file: PurePath, dialect: Dialect, path: KeyPath) -> tuple[str, ...]:
        """The keys of the object at `path`, in file order; none where there is no such object."""
        ...
