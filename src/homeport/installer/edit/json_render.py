"""JSON text of our own values: in a style given, with characters outside ASCII as they are."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from homeport.installer.edit.document import Json, KeyPath
from homeport.installer.edit.json_refusals import edit_refused
from homeport.installer.edit.json_value import nested, plain

_SURROGATE: Final = "[\ud800-\udfff]"
_TOO_DEEP: Final = "the entry is nested more deeply than Homeport reads"


class Style(NamedTuple):
    """How a file spells what JSON leaves open.

    unit: of indentation. colon, separator: with their blanks, `": "` and `", "`. one_line: objects, and all in them,
    stand in one line. one_line_lists: lists do, whatever objects do. Paddings: blanks inside a one-line bracket.
    """

    line_end: str = "\n"
    unit: str = "  "
    colon: str = ": "
    separator: str = ", "
    object_padding: str = ""
    list_padding: str = ""
    one_line: bool = False
    one_line_lists: bool = False


def render_fragment(path: KeyPath, value: Json, beginning: Mapping[str, Json] | None = None) -> str:
    """What a person pastes: an object that holds `beginning`, then `value` at `path`; two spaces, a final newline.

    Raises HomeportError: edit_refused (not a JSON value).
    """
    return render({**plain(dict(beginning or {})), path[0]: nested(path[1:], plain(value))}, Style(), "") + "\n"


def render(value: Json, style: Style, indent: str) -> str:
    """The text of a value; `indent` is that of the line it begins in. Raises HomeportError: edit_refused."""
    try:
        return _rendered(value, style, indent)
    except RecursionError:
        raise edit_refused(_TOO_DEEP) from None


def quoted(text: str) -> str:
    """A JSON string. Escaped is what JSON cannot hold as it is, and half a surrogate pair, which UTF-8 cannot."""
    spelled = json.dumps(text, ensure_ascii=False)
    if spelled.isascii():
        return spelled
    return re.sub(_SURROGATE, lambda half: f"\\u{ord(half[0]):04x}", spelled)


def _rendered(value: Json, style: Style, indent: str) -> str:
    if isinstance(value, dict) and value:
        inner = indent if style.one_line else indent + style.unit
        items = [quoted(key) + style.colon + _rendered(held, style, inner) for key, held in value.items()]
        return _bracketed("{}", items, style, indent, style.one_line, style.object_padding)
    if isinstance(value, list) and value:
        one_line = style.one_line or style.one_line_lists
        within = style._replace(one_line=one_line)
        inner = indent if one_line else indent + style.unit
        items = [_rendered(held, within, inner) for held in value]
        return _bracketed("[]", items, style, indent, one_line, style.list_padding)
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def _bracketed(brackets: str, items: list[str], style: Style, indent: str, one_line: bool, padding: str) -> str:
    if one_line:
        return brackets[0] + padding + style.separator.join(items) + padding + brackets[1]
    line = style.line_end + indent + style.unit
    return brackets[0] + line + ("," + line).join(items) + style.line_end + indent + brackets[1]
