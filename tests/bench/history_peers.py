"""The tool search_history over MCP on stdin and stdout: Homeport beside neosian, on the same turns."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, Self

from homeport.server.state.history.instants import stamp
from homeport.server.state.history.store import History
from homeport.server.state.history.turns import Message
from tests.bench.processes import environment
from tests.bench.turns import USER, made_turns

QUERIES: Final = {"hit, one turn in 1000": "quarterly", "hit, one turn": "needle-in-the-middle", "miss": "zzqqxx"}


class Server:
    """A server in its own process, as a context."""

    def __init__(self, words: Sequence[str], home: Path) -> None:
        self._process = subprocess.Popen(
            words, env=environment(home), cwd=home, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._number = 0

    def __enter__(self) -> Self:
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(self, *failure: object) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()

    def ask(self, method: str, parameters: Mapping[str, Any]) -> Any:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters})
        assert self._process.stdout is not None
        while True:
            answer = json.loads(self._process.stdout.readline())
            if answer.get("id") == self._number:
                return answer["result"]

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()


def bench(peers: Path, runs: int, count: int = 50_000) -> None:
    """peers: the folder of throw-away installs, with neosian/bin/python."""
    python = peers.absolute() / "neosian" / "bin" / "python"
    if not python.exists():
        print(f"\nneosian is left out: there is no {python}")
        return
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder) / "ours", Path(folder) / "theirs"
        ours.mkdir(mode=0o700)
        _fill(ours, theirs, count)
        homeport = [sys.executable, "-m", "homeport", "serve", "--root", str(ours), "--scope", USER]
        neosian = [str(python), "-m", "neosian.mcp", "--root", str(theirs), "--scope", USER]
        print(f"\nsearch_history over MCP, {count:,} turns\n{'':26}{'homeport ms':>12}{'neosian ms':>12}")
        with Server(homeport, Path(folder)) as first, Server(neosian, Path(folder)) as second:
            for name, query in QUERIES.items():
                rounds = [(_time_ms(first, query), _time_ms(second, query)) for _ in range(runs + 1)][1:]
                medians = [statistics.median(column) for column in zip(*rounds, strict=True)]
                print(f"{name:26}{medians[0]:12.1f}{medians[1]:12.1f}")


def _time_ms(server: Server, query: str) -> float:
    started = time.perf_counter()
    result = server.ask("tools/call", {"name": "search_history", "arguments": {"query": query}})
    assert not result.get("isError"), result
    return (time.perf_counter() - started) * 1000


def _fill(ours: Path, theirs: Path, count: int) -> None:
    with closing(History(ours / "history.db")) as history:
        for conversation, group in groupby(made_turns(count), key=itemgetter(0)):
            turns = [turn for _, turn in group]
            history.land(conversation, turns, time.monotonic() + 600)
            folder = theirs / "conversations" / conversation.id
            folder.mkdir(parents=True)
            lines = [
                {
                    "neosian_format": 1, "turn": number, "created_at": stamp(turn.instant), "actor": turn.actor,
                    "messages": [_theirs(message) for message in turn.messages],
                }
                for number, turn in enumerate(turns, 1)
            ]  # fmt: skip
            (folder / "turns.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def _theirs(message: Message) -> dict[str, Any]:
    return {
        "role": message.role, "content": message.text, "reasoning": None,
        "tool_calls": [call._asdict() for call in message.calls], "tool_call_id": message.call or None,
    }  # fmt: skip
