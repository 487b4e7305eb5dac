"""JSON values as Python has them: decoded from a place of a file, made plain, compared by value and type."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from homeport.installer.edit.document import Json, KeyPath
from homeport.installer.edit.json_grammar import COMMENT, STRING
from homeport.installer.edit.json_refusals import edit_refused

_TOO_DEEP: Final = "the entry is nested more deeply than Homeport reads"
_COMMENTS: Final = rb"(%b)|%b" % (STRING, COMMENT)
_TRAILING_COMMAS: Final = rb"(%b)|,(?=[ \t\r\n]*+[\]}])" % STRING


def decoded(spelling: bytes) -> Json:
    """The value that valid JSON or JSONC spells; a number that Python cannot hold stays as it is spelled.

    Raises HomeportError: edit_refused (nested more deeply than the decoder reads).
    """
    try:
        return _loads(spelling)
    except json.JSONDecodeError:
        return _loads(without_comments(spelling))


def without_comments(spelling: bytes) -> bytes:
    """Valid JSONC as strict JSON: without comments and trailing commas."""
    bare = re.compile(_COMMENTS).sub(lambda found: found[1] or b" ", spelling)
    return re.compile(_TRAILING_COMMAS).sub(lambda found: found[1] or b"", bare)


def plain(value: Any) -> Json:
    """A copy of nothing but JSON's own types, whatever subclasses and tuples came in.

    Raises HomeportError: edit_refused (not a JSON value).
    """
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except RecursionError:
        raise edit_refused(_TOO_DEEP) from None
    except (TypeError, ValueError):
        raise edit_refused("the entry is not a JSON value") from None


def nested(path: KeyPath, value: Json) -> Json:
    """Objects around `value`, one for each key of `path`."""
    for key in reversed(path):
        value = {key: value}
    return value


def same(one: Json, other: Json) -> bool:
    """Equal in value and type, to any depth: 1, 1.0 and true are three things."""
    pending = [(one, other)]
    while pending:
        left, right = pending.pop()
        if type(left) is not type(right):
            return False
        if isinstance(left, dict):
            if left.keys() != right.keys():
                return False
            pending.extend((value, right[key]) for key, value in left.items())
        elif isinstance(left, list):
            if len(left) != len(right):
                return False
            pending.extend(zip(left, right, strict=True))
        elif repr(left) != repr(right) if isinstance(left, float) else left != right:
            return False
    return True


def _loads(spelling: bytes) -> Json:
    try:
        return json.loads(spelling.decode(), parse_int=_integer, parse_float=_float)
    except RecursionError:
        raise edit_refused(_TOO_DEEP) from None


def _integer(spelling: str) -> int | str:
    try:
        return int(spelling)
    except ValueError:  # more digits than Python converts
        return spelling


def _float(spelling: str) -> float | str:
    number = float(spelling)
    return number if math.isfinite(number) else spelling
