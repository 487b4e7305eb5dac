"""A: variables are handed on by reference, in the client's own spelling, and credentials not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.machine import (
    COMMAND,
    PROJECT,
    Home,
    entry,
    refused,
    said,
)

URL = "http://127.0.0.1:4410/mcp"
SECRET = "zq-test-0000-not-real"


@pytest.mark.parametrize("client", ["claude-code", "cursor", "opencode", "codex", "muse-code"])
@pytest.mark.parametrize(
    "words",
    [
        ["--env", f"LEDGER_API_KEY={SECRET}", "--", COMMAND],
        ["--", COMMAND, "--token", SECRET],
        ["--", COMMAND, f"--api-key={SECRET}"],
        [URL, "--header", f"Authorization: Bearer {SECRET}"],
        [f"http://ann:{SECRET}@127.0.0.1:1/mcp"],
        [f"{URL}?token={SECRET}"],
        None,
    ],
    ids=["env", "argument", "joined", "header", "url", "query", "snippet"],
)
def test_a12_a_credential_is_neither_written_nor_shown(tmp_path: Path, client: str, words: list[str] | None) -> None:
    home = Home(tmp_path, quick=True)
    home.file(f"{PROJECT}/.mcp.json", '{ "mcpServers": {} }')
    if words is None:
        snippet = {"mcpServers": {"ledger": {"command": COMMAND, "env": {"LEDGER_API_KEY": SECRET}}}}
        words = ["--from", str(home.file("pasted.json", json.dumps(snippet)))]
    for more in ([], ["--json"], ["--allow-secret"]):
        done = home.install(client, *more, "--name", "ledger", *words, level="project")
        assert done.exit == 1
        assert SECRET not in said(done)
        refused(home, home.install(client, *more, "--name", "ledger", *words, level="project"))


def test_a12_a_reference_is_written_in_its_place(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.install("claude-code", "--name", "ledger", "--env", "LEDGER_API_KEY", "--", COMMAND, level="project",
                 variables={"LEDGER_API_KEY": SECRET})  # fmt: skip
    assert home.value(f"{PROJECT}/.mcp.json", "mcpServers", "ledger", "env") == {"LEDGER_API_KEY": "${LEDGER_API_KEY}"}


UNSUPPORTED = "reference_unsupported"
# Where a reference stands, and what each client gets: its own spelling, or a refusal.
REFERENCES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "env": (
        ["--env", "T", "--", COMMAND],
        {"claude-code": ("env", {"T": "${T}"}), "cursor": ("env", {"T": "${env:T}"}), "codex": ("env_vars", ["T"]),
         "opencode": ("environment", {"T": "{env:T}"}), "muse-code": ("env", {"T": "${T}"}),
         "claude-desktop": UNSUPPORTED},
    ),
    "renamed": (
        ["--env", "A=${T}", "--", COMMAND],
        {"claude-code": ("env", {"A": "${T}"}), "cursor": ("env", {"A": "${env:T}"}), "codex": UNSUPPORTED,
         "opencode": ("environment", {"A": "{env:T}"}), "muse-code": ("env", {"A": "${T}"}),
         "claude-desktop": UNSUPPORTED},
    ),
    "argument": (
        ["--", COMMAND, "--zone=${T}"],
        {"claude-code": ("args", ["--zone=${T}"]), "cursor": ("args", ["--zone=${env:T}"]), "codex": UNSUPPORTED,
         "opencode": ("command", [COMMAND, "--zone={env:T}"]), "muse-code": UNSUPPORTED,
         "claude-desktop": UNSUPPORTED},
    ),
    "bearer": (
        [URL, "--header", "Authorization: Bearer ${T}"],
        {"claude-code": ("headers", {"Authorization": "Bearer ${T}"}),
         "cursor": ("headers", {"Authorization": "Bearer ${env:T}"}), "codex": ("bearer_token_env_var", "T"),
         "opencode": ("headers", {"Authorization": "Bearer {env:T}"}), "muse-code": UNSUPPORTED,
         "claude-desktop": "transport_unsupported"},
    ),
    "header": (
        [URL, "--header", "X-Key: ${env:T}"],
        {"claude-code": ("headers", {"X-Key": "${T}"}), "cursor": ("headers", {"X-Key": "${env:T}"}),
         "codex": ("env_http_headers", {"X-Key": "T"}), "opencode": ("headers", {"X-Key": "{env:T}"}),
         "muse-code": UNSUPPORTED, "claude-desktop": "transport_unsupported"},
    ),
    "url": (
        ["http://127.0.0.1:1/{env:T}/mcp"],
        {"claude-code": ("url", "http://127.0.0.1:1/${T}/mcp"), "cursor": ("url", "http://127.0.0.1:1/${env:T}/mcp"),
         "codex": UNSUPPORTED, "opencode": ("url", "http://127.0.0.1:1/{env:T}/mcp"), "muse-code": UNSUPPORTED,
         "claude-desktop": "transport_unsupported"},
    ),
    "default": (
        ["--env", "A=${T:-b}", "--", COMMAND],
        {"claude-code": ("env", {"A": "${T:-b}"}), "cursor": UNSUPPORTED, "codex": UNSUPPORTED,
         "opencode": UNSUPPORTED, "muse-code": ("env", {"A": "${T:-b}"}), "claude-desktop": UNSUPPORTED},
    ),
}  # fmt: skip


@pytest.mark.parametrize("client", ["claude-code", "cursor", "codex", "opencode", "muse-code", "claude-desktop"])
@pytest.mark.parametrize("where", REFERENCES)
def test_a13_a_reference_is_in_the_clients_own_spelling_or_refused(tmp_path: Path, where: str, client: str) -> None:
    home = Home(tmp_path, quick=True)
    words, expected = REFERENCES[where][0], REFERENCES[where][1][client]
    # The value is set here and must not come out.
    done = home.install(client, "--json", "--name", "ledger", *words, variables={"T": "the-value-itself"})
    assert "the-value-itself" not in said(done)
    if isinstance(expected, str):
        error = done.envelope["error"]
        assert (done.exit, error["code"], home.litter()) == (1, expected, set())
        assert ("T" in error["message"] and bool(error["hint"])) or expected != UNSUPPORTED
        return
    key, value = expected
    assert (done.exit, entry(done)[key]) == (0, value)
    assert done.envelope["result"]["clients"][0]["requires_env"] == ["T"]


@pytest.mark.parametrize("pasted", ["${T}", "${env:T}", "{env:T}", "$T"])
@pytest.mark.parametrize(
    ("client", "spelled"),
    [("claude-code", "${T}"), ("cursor", "${env:T}"), ("opencode", "{env:T}"), ("codex", None), ("muse-code", None)],
)
def test_a13_whatever_spelling_was_pasted(tmp_path: Path, client: str, spelled: str | None, pasted: str) -> None:
    home = Home(tmp_path, quick=True)
    done = home.run("install", "--client", client, "--name", "ledger", "--json", "--", COMMAND, f"--key={pasted}")
    if spelled is None:
        assert (done.exit, done.envelope["error"]["code"]) == (1, UNSUPPORTED)
    else:
        found = entry(done)
        assert (found.get("args") or found["command"])[-1] == f"--key={spelled}"


def test_a13_claude_desktop_cannot_forward_a_variable_and_the_message_names_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    done = home.install("claude-desktop", "--name", "ledger", "--env", "LEDGER_TOKEN", "--", COMMAND)
    refused(home, done, "LEDGER_TOKEN", "Claude Desktop")
