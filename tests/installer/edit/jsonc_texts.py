"""Generated JSON and JSONC of any legal spelling: whatever may stand between two tokens is drawn for every gap."""

from __future__ import annotations

from hypothesis import strategies as st

from homeport.installer.edit.json_grammar import JsonDialect

CONTAINER = "mcpServers"
NAME = "homeport"

_WHITE = ["", "", "", " ", "\n", "\r\n", "\n  ", "\n    ", "\r\n\t", "\t", "\r", "  \n", "\n\n "]
_COMMENTS = [" // }, {\n", "//\r\n  ", "/**/", ' /* " ] */ ', "\n  // own line\n  ", "/* two\n lines */", " // x \r"]
_SCALARS = ["1", "-0.5e+7", "1E400", "9" * 5000, "true", "null", '""', '"a,] b,} // c"', '"\\ud800"', '"é🌙"', '"\\\\"']
_KEYS = ["a", "é", "\\u0061b", 'q\\"', "//", "🌙", "x y"]


def gaps(dialect: JsonDialect) -> st.SearchStrategy[str]:
    white = st.sampled_from(_WHITE)
    if dialect == "json":
        return white
    return st.lists(st.sampled_from([*_WHITE, *_COMMENTS]), max_size=2).map("".join)


@st.composite
def objects(draw: st.DrawFn, dialect: JsonDialect, depth: int, fixed: dict[str, str] | None = None) -> str:
    """An object of up to three members, and those of `fixed`, whose values are given."""
    gap = gaps(dialect)
    members = [(key, None) for key in draw(st.lists(st.sampled_from(_KEYS), max_size=3, unique=True))]
    pairs: list[tuple[str, str | None]] = list(draw(st.permutations([*members, *(fixed or {}).items()])))
    spelled = [
        f'{draw(gap)}"{key}"{draw(gap)}:{draw(gap)}'
        f"{draw(values(dialect, depth - 1)) if value is None else value}{draw(gap)}"
        for key, value in pairs
    ]
    if not spelled:
        return "{" + draw(gap) + "}"
    comma = f",{draw(gap)}" if dialect == "jsonc" and draw(st.booleans()) else ""
    return "{" + ",".join(spelled) + comma + "}"


def values(dialect: JsonDialect, depth: int) -> st.SearchStrategy[str]:
    scalars = st.sampled_from(_SCALARS)
    if depth <= 0:
        return scalars
    lists = st.lists(st.tuples(gaps(dialect), values(dialect, depth - 1)).map("".join), max_size=2)
    return st.one_of(scalars, lists.map(lambda items: f"[{','.join(items)}]"), objects(dialect, depth))


@st.composite
def files(draw: st.DrawFn, dialect: JsonDialect, *, with_container: bool) -> bytes:
    """A whole file, with a container of entries at the root or without one."""
    fixed = {CONTAINER: draw(objects(dialect, 2))} if with_container else {}
    text = draw(gaps(dialect)) + draw(objects(dialect, 2, fixed)) + draw(gaps(dialect))
    return (draw(st.sampled_from(["", "\ufeff"])) + text).encode()
