"""`homeport memory export`, `import` and `search`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from homeport.cli.main import usage_error
from homeport.cli.memory_home import OpenHome, with_home


@click.command("export")
@click.argument("target", type=click.Path())
@click.option("--from", "address", metavar="ADDRESS", default="/", help="This document or folder alone.")
@click.option("--versions", is_flag=True, help="Versions with their texts too, as JSON lines in versions.jsonl.")
@with_home
def export_command(home: OpenHome, target: str, address: str, versions: bool) -> int:
    """Write documents to a folder or an archive.

    Each lies under its address. TARGET is an archive where it ends in .tar, .tar.gz or .tgz, else a folder. It must
    not be there yet. What cannot be read is named and left out.
    """
    from homeport.server.operations.transfer import export_documents

    outcome = export_documents(home.documents, _path(target), address, versions, home.call)
    return home.show(outcome, f"{outcome.text}\n")


@click.command("import")
@click.argument("source", type=click.Path(exists=True))
@click.option("--into", metavar="ADDRESS", default="/", help="Below this folder; / takes what `export` wrote.")
@click.option("--replace", is_flag=True, help="Overwrite documents that are there with another text.")
@with_home
def import_command(home: OpenHome, source: str, into: str, replace: bool) -> int:
    """Make documents of a folder or an archive.

    One that is damaged, unsafe or in the way of a document is named and left out; the others are taken. Links, devices
    and names that lead elsewhere are never followed.
    """
    from homeport.server.operations.transfer import import_documents

    outcome = import_documents(home.documents, _path(source), into, replace, home.call)
    return home.show(outcome, f"{outcome.text}\n")


@click.command()
@click.argument("query")
@click.argument("address", default="/")
@click.option("--limit", type=int, default=100, show_default=True, metavar="N", help="Show so many lines.")
@with_home
def search(home: OpenHome, query: str, address: str, limit: int) -> int:
    """Show the lines that hold a text.

    Whatever its case. What looks like a credential is hidden.
    """
    from homeport.server.operations.search import search as find

    return home.show(find(home.documents, query, address, limit))


def _path(text: str) -> Path:
    if not text:
        raise usage_error("the path is empty")
    return Path(text)


COMMANDS: Final = (export_command, import_command, search)
