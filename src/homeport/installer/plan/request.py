"""What a person asked for, after the command line is understood and before anything is looked at."""

from __future__ import annotations

from pathlib import PurePath
from typing import Literal, NamedTuple

from homeport.installer.clients.values import Level, Registration

Via = Literal["file", "cli"]


class InstallRequest(NamedTuple):
    """registrations: at least one. config: this file instead of the client's own place. via: for a file that the
    client's own program writes. unstable: the bundled server's interpreter may be gone tomorrow, and why.
    """

    registrations: tuple[Registration, ...]
    level: Level = "user"
    config: PurePath | None = None
    via: Via | None = None
    replace: bool = False
    keep_shadows: bool = False
    writes: bool = False
    refused_skips: bool = False
    """A client that is not installed is skipped, not refused."""


class UninstallRequest(NamedTuple):
    """name: any name, also one that no new registration may have."""

    name: str
    levels: tuple[Level, ...] = ("user",)
    every_level: bool = False
    config: PurePath | None = None
    via: Via | None = None
    replace: bool = False
    writes: bool = False
    refused_skips: bool = False
