"""Second copies that programs which synchronise folders leave beside a file when two machines changed it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple


class Copy(NamedTuple):
    """main: the name of the file it is a copy of, which may be gone. by: whose way of naming copies it is."""

    main: str
    by: str


# What any of the rules needs, in one look: folders hold thousands of names and few such copies.
_LIKELY: Final = re.compile(r"\)(?:\.|$)|\.sync-conflict-| [2-9](?:\.|$)|-[A-Z0-9][A-Z0-9-]{2,17}(?:\.|$)")


class _Rule(NamedTuple):
    """pattern: on the name without its ending. sure: no person names a file so; the others count only beside their
    main file."""

    by: str
    pattern: re.Pattern[str]
    sure: bool


# From people's reports of such copies, not measured: Dropbox and Nextcloud put words in parentheses, Syncthing a stamp
# and a device, OneDrive the computer's name, iCloud Drive a number, Google Drive and others a number in parentheses.
_RULES: Final = (
    _Rule("Dropbox or Nextcloud", re.compile(r"(.+?) \((?=[^)]*conflicted copy).+\)", re.IGNORECASE), True),
    _Rule("Dropbox", re.compile(r"(.+?) \((?:Case|Unicode Encoding|Selective Sync) Conflict.*\)"), True),
    _Rule("Syncthing", re.compile(r"(.+)\.sync-conflict-\d{8}(?:-\d{6})?-[A-Z0-9]+"), True),
    _Rule("Google Drive, OneDrive or a browser", re.compile(r"(.+) \(\d{1,3}\)"), False),
    _Rule("iCloud Drive", re.compile(r"(.+) [2-9]"), False),
    _Rule("OneDrive", re.compile(r"(.+?)-(?=[A-Z0-9-]*[A-Z])[A-Z0-9][A-Z0-9-]{2,17}"), False),
)


def conflict_copies(names: Iterable[str]) -> Mapping[str, Copy]:
    """Those of the names in one folder that look like such a copy. Names alone are looked at."""
    there = set(names)
    found = {}
    for name in filter(_LIKELY.search, there):
        copy = _copy(name, there)
        if copy is not None:
            found[name] = copy
    return found


def _copy(name: str, there: set[str]) -> Copy | None:
    stem, dot, ending = name.rpartition(".")
    if not stem:
        stem, dot, ending = name, "", ""
    for rule in _RULES:
        for text, end in ((stem, dot + ending), (name, "")):
            match = rule.pattern.fullmatch(text)
            if match and (rule.sure or match[1] + end in there):
                return Copy(match[1] + end, rule.by)
    return None
