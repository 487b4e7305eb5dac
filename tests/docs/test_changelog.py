"""CHANGELOG keeps its form: Unreleased first, known headings, an entry for every command."""

from __future__ import annotations

import re

from homeport.cli.main import COMMANDS
from tests.docs.pages import ROOT, read

CHANGELOG = ROOT / "CHANGELOG.md"
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_headings_are_those_of_keep_a_changelog() -> None:
    headings = [line.text for line in read(CHANGELOG)[0] if line.text.startswith("#")]
    assert headings[:2] == ["# Changelog", "## [Unreleased]"]
    releases = [text for text in headings[2:] if text.startswith("## ")]
    assert all(re.fullmatch(r"## \[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", text) for text in releases)
    assert {text[4:] for text in headings if text.startswith("### ")} <= KINDS


def test_every_command_has_an_entry() -> None:
    text = CHANGELOG.read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"`homeport {name}" not in text] == []
