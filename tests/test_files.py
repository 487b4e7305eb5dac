"""The module that replaces files: every state of the disk a save can meet."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from homeport import files
from homeport.errors import HomeportError
from homeport.files import RealPath


def real(path: Path) -> RealPath:
    return RealPath(path)


def swap(target: Path, data: bytes, expected: files.Stamp | None = None) -> None:
    temporary = files.temporary_path(real(target))
    files.write_temporary(temporary, real(target), data, new_mode=0o600)
    known = expected or files.stamp(target)
    assert known is not None
    files.swap_in(temporary, real(target), known)


def test_a_swap_keeps_the_mode_and_leaves_nothing_behind(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.write_bytes(b"old")
    target.chmod(0o640)
    swap(target, b"new")
    assert (target.read_bytes(), stat.S_IMODE(target.stat().st_mode)) == (b"new", 0o640)
    assert os.listdir(tmp_path) == ["a.json"]


def test_a_file_that_changed_before_the_swap_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.write_bytes(b"old")
    expected = files.stamp(target)
    target.write_bytes(b"somebody else's")
    with pytest.raises(files.FileChanged):
        swap(target, b"ours", expected)
    assert target.read_bytes() == b"somebody else's"


def test_a_save_between_the_last_look_and_the_exchange_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "a.json"
    target.write_bytes(b"old")
    exchange = files._exchange

    def slip_in(first: Path, second: Path) -> bool:
        monkeypatch.setattr(files, "_exchange", exchange)
        newer = tmp_path / "newer"
        newer.write_bytes(b"slipped in")
        os.replace(newer, target)
        return exchange(first, second)

    monkeypatch.setattr(files, "_exchange", slip_in)
    with pytest.raises(files.FileChanged):
        swap(target, b"ours")
    assert target.read_bytes() == b"slipped in"
    assert os.listdir(tmp_path) == ["a.json"]


def test_of_two_saves_that_slip_in_the_newer_one_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.json"
    target.write_bytes(b"old")
    exchange = files._exchange
    calls: list[bytes] = []

    def slip_in(first: Path, second: Path) -> bool:
        if len(calls) < 2:
            calls.append(b"first" if not calls else b"second")
            newer = tmp_path / "newer"
            newer.write_bytes(calls[-1])
            os.replace(newer, target)
        return exchange(first, second)

    monkeypatch.setattr(files, "_exchange", slip_in)
    with pytest.raises(files.FileChanged):
        swap(target, b"ours")
    assert target.read_bytes() == b"second"
    assert os.listdir(tmp_path) == ["a.json"]


def test_creating_does_not_overwrite_what_came_in_between(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    temporary = files.temporary_path(real(target))
    files.write_temporary(temporary, real(target), b"ours", new_mode=0o600)
    target.write_bytes(b"theirs")
    with pytest.raises(files.FileChanged):
        files.create_exclusively(temporary, real(target))
    assert target.read_bytes() == b"theirs"


def test_taking_a_changed_file_away_puts_it_back(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.write_bytes(b"ours")
    expected = files.stamp(target)
    assert expected is not None
    target.write_bytes(b"theirs, longer")
    with pytest.raises(files.FileChanged):
        files.take_away(real(target), files.temporary_path(real(target)), expected)
    assert target.read_bytes() == b"theirs, longer"


def make_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("prepare", "code"),
    [
        pytest.param(lambda path: path.chmod(0o444), "read_only", id="no-write-bit"),
        pytest.param(lambda path: path.parent.chmod(0o555), "read_only", id="folder-without-write-bit"),
        pytest.param(lambda path: os.link(path, path.parent / "other"), "ownership_lost", id="hard-link"),
        pytest.param(make_fifo, "unreadable_file", id="fifo"),
        pytest.param(make_folder, "unreadable_file", id="folder"),
    ],
)
def test_a_target_that_must_not_be_replaced_is_refused(tmp_path: Path, prepare: object, code: str) -> None:
    target = tmp_path / "a.json"
    target.write_bytes(b"{}")
    assert callable(prepare)
    prepare(target)
    try:
        with pytest.raises(HomeportError) as refused:
            files.check_writable(real(target))
    finally:
        tmp_path.chmod(0o700)
    assert refused.value.code == code
    assert str(target) in refused.value.message


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_a_full_disk_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.json"
    target.write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(HomeportError) as refused:
        files.write_temporary(files.temporary_path(real(target)), real(target), b"new", new_mode=0o600)
    assert refused.value.code == "disk_full"
    assert os.listdir(tmp_path) == ["a.json"]
    assert target.read_bytes() == b"old"


def test_a_fifo_in_a_configs_place_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(HomeportError) as refused:
        files.read_bytes(tmp_path / "pipe")
    assert refused.value.code == "unreadable_file"


def test_extended_attributes_come_along(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.write_bytes(b"old")
    try:
        os.setxattr(target, "user.homeport", b"kept")
    except OSError:
        pytest.skip("this file system holds no attributes")
    swap(target, b"new")
    assert os.getxattr(target, "user.homeport") == b"kept"


def held_open(monkeypatch: pytest.MonkeyPatch, times: int) -> list[int]:
    """Windows, where another program holds the target open for `times` tries."""
    tries: list[int] = []
    replace = os.replace

    def windows(source: Path, target: Path) -> None:
        tries.append(1)
        if len(tries) <= times:
            error = PermissionError(13, "The process cannot access the file")
            error.winerror = 32  # type: ignore[attr-defined]  # set by Windows only
            raise error
        replace(source, target)

    monkeypatch.setattr(files, "_exchange", lambda first, second: False)
    monkeypatch.setattr(os, "replace", windows)
    return tries


def test_a_target_held_open_for_a_moment_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.json"
    target.write_bytes(b"old")
    tries = held_open(monkeypatch, 3)
    swap(target, b"new")
    assert (target.read_bytes(), len(tries)) == (b"new", 4)


def test_a_target_held_open_for_good_is_refused_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.json"
    target.write_bytes(b"old")
    held_open(monkeypatch, 10**9)
    temporary = files.temporary_path(real(target))
    files.write_temporary(temporary, real(target), b"new", new_mode=0o600)
    with pytest.raises(HomeportError) as refused:
        files._replace_patiently(temporary, real(target), patience_s=0.2)
    assert refused.value.code == "file_in_use"
    assert target.read_bytes() == b"old"


def test_a_rename_that_the_system_refuses_is_told_with_its_code(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    files.rename(tmp_path / "a", tmp_path / "b")

    with pytest.raises(HomeportError) as refused:
        files.rename(tmp_path / "a", tmp_path / "c")

    assert (os.listdir(tmp_path), refused.value.code, refused.value.details["errno"]) == (["b"], "write_failed", 2)
