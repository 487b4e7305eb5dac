"""Find text in documents, for people: lines with their numbers, credentials hidden in what is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from homeport import credentials
from homeport.errors import HomeportError
from homeport.server.operations.arguments import bad_argument
from homeport.server.operations.operation import Outcome
from homeport.server.state.documents.edits import lines_of
from homeport.server.state.documents.places import Listed
from homeport.server.state.documents.store import Documents
from homeport.server.state.paths import ROOT, Address, parse_address

MOST_CHARS: Final = 200
"""How much of a line is shown around what was found."""


def search(documents: Documents, query: str, path: str, limit: int) -> Outcome:
    """Lines that hold `query`, whatever its case, in the documents at or below `path`. Nothing is changed.

    Raises HomeportError: bad_argument, document_not_found.
    """
    if not query.strip() or "\n" in query:
        raise bad_argument("query", "it must be one line of text", "give a word or a phrase")
    if not 1 <= limit <= 10_000:
        raise bad_argument("limit", "it must be from 1 to 10000", "leave it out")
    wanted = query.casefold()
    matches: list[dict[str, Any]] = []
    searched, unreadable = 0, []
    for listed in _listed(documents, parse_address(path)):
        try:
            text = documents.text_of(listed)
        except HomeportError:
            unreadable.append(str(listed.address))
            continue
        searched += 1
        for line, found in _lines(text, wanted) if len(matches) <= limit else ():
            matches.append({"path": str(listed.address), "line": line, "text": found})
    more = len(matches) > limit
    return _outcome(query, matches[:limit], more, searched, unreadable)


def _outcome(query: str, matches: list[dict[str, Any]], more: bool, searched: int, unreadable: list[str]) -> Outcome:
    result = {
        "command": "search", "query": query, "matches": matches, "more": more, "documents": searched,
        "unreadable": unreadable,
    }  # fmt: skip
    lines = [f"{match['path']}:{match['line']}: {match['text']}" for match in matches]
    if not matches:
        lines.append(f"Nothing found in {searched} documents.")
    if more:
        lines.append(f"(there are more; these are the first {len(matches)})")
    if unreadable:
        lines.append(f"({len(unreadable)} could not be read: {', '.join(unreadable[:10])})")
    return Outcome(result, "\n".join(lines))


def _listed(documents: Documents, start: Address) -> Iterator[Listed]:
    for top in [start] if start != ROOT else [Address(mount.path) for mount in documents.mounts]:
        if documents.is_folder(top):
            yield from documents.listing(top)
        else:
            yield documents.one(top)


def _lines(text: str, wanted: str) -> Iterator[tuple[int, str]]:
    if wanted not in text.casefold():
        return
    for number, line in enumerate(lines_of(text), 1):
        at = line.casefold().find(wanted)
        if at >= 0:
            yield number, _around(_masked(line.rstrip("\r\n")), at)


def _masked(line: str) -> str:
    """Hidden is what looks like a credential, and the value of a name that says it is one."""
    shown = next(credentials.masked_diff([f" {line}"]))[1:]
    bare = shown.strip()
    return shown.replace(bare, credentials.masked_arguments([bare])[0]) if bare else shown


def _around(line: str, at: int) -> str:
    if len(line) <= MOST_CHARS:
        return line
    start = max(0, min(at - MOST_CHARS // 4, len(line) - MOST_CHARS))
    return ("…" if start else "") + line[start : start + MOST_CHARS] + ("…" if start + MOST_CHARS < len(line) else "")
