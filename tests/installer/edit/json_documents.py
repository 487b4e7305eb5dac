"""Generated JSON and JSONC files in every layout people have: the ground for the editor's properties."""

from __future__ import annotations

import json

from hypothesis import strategies as st

KEYS = st.sampled_from(["a", "rota", "tally", "x y", "ключ", "🌙", "esc\\n", "", "mcpServers", "//", "a,b}"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.sampled_from(["", "// no comment", "a,] b,} c", "/* x */", 'q"q', "é\u2028", "\\"]),
).map(lambda value: json.dumps(value, ensure_ascii=False)) | st.sampled_from(
    ["1E400", "-0", "1.0e-5", "0.10", '"\\ud83d"', '"caf\\u00e9 \\/ bar"', "9" * 5000]
)


class Layout:
    """How one file is written: drawn once, with comments and odd spaces drawn at every place."""

    def __init__(self, draw: st.DrawFn, *, is_jsonc: bool) -> None:
        self.draw, self.is_jsonc = draw, is_jsonc
        self.newline = draw(st.sampled_from(["\n", "\r\n"]))
        self.unit = draw(st.sampled_from(["  ", "    ", "\t", "   "]))
        self.compact = draw(st.booleans()) and not is_jsonc
        self.trailing = is_jsonc and draw(st.booleans())
        self.spaced = draw(st.booleans())

    def comment(self, *, line: bool) -> str:
        if not self.is_jsonc or not self.draw(st.integers(0, 3)) == 0:
            return ""
        kinds = [" /* b, } */", "/*\t*/"] + ([' // l " {', " //"] if line else [])
        return str(self.draw(st.sampled_from(kinds)))

    def value(self, depth: int, indent: str) -> str:
        kind = self.draw(st.integers(0, 5))
        if depth > 0 and kind == 0:
            return self.object(depth - 1, indent, self.draw(st.lists(KEYS, max_size=3, unique=True)))
        if depth > 0 and kind == 1:
            return "[" + ", ".join(self.draw(st.lists(SCALARS, max_size=3))) + "]"
        return str(self.draw(SCALARS))

    def object(self, depth: int, indent: str, keys: list[str], values: dict[str, str] | None = None) -> str:
        one_line = self.compact or self.draw(st.integers(0, 3)) == 0
        if not keys:
            inner = ["", "" if one_line else self.newline + indent]
            if self.is_jsonc:
                inner += [self.newline + indent + self.unit + "// empty" + self.newline + indent, " /* e */"]
            # `{ }` is written too, but not here: an object that was filled and emptied comes back as `{}`.
            return "{" + str(self.draw(st.sampled_from(inner[:1] + inner[2:]))) + "}"
        colon = ": " if self.spaced else ":"
        lines = []
        for index, key in enumerate(keys):
            value = (values or {}).get(key) or self.value(depth, indent + self.unit)
            last = index == len(keys) - 1
            comma = "," if not last or self.trailing else ""
            before = self.comment(line=False) if not one_line else ""
            after = self.comment(line=not one_line)
            above = "" if one_line or not self.comment(line=True) else indent + self.unit + "// above" + self.newline
            pair = f"{json.dumps(key, ensure_ascii=False)}{colon}{value}{before}{comma}{after}"
            lines.append(pair if one_line else f"{above}{indent}{self.unit}{pair}")
        if one_line:
            pad = " " if self.spaced else ""
            return "{" + pad + (" " if self.spaced else "").join(lines) + pad + "}"
        tail = "" if not self.comment(line=True) else self.newline + indent + self.unit + "// tail" + self.newline
        return "{" + self.newline + self.newline.join(lines) + tail + self.newline + indent + "}"


@st.composite
def documents(draw: st.DrawFn, *, is_jsonc: bool, container: str = "mcpServers", filled: bool | None = None) -> bytes:
    """A whole file with a container of entries in it. filled: whether the container holds entries; None is either."""
    layout = Layout(draw, is_jsonc=is_jsonc)
    fill = draw(st.booleans()) if filled is None else filled
    names = draw(st.lists(st.sampled_from(["rota", "tally", "far", "x y"]), min_size=1, max_size=3, unique=True))
    indent = "" if layout.compact else layout.unit
    inner = layout.object(2, indent, names if fill else [])
    others = draw(st.lists(KEYS.filter(lambda key: key != container), max_size=3, unique=True))
    place = draw(st.integers(0, len(others)))
    keys = [*others[:place], container, *others[place:]]
    root = layout.object(2, "", keys, {container: inner})
    head = draw(st.sampled_from(["", "", "// first line" + layout.newline])) if is_jsonc else ""
    tail = draw(st.sampled_from(["", layout.newline, layout.newline * 2]))
    mark = draw(st.sampled_from(["", "", "\ufeff"]))
    return (mark + head + root + tail).encode("utf-8")
