"""Ours or foreign: judged by what an entry runs, never by its name alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import Final, NamedTuple

from homeport.installer.clients.values import Json, KeyPath, Registration, Remote, Server, Stdio
from homeport.installer.plan.splices import Splice

Identity = tuple[str, ...]
"""("stdio", command, *arguments) or ("remote", url): what an entry runs, without its variables."""


class Written(NamedTuple):
    """One change of ours that the journal holds. See apply.journal for what a record is.

    file: the real path. path: of the entry. entry: as we wrote it (None: we removed it). identity: what it runs.
    made: containers that were made for it. file_before: the file's whole bytes where it was missing (None) or held
    nothing but white space; `blank` says that this is so. digests: of the whole file. edits: what turned one into the
    other, empty where the client's own program did. paths_changed: how many entries of this file they touch.
    """

    file: str
    path: KeyPath
    entry: Json
    entry_before: Json
    identity: Identity | None
    made: tuple[KeyPath, ...]
    blank: bool
    file_before: bytes | None
    digest_before: str
    digest_after: str
    edits: tuple[Splice, ...]
    paths_changed: int = 1


class History(NamedTuple):
    """What the journal says we did, newest last, by real file."""

    by_file: Mapping[str, tuple[Written, ...]] = MappingProxyType({})

    def of(self, file: PurePath | str, path: KeyPath) -> tuple[Written, ...]:
        return tuple(change for change in self.by_file.get(str(file), ()) if change.path == path)

    def last(self, file: PurePath | str, path: KeyPath) -> Written | None:
        changes = self.of(file, path)
        return changes[-1] if changes else None

    def made(self, file: PurePath | str) -> frozenset[KeyPath]:
        """The containers of a file that exist because we made them."""
        return frozenset(container for change in self.by_file.get(str(file), ()) for container in change.made)


def identity(server: Server | None) -> Identity | None:
    if isinstance(server, Stdio):
        return ("stdio", server.command.shown(), *(text.shown() for text in server.args))
    if isinstance(server, Remote):
        return ("remote", server.url.shown())
    return None


def is_ours(
    server: Server | None, wanted: Registration | None, known: Written | None, spelled: Server | None = None
) -> bool:
    """Whether an entry that runs `server` may be changed without --replace.

    wanted: what is being registered, None when only taking out. known: our last change at that place.
    spelled: what the entry to be written runs, where that differs from `wanted` (a command made absolute, `cmd /c`).
    """
    runs = identity(server)
    if runs is None:
        return False
    if known is not None and known.entry is not None and runs == known.identity:
        return True
    if runs_homeport(server):
        # Our own program under another server's name is no licence to overwrite it with something else.
        return wanted is None or wanted.bundled
    return wanted is not None and not wanted.bundled and runs in (identity(wanted.server), identity(spelled))


def runs_homeport(server: Server | None) -> bool:
    """The `homeport` program or `python -m homeport`, also through uvx, pipx run, uv run, env, cmd /c, wsl.exe."""
    if not isinstance(server, Stdio):
        return False
    return _is_homeport([server.command.shown(), *(text.shown() for text in server.args)])


_PYTHON: Final = r"(?i)(?:python|pypy)(?:w|\d[\d.]*)?(?:\.exe)?|py(?:\.exe)?"
_REQUIREMENT: Final = r"homeport(?:\[[\w,-]+\])?(?:(?:==|~=|>=|<=|@|<|>)\S*)?"
# Options of these launchers that take a value, which is therefore not the program.
_WITH_VALUE: Final = frozenset(
    {
        "--from",
        "--spec",
        "--with",
        "--python",
        "-p",
        "--directory",
        "--project",
        "--index",
        "--env-file",
        "-d",
        "-u",
        "-C",
        "--cd",
        "--distribution",
        "--user",
    }
)


def _is_homeport(words: list[str]) -> bool:
    if not words:
        return False
    program, rest = _program_name(words[0]), words[1:]
    if program == "homeport":
        return True
    if re.fullmatch(_PYTHON, program):
        return _module(rest) == "homeport"
    match program:
        case "uvx":
            return _is_requirement(_positional(rest))
        case "pipx":
            return rest[:1] == ["run"] and _is_requirement(_positional(rest[1:]))
        case "uv":
            rest = _positional(rest)
            if rest[:2] == ["tool", "run"]:
                return _is_requirement(_positional(rest[2:]))
            return rest[:1] == ["run"] and _is_homeport(_positional(rest[1:]))
        case "env":
            return _is_homeport([word for word in _positional(rest) if "=" not in word])
        case "cmd":
            return rest[:1] in (["/c"], ["/C"]) and _is_homeport(rest[1:])
        case "wsl":
            return _is_homeport(_positional(rest))
    return False


def _program_name(word: str) -> str:
    name = re.split(r"[\\/]", word)[-1]
    return re.sub(r"\.(?:exe|cmd|bat)$", "", name, flags=re.IGNORECASE)


def _module(arguments: list[str]) -> str | None:
    """The module of `python [options] -m MODULE`; None where a script or -c stands before it."""
    words = iter(arguments)
    for word in words:
        if word == "-m":
            return next(words, None)
        if word in ("-X", "-W"):
            next(words, None)
        elif not word.startswith("-") or word in ("-", "-c"):
            return None
    return None


def _positional(arguments: list[str]) -> list[str]:
    """The words from the first that is neither an option nor an option's value."""
    skip = False
    for index, word in enumerate(arguments):
        if skip:
            skip = False
        elif word == "--":
            return arguments[index + 1 :]
        elif word in _WITH_VALUE:
            skip = True
        elif not word.startswith("-"):
            return arguments[index:]
    return []


def _is_requirement(words: list[str]) -> bool:
    return bool(words) and bool(re.fullmatch(_REQUIREMENT, words[0]))
