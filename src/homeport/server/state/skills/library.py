"""The skills on the mounts: which there are, and what each says. They are documents; this only reads them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from homeport.errors import HomeportError
from homeport.server.state.mounts import Mount
from homeport.server.state.paths import Address, parse_address, shown
from homeport.server.state.skills.front_matter import body_of, parse

FOLDER: Final = "skills"
MAIN: Final = "SKILL.md"
_ENDING: Final = ".md"


class File(Protocol):
    """A document as a listing has it. trouble: why it cannot be opened, where that is known without reading it."""

    @property
    def address(self) -> Address: ...
    @property
    def path(self) -> Path: ...
    @property
    def trouble(self) -> str | None: ...


class Documents(Protocol):
    """What skills need of the documents. Every method raises HomeportError."""

    @property
    def mounts(self) -> tuple[Mount, ...]: ...
    def is_folder(self, address: Address) -> bool: ...
    def listing(self, address: Address) -> Sequence[File]: ...
    def text_of(self, listed: Any) -> str: ...  # one of its own listing


class Skill(NamedTuple):
    """name: as it is asked for. address: of its own document. description: one line. error: why it cannot be used, with
    an empty description then. supporting: the documents beside a SKILL.md, below its folder."""

    name: str
    address: Address
    description: str
    error: str | None
    supporting: tuple[Address, ...] = ()


class _Known(NamedTuple):
    stamp: tuple[int, int, int]
    name: str | None
    description: str
    error: str | None


class Library:
    """Skills are the documents `skills/NAME`, `skills/NAME.md` and `skills/NAME/SKILL.md` of every mount.

    Listing opens a document only where it is new or was changed. Of two with one name the one on the first mount is
    meant; the other has its address.
    """

    def __init__(self, documents: Documents) -> None:
        self.documents = documents
        self._known: dict[Address, _Known] = {}

    def skills(self) -> list[Skill]:
        """Every skill there is, by mount and name; those that cannot be used among them, with why."""
        found: list[Skill] = []
        for mount in self.documents.mounts:
            folder = Address(mount.path, (FOLDER,))
            if self.documents.is_folder(folder):
                found += self._of_mount(self.documents.listing(folder))
        present = {skill.address for skill in found}
        self._known = {address: known for address, known in self._known.items() if address in present}
        return found

    def named(self) -> list[Skill]:
        """The skills that can be used, one for each name: the first mount's."""
        first: dict[str, Skill] = {}
        for skill in self.skills():
            if skill.error is None:
                first.setdefault(skill.name, skill)
        return list(first.values())

    def find(self, wanted: str) -> tuple[Skill, Address]:
        """The skill that `wanted` asks for, and which of its documents: its own, or a supporting one.

        wanted: NAME, NAME/PATH below it, or an address /mount/skills/NAME with or without a PATH.
        Raises HomeportError: skill_not_found; memory_path_invalid.
        """
        skills = self.skills()
        if wanted.startswith("/"):
            address = parse_address(wanted, "name")
            for skill in skills:
                if address in (skill.address, *skill.supporting) or address == _folder_of(skill):
                    return skill, address if address in skill.supporting else skill.address
            raise _not_found(wanted, skills)
        name, _, path = wanted.partition("/")
        for skill in skills:
            if skill.name != name:
                continue
            address = skill.address.below() if not path else _folder_of(skill).below(*path.split("/"))
            if address in (skill.address, *skill.supporting):
                return skill, address
            if path:
                raise _no_such_part(skill, path)
        raise _not_found(wanted, skills)

    def _of_mount(self, files: Sequence[File]) -> Iterator[Skill]:
        folders: dict[str, list[File]] = {}
        single: dict[str, list[File]] = {}
        for file in files:
            below = file.address.segments[1:]
            if len(below) == 1:
                single.setdefault(_plain(below[0]), []).append(file)
            else:
                folders.setdefault(below[0], []).append(file)
        with_main = {name: held for name, held in folders.items() if any(_is_main(file) for file in held)}
        for name in sorted({*with_main, *single}):
            if name in with_main:
                main = next(file for file in with_main[name] if _is_main(file))
                beside = tuple(file.address for file in with_main[name] if file is not main and not file.trouble)
                yield self._skill(name, main, beside)
            for position, file in enumerate(single.get(name, ())):
                is_second = position > 0 or name in with_main
                yield self._skill(name, file, (), "another skill beside it has this name" if is_second else None)

    def _skill(self, name: str, file: File, beside: tuple[Address, ...], error: str | None = None) -> Skill:
        known = self._look(file)
        error = error or known.error
        if error is None and known.name not in (None, name):
            error = f"its front matter calls it {shown(known.name or '', 64)}, and its address {shown(name, 64)}"
        return Skill(name, file.address, "" if error else known.description, error, beside)

    def _look(self, file: File) -> _Known:
        if file.trouble:
            return _Known((0, 0, 0), None, "", file.trouble)
        try:
            status = os.stat(file.path)
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        except OSError:
            return _Known((0, 0, 0), None, "", "it cannot be read")
        known = self._known.get(file.address)
        if known is None or known.stamp != stamp:
            known = self._known[file.address] = _Known(stamp, *self._read(file))
        return known

    def _read(self, file: File) -> tuple[str | None, str, str | None]:
        try:
            head = parse(self.documents.text_of(file))
        except HomeportError as error:
            return None, "", error.message.removeprefix(f"{file.address} ").removeprefix(f"{file.address}: ")
        except ValueError as error:
            return None, "", str(error)
        return head.name, head.description, None


def body(text: str) -> str:
    """A skill's text without its front matter."""
    return body_of(text)


def _plain(name: str) -> str:
    return name.removesuffix(_ENDING) or name


def _is_main(file: File) -> bool:
    return file.address.segments[2:] == (MAIN,)


def _folder_of(skill: Skill) -> Address:
    """Where a skill's supporting documents lie; of one without, where they would."""
    return Address(skill.address.mount, (FOLDER, skill.name))


def _names(skills: Iterable[Skill]) -> list[str]:
    return list(dict.fromkeys(skill.name for skill in skills))


def _not_found(wanted: str, skills: Sequence[Skill]) -> HomeportError:
    from difflib import get_close_matches

    names = _names(skills)
    near = get_close_matches(wanted, names, n=3, cutoff=0.5)
    listed = [*near, *(name for name in names if name not in near)][:20]
    more = f" and {len(names) - len(listed)} more" if len(names) > len(listed) else ""
    hint = f"there are: {', '.join(shown(name, 64)[1:-1] for name in listed)}{more}" if names else "there are none yet"
    return HomeportError("skill_not_found", f"there is no skill {shown(wanted)}", hint, {"field": "name"})


def _no_such_part(skill: Skill, path: str) -> HomeportError:
    start = f"{_folder_of(skill)}/"
    parts = ", ".join(str(address).removeprefix(start) for address in skill.supporting[:20])
    hint = f"beside it are: {parts}" if parts else "nothing lies beside it"
    message = f"the skill {shown(skill.name, 64)} has no document {shown(path)}"
    return HomeportError("skill_not_found", message, hint, {"field": "name"})
