"""The unified diff, as GNU diff prints it."""

from __future__ import annotations

import subprocess
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from homeport.installer.plan.difference import unified_diff
from homeport.installer.plan.files_view import WriteFile
from tests.harness import needs

PATH = PurePosixPath("/f")
files = st.lists(st.sampled_from([b"a", b"b", b"c", b"", b"d\rd"]), max_size=25).flatmap(
    lambda lines: st.sampled_from([b"", b"\n"]).map(lambda end: b"\n".join(lines) + (end if lines else b""))
)


def shown(before: bytes | None, after: bytes | None) -> str:
    return "".join(unified_diff(WriteFile(PATH, PATH, before, after, 0o600, ())))


def patched(before: bytes, diff: str, folder: Path) -> bytes:
    (folder / "f").write_bytes(before)
    line = [needs("patch"), "-s", "-p0", str(folder / "f")]
    subprocess.run(line, input=diff.encode(), check=True, capture_output=True)
    return (folder / "f").read_bytes()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=files, after=files)
@example(before=b"a\na\na\nb\na\na\nb\na\na", after=b"a\na\nb\na\na\nb\na\nb\na\na")
def test_patch_makes_the_new_file_of_the_old(before: bytes, after: bytes, tmp_path: Path) -> None:
    if before != after:
        assert patched(before, shown(before, after), tmp_path) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(b"1\n2\n3\n4\n5\n6\n7\n8\n9\n", b"1\n2\n3\n4\nX\n6\n7\n8\n9\n", id="in the middle"),
        pytest.param(b"1\n2\n3\n", b"0\n1\n2\n3\n", id="at the start"),
        pytest.param(b"1\n2\n3\n", b"1\n2\n3\n4\n", id="at the end"),
        pytest.param(b"1\n2\n3", b"1\n2\n3\n", id="the last line's end comes"),
        pytest.param(b"1\n2\n3\n", b"1\n2\n4", id="the last line's end goes"),
        pytest.param(b"a\rb\nc\n", b"a\rB\nc\n", id="CR inside a line"),
        pytest.param(b"a\n" + b"k\n" * 20 + b"b\n", b"A\n" + b"k\n" * 20 + b"B\n", id="two hunks"),
        pytest.param("ü\n".encode(), "ü\nö\n".encode(), id="no ASCII"),
        pytest.param(b"a\r\nb\r\n", b"a\r\nc\r\n", id="CRLF"),
    ],
)  # fmt: skip
def test_it_is_what_diff_prints(before: bytes, after: bytes, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(before)
    (tmp_path / "b").write_bytes(after)
    line = [needs("diff"), "-u", "--label", "/f", "--label", "/f", "a", "b"]
    printed = subprocess.run(line, cwd=tmp_path, capture_output=True).stdout.decode()
    assert shown(before, after) == printed


def test_a_file_that_comes_or_goes_is_compared_with_nothing() -> None:
    assert shown(None, b"a\n") == "--- /dev/null\n+++ /f\n@@ -0,0 +1 @@\n+a\n"
    assert shown(b"a\n", None) == "--- /f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
