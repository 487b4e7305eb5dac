"""TOML text for our values: keys, inline values, tables with their headers, dotted lines.

The layout is ours, since it follows the file's; every key and scalar is spelled by tomlkit, imported when one is
rendered. What is rendered is read back by tomllib before it is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from homeport.errors import HomeportError
from homeport.installer.edit.document import Json, KeyPath

_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_LARGEST_INTEGER: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Style:
    """How the lines around are laid out: what stands before a header, before a key, and between key and value."""

    header_indent: str = ""
    indent: str = ""
    equals: str = " = "
    blank_between: bool = True


def render_fragment(path: KeyPath, value: Json, beginning: Mapping[str, Json] | None = None) -> str:
    """The text a person pastes to have `value` at `path`, with a final newline.

    A dict becomes `[path]` with its keys and a table for each dict in it; other values go under their parent's header.
    beginning: top-level members that stand before it.

    Raises HomeportError: edit_refused (what TOML cannot hold: null, a lone surrogate, an integer beyond 64 bits).
    """
    lines = document_lines(path, value, beginning or {})
    return "".join(f"{line}\n" for line in lines)


def document_lines(path: KeyPath, value: Json, beginning: Mapping[str, Json], style: Style | None = None) -> list[str]:
    """The lines of a whole file that holds `beginning` and then `value` at `path`."""
    style = style or Style()
    plain = [f"{render_key((key,))} = {render_value(held)}" for key, held in beginning.items()]
    lines = entry_lines(path, value, style)
    return [*plain, "", *lines] if plain else lines


def entry_lines(path: KeyPath, value: Json, style: Style) -> list[str]:
    """A table with its header and sub-tables; for another value its key under the header of its parent."""
    if isinstance(value, dict):
        return table_lines(path, value, style)
    line = pair_line(path[-1:], value, style)
    return [_header(path[:-1], style), line] if len(path) > 1 else [line]


def table_lines(path: KeyPath, value: Mapping[str, Json], style: Style) -> list[str]:
    """`[path]`, its plain keys, then a table for each dict in it: a key after a sub-table would belong to that."""
    lines = [_header(path, style)]
    lines += [pair_line((key,), held, style) for key, held in value.items() if not isinstance(held, dict)]
    for key, held in value.items():
        if isinstance(held, dict):
            lines += [""] if style.blank_between else []
            lines += table_lines((*path, key), held, style)
    return lines


def dotted_lines(path: KeyPath, value: Json, style: Style) -> list[str]:
    """The same as lines of dotted keys, which need no header: `a.b.command = "x"`."""
    if not isinstance(value, dict) or not value:
        return [pair_line(path, value, style)]
    return [line for key, held in value.items() for line in dotted_lines((*path, key), held, style)]


def pair_line(path: KeyPath, value: Json, style: Style) -> str:
    return f"{style.indent}{render_key(path)}{style.equals}{render_value(value)}"


def render_key(path: KeyPath) -> str:
    return ".".join(key if _BARE_KEY.fullmatch(key) else _string(key) for key in path)


def render_value(value: Json) -> str:
    """The value on one line; a dict as an inline table."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _string(value)
        case int() if -_LARGEST_INTEGER - 1 <= value <= _LARGEST_INTEGER:
            return str(value)
        case float():
            import tomlkit

            return tomlkit.float_(value).as_string()
        case list() | tuple():
            return f"[{', '.join(render_value(item) for item in value)}]"
        case dict():
            members = [f"{render_key((key,))} = {render_value(held)}" for key, held in value.items()]
            return f"{{ {', '.join(members)} }}" if members else "{}"
    kind = "an integer beyond 64 bits" if isinstance(value, int) else f"a value of type {type(value).__name__}"
    raise _refused(f"TOML cannot hold {kind}")


def _header(path: KeyPath, style: Style) -> str:
    return f"{style.header_indent}[{render_key(path)}]"


def _string(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise _refused("the entry holds half of a surrogate pair, which is no character") from None
    import tomlkit

    return tomlkit.string(text).as_string()


def _refused(message: str) -> HomeportError:
    return HomeportError("edit_refused", message, hint="change the value")
