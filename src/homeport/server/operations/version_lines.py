"""Versions as JSON lines, one for each, so that an export can hold a document's past."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from homeport.errors import HomeportError
from homeport.server.state.documents.past import PastVersion
from homeport.server.state.documents.store import Caller, Documents
from homeport.server.state.documents.versions import ACTIONS, FILE_ACTOR
from homeport.server.state.paths import Address
from homeport.server.state.scopes import parse_actor

Histories = Mapping[str, list[PastVersion]]


def history_lines(documents: Documents, start: Address, caller: Caller) -> list[str]:
    """The versions of every document at or below `start`, of the deleted ones too; by document, oldest first."""
    lines: list[str] = []
    for address in documents.past.known(start, caller):
        lines += [_line(address, past) for past in documents.past.whole(address, caller)]
    return lines


def _line(address: Address, past: PastVersion) -> str:
    text = None
    if past.data is not None:
        # A hand edit may have been no text. It is exported without it.
        try:
            text = past.data.decode()
        except UnicodeDecodeError:
            text = None
    value = {
        "path": str(address),
        "version": past.number,
        "action": past.action,
        "actor": past.actor,
        "stamp": past.stamp,
        "size_bytes": past.size_bytes,
        "redacted": past.redacted,
        "text": text,
    }
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read_histories(data: bytes) -> tuple[Histories, list[tuple[int, str]]]:
    """Read the lines: versions by address, oldest first, and what was wrong with which line (from 1)."""
    histories: dict[str, list[PastVersion]] = {}
    troubles: list[tuple[int, str]] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            path, past = _parsed(json.loads(line))
        except (ValueError, RecursionError, HomeportError) as error:
            said = "it is not JSON" if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)) else str(error)
            troubles.append((number, said))
            continue
        history = histories.setdefault(path, [])
        if history and history[-1].number >= past.number:
            troubles.append((number, "its version does not follow the one before"))
            continue
        history.append(past)
    return histories, troubles


def _parsed(value: Any) -> tuple[str, PastVersion]:
    if not isinstance(value, dict):
        raise ValueError("it is not an object")
    path, text, size_bytes = value.get("path"), value.get("text"), value.get("size_bytes")
    number, actor, stamp = value.get("version"), value.get("actor"), value.get("stamp")
    action = next((known for known in ACTIONS if known == value.get("action")), None)
    if not isinstance(path, str) or not isinstance(number, int) or not 1 <= number < 2**31:
        raise ValueError("it has no path or no version")
    if action is None or not isinstance(actor, str) or not isinstance(stamp, str) or len(stamp) > 40:
        raise ValueError("it has no action, actor or stamp")
    if not isinstance(text, str | None) or not isinstance(size_bytes, int | None):
        raise ValueError("its text or size is of another type")
    checked = actor if actor == FILE_ACTOR else parse_actor(actor)
    data = None if text is None else text.encode()
    size = size_bytes if data is None else len(data)
    return path, PastVersion(number, action, checked, stamp, size, value.get("redacted") is True, data)
