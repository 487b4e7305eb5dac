"""What a merge that nobody finished leaves in a text."""

from __future__ import annotations

import re
from typing import Final

# git-merge(1), "HOW CONFLICTS ARE PRESENTED": seven of each at the beginning of a line, in this order.
_MARKS: Final = re.compile(r"^<{7} .*?^={7}\r?$.*?^>{7} ", re.MULTILINE | re.DOTALL)


def merge_conflict_line(text: str) -> int | None:
    """The line, from 1, where the first conflict begins."""
    # Asked for first: nearly no text holds it, and the pattern looks at every line.
    if "<<<<<<< " not in text:
        return None
    match = _MARKS.search(text)
    return None if match is None else text.count("\n", 0, match.start()) + 1
