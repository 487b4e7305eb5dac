from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

import pytest

from homeport import files
from homeport.environment import Environment, Platform
from homeport.server.state.home import home_path, open_home
from homeport.server.state.mounts import Mount
from homeport.server.state.projects import claimed_layout, project_layout, project_root
from homeport.server.state.scopes import short_hash


def make_environment(
    home: PurePath, cwd: PurePath, platform: Platform = "linux", variables: dict[str, str] | None = None
) -> Environment:
    return Environment(
        platform=platform,
        home=home,
        cwd=cwd,
        variables=variables or {},
        login="ann",
        python=home / "python",
        state=home / "state",
    )


def git(folder: Path, *words: str) -> None:
    identity = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", **identity}
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, env=environment)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "work" / "My Site"
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def root_of(environment: Environment) -> PurePath | None:
    return project_root(environment, home_path(environment), files.Disk())


def test_a_project_is_its_git_root_and_named_after_it(tmp_path: Path, repository: Path) -> None:
    (repository / "src").mkdir()
    environment = make_environment(tmp_path, repository / "src")

    assert root_of(environment) == repository
    assert project_layout(environment) == (Mount("user:ann", "user"), Mount("user:ann/proj:My-Site", "project"))


def test_a_linked_worktree_is_the_main_checkouts_project(tmp_path: Path, repository: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "elsewhere"))

    assert root_of(make_environment(tmp_path, tmp_path / "elsewhere")) == repository


def test_a_worktree_of_a_bare_repository_is_the_repositorys_project(tmp_path: Path, repository: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(tmp_path / "site.git"))
    git(tmp_path / "site.git", "worktree", "add", "-q", str(tmp_path / "tree"))
    environment = make_environment(tmp_path, tmp_path / "tree")

    assert root_of(environment) == tmp_path / "site.git"
    assert project_layout(environment)[1].scope == "user:ann/proj:site"


def test_a_git_file_that_names_another_repository_gets_none_of_its_memory(tmp_path: Path, repository: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    (hostile / ".git").write_bytes((tmp_path / "tree/.git").read_bytes())

    assert root_of(make_environment(tmp_path, hostile)) == hostile


@pytest.mark.parametrize("content", [b"", b"gitdir: ", b"gitdir: /nowhere", b"\xff\xfe", b"gitdir: ../../../.."])
def test_a_git_file_that_leads_nowhere_marks_a_root_all_the_same(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "p/src").mkdir(parents=True)
    (tmp_path / "p/.git").write_bytes(content)

    assert root_of(make_environment(tmp_path, tmp_path / "p/src")) == tmp_path / "p"


def test_a_home_folder_kept_in_git_does_not_swallow_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "thing").mkdir()

    assert root_of(make_environment(tmp_path, tmp_path / "thing")) == tmp_path / "thing"
    assert root_of(make_environment(tmp_path, tmp_path)) is None


@pytest.mark.parametrize(
    ("platform", "cwd", "is_project"),
    [
        ("linux", "/", False),
        ("linux", "/home/ann", False),
        ("linux", "/usr/lib/client", False),
        ("linux", "/opt/x", False),
        ("linux", "/home/ann/.homeport/memory", False),
        ("linux", "/srv/site", True),
        ("linux", "/usr/src/app", True),
        ("linux", "/usr/src", False),
        ("linux", "/home/ann/x", True),
        ("linux", "/optional", True),
        ("darwin", "/Applications/Claude.app/Contents", False),
        ("darwin", "/home/ann/Library/x", False),
        ("darwin", "/home/ann/x/Foo.app/y", False),
        ("darwin", "/home/ann/x", True),
        ("win32", "C:\\", False),
        ("win32", "C:\\Program Files\\Claude", False),
        ("win32", "C:\\Windows\\System32", False),
        ("win32", "C:\\Users\\ann\\AppData\\Local\\x", False),
        ("win32", "C:\\work\\x", True),
    ],
)
def test_folders_of_programs_are_no_project(platform: Platform, cwd: str, is_project: bool) -> None:
    if platform == "win32":
        variables = {
            "ProgramFiles": "C:\\Program Files",
            "SystemRoot": "C:\\Windows",
            "LOCALAPPDATA": "C:\\Users\\ann\\AppData\\Local",
        }
        environment = make_environment(PureWindowsPath("C:/Users/ann"), PureWindowsPath(cwd), platform, variables)
    else:
        environment = make_environment(PurePosixPath("/home/ann"), PurePosixPath(cwd), platform)

    root = project_root(environment, environment.home / ".homeport", _Nowhere())

    assert root == (environment.cwd if is_project else None)


class _Nowhere(files.Disk):
    """A disk that holds nothing."""

    def read(self, path: PurePath) -> bytes | None:
        return None

    def is_file(self, path: PurePath) -> bool:
        return False

    def is_folder(self, path: PurePath) -> bool:
        return False

    def real(self, path: PurePath) -> PurePath:
        return path


def test_a_second_root_of_the_same_name_gets_a_name_of_its_own_and_both_keep_theirs(tmp_path: Path) -> None:
    home = open_home(tmp_path / "home")
    first, second, third = (tmp_path / name for name in ("a/site", "b/site", "c/SITE"))
    for folder in (first, second, third):
        folder.mkdir(parents=True)

    claimed = [
        claimed_layout(make_environment(tmp_path, folder), home)[1].scope for folder in (first, second, third) * 2
    ]

    expected = ["site", f"site-{short_hash(str(second))}", f"SITE-{short_hash(str(third))}"]
    assert claimed == [f"user:ann/proj:{slug}" for slug in expected * 2]


def test_asking_for_the_layout_writes_nothing_and_says_what_a_server_would_get(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    environment = make_environment(tmp_path, tmp_path / "site")

    asked = project_layout(environment)

    assert not (tmp_path / ".homeport").exists()
    assert claimed_layout(environment, open_home(tmp_path / ".homeport")) == asked == project_layout(environment)


def test_of_many_roots_that_start_at_once_one_gets_the_name(tmp_path: Path) -> None:
    home = open_home(tmp_path / "home")
    folders = [tmp_path / str(number) / "site" for number in range(16)]
    for folder in folders:
        folder.mkdir(parents=True)

    with ThreadPoolExecutor(16) as pool:
        layouts = list(pool.map(lambda folder: claimed_layout(make_environment(tmp_path, folder), home), folders))

    scopes = [layout[1].scope for layout in layouts]
    assert len(set(scopes)) == 16
    assert scopes.count("user:ann/proj:site") == 1
    assert [path.name for path in home.projects.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize(
    ("root", "variables", "expected"),
    [
        ("/given", {}, "/given"),
        ("rel", {}, "/work/rel"),
        ("~/x", {}, "/home/ann/x"),
        (None, {"HOMEPORT_HOME": "/v"}, "/v"),
        ("/given", {"HOMEPORT_HOME": "/v"}, "/given"),
        (None, {"HOMEPORT_HOME": ""}, "/home/ann/.homeport"),
    ],
)
def test_the_home_is_one_absolute_folder(root: str | None, variables: dict[str, str], expected: str) -> None:
    environment = make_environment(PurePosixPath("/home/ann"), PurePosixPath("/work"), variables=variables)

    assert home_path(environment, root) == PurePosixPath(expected)


def test_a_home_of_slash_means_the_accounts_own_folder(tmp_path: Path) -> None:
    import pwd

    environment = make_environment(Path("/"), Path("/"))._replace(user_id=os.getuid())

    assert home_path(environment) == Path(pwd.getpwuid(os.getuid()).pw_dir) / ".homeport"
