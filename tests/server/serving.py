"""A server as a real process, spoken to in bytes."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

INITIALIZE: dict[str, Any] = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "raw", "version": "1"},
}


class Serving:
    """`homeport serve` under `home`. As a context it is ended, and fails the test if it had to be killed."""

    def __init__(
        self, home: Path, *arguments: str, cwd: Path | None = None, variables: Mapping[str, str] | None = None
    ) -> None:
        environment = {"PATH": os.defpath, "HOME": str(home.parent), "PYTHONDONTWRITEBYTECODE": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "homeport", "serve", "--root", str(home), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd or home.parent,
            env={**environment, **(variables or {})},
        )
        self._left = b""
        self._next_id = 100

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        if self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            self.process.wait(10)
        finally:
            self.process.kill()
            self.process.wait()
            for stream in (self.process.stdout, self.process.stderr):
                assert stream is not None
                stream.close()

    def send(self, *lines: bytes | Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        encoded = [line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines]
        self.process.stdin.write(b"".join(encoded))
        self.process.stdin.flush()

    def line(self, timeout_s: float = 20.0) -> bytes:
        """The next line of stdout, with its end; empty at the end of the stream."""
        assert self.process.stdout is not None
        deadline_s = time.monotonic() + timeout_s
        while b"\n" not in self._left:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline_s - time.monotonic()))
            if not ready:
                raise AssertionError(f"no line in {timeout_s} s; so far {self._left[:500]!r}")
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                line, self._left = self._left, b""
                return line
            self._left += data
        line, _, self._left = self._left.partition(b"\n")
        return line + b"\n"

    def receive(self, timeout_s: float = 20.0) -> dict[str, Any]:
        message = json.loads(self.line(timeout_s))
        assert isinstance(message, dict)
        return message

    def answers(self, number: int) -> dict[Any, dict[str, Any]]:
        """The next answers by their id: a call takes longer than a ping that was sent after it."""
        messages = [self.receive() for _ in range(number)]
        return {message["id"]: message for message in messages}

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and give its answer; nothing else may be on the way."""
        self._next_id += 1
        self.send({"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": dict(params or {})})
        answer = self.receive()
        assert answer["id"] == self._next_id
        return answer

    def initialize(self, **params: Any) -> dict[str, Any]:
        answer = self.request("initialize", {**INITIALIZE, **params})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def memory(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Call the tool and give its envelope."""
        answer = self.request("tools/call", {"name": "memory", "arguments": {"command": command, **arguments}})
        envelope = answer["result"]["structuredContent"]
        assert isinstance(envelope, dict)
        return envelope

    def end(self) -> tuple[int, bytes, bytes]:
        """Close stdin and wait: exit code, what was left on stdout, stderr."""
        assert self.process.stdin and self.process.stderr and self.process.stdout
        self.process.stdin.close()
        code = self.process.wait(15)
        return code, self._left + self.process.stdout.read(), self.process.stderr.read()


def call(id: int, command: str, **arguments: Any) -> dict[str, Any]:
    """A tools/call request, to be sent without waiting."""
    params = {"name": "memory", "arguments": {"command": command, **arguments}}
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
