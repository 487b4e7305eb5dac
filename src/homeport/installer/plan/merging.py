"""Update our own entry: the keys we want are set, keys a person added stay, keys we wrote and no longer want go."""

from __future__ import annotations

from typing import Final

from homeport.installer.clients.values import Json, KeyPath
from homeport.installer.edit.document import Document

# What belongs to one transport and makes no sense, or an error, beside the other's.
_STDIO_KEYS: Final = frozenset({"command", "args", "env", "environment", "env_vars", "cwd", "envFile"})
_REMOTE_KEYS: Final = frozenset(
    {"url", "headers", "http_headers", "env_http_headers", "bearer_token_env_var", "oauth", "headersHelper"}
)


def merged(
    document: Document,
    path: KeyPath,
    present: Json,
    wanted: dict[str, Json],
    written: Json,
    rewrites: frozenset[str],
    clashing: tuple[frozenset[str], ...] = (),
) -> bytes:
    """New bytes in which the entry at `path` is what `wanted` asks; the very same object where it is already.

    present: the entry as it stands. written: as we wrote it last, None where the journal does not know.
    rewrites: keys whose absence is the client's own doing and therefore no difference.
    clashing: keys of which the client rejects two in one entry: what stands against one we want goes.
    """
    if not isinstance(present, dict):
        return document.set(path, wanted)
    earlier = written if isinstance(written, dict) else {}
    changes: dict[str, Json] = {}
    for key, value in wanted.items():
        if key not in present:
            if key not in rewrites:
                changes[key] = value
        elif isinstance(value, dict) and isinstance(present[key], dict):
            changes |= _nested(key, present[key], value, earlier.get(key))
        elif not _equal(present[key], value) and not _switched_off(key, present[key]):
            changes[key] = value
    other = _REMOTE_KEYS if "command" in wanted else _STDIO_KEYS
    against = {key for keys in clashing if keys & wanted.keys() for key in keys}
    dropped = frozenset(
        key for key in present if key not in wanted and (key in earlier or key in other or key in against)
    )
    if not changes and not dropped:
        return document.source
    return document.update(path, changes, dropped)


def _nested(key: str, present: dict[str, Json], wanted: dict[str, Json], earlier: Json) -> dict[str, Json]:
    gone = set(earlier) - set(wanted) if isinstance(earlier, dict) else set()
    result = {name: value for name, value in present.items() if name not in gone} | wanted
    return {} if result == present else {key: result}


def _switched_off(key: str, present: Json) -> bool:
    """That a person switched our entry off is told (the client's gates) and not undone."""
    return key == "enabled" and present is False


def _equal(left: Json, right: Json) -> bool:
    """By type as well: true is not 1."""
    return type(left) is type(right) and bool(left == right)
