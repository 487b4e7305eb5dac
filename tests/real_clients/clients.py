"""The real programs, driven without an account: what each says of its servers."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
PROGRAMS = ROOT / ".real-clients" / "node_modules" / ".bin"
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def program(name: str) -> Path:
    """A real client's program. Missing: skipped at home, with the way to get it; a failure in CI."""
    path = PROGRAMS / name
    if not path.exists():
        message = f"the real {name} is not here; `make clients` fetches it"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return path


class Machine:
    """A throw-away home with a git project in it, in which the real clients count as installed."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = self.home / "work" / "depot"
        for name in (".claude", ".codex", ".config/opencode"):
            (self.home / name).mkdir(parents=True)
        self.project.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        self.temporary = folder / "tmp"
        self.temporary.mkdir()

    @property
    def environment(self) -> dict[str, str]:
        node = Path(shutil.which("node") or "/usr/bin/node").parent
        return {
            "HOME": str(self.home),
            "PATH": f"{PROGRAMS}:{node}:/usr/bin:/bin",
            "TMPDIR": str(self.temporary),
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "LEDGER_TOKEN": "by reference",
        }

    def run(self, *words: str, cwd: Path | None = None) -> str:
        """What a client prints, both ends together, colours taken out."""
        done = subprocess.run(
            [str(program(words[0])), *words[1:]],
            cwd=cwd or self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
        )
        return _COLOUR.sub("", done.stdout.decode())

    def trust_codex(self) -> None:
        """As Codex itself writes it when a person trusts the folder."""
        with (self.home / ".codex" / "config.toml").open("a") as file:
            file.write(f'\n[projects."{self.project}"]\ntrust_level = "trusted"\n')

    def approve_claude(self, name: str) -> None:
        """As Claude Code's own dialog writes it."""
        settings = self.project / ".claude" / "settings.local.json"
        settings.parent.mkdir(exist_ok=True)
        settings.write_text(json.dumps({"enabledMcpjsonServers": [name]}))

    def connected(self, client: str, name: str) -> bool:
        """Whether the client itself says that it shook hands with the server of that name."""
        match client:
            case "claude-code":
                return any(
                    line.startswith(f"{name}:") and "Connected" in line
                    for line in self.run("claude", "mcp", "list").splitlines()
                )
            case "opencode":
                return f"✓ {name} connected" in self.run("opencode", "mcp", "list")
        return name in self.codex_servers()

    def knows(self, client: str, name: str) -> bool:
        """Whether the client lists the server at all."""
        match client:
            case "claude-code":
                return f"{name}:" in self.run("claude", "mcp", "list")
            case "opencode":
                return name in self.run("opencode", "mcp", "list")
        return name in json.loads(_from_bracket(self.run("codex", "mcp", "list", "--json"))).__repr__()

    def codex_servers(self) -> dict[str, Any]:
        """The servers that Codex shook hands with in a thread of the project's folder, by `codex app-server`."""
        process = subprocess.Popen(
            [str(program("codex")), "app-server"],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        try:
            return _ask_codex(process, self.project)
        finally:
            process.kill()
            process.communicate()


def _ask_codex(process: subprocess.Popen[bytes], folder: Path) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    lines: Iterator[bytes] = iter(process.stdout.readline, b"")

    def ask(number: int, method: str, parameters: dict[str, Any]) -> Any:
        assert process.stdin is not None
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        for line in lines:
            answer = json.loads(line)
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]
        raise AssertionError("codex app-server ended before it answered")

    ask(1, "initialize", {"clientInfo": {"name": "homeport-tests", "version": "1", "title": None}})
    process.stdin.write(b'{"jsonrpc":"2.0","method":"initialized"}\n')
    process.stdin.flush()
    thread = ask(2, "thread/start", {"cwd": str(folder), "ephemeral": True})["thread"]["id"]
    listed = ask(3, "mcpServerStatus/list", {"threadId": thread})["data"]
    return {one["name"]: one for one in listed if one.get("tools")}


def _from_bracket(text: str) -> str:
    return text[text.index("[") :]
