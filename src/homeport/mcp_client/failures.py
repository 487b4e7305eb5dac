"""What goes wrong with a server, in words: connecting raises them, a call answers with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from homeport.errors import HomeportError
from homeport.mcp_client.endpoint import Endpoint, without_secrets

MOST_CHARS: Final = 500


class McpConnectionError(HomeportError):
    """A server could not be connected. code: `tool_mcp_connection_failed`.

    details: `server` (its name), `reason` (the words behind the colon of the message), and where they are known
    `exit_code`, `stderr` (its last lines), `http_status`.
    """

    def __init__(self, message: str, hint: str | None = None, details: Mapping[str, Any] | None = None) -> None:
        super().__init__("tool_mcp_connection_failed", message, hint, details)


class Refused(Exception):
    """Why a server is not to be used, found while connecting."""

    def __init__(self, reason: str, hint: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


def connection_error(
    name: str, endpoint: Endpoint, reason: str, hint: str | None = None, details: Mapping[str, Any] | None = None
) -> McpConnectionError:
    said = without_secrets(endpoint, reason)
    return McpConnectionError(
        f"the MCP server '{name}' ({endpoint.shown}) could not be connected: {said}",
        hint,
        {"server": name, "reason": said, **(details or {})},
    )


def one_line(text: str, most_chars: int = MOST_CHARS) -> str:
    """The text on one line, without control characters, cut where it is longer."""
    flat = " ".join("".join(char if char.isprintable() else " " for char in text[: most_chars * 4]).split())
    return flat if len(flat) <= most_chars else flat[: most_chars - 1] + "…"


def innermost(error: BaseException) -> BaseException:
    """The first error that says something, out of the groups that task groups make."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def start_failure(command: str, cwd: str | None, error: OSError | ValueError) -> Refused:
    """Why a program could not be started."""
    if isinstance(error, FileNotFoundError) and cwd is not None and error.filename == cwd:
        return Refused(f"its working folder does not exist: {cwd}")
    if isinstance(error, FileNotFoundError) and "/" not in command and "\\" not in command:
        return Refused(f"there is no program '{command}' on PATH", "install it, or give its whole path")
    if isinstance(error, FileNotFoundError):
        # Also said where the file is there and the interpreter in its first line is not.
        return Refused(f"there is no such program: {command}")
    if isinstance(error, PermissionError):
        return Refused(f"{error.filename or command} may not be run: {error.strerror}")
    return Refused(f"it could not be started: {getattr(error, 'strerror', None) or error}")


def http_hint(status: object) -> str | None:
    if status in (401, 403):
        return "pass the credential: headers={'Authorization': 'Bearer ...'}"
    if status in (404, 405):
        return "is the path of the URL right? Many servers answer at /mcp"
    return None
