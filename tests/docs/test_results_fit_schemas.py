"""What every command answers with --json, in the outcomes a person can meet, fits the schemas of docs/schemas/."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from homeport.errors import CODES
from tests.cli.running import run, write
from tests.docs.schemas import misfits
from tests.made import FOLDER, UNREADABLE, Machine, make_machine

TALLY = '{"mcpServers": {"rota": {"command": "/own.sh", "env": {"API_KEY": "abc"}}}}'
INSTALLED = (".claude", ".config/Claude", ".cursor", ".codex", ".config/opencode", ".config/muse")
OTHER = "--name rota -- /opt/rota serve"
LASTING = "--name rota -- /bin/sh serve"  # there on every machine, so its entry is not stale


class Case(NamedTuple):
    """code: of the error, None for success. files: below the home. before: what leads there: command lines, and
    deeds of BY_HAND. disk: client folders that exist."""

    line: str
    code: str | None = None
    files: Mapping[str, str] = {}
    before: tuple[str, ...] = ()
    disk: tuple[str, ...] = INSTALLED


WRITTEN = (f"install --client cursor --write {OTHER}",)
PASTED = '{"servers": {"rota": {"command": "/own.sh", "env": {"API_KEY": "${API_KEY}"}}}}'
PROJECT = (f"install --client cursor --level project --write {OTHER}",)
OFF = '{"mcp": {"homeport": {"type": "local", "command": ["/opt/homeport", "serve"], "enabled": false}}}'
DOUBLED = '{"mcpServers": {"a": {"command": "/own.sh"}, "b": {"command": "/own.sh"}}}'

_TURN = (
    '{"homeport_history":1,"conversation":"c","user":"user:x","project":"user:x/proj:p","client":"codex","turn":1,'
    '"key":"a","stamp":null,"actor":"hook:codex","messages":[{"role":"assistant","text":"amber","calls":[{"id":"t",'
    '"name":"Bash","arguments":{}}]},{"role":"tool","text":"' + "r" * 5000 + '","call":"t"}]}\n'
)
RECORDED = {"landed.jsonl": _TURN, "torn.jsonl": _TURN + "{"}
LANDED = ("history import $HOME/landed.jsonl",)
NOTED = ("memory create /user/a one",)

# What a person does to Cursor's file between two command lines.
BY_HAND: Mapping[str, Callable[[str], str]] = {
    "the entry is taken out": lambda text: '{"mcpServers": {}}',
    "another line is added": lambda text: "// mine\n" + text,
    "the type is taken out": lambda text: text.replace('"type": "stdio",', ""),
}
CASES: dict[str, Case] = {
    "install, every client": Case("install --client all"),
    "install, project": Case("install --client cursor --client opencode --level project"),
    "install, a project of one file": Case("install --client claude-desktop --level project", "level_unsupported"),
    "install, remote": Case("install --client codex --name docs --header 'A: $B' https://docs.example.com/mcp"),
    "install, the common shape": Case(f"install --client mcp-json {OTHER}"),
    "install, a snippet": Case("install --client muse-code --from $HOME/s.json", files={"s.json": PASTED}),
    "install, an empty snippet": Case(
        "install --client muse-code --from $HOME/s.json", "bad_snippet", {"s.json": "{}"}
    ),
    "install, written": Case(f"install --client cursor --write {OTHER}"),
    "install, twice": Case(f"install --client cursor --write {OTHER}", before=WRITTEN),
    "install, updated": Case("install --client cursor --write --name rota -- /opt/rota again", before=WRITTEN),
    "install, checked": Case(f"install --client cursor --check {OTHER}"),
    "install, merged for its owner": Case(f"install --client codex --write --via file {OTHER}"),
    "install, its owner's file": Case(f"install --client codex --write {OTHER}", "client_owned_file"),
    "install, its owner is away": Case(f"install --client codex --write --via cli {OTHER}", "client_not_on_path"),
    "install, nowhere": Case("install --client all", disk=()),
    "install, not installed": Case("install --client muse-code", "client_not_installed", disk=()),
    "install, skipped": Case("install --client muse-code --if-installed --write", disk=()),
    "install, foreign": Case(f"install --client cursor --write {OTHER}", "foreign_entry", {".cursor/mcp.json": TALLY}),
    "install, replaced": Case(f"install --client cursor --replace --write {OTHER}", None, {".cursor/mcp.json": TALLY}),
    "install, malformed": Case(
        f"install --client cursor --write {OTHER}", "malformed_file", {".cursor/mcp.json": "{,}"}
    ),
    "install, printed though malformed": Case(f"install --client cursor {OTHER}", None, {".cursor/mcp.json": "{,}"}),
    "install, a comment": Case(
        f"install --client claude-code --level project --write {OTHER}",
        "client_cannot_read",
        {"code/app/.mcp.json": "{} // mine"},
    ),
    "install, no version": Case(
        f"install --client muse-code --write {OTHER}", "missing_field", {".config/muse/settings.json": "{}"}
    ),
    "install, a list": Case(
        f"install --client cursor --write {OTHER}", "wrong_shape", {".cursor/mcp.json": '{"mcpServers": []}'}
    ),
    "install, twice the key": Case(
        f"install --client cursor --write {OTHER}",
        "duplicate_key",
        {".cursor/mcp.json": '{"mcpServers":{},"mcpServers":{}}'},
    ),
    "install, a secret": Case(
        "install --client cursor --name rota --env API_KEY=abcdef -- /opt/rota", "secret_literal"
    ),
    "install, a reference": Case(
        "install --client claude-desktop --name rota --env A -- /opt/rota", "reference_unsupported"
    ),
    "install, remote in one that takes none": Case(
        "install --client claude-desktop --name docs https://docs.example.com/mcp", "transport_unsupported"
    ),
    "install, a folder": Case("install --client cursor --cwd /x --name rota -- /opt/rota", "field_unsupported"),
    "install, layers": Case(
        "install --client opencode --write --name rota https://rota.example.com/mcp",
        "layers_conflict",
        {"code/app/opencode.json": '{"mcp": {"rota": {"type": "local", "command": ["/own.sh"]}}}'},
    ),
    "install, shadowed": Case(
        f"install --client cursor {OTHER}", None, {"code/app/.cursor/mcp.json": TALLY.replace("/own.sh", "/x")}
    ),
    "install, its own shadow goes": Case(f"install --client cursor --write {OTHER}", before=PROJECT),
    "install, its own shadow stays": Case(f"install --client cursor --keep-shadows --write {OTHER}", before=PROJECT),
    "install, all or nothing": Case(
        f"install --client cursor --client opencode --all-or-nothing --write {OTHER}",
        "foreign_entry",
        {".cursor/mcp.json": TALLY},
    ),
    "install, no client": Case("install", "usage_error"),
    "install, unknown client": Case("install --client curser", "unknown_client"),
    "install, bad name": Case("install --client cursor --name 'a b'", "bad_name"),
    "install, bad scope": Case("install --client cursor --scope ann?", "bad_scope"),
    "install, bad URL": Case("install --client cursor --name rota npx", "bad_url"),
    "install, a part to come": Case("install --client cursor --toolset records", "not_in_this_version"),
    "uninstall, nothing there": Case("uninstall rota --client all --level all"),
    "uninstall, printed": Case("uninstall rota --client cursor", before=WRITTEN),
    "uninstall, written": Case("uninstall rota --client cursor --write", before=WRITTEN),
    "uninstall, foreign": Case("uninstall rota --client cursor --write", "foreign_entry", {".cursor/mcp.json": TALLY}),
    "uninstall, no client": Case("uninstall", "usage_error"),
    "list": Case("list", before=WRITTEN),
    "list, foreign and unreadable": Case(
        "list", None, {".cursor/mcp.json": TALLY, ".config/opencode/opencode.json": "{,}"}
    ),
    "list, remote": Case(
        "list --client claude-code",
        None,
        {".claude.json": '{"mcpServers": {"docs": {"type": "http", "url": "https://docs.example.com/mcp"}}}'},
    ),
    "list, other projects": Case(
        "list --client claude-code", None, {".claude.json": '{"projects": {"/srv/x": ' + TALLY + "}}"}
    ),
    "list, there twice": Case("list --client cursor", None, {".cursor/mcp.json": DOUBLED}),
    "list, unknown client": Case("list --client zed", "unknown_client"),
    "status, none": Case("status"),
    "status, a lost one": Case("status", before=(*WRITTEN, "the entry is taken out")),
    "status, a stale one": Case("status --client cursor", before=WRITTEN),
    "status, hidden by the project": Case(
        "status", before=(*PROJECT, f"install --client cursor --write --keep-shadows {OTHER}")
    ),
    "status, changed by hand": Case(
        "status", before=(f"install --client cursor --write {LASTING}", "the type is taken out")
    ),
    "status, switched off": Case("status", None, {".config/opencode/opencode.json": OFF}),
    "status, waiting for approval": Case(
        "status", before=(f"install --client claude-code --level project --write {LASTING}",)
    ),
    "status, unreadable": Case("status", None, {".codex/config.toml": "[a]\n[a]\n"}),
    "status, one name": Case("status --name rota --client cursor", before=WRITTEN),
    "undo, nothing": Case("undo", "nothing_to_undo"),
    "undo, printed": Case("undo", before=WRITTEN),
    "undo, written": Case("undo --write", before=WRITTEN),
    "undo, checked": Case("undo --check", before=WRITTEN),
    "undo, refused": Case("undo --write", "undo_refused", before=(*WRITTEN, "the entry is taken out")),
    "undo, other parts changed": Case("undo --write", before=(*WRITTEN, "another line is added")),
    "undo, the list": Case("undo --list", before=(*WRITTEN, "undo --write")),
    "undo, an unknown id": Case("undo 20261201-101500-000000-abcd", "nothing_to_undo"),
    "undo, two ways at once": Case("undo --write --check", "usage_error"),
    "serve, which has no --json": Case("serve", "usage_error"),
    "docs, the list": Case("docs"),
    "docs, a page": Case("docs quickstart"),
    "docs, no such page": Case("docs nope", "usage_error"),
    "memory, the index": Case("memory view", files={".homeport/memory/user=ann/con": "x"}),
    "memory, a folder": Case("memory view /user", before=NOTED),
    "memory, a document": Case("memory view /user/a", before=NOTED),
    "memory, made": Case("memory create /user/a one"),
    "memory, replaced": Case("memory str_replace /user/a one two", before=NOTED),
    "memory, inserted": Case("memory insert /user/a 0 zero", before=NOTED),
    "memory, deleted": Case("memory delete /user/a", before=NOTED),
    "memory, renamed": Case("memory rename /user/a /user/b", before=NOTED),
    "memory, a conflict": Case("memory create /user/a two --expected-version 9", "version_conflict", before=NOTED),
    "memory, versions": Case("memory versions /user/a", before=NOTED),
    "memory, one version": Case("memory versions /user/a --show 1", before=NOTED),
    "memory, two versions": Case("memory versions /user/a --diff 1", before=NOTED),
    "memory, reverted": Case("memory revert /user/a 1", before=NOTED),
    "memory, redacted": Case("memory redact /user/a 1 --current", before=NOTED),
    "memory, still in use": Case("memory redact /user/a 1", "text_in_use", before=NOTED),
    "memory, found": Case("memory search ONE", before=NOTED),
    "memory, exported": Case("memory export $HOME/out --versions", before=NOTED),
    "memory, imported": Case("memory import $HOME/notes --into /user", None, {"notes/a": "x"}),
    "memory, imported in part": Case("memory import $HOME/notes --into /user", "import_incomplete", {"notes/con": "x"}),
    "memory, not there": Case("memory view /user/none", "document_not_found"),
    "history, nothing": Case("history list"),
    "history, listed": Case("history list", None, RECORDED, before=LANDED),
    "history, found": Case("history search amber", None, RECORDED, before=LANDED),
    "history, not found": Case("history search slate", None, RECORDED, before=LANDED),
    "history, no query": Case("history search", "usage_error"),
    "history, no term": Case("history search '\"\"'", "bad_argument"),
    "history, no such conversation": Case("history search x --conversation zz", "conversation_not_found"),
    "history, a turn": Case("history show c 1", None, RECORDED, before=LANDED),
    "history, no such turn": Case("history show c 2", "turn_not_found", RECORDED, before=LANDED),
    "history, a call": Case("history show c 1 --call t", None, RECORDED, before=LANDED),
    "history, exported": Case("history export $HOME/out.jsonl", None, RECORDED, before=LANDED),
    "history, imported": Case("history import $HOME/landed.jsonl", None, RECORDED),
    "history, imported in part": Case("history import $HOME/torn.jsonl", "import_incomplete", RECORDED),
    "memory, no address": Case("memory create", "usage_error"),
    "completion, no such shell": Case("completion ksh", "usage_error"),
    "no such command": Case("instal", "usage_error"),
}


def answer(line: str, home: Path) -> tuple[int, Any]:
    """The exit code and the envelope of one command line with --json."""
    words = shlex.split(line.replace("$HOME", str(home)))
    at = words.index("--") if "--" in words else len(words)
    done = run(*words[:at], "--json", *words[at:])
    return done.exit, done.envelope


@pytest.mark.parametrize("name", CASES)
def test_an_answer_fits_its_schema(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case, home = CASES[name], Path(os.environ["HOME"])
    (home / "code/app/.git").mkdir(parents=True)
    monkeypatch.chdir(home / "code/app")
    for folder in case.disk:
        (home / folder).mkdir(parents=True)
    for file, text in case.files.items():
        write(home / file, text)
    for line in case.before:
        if line in BY_HAND:
            edited = home / ".cursor/mcp.json"
            write(edited, BY_HAND[line](edited.read_text(encoding="utf-8")))
        else:
            assert answer(line, home)[0] == 0
    code, envelope = answer(case.line, home)
    assert misfits(envelope) == []
    assert name not in STATUSES or STATUSES[name] in statuses(envelope)
    error = envelope["error"]
    assert (error and error["code"]) == case.code
    assert error is None or code == CODES[error["code"]][0]


def statuses(envelope: Any) -> set[str]:
    return {found["status"] for client in envelope["result"]["clients"] for found in client.get("registrations", ())}


STATUSES = {
    "status, hidden by the project": "shadowed",
    "status, changed by hand": "drifted",
    "status, a stale one": "stale",
    "status, switched off": "off",
    "status, waiting for approval": "waiting",
}
HERE = "AppData/Roaming/Claude/claude_desktop_config.json"
THERE = "AppData/Local/Claude-Data/claude_desktop_config.json"


@pytest.mark.parametrize(
    ("line", "machine", "code"),
    [
        pytest.param(
            "install --client claude-desktop",
            make_machine("win32", {f"~/{HERE}": b"{}", f"~/{THERE}": b"{}"}),
            "ambiguous_config",
            id="two files that could be read",
        ),
        pytest.param(
            "install --client cursor --check",
            make_machine(things={"~/.cursor/mcp.json": b'{"a": "\xe4"}'}),
            "unsupported_encoding",
            id="Latin-1",
        ),
        pytest.param(
            "install --client cursor --diff",
            make_machine(things={"~/.cursor/mcp.json": UNREADABLE}),
            "unreadable_file",
            id="no permission",
        ),
        pytest.param(
            "install --client cursor --check",
            make_machine(things={"~/.cursor": FOLDER}, python=".cache/uv/archive-v0/x/bin/python"),
            "interpreter_unstable",
            id="a tool runner's cache",
        ),
    ],
)
def test_an_answer_on_a_made_machine_fits_its_schema(line: str, machine: Machine, code: str) -> None:
    envelope = run(*line.split(), "--json", environment=machine.environment, disk=machine.disk).envelope
    assert misfits(envelope) == []
    assert envelope["error"]["code"] == code


@pytest.mark.parametrize("place", [(), ("result",), ("result", "clients", 0), ("result", "registrations", 0)], ids=str)
def test_a_field_that_no_page_knows_fails(place: tuple[str | int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    home = Path(os.environ["HOME"])
    (home / ".cursor").mkdir()
    monkeypatch.chdir(home)
    _, envelope = answer(f"install --client cursor {OTHER}", home)
    inner = envelope
    for key in place:
        inner = inner[key]
    inner["surprise"] = 1
    assert misfits(envelope) != []
