"""Have the client's own program write its own file, and look whether it did."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

from homeport.credentials import masked_arguments
from homeport.environment import Environment
from homeport.errors import HomeportError

TIME_LIMIT_S: Final = 30.0


def run(words: Sequence[str], environment: Environment) -> None:
    """Run one command of a client, found on PATH, with nothing on stdin.

    Raises HomeportError: client_not_on_path; client_command_failed (exit code, time limit), with its last line.
    """
    program = found(words, environment)
    shown = _shown(words)
    try:
        done = subprocess.run(
            [str(program), *words[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIME_LIMIT_S,
            cwd=str(environment.cwd),
            env=dict(environment.variables),
        )
    except subprocess.TimeoutExpired as error:
        raise _failed(shown, f"did not end within {TIME_LIMIT_S:g} seconds", "") from error
    except OSError as error:
        raise _failed(shown, f"could not be started: {error.strerror}", "") from error
    if done.returncode != 0:
        raise _failed(shown, f"ended with exit code {done.returncode}", _last_line(done.stderr or done.stdout))


def found(words: Sequence[str], environment: Environment) -> PurePath:
    """Where the program of a command is. Raises HomeportError: client_not_on_path."""
    program = environment.search(words[0])
    if program is None:
        raise HomeportError(
            "client_not_on_path",
            f"{words[0]} is not on PATH, so `{_shown(words)}` cannot be run",
            "say --via file instead",
        )
    return program


def did_not_do_it(words: Sequence[str]) -> HomeportError:
    """For a command that says it went well and left the file without the entry."""
    return _failed(_shown(words), "said it went well, but the entry is not as asked", "")


def _shown(words: Sequence[str]) -> str:
    return " ".join(masked_arguments(list(words)))


def _failed(shown: str, what: str, said: str) -> HomeportError:
    message = f"`{shown}` {what}" + (f": {said}" if said else "")
    return HomeportError("client_command_failed", message, "say --via file to have Homeport merge the entry itself")


def _last_line(output: bytes) -> str:
    lines = [line.strip() for line in output.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""
