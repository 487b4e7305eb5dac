from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness import run_homeport
from tests.server.serving import Serving


def serve(*arguments: str, cwd: Path, variables: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "homeport", "serve", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=20,
        cwd=cwd,
        env={"PATH": os.defpath, "HOME": str(cwd), **(variables or {})},
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("--scope", "Ann"), "error: 'Ann' is not a scope", id="scope"),
        pytest.param(
            ("--scope", "user:a", "--mount", "scope=user:a,path=x"),
            "error: --scope and --mount do not go together",
            id="scope-and-mount",
        ),
        pytest.param(
            ("--mount", "scope=user:a,path=x", "--mount", "scope=user:b,path=x"),
            "error: two mounts are at /x",
            id="mount-twice",
        ),
        pytest.param(
            ("--toolset", "records"), "error: --toolset records is not in this version of Homeport", id="toolset"
        ),
        pytest.param(("--http", "127.0.0.1:8417"), "error: --http is not in this version of Homeport", id="http"),
        pytest.param(
            ("--url", "http://127.0.0.1:8417/mcp"), "error: --url is not in this version of Homeport", id="url"
        ),
        pytest.param(("--records", "project"), "error: --records is not in this version of Homeport", id="records"),
        pytest.param(("--handles", "sqlite:x"), "error: --handles is not in this version of Homeport", id="handles"),
        pytest.param(
            ("--allow-writes",), "error: --allow-writes is not in this version of Homeport", id="allow-writes"
        ),
        pytest.param(
            ("--allow-candidate-writes",),
            "error: --allow-candidate-writes is not in this version of Homeport",
            id="allow-candidate-writes",
        ),
        pytest.param(("--nonsense",), "error: No such option", id="unknown"),
    ],
)
def test_a_wrong_command_line_is_refused_with_exit_2_before_anything_is_made(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    ran = serve(*arguments, cwd=tmp_path)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith(message)
    assert "hint: " in ran.stderr
    assert "Traceback" not in ran.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("obstacle", ["file", "file-inside"])
def test_a_home_that_cannot_be_used_is_said_in_words(tmp_path: Path, obstacle: str) -> None:
    home = tmp_path / "home"
    if obstacle == "file":
        home.write_text("mine")
    else:
        home.mkdir()
        (home / "memory").write_text("mine")

    ran = serve("--root", str(home), cwd=tmp_path)

    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.startswith(f"error: the home {home} cannot be used: ")
    assert "Traceback" not in ran.stderr


def test_the_working_folder_is_the_project(tmp_path: Path) -> None:
    (tmp_path / "site/.git").mkdir(parents=True)
    with Serving(tmp_path / "home", cwd=tmp_path / "site", variables={"LOGNAME": "Ann B"}) as serving:
        serving.initialize()
        mounts = serving.memory("view")["result"]["mounts"]
        serving.memory("create", path="/project/a", file_text="x")

    assert [(mount["path"], mount["scope"]) for mount in mounts] == [
        ("/user", "user:Ann-B"),
        ("/project", "user:Ann-B/proj:site"),
    ]
    assert (tmp_path / "home/memory/user=Ann-B+proj=site/a").read_text() == "x"


def test_where_no_project_can_be_named_there_is_the_person_alone(tmp_path: Path) -> None:
    with Serving(tmp_path / "home", cwd=Path("/")) as serving:
        serving.initialize()
        assert [mount["path"] for mount in serving.memory("view")["result"]["mounts"]] == ["/user"]


def test_the_actor_may_be_given(tmp_path: Path) -> None:
    with Serving(tmp_path / "home", "--scope", "user:ann", "--actor", "hook:x") as serving:
        serving.initialize()
        serving.memory("create", path="/memory/a", file_text="x")
        assert serving.memory("view", path="/memory/a")["result"]["actor"] == "hook:x"


def test_without_a_home_variable_the_accounts_own_folder_is_used() -> None:
    """Asked of a function and not of a process: the account's real home must stay untouched by tests."""
    program = (
        "from homeport.environment import Environment\n"
        "from homeport.server.state.home import home_path\n"
        "print(home_path(Environment.current()))"
    )
    for variables in ({}, {"HOME": "/"}):
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd="/", env=variables)
        assert ran.stdout.strip() == f"{pwd.getpwuid(os.getuid()).pw_dir}/.homeport"


def test_help_shows_every_option_and_examples(tmp_path: Path) -> None:
    ran = serve("--help", cwd=tmp_path)

    assert ran.returncode == 0
    for word in ("--root", "--scope", "--mount", "--actor", "--toolset", "--stdio", "homeport serve --scope user:ann"):
        assert word in ran.stdout


def test_a_postgres_that_is_asked_for_is_refused_and_not_passed_over(tmp_path: Path) -> None:
    done = run_homeport("serve", home=tmp_path, variables={"HOMEPORT_POSTGRES_DSN": "postgresql://somewhere"})
    assert (done.exit, done.stdout) == (2, b"")
    assert b"HOMEPORT_POSTGRES_DSN is not in this version" in done.stderr
