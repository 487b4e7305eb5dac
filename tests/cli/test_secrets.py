"""No command shows a credential, whatever it does and however it is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import run, write

KEY = "sk-" + "Zq4wX9rT2yU7iO1pA5sD"
PASSWORD = "hunter2-Zq4w"
HIDDEN = (KEY, PASSWORD)

ENTRY = {
    "command": "npx",
    "args": ["-y", "rota", "--api-key", PASSWORD, f"--token={PASSWORD}", KEY, f"postgres://nora:{PASSWORD}@db/x"],
    "env": {"ROTA_TOKEN": PASSWORD, "DAY": KEY},
}
REMOTE = {
    "url": f"https://nora:{PASSWORD}@x.example/mcp?api_key={KEY}",
    "headers": {"Authorization": f"Bearer {KEY}", "X-Api-Key": PASSWORD},
}
TOML = f'''[mcp_servers.rota]
command = "npx"
args = ["--api-key", "{PASSWORD}", "-H", "X-Api-Key: {PASSWORD}"]
[mcp_servers.rota.env]
ROTA_TOKEN = "{PASSWORD}"
[mcp_servers.feed]
url = "https://x.example/mcp?api_key={KEY}"
http_headers = {{ "X-Api-Key" = "{PASSWORD}" }}
'''
MINE = {"command": "homeport", "args": ["serve"], "env": {"HOMEPORT_POSTGRES_DSN": f"postgres://n:{PASSWORD}@db/x"}}


@pytest.fixture
def full(home: Path, project: Path) -> Path:
    """Every client's files hold credentials, in entries of others' and in one of ours."""
    servers = {"rota": ENTRY, "feed": REMOTE, "homeport": MINE}
    common = json.dumps({"mcpServers": servers}, indent=2)
    write(home / ".cursor/mcp.json", common)
    write(home / ".claude.json", common)
    write(home / ".config/Claude/claude_desktop_config.json", common)
    write(home / ".codex/config.toml", TOML)
    local = {"type": "local", "command": ["npx", "--api-key", PASSWORD], "environment": {"ROTA_TOKEN": PASSWORD}}
    write(
        home / ".config/opencode/opencode.json",
        json.dumps({"mcp": {"rota": local, "feed": {"type": "remote", **REMOTE}}}),
    )
    write(home / ".config/muse/settings.json", json.dumps({"schema_version": 1, "mcpServers": servers}))
    write(project / ".mcp.json", common)
    write(project / ".cursor/mcp.json", common)
    write(home / "snippet.json", common)
    return home


OTHER = ("--name", "rota", "--env", f"ROTA_TOKEN={PASSWORD}")
BEHIND = ("--", "npx", "--api-key", KEY)
MODES = (
    (),
    ("--json",),
    ("--diff",),
    ("--check",),
    ("--diff", "--json"),
    ("--write", "--via", "file"),
    ("--write", "--json"),
)
LINES = {
    "list": (("list",), ()),
    "list, JSON": (("list", "--json"), ()),
    "status": (("status",), ()),
    "status, JSON": (("status", "--json"), ()),
    **{
        f"{name}{' '.join(('', *mode))}": ((*words, *mode), behind)
        for mode in MODES
        for name, words, behind in (
            ("bundled", ("install", "--client", "all"), ()),
            ("bundled for a project", ("install", "--client", "all", "--level", "project"), ()),
            ("refused", ("install", "--client", "all", *OTHER), BEHIND),
            ("allowed", ("install", "--client", "all", *OTHER, "--allow-secret"), BEHIND),
            ("replaced", ("install", "--client", "all", "--replace", *OTHER, "--allow-secret"), BEHIND),
            ("a URL", ("install", "--client", "all", "--name", "feed", "--allow-secret", REMOTE["url"],
                       "--header", f"Authorization: Bearer {KEY}"), ()),
            ("a snippet", ("install", "--client", "all", "--from", "SNIPPET", "--allow-secret"), ()),
            ("taken out", ("uninstall", "--client", "all", "--level", "all"), ()),
            ("another taken out", ("uninstall", "rota", "--client", "all", "--replace"), ()),
        )
    },
    "the common shape": (("install", "--client", "mcp-json", *OTHER, "--allow-secret"), BEHIND),
    "the common shape, JSON": (("install", "--client", "mcp-json", *OTHER, "--allow-secret", "--json"), BEHIND),
}  # fmt: skip


@pytest.mark.parametrize("case", LINES)
def test_no_credential_is_shown(case: str, full: Path) -> None:
    words, behind = LINES[case]
    done = run(*(str(full / "snippet.json") if word == "SNIPPET" else word for word in words), *behind)
    shown = (done.stdout + done.stderr).decode()
    assert done.exit in (0, 1, 3), shown
    assert [secret for secret in HIDDEN if secret in shown] == []
    assert "Traceback" not in shown


def test_nor_when_it_is_taken_back(full: Path) -> None:
    run("install", "--client", "all", "--replace", *OTHER, "--allow-secret", "--write", "--via", "file", *BEHIND)
    for words in (("undo", "--list"), ("undo", "--diff"), ("undo", "--json"), ("undo",), ("undo", "--write")):
        done = run(*words)
        shown = (done.stdout + done.stderr).decode()
        assert [secret for secret in HIDDEN if secret in shown] == [], words


def test_what_was_given_with_allow_secret_is_what_is_written(home: Path, project: Path) -> None:
    done = run("install", "--client", "cursor", *OTHER, "--allow-secret", "--write", *BEHIND)
    entry = json.loads((home / ".cursor/mcp.json").read_bytes())["mcpServers"]["rota"]
    assert (done.exit, entry["env"], entry["args"]) == (0, {"ROTA_TOKEN": PASSWORD}, ["--api-key", KEY])


def test_the_journal_is_private_and_holds_no_neighbours_credential(full: Path) -> None:
    run("install", "--client", "cursor", "--name", "tally", "--write", "--", "/opt/tally")
    records = [path for path in (full / ".local/state/homeport").rglob("*") if path.is_file()]
    assert records
    assert [path.name for path in records if path.stat().st_mode & 0o077] == []
    assert [path.name for path in records for secret in HIDDEN if secret.encode() in path.read_bytes()] == []
