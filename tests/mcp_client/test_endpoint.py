"""What is shown of a server, and what its process gets."""

from __future__ import annotations

import pytest

from homeport.mcp_client.endpoint import Http, InProcess, Stdio, without_secrets

SERVER = Stdio("x", (), {"LEDGER_TOKEN": "tomato-soup", "LANG": "C.UTF-8", "PIN_TOKEN": "1234"})
REMOTE = Http(
    "https://ada:pear%20tree@example.com/mcp?key=4f9a1c77d2", {"Authorization": "Bearer let-me-in", "X": "ordinary"}
)


@pytest.mark.parametrize(
    ("endpoint", "said", "shown"),
    [
        (SERVER, "tomato-soup refused (C.UTF-8)", "*** refused (C.UTF-8)"),
        (SERVER, "1234 lines", "1234 lines"),
        (SERVER, "sk-abcdefghijklmnop refused", "*** refused"),
        (SERVER, "ran with --api-key k-123456 --fast", "ran with --api-key *** --fast"),
        (REMOTE, "let-me-in or Bearer let-me-in", "*** or ***"),
        (REMOTE, "pear%20tree, pear tree and 4f9a1c77d2", "***, *** and ***"),
        (REMOTE, "ordinary words\nover two lines", "ordinary words\nover two lines"),
        (InProcess(object()), "words", "words"),
    ],
)
def test_a_text_from_outside_is_shown_without_credentials(
    endpoint: Stdio | Http | InProcess, said: str, shown: str
) -> None:
    assert without_secrets(endpoint, said) == shown


def test_a_child_gets_what_is_listed_and_what_it_was_given() -> None:
    ours = {
        "PATH": "/bin",
        "HOME": "/home/ada",
        "AWS_PROFILE": "x",
        "GITHUB_TOKEN": "t",
        "LANG": "de",
        "SHELL": "() { x; }",
    }
    assert SERVER.variables(ours) == {"PATH": "/bin", "HOME": "/home/ada", **SERVER.env}


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://ada:pear@example.com/mcp", "https://ada:***@example.com/mcp"),
        ("https://ghp_abcdefghijklmnop1234@example.com/mcp", "https://***@example.com/mcp"),
        ("https://ada:pe[ar@example.com/mcp", "***"),
        ("https://ada:pe/ar@example.com/mcp", "***"),
        ("https://example.com/mcp?page=2", "https://example.com/mcp?page=2"),
    ],
)
def test_a_url_is_shown_without_credentials(url: str, shown: str) -> None:
    assert Http(url).shown == shown


@pytest.mark.parametrize("url", ["http://[::1", "://", "", "http://a:b@[c/?key=abcdefgh"])
def test_a_url_that_cannot_be_read_is_still_shown_and_named(url: str) -> None:
    endpoint = Http(url)
    assert endpoint.name
    assert isinstance(endpoint.shown, str)
    assert without_secrets(endpoint, "words") == "words"
