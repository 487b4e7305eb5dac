"""Snippets: around what was found, one line, short, and without credentials or binary content."""

from __future__ import annotations

import base64
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from homeport.server.state.history.folding import fold
from homeport.server.state.history.graphemes import is_boundary
from homeport.server.state.history.snippets import LONGEST_CHARS, Snippet, locate, snippet_of
from homeport.server.state.history.turns import Part

NOTHING_LIKE_A_KEY = "zq-test-0000-not-real"
BLOB = base64.b64encode(bytes(range(256)) * 20).decode()
LINES = "\n".join(BLOB[at : at + 64] for at in range(0, 1600, 64))


def snippet(text: str, *terms: str) -> str:
    return snippet_of([Part("user", text)], [fold(term) for term in terms]).text


@pytest.mark.parametrize(
    ("text", "term", "shown"),
    [
        pytest.param("one amber two", "amber", "one amber two", id="whole"),
        pytest.param("a\r\n\tamber\u2028b\x1b[31mc\u202ed", "AMBER", "a amber b [31mc d", id="one-line-no-controls"),
        pytest.param("x " * 500 + "amber" + " y" * 500, "amber", f"…{'x ' * 38}amber{' y' * 38}…", id="in-the-middle"),
        pytest.param("amber" + " y" * 500, "amber", f"amber{' y' * 76}…", id="at-the-start"),
        pytest.param("x " * 500 + "amber", "amber", f"…{'x ' * 76}amber", id="at-the-end"),
        pytest.param("zab " * 300, "zab " * 80, f"{'zab ' * 39}za…", id="longer-than-a-snippet"),
    ],
)  # fmt: skip
def test_a_snippet_stands_around_what_was_found(text: str, term: str, shown: str) -> None:
    found = snippet(text, term)

    assert (found, len(found) <= LONGEST_CHARS) == (shown, True)


def test_the_part_that_holds_most_terms_is_shown() -> None:
    parts = [Part("user", "amber alone"), Part("result", "slate and amber"), Part("call", "amber slate once more")]

    assert snippet_of(parts, ["amber", "slate"]) == Snippet("result", "slate and amber")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param(f"amber token {NOTHING_LIKE_A_KEY}", "amber token ***", id="after-its-name"),
        pytest.param("amber password: hunter2 end", "amber password: *** end", id="name-and-colon"),
        pytest.param("amber API_KEY=abcdefgh end", "amber API_KEY=*** end", id="assignment"),
        pytest.param('amber {"api_key":"abc123","n":1}', 'amber {"api_key":"***","n":1}', id="JSON"),
        pytest.param("amber Authorization: Bearer abc123def456", "amber Authorization: Bearer ***", id="header"),
        pytest.param("amber Authorization: Basic dXNlcjpwYXNz0", "amber Authorization: Basic ***", id="basic"),
        pytest.param("amber --token s3cr3tvalue x", "amber --token *** x", id="option"),
        pytest.param(f"amber (ghp_{'a1B2' * 9}) x", "amber (***) x", id="issued"),
        pytest.param("amber https://ann:pw1234@h.example/x", "amber ***", id="URL"),
        pytest.param("amber token is a word, key too", "amber token is a word, key too", id="words-stay"),
        pytest.param("amber max_tokens: 4096 x", "amber max_tokens: 4096 x", id="numbers-stay"),
        pytest.param(
            f"amber\n-----BEGIN RSA PRIVATE KEY-----\n{LINES}\n-----END RSA PRIVATE KEY-----\nend",
            "amber *** end",
            id="key-block",
        ),
    ],
)
def test_what_looks_like_a_credential_is_hidden(text: str, shown: str) -> None:
    assert snippet(text, "amber") == shown


def test_inside_a_key_block_nothing_of_it_is_shown() -> None:
    shown = snippet(f"-----BEGIN PRIVATE KEY-----\n{LINES}", fold(LINES[1000:1010]))

    assert not any(line[:20] in shown for line in LINES.splitlines())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"amber {BLOB} two", id="base64"),
        pytest.param(f"amber data:image/png;base64,{BLOB} two", id="data-URL"),
        pytest.param(f"amber {'A' * 5000} two", id="zeros"),
        pytest.param(f"{BLOB}amber{BLOB}", id="inside"),
        pytest.param(f"amber {LINES}", id="lines"),
    ],
)
def test_no_binary_content_is_shown(text: str) -> None:
    shown = snippet(text, "amber")

    assert " characters]" in shown
    assert max(map(len, shown.split())) < 60
    assert len(shown) <= LONGEST_CHARS


def test_a_long_path_is_shown() -> None:
    path = "/home/ada/Projects2/homeport/src/homeport/server/state/history/amber/snippets"

    assert snippet(f"see {path}", "amber") == f"see {path}"


@pytest.mark.parametrize(
    ("text", "term", "place"),
    [
        pytest.param("Die Straße", "strasse", "Straße", id="sharp-s"),
        pytest.param("ein ﬁlter", "filter", "ﬁlter", id="ligature"),
        pytest.param("un cafe\u0301 noir", "café", "cafe\u0301", id="decomposed"),
        pytest.param("in İstanbul da", "istanbul", "İstanbul", id="turkish"),
        pytest.param("ﬁ " * 5000 + "Straße", "strasse", "Straße", id="far-away"),
        pytest.param("a  b\n\tc", "a b c", "a  b\n\tc", id="white-space"),
    ],
)
def test_what_folding_changed_is_found_in_the_text_itself(text: str, term: str, place: str) -> None:
    start, end = locate(text, term)

    assert text[start:end] == place


@pytest.mark.parametrize(
    "cluster",
    [
        pytest.param("e\u0301", id="mark"),
        pytest.param("👩\u200d💻", id="joined"),
        pytest.param("👍🏽", id="skin"),
        pytest.param("🇫🇷", id="flag"),
        pytest.param("\u1100\u1161\u11a8", id="hangul"),
        pytest.param("☀\ufe0f", id="variation"),
    ],
)
def test_what_a_reader_sees_as_one_character_is_never_cut(cluster: str) -> None:
    text = cluster * 300

    assert [at for at in range(len(text)) if is_boundary(text, at)] == list(range(0, len(text), len(cluster)))
    shown = snippet(f"{text} amber {text}", "amber").strip("…").replace("amber", "").split()
    assert [part.replace(cluster, "") for part in shown] == ["", ""]


@given(before=st.text(max_size=400), term=st.text(min_size=1, max_size=30), after=st.text(max_size=400))
@example(before="🇫" * 300, term="x", after="\u0301" * 300)
@example(before="-----BEGIN PRIVATE KEY-----", term="0", after="A" * 300)
def test_a_snippet_is_always_one_short_line(before: str, term: str, after: str) -> None:
    shown = snippet(before + term + after, term)

    assert len(shown) <= LONGEST_CHARS
    assert not any(unicodedata.category(character) == "Cc" or character in "\u2028\u202e" for character in shown)


@given(text=st.text(alphabet=st.sampled_from("aß e\u0301ﬁA\u1100\u1161İ\n"), max_size=60), data=st.data())
def test_the_place_of_a_term_holds_it(text: str, data: st.DataObject) -> None:
    folded = fold(text)
    if not folded:
        return
    start = data.draw(st.integers(0, len(folded) - 1))
    term = folded[start : data.draw(st.integers(start + 1, len(folded)))].strip()
    if not term:
        return

    first, last = locate(text, term)

    assert term in fold(text[first:last])
