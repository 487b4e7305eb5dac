"""Where a server is and how it is named: what its user said, without the credentials in whatever is shown of it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from homeport import credentials

# What a server may need to find programs, folders, a language and certificates, and nothing that could be a credential.
# The SDK's own list (mcp.client.stdio.DEFAULT_INHERITED_ENV_VARS, 2.3.0) with locale, time zone, temporary and XDG
# folders, certificates, what Windows programs ask for, and where Homeport's state is. docs/agents.md has the same list.
PASSED_ON: Final = frozenset(
    """
    HOME LANG LANGUAGE LC_ALL LC_CTYPE LC_MESSAGES LOGNAME PATH SHELL TERM TMPDIR TZ USER
    XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME
    NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE SSL_CERT_DIR SSL_CERT_FILE
    ALLUSERSPROFILE APPDATA COMMONPROGRAMFILES COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA NUMBER_OF_PROCESSORS OS PATHEXT
    PROCESSOR_ARCHITECTURE PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME
    USERPROFILE WINDIR HOMEPORT_HOME
    """.split()
)

_LEAST_CHARS: Final = 6
"""A shorter value of a header or variable is not looked for in texts: it would hide ordinary words."""


@dataclass(frozen=True, slots=True)
class Stdio:
    """A program that speaks MCP on its stdin and stdout. on_stderr: given each line that it writes on stderr."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    on_stderr: Callable[[str], object] | None = None

    @property
    def name(self) -> str:
        return re.split(r"[/\\]", self.command)[-1].removesuffix(".exe") or self.command

    @property
    def shown(self) -> str:
        return _without_issued(" ".join(credentials.masked_arguments([self.command, *self.args])))

    @property
    def secrets(self) -> list[str]:
        return [value for name, value in self.env.items() if credentials.is_secret(name, value)]

    def variables(self, ours: Mapping[str, str]) -> dict[str, str]:
        """The environment of the child: ours, filtered, and `env` over it."""
        # An exported shell function could be run by a shell that the server starts.
        passed = {
            name: value
            for name, value in ours.items()
            if (name.upper() if os.name == "nt" else name) in PASSED_ON and not value.startswith("()")
        }
        return passed | dict(self.env)


@dataclass(frozen=True, slots=True)
class Http:
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return (self._parts and self._parts.hostname) or "http"

    @property
    def shown(self) -> str:
        # What cannot be taken apart may hold a password anywhere.
        return _without_issued(credentials.masked_url(self.url)) if self._parts else credentials.MASK

    @property
    def secrets(self) -> list[str]:
        values = [value for name, value in self.headers.items() if credentials.is_secret(name, value)]
        # Behind a scheme such as Bearer stands the credential itself.
        found = [*values, *(value.rpartition(" ")[2] for value in values)]
        if self._parts:
            found += [self._parts.password or "", unquote(self._parts.password or "")]
            found += [text for name, text in parse_qsl(self._parts.query) if credentials.is_secret(name, text)]
        return found

    @property
    def _parts(self) -> SplitResult | None:
        try:
            parts = urlsplit(self.url)
            parts.port  # noqa: B018 - the property itself raises on a malformed authority
        except ValueError:
            return None
        return parts


@dataclass(frozen=True, slots=True)
class InProcess:
    """server: an object of the SDK."""

    server: Any

    @property
    def name(self) -> str:
        return str(getattr(self.server, "name", "") or "in-process")

    @property
    def shown(self) -> str:
        return "in this process"

    @property
    def secrets(self) -> list[str]:
        return []


Endpoint = Stdio | Http | InProcess


def without_secrets(endpoint: Endpoint, text: str) -> str:
    """A text from outside as it may be shown: what we sent as a credential, and what looks like one, is hidden."""
    for secret in sorted(endpoint.secrets, key=len, reverse=True):
        if len(secret) >= _LEAST_CHARS:
            text = text.replace(secret, credentials.MASK)
    return "\n".join(
        " ".join(credentials.masked_arguments(_without_issued(line).split(" "))) for line in text.split("\n")
    )


def _without_issued(line: str) -> str:
    """A line without what an issuer's format or a name beside it says is a credential."""
    return "\n".join(shown[1:] for shown in credentials.masked_diff([f" {line}"]))
