"""Made machines: an environment of any platform, and a disk that is a mapping."""

from __future__ import annotations

import ntpath
import posixpath
from collections.abc import Mapping
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Any, Final, Literal, NamedTuple

from homeport.disk import Disk
from homeport.environment import Environment, Platform
from homeport.errors import HomeportError
from homeport.installer.clients.client import Client
from homeport.installer.clients.values import Gate, Json, Level, Place
from homeport.installer.plan.files_view import FilesView

PLATFORMS: Final[tuple[Platform, ...]] = ("linux", "darwin", "win32")


def make_environment(platform: Platform = "linux", **changes: Any) -> Environment:
    """Nora's machine: she works in code/app below her home, and Homeport was installed for good.

    changes: fields of Environment. `home`, `cwd`, `python`, `program` and `state` may be given as strings; a relative
    one is taken from the home. No variable is set, PATH has no program.
    """
    home = _MADE_HOMES[platform]
    scripts = "Scripts/python.exe" if platform == "win32" else "bin/python"
    fields: dict[str, Any] = {
        "home": home,
        "cwd": "code/app",
        "variables": {},
        "login": "nora",
        "python": f"tools/homeport/{scripts}",
        "state": _STATES[platform],
        "user_id": None if platform == "win32" else 1000,
        **changes,
    }
    for name in ("home", "cwd", "python", "state", "program"):
        if isinstance(fields.get(name), str):
            fields[name] = fields["home"] / fields[name] if name != "home" else type(home)(fields["home"])
    return Environment(platform=platform, **fields)


_MADE_HOMES: Final[Mapping[Platform, PurePath]] = {
    "linux": PurePosixPath("/home/nora"),
    "darwin": PurePosixPath("/Users/nora"),
    "win32": PureWindowsPath(r"C:\Users\nora"),
}
_STATES: Final[Mapping[Platform, str]] = {
    "linux": ".local/state/homeport",
    "darwin": "Library/Application Support/homeport",
    "win32": "AppData/Local/homeport",
}


class LinkTo(NamedTuple):
    """A symbolic link; a relative target is taken from the link's folder."""

    target: str


class Program(NamedTuple):
    """A file that can be run."""

    content: bytes = b"\x7fELF"


FOLDER: Final[Literal["a folder"]] = "a folder"
UNREADABLE: Final[Literal["no permission"]] = "no permission"
Thing = bytes | Program | LinkTo | Literal["a folder", "no permission"]


class MadeDisk(Disk):
    """A disk that is a mapping. Folders above what is named are there too.

    things: path -> a file's bytes, FOLDER, Program, LinkTo, or UNREADABLE. `~/` stands for the environment's home;
    a relative path is taken from its working folder.
    modified, tracked: what the reader answers for these paths; else 0.0 and False.
    """

    def __init__(
        self,
        environment: Environment,
        things: Mapping[str, Thing] | None = None,
        *,
        modified: Mapping[str, float] | None = None,
        tracked: tuple[str, ...] = (),
    ) -> None:
        self._environment = environment
        self.things = {self._path(path): thing for path, thing in (things or {}).items()}
        self._modified = {self._path(path): when for path, when in (modified or {}).items()}
        self._tracked = {self._path(path) for path in tracked}

    def _path(self, text: str) -> PurePath:
        path = self._environment.path(self._environment.expanded(text))
        flavour = ntpath if self._environment.platform == "win32" else posixpath
        return type(path)(flavour.normpath(str(path)))

    def _thing(self, path: PurePath) -> Thing | None:
        real = self.real(path)
        thing = self.things.get(real)
        if thing is None and any(real in other.parents for other in self.things):
            return FOLDER
        return None if isinstance(thing, LinkTo) else thing

    def read(self, path: PurePath) -> bytes | None:
        match self._thing(path):
            case None:
                return None
            case bytes(content) | Program(content):
                return content
            case "a folder":
                raise HomeportError("unreadable_file", f"{path} is a folder", details={"file": str(path)})
        raise HomeportError("unreadable_file", f"{path} cannot be read: Permission denied", details={"file": str(path)})

    def is_file(self, path: PurePath) -> bool:
        return self._thing(path) not in (None, FOLDER)

    def is_folder(self, path: PurePath) -> bool:
        return self._thing(path) == FOLDER

    def names(self, path: PurePath) -> tuple[str, ...]:
        real = self.real(path)
        depth = len(real.parts)
        return tuple(sorted({other.parts[depth] for other in self.things if real in other.parents}))

    def real(self, path: PurePath) -> PurePath:
        """Links resolved, also in the middle of a path; a loop gives the path itself."""
        resolved, rest, steps = type(path)(path.parts[0]), list(path.parts[1:]), 0
        while rest:
            part = rest.pop(0)
            resolved = resolved.parent if part == ".." else resolved / part
            thing = self.things.get(resolved)
            if isinstance(thing, LinkTo):
                target = resolved.parent / thing.target
                resolved, rest = type(path)(target.parts[0]), [*target.parts[1:], *rest]
                steps += 1
            if steps > 40:
                return path
        return resolved

    def runnable(self, path: PurePath) -> bool:
        return isinstance(self._thing(path), Program)

    def modified(self, path: PurePath) -> float:
        return self._modified.get(path, 0.0)

    def tracked(self, path: PurePath) -> bool:
        return path in self._tracked


class Machine(NamedTuple):
    """What a client's facts are asked with. Paths are answered as strings, below the home as `~/...`."""

    environment: Environment
    disk: MadeDisk
    view: FilesView

    def target(self, client: Client, level: Level = "user") -> Place:
        return client.target(level, self.environment, self.disk, self.view)

    def file(self, client: Client, level: Level = "user") -> str:
        return self.short(self.target(client, level).file)

    def layers(self, client: Client) -> list[tuple[str, str]]:
        """Level and file of every place, weakest first."""
        return [
            (place.level, self.short(place.file)) for place in client.layers(self.environment, self.disk, self.view)
        ]

    def gates(self, client: Client, place: Place, entry: Json = None, name: str = "rota") -> tuple[Gate, ...]:
        return client.gates(name, entry, place, self.environment, self.disk, self.view)

    def short(self, path: PurePath) -> str:
        text = str(path).replace("\\", "/")
        home = str(self.environment.home).replace("\\", "/")
        return "~" + text.removeprefix(home) if text == home or text.startswith(home + "/") else text


def make_machine(platform: Platform = "linux", things: Mapping[str, Thing] | None = None, **changes: Any) -> Machine:
    """make_environment and MadeDisk together."""
    environment = make_environment(platform, **changes)
    disk = MadeDisk(environment, things)
    return Machine(environment, disk, FilesView(disk))
