"""Looking at the real disk."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest

from homeport import disk as disk_module
from homeport.disk import Disk
from homeport.errors import HomeportError
from tests.harness import needs


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\xef\xbb\xbf\r\n\0")
    assert Disk().read(tmp_path / "f") == b"\xef\xbb\xbf\r\n\0"


def test_nothing_is_none(tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to("gone")
    (tmp_path / "f").touch()
    assert [Disk().read(tmp_path / name) for name in ("gone", "gone/f", "dangling", "f/x")] == [None] * 4


@pytest.mark.parametrize(
    ("kind", "words"), [("folder", "is a folder"), ("fifo", "is not a regular file"), ("loop", "cannot be read")]
)
def test_what_is_no_file_is_refused_and_never_waited_for(kind: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    if kind == "loop":
        path.symlink_to("x")
    else:
        path.mkdir() if kind == "folder" else os.mkfifo(path)
    before = open_files()
    with pytest.raises(HomeportError) as caught:
        Disk().read(path)
    assert (caught.value.code, words in caught.value.message) == ("unreadable_file", True)
    assert open_files() == before


def open_files() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


def test_a_socket_is_refused(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        with pytest.raises(HomeportError) as caught:
            Disk().read(tmp_path / "s")
    assert caught.value.code == "unreadable_file"


def test_a_file_that_is_too_large_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_module, "LARGEST_BYTES", 3)
    (tmp_path / "f").write_bytes(b"1234")
    with pytest.raises(HomeportError) as caught:
        Disk().read(tmp_path / "f")
    assert (caught.value.code, caught.value.details["size_bytes"]) == ("file_too_large", 4)


def test_links_are_followed_and_a_loop_is_itself(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    (tmp_path / "a").symlink_to("f")
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "loop").symlink_to("loop")
    assert Disk().real(tmp_path / "b") == tmp_path / "f"
    assert Disk().real(tmp_path / "loop") == tmp_path / "loop"
    assert Disk().real(tmp_path / "gone/x") == tmp_path / "gone/x"


def test_names_are_sorted_and_none_where_there_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "b").touch()
    (tmp_path / "a").mkdir()
    assert (Disk().names(tmp_path), Disk().names(tmp_path / "b"), Disk().names(tmp_path / "gone")) == (
        ("a", "b"),
        (),
        (),
    )


def test_what_can_be_run_and_when_it_changed(tmp_path: Path) -> None:
    (tmp_path / "run").touch(mode=0o755)
    (tmp_path / "read").touch(mode=0o644)
    os.utime(tmp_path / "read", (5, 5))
    disk = Disk()
    assert [disk.runnable(tmp_path / name) for name in ("run", "read", "gone", ".")] == [True, False, False, False]
    assert (disk.modified(tmp_path / "read"), disk.modified(tmp_path / "gone")) == (5.0, 0.0)


def test_what_git_tracks(tmp_path: Path) -> None:
    git = [needs("git"), "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    (tmp_path / "f").touch()
    assert not Disk().tracked(tmp_path / "f")
    subprocess.run([*git, "add", "f"], check=True)
    assert Disk().tracked(tmp_path / "f")
    assert not Disk().tracked(tmp_path / "gone/f")
