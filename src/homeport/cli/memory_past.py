"""`homeport memory versions`, `revert` and `redact`: what documents were."""

from __future__ import annotations

from typing import Final

import click

from homeport.cli.main import usage_error
from homeport.cli.memory_home import OpenHome, with_home


@click.command()
@click.argument("address")
@click.option("--show", type=int, metavar="N", help="The text of version N, just as it was.")
@click.option("--diff", "span", metavar="OLD[:NEW]", help="What changed from version OLD to NEW, or to the newest.")
@click.option("--limit", type=int, default=50, show_default=True, metavar="N", help="List so many, the newest first.")
@with_home
def versions(home: OpenHome, address: str, show: int | None, span: str | None, limit: int) -> int:
    """List a document's versions, show one, or compare two.

    A deleted document has its versions still.
    """
    from homeport.server.operations import past

    if show is not None and span is not None:
        raise usage_error("--show and --diff do not go together")
    if show is not None:
        shown = past.version_text(home.documents, address, show, home.call)
        return home.show(shown, shown.text)
    if span is not None:
        old, new = _span(span)
        compared = past.difference(home.documents, address, old, new, home.call)
        return home.show(compared, compared.text)
    return home.show(past.versions(home.documents, address, limit, home.call))


@click.command()
@click.argument("address")
@click.argument("version", type=int)
@click.option("--expected-version", type=int, metavar="N", help="Only if the document is at this version now.")
@with_home
def revert(home: OpenHome, address: str, version: int, expected_version: int | None) -> int:
    """Make an earlier text the present one.

    It is a new version, and none is taken away. A deleted document is made again.
    """
    from homeport.server.operations import past

    return home.show(past.revert(home.documents, address, version, expected_version, home.call))


@click.command()
@click.argument("address")
@click.argument("version", type=int, required=False)
@click.option("--all", "everything", is_flag=True, help="Every version.")
@click.option("--current", is_flag=True, help="Also where the document still holds the text, which stays in its file.")
@with_home
def redact(home: OpenHome, address: str, version: int | None, everything: bool, current: bool) -> int:
    """Take a version's text out for good.

    As for a password that was written by mistake: no byte of it is left in the database. Its
    number, actor, time and size stay. Copies of the home that were made elsewhere are not reached.
    """
    from homeport.server.operations import past

    if (version is None) != everything:
        raise usage_error("give a VERSION, or --all", "`homeport memory versions ADDRESS` lists them")
    return home.show(past.redact(home.documents, address, version, current, home.call))


def _span(text: str) -> tuple[int, int | None]:
    old, colon, new = text.partition(":")
    try:
        return int(old), int(new) if colon else None
    except ValueError:
        raise usage_error(f"--diff {text!r} is not OLD:NEW", "as in 3:5, or 3 up to the newest") from None


COMMANDS: Final = (versions, revert, redact)
