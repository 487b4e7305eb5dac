"""Names in the pages are the program's: every one is there, and none that does not exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from homeport import errors
from homeport.cli.main import COMMANDS, homeport
from homeport.errors import CODES
from homeport.installer.clients import CLIENTS
from tests.docs.pages import DOCS, ROOT, Found, blocks, code_spans, pages, read, short, table
from tests.made import FOLDER, PLATFORMS, make_machine

SOURCE = ROOT / "src" / "homeport"
GOLDEN = ROOT / "golden"

# Options of other programs that the pages mention.
FOREIGN_OPTIONS = {"--token"}

# Variables of servers in examples, and what looks like a variable and is none.
EXAMPLE_VARIABLES = {"GITHUB_TOKEN", "DOCS_TOKEN", "LEDGER_TOKEN", "WEATHER_KEY"}

# In the source in capitals, and no environment variable.
NO_VARIABLES = {
    "ACTOR", "ADDRESS", "AKIA", "ASIA", "BEGIN", "CLIENT", "CLIENTS", "COMMIT", "CONVERSATION", "CURSOR", "DELETE",
    "DIR", "FILE", "LEVEL", "LINE", "NAME", "NEW", "NEWEST", "NFC", "NFKC", "NFKD", "OLD", "OPERATION", "O_BINARY",
    "O_NOFOLLOW", "O_NONBLOCK", "POST", "PROJECT", "ROLLBACK", "RUNS", "SCOPE", "SERVER", "SHELL", "STATE", "STATUS",
    "TEXT", "TIME", "TURNS", "URL", "VACUUM", "WAL",
}  # fmt: skip
# Spelled by Windows in mixed case.
MIXED_CASE = {"ProgramData", "ProgramFiles", "ProgramFiles(x86)", "SystemRoot"}


def command(name: str) -> click.Command:
    found = homeport.get_command(click.Context(homeport), name)
    assert found is not None
    return found


def options(name: str) -> set[str]:
    """The long options of a command and of the commands below it, without --help."""
    found = command(name)
    whole = [found, *(found.commands.values() if isinstance(found, click.Group) else ())]
    return {option for one in whole for parameter in one.params for option in parameter.opts if option[:2] == "--"}


def documented_options(page: Path) -> list[str]:
    """The first word of each row's first cell, in every table of the page whose cells begin with an option."""
    cells = (re.match(r"\| `(--[\w-]+)", line.text) for line in read(page)[0])
    return [match[1] for match in cells if match]


def command_pages() -> dict[str, Path]:
    return {path.stem: path for path in sorted((DOCS / "commands").glob("*.md"))}


def test_every_command_has_a_page_and_no_page_is_of_another() -> None:
    assert set(command_pages()) == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_commands_page_lists_its_options(name: str) -> None:
    page = command_pages()[name]
    assert page.read_text(encoding="utf-8").startswith(f"# homeport {name}\n")
    listed = documented_options(page)
    assert len(listed) == len(set(listed)), f"{short(page)} lists an option twice"
    assert set(listed) == options(name), f"{short(page)}: add a row to its table of options, or take one out"


def said_options() -> Iterator[Found]:
    for page in pages():
        for found in code_spans(page):
            yield from (Found(page, found.number, word) for word in re.findall(r"(?<![\w-])--[a-z][\w-]*", found.text))
        for block in read(page)[1]:
            for at, line in enumerate(block.lines):
                if line.startswith(("$ homeport", "homeport")):
                    words = re.findall(r"(?<![\w-])--[a-z][\w-]*", line.split(" -- ")[0])
                    yield from (Found(page, block.first + at, word) for word in words)


def test_no_page_names_an_option_that_is_none() -> None:
    known = {option for name in COMMANDS for option in options(name)} | {"--help", "--version"} | FOREIGN_OPTIONS
    assert [f"{found.place}: {found.text}" for found in said_options() if found.text not in known] == []


def test_no_page_names_a_command_that_is_none() -> None:
    """`homeport WORD` in code is a command; three that are still to come are named as such in README."""
    said = (found for page in pages() for found in code_spans(page))
    named = [(found.place, match[1]) for found in said if (match := re.match(r"homeport ([a-z]\w*)", found.text))]
    for block in [*blocks("console"), *blocks("")]:
        for at, line in enumerate(block.lines):
            if match := re.match(r"(?:\$ )?homeport ([a-z]\w*)", line):
                named.append((f"{short(block.page)}:{block.first + at}", match[1]))
    assert [f"{place}: {word}" for place, word in named if word not in COMMANDS] == []


def test_clients_registry_pages_rows_and_golden_folders_agree() -> None:
    rows = [
        re.fullmatch(r"\[`([\w-]+)`\]\(clients/([\w-]+)\.md\)", row[0])
        for row in table(DOCS / "clients.md", "The clients")
    ]
    assert [row and row[1] for row in rows] == list(CLIENTS)
    assert [row and row[2] for row in rows] == list(CLIENTS)
    assert {path.stem for path in (DOCS / "clients").glob("*.md")} == set(CLIENTS)
    assert {path.name for path in GOLDEN.iterdir()} - {"mcp-json", "serve"} == set(CLIENTS)
    for name, client in CLIENTS.items():
        assert (DOCS / "clients" / f"{name}.md").read_text(encoding="utf-8").startswith(f"# {client.LABEL}\n")


def test_the_files_of_clients_are_where_the_program_writes() -> None:
    said = {tuple(cell.strip("`") for cell in row) for row in table(DOCS / "clients.md", "Files")}
    found = set()
    for name, client in CLIENTS.items():
        for level in ("user", "project"):
            machines = [make_machine(platform, {".git": FOLDER}) for platform in PLATFORMS]
            try:
                files = [machine.file(client, level) for machine in machines]
            except errors.HomeportError as error:
                assert error.code == "level_unsupported"
                continue
            found.add((name, level, *(file.removeprefix("~/code/app/") for file in files)))
    assert said == found


def test_the_table_of_clients_says_what_the_adapters_say() -> None:
    """Levels, container and working folder, as far as they are data."""
    rows = {row[0].split("`")[1]: row for row in table(DOCS / "clients.md", "The clients")}
    merged = {row[0].strip("`"): row[1] for row in table(DOCS / "clients.md", "What they do with an entry")}
    for name, client in CLIENTS.items():
        place = make_machine().target(client)
        assert f"`{place.container[-1]}`" in rows[name][2]
        assert ("merged key by key" in merged[name]) == client.MERGES_LEVELS, name


def code_rows() -> list[tuple[str, str, str]]:
    page = DOCS / "errors.md"
    found = (re.match(r"\| `([a-z_]+)` \| (\d+) \| ([^|]+) \| [^|]+ \|$", line.text) for line in read(page)[0])
    return [(match[1], match[2], match[3]) for match in found if match]


def test_every_error_code_stands_in_its_table_with_exit_code_and_meaning() -> None:
    expected = [(code, str(exit_code), meaning) for code, (exit_code, meaning) in CODES.items()]
    rows = [
        f"| `{code}` | {number} | {meaning} | what to do |"
        for code, number, meaning in expected
        if (code, number, meaning) not in code_rows()
    ]
    assert rows == [], "docs/errors.md lacks these rows"
    assert code_rows() == expected, "docs/errors.md: rows in another order than CODES, or too many"


@pytest.mark.parametrize("page", ["automation", "errors"])
def test_the_exit_codes_are_the_programs(page: str) -> None:
    said = [int(row[0]) for row in table(DOCS / f"{page}.md", "Exit codes")]
    assert said == [errors.OK, errors.FAILED, errors.USAGE, errors.CHANGE_NEEDED, errors.INTERRUPTED]


def variables_in_the_source() -> set[str]:
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if re.fullmatch(r"[A-Z][A-Z0-9_]{2,}", node.value) and not node.value.endswith("_"):
                    found.add(node.value)
                found |= {node.value} & MIXED_CASE
    return found - NO_VARIABLES


def documented_variables() -> set[str]:
    lines = (line.text for line in read(DOCS / "variables.md")[0] if line.text.startswith("| `"))
    return {name for line in lines for name in re.findall(r"`([A-Z][\w()]+)`", line.split(" | ")[0])}


def test_every_variable_that_is_read_is_documented_and_no_other() -> None:
    assert documented_variables() == variables_in_the_source()


def test_no_page_names_a_variable_that_is_none() -> None:
    known = variables_in_the_source() | EXAMPLE_VARIABLES | {"NAME", "LIKE_THIS"}
    said = (
        Found(page, found.number, name)
        for page in pages()
        for found in code_spans(page)
        for name in re.findall(r"(?<![\w<.])\$?\{?((?:HOMEPORT|[A-Z]{2,})_[A-Z_]+[A-Z])\b", found.text)
    )
    assert [f"{found.place}: {found.text}" for found in said if found.text not in known] == []


def test_no_page_names_a_code_or_field_that_is_none() -> None:
    """A word_like_this in backticks is an error code, a field, or a key that the program writes."""
    words = set()
    for path in [*SOURCE.rglob("*.py"), *(DOCS / "schemas").glob("*.json")]:
        words |= set(re.findall(r"[a-z]+(?:_[a-z]+)+", path.read_text(encoding="utf-8")))
    said = (found for page in pages() for found in code_spans(page) if re.fullmatch(r"[a-z]+(?:_[a-z]+)+", found.text))
    assert [f"{found.place}: {found.text}" for found in said if found.text not in words] == []
