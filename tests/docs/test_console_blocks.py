"""Every `console` block of README and docs/ is run, and says what the program says."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from homeport.disk import Disk
from homeport.environment import Environment
from homeport.installer.plan.launcher import unstable_interpreter
from tests.docs.console import Command, Machine, clients_of, commands, matches, run_block
from tests.docs.pages import REPAIR, Block, blocks, read, short


def pages_with_blocks() -> list[Path]:
    return list(dict.fromkeys(block.page for block in blocks("console")))


@pytest.mark.parametrize("page", pages_with_blocks(), ids=short)
def test_what_a_page_shows_is_what_the_program_prints(page: Path, tmp_path: Path, updates_docs: bool) -> None:
    unstable = unstable_interpreter(Environment.current(), Disk())
    if unstable is not None:
        pytest.skip(f"the pages show a lasting installation, and {unstable.message}")
    machine = Machine(tmp_path, clients_of(page))
    ran = [(block, list(run_block(machine, block))) for block in read(page)[1] if block.language == "console"]
    if updates_docs:
        _write(page, ran)
        return
    for block, lines in ran:
        for command, printed in lines:
            if not matches(command.output, printed):
                where = f"{short(page)}:{block.first + command.line}: $ {command.typed}"
                compared = difflib.unified_diff(command.output, printed, "the page", "printed now", lineterm="", n=2)
                pytest.fail("\n".join([where, *compared, REPAIR]), pytrace=False)


def _write(page: Path, ran: list[tuple[Block, list[tuple[Command, tuple[str, ...]]]]]) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    for block, outputs in reversed(ran):
        made: list[str] = []
        for command, (_, printed) in zip(commands(block), outputs, strict=True):
            first, *more = command.typed.split("\n")
            kept = command.output if matches(command.output, printed) else printed
            made += [f"$ {first}", *(f"> {line}" for line in more), *kept]
        lines[block.first - 1 : block.first - 1 + len(block.lines)] = made
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
