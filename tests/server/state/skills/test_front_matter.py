from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homeport.server.state.skills.front_matter import LARGEST_HEAD_CHARS, Head, body_of, parse


@pytest.mark.parametrize(
    ("text", "head"),
    [
        pytest.param("---\ndescription: What\n---\nDo it.\n", Head(None, "What", "Do it.\n"), id="plain"),
        pytest.param("---\nname: a\ndescription: 'W: x'\n---\n\n\nDo", Head("a", "W: x", "Do"), id="name and quotes"),
        pytest.param("\ufeff---\r\ndescription: W\r\n---\r\nDo\r\n", Head(None, "W", "Do\r\n"), id="Windows"),
        pytest.param("---\ndescription: >\n  a\n  b\n---\n", Head(None, "a b", ""), id="folded, no body"),
        pytest.param("---\ndescription: W\nlicense: X\nmore: {a: [1]}\n---\nx", Head(None, "W", "x"), id="others"),
        pytest.param("---\ndescription: W\n---", Head(None, "W", ""), id="no line end"),
        pytest.param("---\ndescription: W\n---\n---\nx", Head(None, "W", "---\nx"), id="a rule in the body"),
    ],
)
def test_a_head_is_read(text: str, head: Head) -> None:
    assert parse(text) == head


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("Do it.", "does not begin with front matter", id="none"),
        pytest.param("", "does not begin with front matter", id="empty"),
        pytest.param("---\ndescription: W\n", "is not closed", id="open"),
        pytest.param("---\nname: a\n---\n", "has no description", id="no description"),
        pytest.param("---\ndescription: ''\n---\n", "has no description", id="empty description"),
        pytest.param("---\ndescription: 3\n---\n", "the description in its front matter is not text", id="a number"),
        pytest.param("---\ndescription: [a]\n---\n", "the description in its front matter is not text", id="a list"),
        pytest.param("---\nname: yes\ndescription: W\n---\n", "the name in its front matter is not text", id="a truth"),
        pytest.param("---\ndescription: a\ndescription: b\n---\n", "has the key 'description' twice", id="twice"),
        pytest.param("---\n- a\n---\n", "holds no keys", id="a sequence"),
        pytest.param("---\n---\n", "holds no keys", id="nothing"),
        pytest.param("---\ndescription: a: b\n---\n", "is not YAML (line 2", id="not YAML"),
        pytest.param("---\ndescription: \x01\n---\n", "is not YAML", id="a control character"),
        pytest.param("---\ndescription: *a\n---\n", "is not YAML", id="an anchor that is none"),
        pytest.param(f"---\ndescription: {'x' * 1025}\n---\n", "more than 1024 characters", id="long"),
        pytest.param(f"---\n{'a' * (LARGEST_HEAD_CHARS + 1)}\n---\n", "more than 16384 characters", id="a long head"),
        pytest.param(f"---\ndescription: {'[' * 8000}\n---\n", "is not YAML", id="deep"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(text: str, why: str) -> None:
    with pytest.raises(ValueError, match="^") as refused:
        parse(text)
    assert why in str(refused.value)


def test_references_and_merges_are_not_unfolded() -> None:
    rows = "\n".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 9))
    begun = time.process_time()
    assert parse(f"---\na0: &a0 {{x: 1}}\n{rows}\ndescription: W\n---\n").description == "W"
    assert time.process_time() - begun < 5


def test_a_tag_that_would_run_something_is_nothing() -> None:
    with pytest.raises(ValueError, match="is not text"):
        parse("---\ndescription: !!python/object/apply:os.system ['touch /tmp/x']\n---\n")


@settings(deadline=None)
@given(st.text() | st.text(st.sampled_from("-:\n &*[]{}'\"#!|>abc")).map(lambda head: f"---\n{head}\n---\nbody"))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    try:
        head = parse(text)
    except ValueError as error:
        assert str(error)
        assert "\n" not in str(error)
    else:
        assert head.description
        assert body_of(text) == head.body
