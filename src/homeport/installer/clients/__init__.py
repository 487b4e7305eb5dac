"""The clients Homeport knows: a line each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from homeport.installer.clients import claude_code, claude_desktop, codex, cursor, muse_code, opencode
from homeport.installer.clients.client import Client

CLIENTS: Final[Mapping[str, Client]] = {
    "claude-code": claude_code,
    "claude-desktop": claude_desktop,
    "cursor": cursor,
    "codex": codex,
    "opencode": opencode,
    "muse-code": muse_code,
}
