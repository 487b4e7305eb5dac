"""A command line run in this process, for a made machine or for a home that a test made."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path

from homeport.cli.main import main
from homeport.disk import Disk
from homeport.environment import Environment
from tests.harness import Completed


def run(*arguments: str, environment: Environment | None = None, disk: Disk | None = None) -> Completed:
    """Exit code and both streams, which are no terminal and speak UTF-8."""
    with _captured() as (stdout, stderr):
        code = main(arguments, environment, disk)
    return Completed(code, stdout.getvalue(), stderr.getvalue())


@contextlib.contextmanager
def _captured() -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    stdout, stderr = io.BytesIO(), io.BytesIO()
    texts = [io.TextIOWrapper(stream, encoding="utf-8") for stream in (stdout, stderr)]
    with contextlib.redirect_stdout(texts[0]), contextlib.redirect_stderr(texts[1]):
        yield stdout, stderr
    for text in texts:
        text.detach()


def transcript(line: str, done: Completed) -> bytes:
    """As it would look in a terminal, with the streams apart."""
    return b"".join(
        (
            f"$ homeport {line}\n".encode(),
            done.stdout,
            b"--- stderr\n" + done.stderr if done.stderr else b"",
            f"--- exit {done.exit}\n\n".encode(),
        )
    )


def write(path: Path, content: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
