from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homeport.errors import HomeportError
from homeport.server.state.paths import (
    LONGEST_SEGMENT_BYTES,
    ROOT,
    Address,
    is_temporary,
    parse_address,
    segment_trouble,
    shown,
)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        pytest.param("/user/a", Address("user", ("a",)), id="plain"),
        pytest.param("user/a/", Address("user", ("a",)), id="slashes-at-the-ends-do-not-count"),
        pytest.param("/user", Address("user"), id="mount"),
        pytest.param("/", ROOT, id="root"),
        pytest.param("", ROOT, id="empty"),
        pytest.param("/user/two words/ž 東.md", Address("user", ("two words", "ž 東.md")), id="spaces-and-unicode"),
        pytest.param("/user/cafe\u0301", Address("user", ("caf\u00e9",)), id="nfd-becomes-nfc"),
        pytest.param("/user/%2e%2e/x", Address("user", ("%2e%2e", "x")), id="percent-is-only-a-character"),
        pytest.param("/user/.hidden/..foo", Address("user", (".hidden", "..foo")), id="dots-in-front"),
    ],
)
def test_an_address_is_read(text: str, address: Address) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "../x",
        "../../etc/passwd",
        "/user/../x",
        "/user/a/../../x",
        "..\\x",
        "/user/..\\x",
        "C:\\x",
        "/user/C:x",
        "//m//a",
        "/user//a",
        "/user/.",
        "/user/..",
        "/user/x\x00y",
        "/user/x\ny",
        "/user/a\u2028b",
        "/user/a\u202eb",
        "/user/con",
        "/user/NUL.txt",
        "/user/com1 .md",
        "/user/lpt¹",
        "/user/a.",
        "/user/a ",
        "/user/a?",
        "/user/.git/config",
        "/user/.GIT",
        "/user/\ud800",
        "/user/\ufeffa",
        "/user/" + "a" * 300,
        "/user/" + "東" * 67,
        "/" + "/".join("a" * 18),
        "/user/" + "/".join(["a" * 50] * 11),
        "/user/.a.0123456789ab.homeport",
    ],
)
def test_what_some_system_cannot_hold_is_refused(text: str) -> None:
    with pytest.raises(HomeportError) as refused:
        parse_address(text, "old_path")

    assert refused.value.code == "memory_path_invalid"
    assert refused.value.details == {"field": "old_path"}
    refused.value.message.encode()  # and it can be sent


@settings(deadline=None)
@given(st.text(max_size=40))
def test_an_address_that_is_read_spells_itself_again(text: str) -> None:
    try:
        address = parse_address(text)
    except HomeportError:
        return
    assert parse_address(str(address)) == address
    assert all(segment_trouble(name) is None for name in address.segments)
    assert all(unicodedata.is_normalized("NFC", name) for name in address.segments)
    assert all(len(name.encode()) <= LONGEST_SEGMENT_BYTES for name in address.segments)


@settings(deadline=None)
@given(st.text())
def test_what_is_shown_is_one_line_that_can_be_sent(text: str) -> None:
    said = shown(text)

    assert said.encode()
    assert len(said.splitlines()) == 1


def test_a_temporary_file_of_ours_is_told_from_a_document() -> None:
    assert is_temporary(".notes.md.0123456789ab.homeport")
    assert not is_temporary("notes.homeport")
