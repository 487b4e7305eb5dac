"""The client's own lock, taken for a moment and never from anybody."""

from __future__ import annotations

import os
from pathlib import Path

from homeport.folder_lock import folder_lock, remove_marked_folder


def test_a_lock_of_somebody_else_is_waited_for_and_never_removed(tmp_path: Path) -> None:
    lock = tmp_path / "x.lock"
    lock.mkdir()
    with folder_lock(lock, patience_s=0.05, stale_s=60, mark_ns=5) as held:
        assert not held
    assert lock.is_dir()


def test_a_stale_lock_is_taken_over(tmp_path: Path) -> None:
    lock = tmp_path / "x.lock"
    lock.mkdir()
    os.utime(lock, (1, 1))
    with folder_lock(lock, patience_s=1, stale_s=10, mark_ns=5) as held:
        assert held
    assert not lock.exists()


def test_only_the_lock_with_our_mark_is_cleared_away(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.lock", tmp_path / "theirs.lock"
    for lock, mark in ((ours, 1_700_000_000_123_456_789), (theirs, 1_700_000_000_000_000_000)):
        lock.mkdir()
        os.utime(lock, ns=(mark, mark))
        remove_marked_folder(lock, 1_700_000_000_123_456_789)
    assert (ours.exists(), theirs.exists()) == (False, True)
