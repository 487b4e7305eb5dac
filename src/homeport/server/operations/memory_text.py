"""What `memory` answers: each result as JSON values and as prose that carries all of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from homeport.server.operations.operation import Outcome
from homeport.server.operations.stored_text import DATA, mark
from homeport.server.state.documents.edits import Page, lines_of
from homeport.server.state.documents.index import MountIndex, render_index
from homeport.server.state.documents.places import Listed
from homeport.server.state.documents.store import Change, Document
from homeport.server.state.documents.versions import Version
from homeport.server.state.paths import Address, shown

INDEX_CHARS: Final = 8_000
# A reply holds every name twice; with the frame around them it stays under 100,000 bytes.
_LISTING_BYTES: Final = 70_000
_MOST_REMARKS: Final = 20


def index(indexes: list[MountIndex], home_remarks: Sequence[str]) -> Outcome:
    mounts = [
        {
            "path": f"/{index.mount.path}",
            "scope": index.mount.scope,
            "access": index.mount.access,
            "documents": index.total,
        }
        for index in indexes
    ]
    text = render_index(indexes, INDEX_CHARS)
    remarks = [("the home", remark) for remark in home_remarks]
    remarks += [one for index in indexes for one in index.remarks]
    left_out = sum(index.remarked - len(index.remarks) for index in indexes)
    result = {
        "command": "view", "kind": "index", "mounts": mounts, "index": text, "remarks": _remarks(remarks),
        "remarked": len(remarks) + left_out,
    }  # fmt: skip
    return Outcome(result, "\n".join([text, *_remark_lines(remarks, left_out)]))


def _remarks(remarks: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"path": path, "remark": remark} for path, remark in remarks]


def _remark_lines(remarks: Sequence[tuple[str, str]], left_out: int = 0) -> list[str]:
    if not remarks:
        return []
    more = [f"- and {left_out} more"] if left_out else []
    return ["To be looked at by the person:", *(f"- {path}: {remark}" for path, remark in remarks), *more]


def folder(
    address: Address,
    rest: Sequence[Listed],
    total: int,
    look: Callable[[Listed], tuple[str | None, str | None]],
    remarks: Sequence[tuple[str, str]],
) -> Outcome:
    """rest: what is to be listed, in order, files without an address last. look: why one cannot be viewed, and what
    is to be looked at in it; asked only of those that fit. remarks: on names."""
    documents: list[str] = []
    unreadable: list[dict[str, str]] = []
    remarked = list(remarks)
    lines: list[str] = []
    left = _LISTING_BYTES
    for listed in rest:
        why, remark = look(listed)
        name = str(listed.address) if not listed.trouble else shown(str(listed.address), 600)[1:-1]
        line = f"- {name}" + (f" (cannot be viewed: {why})" if why else "")
        left -= 2 * len(line.encode()) + 20
        if left < 0:
            break
        lines.append(line)
        if remark:
            remarked.append((name, remark))
        if why:
            unreadable.append({"path": name, "trouble": why})
        else:
            documents.append(name)
    after, more = _what_follows(address, rest, len(lines))
    result = {
        "command": "view", "kind": "folder", "path": str(address), "total": total, "documents": documents,
        "unreadable": unreadable, "remarks": _remarks(remarked[:_MOST_REMARKS]),
        "next": {"after": after} if after else None,
    }  # fmt: skip
    head = f"{address}: {total} document{'' if total == 1 else 's'}{' (nothing more)' if total and not lines else ''}"
    shown_remarks = _remark_lines(remarked[:_MOST_REMARKS], max(0, len(remarked) - _MOST_REMARKS))
    return Outcome(result, "\n".join([head, *lines, *more, *shown_remarks]))


def _what_follows(address: Address, rest: Sequence[Listed], taken: int) -> tuple[str | None, list[str]]:
    """The address to go on behind, and how that is said."""
    if taken == len(rest):
        return None, []
    if rest[taken].trouble:
        return None, [f"{len(rest) - taken} more files have names that cannot be addresses."]
    after = str(rest[taken - 1].address)
    return after, [f"More follow: view {address} with after={shown(after, 600)}."]


def document(command: str, document: Document, page: Page, asked_last: int) -> Outcome:
    """asked_last: the last line asked for, where the next page is to end."""
    following = None
    if page.next_line is not None:
        following = {"view_range": [page.next_line, asked_last], "offset": page.next_offset}
    result = {
        "command": command, "kind": "document", "path": str(document.address), **_version(document.version),
        "first_line": page.first, "last_line": page.last, "offset": page.offset, "lines": page.lines,
        "content": page.text, "content_is": DATA, "next": following,
        "remarks": list(document.remarks),
    }  # fmt: skip
    return Outcome(result, _document_text(document, page, following))


def _document_text(document: Document, page: Page, following: dict[str, Any] | None) -> str:
    lines = "the document is empty" if not page.lines else f"lines {page.first}-{page.last} of {page.lines}"
    quote = mark(page.text)
    width = len(str(page.last))
    numbered = [
        f"{number:>{width}}: {line.removesuffix(chr(10))}"
        for number, line in enumerate(lines_of(page.text), page.first)
    ]
    said = [
        f"{document.address} ({_said(document.version)}), {lines}. Between the two marks is {DATA}.",
        f"<<< data {quote}",
        *numbered,
        f">>> end of data {quote}",
    ]
    if page.offset:
        said.append(f"Line {page.first} is shown from its character {page.offset + 1} on.")
    said += [f"To be looked at by the person: {remark}." for remark in document.remarks]
    if following:
        offset = f", offset {following['offset']}" if following["offset"] else ""
        said.append(f"More follows: view it with view_range {following['view_range']}{offset}.")
    return "\n".join(said)


def created(change: Change) -> Outcome:
    if not change.changed:
        return _changed("create", change, f"{change.address} already holds that text: {_number(change.after)}")
    if change.before is None:
        return _changed("create", change, f"Created {change.address}: {_number(change.after)}")
    return _changed("create", change, f"Overwrote {change.address}: {_number(change.after)}, {_before(change)}")


def edited(command: str, change: Change, line: int) -> Outcome:
    if not change.changed:
        return _changed(command, change, f"Nothing to change in {change.address}: {_number(change.after)}", line=line)
    done = f"Replaced text at line {line} of" if command == "str_replace" else f"Inserted after line {line} of"
    return _changed(command, change, f"{done} {change.address}: {_number(change.after)}, {_before(change)}", line=line)


def reverted(change: Change, number: int) -> Outcome:
    if not change.changed:
        text = f"{change.address} already holds the text of version {number}: {_number(change.after)}"
        return _changed("revert", change, text, reverted_to=number)
    before = f", {_before(change)}" if change.before is not None else ""
    text = f"Reverted {change.address} to the text of version {number}: {_number(change.after)}{before}"
    return _changed("revert", change, text, reverted_to=number)


def deleted(change: Change) -> Outcome:
    many = f" and the {change.documents} documents in it" if change.before is None and change.after is None else ""
    return _changed("delete", change, f"Deleted {change.address}{many}", documents=change.documents)


def renamed(source: Address, change: Change) -> Outcome:
    many = "" if change.before is not None else f" with {change.documents} documents"
    version = f": {_number(change.after)}" if change.before is not None else ""
    text = f"Renamed {source} to {change.address}{many}{version}"
    return _changed("rename", change, text, old_path=str(source), documents=change.documents)


def _changed(command: str, change: Change, text: str, **more: Any) -> Outcome:
    result = {
        "command": command, "path": str(change.address), "changed": change.changed,
        "version": change.after.number if change.after else None,
        "version_before": change.before.number if change.before else None, **more,
    }  # fmt: skip
    return Outcome(result, text + ".")


def _version(version: Version | None) -> dict[str, Any]:
    return {
        "version": version.number if version else None,
        "actor": version.actor if version else None,
        "stamp": version.stamp if version else None,
    }


def _said(version: Version | None) -> str:
    return f"version {version.number} by {version.actor}, {version.stamp}" if version else "version not known"


def _number(version: Version | None) -> str:
    return f"version {version.number}" if version else "its version is not known yet"


def _before(change: Change) -> str:
    return f"{_number(change.before)} before"
