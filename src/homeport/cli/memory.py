"""`homeport memory`: the documents, for people: the six commands of the tool, and what only people need."""

from __future__ import annotations

from typing import Any

import click

from homeport.cli import memory_past, memory_transfer, output
from homeport.cli.main import usage_error
from homeport.cli.memory_home import OpenHome, given, printable, with_home, words_of
from homeport.errors import OK

expected_version = click.option(
    "--expected-version", type=int, metavar="N", help="Only if the document is at this version; 0: only if none is."
)
recursive = click.option("--recursive", is_flag=True, help="A folder, and all that is in it.")


@click.group()
def memory() -> None:
    """View and change documents, look at what they were, take them elsewhere.

    The same documents, locks and versions as the server's tool. A document is named by its address, as in
    /user/notes.md: /user is about you, /project about the project of the working folder. TEXT, OLD and NEW may be -,
    which reads stdin; one that begins with a dash goes behind --.

    \b
    Examples:
      homeport memory view /
      homeport memory create /user/notes.md - < notes.md
      homeport memory versions /user/notes.md
    """


@memory.command()
@click.argument("address", default="/")
@click.option("--lines", metavar="FIRST:LAST", help="These lines of a document alone; LAST may be -1, the last one.")
@click.option("--offset", type=int, metavar="N", help="Leave out as many characters of the first line.")
@click.option("--after", metavar="ADDRESS", help="Go on behind this one in a long listing.")
@with_home
def view(home: OpenHome, address: str, lines: str | None, offset: int | None, after: str | None) -> int:
    """Show the index, a folder, or a document.

    A document's text is printed just as it is, all of it.
    With --json it is one page, as the tool answers it; `next` says how to go on.
    """
    arguments = given(path=address, view_range=_range(lines), offset=offset, after=after)
    outcome = _memory(home, "view", arguments)
    result = outcome.result or {}
    if home.as_json or outcome.error is not None or result.get("kind") != "document":
        return home.show(outcome)
    output.guidance(_heading(result))
    while True:
        output.artifact(printable(result["content"]))
        following = result["next"]
        if following is None:
            return OK
        outcome = _memory(home, "view", {"path": address, **following})
        if outcome.error is not None:
            return home.show(outcome)
        result = outcome.result or {}


@memory.command()
@click.argument("words", nargs=-1, metavar="ADDRESS TEXT")
@expected_version
@with_home
def create(home: OpenHome, words: tuple[str, ...], expected_version: int | None) -> int:
    """Write a whole document, new or over the old one."""
    address, text = words_of(words, home, "ADDRESS", "TEXT")
    return home.show(_memory(home, "create", given(path=address, file_text=text, expected_version=expected_version)))


@memory.command("str_replace")
@click.argument("words", nargs=-1, metavar="ADDRESS OLD NEW")
@expected_version
@with_home
def str_replace(home: OpenHome, words: tuple[str, ...], expected_version: int | None) -> int:
    """Put NEW for OLD, which must occur exactly once."""
    address, old, new = words_of(words, home, "ADDRESS", "OLD", "NEW")
    return home.show(
        _memory(home, "str_replace", given(path=address, old_str=old, new_str=new, expected_version=expected_version))
    )


@memory.command()
@click.argument("words", nargs=-1, metavar="ADDRESS LINE TEXT")
@expected_version
@with_home
def insert(home: OpenHome, words: tuple[str, ...], expected_version: int | None) -> int:
    """Put lines after line LINE; 0 is the top."""
    address, line, text = words_of(words, home, "ADDRESS", "LINE", "TEXT")
    if not line.isascii() or not line.isdigit():
        raise usage_error(f"LINE is {line!r}, and must be a number", "0 is the top")
    return home.show(
        _memory(
            home,
            "insert",
            given(path=address, insert_line=int(line), insert_text=text, expected_version=expected_version),
        )
    )


@memory.command()
@click.argument("address")
@expected_version
@recursive
@with_home
def delete(home: OpenHome, address: str, expected_version: int | None, recursive: bool) -> int:
    """Delete a document, or with --recursive a folder.

    Versions stay: `revert` brings a document back.
    """
    return home.show(
        _memory(home, "delete", given(path=address, expected_version=expected_version, recursive=recursive or None))
    )


@memory.command()
@click.argument("address")
@click.argument("new_address")
@expected_version
@recursive
@with_home
def rename(home: OpenHome, address: str, new_address: str, expected_version: int | None, recursive: bool) -> int:
    """Give a document another address.

    With --recursive a folder; on another mount too.
    """
    return home.show(
        _memory(
            home,
            "rename",
            given(
                old_path=address,
                new_path=new_address,
                expected_version=expected_version,
                recursive=recursive or None,
            ),
        )
    )


def _memory(home: OpenHome, command: str, arguments: Any) -> Any:
    from homeport.server.operations.memory import memory_operation
    from homeport.server.operations.operation import perform

    return perform(memory_operation(home.documents), {"command": command, **arguments}, home.call)


def _range(lines: str | None) -> list[int] | None:
    if lines is None:
        return None
    first, colon, last = lines.partition(":")
    try:
        return [int(first), int(last) if colon else int(first)]
    except ValueError:
        raise usage_error(f"--lines {lines!r} is not FIRST:LAST", "as in 3:10, or 3:-1 up to the end") from None


def _heading(result: Any) -> str:
    version = f"version {result['version']} by {result['actor']}, {result['stamp']}" if result["version"] else ""
    lines = f"{result['lines']} line{'' if result['lines'] == 1 else 's'}"
    return f"{result['path']}: {', '.join(filter(None, (version, lines)))}"


for command in (*memory_past.COMMANDS, *memory_transfer.COMMANDS):
    memory.add_command(command)
