"""Recorded conversations of a made history, and shorthands to land and find them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from homeport.server.state.history.folding import terms_of
from homeport.server.state.history.instants import UNDATED, parse_bound, parse_instant
from homeport.server.state.history.reach import Viewer
from homeport.server.state.history.rows import Landed
from homeport.server.state.history.store import Asked, History, Hits
from homeport.server.state.history.turns import Conversation, Message, Turn

ANN = Viewer("own", "user:ann", None)


def soon(patience_s: float = 30.0) -> float:
    return time.monotonic() + patience_s


def conversation(name: str = "c1", user: str = "user:ann", project: str | None = None) -> Conversation:
    return Conversation(name, user, project, "claude-code")


def said(text: str, key: str | None = None, at: str | None = "2031-02-03T04:05:06Z", actor: str = "hook:codex") -> Turn:
    """A turn in which a user said `text`. key: by default the text. at: None for a turn without a time."""
    instant = UNDATED if at is None else parse_instant(at)
    assert instant is not None
    return Turn((key or text)[:200], instant, actor, (Message("user", text),))


def land(history: History, *turns: Turn, into: Conversation | None = None) -> list[Landed]:
    return history.land(into or conversation(), turns, soon())


def find(history: History, query: str, viewer: Viewer = ANN, limit: int = 50, **filters: Any) -> Hits:
    """filters: as Asked has them, `since` and `until` as text."""
    for end in ("since", "until"):
        if end in filters:
            filters[end] = parse_bound(filters[end], end)
    return history.search(Asked(terms_of(query), **filters), viewer, limit, soon())


def found(history: History, query: str, viewer: Viewer = ANN, **filters: Any) -> list[tuple[str, int]]:
    """(conversation, turn) of the hits, in order."""
    return [(hit.conversation, hit.number) for hit in find(history, query, viewer, **filters).hits]


def every_page(history: History, query: str, limit: int) -> list[tuple[str, int]]:
    """The hits of all pages, one after the other."""
    pages: list[tuple[str, int]] = []
    cursor = None
    while True:
        hits = find(history, query, limit=limit, cursor=cursor)
        pages += [(hit.conversation, hit.number) for hit in hits.hits]
        cursor = hits.cursor
        if cursor is None:
            return pages


def texts(turns: Sequence[Turn]) -> list[str]:
    return [turn.messages[0].text for turn in turns]
