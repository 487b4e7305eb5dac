"""The pages, as a person without a network reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from homeport.cli import docs as docs_module
from tests.cli.running import run

DOCS = Path(__file__).resolve().parents[2] / "docs"
TOPICS = sorted(path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md"))


def test_the_list_names_every_page_with_its_title(home: Path) -> None:
    done = run("docs")
    lines = [line.split(maxsplit=1) for line in done.stdout.decode().splitlines()]
    assert sorted(topic for topic, _ in lines) == TOPICS
    assert ["commands/install", "homeport install"] in lines
    assert done.stderr == b"Read one with: homeport docs TOPIC\n"


@pytest.mark.parametrize("topic", TOPICS)
def test_a_page_is_printed_without_its_comments(topic: str, home: Path) -> None:
    done = run("docs", topic)
    written = (DOCS / f"{topic}.md").read_text(encoding="utf-8")
    assert done.exit == 0
    printed = done.stdout.decode()
    assert printed.splitlines()[0] == written.splitlines()[0]
    assert printed.splitlines()[-1] == written.splitlines()[-1]
    assert "<!--" not in printed


def test_the_ending_of_the_file_may_be_said(home: Path) -> None:
    assert run("docs", "quickstart.md").stdout == run("docs", "quickstart").stdout


def test_the_last_part_is_enough_where_it_is_the_only_one(home: Path) -> None:
    assert run("docs", "install").stdout == run("docs", "commands/install").stdout
    assert run("docs", "cursor").stdout == run("docs", "clients/cursor").stdout


def test_an_unknown_page_is_a_wrong_command_line_with_the_list(home: Path) -> None:
    done = run("docs", "nope", "--json")
    assert done.exit == 2
    assert done.envelope["error"]["code"] == "usage_error"
    assert all(topic in done.envelope["error"]["hint"] for topic in TOPICS)


def test_json_gives_titles_and_first_sentences(home: Path) -> None:
    topics = {page["topic"]: page for page in run("docs", "--json").envelope["result"]["topics"]}
    assert topics["commands/docs"] == {
        "topic": "commands/docs",
        "title": "homeport docs",
        "summary": "Prints a page of this documentation, which comes with the program: no network is needed.",
    }
    assert all(page["summary"] for page in topics.values())


def test_an_installation_without_pages_says_so(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs_module, "__file__", str(tmp_path / "homeport" / "cli" / "docs.py"))
    done = run("docs", "--json")
    assert (done.exit, done.envelope["error"]["code"]) == (1, "docs_missing")
