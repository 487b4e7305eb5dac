"""Differences small enough for a journal, and exact."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from homeport.installer.plan.splices import Splice, digest, splices, taken_back

lines = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\n", b"\xff\x00", b"}"]), max_size=12).map(b"".join)
# Beyond the chunk by which ends are compared, and beyond what is compared by line.
LARGE = st.sampled_from([65_535, 65_536, 131_073, 262_145, 600_000])


def applied(source: bytes, edits: tuple[Splice, ...]) -> bytes:
    for edit in edits:
        assert source[edit.offset : edit.offset + len(edit.before)] == edit.before
        source = source[: edit.offset] + edit.after + source[edit.offset + len(edit.before) :]
    return source


@settings(deadline=None)
@given(before=st.binary(max_size=60) | lines, after=st.binary(max_size=60) | lines)
@example(before=b"", after=b"")
@example(before=b"aa", after=b"a")
@example(before=b"abab", after=b"ab")
def test_what_was_changed_can_be_taken_back(before: bytes, after: bytes) -> None:
    edits = splices(before, after)
    assert applied(before, edits) == after
    assert taken_back(after, edits) == before


@settings(deadline=None)
@given(size=LARGE, at=st.integers(0, 600_000), old=st.binary(max_size=9), new=st.binary(max_size=9))
def test_in_a_large_file_too(size: int, at: int, old: bytes, new: bytes) -> None:
    rest = b"0123456789abcde\n" * (size // 16)
    at = min(at, len(rest))
    before, after = rest[:at] + old + rest[at:], rest[:at] + new + rest[at:]
    edits = splices(before, after)
    assert (applied(before, edits), taken_back(after, edits)) == (after, before)
    assert sum(len(edit.before) + len(edit.after) for edit in edits) <= len(old) + len(new) + 32


def test_an_entry_put_in_is_one_splice_that_holds_nothing_else() -> None:
    before = b'{\n  "a": {\n    "secret": 1\n  }\n}\n'
    after = b'{\n  "a": {\n    "secret": 1,\n    "rota": 2\n  }\n}\n'
    assert splices(before, after) == (Splice(before.index(b"1") + 1, b"", b',\n    "rota": 2'),)


def test_unchanged_lines_between_two_changes_are_in_no_splice() -> None:
    before, after = b"one\nkeep this secret\ntwo\n", b"ONE\nkeep this secret\nTWO\n"
    edits = splices(before, after)
    assert all(b"secret" not in edit.before + edit.after for edit in edits)
    assert taken_back(after, edits) == before


def test_nothing_changed_is_no_splice() -> None:
    assert splices(b"x" * 100_000, b"x" * 100_000) == ()


@pytest.mark.parametrize("source", [b"", b"rota"])
def test_a_digest_is_sha256(source: bytes) -> None:
    assert digest(source) == hashlib.sha256(source).hexdigest()


def test_no_file_has_no_digest() -> None:
    assert digest(None) == ""
