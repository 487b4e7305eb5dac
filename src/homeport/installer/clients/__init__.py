"""The clients Homeport knows: a line each. A module of facts is loaded when its client is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from homeport.installer.clients.client import Client

if TYPE_CHECKING:
    from homeport.installer.clients import claude_code, claude_desktop, codex, cursor, muse_code, opencode

    # The list that mypy reads: it names the module that misses a function, and search finds every use.
    CLIENTS: Final[Mapping[str, Client]] = {
        "claude-code": claude_code,
        "claude-desktop": claude_desktop,
        "cursor": cursor,
        "codex": codex,
        "opencode": opencode,
        "muse-code": muse_code,
    }
else:
    from homeport.installer.clients.registry import Registry

    CLIENTS = Registry(("claude-code", "claude-desktop", "cursor", "codex", "opencode", "muse-code"))
