"""Addresses of documents: `/mount/segments...`. Text only; nothing here looks at a disk.

An address is the same on every platform, so what one file system could not hold, or would fold into another
name, is refused everywhere.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

from homeport.errors import HomeportError

LONGEST_CHARS: Final = 512
MOST_SEGMENTS: Final = 16
# A temporary file has 22 bytes more, and no file system takes a name over 255.
LONGEST_SEGMENT_BYTES: Final = 200

# Control, unassigned, private and surrogate characters, line and paragraph separators.
_REFUSED_CATEGORIES: Final = frozenset({"Cc", "Cn", "Co", "Cs", "Zl", "Zp"})
# Marks that turn the direction of text around, and the byte order mark: a name would not be what it looks like.
_REFUSED_CHARACTERS: Final = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_. -]+")
_WINDOWS_CHARACTERS: Final = frozenset('<>:"|?*')
# learn.microsoft.com/windows/win32/fileio/naming-a-file: reserved with any extension, the superscript digits too.
_WINDOWS_NAMES: Final = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\s*\..*)?", re.IGNORECASE
)
# Homes are meant to be kept in git, and a file below these can make git run a program.
_OTHERS_FOLDERS: Final = frozenset({".git", ".hg", ".svn", ".bzr", ".jj"})
_TEMPORARY: Final = re.compile(r"\..*\.[0-9a-f]{12}\.homeport", re.DOTALL)


class Address(NamedTuple):
    """A mount's name and the names below it. No mount: the root, under which all mounts are. No segments: the mount."""

    mount: str
    segments: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "/" + "/".join((self.mount, *self.segments)) if self.mount else "/"

    def below(self, *names: str) -> Address:
        return Address(self.mount, (*self.segments, *names))


ROOT: Final = Address("")


def parse_address(text: str, field: str = "path") -> Address:
    """Read an address. A leading slash may be missing and one at the end is ignored; the result is in NFC.

    Raises HomeportError: memory_path_invalid; details `field`.
    """
    try:
        return _parse(text)
    except ValueError as error:
        raise HomeportError(
            "memory_path_invalid",
            f"{field} {shown(text)} is not an address: {error}",
            "give /mount/name or /mount/folder/name; view / lists the mounts",
            {"field": field},
        ) from None


def _parse(text: str) -> Address:
    if len(text) > LONGEST_CHARS:
        raise ValueError(f"it is longer than {LONGEST_CHARS} characters")
    trimmed = text.removeprefix("/").removesuffix("/")
    if not trimmed:
        return ROOT
    mount, *segments = trimmed.split("/")
    if len(segments) > MOST_SEGMENTS:
        raise ValueError(f"it has more than {MOST_SEGMENTS} segments below the mount")
    return Address(_segment(mount), tuple(_segment(segment) for segment in segments))


def _segment(text: str) -> str:
    trouble = segment_trouble(text)
    if trouble:
        raise ValueError(trouble)
    name = unicodedata.normalize("NFC", text)
    if len(name.encode()) > LONGEST_SEGMENT_BYTES:
        raise ValueError(f"a name is longer than {LONGEST_SEGMENT_BYTES} bytes")
    return name


def segment_trouble(name: str) -> str | None:
    """Why `name` cannot be a segment of an address, or None where it can."""
    if not name:
        return "a name between two slashes is empty"
    if name in (".", ".."):
        return f"'{name}' is not a name"
    for character in () if _PLAIN.fullmatch(name) else name:
        if character in _REFUSED_CHARACTERS or unicodedata.category(character) in _REFUSED_CATEGORIES:
            return f"a name holds the character U+{ord(character):04X}"
        if character == "\\":
            return "a name holds a backslash"
        if character in _WINDOWS_CHARACTERS:
            return f"a name holds '{character}', which Windows cannot keep"
    if name[-1] in ". ":
        return "a name ends in a dot or a space, which Windows cannot keep"
    if _WINDOWS_NAMES.fullmatch(name):
        return f"'{name}' is a device on Windows"
    if name.casefold() in _OTHERS_FOLDERS:
        return f"'{name}' belongs to a version control system"
    return "the name is one of Homeport's temporary files" if is_temporary(name) else None


def is_temporary(name: str) -> bool:
    """Whether `name` is that of a file being written (files.temporary_path), or what a kill left of one."""
    return _TEMPORARY.fullmatch(name) is not None


def folded(name: str) -> str:
    """What two names must not share in one folder: some file systems take them for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def shown(text: str, longest_chars: int = 80) -> str:
    """A caller's text, quoted for a message: one line, nothing that cannot be encoded, cut where it is long."""
    cut = text if len(text) <= longest_chars else text[:longest_chars] + "…"
    escaped = "".join(
        character
        if unicodedata.category(character) not in _REFUSED_CATEGORIES and character not in _REFUSED_CHARACTERS
        else character.encode("unicode_escape", "surrogatepass").decode("ascii")
        for character in cut
    )
    return f"'{escaped}'"
