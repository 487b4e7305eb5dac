"""Project roots, worktrees and config homes."""

from __future__ import annotations

import pytest

from homeport.environment import Platform
from homeport.installer.clients import folders
from tests.made import FOLDER, PLATFORMS, LinkTo, Thing, make_machine


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize(
    ("things", "expected"),
    [
        pytest.param({}, "~/code/app", id="no repository"),
        pytest.param({".git": FOLDER}, "~/code/app", id="here"),
        pytest.param({"../.git": FOLDER}, "~/code", id="above"),
        pytest.param({"../../.git": FOLDER}, "~", id="the home is a repository"),
        pytest.param({".git": b"gitdir: /home/nora/main/.git/worktrees/app\n"}, "~/code/app", id="linked worktree"),
        pytest.param({"../.git": FOLDER, ".git": FOLDER}, "~/code/app", id="nested: the nearest"),
    ],
)
def test_the_project_root_is_the_git_root_else_the_working_folder(
    platform: Platform, things: dict[str, Thing], expected: str
) -> None:
    machine = make_machine(platform, things)
    assert machine.short(folders.project_root(machine.environment, machine.disk)) == expected


@pytest.mark.parametrize(
    ("things", "expected"),
    [
        pytest.param({".git": b"gitdir: /home/nora/main/.git/worktrees/app\n"}, "~/main", id="absolute"),
        pytest.param({".git": b"gitdir: ../../main/.git/worktrees/app\n"}, "~/main", id="relative"),
        pytest.param({".git": b"gitdir: ../.git/modules/app\n", "../.git": FOLDER}, "~/code/app", id="a submodule"),
        pytest.param({".git": b""}, "~/code/app", id="an empty file"),
        pytest.param({".git": b"\xff\xfe"}, "~/code/app", id="no text"),
        pytest.param({"../../code": LinkTo("real/code"), "~/real/code/app/.git": FOLDER}, "~/real/code/app", id="link"),
    ],
)
def test_the_main_checkout_is_found_behind_worktrees_and_links(things: dict[str, Thing], expected: str) -> None:
    machine = make_machine("linux", things)
    assert machine.short(machine.disk.real(folders.main_checkout(machine.environment, machine.disk))) == expected


def test_folders_are_told_from_the_root_down_to_here() -> None:
    machine = make_machine("linux", {"~/code/.git": FOLDER}, cwd="code/app/src")
    found = [machine.short(folder) for folder in folders.root_to_cwd(machine.environment, machine.disk)]
    assert found == ["~/code", "~/code/app", "~/code/app/src"]


def test_folders_above_the_root_are_told_farthest_first() -> None:
    machine = make_machine("linux", {".git": FOLDER})
    found = [machine.short(folder) for folder in folders.above_root(machine.environment, machine.disk)]
    assert found == ["/", "/home", "~", "~/code"]


@pytest.mark.parametrize(
    ("platform", "given", "expected"),
    [
        ("linux", None, "~/.config"),
        ("linux", "", "~/.config"),
        ("linux", "relative", "~/.config"),
        ("linux", "~/cfg", "~/.config"),
        ("linux", "/srv/cfg", "/srv/cfg"),
        ("darwin", None, "~/.config"),
        ("win32", None, "~/.config"),
        ("win32", r"D:\cfg", "D:/cfg"),
        ("win32", "cfg", "~/.config"),
    ],
)
def test_a_relative_xdg_folder_is_ignored(platform: Platform, given: str | None, expected: str) -> None:
    machine = make_machine(platform, variables={} if given is None else {"XDG_CONFIG_HOME": given})
    assert machine.short(folders.config_home(machine.environment)) == expected
