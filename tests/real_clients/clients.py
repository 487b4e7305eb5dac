"""The real programs, driven without an account: what each says of its servers."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.harness import needs
from tests.real_clients import app_server

ROOT = Path(__file__).parent.parent.parent
PROGRAMS = ROOT / ".real-clients" / "node_modules" / ".bin"
PROGRAM = {"claude-code": "claude", "codex": "codex", "opencode": "opencode"}
TIME_LIMIT_S = 120
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")

# Each client's own words of a server that it shook hands with.
_CONNECTED = {
    "claude-code": r"^{name}: .* - ✔ Connected$",
    "opencode": r"✓ {name} connected",
}
_LISTED = {"claude-code": r"^(\S+): ", "opencode": r"^●\s+\S (\S+) ", "codex": r"^(?!Name\b)(\S+) .* (?:en|dis)abled "}
_COMPLAINTS = re.compile(r"warning|invalid|skipped|diagnostic|conflict", re.IGNORECASE)


def program(client: str) -> Path:
    """A real client's program. Missing: skipped at home, with the way to get it; a failure in CI."""
    return tool(PROGRAM[client])


def tool(name: str) -> Path:
    """A program that `make clients` fetches. Missing: skipped at home, with the way to get it; a failure in CI."""
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
        subprocess.run([needs("git"), "init", "-q", str(self.project)], check=True)
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

    def run(self, client: str, *words: str) -> str:
        """What a client prints in the project's folder, both ends together, colours taken out."""
        return _COLOUR.sub("", output([str(program(client)), *words], self.project, self.environment))

    def pass_the_gate(self, client: str, name: str) -> None:
        """Trust the project, or approve the server, as the client itself writes it when a person says yes."""
        if client == "codex":
            with (self.home / ".codex" / "config.toml").open("a") as file:
                file.write(f'\n[projects."{self.project}"]\ntrust_level = "trusted"\n')
        elif client == "claude-code":
            settings = self.project / ".claude" / "settings.local.json"
            settings.parent.mkdir(exist_ok=True)
            settings.write_text(json.dumps({"enabledMcpjsonServers": [name]}))

    def connected(self, client: str, name: str) -> bool:
        """Whether the client says that it shook hands with the server. Claude Code must have no complaint beside it."""
        if client == "codex":
            command = [str(program("codex")), "app-server"]
            return name in app_server.servers(command, self.project, self.environment)
        said = self.run(client, "mcp", "list")
        assert client != "claude-code" or not _COMPLAINTS.search(said), said
        return re.search(_CONNECTED[client].format(name=name), said, re.MULTILINE) is not None

    def listed(self, client: str) -> set[str]:
        """The names of all servers that the client knows of, connected or not."""
        return set(re.findall(_LISTED[client], self.run(client, "mcp", "list"), re.MULTILINE))


def output(words: Sequence[str], folder: Path, variables: Mapping[str, str]) -> str:
    """Both streams of a process with a session of its own, which ends with it when the time is over."""
    process = subprocess.Popen(
        words,
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        return process.communicate(timeout=TIME_LIMIT_S)[0].decode()
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
