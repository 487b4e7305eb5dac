"""The inspector of the protocol's maintainers, by its command line, over stdio and in both eras."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.real_clients.clients import PROGRAMS, TIME_LIMIT_S, tool

SKILL = "---\ndescription: How to mend a pump\n---\nTurn it off first.\n"
ERAS = ["legacy", "modern"]
# Its exit code where a tool's result has isError.
TOOL_FAILED = 5


class Inspected(NamedTuple):
    exit: int
    result: dict[str, Any]
    stderr: str


def inspect(folder: Path, era: str, method: str, *words: str) -> Inspected:
    """Ask the bundled server over `folder`'s home by one method, and give the result as the inspector prints it."""
    program = [
        str(tool("mcp-inspector")),
        "--cli",
        "--format",
        "json",
        "--protocol-era",
        era,
        "--method",
        method,
        *words,
    ]
    server = [sys.executable, "-m", "homeport", "serve", "--root", str(folder / "state"), "--scope", "user:ann"]
    done = subprocess.run(
        [*program, "--", *server],
        cwd=folder,
        env={"HOME": str(folder), "PATH": f"{PROGRAMS}:/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_S,
    )
    assert done.stdout, done.stderr
    return Inspected(done.returncode, json.loads(done.stdout)["result"], done.stderr)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    skills = tmp_path / "state/memory/user=ann/skills"
    skills.mkdir(parents=True)
    (skills / "mend-pump").write_text(SKILL)
    return tmp_path


@pytest.mark.parametrize("era", ERAS)
def test_its_strict_check_of_every_schema_has_no_error_and_one_known_warning(folder: Path, era: str) -> None:
    listed = inspect(folder, era, "tools/list", "--strict")
    assert listed.exit == 0
    assert [found["name"] for found in listed.result["tools"]] == [
        "memory", "list_skills", "load_skill", "search_history", "recall_turn",
    ]  # fmt: skip
    assert "0 errors, " in listed.stderr
    # An object or null, spelled as a list of two types: docs/protocol.md says why it stays.
    assert set(re.findall(r"^ +Path: (.*)$", listed.stderr, re.MULTILINE)) == {
        "outputSchema.properties.result",
        "outputSchema.properties.error",
    }


@pytest.mark.parametrize("era", ERAS)
def test_it_calls_a_tool_and_finds_the_result_as_the_output_schema_says(folder: Path, era: str) -> None:
    arguments = json.dumps({"command": "create", "path": "/memory/ž", "file_text": "✓"})
    called = inspect(folder, era, "tools/call", "--tool-name", "memory", "--tool-args-json", arguments)
    assert (called.exit, called.result["structuredContent"]["result"]["version"]) == (0, 1)
    assert (folder / "state/memory/user=ann/ž").read_text() == "✓"


def test_it_tells_a_failed_call_from_an_error_of_the_protocol(folder: Path) -> None:
    called = inspect(folder, "legacy", "tools/call", "--tool-name", "load_skill", "--tool-arg", "name=none")
    assert (called.exit, called.result["isError"]) == (TOOL_FAILED, True)
    assert called.result["structuredContent"]["error"]["code"] == "skill_not_found"


@pytest.mark.parametrize("era", ERAS)
def test_it_lists_and_gets_a_skill_as_a_prompt(folder: Path, era: str) -> None:
    listed = inspect(folder, era, "prompts/list")
    got = inspect(folder, era, "prompts/get", "--prompt-name", "mend-pump")
    assert [(prompt["name"], prompt["description"]) for prompt in listed.result["prompts"]] == [
        ("mend-pump", "How to mend a pump")
    ]
    [message] = got.result["messages"]
    assert (message["role"], message["content"]["type"]) == ("user", "text")
    assert "Turn it off first." in message["content"]["text"]
