"""The operations `list_skills` and `load_skill`: how things are done here, written down as documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from homeport.server.operations.arguments import bad_argument
from homeport.server.operations.operation import Call, Hints, Operation, Outcome
from homeport.server.operations.stored_text import DATA, between_marks
from homeport.server.state.documents.edits import PAGE_BYTES
from homeport.server.state.documents.store import Caller, Document, Documents
from homeport.server.state.paths import LONGEST_CHARS, Address, shown
from homeport.server.state.skills.library import Library, Skill, body

_SHOWN_CHARS: Final = 300
"""Of a description in the list; the rest is in the skill itself."""
_READ: Final = Hints(read_only=True, destructive=False, idempotent=True)

_LIST_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "after": {"type": "string", "description": "Go on behind this address.", "maxLength": LONGEST_CHARS}
    },
    "additionalProperties": False,
}
_LOAD_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "name": {
            "type": "string",
            "description": "NAME, NAME/document beside it, or an address.",
            "minLength": 1,
            "maxLength": LONGEST_CHARS,
        },
        "offset": {
            "type": "integer",
            "description": "Of the last page.",
            "minimum": 0,
            "maximum": 2_147_483_647,
        },
    },
    "required": ["name"],
    "additionalProperties": False,
}


class Loaded(NamedTuple):
    """document: the skill's own, or the one beside it that was asked for. text: of a skill without its front matter."""

    skill: Skill
    document: Document
    text: str


def skills_operations(library: Library, documents: Documents) -> list[Operation]:
    return [
        Operation(
            name="list_skills",
            title="List skills",
            description="Ways of doing things, written down before: each with what it is for.",
            input_schema=_LIST_SCHEMA,
            hints=_READ,
            function=lambda arguments, call: _list(library, arguments.get("after")),
        ),
        Operation(
            name="load_skill",
            title="Load skill",
            description="Read a skill, or a document beside it.",
            input_schema=_LOAD_SCHEMA,
            hints=_READ,
            function=lambda arguments, call: _load(library, documents, arguments, call),
        ),
    ]


def load(library: Library, documents: Documents, wanted: str, caller: Caller) -> Loaded:
    """Raises HomeportError: skill_not_found, memory_path_invalid, and what reading a document raises."""
    skill, address = library.find(wanted)
    document = documents.read(address, caller)
    return Loaded(skill, document, body(document.text) if address == skill.address else document.text)


def _list(library: Library, after: str | None) -> Outcome:
    skills = library.skills()
    addresses = [str(skill.address) for skill in skills]
    if after is not None and after not in addresses:
        raise bad_argument("after", "no skill has that address", "take it from the page before, or leave it out")
    rest = skills if after is None else skills[addresses.index(after) + 1 :]
    first = {skill.name: skill.address for skill in reversed(skills) if skill.error is None}
    rows, lines = _fitting(rest, first)
    following = rows[-1]["address"] if rows and len(rows) < len(rest) else None
    result = {
        "skills": rows,
        "total": len(skills),
        "next": {"after": following} if following else None,
        "descriptions_are": DATA,
    }
    return Outcome(result, _list_text(len(skills), lines, following))


def _fitting(skills: list[Skill], first: Mapping[str, Address]) -> tuple[list[dict[str, Any]], list[str]]:
    """As many as a page holds, each with what it is loaded by: its name, or its address where the name is another's."""
    rows: list[dict[str, Any]] = []
    lines: list[str] = []
    left = PAGE_BYTES
    for skill in skills:
        called = skill.name if first.get(skill.name) == skill.address else str(skill.address)
        about = f"cannot be used: {skill.error}" if skill.error else _cut(skill.description)
        line = f"- {called}: {about}"
        left -= len(line.encode()) + 1
        if left < 0 and rows:
            break
        lines.append(line)
        rows.append(
            {
                "name": skill.name,
                "address": str(skill.address),
                "load": called,
                "description": _cut(skill.description),
                "error": skill.error,
            }
        )
    return rows, lines


def _list_text(total: int, lines: list[str], following: str | None) -> str:
    if not total:
        return "There are no skills yet. One is a document /mount/skills/NAME with a description in its front matter."
    head = f"{total} skill{'' if total == 1 else 's'}. Between the two marks is {DATA}."
    more = [f"More follow: list_skills with after={shown(following, 600)}."] if following else []
    return "\n".join([head, *between_marks("\n".join(lines)), *more])


def _load(library: Library, documents: Documents, given: Mapping[str, Any], call: Call) -> Outcome:
    loaded = load(library, documents, given["name"], Caller(call.actor, call.deadline_s))
    offset = given.get("offset", 0)
    if offset > len(loaded.text):
        raise bad_argument("offset", f"the text has {len(loaded.text)} characters", "take it from the page before")
    page = _page(loaded.text, offset)
    end = offset + len(page)
    following = end if end < len(loaded.text) else None
    skill, version = loaded.skill, loaded.document.version
    result = {
        "name": skill.name,
        "address": str(loaded.document.address),
        "description": skill.description,
        "error": skill.error,
        "version": version.number if version else None,
        "actor": version.actor if version else None,
        "stamp": version.stamp if version else None,
        "content": page,
        "supporting": [str(address) for address in skill.supporting],
        "next": {"offset": following} if following else None,
    }
    return Outcome(result, _load_text(loaded, page, following))


def _load_text(loaded: Loaded, page: str, following: int | None) -> str:
    skill, version = loaded.skill, loaded.document.version
    wrote = f"version {version.number} by {version.actor}, {version.stamp}" if version else "version not known"
    # To be followed where it fits, and yet nothing that the person said.
    head = f"{loaded.document.address} ({wrote}). Between the two marks is a way of working, as it was stored."
    lines = [head, *between_marks(page)]
    if skill.error:
        lines.append(f"Its head should be mended: {skill.error}.")
    if skill.supporting:
        lines.append("Beside it, for load_skill: " + ", ".join(str(address) for address in skill.supporting[:50]))
    if following is not None:
        lines.append(f"More follows: load it with offset {following}.")
    return "\n".join(lines)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS].rstrip() + "…"


def _page(text: str, offset: int) -> str:
    page = text[offset : offset + PAGE_BYTES]
    while len(page.encode()) > PAGE_BYTES:
        page = page[: len(page) * PAGE_BYTES // len(page.encode())]
    return page
