"""What people ask of a document's past: its versions, their texts, one put back, one taken out for good.

No tool: an agent has no business taking texts out, and the list of tools is paid for in every conversation.
"""

from __future__ import annotations

import difflib
from typing import Any, Final

from homeport.errors import HomeportError
from homeport.server.operations import memory_text
from homeport.server.operations.arguments import bad_argument
from homeport.server.operations.operation import Call, Outcome, failure
from homeport.server.operations.stored_text import DATA
from homeport.server.state.documents import edits
from homeport.server.state.documents.past import Kept
from homeport.server.state.documents.store import Caller, Documents
from homeport.server.state.paths import Address, parse_address

LARGEST_NUMBER: Final = 2_147_483_647


def versions(documents: Documents, path: str, limit: int, call: Call) -> Outcome:
    """The newest `limit` versions. Raises HomeportError: what Past.versions does, bad_argument."""
    address = document_address(path)
    if limit < 1:
        raise bad_argument("limit", "it must be at least 1", "leave it out for all that is usual")
    kept = documents.past.versions(address, _caller(call))
    listed = kept[:limit]
    result = {
        "command": "versions",
        "path": str(address),
        "total": len(kept),
        "versions": [_version(one) for one in listed],
    }
    lines = [_line(one) for one in listed]
    if len(kept) > len(listed):
        lines.append(f"({len(kept) - len(listed)} older ones; --limit {len(kept)} lists all)")
    return Outcome(result, "\n".join(lines))


def version_text(documents: Documents, path: str, number: int, call: Call) -> Outcome:
    """One version with its text. Raises HomeportError: what Past.text does, document_unreadable (not UTF-8)."""
    address = document_address(path)
    text, version = _text_of(documents, address, number, call)
    result = {"command": "versions", "path": str(address), **version, "content": text, "content_is": DATA}
    return Outcome(result, text)


def difference(documents: Documents, path: str, old: int, new: int | None, call: Call) -> Outcome:
    """A unified diff from version `old` to `new`, or to the newest that has a text. Raises as version_text."""
    address = document_address(path)
    if new is None:
        kept = documents.past.versions(address, _caller(call))
        new = next((one.version.number for one in kept if one.has_text), old)
    before, _ = _text_of(documents, address, old, call)
    after, _ = _text_of(documents, address, new, call)
    text = _unified(before, after, f"{address} v{old}", f"{address} v{new}")
    result = {
        "command": "versions",
        "path": str(address),
        "from": old,
        "to": new,
        "diff": text,
        "content_is": DATA,
    }
    return Outcome(result, text)


def revert(documents: Documents, path: str, number: int, expected: int | None, call: Call) -> Outcome:
    """Make an earlier text the present one, as a new version.

    A version that is not the expected one is answered as `memory` does, with the present text beside the error.
    Raises HomeportError: what Documents.revert does.
    """
    address = document_address(path)
    try:
        change = documents.revert(address, _number("version", number), expected, _caller(call))
    except HomeportError as error:
        if error.code != "version_conflict" or not error.details["version"]:
            raise
        present = documents.read(address, _caller(call))
        shown = memory_text.document("view", present, edits.page_of(present.text, 1, -1), -1)
        return failure(error, shown.result, shown.text)
    return memory_text.reverted(change, number)


def redact(documents: Documents, path: str, number: int | None, current: bool, call: Call) -> Outcome:
    """Take a version's text, or all of them, out of the database. Raises HomeportError: what Past.redact does."""
    address = document_address(path)
    redaction = documents.past.redact(address, number, current, _caller(call))
    elsewhere = [str(other) if other else None for other in redaction.elsewhere]
    result = {
        "command": "redact",
        "path": str(address),
        "versions": list(redaction.numbers),
        "current_kept": current,
        "elsewhere": elsewhere,
    }
    numbers = ", ".join(map(str, redaction.numbers))
    text = f"Redacted {address}: version {numbers}." if numbers else f"{address}: nothing was left to redact."
    if elsewhere:
        names = ", ".join(name or "one that is not mounted here" for name in elsewhere)
        text += f"\nOther documents have the same text in their versions, and keep it: {names}."
    return Outcome(result, text)


def document_address(path: str) -> Address:
    address = parse_address(path)
    if not address.segments:
        raise bad_argument("path", f"{address} is no document", "name a document: /mount/name")
    return address


def _caller(call: Call) -> Caller:
    return Caller(call.actor, call.deadline_s)


def _text_of(documents: Documents, address: Address, number: int, call: Call) -> tuple[str, dict[str, Any]]:
    version, data = documents.past.text(address, _number("version", number), _caller(call))
    try:
        return data.decode(), _version(Kept(version, True))
    except UnicodeDecodeError:
        raise HomeportError(
            "document_unreadable",
            f"version {number} of {address} is not text in UTF-8",
            "it was put there by hand",
            {"address": str(address), "version": number},
        ) from None


def _number(field: str, number: int) -> int:
    if 1 <= number <= LARGEST_NUMBER:
        return number
    raise bad_argument(field, "versions are numbered from 1", "list them with versions")


def _version(kept: Kept) -> dict[str, Any]:
    version = kept.version
    return {
        "version": version.number,
        "action": version.action,
        "actor": version.actor,
        "stamp": version.stamp,
        "size_bytes": version.size_bytes,
        "has_text": kept.has_text,
        "redacted": version.redacted,
    }


def _line(kept: Kept) -> str:
    version = kept.version
    size = "-" if version.size_bytes is None else f"{version.size_bytes} bytes"
    line = f"v{version.number} {version.action} {version.actor} {version.stamp} {size}"
    if version.redacted:
        return f"{line} (redacted)"
    return line if kept.has_text or version.sha256 is None else f"{line} (text not kept)"


def _unified(before: str, after: str, old: str, new: str) -> str:
    lines: list[str] = []
    for line in difflib.unified_diff(edits.lines_of(before), edits.lines_of(after), old, new):
        lines.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(lines)
