"""Scopes: whose state something is. `user:ann`, `user:ann/proj:site`."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import Final

from homeport.errors import HomeportError

LONGEST_CHARS: Final = 200  # its folder's name stays under the 255 bytes of every file system
LONGEST_SLUG_CHARS: Final = 64
_SEGMENT: Final = re.compile(r"[a-z][a-z0-9_]{0,31}:[A-Za-z0-9_.-]{0,127}[A-Za-z0-9_-]")
_ACTOR: Final = re.compile(r"[a-z][a-z0-9-]{0,31}:[A-Za-z0-9_.-]{1,128}")
_NOT_IN_A_SLUG: Final = re.compile(r"[^A-Za-z0-9_.-]+")


def parse_scope(text: str) -> str:
    """Give `text` back when it is a scope: `kind:id` segments joined by `/`, at most 8.

    Raises HomeportError: bad_scope.
    """
    segments = text.split("/")
    if len(text) <= LONGEST_CHARS and len(segments) <= 8 and all(map(_SEGMENT.fullmatch, segments)):
        return text
    raise HomeportError(
        "bad_scope",
        f"{text!r} is not a scope",
        "write user:NAME or user:NAME/proj:NAME; a name holds letters, digits, '_', '-' and, not at its end, '.'",
        {"scope": text},
    )


def parse_actor(text: str) -> str:
    """Give `text` back when it is an actor: `kind:name`, such as `mcp:cursor`. Raises HomeportError: bad_scope."""
    if _ACTOR.fullmatch(text):
        return text
    raise HomeportError(
        "bad_scope", f"{text!r} is not an actor", "write kind:name, such as mcp:cursor", {"actor": text}
    )


def client_actor(client: str | None) -> str:
    """The actor for a client that gave its name in the handshake, or gave none."""
    return f"mcp:{clean_slug(client or 'unknown', 'client')}"


def scope_folder(scope: str) -> str:
    """The folder of a scope's documents. `:` and `/` become `=` and `+`, which no scope holds and Windows can keep."""
    return scope.replace(":", "=").replace("/", "+")


def clean_slug(name: str, fallback: str) -> str:
    """Fit a folder's or a login's name into the grammar of an id: at most 64 of `[A-Za-z0-9_.-]`.

    Accents go, a run of anything else becomes one `-`. Where nothing is left, `fallback` and a hash of the name.
    """
    plain = unicodedata.normalize("NFKD", name)
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    slug = _NOT_IN_A_SLUG.sub("-", plain).strip("-.")[:LONGEST_SLUG_CHARS].rstrip("-.")
    return slug or f"{fallback}-{short_hash(name)}"


def short_hash(text: str) -> str:
    """Eight hex digits that tell one name or root from another of the same slug."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
