"""The seam: what a module in this folder must have to be a client."""

from __future__ import annotations

from pathlib import PurePath
from typing import Protocol

from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.installer.clients.values import (
    Dialect,
    Entry,
    Gate,
    Json,
    Level,
    Look,
    Place,
    Reader,
    Server,
)


class Client(Protocol):
    """A module of facts about one client. It looks through the reader it is given and writes nothing.

    LABEL: its name for people. DIALECT: of its user file. IS_GUI: started without a shell's PATH. READS_BOM: a byte
    order mark does not make it ignore the file. MERGES_LEVELS: entries of one name are merged key by key, else the
    nearest is taken whole. CLEARS_ENVIRONMENT: a server gets only what its entry names. HOLDS_REFERENCES: an entry
    can name a variable without its value. ADD_REPLACES: its own `add` takes over a name that is there, else the name
    has to be removed first. PROCESS_NAMES: programs whose running means that the client may write its copy of the
    file back. REWRITES: what the client itself drops from or adds to an entry, which is therefore no drift.
    CLASHING_KEYS: keys that may not stand in one entry.
    """

    LABEL: str
    DIALECT: Dialect
    IS_GUI: bool
    READS_BOM: bool
    MERGES_LEVELS: bool
    CLEARS_ENVIRONMENT: bool
    HOLDS_REFERENCES: bool
    ADD_REPLACES: bool
    PROCESS_NAMES: frozenset[str]
    REWRITES: frozenset[str]
    CLASHING_KEYS: tuple[frozenset[str], ...]

    def home(self, environment: Environment) -> PurePath:
        """The folder whose existence says that the client is installed."""
        ...

    def is_installed(self, environment: Environment, reader: Reader) -> bool: ...

    def target(self, level: Level, environment: Environment, reader: Reader, look: Look) -> Place:
        """Where a registration at `level` goes. Raises HomeportError: level_unsupported, ambiguous_config, ..."""
        ...

    def layers(self, environment: Environment, reader: Reader, look: Look) -> tuple[Place, ...]:
        """Every place the client reads in this folder, weakest first."""
        ...

    def entry(self, server: Server, place: Place) -> Entry:
        """Spell a server. Raises HomeportError: reference_unsupported, transport_unsupported, field_unsupported."""
        ...

    def server(self, entry: Json) -> Server | None:
        """What an entry runs, or None where it is not an entry this client would start."""
        ...

    def name_problem(self, name: str) -> str | None:
        """The client's own rule that a name breaks, in words."""
        ...

    def file_problem(self, place: Place, reader: Reader, look: Look) -> HomeportError | None:
        """What makes the client refuse the whole file, though its syntax is right."""
        ...

    def gates(
        self, name: str, entry: Json, place: Place, environment: Environment, reader: Reader, look: Look
    ) -> tuple[Gate, ...]:
        """What keeps the entry at `place` from being live."""
        ...

    def next_steps(self, name: str, place: Place) -> tuple[str, ...]:
        """What a person does after the entry is there: restart, approve, trust."""
        ...

    def apply_command(self, name: str, server: Server) -> list[str] | None:
        """The argument list by which the client's own program adds this server at the user level, where it has one."""
        ...

    def remove_command(self, name: str) -> list[str] | None: ...
