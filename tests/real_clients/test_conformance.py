"""The conformance suite of the protocol's maintainers, against the server's SDK object; the page says the outcome.

The suite speaks HTTP alone, so a small program of ours puts the server behind the SDK's own HTTP app.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, table
from tests.real_clients.clients import PROGRAMS, output, tool

HTTP_SERVER = Path(__file__).parent / "http_server.py"
RUNS = [
    pytest.param(("--suite", "all", "--spec-version", "2025-03-26"), id="2025-03-26"),
    pytest.param(("--suite", "all", "--spec-version", "2025-06-18"), id="2025-06-18"),
    # Frozen by the maintainers when the revision came out.
    pytest.param(("--requirements", "2025-11-25"), id="2025-11-25"),
    pytest.param(("--requirements", "2026-07-28"), id="2026-07-28"),
]

# Named as the suite's scenarios of prompts ask for them.
SKILLS = {"test_simple_prompt": "---\ndescription: Say a sentence.\n---\nThis is a simple prompt for testing.\n"}


class Outcome:
    """What the page says of a scenario: whether it passes, and which of its checks cannot."""

    def __init__(self, said: str) -> None:
        self.applies = said.startswith("passes")
        self.lacking = set(re.findall(r"`([^`]+)`", said))


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("conformance")
    skills = home / "state/memory/user=ann/skills"
    skills.mkdir(parents=True)
    for name, text in SKILLS.items():
        (skills / name).write_text(text)
    process = subprocess.Popen(
        [sys.executable, str(HTTP_SERVER), str(home / "state")],
        cwd=home,
        env={"HOME": str(home), "PATH": os.defpath},
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.send_signal(signal.SIGTERM)


@pytest.fixture(scope="module")
def said() -> Mapping[str, Outcome]:
    return {
        row[0].strip("`"): Outcome(row[1]) for row in table(DOCS / "protocol.md", "The maintainers' conformance suite")
    }


def conformance(folder: Path, *words: str) -> str:
    return output(
        [str(tool("conformance")), *words], folder, {"HOME": str(folder), "PATH": f"{PROGRAMS}:/usr/bin:/bin"}
    )


def failures(results: Path) -> dict[str, set[str]]:
    """The checks that failed, by scenario. A folder is named `server-<scenario>-<time>`."""
    found: dict[str, set[str]] = {}
    for file in results.glob("*/checks.json"):
        scenario = re.sub(r"-\d{4}-\d\d-\d\dT[\d-]+Z$", "", file.parent.name).removeprefix("server-")
        checks = json.loads(file.read_bytes())
        found[scenario] = {check["id"] for check in checks if check["status"] == "FAILURE"}
    return found


@pytest.mark.parametrize("words", RUNS)
def test_what_applies_passes_and_what_cannot_is_explained(
    url: str, said: Mapping[str, Outcome], words: tuple[str, ...], tmp_path: Path
) -> None:
    printed = conformance(tmp_path, "server", "--url", url, *words, "--output-dir", str(tmp_path / "results"))
    found = failures(tmp_path / "results")
    assert found, printed
    assert set(found) <= set(said)
    assert {name: failed for name, failed in found.items() if said[name].applies and failed != said[name].lacking} == {}


def test_the_page_names_every_scenario_of_the_suite(said: Mapping[str, Outcome], tmp_path: Path) -> None:
    listed = conformance(tmp_path, "list", "--server")
    assert sorted(re.findall(r"^  - (\S+) \[", listed, re.MULTILINE)) == sorted(said)


def test_the_page_names_the_versions_that_ran() -> None:
    pins = (Path(__file__).parent / "protocol_tools.txt").read_text(encoding="utf-8").split()
    page = (DOCS / "protocol.md").read_text(encoding="utf-8")
    named = [f"`{name}` {version}" for name, _, version in (pin.rpartition("@") for pin in pins) if name != "node"]
    assert [words for words in named if words not in page] == []
