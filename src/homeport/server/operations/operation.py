"""What an operation is: one thing the state can do, known to no transport and no command line."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from homeport.errors import HomeportError
from homeport.server.operations.arguments import check_arguments

_log = logging.getLogger(__name__)

# The envelope of envelope.py. `result` stays open: fields may be added, and every tool pays for each word here.
ENVELOPE_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "version": {"type": "integer"},
        "homeport": {"type": "string"},
        "operation": {"type": "string"},
        "ok": {"type": "boolean"},
        "result": {"type": ["object", "null"]},
        "error": {"type": ["object", "null"]},
    },
    "required": ["version", "homeport", "operation", "ok", "result", "error"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Call:
    """Who calls, and until when, on time.monotonic(), they may be kept waiting for somebody else's lock."""

    actor: str
    deadline_s: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """result: JSON values, None where the operation came to none. text: the whole result for a reader."""

    result: Mapping[str, Any] | None
    text: str
    error: HomeportError | None = None


@dataclass(frozen=True, slots=True)
class Hints:
    """What a client may tell its user before a call. They must be true of everything the operation can do."""

    read_only: bool
    destructive: bool
    idempotent: bool


@dataclass(frozen=True, slots=True)
class Operation:
    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    hints: Hints
    function: Callable[[Mapping[str, Any], Call], Outcome]
    output_schema: Mapping[str, Any] = field(default_factory=lambda: ENVELOPE_SCHEMA)


def perform(operation: Operation, arguments: Mapping[str, Any], call: Call) -> Outcome:
    """Check the arguments and run the operation. Nothing is raised: what went wrong is in the outcome."""
    try:
        return operation.function(check_arguments(arguments, operation.input_schema), call)
    except HomeportError as error:
        return failure(error)
    except Exception:
        # The caller cannot help it and must not see the host's paths; whoever reads stderr can report it.
        _log.exception("the operation %s failed", operation.name)
        return failure(
            HomeportError("internal_error", f"{operation.name} failed inside Homeport", "stderr holds the traceback")
        )


def failure(error: HomeportError, result: Mapping[str, Any] | None = None, text: str = "") -> Outcome:
    """The outcome of an error. result, text: what can be said all the same, such as the present value in a conflict."""
    said = f"[{error.code}] {error.message}" + (f"\n{error.hint}" if error.hint else "")
    return Outcome(result, f"{said}\n\n{text}" if text else said, error)
