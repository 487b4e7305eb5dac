"""The pages as tests read them: blocks, tables, code spans and links, each with its line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parent.parent.parent
DOCS: Final = ROOT / "docs"
REPAIR: Final = "`.venv/bin/pytest tests/docs --update-docs` writes it into the page"


class Line(NamedTuple):
    """A line outside every fenced block. number: from 1."""

    number: int
    text: str


class Block(NamedTuple):
    """A fenced block. first: the number, from 1, of the line after the opening fence."""

    page: Path
    language: str
    first: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


class Found(NamedTuple):
    """Something a page says, and where."""

    page: Path
    number: int
    text: str

    @property
    def place(self) -> str:
        return f"{short(self.page)}:{self.number}"


def pages() -> list[Path]:
    """README and every page of docs/."""
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def short(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def read(page: Path) -> tuple[list[Line], list[Block]]:
    """A page's lines outside blocks, and its blocks."""
    lines: list[Line] = []
    blocks: list[Block] = []
    inside: tuple[str, int, list[str]] | None = None
    for number, text in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        if inside is None and text.startswith("```"):
            inside = (text[3:].strip(), number + 1, [])
        elif inside is not None and text == "```":
            blocks.append(Block(page, inside[0], inside[1], tuple(inside[2])))
            inside = None
        elif inside is not None:
            inside[2].append(text)
        else:
            lines.append(Line(number, text))
    assert inside is None, f"{short(page)}:{inside and inside[1]}: the block is not closed"
    return lines, blocks


def blocks(language: str) -> list[Block]:
    return [block for page in pages() for block in read(page)[1] if block.language == language]


def code_spans(page: Path) -> Iterator[Found]:
    """What stands between single backticks, outside blocks."""
    for line in read(page)[0]:
        for match in re.finditer(r"`([^`]+)`", line.text):
            yield Found(page, line.number, match[1])


def links(page: Path) -> Iterator[Found]:
    """The targets of Markdown links."""
    for line in read(page)[0]:
        for match in re.finditer(r"\]\(([^)\s]+)\)", line.text):
            yield Found(page, line.number, match[1])


def anchors(page: Path) -> set[str]:
    """Of the headings, as GitHub makes them."""
    headings = (line.text.lstrip("#").strip() for line in read(page)[0] if line.text.startswith("#"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def table(page: Path, heading: str) -> list[list[str]]:
    """The rows, without the head, of the first table under a heading; `\\|` is a bar inside a cell."""
    lines = iter(read(page)[0])
    if not any(line.text.lstrip("#").strip() == heading and line.text.startswith("#") for line in lines):
        raise AssertionError(f"{short(page)} has no heading '{heading}'")
    rows: list[list[str]] = []
    for line in lines:
        if line.text.startswith("|"):
            cells = re.split(r"(?<!\\)\|", line.text.strip()[1:-1])
            rows.append([cell.strip().replace("\\|", "|") for cell in cells])
        elif rows or line.text.startswith("#"):
            break
    assert len(rows) > 2, f"{short(page)} has no table under '{heading}'"
    return rows[2:]
