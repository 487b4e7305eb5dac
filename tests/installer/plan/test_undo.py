"""Taking an operation back, byte for byte or entry by entry."""

from __future__ import annotations

import json
from typing import Any

import pytest

from homeport.installer.plan.files_view import WriteFile
from homeport.installer.plan.rows import EntryChange
from homeport.installer.plan.splices import digest
from homeport.installer.plan.undo import FileUndo, UndoPlan, plan_undo
from tests.installer.plan.planning import OURS, ROTA, Planned, stdio
from tests.made import Thing

CURSOR = "~/.cursor/mcp.json"
REAL = "/home/nora/.cursor/mcp.json"
SOURCE = b'{\n  // mine\n  "mcpServers": {\n    "tally": { "command": "x" }\n  }\n}\n'


class Done:
    """An operation that was carried out on a made machine. now: what the file holds today."""

    def __init__(self, things: dict[str, Thing], *registrations: Any, take_out: bool = False) -> None:
        self.planned = Planned("cursor", things)
        planned = self.planned.uninstall() if take_out else self.planned.install(*registrations)
        self.steps: tuple[WriteFile, ...] = planned.plan.steps
        self.changes: tuple[EntryChange, ...] = planned.plan.changes
        planned.applied()

    @property
    def now(self) -> bytes:
        thing = self.planned.disk.things[self.steps[0].real]
        assert isinstance(thing, bytes)
        return thing

    def becomes(self, source: bytes | None) -> Done:
        if source is None:
            del self.planned.disk.things[self.steps[0].real]
        else:
            self.planned.disk.things[self.steps[0].real] = source
        return self

    def undo(self, *, exact: bool = True) -> UndoPlan:
        files = [
            FileUndo(
                step.path, str(step.real), digest(step.before), digest(step.after), step.edits,
                not (step.before or b"").strip(), None if (step.before or b"").strip() else step.before, 0o600, exact,
            )
            for step in self.steps
        ]  # fmt: skip
        return plan_undo("cursor", files, list(self.changes), self.planned.disk)


def result(plan: UndoPlan) -> tuple[list[str], list[bytes | None]]:
    return [one.how for one in plan.files], [step.after for step in plan.steps]


@pytest.mark.parametrize("before", [SOURCE, b"", b"\n", None], ids=["a file", "empty", "blank", "no file"])
def test_a_file_that_is_as_we_left_it_gets_every_byte_back(before: bytes | None) -> None:
    done = Done({} if before is None else {CURSOR: before}, OURS)
    assert result(done.undo()) == (["restored"], [before])


def test_where_other_parts_changed_our_entry_alone_is_taken_back() -> None:
    done = Done({CURSOR: SOURCE}, OURS)
    changed = done.now.replace(b"// mine", b"// yours")
    assert result(done.becomes(changed).undo()) == (["taken_out"], [SOURCE.replace(b"// mine", b"// yours")])


def test_an_update_is_taken_back_to_the_entry_before() -> None:
    before = json.dumps({"mcpServers": {"rota": {"command": "/opt/rota", "args": ["serve"]}}}).encode()
    done = Done({CURSOR: before}, ROTA._replace(server=stdio("/opt/rota", "serve", A="b")))
    how, after = result(done.becomes(done.now + b"\n").undo())
    assert (how, [json.loads(one or b"") for one in after]) == (["taken_out"], [json.loads(before)])


def test_a_removal_is_taken_back() -> None:
    before = json.dumps({"mcpServers": {"homeport": {"command": "homeport"}, "tally": {"command": "x"}}}).encode()
    done = Done({CURSOR: before}, take_out=True)
    assert result(done.undo()) == (["restored"], [before])
    how, after = result(done.becomes(b'{"mcpServers": {}, "theme": 1}').undo())
    assert (how, [json.loads(one or b"") for one in after]) == (
        ["taken_out"],
        [{"mcpServers": {"homeport": {"command": "homeport"}}, "theme": 1}],
    )


def test_what_is_as_before_already_is_left() -> None:
    done = Done({CURSOR: SOURCE}, OURS)
    assert result(done.becomes(SOURCE).undo()) == (["as_before"], [])


@pytest.mark.parametrize(
    ("entry", "words"), [({"command": "tally"}, "runs something else by now"), (None, "is gone")], ids=["other", "gone"]
)
def test_an_entry_that_is_no_longer_ours_is_refused(entry: Any, words: str) -> None:
    done = Done({CURSOR: SOURCE}, OURS)
    servers = {} if entry is None else {"homeport": entry}
    plan = done.becomes(json.dumps({"mcpServers": servers}).encode()).undo()
    (one,) = plan.files
    assert (one.how, plan.steps, plan.changes) == ("refused", (), ())
    assert one.error is not None
    assert (one.error.code, words in one.error.message) == ("undo_refused", True)


def test_a_key_that_a_person_added_is_no_reason_to_refuse() -> None:
    done = Done({CURSOR: SOURCE}, OURS)
    changed = done.now.replace(b'"type": "stdio"', b'"type": "stdio", "note": 1')
    assert changed != done.now
    assert result(done.becomes(changed).undo()) == (["taken_out"], [SOURCE])


def test_a_file_that_nobody_can_read_is_refused_by_place() -> None:
    (one,) = Done({CURSOR: SOURCE}, OURS).becomes(b"{").undo().files
    assert one.error is not None
    assert one.error.message.startswith(f"{REAL}, line 1")


def test_what_the_clients_own_program_wrote_is_taken_back_by_entry() -> None:
    done = Done({CURSOR: SOURCE}, OURS)
    assert result(done.undo(exact=False)) == (["taken_out"], [SOURCE])
