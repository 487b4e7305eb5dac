"""After a kill at each possible moment: old file or new file, no litter, and a journal that is settled."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from homeport import files
from homeport.installer.apply.journal import ClientRecord, Journal, file_record, new_operation, with_client
from homeport.installer.apply.locks import locked
from homeport.installer.apply.recovery import recover
from homeport.installer.plan.files_view import WriteFile
from homeport.installer.plan.splices import splices
from tests.installer.apply.test_transaction import machine

OLD, NEW = b"old bytes\n", b"old and new bytes\n"


class Interrupted:
    """A client's record left behind by a killed process, for files that stand in any state."""

    def __init__(self, folder: Path, *contents: tuple[bytes | None, bytes | None]) -> None:
        self.folder = folder
        self.paths = [folder / f"f{index}" for index in range(len(contents))]
        steps = [
            WriteFile(path, path, before, after, 0o600, splices(before or b"", after or b""))
            for path, (before, after) in zip(self.paths, contents, strict=True)
        ]
        temporaries = [files.temporary_path(files.RealPath(path)) for path in self.paths]
        self.temporary = temporaries[0]
        records = tuple(file_record(step, one, 7) for step, one in zip(steps, temporaries, strict=True))
        self.journal = Journal(folder / "state")
        self.operation = with_client(new_operation("install"), ClientRecord("cursor", "applying", records, ()))
        self.journal.write(self.operation)

    def recover(self) -> tuple[str, list[bytes | None]]:
        assert recover(machine(self.folder), self.journal) == 1
        status = self.journal.operations()[0].clients[0].status
        assert sorted(os.listdir(self.folder)) == sorted(
            ["state", *(path.name for path in self.paths if path.exists())]
        )
        return status, [files.read_bytes(path) for path in self.paths]


def test_nothing_had_happened_yet(tmp_path: Path) -> None:
    left = Interrupted(tmp_path, (OLD, NEW))
    left.paths[0].write_bytes(OLD)
    assert left.recover() == ("reverted", [OLD])


def test_the_temporary_file_was_written(tmp_path: Path) -> None:
    left = Interrupted(tmp_path, (OLD, NEW))
    left.paths[0].write_bytes(OLD)
    left.temporary.write_bytes(NEW)
    assert left.recover() == ("reverted", [OLD])


def test_the_temporary_file_was_half_written(tmp_path: Path) -> None:
    left = Interrupted(tmp_path, (OLD, NEW))
    left.paths[0].write_bytes(OLD)
    left.temporary.write_bytes(NEW[:4])
    assert left.recover() == ("reverted", [OLD])


def test_the_only_file_was_in_place(tmp_path: Path) -> None:
    left = Interrupted(tmp_path, (OLD, NEW))
    left.paths[0].write_bytes(NEW)
    left.temporary.write_bytes(OLD)
    assert left.recover() == ("done", [NEW])


def test_one_of_two_files_was_in_place(tmp_path: Path) -> None:
    left = Interrupted(tmp_path, (OLD, NEW), (b"x", b"y"))
    left.paths[0].write_bytes(NEW)
    left.paths[1].write_bytes(b"x")
    assert left.recover() == ("reverted", [OLD, b"x"])


def test_a_new_file_beside_an_untouched_one_goes_again(tmp_path: Path) -> None:
    left = Interrupted(tmp_path, (None, NEW), (b"x", b"y"))
    left.paths[0].write_bytes(NEW)
    left.paths[1].write_bytes(b"x")
    assert left.recover() == ("reverted", [None, b"x"])


def test_a_file_that_somebody_wrote_since_is_left_to_them(tmp_path: Path) -> None:
    left = Interrupted(tmp_path, (OLD, NEW), (b"x", b"y"))
    left.paths[0].write_bytes(b"theirs")
    left.paths[1].write_bytes(b"y")
    assert left.recover() == ("reverted", [b"theirs", b"x"])


def test_a_save_that_our_exchange_displaced_gets_its_name_back(tmp_path: Path) -> None:
    left = Interrupted(tmp_path, (OLD, NEW))
    left.paths[0].write_bytes(NEW)
    left.temporary.write_bytes(b"saved in between")
    assert left.recover() == ("reverted", [b"saved in between"])


def test_the_clients_lock_that_was_ours_goes_and_another_stays(tmp_path: Path) -> None:
    left = Interrupted(tmp_path, (OLD, NEW))
    left.paths[0].write_bytes(OLD)
    lock = tmp_path / "f0.lock"
    lock.mkdir()
    os.utime(lock, ns=(7, 7))
    client = left.operation.clients[0]
    record = client.files[0]._replace(client_lock=str(lock))
    left.journal.write(with_client(left.operation, client._replace(files=(record,))))
    assert left.recover() == ("reverted", [OLD])


def test_an_operation_whose_process_lives_is_left_to_it(tmp_path: Path) -> None:
    left = Interrupted(tmp_path, (OLD, NEW))
    left.paths[0].write_bytes(OLD)
    environment = machine(tmp_path)
    with locked(environment, frozenset({str(left.paths[0])})):
        # Another process's view: file locks of one process do not exclude each other, so the look is made by a child.
        pid = os.fork()
        if pid == 0:
            os._exit(recover(environment, left.journal))
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert left.journal.operations()[0].clients[0].status == "applying"


def test_a_damaged_record_is_set_aside_and_hides_no_other(tmp_path: Path) -> None:
    left = Interrupted(tmp_path, (OLD, NEW))
    left.paths[0].write_bytes(OLD)
    damaged = left.journal.folder / "00000000-000000-000000-0000.json"
    damaged.write_bytes(b'{"id": "torn')
    assert left.recover() == ("reverted", [OLD])
    left.journal.operations()
    assert left.journal.damaged == [damaged]


@pytest.mark.parametrize("content", [b"[]", b"null", b"{}", b'{"clients": 3}', b"\xff", b'{"clients": [{}]}'])
def test_any_other_json_in_the_journal_is_damage_too(tmp_path: Path, content: bytes) -> None:
    journal = Journal(tmp_path)
    journal.folder.mkdir(parents=True)
    (journal.folder / "x.json").write_bytes(content)
    assert journal.operations() == []
    assert len(journal.damaged) == 1
