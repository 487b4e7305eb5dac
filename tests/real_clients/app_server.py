"""`codex app-server`, asked in JSON lines for the servers it shook hands with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TIME_LIMIT_S = 90


def servers(command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> dict[str, Any]:
    """What `mcpServerStatus/list` says of each server in a thread of `folder`, by name; none that gave no tools."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    # Not reaped before the `finally`, so the group is this process's own.
    watchdog = threading.Timer(TIME_LIMIT_S, os.killpg, (process.pid, signal.SIGKILL))
    watchdog.start()
    try:
        return _servers(process, folder)
    finally:
        watchdog.cancel()
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _servers(process: subprocess.Popen[bytes], folder: Path) -> dict[str, Any]:
    _ask(process, 1, "initialize", {"clientInfo": {"name": "homeport-tests", "version": "1", "title": None}})
    _send(process, {"method": "initialized"})
    thread = _ask(process, 2, "thread/start", {"cwd": str(folder), "ephemeral": True})["thread"]["id"]
    listed = _ask(process, 3, "mcpServerStatus/list", {"threadId": thread})["data"]
    return {one["name"]: one for one in listed if one.get("tools")}


def _ask(process: subprocess.Popen[bytes], number: int, method: str, parameters: dict[str, Any]) -> Any:
    _send(process, {"id": number, "method": method, "params": parameters})
    assert process.stdout is not None
    for line in process.stdout:
        answer = json.loads(line)
        # Notifications come in between.
        if answer.get("id") == number:
            assert "error" not in answer, answer
            return answer["result"]
    raise AssertionError(f"codex app-server ended before it answered {method}")


def _send(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()
