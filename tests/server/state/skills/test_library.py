from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from homeport.errors import HomeportError
from homeport.server.state.documents.store import Documents
from homeport.server.state.mounts import Mount
from homeport.server.state.skills.library import Library
from tests.server.making import make_documents, put

MOUNTS = (Mount("user:ann", "user"), Mount("user:ann/proj:x", "project"))


def skill(description: str = "What", name: str | None = None) -> str:
    named = "" if name is None else f"name: {name}\n"
    return f"---\n{named}description: {description}\n---\nDo it."


@pytest.fixture
def documents(tmp_path: Path) -> Iterator[Documents]:
    with closing(make_documents(tmp_path / "home", *MOUNTS)) as made:
        yield made


def told(library: Library) -> list[tuple[str, str, str | None]]:
    return [(str(one.address), one.description, one.error) for one in library.skills()]


def test_every_form_is_a_skill_and_what_lies_beside_is_none(documents: Documents) -> None:
    for path, text in {
        "/user/skills/a": skill("one"),
        "/user/skills/b.md": skill("two"),
        "/user/skills/c/SKILL.md": skill("three", "c"),
        "/user/skills/c/more/list.md": "beside",
        "/user/skills/d/notes.md": skill("in a folder without SKILL.md"),
        "/user/notes/skills/e": skill("not at the top"),
        "/project/skills/f": skill("another mount"),
    }.items():
        put(documents, path, text)
    library = Library(documents)
    assert told(library) == [
        ("/user/skills/a", "one", None),
        ("/user/skills/b.md", "two", None),
        ("/user/skills/c/SKILL.md", "three", None),
        ("/project/skills/f", "another mount", None),
    ]
    assert [[str(beside) for beside in one.supporting] for one in library.skills()][2] == [
        "/user/skills/c/more/list.md"
    ]


def test_one_that_cannot_be_used_is_listed_and_hides_no_other(documents: Documents, tmp_path: Path) -> None:
    put(documents, "/user/skills/a", "no head")
    put(documents, "/user/skills/b", skill("W", "other"))
    put(documents, "/user/skills/c", skill("fine"))
    folder = tmp_path / "home/memory/user=ann/skills"
    (folder / "d").write_bytes(b"\xff\xfe")
    (folder / "e").write_bytes(b"x" * (1024 * 1024 + 1))
    (folder / "f?").write_text(skill())
    os.symlink("/etc/hostname", folder / "g")
    by_address = {address: (description, error) for address, description, error in told(Library(documents))}
    assert by_address["/user/skills/c"] == ("fine", None)
    assert by_address["/user/skills/b"] == ("", "its front matter calls it 'other', and its address 'b'")
    assert "front matter" in (by_address["/user/skills/a"][1] or "")
    assert "UTF-8" in (by_address["/user/skills/d"][1] or "")
    assert "1048576" in (by_address["/user/skills/e"][1] or "")
    assert "Windows" in (by_address["/user/skills/f?"][1] or "")
    assert "/user/skills/g" not in by_address


def test_the_first_mount_has_the_name_and_the_other_its_address(documents: Documents) -> None:
    put(documents, "/user/skills/a", skill("mine"))
    put(documents, "/project/skills/a", skill("the project's"))
    library = Library(documents)
    assert [one.description for one in library.named()] == ["mine"]
    assert str(library.find("a")[1]) == "/user/skills/a"
    assert library.find("/project/skills/a")[0].description == "the project's"


def test_two_beside_each_other_with_one_name_are_told_of(documents: Documents) -> None:
    put(documents, "/user/skills/a/SKILL.md", skill("the folder"))
    put(documents, "/user/skills/a.md", skill("the document"))
    put(documents, "/user/skills/b", skill("first"))
    put(documents, "/user/skills/b.md", skill("second"))
    library = Library(documents)
    assert [one.description for one in library.named()] == ["the folder", "first"]
    assert [one.error for one in library.skills() if one.error] == ["another skill beside it has this name"] * 2


@pytest.mark.parametrize(
    ("wanted", "address"),
    [
        ("a", "/user/skills/a/SKILL.md"),
        ("a/list.md", "/user/skills/a/list.md"),
        ("/user/skills/a", "/user/skills/a/SKILL.md"),
        ("/user/skills/a/SKILL.md", "/user/skills/a/SKILL.md"),
        ("/user/skills/a/list.md", "/user/skills/a/list.md"),
        ("a/SKILL.md", "/user/skills/a/SKILL.md"),
        ("b", "/user/skills/b.md"),
        ("/user/skills/b", "/user/skills/b.md"),
        ("/user/skills/b.md", "/user/skills/b.md"),
    ],
)
def test_a_skill_is_found_by_name_part_and_address(documents: Documents, wanted: str, address: str) -> None:
    put(documents, "/user/skills/a/SKILL.md", skill())
    put(documents, "/user/skills/a/list.md", "- x")
    put(documents, "/user/skills/b.md", skill())
    assert str(Library(documents).find(wanted)[1]) == address


@pytest.mark.parametrize(
    ("wanted", "code", "hint"),
    [
        ("depoly", "skill_not_found", "there are: deploy, review"),
        ("deploy/nope.md", "skill_not_found", "beside it are: list.md"),
        ("review/nope.md", "skill_not_found", "nothing lies beside it"),
        ("/user/skills/none", "skill_not_found", "there are: deploy, review"),
        ("/user/../../etc", "memory_path_invalid", "give /mount/name"),
        ("../deploy", "skill_not_found", "there are: deploy, review"),
        ("deploy/../../secret", "skill_not_found", "beside it are: list.md"),
        ("", "skill_not_found", "there are: deploy, review"),
    ],
)
def test_one_that_is_not_there_gets_what_is(documents: Documents, wanted: str, code: str, hint: str) -> None:
    put(documents, "/user/skills/deploy/SKILL.md", skill())
    put(documents, "/user/skills/deploy/list.md", "- x")
    put(documents, "/user/skills/review", skill())
    with pytest.raises(HomeportError) as refused:
        Library(documents).find(wanted)
    assert refused.value.code == code
    assert (refused.value.hint or "").startswith(hint)


def test_only_what_changed_is_opened_again(documents: Documents, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abc":
        put(documents, f"/user/skills/{name}", skill(name))
    library = Library(documents)
    library.skills()
    opened: list[str] = []
    text_of = Documents.text_of

    def counting(self: Documents, listed: object) -> str:
        opened.append(str(listed.address))  # type: ignore[attr-defined]  # a Listed, handed through
        return text_of(self, listed)  # type: ignore[arg-type]  # the same

    monkeypatch.setattr(Documents, "text_of", counting)
    put(documents, "/user/skills/b", skill("changed"))
    assert [one.description for one in library.skills()] == ["a", "changed", "c"]
    assert opened == ["/user/skills/b"]
