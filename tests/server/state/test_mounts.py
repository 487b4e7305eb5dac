from __future__ import annotations

import pytest

from homeport.errors import HomeportError
from homeport.server.state.mounts import Mount, parse_mount, parse_mounts


@pytest.mark.parametrize(
    ("text", "mount", "canonical"),
    [
        ("scope=user:ann,path=me", Mount("user:ann", "me"), "scope=user:ann,path=me"),
        ("path=/me,ro,scope=user:ann", Mount("user:ann", "me", "ro"), "scope=user:ann,path=me,ro"),
        ("scope=team:web,path=t-1,eo", Mount("team:web", "t-1", "eo"), "scope=team:web,path=t-1,eo"),
    ],
)
def test_a_mount_has_one_spelling(text: str, mount: Mount, canonical: str) -> None:
    assert parse_mount(text) == mount
    assert mount.canonical == canonical
    assert parse_mount(mount.canonical) == mount


@pytest.mark.parametrize(
    "text",
    [
        "",
        "scope=user:ann",
        "path=me",
        "scope=user:ann,path=a/b",
        "scope=user:ann,path=",
        "scope=user:ann,path=..",
        "scope=user:ann,path=me,ro,eo",
        "scope=user:ann,path=me,rw",
        "scope=user:ann,path=me,path=you",
        "scope=Ann,path=me",
        "scope=user:ann,path=con",
        "scope=user:ann,path=.git",
        "scope=user:ann,path=a b",
        "scope=user:ann,path=me,",
    ],
)
def test_a_mount_that_breaks_the_grammar_is_refused(text: str) -> None:
    with pytest.raises(HomeportError) as refused:
        parse_mount(text)

    assert (refused.value.code, refused.value.exit_code) == ("bad_scope", 2)


def test_a_scope_alone_is_mounted_at_memory() -> None:
    assert parse_mounts("user:ann", ()) == (Mount("user:ann", "memory"),)


def test_two_mounts_at_one_path_are_refused_case_aside() -> None:
    with pytest.raises(HomeportError) as refused:
        parse_mounts(None, ("scope=user:a,path=x", "scope=user:b,path=X"))

    assert refused.value.code == "bad_scope"


def test_a_scope_and_a_mount_do_not_go_together() -> None:
    with pytest.raises(HomeportError) as refused:
        parse_mounts("user:ann", ("scope=user:a,path=x",))

    assert (refused.value.code, refused.value.exit_code) == ("usage_error", 2)
