"""One client's steps made true: all of them, or everything put back."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from homeport import files
from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.folder_lock import new_mark_ns
from homeport.installer.apply import recovery
from homeport.installer.apply.in_place import put_in_place, real_of
from homeport.installer.apply.journal import (
    ClientRecord,
    FileRecord,
    Journal,
    Operation,
    file_record,
    with_client,
)
from homeport.installer.apply.locks import locked
from homeport.installer.plan.files_view import WriteFile, value_at
from homeport.installer.plan.rows import ClientPlan

ATTEMPTS: Final = 5
"""How often a file that keeps changing is planned again."""

_CONTESTED_S: Final = 2.0
"""A file written this short a time ago may be written again by somebody who read it before us."""

Plan = Callable[[], ClientPlan]


class Transaction:
    """Applies plans of one operation and keeps its journal record."""

    def __init__(self, environment: Environment, journal: Journal, operation: Operation) -> None:
        self.environment = environment
        self.journal = journal
        self.operation = operation

    def apply(self, plan_again: Plan) -> ClientPlan:
        """Plan, and make it true; the plan that was applied comes back.

        plan_again: reads everything afresh and plans. It is called once, and again each time a file turned out to
        have changed meanwhile. A plan that is refused or has no steps comes back as it is.
        Raises HomeportError: file_busy, read_only, disk_full, ownership_lost, file_in_use, write_failed. Every file is
        then as it was, but for what somebody else wrote.
        """
        plan = plan_again()
        while plan.steps and not plan.refused:
            reals = _reals(plan)
            with locked(self.environment, reals):
                recovered = recovery.finish_or_revert(self.journal, reals)
                # Another Homeport may have been at work while we waited for the lock.
                if recovered or not all(_still_as_read(step) for step in plan.steps):
                    plan = plan_again()
                applied, plan = self._attempt(plan, plan_again, reals)
                if applied:
                    break
        return plan

    def _attempt(self, plan: ClientPlan, plan_again: Plan, reals: frozenset[str]) -> tuple[bool, ClientPlan]:
        """Under the locks of `reals`: carry the plan out, afresh while outsiders keep saving.

        False with a new plan where that one needs other locks or has nothing to do.
        """
        for attempt in range(ATTEMPTS):
            if plan.refused or not plan.steps or not _reals(plan) <= reals:
                return False, plan
            try:
                self._carry_out(plan)
            except files.FileChanged:
                # A program that saves in a loop is met at another moment of its loop.
                time.sleep(0.02 * (attempt + 1))
                plan = plan_again()
            else:
                return True, plan
        raise HomeportError(
            "file_busy",
            f"{plan.steps[0].path} kept changing: another program saved it each time just before we did",
            "close the program that writes it, or run this again",
            {"file": str(plan.steps[0].path), "attempts": ATTEMPTS},
        )

    def _carry_out(self, plan: ClientPlan) -> None:
        """Raises files.FileChanged where a file is no longer what was planned on; nothing of ours is left then."""
        for step in plan.steps:
            files.check_writable(real_of(step))
        contested = any(_age_s(step) < _CONTESTED_S for step in plan.steps)
        record = self._intend(plan)
        done: list[WriteFile] = []
        made: list[Path] = []
        try:
            for step, file in zip(plan.steps, record.files, strict=True):
                made += files.make_folder(Path(step.real).parent, mode=0o755 if step.new_mode & 0o044 else 0o700)
                put_in_place(step, file)
                done.append(step)
            self._settle(plan, contested)
        except BaseException:
            self._put_back(done, record, made)
            raise
        finished = tuple(file._replace(made_folders=_folders(file, made)) for file in record.files)
        self.record(record._replace(status="done", files=finished))
        for step in plan.steps:
            if step.after is None:
                for folder in self.journal.folders_made_for(str(step.real)):
                    files.remove_folder_if_empty(Path(folder))

    def _intend(self, plan: ClientPlan) -> ClientRecord:
        """Journal what is about to happen, before anything of it can be seen."""
        records = tuple(
            # The mark says that the client's lock is ours, to who finds it after a kill.
            file_record(step, files.temporary_path(real_of(step)), new_mark_ns())
            for step in plan.steps
        )
        record = ClientRecord(plan.client, "applying", records, plan.changes)
        self.record(record)
        return record

    def record(self, record: ClientRecord) -> None:
        self.operation = with_client(self.operation, record)
        self.journal.write(self.operation)

    def _settle(self, plan: ClientPlan, contested: bool) -> None:
        """Read back: a program that had read the file before us may have saved over it since.

        contested: somebody wrote one of the files a moment ago, so the look is repeated a little later. A file that
        changed but still holds our entries is fine: it is the newer one.
        Raises files.FileChanged.
        """
        for wait_s in (0.0, 0.05) if contested else (0.0,):
            time.sleep(wait_s)
            for step in plan.steps:
                present = files.read_bytes(Path(step.real))
                if present != step.after and not _holds_ours(present, plan, step):
                    raise files.FileChanged

    def _put_back(self, done: list[WriteFile], record: ClientRecord, made: list[Path]) -> None:
        for step, file in zip(reversed(done), reversed(record.files[: len(done)]), strict=True):
            with contextlib.suppress(files.FileChanged):
                put_in_place(_reverse(step), file)
        for folder in reversed(made):
            files.remove_folder_if_empty(folder)
        self.record(record._replace(status="reverted"))


def _reals(plan: ClientPlan) -> frozenset[str]:
    return frozenset(str(step.real) for step in plan.steps)


def _still_as_read(step: WriteFile) -> bool:
    return files.read_bytes(Path(step.real)) == step.before


def _age_s(step: WriteFile) -> float:
    """Seconds since somebody last wrote the file; endless for one that does not exist yet."""
    stamp = files.stamp(Path(step.real))
    return float("inf") if stamp is None else abs(time.time() - stamp.modified_ns / 1e9)


def _holds_ours(present: bytes | None, plan: ClientPlan, step: WriteFile) -> bool:
    """Whether the file as somebody saved it after us still says what we wanted of every entry in it."""
    if present is None:
        return False
    for change in plan.changes:
        if change.file == str(step.real) and value_at(present, change.dialect, change.path) != change.after:
            return False
    return True


def _reverse(step: WriteFile) -> WriteFile:
    return step._replace(before=step.after, after=step.before, edits=())


def _folders(file: FileRecord, made: list[Path]) -> tuple[str, ...]:
    return tuple(str(folder) for folder in made if folder in Path(file.real).parents)
