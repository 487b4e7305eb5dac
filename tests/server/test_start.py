from __future__ import annotations

import subprocess
import sys
from pathlib import PurePosixPath
from typing import Any

import pytest

from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.server.start import TOOLSETS, canonical_serve_arguments, parse_start
from homeport.server.state.mounts import Mount


def make_environment(**variables: str) -> Environment:
    home = PurePosixPath("/home/ann")
    return Environment(
        platform="linux",
        home=home,
        cwd=PurePosixPath("/work"),
        variables=variables,
        login="ann",
        python=PurePosixPath("/usr/bin/python3"),
        state=home / ".local/state/homeport",
    )


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        pytest.param({}, (), id="nothing"),
        pytest.param({"root": "rel"}, ("--root", "/work/rel"), id="root-made-absolute"),
        pytest.param({"root": "~/h"}, ("--root", "/home/ann/h"), id="root-of-the-person"),
        pytest.param({"scope": "user:ann"}, ("--scope", "user:ann"), id="scope"),
        pytest.param(
            {"mounts": ("path=/b,ro,scope=team:web", "scope=user:ann,path=a")},
            ("--mount", "scope=team:web,path=b,ro", "--mount", "scope=user:ann,path=a"),
            id="mounts",
        ),
        pytest.param(
            {"actor": "mcp:x", "toolsets": ("memory", "memory")}, ("--actor", "mcp:x", "--toolset", "memory"), id="rest"
        ),
    ],
)
def test_a_registration_gets_one_spelling(flags: dict[str, Any], words: tuple[str, ...]) -> None:
    assert canonical_serve_arguments(make_environment(), **flags) == words


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        ({"scope": "Ann"}, "bad_scope"),
        ({"mounts": ("scope=user:ann",)}, "bad_scope"),
        ({"actor": "me"}, "bad_scope"),
        ({"scope": "user:ann", "mounts": ("scope=user:ann,path=a",)}, "usage_error"),
        ({"toolsets": ("memroy",)}, "usage_error"),
        ({"toolsets": ("records",)}, "not_in_this_version"),
    ],
)
def test_flags_that_cannot_be_served_are_refused_with_exit_2(flags: dict[str, Any], code: str) -> None:
    with pytest.raises(HomeportError) as refused:
        canonical_serve_arguments(make_environment(), **flags)

    assert (refused.value.code, refused.value.exit_code) == (code, 2)
    assert refused.value.hint


def test_a_start_is_read() -> None:
    start = parse_start(make_environment(HOMEPORT_HOME="/v"), scope="user:ann", actor="mcp:x")

    assert start == (PurePosixPath("/v"), (Mount("user:ann", "memory"),), "mcp:x", TOOLSETS, "own")


def test_what_the_installer_asks_loads_nothing_heavy() -> None:
    program = (
        "import sys, homeport.server.start, homeport.server.state.projects\n"
        "sys.stdout.write(' '.join(sorted({'mcp', 'pydantic', 'anyio', 'asyncio', 'sqlite3', 'filelock', 'click'}"
        " & set(sys.modules))))"
    )

    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout == b""
