"""A snippet: one line of a turn around what was found, without what looks like a credential or binary content."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from homeport.credentials import MASK
from homeport.server.state.history.folding import fold
from homeport.server.state.history.graphemes import boundary_after, boundary_before
from homeport.server.state.history.secrets import secret_spans
from homeport.server.state.history.turns import Part

LONGEST_CHARS: Final = 160
# Looked at around what was found, so that a blob or a key block is known for what it is before it is cut.
_AROUND_CHARS: Final = 2048
_STEP_CHARS: Final = 256
_SHORT_CHARS: Final = 40

_KEY_BLOCK: Final = r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
_BLOB: Final = r"(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/_-]{60,}={0,2}"
_LONG_BLOB_CHARS: Final = 200
# White space, controls, and what turns the direction of writing: none of it belongs on the one line.
_GAP: Final = r"[\s\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]+"


class Snippet(NamedTuple):
    """kind: of the part it is from: user, assistant, system, call or result."""

    kind: str
    text: str


class _Change(NamedTuple):
    """What is shown in the place of text[start:end]."""

    start: int
    end: int
    shown: str


def snippet_of(parts: Iterable[Part], terms: Sequence[str]) -> Snippet:
    """From the first part that holds most of the terms, around the first of them; at most 160 characters."""
    best: tuple[int, Part, str] | None = None
    for part in parts:
        folded = fold(part.text)
        held = [term for term in terms if term in folded]
        if held and (best is None or len(held) > best[0]):
            best = (len(held), part, held[0])
            if len(held) == len(terms):
                break
    if best is None:
        return Snippet("", "")
    _, part, term = best
    return Snippet(part.kind, _around(part.text, *locate(part.text, term)))


def locate(text: str, term: str) -> tuple[int, int]:
    """Where a folded term that the folded text holds stands in the text itself: its first character and the one behind
    its last; (0, 0) where it cannot be told."""
    pattern = r"\s+".join(map(re.escape, term.split(" ")))
    match = re.search(pattern, text, re.IGNORECASE)
    return match.span() if match else _locate_folded(text, term)


def _locate_folded(text: str, term: str) -> tuple[int, int]:
    """For letters that folding itself changed (`ß`, ligatures, full-width or decomposed ones)."""
    margin = 4 * len(term) + 64  # one folded character comes of four characters at the very most that occur in practice
    start = 0
    while start < len(text):
        step = boundary_after(text, start + _STEP_CHARS)
        end = boundary_after(text, step + margin)
        if term in fold(text[start:end]):
            inner, inner_end = _narrowest(text[start:end], term)
            return start + inner, start + inner_end
        start = step
    return 0, 0


def _narrowest(text: str, term: str) -> tuple[int, int]:
    """The last start, and then the first end, between which a term that is in a text is still found."""
    start = bisect_left(range(len(text)), True, key=lambda at: term not in fold(text[at + 1 :]))
    return start, bisect_left(range(len(text)), True, lo=start, key=lambda at: term in fold(text[start:at]))


def _around(text: str, start: int, end: int) -> str:
    first = boundary_before(text, start - _AROUND_CHARS)
    context = text[first : boundary_after(text, end + _AROUND_CHARS)]
    start, end = start - first, min(end - first, start - first + LONGEST_CHARS)
    # A credential farther away is not in the snippet.
    offset = max(0, start - LONGEST_CHARS - _SHORT_CHARS)
    near = context[offset : end + LONGEST_CHARS + _SHORT_CHARS]
    changes = [
        *(_Change(match.start(), match.end(), MASK) for match in re.finditer(_KEY_BLOCK, context)),
        *_blobs(context),
        *(_Change(from_ + offset, to + offset, MASK) for from_, to in secret_spans(near)),
    ]
    line, start, end = _changed(context, changes, start, end)
    line, start, end = _changed(line, [_Change(*gap.span(), " ") for gap in re.finditer(_GAP, line)], start, end)
    return _cut(line, start, end, first > 0, first + len(context) < len(text))


def _blobs(text: str) -> Iterator[_Change]:
    for match in re.finditer(_BLOB, text):
        run = match[0]
        separators = sum(map(run.count, "/-_"))
        mixed = bool(re.search("[a-z]", run) and re.search("[A-Z]", run) and re.search("[0-9]", run))
        if len(run) >= _LONG_BLOB_CHARS or len(set(run)) < 8 or (mixed and separators * 14 <= len(run)):
            yield _Change(*match.span(), f"[{len(run)} characters]")


def _changed(text: str, changes: Iterable[_Change], start: int, end: int) -> tuple[str, int, int]:
    """The text with the changes made, and where `start` and `end` have gone."""
    pieces: list[str] = []
    taken = length = 0
    places = [start, end]
    for change in sorted(changes):
        if change.start < taken:
            continue
        pieces += (text[taken : change.start], change.shown)
        length += change.start - taken
        for which, place in enumerate((start, end)):
            if taken <= place < change.start:
                places[which] = place - change.start + length
            elif change.start <= place < change.end:
                places[which] = length + (len(change.shown) if which and place > change.start else 0)
        taken, length = change.end, length + len(change.shown)
    for which, place in enumerate((start, end)):
        if place >= taken:
            places[which] = place - taken + length
    return "".join((*pieces, text[taken:])), places[0], max(places)


def _cut(line: str, start: int, end: int, cut_before: bool, cut_after: bool) -> str:
    """line[start:end] and as much on both sides as there is room for. cut_before, cut_after: more stood there."""
    if len(line) + cut_before + cut_after <= LONGEST_CHARS:
        first, last = 0, len(line)
    else:
        room = LONGEST_CHARS - 2
        first = max(0, min(start - (room - (end - start)) // 2, start, len(line) - room))
        first, last = boundary_after(line, first), boundary_before(line, min(len(line), first + room))
    before = "…" if first > 0 or cut_before else ""
    after = "…" if last < len(line) or cut_after else ""
    return f"{before}{line[first:last].strip()}{after}"
