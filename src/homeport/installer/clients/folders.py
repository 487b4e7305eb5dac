"""Project roots and parents, asked the way the clients ask: through `.git`, a file in a linked worktree."""

from __future__ import annotations

from pathlib import PurePath

from homeport.environment import Environment
from homeport.installer.clients.values import Reader


def git_root(environment: Environment, reader: Reader) -> PurePath | None:
    """The nearest folder from `cwd` upwards that holds `.git` (a folder, or a worktree's file), if any."""
    for folder in (environment.cwd, *environment.cwd.parents):
        mark = folder / ".git"
        if reader.is_file(mark) or reader.is_folder(mark):
            return folder
    return None


def project_root(environment: Environment, reader: Reader) -> PurePath:
    """The git root (a linked worktree's own), else the working folder."""
    return git_root(environment, reader) or environment.cwd


def main_checkout(environment: Environment, reader: Reader) -> PurePath:
    """The project root with links resolved; for a linked worktree the main checkout's.

    Claude Code keys its local entries by it (measured with 2.1.197).
    """
    root = project_root(environment, reader)
    mark = root / ".git"
    if reader.is_file(mark):
        text = (reader.read(mark) or b"").decode("utf-8", "replace").strip()
        gitdir = root / text.removeprefix("gitdir:").strip()
        # <main>/.git/worktrees/<name>; a submodule's is <main>/.git/modules/<name>, which is a checkout of its own.
        if gitdir.parent.name == "worktrees" and gitdir.parent.parent.name == ".git":
            root = gitdir.parent.parent.parent
    return reader.real(root)


def root_to_cwd(environment: Environment, reader: Reader) -> tuple[PurePath, ...]:
    """The folders from the project root down to the working folder, both included."""
    root = project_root(environment, reader)
    chain = [
        folder for folder in (environment.cwd, *environment.cwd.parents) if folder == root or root in folder.parents
    ]
    return tuple(reversed(chain))


def above_root(environment: Environment, reader: Reader) -> tuple[PurePath, ...]:
    """The folders above the project root, the farthest first."""
    return tuple(reversed(project_root(environment, reader).parents))


def config_home(environment: Environment) -> PurePath:
    """$XDG_CONFIG_HOME, else ~/.config. A relative value is ignored, as the base directory specification says."""
    given = environment.variable("XDG_CONFIG_HOME")
    if given and environment.path(given) == type(environment.home)(given):
        return type(environment.home)(given)
    return environment.home / ".config"
