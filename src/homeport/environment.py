"""The snapshot of the machine that everything else takes: the only module that asks who and where it is."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath
from typing import Literal, NamedTuple

from homeport.errors import HomeportError

Platform = Literal["linux", "darwin", "win32"]


def _no_program(name: str) -> PurePath | None:
    return None


def _no_shell() -> str | None:
    return None


class Environment(NamedTuple):
    """Platform, folders, variables and look-ups, frozen at one moment.

    The flavour of `home` is the flavour of every path made from it, so a test on one system can hold another
    system's paths. python: the interpreter that runs Homeport, not resolved (a venv's own link).
    program: the path of the `homeport` program that was started, or None when a module was run.
    state: where journal and locks lie. user_id: the effective user, None on Windows.
    search: a bare command's path by PATH, or None. shell: the program name of the shell we were started from, looked
    for when it is asked, or None.
    """

    platform: Platform
    home: PurePath
    cwd: PurePath
    variables: Mapping[str, str]
    login: str
    python: PurePath
    state: PurePath
    program: PurePath | None = None
    python_prefix: PurePath | None = None
    user_id: int | None = None
    search: Callable[[str], PurePath | None] = _no_program
    shell: Callable[[], str | None] = _no_shell

    @classmethod
    def current(cls) -> Environment:
        """Look once at the real machine.

        Raises HomeportError: home_unusable, where no home folder can be named or the working folder is gone.
        """
        variables = dict(os.environ)
        home = _home()
        return cls(
            platform=_platform(),
            home=home,
            cwd=_working_folder(),
            variables=variables,
            login=_login(variables),
            python=Path(sys.executable),
            state=_state_folder(variables, home),
            program=_program(),
            python_prefix=Path(sys.prefix),
            user_id=os.geteuid() if hasattr(os, "geteuid") else None,
            search=_search(variables.get("PATH")),
            shell=_shell,
        )

    def path(self, text: str) -> PurePath:
        """A path of this environment's flavour; a relative one is taken from `cwd`."""
        return self.cwd / text

    def variable(self, name: str) -> str | None:
        """A variable's value; an empty one counts as unset, as in every client measured."""
        return self.variables.get(name) or None

    def expanded(self, text: str) -> str:
        """`~` and a leading `~/` (on Windows `~\\` too) made absolute; anything else as it is."""
        if text == "~":
            return str(self.home)
        if text.startswith("~/") or (self.platform == "win32" and text.startswith("~\\")):
            return str(self.home / text[2:])
        return text

    @property
    def in_wsl(self) -> bool:
        return self.platform == "linux" and bool(self.variable("WSL_DISTRO_NAME"))


def wants_tracebacks() -> bool:
    """Whether HOMEPORT_DEBUG is set. Asked where no snapshot could be taken, too."""
    return bool(os.environ.get("HOMEPORT_DEBUG"))


def _platform() -> Platform:
    if sys.platform == "win32":
        return "win32"
    return "darwin" if sys.platform == "darwin" else "linux"


def account_folder(user_id: int | None) -> Path | None:
    """The folder that the user database names for an account; None where it names none, and on Windows."""
    try:
        import pwd

        return Path(pwd.getpwuid(user_id or 0).pw_dir)
    except (ImportError, KeyError):
        return None


def _home() -> Path:
    """$HOME, or where it is unset the account's own folder from the user database."""
    try:
        home = Path.home()
    except (RuntimeError, KeyError) as error:
        raise HomeportError(
            "home_unusable", "HOME is not set and this account has no home folder", "set HOME to your home folder"
        ) from error
    if not home.is_absolute():
        raise HomeportError("home_unusable", f"HOME is not an absolute path: {home}", "set HOME to your home folder")
    return home


def _working_folder() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise HomeportError(
            "home_unusable", "the working folder no longer exists", "change to a folder that exists and run it again"
        ) from error


def _login(variables: Mapping[str, str]) -> str:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        if variables.get(name):
            return variables[name]
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        return "user"


def _state_folder(variables: Mapping[str, str], home: Path) -> Path:
    """platformdirs' user_state_path("homeport"); on Linux, where that rule is one line, without its import (12 ms)."""
    if _platform() == "linux":
        base = variables.get("XDG_STATE_HOME", "")
        return (Path(base) if base.startswith("/") else home / ".local" / "state") / "homeport"
    import platformdirs

    return platformdirs.user_state_path("homeport", appauthor=False)


def _program() -> Path | None:
    """The path of a `homeport` script that was started; None for `python -m homeport`."""
    started = Path(sys.argv[0]) if sys.argv and sys.argv[0] else None
    if started is None or started.name not in ("homeport", "homeport.exe"):
        return None
    return started if started.is_absolute() else Path.cwd() / started


def _search(path: str | None) -> Callable[[str], PurePath | None]:
    def search(name: str) -> PurePath | None:
        import shutil

        found = shutil.which(name, path=path or os.defpath)
        return Path(os.path.abspath(found)) if found else None

    return search


def _shell() -> str | None:
    import shellingham

    try:
        return str(shellingham.detect_shell()[0])
    except (shellingham.ShellDetectionFailure, OSError):
        return None
