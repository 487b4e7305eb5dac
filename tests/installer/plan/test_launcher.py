"""A command of the bundled server that will still be there tomorrow."""

from __future__ import annotations

import pytest

from homeport.environment import Platform
from homeport.errors import HomeportError
from homeport.installer.plan.launcher import bundled_server, unstable_interpreter
from homeport.version import VERSION
from tests.made import FOLDER, LinkTo, MadeDisk, Program, Thing, make_environment

PINNED = f"homeport=={VERSION}"


def line(
    platform: Platform, python: str, things: dict[str, Thing], *, portable: bool = False, **variables: str
) -> list[str]:
    environment = make_environment(platform, python=python, variables=variables)
    made = bundled_server(("--root", "/x"), environment, MadeDisk(environment, things), portable=portable)
    return [made.command.shown(), *(text.shown() for text in made.args)]


AFTER = ["-m", "homeport", "serve", "--root", "/x"]
CELLAR = "/opt/homebrew/Cellar/homeport/0.1.0/libexec/bin/python"
OPT = "/opt/homebrew/opt/homeport/libexec/bin/python"


@pytest.mark.parametrize(
    ("platform", "python", "things", "expected"),
    [
        pytest.param("linux", "/home/nora/venv/bin/python", {}, "/home/nora/venv/bin/python", id="a venv's own link"),
        pytest.param("darwin", CELLAR, {OPT: Program()}, OPT, id="Homebrew"),
        pytest.param("darwin", CELLAR, {}, CELLAR, id="Homebrew without its link"),
        pytest.param(
            "linux", "/opt/py/3.12.4/bin/python3",
            {"/opt/py/current": LinkTo("3.12.4"), "/opt/py/3.12.4/bin/python3": Program()},
            "/opt/py/current/bin/python3", id="a link beside the version",
        ),
        pytest.param(
            "linux", "/opt/py/3.12.4/bin/python3",
            {"/opt/py/current": LinkTo("3.11.9"), "/opt/py/3.11.9": FOLDER, "/opt/py/3.12.4/bin/python3": Program()},
            "/opt/py/3.12.4/bin/python3", id="a link to another version",
        ),
        pytest.param(
            "win32", r"C:\tools\v3.12.4\python.exe",
            {r"C:\tools\latest": LinkTo("v3.12.4"), r"C:\tools\v3.12.4\python.exe": Program()},
            r"C:\tools\latest\python.exe", id="windows",
        ),
        pytest.param("linux", "/opt/py/stable3/bin/python", {}, "/opt/py/stable3/bin/python", id="no version"),
    ],
)  # fmt: skip
def test_an_interpreter_is_written_by_a_name_that_lasts(
    platform: Platform, python: str, things: dict[str, Thing], expected: str
) -> None:
    assert line(platform, python, things) == [expected, *AFTER]


UV = "/home/nora/.cache/uv/archive-v0/a1b2/bin/python"
LINUX_CACHES = [UV, "/home/nora/.cache/pipx/9f/bin/python", "/home/nora/.local/share/pipx/.cache/9f/bin/python",
                "/srv/uv/cache/environments-v2/rota/bin/python"]  # fmt: skip


@pytest.mark.parametrize("python", LINUX_CACHES)
def test_a_runners_cache_gives_way_to_an_installed_program(python: str) -> None:
    assert line("linux", python, {"/usr/local/bin/homeport": Program()}, PATH="/usr/bin:/usr/local/bin") == [
        "/usr/local/bin/homeport",
        *AFTER[2:],
    ]


@pytest.mark.parametrize(
    ("platform", "python"),
    [
        ("darwin", "/Users/nora/Library/Caches/pipx/9f/bin/python"),
        ("darwin", "/Users/nora/.cache/uv/archive-v0/a1/bin/python"),
        ("win32", r"C:\Users\nora\AppData\Local\uv\cache\archive-v0\a1\Scripts\python.exe"),
        ("win32", r"C:\Users\nora\AppData\Local\pipx\pipx\Cache\9f\Scripts\python.exe"),
    ],
)
def test_the_other_systems_caches_are_known(platform: Platform, python: str) -> None:
    with pytest.raises(HomeportError) as caught:
        line(platform, python, {})
    assert caught.value.code == "interpreter_unstable"


def test_without_one_the_runner_is_written_and_the_package_pinned() -> None:
    things: dict[str, Thing] = {"/usr/bin/uvx": Program(), "/usr/bin/pipx": Program()}
    assert line("linux", UV, things, PATH="/usr/bin") == ["/usr/bin/uvx", PINNED, *AFTER[2:]]
    del things["/usr/bin/uvx"]
    assert line("linux", UV, things, PATH="/usr/bin") == ["/usr/bin/pipx", "run", PINNED, *AFTER[2:]]


def test_what_lies_in_a_cache_or_a_temporary_folder_is_no_installed_program() -> None:
    things: dict[str, Thing] = {
        "/home/nora/.cache/uv/archive-v0/a1b2/bin/homeport": Program(),
        "/tmp/x/homeport": Program(),
        "/plain/homeport": b"not to be run",
        "/usr/bin/uvx": Program(),
    }
    path = "/home/nora/.cache/uv/archive-v0/a1b2/bin:/tmp/x::/plain:/usr/bin"
    assert line("linux", UV, things, PATH=path)[0] == "/usr/bin/uvx"


def test_on_windows_programs_have_endings() -> None:
    python = r"C:\Users\nora\AppData\Local\uv\cache\archive-v0\a1\Scripts\python.exe"
    found = line("win32", python, {r"C:\bin\uvx.exe": Program()}, PATH=r"C:\none;C:\bin")
    assert found[:2] == [r"C:\bin\uvx.exe", PINNED]


def test_a_portable_line_holds_no_path() -> None:
    assert line("linux", UV, {}, portable=True) == ["homeport", *AFTER[2:]]


@pytest.mark.parametrize(
    ("platform", "python", "variables", "unstable"),
    [
        pytest.param("linux", "/tmp/v/bin/python", {}, True, id="/tmp"),
        pytest.param("linux", "/var/tmp/v/bin/python", {}, True, id="/var/tmp"),
        pytest.param("linux", "/scratch/v/bin/python", {"TMPDIR": "/scratch/"}, True, id="TMPDIR"),
        pytest.param("linux", "/tmpfiles/bin/python", {}, False, id="a name that only begins so"),
        pytest.param("darwin", "/private/var/folders/a/b/bin/python", {}, True, id="macOS"),
        pytest.param("win32", r"C:\Users\nora\Temp\v\python.exe", {"TEMP": r"C:\Users\nora\Temp"}, True, id="TEMP"),
        pytest.param(
            "win32", r"C:\Users\nora\AppData\Local\Microsoft\WindowsApps\PythonFoundation.3.12_x\python.exe",
            {}, True, id="Store Python",
        ),
        pytest.param("win32", r"C:\Python312\python.exe", {}, False, id="python.org"),
        pytest.param("linux", "/usr/bin/python3", {"TMPDIR": ""}, False, id="the system's"),
    ],
)  # fmt: skip
def test_what_may_be_gone_tomorrow_is_refused_with_the_better_way(
    platform: Platform, python: str, variables: dict[str, str], unstable: bool
) -> None:
    environment = make_environment(platform, python=python, variables=variables)
    error = unstable_interpreter(environment, MadeDisk(environment))
    assert (error is not None) is unstable
    assert error is None or (error.code == "interpreter_unstable" and "install" in str(error.hint).lower())
