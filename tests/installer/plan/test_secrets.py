"""No credential is written by value unless a person insists."""

from __future__ import annotations

import pytest

from homeport.errors import HomeportError
from homeport.installer.clients.references import parse_text, plain_text
from homeport.installer.clients.values import Level, Registration, Remote, Server, Stdio
from homeport.installer.plan.secrets import refuse_secrets

KEY = "sk-" + "a1B2c3D4e5F6g7H8i9J0"


def stdio(*words: str, **env: str) -> Stdio:
    pairs = tuple((name, parse_text(value)) for name, value in env.items())
    return Stdio(parse_text(words[0]), tuple(parse_text(word) for word in words[1:]), pairs)


@pytest.mark.parametrize(
    ("server", "where"),
    [
        pytest.param(stdio("a", GITHUB_TOKEN="abcdefgh"), "the variable GITHUB_TOKEN", id="by the variable's name"),
        pytest.param(stdio("a", DAY="${API_TOKEN:-abcdefgh}"), "the default of the variable API_TOKEN", id="a default"),
        pytest.param(stdio("a", DAY=KEY), "the variable DAY", id="by the value"),
        pytest.param(
            stdio("a", "--api-key", "abcdefgh"), "the value of the argument --api-key", id="option, then value"
        ),
        pytest.param(stdio("a", "--token=abcdefgh"), "the value of the argument --token", id="option with value"),
        pytest.param(stdio("a", KEY), "an argument", id="a bare argument"),
        pytest.param(stdio(KEY), "an argument", id="the command"),
        pytest.param(stdio("a", "postgres://u:pass1234@h/db"), "an argument", id="a password in a URL"),
        pytest.param(
            Remote(plain_text("https://x"), (("Authorization", plain_text("Bearer abcdefgh")),)),
            "the header Authorization",
            id="a header",
        ),
        pytest.param(Remote(plain_text("https://x/?api_key=abcdefgh")), "the URL", id="a query"),
    ],
)
def test_a_credential_is_refused_by_place_and_never_shown(server: Server, where: str) -> None:
    with pytest.raises(HomeportError) as caught:
        refuse_secrets(Registration("rota", server), "user", allowed=False)
    assert (caught.value.code, caught.value.details) == ("secret_literal", {"where": where})
    shown = f"{caught.value.message} {caught.value.hint}"
    assert KEY not in shown
    assert "abcdefgh" not in shown


@pytest.mark.parametrize(
    "server",
    [
        stdio("a", GITHUB_TOKEN="${GITHUB_TOKEN}"),
        stdio("a", "--api-key", "$KEY"),
        stdio("a", "--token=${KEY}"),
        stdio("a", KEY_COUNT="3", TOKENIZERS_PARALLELISM="false", MONKEY="banana-tree"),
        stdio("a", TOKEN=""),
        Remote(parse_text("https://x/?api_key=${K}"), (("Authorization", parse_text("Bearer $T")),)),
        Remote(plain_text("https://x/mcp?team=web")),
    ],
    ids=["variable", "option", "option=", "no credentials", "empty", "remote", "query"],
)
def test_references_and_plain_values_pass(server: Server) -> None:
    refuse_secrets(Registration("rota", server), "user", allowed=False)


@pytest.mark.parametrize(("level", "refused"), [("user", False), ("project", True)])
def test_insisting_counts_at_the_user_level_only(level: Level, refused: bool) -> None:
    registration = Registration("rota", stdio("a", TOKEN="abcdefgh"))
    if refused:
        with pytest.raises(HomeportError, match="that a project shares"):
            refuse_secrets(registration, level, allowed=True)
    else:
        refuse_secrets(registration, level, allowed=True)
