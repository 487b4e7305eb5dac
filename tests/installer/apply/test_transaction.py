"""All of a client's steps, or everything put back: on real files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from homeport import files
from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.installer.apply import transaction as transaction_module
from homeport.installer.apply.in_place import put_in_place
from homeport.installer.apply.journal import Journal, new_operation
from homeport.installer.apply.transaction import ATTEMPTS, Transaction
from homeport.installer.plan.files_view import WriteFile
from homeport.installer.plan.rows import ClientPlan, Row
from homeport.installer.plan.splices import splices

DONE = Row("cursor", "Cursor", "user", "x", "created")


def machine(tmp_path: Path) -> Environment:
    return Environment(
        platform="linux",
        home=tmp_path,
        cwd=tmp_path,
        variables={},
        login="ada",
        python=Path("/usr/bin/python3"),
        state=tmp_path / "state",
        user_id=os.geteuid(),
    )


def step(path: Path, after: bytes | None) -> WriteFile:
    before = files.read_bytes(path)
    return WriteFile(path, path, before, after, 0o600, splices(before or b"", after or b""))


def begin(tmp_path: Path) -> Transaction:
    return Transaction(machine(tmp_path), Journal(tmp_path / "state"), new_operation("install"))


def plan_of(*steps: Callable[[], WriteFile]) -> Callable[[], ClientPlan]:
    return lambda: ClientPlan("cursor", (DONE,), tuple(make() for make in steps))


def test_every_file_is_written_and_the_record_says_done(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "sub" / "two"
    one.write_bytes(b"1")
    begun = begin(tmp_path)
    begun.apply(plan_of(lambda: step(one, b"11"), lambda: step(two, b"22")))
    assert (one.read_bytes(), two.read_bytes()) == (b"11", b"22")
    assert [client.status for client in begun.operation.clients] == ["done"]
    assert sorted(os.listdir(tmp_path)) == ["one", "state", "sub"]


def test_a_second_file_that_cannot_be_written_puts_the_first_back(tmp_path: Path) -> None:
    one = tmp_path / "one"
    one.write_bytes(b"1")
    two = tmp_path / "two"
    two.write_bytes(b"2")

    def fail(target_step: WriteFile, record: object) -> None:
        if target_step.path == two and target_step.after == b"22":
            raise HomeportError("disk_full", "no room")
        put_in_place(target_step, record)  # type: ignore[arg-type]  # the record is handed through

    begun = begin(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transaction_module, "put_in_place", fail)
        with pytest.raises(HomeportError) as refused:
            begun.apply(plan_of(lambda: step(one, b"11"), lambda: step(two, b"22")))
    assert refused.value.code == "disk_full"
    assert (one.read_bytes(), two.read_bytes()) == (b"1", b"2")
    assert [client.status for client in begun.operation.clients] == ["reverted"]


def test_a_new_file_and_its_folders_go_when_a_later_step_fails(tmp_path: Path) -> None:
    new = tmp_path / "made" / "deep" / "one"
    bad = tmp_path / "bad"
    bad.write_bytes(b"2")
    bad.chmod(0o444)
    with pytest.raises(HomeportError):
        begin(tmp_path).apply(plan_of(lambda: step(new, b"11"), lambda: step(bad, b"22")))
    assert sorted(os.listdir(tmp_path)) == ["bad", "state"]


def test_a_file_that_changes_once_is_planned_again(tmp_path: Path) -> None:
    target = tmp_path / "one"
    target.write_bytes(b"a")
    planned: list[bytes] = []

    def plan() -> ClientPlan:
        made = step(target, (files.read_bytes(target) or b"") + b"+ours")
        if not planned:
            target.write_bytes(b"theirs")
        planned.append(made.before or b"")
        return ClientPlan("cursor", (DONE,), (made,))

    begin(tmp_path).apply(plan)
    assert (planned, target.read_bytes()) == ([b"a", b"theirs"], b"theirs+ours")


def test_a_file_that_keeps_changing_is_given_up_with_nothing_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "one"
    target.write_bytes(b"0")
    saves: list[int] = []
    write_temporary = files.write_temporary

    def save_first(temporary: Path, real: files.RealPath, data: bytes, *, new_mode: int) -> None:
        write_temporary(temporary, real, data, new_mode=new_mode)
        if real == target:
            saves.append(1)
            target.write_bytes(b"theirs %d" % len(saves))

    monkeypatch.setattr(files, "write_temporary", save_first)
    with pytest.raises(HomeportError) as refused:
        begin(tmp_path).apply(plan_of(lambda: step(target, b"ours")))
    assert (refused.value.code, len(saves)) == ("file_busy", ATTEMPTS)
    assert target.read_bytes() == b"theirs %d" % ATTEMPTS
    assert sorted(os.listdir(tmp_path)) == ["one", "state"]


def test_a_plan_without_steps_touches_neither_file_nor_journal(tmp_path: Path) -> None:
    begin(tmp_path).apply(lambda: ClientPlan("cursor", (DONE._replace(outcome="unchanged"),)))
    assert os.listdir(tmp_path) == []


def test_a_file_that_is_to_go_goes(tmp_path: Path) -> None:
    target = tmp_path / "one"
    target.write_bytes(b"ours")
    begin(tmp_path).apply(plan_of(lambda: step(target, None)))
    assert os.listdir(tmp_path) == ["state"]


def test_links_are_followed_and_stay(tmp_path: Path) -> None:
    kept = tmp_path / "dots" / "one"
    kept.parent.mkdir()
    kept.write_bytes(b"a")
    link = tmp_path / "link"
    link.symlink_to("dots/one")

    def plan() -> ClientPlan:
        made = step(kept, b"b")._replace(path=link)
        return ClientPlan("cursor", (DONE,), (made,))

    begin(tmp_path).apply(plan)
    assert (os.readlink(link), kept.read_bytes()) == ("dots/one", b"b")
