"""The home: the folder that holds the local state of one person."""

from __future__ import annotations

import os
from pathlib import Path, PurePath
from typing import NamedTuple

from homeport import files
from homeport.environment import Environment, account_folder
from homeport.errors import HomeportError


class Home(NamedTuple):
    """Where under the home each kind of state lies. path: real, behind every link."""

    path: Path

    @property
    def memory(self) -> Path:
        return self.path / "memory"

    @property
    def locks(self) -> Path:
        return self.path / "locks"

    @property
    def projects(self) -> Path:
        return self.path / "projects"

    @property
    def versions(self) -> Path:
        return self.path / "versions.db"

    @property
    def history(self) -> Path:
        return self.path / "history.db"

    @property
    def catalogue(self) -> Path:
        return self.path / "index.db"


def home_path(environment: Environment, root: str | None = None) -> PurePath:
    """`root`, else $HOMEPORT_HOME, else ~/.homeport; always absolute. Nothing is made.

    Some clients start servers with HOME unset or `/`; the account's own folder counts then.

    Raises HomeportError: home_unusable, where the account has no folder but `/`.
    """
    chosen = root or environment.variable("HOMEPORT_HOME")
    if chosen:
        return environment.path(environment.expanded(chosen))
    home = environment.home
    if home == home.parent:
        home = _account_folder(environment)
    return home / ".homeport"


def _account_folder(environment: Environment) -> PurePath:
    folder = account_folder(environment.user_id)
    if folder is None or not folder.is_absolute() or folder == folder.parent:
        raise HomeportError(
            "home_unusable",
            f"HOME is {environment.home} and this account has no folder of its own",
            "set HOMEPORT_HOME, or give --root, to a folder that state may be kept in",
        )
    return folder


def open_home(path: Path) -> Home:
    """Make the home's folders, 0700, where they are missing, and give the home by its real path.

    Raises HomeportError: home_unusable (not a folder, or it cannot be made).
    """
    home = Home(Path(os.path.realpath(path)))
    try:
        for folder in (home.path, home.memory, home.locks, home.projects):
            files.make_folder(folder)
            if not folder.is_dir():
                raise HomeportError("home_unusable", f"{folder} is not a folder")
    except HomeportError as error:
        raise HomeportError(
            "home_unusable",
            f"the home {path} cannot be used: {error.message}",
            "give another folder with --root or HOMEPORT_HOME",
            {"home": str(path)},
        ) from error
    return home
