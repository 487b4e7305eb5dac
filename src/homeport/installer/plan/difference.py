"""A step as a unified diff, without walking a large file line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import unified_diff as _unified_diff
from io import BytesIO

from homeport.installer.plan.files_view import WriteFile

_CONTEXT_LINES = 3
_HUNK = re.compile(r"^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")


def unified_diff(step: WriteFile) -> Iterator[str]:
    """The lines of `diff -u`, each with its line end; a last line without one is marked as `diff` marks it."""
    # Lines as diff has them, which end at \n alone.
    before = BytesIO(step.before or b"").readlines()
    after = BytesIO(step.after or b"").readlines()
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    first = max(0, start - _CONTEXT_LINES)
    last = max(0, end - _CONTEXT_LINES)
    old = [line.decode("utf-8", "replace") for line in before[first : len(before) - last]]
    new = [line.decode("utf-8", "replace") for line in after[first : len(after) - last]]
    yield f"--- {step.path if step.before is not None else '/dev/null'}\n"
    yield f"+++ {step.path if step.after is not None else '/dev/null'}\n"
    for index, line in enumerate(_unified_diff(old, new, n=_CONTEXT_LINES)):
        if index < 2:
            continue
        yield from _whole(_moved(line, first))


def _moved(line: str, first: int) -> str:
    """A hunk's header with line numbers of the whole file."""
    return _HUNK.sub(
        lambda hunk: f"@@ -{int(hunk[1]) + first}{hunk[2] or ''} +{int(hunk[3]) + first}{hunk[4] or ''} @@", line
    )


def _whole(line: str) -> Iterator[str]:
    if line.endswith("\n"):
        yield line
    else:
        yield line + "\n"
        yield "\\ No newline at end of file\n"
