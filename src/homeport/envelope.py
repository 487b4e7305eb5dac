"""The one JSON envelope: what `--json` prints and what every structured tool result holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from homeport.errors import HomeportError
from homeport.version import VERSION

ENVELOPE_VERSION: Final = 1


def envelope(operation: str, result: Mapping[str, Any] | None, error: HomeportError | None = None) -> dict[str, Any]:
    """Wrap a result. `ok` is true exactly when there is no error; `result` may stand beside one."""
    return {
        "version": ENVELOPE_VERSION,
        "homeport": VERSION,
        "operation": operation,
        "ok": error is None,
        "result": None if result is None else dict(result),
        "error": None if error is None else error.as_json(),
    }


def as_line(value: Mapping[str, Any]) -> str:
    """One line of JSON, without its line end. A lone surrogate is escaped, so the line always encodes as UTF-8."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text
