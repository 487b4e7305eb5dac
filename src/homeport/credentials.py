"""What looks like a credential: one detector for configs, records and memory, and the mask that hides one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

MASK: Final = "***"

_NAME: Final = (
    r"(?i)(?:^|[_\-.])(?:api[_\-]?key|key|token|secret|passw(?:or)?d|pass|pwd|pat|auth|authorization|credentials?|bearer"
    r"|cookie|dsn|private[_\-]?key|access[_\-]?key|client[_\-]?secret|signature|session)(?:$|[_\-.0-9])"
)
_VARIABLE: Final = r"(?i)[_\-]env(?:[_\-]vars?)?$"
_OF_VARIABLES: Final = r"\benv_http_headers\b"
"""Codex's table whose values are variables' names (developers.openai.com/codex/config-reference)."""
_RUN_TOGETHER: Final = r"(?i)(?:apikey|accesskey|authtoken|accesstoken|secretkey|password)"

# Prefixes by which issuers mark their own keys, so that scanners find them.
_MARKS: Final = (
    "sk-", "gh", "github_pat_", "glpat-", "xox", "AKIA", "ASIA", "AIza", "ya29.", "npm_", "pypi-", "hf_", "k_live_",
    "k_test_", "eyJ", "SG.", "dop_v1_", "lin_api_", "ntn_", "tvly-", "-----BEGIN",
)  # fmt: skip


@cache
def _issued() -> re.Pattern[str]:
    """Compiled when a value holds a mark: the pattern takes longer to compile than a printing command has."""
    return re.compile(
        r"\b(?:sk-[A-Za-z0-9_-]{12,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}"
        r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|A(?:KIA|SIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}"
        r"|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{20,}|[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"
        r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
        r"|dop_v1_[a-f0-9]{32,}|lin_api_[A-Za-z0-9]{20,}|ntn_[A-Za-z0-9]{20,}|tvly-[A-Za-z0-9-]{16,})"
        r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    )


_SCHEME: Final = r"(?i)^(?:Bearer|Basic|Token)\s+\S{6,}$"
_PAIR: Final = r"(?s)^(?P<key>-{0,2}(?P<name>[A-Za-z_][\w.-]*)(?:=|: ?))(?P<value>.*)$"
_OPTION: Final = re.compile(r"^--?(?P<name>[A-Za-z][A-Za-z0-9_-]*)(?:=(?P<value>.*))?$", re.DOTALL)


def is_secret_name(name: str) -> bool:
    """`API_KEY`, `X-Auth-Token`, `Authorization`; not `KEYBOARD`, `TOKENIZERS_PARALLELISM` or `MONKEY`, nor
    `bearer_token_env_var` or `--api-key-env`, which hold a variable's name."""
    return not re.search(_VARIABLE, name) and bool(re.search(_NAME, name) or re.search(_RUN_TOGETHER, name))


def is_secret_value(value: str) -> bool:
    """An issuer's own key format, an authorization scheme with its credential, or a URL with a password in it."""
    return _is_issued(value) or bool(re.match(_SCHEME, value)) or _url_secret(value)


def _is_issued(value: str) -> bool:
    return any(mark in value for mark in _MARKS) and bool(_issued().search(value))


def is_secret(name: str, value: str) -> bool:
    """The value is not empty, and it or its name says that it is a credential. Plain numbers and flags are none."""
    if not value or re.fullmatch(r"\d{1,6}|true|false|yes|no|on|off", value, re.IGNORECASE):
        return False
    return is_secret_name(name) or is_secret_value(value)


def secret_argument(arguments: tuple[str, ...]) -> str | None:
    """The option whose value is a credential (`--api-key XYZ`, `--token=XYZ`), or "" for a bare one; None if none."""
    previous: str | None = None
    for argument in arguments:
        option = _OPTION.match(argument)
        if previous and not option and is_secret(previous, argument):
            return previous
        if option and option["value"] is not None and is_secret(option["name"], option["value"]):
            return option["name"]
        if is_secret_value(argument):
            return ""
        previous = option["name"] if option and option["value"] is None else None
    return None


def _url_secret(value: str) -> bool:
    parts = _split(value)
    if parts is None:
        return False
    from urllib.parse import parse_qsl

    return bool(parts.password) or any(is_secret(name, text) for name, text in parse_qsl(parts.query))


def _split(value: str) -> Any:
    if "://" not in value:
        return None
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(value)
        parts.password  # noqa: B018 - the property itself raises on a malformed authority
    except ValueError:
        return None
    return parts


def masked(name: str, value: str) -> str:
    """The value as it may be shown: hidden where it is a credential, a URL with its password and query hidden."""
    if not is_secret(name, value):
        return value
    parts = _split(value)
    if parts is None or is_secret_name(name):
        return MASK
    return masked_url(value)


def masked_url(value: str) -> str:
    parts = _split(value)
    if parts is None or not _url_secret(value):
        return value
    from urllib.parse import parse_qsl, urlunsplit

    authority = parts.netloc.rpartition("@")[2]
    user = f"{parts.username}:{MASK}@" if parts.password else ""
    query = "&".join(f"{key}={MASK if is_secret(key, text) else text}" for key, text in parse_qsl(parts.query))
    return str(urlunsplit((parts.scheme, user + authority, parts.path, query, parts.fragment)))


def is_reference(value: str) -> bool:
    """Nothing but a variable in any client's spelling, with or without a scheme before it. One with a default is none:
    the default is a value."""
    return bool(re.fullmatch(r"(?:(?:Bearer|Basic|Token) )?(?:\$\{(?:env:)?\w+\}|\$\w+|\{env:\w+\})", value))


def masked_arguments(arguments: list[str]) -> list[str]:
    """A command line as it may be shown."""
    previous: str | None = None
    shown: list[str] = []
    for argument in arguments:
        shown.append(_masked_argument(previous, argument))
        previous = _option_without_value(argument)
    return shown


def _option_without_value(argument: str) -> str | None:
    option = _OPTION.match(argument)
    return option["name"] if option and option["value"] is None else None


def _masked_argument(previous: str | None, argument: str) -> str:
    """previous: the option before it, which it may be the value of. `NAME=VALUE` and `Name: value` count by their name,
    as they follow -e and --header."""
    pair = re.match(_PAIR, argument)
    if pair and is_secret(pair["name"], pair["value"]):
        return argument if is_reference(pair["value"]) else pair["key"] + masked(pair["name"], pair["value"])
    if previous and not _OPTION.match(argument) and is_secret(previous, argument):
        return argument if is_reference(argument) else MASK
    return masked("", argument)


_STRING: Final = r"""(?P<quote>["'])(?P<text>(?:\\.|(?!(?P=quote))[^\\\n])*)(?P=quote)"""
_ASSIGNMENT: Final = r"""(?P<key>["']?(?P<name>[\w.\-]+)["']?\s*[:=]\s*)(?P<quote>["'])(?P<value>.*?)(?P=quote)"""


def masked_diff(lines: Iterable[str]) -> Iterator[str]:
    """A unified diff of config files as it may be shown: hidden is the value of a key or option naming a credential,
    and every value that looks like one. References stay. An option's value may stand on the line after it."""
    options: dict[str, str | None] = {"-": None, "+": None}
    in_names = False
    for line in lines:
        if line[1:2] == "[":
            in_names = bool(re.search(_OF_VARIABLES, line))
        if in_names or re.search(_OF_VARIABLES, line):
            yield _issued().sub(MASK, line)
            continue
        # Each side is a text of its own; a line without a sign is in both.
        sides = [line[:1]] if line[:1] in options else list(options)
        shown, option = _masked_line(line, options[sides[0]])
        options |= dict.fromkeys(sides, option)
        yield shown


def _masked_line(line: str, option: str | None) -> tuple[str, str | None]:
    """option: the last string before this line, where that is an option without its value; and the same after it."""

    def hide(match: re.Match[str]) -> str:
        nonlocal option
        shown = _masked_argument(option, match["text"])
        option = _option_without_value(match["text"])
        return match["quote"] + shown + match["quote"]

    shown = re.sub(_STRING, hide, re.sub(_ASSIGNMENT, _hide_assigned, line))
    return _issued().sub(MASK, shown), option


def _hide_assigned(match: re.Match[str]) -> str:
    value = match["value"]
    if is_reference(value) or not is_secret(match["name"], value):
        return match[0]
    return match["key"] + match["quote"] + masked(match["name"], value) + match["quote"]
