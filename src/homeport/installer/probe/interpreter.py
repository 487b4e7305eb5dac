"""Does the command that is about to be written start Homeport?"""

from __future__ import annotations

import subprocess
from typing import Final

from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.installer.clients.values import Stdio

_TIME_LIMIT_S: Final = 20.0

# What every client passes on; PYTHONPATH and PYTHONHOME are not among it, and that is the point.
_PASSED: Final = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "USERPROFILE", "APPDATA")


def check_starts(server: Stdio, environment: Environment) -> None:
    """Start the bundled server's command with --version, from a neutral folder and a short environment.

    Raises HomeportError: interpreter_unstable, where it does not answer: it imports Homeport from the working folder
    or a PYTHONPATH that clients do not have.
    """
    words = [server.command.shown(), *(text.shown() for text in server.args)]
    command = [*words[: words.index("serve")], "--version"]
    passed = {name: environment.variables[name] for name in _PASSED if name in environment.variables}
    neutral = environment.python.anchor or "/"
    try:
        done = subprocess.run(
            command, cwd=neutral, env=passed, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIME_LIMIT_S
        )
        answered = done.returncode == 0 and b"homeport" in done.stdout
    except (OSError, subprocess.TimeoutExpired):
        answered = False
    if not answered:
        raise HomeportError(
            "interpreter_unstable",
            f"{' '.join(command)} does not start Homeport from another folder, so a client could not start it either",
            "install Homeport into that interpreter, or for good with `uv tool install homeport`",
        )
