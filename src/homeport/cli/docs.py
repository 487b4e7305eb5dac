"""`homeport docs`: the pages of docs/, without a network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import click

from homeport.cli import output
from homeport.cli.main import usage_error
from homeport.errors import OK, HomeportError

_COMMENT: Final = r"(?s)<!--.*?-->\n*"
_SENTENCE: Final = r"(.+?[.!?])(?:\s|$)"


class Page(NamedTuple):
    """topic: the page's path below docs/ without its ending. summary: the first sentence below the title."""

    topic: str
    title: str
    summary: str
    text: str

    def as_json(self, *, whole: bool) -> dict[str, str]:
        short = {"topic": self.topic, "title": self.title, "summary": self.summary}
        return short | {"text": self.text} if whole else short


@click.command()
@click.argument("topic", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON envelope.")
def docs(topic: str | None, as_json: bool) -> int:
    """Print a page of the documentation, or without TOPIC the list of them. No network is needed.

    \b
    Examples:
      homeport docs
      homeport docs quickstart
      homeport docs commands/install
    """
    pages = {page.topic: page for page in _pages(_folder())}
    if topic is None:
        _list(pages, as_json)
        return OK
    page = _meant(pages, topic.removesuffix(".md"))
    if page is None:
        raise usage_error(f"there is no page '{topic}'", f"the pages are {', '.join(pages)}", topic=topic)
    if as_json:
        output.show_envelope("docs", page.as_json(whole=True), None)
    else:
        output.artifact(page.text)
    return OK


def _meant(pages: dict[str, Page], topic: str) -> Page | None:
    """The page of that name, or the only one whose last part it is: `install` for commands/install."""
    if topic in pages:
        return pages[topic]
    ending = [page for page in pages.values() if page.topic.endswith(f"/{topic}")]
    return ending[0] if len(ending) == 1 else None


def _list(pages: dict[str, Page], as_json: bool) -> None:
    if as_json:
        output.show_envelope("docs", {"topics": [page.as_json(whole=False) for page in pages.values()]}, None)
        return
    output.artifact(output.table((page.topic, page.title) for page in pages.values()) + "\n")
    output.guidance("Read one with: homeport docs TOPIC")


def _folder() -> Path:
    """Beside the package in a wheel; in a checkout where they are written.

    Raises HomeportError: docs_missing.
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "docs", package.parents[1] / "docs"):
        if (folder / "quickstart.md").is_file():
            return folder
    raise HomeportError("docs_missing", "this installation came without its documentation", "install homeport again")


def _pages(folder: Path) -> Iterator[Page]:
    """The general pages first, then commands and clients; each by name."""
    for path in sorted(folder.rglob("*.md"), key=lambda path: (len(path.parts), path)):
        text = re.sub(_COMMENT, "", path.read_text(encoding="utf-8"))
        title, _, body = text.partition("\n")
        paragraph = " ".join(body.strip().partition("\n\n")[0].split())
        sentence = re.match(_SENTENCE, paragraph)
        topic = path.relative_to(folder).with_suffix("").as_posix()
        yield Page(topic, title.removeprefix("# "), sentence.group(1) if sentence else paragraph, text)
