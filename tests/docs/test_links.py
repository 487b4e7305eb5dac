"""Links lead somewhere, every page can be reached, and no line is wider than a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT, anchors, links, pages, read, short


@pytest.mark.parametrize("page", pages(), ids=short)
def test_a_link_leads_to_a_page_and_a_heading(page: Path) -> None:
    for found in links(page):
        if "://" in found.text:
            continue
        target, _, anchor = found.text.partition("#")
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), f"{found.place}: {found.text} leads nowhere"
        assert path.is_relative_to(ROOT), f"{found.place}: {found.text} leads out of the repository"
        assert not anchor or anchor in anchors(path), f"{found.place}: {short(path)} has no heading #{anchor}"


def test_every_page_is_linked_from_another() -> None:
    linked = {(page.parent / found.text.partition("#")[0]).resolve() for page in pages() for found in links(page)}
    assert [short(page) for page in sorted(DOCS.rglob("*.md")) if page.resolve() not in linked] == []


@pytest.mark.parametrize("page", pages(), ids=short)
def test_a_page_has_one_title_and_lines_that_can_be_read_in_an_editor(page: Path) -> None:
    lines, _ = read(page)
    assert [line.text for line in lines if line.text.startswith("# ")] == [
        page.read_text(encoding="utf-8").split("\n")[0]
    ]
    wide = [line.number for line in lines if len(line.text) > 125 and not line.text.startswith("|")]
    assert wide == [], f"{short(page)}: break these lines"
