from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from homeport.errors import HomeportError
from homeport.server.operations.search import search
from homeport.server.state.documents.store import Documents
from tests.server.making import make_documents, put

KEY = "ghp_abcdefghijklmnopqrstuvwx1234"


@pytest.fixture
def documents(tmp_path: Path) -> Iterator[Documents]:
    with closing(make_documents(tmp_path / "home")) as made:
        put(made, "/m/a", "Straße\nnothing\nthe STRASSE again")
        put(
            made,
            "/m/f/b",
            "東京の倉庫\nGITHUB_TOKEN=ghp_abcdefghijklmnopqrstuvwx1234\nsee ghp_abcdefghijklmnopqrstuvwx1234",
        )
        (tmp_path / "home/memory/user=ann/bad").write_bytes(b"\xff strasse")
        yield made


def found(documents: Documents, query: str, path: str = "/", limit: int = 100) -> list[tuple[Any, ...]]:
    result = search(documents, query, path, limit).result
    assert result is not None
    return [(match["path"], match["line"], match["text"]) for match in result["matches"]]


def test_lines_are_found_whatever_the_case_or_script_and_numbered(documents: Documents) -> None:
    assert found(documents, "strasse") == [("/m/a", 1, "Straße"), ("/m/a", 3, "the STRASSE again")]
    assert found(documents, "京の") == [("/m/f/b", 1, "東京の倉庫")]
    assert found(documents, "京の", "/m/a") == []
    assert found(documents, "STRASSE", "/m/a", 1) == [("/m/a", 1, "Straße")]


def test_what_cannot_be_read_is_named_and_what_is_left_out_is_said(documents: Documents) -> None:
    assert search(documents, "strasse", "/", 1).text == (
        "/m/a:1: Straße\n(there are more; these are the first 1)\n(1 could not be read: /m/bad)"
    )
    assert search(documents, "nowhere", "/m/f", 9).text == "Nothing found in 1 documents."


def test_credentials_are_hidden_in_what_is_shown_and_stay_in_the_document(documents: Documents, tmp_path: Path) -> None:
    file = tmp_path / "home/memory/user=ann/f/b"
    before = file.read_bytes()

    assert [text for _, _, text in found(documents, "gh")] == ["GITHUB_TOKEN=***", "see ***"]
    assert file.read_bytes() == before


def test_a_long_line_is_shown_around_what_was_found(documents: Documents) -> None:
    put(documents, "/m/long", "x " * 5000 + "needle" + " y" * 5000)
    [(_, line, text)] = found(documents, "needle")
    assert (line, len(text) < 220, "needle" in text) == (1, True, True)


@pytest.mark.parametrize(("query", "limit"), [("", 9), (" ", 9), ("a\nb", 9), ("a", 0)])
def test_what_cannot_be_searched_for_is_refused(documents: Documents, query: str, limit: int) -> None:
    with pytest.raises(HomeportError) as refused:
        search(documents, query, "/", limit)
    assert refused.value.code == "bad_argument"
