"""Which project a folder belongs to, and the name its memory has.

The name is the root's folder name. A home remembers in `projects/<name>` which root has it, so that a second root of
the same name gets another one: the name decides whose memory is read, and must never pass from one root to another.
"""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path, PurePath
from typing import Final

from homeport import files
from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.server.state.home import Home, home_path
from homeport.server.state.mounts import Mount
from homeport.server.state.scopes import clean_slug, short_hash

# Where systems and package managers keep programs; a client started from its menu works in one of these.
_PROGRAM_FOLDERS: Final = {
    "linux": ("/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/nix", "/opt", "/proc", "/sbin", "/snap",
              "/sys", "/usr", "/var/lib"),
    "darwin": ("/Applications", "/Library", "/System", "/bin", "/dev", "/etc", "/nix", "/opt", "/private/etc", "/sbin",
               "/usr"),
    "win32": (),
}  # fmt: skip
_PROGRAM_VARIABLES: Final = (
    "ProgramFiles",
    "ProgramFiles(x86)",
    "ProgramData",
    "SystemRoot",
    "APPDATA",
    "LOCALAPPDATA",
)
_log = logging.getLogger(__name__)
_SOURCES: Final = PurePath("/usr/src")  # where containers keep the project itself


def user_scope(environment: Environment) -> str:
    return "user:" + clean_slug(environment.login, "user")


def project_layout(
    environment: Environment, root: str | None = None, disk: files.Disk | None = None
) -> tuple[Mount, ...]:
    """The mounts of the working folder: `/user`, and `/project` where a project can be named. Nothing is written.

    The project's name is the one the home remembers for its root, or the one it would get. root: as `--root`.

    Raises HomeportError: home_unusable.
    """
    disk = disk or files.Disk()
    user = user_scope(environment)
    home = home_path(environment, root)
    project = project_root(environment, home, disk)
    if project is None:
        return (Mount(user, "user"),)
    slug = _free_slug(project, home / "projects", disk)
    return (Mount(user, "user"), Mount(f"{user}/proj:{slug}", "project"))


def claimed_layout(environment: Environment, home: Home) -> tuple[Mount, ...]:
    """project_layout for a server: the name is remembered before anything is written under it.

    Raises HomeportError: home_unusable, and what files raises where the home cannot be written.
    """
    disk = files.Disk()
    user = user_scope(environment)
    project = project_root(environment, home.path, disk)
    if project is None:
        return (Mount(user, "user"),)
    slug = _claim_slug(project, home.projects, disk)
    return (Mount(user, "user"), Mount(f"{user}/proj:{slug}", "project"))


def served_layout(environment: Environment, home: Home) -> tuple[Mount, ...]:
    """claimed_layout, and `/user` alone where the home cannot remember a project: it can still be read.

    Raises HomeportError: home_unusable.
    """
    try:
        return claimed_layout(environment, home)
    except HomeportError as error:
        _log.warning("no project is served: %s", error.message)
        return (Mount(user_scope(environment), "user"),)


def project_root(environment: Environment, home: PurePath, disk: files.Disk) -> PurePath | None:
    """The root of the project the working folder lies in, or None: the git root (the main checkout's for a linked
    worktree), else the working folder itself.

    `/`, the person's home folder, the Homeport home and folders of programs are no project; neither is a folder
    inside a home folder that is itself kept in git.
    """
    here = disk.real(environment.cwd)
    person = disk.real(environment.home)
    git = _git_root(here, person, disk)
    if git is not None:
        return git
    nowhere = here == here.parent or here == person or here.is_relative_to(disk.real(home))
    return None if nowhere or _of_programs(here, environment) else here


def _git_root(here: PurePath, person: PurePath, disk: files.Disk) -> PurePath | None:
    for folder in (here, *here.parents):
        # A home folder kept in git (dotfiles) does not make one project of everything in it.
        if folder == person or folder == folder.parent:
            return None
        mark = folder / ".git"
        if disk.is_folder(mark):
            return folder
        if disk.is_file(mark):
            return _main_checkout(mark, disk) or folder
    return None


def _main_checkout(mark: PurePath, disk: files.Disk) -> PurePath | None:
    """The root that a linked worktree's `.git` file belongs to; None for a submodule or a file that cannot be followed.

    Source: gitrepository-layout(5). The repository must name the worktree in turn: a checkout from somewhere could
    otherwise point at another project and be served its memory.
    """
    admin = _pointed_at(mark, "gitdir: ", disk)
    common = admin and _pointed_at(admin / "commondir", "", disk)
    back = admin and _pointed_at(admin / "gitdir", "", disk)
    if common is None or back is None or disk.real(back) != disk.real(mark):
        return None
    common = disk.real(common)
    return common.parent if common.name in (".git", ".bare") else common


def _pointed_at(file: PurePath, before: str, disk: files.Disk) -> PurePath | None:
    with contextlib.suppress(HomeportError, UnicodeDecodeError):
        line = (disk.read(file) or b"").decode().strip()
        if line.startswith(before) and len(line) > len(before):
            return file.parent / line.removeprefix(before)
    return None


def _of_programs(here: PurePath, environment: Environment) -> bool:
    if here.is_relative_to(_SOURCES) and here != _SOURCES:
        return False
    folders = [type(here)(folder) for folder in _PROGRAM_FOLDERS[environment.platform]]
    if environment.platform == "win32":
        named = (environment.variable(name) for name in _PROGRAM_VARIABLES)
        folders += [type(here)(folder) for folder in named if folder]
    if environment.platform == "darwin":
        folders += [environment.home / "Library", environment.home / "Applications"]
    if environment.python_prefix is not None:
        folders.append(environment.python_prefix)
    inside_bundle = any(part.endswith(".app") for part in here.parts) and environment.platform == "darwin"
    return inside_bundle or any(here.is_relative_to(folder) for folder in folders)


def _slugs(root: PurePath) -> tuple[str, str]:
    """The name a root wants, and the one it gets where another root has that."""
    name = root.name.removesuffix(".git") or root.name
    plain = clean_slug(name, "project")
    return plain, f"{plain[:50].rstrip('-.')}-{short_hash(str(root))}"


def _owner(slug: str, projects: PurePath, disk: files.Disk) -> str | None:
    """The root that has the name, case aside as on some file systems. An unreadable record is somebody else's."""
    record = projects / slug.casefold()
    try:
        data = disk.read(record)
    except HomeportError:
        return ""
    return None if data is None else data.decode("utf-8", "surrogateescape").removesuffix("\n")


def _free_slug(root: PurePath, projects: PurePath, disk: files.Disk) -> str:
    plain, hashed = _slugs(root)
    return plain if _owner(plain, projects, disk) in (None, str(root)) else hashed


def _claim_slug(root: PurePath, projects: Path, disk: files.Disk) -> str:
    plain, hashed = _slugs(root)
    for slug in (plain, hashed):
        if _owner(slug, projects, disk) is None:
            _remember(projects / slug.casefold(), str(root))
        if _owner(slug, projects, disk) == str(root):
            return slug
    raise HomeportError(
        "home_unusable",
        f"the name {hashed} of this project is taken by another root",
        "name the scope with --mount",
        {"root": str(root)},
    )


def _remember(record: Path, root: str) -> None:
    target = files.RealPath(record)
    temporary = files.temporary_path(target)
    files.write_temporary(temporary, target, f"{root}\n".encode("utf-8", "surrogateescape"), new_mode=0o600)
    try:
        # Linked into place whole: of two that start at once one gets the name, and the other reads whose it is.
        files.create_exclusively(temporary, target)
    except files.FileChanged:
        files.remove_quietly(temporary)
