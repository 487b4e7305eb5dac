"""How tests run the program: as a person does, in a home of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

TIME_LIMIT_S = 120


@dataclass(frozen=True, slots=True)
class Completed:
    """What one run gave."""

    exit: int
    stdout: bytes
    stderr: bytes

    @property
    def envelope(self) -> dict[str, Any]:
        """The one line of `--json`."""
        assert self.stdout.count(b"\n") == 1 and self.stdout.endswith(b"\n"), self.stdout
        loaded = json.loads(self.stdout)
        assert isinstance(loaded, dict)
        return loaded


def run_homeport(
    *arguments: str,
    home: Path,
    cwd: Path | None = None,
    variables: Mapping[str, str] | None = None,
    input: bytes = b"",
) -> Completed:
    """`python -m homeport ARGUMENTS` in a minimal environment: HOME, PATH and what `variables` adds."""
    done = subprocess.run(
        [sys.executable, "-m", "homeport", *arguments],
        cwd=cwd or home,
        env={"HOME": str(home), "PATH": os.environ["PATH"], **(variables or {})},
        input=input,
        capture_output=True,
        timeout=TIME_LIMIT_S,
    )
    return Completed(done.returncode, done.stdout, done.stderr)


def needs(program: str) -> str:
    """The program's path. Without it a test is skipped at home, with the reason, and fails in CI."""
    found = shutil.which(program)
    if found is None:
        message = f"{program} is not installed"
        if os.environ.get("CI"):
            pytest.fail(f"{message}: .ci/run has to install it")
        pytest.skip(message)
    return found
