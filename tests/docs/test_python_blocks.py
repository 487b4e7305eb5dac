"""Every `python` block of README and docs/ is run as it stands, and prints what the `text` block behind it shows."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from homeport.mcp_client.endpoint import PASSED_ON
from tests.docs.console import Machine, matches
from tests.docs.pages import DOCS, REPAIR, Block, blocks, read, short


def examples(page: Path) -> list[tuple[Block, Block]]:
    """Each program with the block that shows what it prints."""
    found: list[tuple[Block, Block]] = []
    before: Block | None = None
    for block in read(page)[1]:
        if before and before.language == "python":
            assert block.language == "text", f"{short(page)}:{before.first}: no `text` block behind it"
            found.append((before, block))
        before = block
    return found


PLACES = [
    (page, at) for page in dict.fromkeys(block.page for block in blocks("python")) for at in range(len(examples(page)))
]


@pytest.mark.parametrize(("page", "at"), PLACES, ids=[f"{short(page)}-{at + 1}" for page, at in PLACES])
def test_an_example_prints_what_the_page_shows(page: Path, at: int, tmp_path: Path, updates_docs: bool) -> None:
    program, output = examples(page)[at]
    machine = Machine(tmp_path, ())
    (machine.folder / "example.py").write_text(program.text, encoding="utf-8")
    printed = machine.run("python3 -W error example.py")
    if matches(output.lines, printed):
        return
    if updates_docs:
        lines = page.read_text(encoding="utf-8").splitlines()
        lines[output.first - 1 : output.first - 1 + len(output.lines)] = printed
        page.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return
    compared = difflib.unified_diff(output.lines, printed, "the page", "printed now", lineterm="", n=2)
    pytest.fail("\n".join([f"{short(page)}:{program.first}", *compared, REPAIR]), pytrace=False)


def test_every_program_of_a_page_is_among_the_examples() -> None:
    assert sum(len(examples(page)) for page in {page for page, _ in PLACES}) == len(blocks("python"))


def test_the_page_lists_the_variables_that_a_server_gets() -> None:
    listed = [block for block in read(DOCS / "agents.md")[1] if block.language == "variables"]
    assert [set(block.text.split()) for block in listed] == [PASSED_ON]
