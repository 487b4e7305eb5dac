"""A step as a unified diff, without walking a large file line by line."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from io import BytesIO
from typing import Final, Literal

from homeport.installer.plan.files_view import WriteFile

_CONTEXT_LINES: Final = 3
_Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]


def unified_diff(step: WriteFile) -> Iterator[str]:
    """The lines of `diff -u`, each with its line end; a last line without one is marked as `diff` marks it."""
    # Lines as diff has them, which end at \n alone.
    before = BytesIO(step.before or b"").readlines()
    after = BytesIO(step.after or b"").readlines()
    yield f"--- {step.path if step.before is not None else '/dev/null'}\n"
    yield f"+++ {step.path if step.after is not None else '/dev/null'}\n"
    for group in _BetweenEqualEnds(before, after).get_grouped_opcodes(_CONTEXT_LINES):
        _, first_old, _, first_new, _ = group[0]
        _, _, last_old, _, last_new = group[-1]
        yield f"@@ -{_range(first_old, last_old)} +{_range(first_new, last_new)} @@\n"
        for tag, a, b, c, d in group:
            if tag == "equal":
                yield from _signed(" ", before[a:b])
            else:
                yield from _signed("-", before[a:b])
                yield from _signed("+", after[c:d])


class _BetweenEqualEnds(SequenceMatcher[bytes]):
    """Compares what lies between the equal ends alone; those stay whole, so that no hunk ends too early for `patch`."""

    def __init__(self, before: list[bytes], after: list[bytes]) -> None:
        start, shorter = 0, min(len(before), len(after))
        while start < shorter and before[start] == after[start]:
            start += 1
        end = 0
        while end < shorter - start and before[-1 - end] == after[-1 - end]:
            end += 1
        self._start, self._old, self._new, self._end = start, len(before), len(after), end
        super().__init__(None, before[start : len(before) - end], after[start : len(after) - end])

    def get_opcodes(self) -> list[_Opcode]:
        start, old, new = self._start, self._old - self._end, self._new - self._end
        middle: list[_Opcode] = [
            (tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in super().get_opcodes()
        ]
        first: list[_Opcode] = [("equal", 0, start, 0, start)] if start else []
        last: list[_Opcode] = [("equal", old, self._old, new, self._new)] if self._end else []
        return first + middle + last


def _range(first: int, last: int) -> str:
    """Lines from 1; a length of one is left out, and an empty range names the line before it."""
    length = last - first
    return f"{first + 1}" if length == 1 else f"{first + bool(length)},{length}"


def _signed(sign: str, lines: list[bytes]) -> Iterator[str]:
    for line in lines:
        text = sign + line.decode("utf-8", "replace")
        yield text if text.endswith("\n") else f"{text}\n\\ No newline at end of file\n"
