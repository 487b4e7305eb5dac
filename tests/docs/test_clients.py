"""What the pages say of the clients, held to the adapters: places, format, references, transports, examples."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from homeport.errors import HomeportError
from homeport.installer.clients import CLIENTS
from homeport.installer.clients.values import Level, Place, Reference, Remote, Server, Stdio, Text
from tests.docs.console import Command, commands
from tests.docs.pages import DOCS, REPAIR, ROOT, read, short, table
from tests.made import FOLDER, PLATFORMS, Machine, make_environment, make_machine

CLIENTS_PAGE: Final = DOCS / "clients.md"
FORMATS: Final = {"json": "strict JSON", "jsonc": "JSONC", "toml": "TOML"}
SYSTEMS: Final = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}
CLEARED: Final = {"almost nothing", "a short list"}
CONFIDENCE: Final = ("documented", "measured", "from an issue", "from issues", "inferred")

RUN: Final = Text(("/opt/rota",))
ADDRESS: Final = Text(("https://rota.example.com/mcp",))
NAME: Final = Text((Reference("NAME"),))
TRANSPORTS: Final[dict[str, Server]] = {
    "stdio": Stdio(RUN),
    "http": Remote(ADDRESS),
    "sse": Remote(ADDRESS, transport="sse"),
}
# A column of the table of references -> a registration that has one there.
SPOTS: Final[dict[str, Server]] = {
    "command": Stdio(NAME),
    "argument": Stdio(RUN, (NAME,)),
    "variable": Stdio(RUN, env=(("NAME", NAME),)),
    "variable of another name": Stdio(RUN, env=(("OTHER", NAME),)),
    "variable, with a default": Stdio(RUN, env=(("NAME", Text((Reference("NAME", "x"),))),)),
    "URL": Remote(Text(("https://", Reference("NAME")))),
    "header": Remote(ADDRESS, (("X-Key", NAME),)),
    "header `Authorization: Bearer`": Remote(ADDRESS, (("Authorization", Text(("Bearer ", Reference("NAME")))),)),
}


def page_of(name: str) -> Path:
    return DOCS / "clients" / f"{name}.md"


def entry_of(name: str, server: Server, place: Place | None = None) -> dict[str, Any] | None:
    """The entry, or None where the client cannot hold it."""
    try:
        return CLIENTS[name].entry(server, place or make_machine().target(CLIENTS[name])).value
    except HomeportError as error:
        assert error.code in ("reference_unsupported", "transport_unsupported", "field_unsupported")
        return None


def check_table(page: Path, heading: str, head: list[str], rows: list[list[str]], updates_docs: bool) -> None:
    """The table under a heading is made of these rows; with --update-docs it is written."""
    made = [f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in (head, *rows)]
    made.insert(1, "|" + "---|" * len(head))
    lines = page.read_text(encoding="utf-8").splitlines()
    start = next(at for at in range(lines.index(heading), len(lines)) if lines[at].startswith("|"))
    end = next(at for at in range(start, len(lines) + 1) if at == len(lines) or not lines[at].startswith("|"))
    if updates_docs:
        lines[start:end] = made
        page.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return
    assert lines[start:end] == made, f"{short(page)}, {heading}: {REPAIR}"


def used_machine(platform: Any) -> Machine:
    """A project that Claude Code has a record of, beside another's."""
    cwd = str(make_environment(platform).cwd)
    records = json.dumps({"projects": {"/srv/other": {}, cwd: {}}}).encode()
    return make_machine(platform, {".git": FOLDER, "~/.claude.json": records})


def rows_of_places(name: str, platform: Any) -> Iterator[tuple[str, str, str, str]]:
    """Level, file, keys and whether `install` writes there: what the client reads, weakest first."""
    machine, client = used_machine(platform), CLIENTS[name]
    for place in client.layers(machine.environment, machine.disk, machine.view):
        keys = tuple("PROJECT" if key == str(machine.environment.cwd) else key for key in place.container)
        keys = tuple("ANOTHER" if key == "/srv/other" else key for key in keys)
        file = f"`{machine.short(place.file).removeprefix('~/code/app/')}`"
        if place.level == "parent":
            file = f"`{place.file.name}` in every folder above"
        yield place.level, file, f"`{'.'.join(keys)}`", "yes" if is_written(name, machine, place) else ""


def is_written(name: str, machine: Machine, place: Place) -> bool:
    if place.level not in ("user", "project"):
        return False
    target = machine.target(CLIENTS[name], place.level)
    return (target.file, target.container) == (place.file, place.container)


def table_of_places(name: str) -> list[list[str]]:
    """One row for each place, with the systems that have it."""
    systems: dict[tuple[str, str, str, str], list[str]] = {}
    order: list[tuple[str, str, str, str]] = []
    for platform in PLATFORMS:
        at = 0
        here = list(dict.fromkeys(rows_of_places(name, platform)))
        for row in here:
            while row not in systems and at < len(order) and order[at] not in here:
                at += 1
            if row not in systems:
                order.insert(at, row)
            systems.setdefault(row, []).append(SYSTEMS[platform])
            at = order.index(row) + 1
    shown = {row: "all" if len(names) == len(PLATFORMS) else ", ".join(names) for row, names in systems.items()}
    return [[*row[:3], shown[row], row[3]] for row in order]


@pytest.mark.parametrize("name", CLIENTS)
def test_a_page_names_every_place_that_its_client_reads(name: str, updates_docs: bool) -> None:
    head = ["level", "file", "keys", "system", "`install` writes there"]
    check_table(page_of(name), "## Places", head, table_of_places(name), updates_docs)


@pytest.mark.parametrize("name", CLIENTS)
def test_a_page_names_the_variables_that_move_its_files(name: str) -> None:
    rows = table(DOCS / "variables.md", "The clients'")
    mine = [row[0] for row in rows if re.search(rf"\b{CLIENTS[name].LABEL}\b", row[1])]
    named = [variable for cell in mine for variable in re.findall(r"`(\w+)`", cell)]
    text = page_of(name).read_text(encoding="utf-8")
    assert [variable for variable in named if variable not in text] == []


@pytest.mark.parametrize("name", CLIENTS)
def test_every_fact_of_a_page_says_how_it_is_known(name: str) -> None:
    rows = table(page_of(name), CLIENTS[name].LABEL)
    assert [row[0] for row in rows if len(row) != 3 or not any(word in row[2] for word in CONFIDENCE)] == []


def test_the_table_of_references_is_what_the_adapters_write(updates_docs: bool) -> None:
    rows = [[f"`{name}`", *(spelling(name, server) for server in SPOTS.values())] for name in CLIENTS]
    check_table(CLIENTS_PAGE, "## References", ["client", *SPOTS], rows, updates_docs)


def spelling(name: str, server: Server) -> str:
    """How the variable stands in the entry: the reference, or the key that holds its name."""
    entry = entry_of(name, server)
    if entry is None:
        return "no"
    ((key, text),) = [(key, text) for key, value in entry.items() for text in leaves(value) if "NAME" in text]
    found = re.search(r"\$?\{.*\}", text)
    return f"`{found[0] if found else key}`"


def leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in leaves(item)]
    if isinstance(value, list):
        return [text for item in value for text in leaves(item)]
    return [str(value)]


@pytest.mark.parametrize("name", CLIENTS)
def test_the_row_of_what_a_client_does_with_an_entry_is_the_adapters(name: str) -> None:
    rows = {row[0].strip("`"): row for row in table(CLIENTS_PAGE, "What they do with an entry")}
    _, _, environment, transports, folder, form = rows[name]
    assert form == FORMATS[CLIENTS[name].DIALECT]
    assert (environment in CLEARED) == CLIENTS[name].CLEARS_ENVIRONMENT
    assert transports == ", ".join(word for word, server in TRANSPORTS.items() if entry_of(name, server) is not None)
    assert ("cwd" in folder) == (entry_of(name, Stdio(RUN, cwd="/srv")) is not None)


def examples(name: str) -> list[tuple[Level, dict[str, Any]]]:
    """The fragments that a page shows: the level and the entry."""
    found: list[tuple[Level, dict[str, Any]]] = []
    for block in read(page_of(name))[1]:
        for command in commands(block) if block.language == "console" else ():
            level: Level = "project" if "--level project" in command.typed else "user"
            found += [(level, entry) for entry in fragments(name, command)]
    return found


def fragments(name: str, command: Command) -> list[dict[str, Any]]:
    """The entries between the line that names the file and the one that says what would happen."""
    end = next((at for at, line in enumerate(command.output) if line.startswith("  '")), 0)
    text = "\n".join(command.output[1:end])
    if not text:
        return []
    value = tomllib.loads(text) if CLIENTS[name].DIALECT == "toml" else json.loads(text)
    (container,) = [key for key in value if isinstance(value[key], dict)]
    return list(value[container].values())


@pytest.mark.parametrize("name", CLIENTS)
def test_an_example_is_what_the_adapter_makes_of_the_server_in_it(name: str) -> None:
    client = CLIENTS[name]
    for level, entry in examples(name):
        server = client.server(entry)
        assert server is not None
        assert entry_of(name, server, make_machine().target(client, level)) == entry


@pytest.mark.parametrize("name", CLIENTS)
def test_a_page_shows_every_shape_that_an_entry_can_have(name: str) -> None:
    entries = [entry for server in TRANSPORTS.values() if (entry := entry_of(name, server))]
    shown = [entry for _, entry in examples(name)]
    assert {transport(name, entry) for entry in shown} == {transport(name, entry) for entry in entries}


def transport(name: str, entry: dict[str, Any]) -> str:
    server = CLIENTS[name].server(entry)
    return server.transport if isinstance(server, Remote) else "stdio"


def test_only_a_client_that_the_test_suite_runs_is_called_measured() -> None:
    rows = {row[0].split("`")[1]: row for row in table(CLIENTS_PAGE, "The clients")}
    pins = (ROOT / "tests" / "real_clients" / "versions.txt").read_text(encoding="utf-8").split()
    measured = {name for name, row in rows.items() if "measured" in row[-2]}
    assert measured == {name for name, row in rows.items() if "the real client" in row[-1]}
    assert len(measured) == len(pins)
