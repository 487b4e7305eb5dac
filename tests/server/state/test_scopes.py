from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homeport.errors import HomeportError
from homeport.server.state.scopes import clean_slug, client_actor, parse_actor, parse_scope, scope_folder, short_hash


@pytest.mark.parametrize("scope", ["user:ann", "user:ann/proj:my_site-2.0", "team:web", "a:" + "b" * 128])
def test_a_scope_is_read(scope: str) -> None:
    assert parse_scope(scope) == scope


@pytest.mark.parametrize(
    "scope",
    [
        "",
        "ann",
        "User:ann",
        "user:",
        "user:a b",
        "user:ann/",
        "/user:ann",
        "user:../x",
        "user:a.",
        "user:..",
        "user:é",
        "user:ann/proj:x\n",
        "/".join(["a:b"] * 9),
        "a:" + "b" * 129,
        "user:" + "/proj:".join(["b" * 60] * 4),
    ],
)
def test_what_is_no_scope_is_refused(scope: str) -> None:
    with pytest.raises(HomeportError) as refused:
        parse_scope(scope)

    assert (refused.value.code, refused.value.exit_code) == ("bad_scope", 2)


def test_two_scopes_never_share_a_folder() -> None:
    scopes = ["user:a", "user:a/proj:b", "user:a-proj:b", "user:a/proj:b.c"]

    assert len({scope_folder(scope) for scope in scopes}) == len(scopes)
    assert scope_folder("user:ann/proj:site") == "user=ann+proj=site"


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("ann", "ann"),
        ("Ann Smith", "Ann-Smith"),
        ("žofie", "zofie"),
        ("CORP\\ann", "CORP-ann"),
        ("..", "user-" + short_hash("..")),
        ("東京", "user-" + short_hash("東京")),
        ("-x-", "x"),
        ("a" * 100, "a" * 64),
        (".config", "config"),
    ],
)
def test_a_name_is_cleaned(name: str, slug: str) -> None:
    assert clean_slug(name, "user") == slug


@settings(deadline=None)
@given(st.text())
def test_whatever_the_name_its_slug_makes_a_scope(name: str) -> None:
    assert parse_scope(f"user:{clean_slug(name, 'user')}/proj:{clean_slug(name, 'project')}")


@settings(deadline=None)
@given(st.text())
def test_whatever_a_client_calls_itself_it_is_an_actor(name: str) -> None:
    assert parse_actor(client_actor(name)).startswith("mcp:")


@pytest.mark.parametrize("actor", ["", "mcp", "mcp:", "file", "MCP:x", "mcp:a b", "mcp:a\nb"])
def test_what_is_no_actor_is_refused(actor: str) -> None:
    with pytest.raises(HomeportError) as refused:
        parse_actor(actor)

    assert refused.value.code == "bad_scope"
