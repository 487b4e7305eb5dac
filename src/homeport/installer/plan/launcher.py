"""The command of the bundled server: one that will still be there tomorrow."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Final

from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.installer.clients.references import plain_text
from homeport.installer.clients.values import Reader, Stdio
from homeport.version import VERSION

_VERSION: Final = r"v?\d+(?:\.\d+)+\S*"
_RUNNER_CACHE: Final = (
    r"/uv/(?:cache/)?(?:archive|environments|builds)-v\d+/|/\.cache/uv/"
    r"|/pipx/\.?[Cc]ache/|/\.cache/pipx/|/Caches/pipx/"  # platformdirs' names on each system
)
_LASTING_NAMES: Final = ("current", "latest", "stable", "default")


def bundled_server(arguments: tuple[str, ...], environment: Environment, reader: Reader, *, portable: bool) -> Stdio:
    """What starts `homeport serve` with `arguments`, canonical already.

    portable: `homeport` from PATH, for a line that travels to a teammate's machine.
    Raises HomeportError: interpreter_unstable, where nothing that lasts can be named.
    """
    return _stdio(_portable() if portable else _command(environment, reader), arguments)


def unstable_interpreter(environment: Environment, reader: Reader) -> HomeportError | None:
    """Why the interpreter that bundled_server writes may be gone tomorrow; None when it lasts."""
    python = _slashes(environment.python)
    better = "install it for good (`uv tool install homeport`, `pipx install homeport`, or a venv in your home)"
    if any(_is_under(python, _slashes(folder)) for folder in _temporary_folders(environment)):
        return _unstable(f"{environment.python} lies in a temporary folder", better + ", or go on with --force")
    if "/WindowsApps/" in python:
        return _unstable(
            f"{environment.python} is a Store Python, which sees redirected folders that clients do not see",
            "install Python from python.org or with `uv python install`, and Homeport into it",
        )
    return None


def _command(environment: Environment, reader: Reader) -> tuple[str, ...]:
    if _in_runner_cache(environment.python):
        return _outside_the_cache(environment, reader)
    return (str(_lasting_link(environment.python, reader)), "-m", "homeport")


def _portable() -> tuple[str, ...]:
    return ("homeport",)


def _stdio(command: tuple[str, ...], arguments: tuple[str, ...]) -> Stdio:
    words = (*command[1:], "serve", *arguments)
    return Stdio(plain_text(command[0]), tuple(plain_text(word) for word in words))


def _in_runner_cache(path: PurePath) -> bool:
    text = _slashes(path)
    return ("/uv/" in text or "pipx/" in text) and bool(re.search(_RUNNER_CACHE, text))


def _outside_the_cache(environment: Environment, reader: Reader) -> tuple[str, ...]:
    """Run by `uvx` or `pipx run`: an installed `homeport` if there is one, else the runner with the package pinned."""
    installed = find_on_path("homeport", environment, reader)
    if installed is not None:
        return (str(installed),)
    package = f"homeport=={VERSION}"
    uvx = find_on_path("uvx", environment, reader)
    if uvx is not None:
        return (str(uvx), package)
    pipx = find_on_path("pipx", environment, reader)
    if pipx is not None:
        return (str(pipx), "run", package)
    raise _unstable(
        f"{environment.python} lies in a tool runner's cache, which is cleaned now and then",
        "install Homeport for good: `uv tool install homeport` or `pipx install homeport`",
    )


def find_on_path(name: str, environment: Environment, reader: Reader) -> PurePath | None:
    """The first program of that name on PATH that does not lie in a runner's cache or a temporary folder."""
    separator, endings = (";", (".exe", ".cmd", ".bat")) if environment.platform == "win32" else (":", ("",))
    passing = [_slashes(folder) for folder in _temporary_folders(environment)]
    for folder in (environment.variable("PATH") or "").split(separator):
        for ending in endings:
            path = environment.path(folder) / (name + ending)
            if not folder or not reader.runnable(path):
                continue
            if not _in_runner_cache(path) and not any(_is_under(_slashes(path), temporary) for temporary in passing):
                return path
    return None


def _lasting_link(path: PurePath, reader: Reader) -> PurePath:
    """The same file through a link that an upgrade moves along: Homebrew's opt/, or a name beside the version."""
    parts = path.parts
    for index, part in enumerate(parts):
        if not re.fullmatch(_VERSION, part) or index < 2:
            continue
        rest = parts[index + 1 :]
        if parts[index - 2] == "Cellar":
            opt = type(path)(*parts[: index - 2], "opt", parts[index - 1], *rest)
            if reader.runnable(opt):
                return opt
        folder = type(path)(*parts[:index])
        for name in _LASTING_NAMES:
            link = folder / name
            if reader.is_folder(link) and reader.real(link) == reader.real(folder / part):
                return link.joinpath(*rest)
    return path


def _temporary_folders(environment: Environment) -> tuple[PurePath, ...]:
    given = [environment.variable(name) for name in ("TMPDIR", "TEMP", "TMP")]
    usual = () if environment.platform == "win32" else ("/tmp", "/var/tmp", "/private/tmp", "/private/var/folders")
    return tuple(type(environment.home)(folder) for folder in (*given, *usual) if folder)


def _is_under(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def _slashes(path: PurePath) -> str:
    return str(path).replace("\\", "/")


def _unstable(message: str, hint: str) -> HomeportError:
    return HomeportError("interpreter_unstable", message, hint)
