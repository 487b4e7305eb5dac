"""What people ask of the history beside its two tools: which conversations there are, and copies as JSON lines."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from homeport.errors import HomeportError
from homeport.server.operations.operation import Call, Outcome, failure
from homeport.server.state.history.instants import UNDATED, stamp
from homeport.server.state.history.lines import Imported, export_lines, import_lines
from homeport.server.state.history.reach import Viewer
from homeport.server.state.history.rows import Summary
from homeport.server.state.history.store import History

_WAIT_S: Final = 4.5


def conversations(history: History, viewer: Viewer, limit: int, cursor: str | None, call: Call) -> Outcome:
    """Those with the newest turns first. Raises HomeportError: bad_argument, and what History raises."""
    found, following = history.conversations(viewer, limit, call.deadline_s, cursor)
    result = {"conversations": list(map(_as_json, found)), "next": following}
    lines = [
        f"{one.conversation.id}  {one.turns} turns to {stamp(one.newest)}  {one.conversation.client}" for one in found
    ]
    return Outcome(result, "\n".join(lines) or "There are no conversations.")


def export_to(history: History, viewer: Viewer, target: Path, conversation: str | None) -> Outcome:
    """Write every turn that the viewer may see into a new file, 0600. Raises HomeportError: write_failed, and what
    History raises; no file is left then."""
    turns = 0
    try:
        # Whoever may read the file reads the conversations.
        with open(target, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            try:
                for line in exported(history, viewer, conversation):
                    file.write(line)
                    turns += 1
            except BaseException:
                with contextlib.suppress(OSError):
                    target.unlink()
                raise
    except OSError as error:
        why = error.strerror or type(error).__name__
        hint = "name a file that is not there yet" if isinstance(error, FileExistsError) else None
        raise HomeportError("write_failed", f"{target}: {why}", hint, {"file": str(target)}) from error
    return Outcome({"file": str(target), "turns": turns}, f"Wrote {turns} turns to {target}.")


def exported(history: History, viewer: Viewer, conversation: str | None) -> Iterator[bytes]:
    """The lines of an export. Raises HomeportError: conversation_not_found, and what History raises."""
    for line in export_lines(history, viewer, _WAIT_S, conversation):
        yield line.encode()


def import_from(history: History, stream: BinaryIO, user: str | None) -> Outcome:
    """Land the turns of an export. user: as lines.import_lines takes it."""
    done = import_lines(history, stream, user, _WAIT_S)
    result = done._asdict() | {"named": [{"line": one.number, "trouble": one.trouble} for one in done.named]}
    text = f"{done.landed} turns are new, {done.known} were there."
    if not done.refused:
        return Outcome(result, text)
    return failure(_refused(done), result, text)


def _refused(done: Imported) -> HomeportError:
    first = "; ".join(f"line {one.number}: {one.trouble}" for one in done.named[:5])
    more = f"; {done.refused - 5} more" if done.refused > 5 else ""
    return HomeportError(
        "import_incomplete",
        f"{done.refused} of {done.lines} lines were not taken ({first}{more})",
        "the others were; --json names up to 100",
        {"refused": done.refused},
    )


def _as_json(one: Summary) -> dict[str, Any]:
    conversation = one.conversation
    return {
        "conversation": conversation.id, "user": conversation.user, "project": conversation.project,
        "client": conversation.client, "started": _stamp(conversation.started), "newest": _stamp(one.newest),
        "turns": one.turns,
    }  # fmt: skip


def _stamp(instant: int) -> str | None:
    return None if instant == UNDATED else stamp(instant)
