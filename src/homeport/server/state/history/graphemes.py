"""Where a text may be cut: between what a reader sees as characters.

The rules of UAX #29 that matter to a snippet, told from what the standard library knows: marks, joiners, modifiers of
emoji, flags, and the conjoining letters of Hangul.
"""

from __future__ import annotations

import unicodedata
from typing import Final

_NEAR_CHARS: Final = 128  # a letter with more marks than that is somebody's joke, and is cut through
_MOST_FLAGS: Final = 4096
_JOINER: Final = "\u200d"
_FLAG: Final = ("\U0001f1e6", "\U0001f1ff")
_SKIN: Final = ("\U0001f3fb", "\U0001f3ff")
_MARKS: Final = ("Mn", "Me", "Mc")


def is_boundary(text: str, at: int) -> bool:
    """Whether a text may be cut before its character `at`."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before < "\u0300" and after < "\u0300":
        return (before, after) != ("\r", "\n")
    if before == _JOINER or _extends(after):
        return False
    if _is_flag(before) and _is_flag(after):
        return _flags_before(text, at) % 2 == 0
    return not _in_one_syllable(before, after)


def boundary_before(text: str, at: int) -> int:
    """The last place at or before `at` where the text may be cut; `at` itself where there is none near."""
    for place in range(at, at - _NEAR_CHARS, -1):
        if is_boundary(text, place):
            return max(place, 0)
    return at


def boundary_after(text: str, at: int) -> int:
    """The first place at or after `at` where the text may be cut; `at` itself where there is none near."""
    for place in range(at, at + _NEAR_CHARS):
        if is_boundary(text, place):
            return max(0, min(place, len(text)))
    return at


def _extends(character: str) -> bool:
    return (
        character in (_JOINER, "\u200c")
        or _SKIN[0] <= character <= _SKIN[1]
        or unicodedata.category(character) in _MARKS
        or "\U000e0020" <= character <= "\U000e007f"
    )


def _is_flag(character: str) -> bool:
    return _FLAG[0] <= character <= _FLAG[1]


def _flags_before(text: str, at: int) -> int:
    count = 0
    while count < min(at, _MOST_FLAGS) and _is_flag(text[at - 1 - count]):
        count += 1
    return count


def _in_one_syllable(before: str, after: str) -> bool:
    """Hangul: a leading letter before a vowel or syllable, a vowel or syllable before a vowel or trailing letter."""
    if "\u1100" <= before <= "\u115f":
        return "\u1100" <= after <= "\u11a7" or "\uac00" <= after <= "\ud7a3"
    if "\u1160" <= before <= "\u11a7" or "\uac00" <= before <= "\ud7a3":
        return "\u1160" <= after <= "\u11ff"
    return "\u11a8" <= before <= "\u11ff" and "\u11a8" <= after <= "\u11ff"
