"""Variable references in every spelling people paste."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homeport.errors import HomeportError
from homeport.installer.clients.references import (
    dollar_braces,
    dollar_env_colon,
    env_colon,
    names_in,
    no_reference,
    parse_text,
    plain_text,
    spell,
)
from homeport.installer.clients.values import Reference, Remote, Stdio, Text

A = Reference("A")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ()),
        ("plain", ("plain",)),
        ("${A}", (A,)),
        ("$A", (A,)),
        ("${env:A}", (A,)),
        ("{env:A}", (A,)),
        ("${A:-b c}", (Reference("A", "b c"),)),
        ("${A:-}", (Reference("A", ""),)),
        ("x$A-y", ("x", A, "-y")),
        ("$A$A", (A, A)),
        ("Bearer ${A}!", ("Bearer ", A, "!")),
        ("$5 $ ${} ${A-b} {env:} %A% ${1}", ("$5 $ ${} ${A-b} {env:} %A% ${1}",)),
        ("$${A}", ("$", A)),
        ("{file:./key}", ("{file:./key}",)),
    ],
)
def test_a_string_is_split_at_its_references(text: str, parts: tuple[str | Reference, ...]) -> None:
    assert parse_text(text) == Text(parts)


@settings(deadline=None)
@given(st.text())
def test_plain_parts_never_stand_side_by_side_and_lose_nothing(text: str) -> None:
    parts = parse_text(text).parts
    assert all(part != "" for part in parts)
    assert not any(isinstance(a, str) and isinstance(b, str) for a, b in zip(parts, parts[1:], strict=False))
    if all(isinstance(part, str) for part in parts):
        assert "".join(map(str, parts)) == text


@pytest.mark.parametrize(
    ("spelling", "reference", "expected"),
    [
        (dollar_braces, A, "${A}"),
        (dollar_braces, Reference("A", "x"), "${A:-x}"),
        (dollar_braces, Reference("userHome"), None),
        (dollar_env_colon, A, "${env:A}"),
        (dollar_env_colon, Reference("A", "x"), None),
        (dollar_env_colon, Reference("userHome"), "${userHome}"),
        (env_colon, A, "{env:A}"),
        (env_colon, Reference("A", "x"), None),
        (env_colon, Reference("pathSeparator"), None),
        (no_reference, A, None),
    ],
)
def test_each_client_has_its_own_spelling(spelling: object, reference: Reference, expected: str | None) -> None:
    assert callable(spelling)
    assert spelling(reference) == expected


def test_what_cannot_be_spelled_names_variable_and_field() -> None:
    with pytest.raises(HomeportError) as caught:
        spell(Text(("x", Reference("A", "b"))), no_reference, "Codex", "an argument")
    assert (caught.value.code, caught.value.message, caught.value.details) == (
        "reference_unsupported",
        "Codex cannot put the variable A with a default into an argument",
        {"variable": "A", "field": "an argument"},
    )


@pytest.mark.parametrize(
    ("spelling", "text", "expanded"),
    [
        (dollar_braces, "${A}", True),
        (dollar_braces, "${A:-b}", True),
        (dollar_braces, "$A ${env:A} {env:A} ${A-b}", False),
        (dollar_env_colon, "${env:A}", True),
        (dollar_env_colon, "${userHome}", True),
        (dollar_env_colon, "${A} $A", False),
        (env_colon, "a{env:A}", True),
        (env_colon, "${A} $A", False),
        (no_reference, "${A} {env:A}", False),
    ],
)
def test_plain_text_that_the_client_would_expand_is_refused(spelling: object, text: str, expanded: bool) -> None:
    assert callable(spelling)
    try:
        spelled = spell(plain_text(text), spelling, "X", "an argument")
    except HomeportError as error:
        assert (error.code, expanded) == ("reference_unsupported", True)
    else:
        assert (spelled, expanded) == (text, False)


def test_variables_are_named_once_in_order_and_an_editors_own_not_at_all() -> None:
    stdio = Stdio(
        parse_text("$B/x"), (parse_text("$A$B"), parse_text("${workspaceFolder}")), (("C", parse_text("$C")),)
    )
    remote = Remote(parse_text("https://$H"), (("X", parse_text("$T$H")),))
    assert (names_in(stdio), names_in(remote)) == (("B", "A", "C"), ("H", "T"))
