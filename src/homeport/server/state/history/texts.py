"""The folded text of a turn as it is kept: plain where it is short, else compressed."""

from __future__ import annotations

import zlib
from typing import Final

_PLAIN_CHARS: Final = 4096


def pack(folded: str) -> str | bytes:
    # A short text gains little, and the compressor's start costs more than all else that is done to it.
    return folded if len(folded) <= _PLAIN_CHARS else zlib.compress(folded.encode(), 1)


def unpack(kept: object) -> str | None:
    """The folded text; None where what is kept is damaged."""
    if isinstance(kept, str):
        return kept
    try:
        return zlib.decompress(kept).decode() if isinstance(kept, bytes) else None
    except (zlib.error, UnicodeDecodeError):
        return None
