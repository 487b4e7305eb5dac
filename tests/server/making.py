"""Documents of a made home, and shorthands to use them."""

from __future__ import annotations

import time
from pathlib import Path

from homeport.server.state.documents.store import Caller, Change, Documents
from homeport.server.state.home import open_home
from homeport.server.state.mounts import Mount
from homeport.server.state.paths import parse_address

RW = Mount("user:ann", "m")


def make_documents(root: Path, *mounts: Mount) -> Documents:
    return Documents(open_home(root), mounts or (RW,))


def caller(actor: str = "mcp:test", patience_s: float = 4.5) -> Caller:
    return Caller(actor, time.monotonic() + patience_s)


def put(documents: Documents, path: str, text: str, expected: int | None = None, actor: str = "mcp:test") -> Change:
    return documents.write(parse_address(path), lambda present: text, expected, caller(actor))


def text_of(documents: Documents, path: str) -> str:
    return documents.read(parse_address(path), caller()).text


def version_of(documents: Documents, path: str) -> tuple[int, str, str] | None:
    """Number, action and actor of the version a document is at."""
    version = documents.read(parse_address(path), caller()).version
    return (version.number, version.action, version.actor) if version else None


def names(documents: Documents, path: str) -> list[str]:
    return [str(listed.address) for listed in documents.listing(parse_address(path))]
