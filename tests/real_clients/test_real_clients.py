"""The real Claude Code, Codex and OpenCode connect to what Homeport wrote, and no longer see it after uninstall."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.harness import Completed, run_homeport
from tests.real_clients.clients import Machine, program

SERVER = Path(__file__).parent / "logging_server.py"
CLIENTS = ("claude-code", "codex", "opencode")
PROGRAM = {"claude-code": "claude", "codex": "codex", "opencode": "opencode"}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def homeport(machine: Machine, *words: str) -> Completed:
    done = run_homeport(*words, home=machine.home, cwd=machine.project, variables=machine.environment)
    assert done.exit == 0, (done.stdout + done.stderr).decode()
    return done


def pass_the_gate(machine: Machine, client: str, name: str) -> None:
    if client == "codex":
        machine.trust_codex()
    elif client == "claude-code":
        machine.approve_claude(name)


def starts(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


@pytest.mark.parametrize("level", ["user", "project"])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_server_is_connected_with_its_arguments_variables_and_folder(
    machine: Machine, client: str, level: str, tmp_path: Path
) -> None:
    program(PROGRAM[client])
    log = tmp_path / "started.log"
    odd = ["--title", "Журнал №1", "-x", "a b"]
    words = ["--client", client, "--level", level, "--name", "ledger", "--env", "LEDGER_TOKEN", "--env", "ZONE=b c"]
    command = ["--", sys.executable, str(SERVER), str(log), *odd]
    homeport(machine, "install", *words, "--write", "--via", "file", *command)
    if level == "project" and client != "opencode":
        assert not machine.connected(client, "ledger"), "seen before the gate was passed"
        assert starts(log) == []
        pass_the_gate(machine, client, "ledger")
    assert machine.connected(client, "ledger")
    started = starts(log)[-1]
    assert started["argv"] == odd
    assert {name: started["env"].get(name) for name in ("LEDGER_TOKEN", "ZONE")} == {
        "LEDGER_TOKEN": "by reference",
        "ZONE": "b c",
    }
    assert started["cwd"] == str(machine.project)
    homeport(machine, "uninstall", "ledger", "--client", client, "--level", level, "--write", "--via", "file")
    assert not machine.knows(client, "ledger")


@pytest.mark.parametrize("level", ["user", "project"])
@pytest.mark.parametrize("client", CLIENTS)
def test_the_bundled_server_is_connected_and_gone_after_uninstall(machine: Machine, client: str, level: str) -> None:
    program(PROGRAM[client])
    words = ["--client", client, "--level", level, "--write", "--via", "file"]
    # --force: CI may keep its interpreter in a temporary folder, which a person is warned of.
    homeport(machine, "install", *words, "--force")
    if level == "project":
        pass_the_gate(machine, client, "homeport")
    assert machine.connected(client, "homeport")
    homeport(machine, "uninstall", *words)
    assert not machine.knows(client, "homeport")


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_the_clients_own_command_registers_updates_and_removes(machine: Machine, client: str, tmp_path: Path) -> None:
    program(PROGRAM[client])
    log = tmp_path / "started.log"
    install = ["install", "--client", client, "--name", "ledger", "--env", "ZONE=b c", "--write", "--via", "cli", "--"]
    homeport(machine, *install, sys.executable, str(SERVER), str(log), "one")
    assert machine.connected(client, "ledger")
    homeport(machine, *install, sys.executable, str(SERVER), str(log), "two", "-x")
    assert machine.connected(client, "ledger")
    assert [started["argv"] for started in starts(log)][-1] == ["two", "-x"]
    assert starts(log)[-1]["env"]["ZONE"] == "b c"
    homeport(machine, "uninstall", "ledger", "--client", client, "--write", "--via", "cli")
    assert not machine.knows(client, "ledger")


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_the_printed_command_does_what_it_says(machine: Machine, client: str, tmp_path: Path) -> None:
    program(PROGRAM[client])
    log = tmp_path / "started.log"
    words = ["install", "--client", client, "--name", "ledger", "--env", "ZONE=b c", "--json", "--"]
    printed = homeport(machine, *words, sys.executable, str(SERVER), str(log), "--flag", "-x", "a'b")
    command = printed.envelope["result"]["clients"][0]["apply_command"]
    machine.run(*command)
    assert machine.connected(client, "ledger")
    assert starts(log)[-1]["argv"] == ["--flag", "-x", "a'b"]


def test_claude_code_has_nothing_to_complain_about(machine: Machine, tmp_path: Path) -> None:
    program("claude")
    homeport(machine, "install", "--client", "claude-code", "--level", "project", "--write", "--force")
    homeport(
        machine, "install", "--client", "claude-code", "--name", "far", "--level", "project", "--write",
        "http://127.0.0.1:9/mcp",
    )  # fmt: skip
    said = machine.run("claude", "mcp", "list")
    assert "homeport:" in said
    assert "far:" in said
    assert not any(word in said for word in ("Warning", "Error", "Invalid", "Skipped")), said
