"""A command line as a person's shell reads it back word for word."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Final, Literal

Shell = Literal["posix", "fish", "powershell", "cmd"]

_PLAIN: Final = r"[A-Za-z0-9_@%+=:,./-]+"
_PLAIN_WINDOWS: Final = r"[A-Za-z0-9_+=:./\\-]+"


def shell_named(name: str | None, platform: str) -> Shell:
    """The quoting rules of a shell by its program name; None means the platform's own."""
    match (name or "").lower().removesuffix(".exe"):
        case "fish":
            return "fish"
        case "powershell" | "pwsh":
            return "powershell"
        case "cmd":
            return "cmd"
        case "":
            return "powershell" if platform == "win32" else "posix"
    return "posix"


def command_line(words: Sequence[str], shell: Shell) -> str:
    """The words, quoted for one shell and joined by spaces."""
    return " ".join(quote(word, shell) for word in words)


def then(lines: Sequence[str], shell: Shell) -> str:
    """Several commands on one line, each run whatever the one before it said."""
    return (" & " if shell == "cmd" else "; ").join(lines)


def quote(word: str, shell: Shell) -> str:
    if shell == "posix":
        return shlex.quote(word)
    if shell == "fish":
        return _fish(word)
    if shell == "powershell":
        return _powershell(word)
    return _cmd(word)


def _fish(word: str) -> str:
    """Inside fish's single quotes only backslash and the quote itself are escaped (fishshell.com/docs, Quotes)."""
    if re.fullmatch(_PLAIN, word):
        return word
    return "'" + word.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _powershell(word: str) -> str:
    """Single quotes, doubled inside. Windows PowerShell 5.1 hands a double quote to a program unescaped, so it gets
    its backslash here; PowerShell 7.3 and later would keep that backslash, which is why words with a double quote are
    avoided in what we print (about_Parsing, PSNativeCommandArgumentPassing). A bare -a.b or -a:b is broken in two
    (PowerShell issues 6291 and 6360), and a typographic single quote ends a string too (about_Quoting_Rules)."""
    if word == "--":
        # A bare -- is taken by PowerShell itself.
        return "'--'"
    if re.fullmatch(_PLAIN_WINDOWS, word) and not re.match(r"-.*[.:]", word):
        return word
    escaped = re.sub(r'(\\*)"', lambda match: match[1] * 2 + '\\"', word)
    return "'" + re.sub(r"(['\u2018-\u201b])", r"\1\1", escaped) + "'"


def _cmd(word: str) -> str:
    """Double quotes by the C runtime's rules. cmd counts them too, but not the backslash before one: what stands
    outside by its count gets a caret, and % gets one everywhere, since no quotes keep a variable from being put in."""
    if re.fullmatch(_PLAIN_WINDOWS, word):
        return word
    inner = re.sub(r'(\\*)"', lambda match: match[1] * 2 + '\\"', word)
    inner = re.sub(r"(\\+)$", lambda match: match[1] * 2, inner)
    shown, quoted = ['"'], True
    for character in inner:
        if character == "%":
            shown.append('"^%"' if quoted else "^%")
        else:
            shown.append(f"^{character}" if not quoted and character in "&|<>^()" else character)
            quoted ^= character == '"'
    return "".join(shown) + ('"' if quoted else '^"')
