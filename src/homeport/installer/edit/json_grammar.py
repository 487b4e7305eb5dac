"""The tokens of JSON (RFC 8259) and JSONC as patterns over a file's bytes.

JSONC is JSON with // and /* */ comments and with a comma behind the last item; a comment with // ends before CR or LF.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final, Literal

JsonDialect = Literal["json", "jsonc"]

STRING: Final = rb'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"'
COMMENT: Final = rb"//[^\r\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/"
WHITE: Final = rb"[ \t\r\n]*+"
BLANK: Final = rb"(?:[ \t\r\n]++|%b)*+" % COMMENT

_NUMBER: Final = rb"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+"
SCALAR: Final = rb"(?:%b|(?:%b|true|false|null)(?![0-9A-Za-z_.+-]))" % (STRING, _NUMBER)


class Grammar:
    """The patterns that differ between the dialects.

    blank: what may stand between tokens. head: a key, its colon and the blanks behind it. runs: by the closing bracket,
    members or items whose value is a scalar or holds nothing, each with its comma and the blanks behind it.
    """

    def __init__(self, blank: bytes) -> None:
        self._dialects_blank = blank

    @cached_property
    def blank(self) -> re.Pattern[bytes]:
        return re.compile(self._dialects_blank)

    @cached_property
    def head(self) -> re.Pattern[bytes]:
        return re.compile(rb"(%b)%b:%b" % (STRING, self._dialects_blank, self._dialects_blank))

    @cached_property
    def runs(self) -> dict[bytes, re.Pattern[bytes]]:
        """Compiled when a value is walked: most files are leapt over by the standard decoder."""
        blank = self._dialects_blank
        item = rb"(?:%b|\{%b\}|\[%b\])%b,%b" % (SCALAR, blank, blank, blank, blank)
        member = rb"%b%b:%b%b" % (STRING, blank, blank, item)
        return {b"]": re.compile(rb"(?:%b)*+" % item), b"}": re.compile(rb"(?:%b)*+" % member)}
