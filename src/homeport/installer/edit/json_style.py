"""How a file is laid out, and a value rendered so that it fits in."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any, Final

from homeport.installer.edit.json_scan import Object, Scanner, Span

_INDENTED_KEY: Final = re.compile(r'^([ \t]+)"', re.MULTILINE)
_LIST: Final = re.compile(r"\[[^\[\]{}]*?\]")
_HEAD_CHARS: Final = 65_536


@dataclass(frozen=True, slots=True)
class Style:
    """newline: "" where everything stands on one line. unit: one step of indentation. colon, comma: with the space
    behind them. lists_in_line, objects_in_line: as the neighbours have it. padding: inside a one-line object.
    """

    newline: str = "\n"
    unit: str = "  "
    colon: str = ": "
    comma: str = ", "
    lists_in_line: bool = False
    objects_in_line: bool = False
    padding: str = " "

    def on_one_line(self) -> Style:
        return replace(self, newline="")

    def render(self, value: Any, indent: str) -> str:
        """A value whose first line stands behind its key and whose last line begins with `indent`."""
        if isinstance(value, dict) and value and not self.objects_in_line and self.newline:
            inner = indent + self.unit
            lines = [f"{inner}{quoted(key)}{self.colon}{self.render(item, inner)}" for key, item in value.items()]
            return "{" + self.newline + f",{self.newline}".join(lines) + self.newline + indent + "}"
        if isinstance(value, list) and value and not self._list_fits(value):
            inner = indent + self.unit
            lines = [inner + self.render(item, inner) for item in value]
            return "[" + self.newline + f",{self.newline}".join(lines) + self.newline + indent + "]"
        return self._in_line(value)

    def _list_fits(self, value: list[Any]) -> bool:
        return self.lists_in_line or self.objects_in_line or not self.newline

    def _in_line(self, value: Any) -> str:
        if isinstance(value, dict) and value:
            members = self.comma.join(f"{quoted(key)}{self.colon}{self._in_line(item)}" for key, item in value.items())
            return "{" + self.padding + members + self.padding + "}"
        if isinstance(value, list) and value:
            return "[" + self.comma.join(self._in_line(item) for item in value) + "]"
        return quoted(value)


def quoted(value: Any) -> str:
    """A scalar or empty container. Characters stay themselves, but for a lone surrogate, which UTF-8 cannot hold."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "".join(one if not "\ud800" <= one <= "\udfff" else f"\\u{ord(one):04x}" for one in text)
    return text


def style_near(scanner: Scanner, container: Object | None) -> Style:
    """The style of a container's members, and where it has none, of the file."""
    text = scanner.text
    head = text[:_HEAD_CHARS]
    style = Style(newline=_newline(text, container.end if container else len(text)), unit=_unit(head))
    last = container.members[-1] if container and container.members else None
    if last is None:
        if not style.newline:
            spaced = re.search(r'"\s*:( ?)', head)
            wide = spaced is None or bool(spaced[1])
            padding = " " if re.search(r"\{ +\S", head) else ""
            return replace(style, colon=": " if wide else ":", comma=", " if wide else ",", padding=padding)
        lists = _LIST.findall(head)
        return replace(style, lists_in_line=bool(lists) and not any("\n" in one for one in lists if one != "[]"))
    assert container is not None
    if "\n" not in text[container.start : last.key_start]:
        style = replace(style, newline="")
    return _like_neighbour(style, text, container, last)


def _like_neighbour(style: Style, text: str, container: Object, last: Span) -> Style:
    value = text[last.start : last.end]
    between = text[last.key_end : last.start]
    colon = between if between.strip() == ":" and "\n" not in between else ": "
    lists = [
        one for one in _LIST.findall(text[container.start : container.end][:_HEAD_CHARS]) if one.strip("[] \t\r\n")
    ]
    in_line = value.startswith("{") and len(value) > 2 and "\n" not in value and bool(style.newline)
    padding = " " if re.match(r"\{ +\S", value) else ""
    compact = not style.newline
    comma = _comma(text, container) if compact else ", "
    if compact:
        colon = colon if colon.strip() == ":" else ": "
        padding = " " if re.match(r"\{ +\S", text[container.start : container.start + 80]) else ""
    return replace(
        style,
        colon=colon.lstrip() if not colon.startswith(" :") else colon,
        comma=comma,
        lists_in_line=bool(lists) and not any("\n" in one for one in lists),
        objects_in_line=in_line,
        padding=padding,
    )


def _comma(text: str, container: Object) -> str:
    """Between two members of a one-line object; with one member, as much space as stands behind its colon."""
    first = container.members[0]
    if len(container.members) > 1 and first.comma >= 0:
        between = text[first.comma + 1 : container.members[1].key_start]
        return "," + between if not between.strip() else ", "
    return ", " if text[first.key_end : first.start].endswith(" ") else ","


def _newline(text: str, at: int) -> str:
    """The line end nearest before `at`; "" for a file that has none but the last, and more than braces in it."""
    end = text.rfind("\n", 0, max(at - 1, 0))
    if end < 0:
        end = text.find("\n")
        if end < 0 or not text[end:].strip():
            return "" if len(text.strip().strip("{}").strip()) else ("\r\n" if text[end - 1 : end] == "\r" else "\n")
    return "\r\n" if text[end - 1 : end] == "\r" else "\n"


def _unit(head: str) -> str:
    found = _INDENTED_KEY.search(head)
    if found is None:
        return "  "
    return "\t" if found[1].startswith("\t") else found[1]


def indent_of(text: str, at: int) -> str:
    """The white space that begins the line of `at`."""
    start = text.rfind("\n", 0, at) + 1
    end = start
    while end < at and text[end] in " \t":
        end += 1
    return text[start:end]
