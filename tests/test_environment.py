"""The snapshot of the machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

import pytest

from homeport.environment import Environment, Platform
from homeport.errors import HomeportError
from tests.made import PLATFORMS, make_environment


def test_it_is_what_the_machine_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LOGNAME", "nora")
    found = Environment.current()
    assert (found.home, found.cwd, found.login) == (tmp_path / "home", tmp_path, "nora")
    assert (found.python, found.user_id) == (Path(sys.executable), os.geteuid())
    assert found.state == tmp_path / "home/.local/state/homeport"


@pytest.mark.parametrize(
    ("given", "expected"),
    [("/srv/state", "/srv/state/homeport"), ("state", None), ("", None)],
    ids=["absolute", "relative", "empty"],
)
def test_the_state_follows_xdg_state_home(given: str, expected: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", given)
    found = Environment.current()
    assert found.state == (Path(expected) if expected else found.home / ".local/state/homeport")


def test_the_state_is_where_platformdirs_says(monkeypatch: pytest.MonkeyPatch) -> None:
    import platformdirs

    for given in ("", "/srv/state"):
        monkeypatch.setenv("XDG_STATE_HOME", given)
        assert Environment.current().state == platformdirs.user_state_path("homeport", appauthor=False)


def test_a_relative_home_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "home")
    with pytest.raises(HomeportError) as caught:
        Environment.current()
    assert (caught.value.code, caught.value.hint) == ("home_unusable", "set HOME to your home folder")


@pytest.mark.parametrize(
    ("started", "expected"),
    [
        ("/usr/bin/homeport", "/usr/bin/homeport"),
        ("homeport", "homeport"),
        ("/x/homeport/__main__.py", None),
        ("/usr/bin/pytest", None),
        ("", None),
    ],
)
def test_the_program_is_the_script_that_was_started(
    started: str, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [started])
    assert Environment.current().program == (None if expected is None else tmp_path / expected)


def test_a_program_is_looked_for_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "rota"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Environment.current().search("rota") == program
    assert Environment.current().search("tally") is None


def test_an_empty_variable_counts_as_unset() -> None:
    environment = make_environment(variables={"A": "", "B": "b"})
    assert (environment.variable("A"), environment.variable("B"), environment.variable("C")) == (None, "b", None)


@pytest.mark.parametrize(
    ("platform", "text", "expected"),
    [
        ("linux", "~", "/home/nora"),
        ("linux", "~/x", "/home/nora/x"),
        ("linux", "~x", "~x"),
        ("linux", "~\\x", "~\\x"),
        ("linux", "a/~/b", "a/~/b"),
        ("win32", "~\\x", "C:\\Users\\nora\\x"),
        ("win32", "~/x", "C:\\Users\\nora\\x"),
    ],
)
def test_a_leading_tilde_is_the_home(platform: Platform, text: str, expected: str) -> None:
    assert make_environment(platform).expanded(text) == expected


@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_path_has_the_homes_flavour(platform: Platform) -> None:
    environment = make_environment(platform)
    flavour = PureWindowsPath if platform == "win32" else PurePosixPath
    paths: list[PurePath] = [environment.path("x"), environment.cwd, environment.python, environment.state]
    assert {type(path) for path in paths} == {flavour}


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"WSL_DISTRO_NAME": "Ubuntu"}, True),
        ("linux", {"WSL_DISTRO_NAME": ""}, False),
        ("linux", {}, False),
        ("win32", {"WSL_DISTRO_NAME": "Ubuntu"}, False),
    ],
)
def test_wsl_is_a_linux_with_a_distributions_name(
    platform: Platform, variables: dict[str, str], expected: bool
) -> None:
    assert make_environment(platform, variables=variables).in_wsl is expected
