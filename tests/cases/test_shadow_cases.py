"""S: entries that hide ours, and whose they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from homeport.installer.clients.references import plain_text
from homeport.installer.clients.values import Registration, Stdio
from homeport.installer.plan.request import InstallRequest
from tests.cases.machine import (
    CLAUDE,
    CODEX,
    COMMAND,
    CURSOR,
    DESKTOP,
    LEDGER,
    MUSE,
    OPENCODE,
    PROJECT,
    Home,
    as_text,
    planned,
    refused,
    said,
)
from tests.made import MadeDisk, make_environment

ROTA = {"command": "/opt/rota/rota"}
# Ours by what they run: entries as an older Homeport left them.
OLD = {"type": "stdio", "command": "/old/python", "args": ["-m", "homeport", "serve"], "env": {}}
OLD_OPENCODE = {"type": "local", "command": ["/old/python", "-m", "homeport", "serve"]}
FOREIGN = {"command": "/home/nora/own.sh", "args": ["--mine"]}
# Our own server is registered. --force: the interpreter of a test may lie anywhere.
OURS = ("--force",)
# Another server, whose command is there: one that is gone would be a problem by itself.
THERE = ("--name", "ledger", "--", "/bin/sh", "-c", "exit")


def claude(home: Home, user: dict[str, Any] | None = None, **records: Any) -> None:
    projects = {str(home.project) if key == "here" else f"/srv/{key}": value for key, value in records.items()}
    home.file(CLAUDE, as_text({"mcpServers": user or {}, "projects": projects}))


def record(home: Home) -> Any:
    return home.value(CLAUDE, "projects", str(home.project))


def statuses(home: Home, client: str, name: str = "homeport") -> tuple[int, list[tuple[str, str]]]:
    done = home.run("status", "--client", client, "--name", name, "--json")
    rows = done.envelope["result"]["clients"][0]["registrations"]
    return done.exit, [(row["level"], row["status"]) for row in rows]


def test_s01_the_local_entry_goes_another_projects_stays_and_both_are_told(tmp_path: Path) -> None:
    home = Home(tmp_path)
    here = {"allowedTools": ["x"], "mcpServers": {"homeport": OLD, "rota": ROTA}}
    claude(home, here=here, other={"mcpServers": {"homeport": OLD}})
    done = home.install("claude-code", *OURS)
    assert home.value(CLAUDE, "mcpServers", "homeport", "args") == ["-m", "homeport", "serve"]
    assert record(home) == {"allowedTools": ["x"], "mcpServers": {"rota": ROTA}}
    assert home.value(CLAUDE, "projects", "/srv/other", "mcpServers", "homeport") == OLD
    assert [text for text in (str(home.project), "/srv/other") if text not in said(done)] == []
    assert statuses(home, "claude-code") == (0, [("user", "live")])
    home.run("undo", "--write")
    assert home.unchanged()


def test_s01_another_server_is_ours_where_it_runs_the_same(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    same = {"command": COMMAND, "args": ["serve"], "env": {"ZONE": "b"}}
    claude(home, here={"mcpServers": {"ledger": same}}, other={"mcpServers": {"ledger": same}})
    home.install("claude-code")
    assert record(home) == {"mcpServers": {}}
    assert home.value(CLAUDE, "projects", "/srv/other", "mcpServers", "ledger") == same


@pytest.mark.parametrize("more", [[], ["--keep-shadows"], ["--replace"]], ids=["plain", "keep", "replace"])
def test_s01_a_foreign_local_entry_is_told_with_what_it_runs_and_stays(tmp_path: Path, more: list[str]) -> None:
    home = Home(tmp_path, quick=True)
    claude(home, here={"mcpServers": {"homeport": FOREIGN}})
    row = home.install("claude-code", *OURS, *more, "--json").envelope["result"]["clients"][0]
    assert (row["outcome"], row["removed"]) == ("created", [])
    assert row["shadowed_by"] == [
        {"level": "local", "file": str(home.path / CLAUDE), "ours": False, "runs": "/home/nora/own.sh --mine"}
    ]
    assert record(home) == {"mcpServers": {"homeport": FOREIGN}}


def test_s01_a_shadow_is_kept_when_that_is_asked(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    claude(home, here={"mcpServers": {"homeport": OLD}})
    row = home.install("claude-code", *OURS, "--keep-shadows", "--json").envelope["result"]["clients"][0]
    assert ([shadow["ours"] for shadow in row["shadowed_by"]], row["removed"]) == ([True], [])
    assert record(home) == {"mcpServers": {"homeport": OLD}}


@pytest.mark.parametrize("client", ["claude-code", "cursor", "opencode", "codex"])
def test_s01_s04_a_projects_entry_of_ours_goes_with_a_user_level_write(tmp_path: Path, client: str) -> None:
    home = Home(tmp_path, quick=True)
    home.install(client, *OURS, level="project")
    kept = home.run("install", "--client", client, "--keep-shadows", "--json").envelope["result"]["clients"][0]
    assert [shadow["ours"] for shadow in kept["shadowed_by"]] == [True]
    removed = home.install(client, *OURS, "--json").envelope["result"]["clients"][0]["removed"]
    assert len(removed) == 1
    assert statuses(home, client) == (0, [("user", "live")])
    home.run("undo", "--write")
    assert home.run("status", "--client", client).exit in (0, 1)
    assert [row[0] for row in statuses(home, client)[1]] == ["project"]


FOREIGN_FILES = [
    ("cursor", CURSOR, {"mcpServers": {"ledger": FOREIGN}}),
    ("claude-code", CLAUDE, {"mcpServers": {"ledger": FOREIGN}}),
    ("claude-desktop", DESKTOP, {"mcpServers": {"ledger": FOREIGN}}),
    ("muse-code", MUSE, {"schema_version": 1, "mcpServers": {"ledger": FOREIGN}}),
    ("opencode", OPENCODE, {"mcp": {"ledger": {"type": "local", "command": ["/home/nora/own.sh", "--mine"]}}}),
]


@pytest.mark.parametrize(("client", "name", "content"), FOREIGN_FILES, ids=[row[0] for row in FOREIGN_FILES])
def test_s03_a_foreign_entry_of_the_name_is_refused_and_shown(
    tmp_path: Path, client: str, name: str, content: dict[str, Any]
) -> None:
    home = Home(tmp_path)
    home.file(name, as_text(content))
    refused(home, home.install(client), "ledger", "/home/nora/own.sh", str(home.path / name), "--replace")
    refused(home, home.uninstall(client), "ledger", "/home/nora/own.sh")
    assert home.install(client, "--replace", *LEDGER).exit == 0
    assert COMMAND.encode() in home.read(name)
    assert b"own.sh" not in home.read(name)
    home.run("undo", "--write")
    assert home.unchanged()


def test_s03_in_toml_too(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    home.file(CODEX, '[mcp_servers.ledger]\ncommand = "/home/nora/own.sh" # mine\nstartup_timeout_sec = 9\n')
    refused(home, home.install("codex"), "ledger", "/home/nora/own.sh", "line 1")


@pytest.mark.parametrize(
    "entry",
    ["/home/nora/own.sh", 7, None, [], {}, {"url": "http://127.0.0.1:9/own"}, {**FOREIGN, "args": [7]},
     {"command": COMMAND, "args": ["serve", "--other"]}, {"command": "/old/homeport-of-mine"}],
    ids=["text", "number", "null", "list", "empty", "url", "odd-args", "other-args", "name-alike"],
)  # fmt: skip
@pytest.mark.parametrize("words", [LEDGER, ("--name", "ledger", "--force")], ids=["another", "bundled"])
def test_s03_what_is_not_surely_ours_is_foreign(tmp_path: Path, entry: object, words: tuple[str, ...]) -> None:
    home = Home(tmp_path, quick=True)
    home.file(CURSOR, as_text({"mcpServers": {"ledger": entry}}))
    refused(home, home.install("cursor", *words), "ledger", "line 3")


def test_s03_a_credential_of_the_foreign_entry_is_not_shown(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    entry = {**FOREIGN, "args": ["--token", "zq-test-0000-not-real"], "env": {"API_KEY": "zq-test-0000-not-real"}}
    home.file(CURSOR, as_text({"mcpServers": {"ledger": entry}}))
    for more in ([], ["--json"], ["--diff"]):
        words = ("install", "--client", "cursor", *more, *(["--write"] if not more else []), *LEDGER)
        assert "zq-test-0000-not-real" not in said(home.run(*words))
    refused(home, home.install("cursor"), "/home/nora/own.sh")


def test_s03_what_a_person_added_to_our_entry_stays(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    home.install("cursor")
    source = home.read(CURSOR).replace(b'"command":', b'"disabled": true,\n      "command":')
    home.file(CURSOR, source)
    home.install("cursor", "--name", "ledger", "--", COMMAND, "serve", "--more")
    found = home.value(CURSOR, "mcpServers", "ledger")
    assert (list(found), found["args"]) == (["type", "disabled", "command", "args"], ["serve", "--more"])


@pytest.mark.parametrize(
    ("client", "user", "project"),
    [
        ("opencode", OPENCODE, f"{PROJECT}/opencode.json"),
        ("cursor", CURSOR, f"{PROJECT}/.cursor/mcp.json"),
        ("codex", CODEX, f"{PROJECT}/.codex/config.toml"),
        ("claude-code", CLAUDE, f"{PROJECT}/.mcp.json"),
        ("muse-code", MUSE, f"{PROJECT}/.mcp.json"),
    ],
)
def test_s04_one_server_at_two_levels_is_a_problem_that_status_tells(
    tmp_path: Path, client: str, user: str, project: str
) -> None:
    home = Home(tmp_path, quick=True)
    for level in ("user", "project"):
        home.install(client, *THERE, level=level)
    home.file(project, home.read(project))
    done = home.run("status", "--client", client)
    assert (done.exit, "the same server is there twice" in said(done)) == (1, True)
    assert [text for text in (user, project) if str(home.path / text) not in said(done)] == []
    assert home.unchanged()


def test_s04_one_server_under_two_names_is_there_twice(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    home.install("cursor", *THERE)
    alone = home.run("status", "--client", "cursor")
    home.install("cursor", "--name", "ledger-two", *THERE[2:])
    done = home.run("status", "--client", "cursor")
    assert (alone.exit, done.exit, said(done).count("twice")) == (0, 1, 2)


def test_s05_a_disabled_list_is_told_and_left_alone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    off = {"mcpServers": {}, "disabledMcpServers": ["homeport", "rota"], "disabledMcpjsonServers": []}
    claude(home, here=off)
    installed = home.install("claude-code", *OURS)
    done = home.run("status", "--client", "claude-code")
    assert (installed.exit, done.exit) == (0, 1)
    for told in (installed, done):
        assert [text for text in ("disabledMcpServers", "homeport") if text not in said(told)] == []
    assert record(home) == off


@pytest.mark.parametrize(
    ("client", "level", "file", "content", "told"),
    [
        ("claude-code", "project", f"{PROJECT}/.claude/settings.local.json",
         {"disabledMcpjsonServers": ["homeport"]}, "disabledMcpjsonServers"),
        ("claude-code", "user", ".claude/settings.json",
         {"deniedMcpServers": [{"serverName": "homeport"}]}, "deniedMcpServers"),
        ("opencode", "user", OPENCODE, {"mcp": {"homeport": {**OLD_OPENCODE, "enabled": False}}}, "enabled"),
        ("muse-code", "user", MUSE,
         {"schema_version": 1, "mcpServers": {"homeport": {**OLD, "enabled": False}}}, "enabled"),
    ],
    ids=["mcpjson", "denied", "opencode", "muse-code"],
)  # fmt: skip
def test_s05_being_switched_off_is_a_persons_choice(
    tmp_path: Path, client: str, level: str, file: str, content: dict[str, Any], told: str
) -> None:
    home = Home(tmp_path, quick=True)
    home.file(file, as_text(content))
    home.install(client, *OURS, level=level)
    done = home.run("status", "--client", client)
    assert (done.exit, told in said(done), " off" in said(done)) == (1, True, True)
    if client == "opencode":
        assert home.value(file, "mcp", "homeport", "enabled") is False


@pytest.mark.parametrize(
    "keys",
    [
        ["C:/Work/Depot", "c:/work/depot"],
        ["C:\\Work\\Depot", "C:/Work/Depot"],
        ["c:\\work\\DEPOT", "C:/Work/Depot", "C:/work/depot"],
        ["c:/work/depot"],
    ],
    ids=["s06", "slashes", "three", "one"],
)
def test_s06_twin_records_of_one_folder_both_give_their_entry_up(keys: list[str]) -> None:
    environment = make_environment("win32", cwd=r"C:\Work\Depot")
    old = {"type": "stdio", "command": "C:\\old\\python.exe", "args": ["-m", "homeport", "serve"], "env": {}}
    others = {"C:/Work/Depot2": {"mcpServers": {"homeport": old}}, "D:/Work/Depot": {"mcpServers": {"homeport": old}}}
    projects: dict[str, Any] = {key: {"mcpServers": {"homeport": old, "rota": ROTA}, "n": key} for key in keys}
    source = as_text({"mcpServers": {}, "projects": {**others, **projects}})
    disk = MadeDisk(environment, {"~/.claude.json": source.encode(), r"C:\Work\Depot\.git\HEAD": b""})
    server = Stdio(plain_text("C:\\Tools\\homeport.exe"), (plain_text("serve"),))
    plan = planned(
        "claude-code", InstallRequest((Registration("homeport", server, bundled=True),), via="file"), environment, disk
    )
    [step] = plan.steps
    after = json.loads(step.after or b"")
    assert after["mcpServers"]["homeport"]["command"] == "C:\\Tools\\homeport.exe"
    assert after["projects"] == {**others, **{key: {"mcpServers": {"rota": ROTA}, "n": key} for key in keys}}
    assert [removed.path[1] for removed in plan.rows[0].removed] == keys


def test_s06_elsewhere_folders_that_differ_by_case_are_two(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    twin = str(home.project).replace("depot", "Depot")
    entries = {"mcpServers": {"homeport": OLD}}
    home.file(CLAUDE, as_text({"mcpServers": {}, "projects": {str(home.project): entries, twin: entries}}))
    home.install("claude-code", *OURS)
    assert home.value(CLAUDE, "projects") == {str(home.project): {"mcpServers": {}}, twin: entries}


@pytest.mark.parametrize(
    ("client", "name", "stale", "container", "old"),
    [
        ("cursor", CURSOR, "servers", "mcpServers", OLD),
        ("opencode", OPENCODE, "mcpServers", "mcp", OLD),
        ("codex", CODEX, "mcpServers", "mcp_servers", OLD),
        ("codex", CODEX, "mcp", "mcp_servers", OLD),
    ],
)
def test_s07_an_entry_of_ours_under_a_container_that_is_not_read_goes(
    tmp_path: Path, client: str, name: str, stale: str, container: str, old: dict[str, Any]
) -> None:
    home = Home(tmp_path, quick=True)
    if name == CODEX:
        entry = 'command = "/old/python"\nargs = ["-m", "homeport", "serve"]\n'
        home.file(name, f'[{stale}.homeport]\n{entry}\n[{stale}.rota]\ncommand = "/opt/rota/rota"\n')
    else:
        home.file(name, as_text({stale: {"homeport": old, "rota": ROTA}, container: {}}))
    home.install(client, *OURS)
    assert home.value(name, stale) == {"rota": ROTA}
    assert set(home.value(name, container)) == {"homeport"}
    home.run("undo", "--write")
    assert home.unchanged()


def test_s07_a_foreign_one_stays_there_and_is_told(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    home.file(CURSOR, as_text({"servers": {"ledger": FOREIGN}}))
    row = home.install("cursor", "--json", *LEDGER).envelope["result"]["clients"][0]
    assert [(shadow["ours"], shadow["runs"]) for shadow in row["shadowed_by"]] == [(False, "/home/nora/own.sh --mine")]
    assert home.value(CURSOR, "servers") == {"ledger": FOREIGN}


@pytest.mark.parametrize("there", [True, False], ids=["user-entry-there", "user-entry-new"])
def test_s08_an_emptied_record_does_not_hide_the_users_entry(tmp_path: Path, there: bool) -> None:
    home = Home(tmp_path)
    if there:
        home.install("claude-code", *OURS)
    user = home.value(CLAUDE, "mcpServers") if there else None
    claude(home, user, here={"mcpServers": {"homeport": OLD}, "hasTrustDialogAccepted": True})
    row = home.install("claude-code", *OURS, "--json").envelope["result"]["clients"][0]
    assert (row["outcome"], len(row["removed"])) == ("updated" if there else "created", 1)
    assert record(home) == {"mcpServers": {}, "hasTrustDialogAccepted": True}
    assert statuses(home, "claude-code") == (0, [("user", "live")])
    assert home.install("claude-code", *OURS, "--json").envelope["result"]["clients"][0]["outcome"] == "unchanged"


def test_s08_a_container_that_we_made_goes_and_one_that_was_there_stays(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    for source in ('{\n  "a": 1,\n  "mcpServers": {}\n}\n', '{\n  "a": 1\n}\n'):
        home.file(CURSOR, source)
        home.install("cursor")
        # Somebody saved another part since, so the bytes alone do not say what was ours.
        home.file(CURSOR, home.read(CURSOR).replace(b'"a": 1', b'"a": 2'))
        home.uninstall("cursor")
        assert home.read(CURSOR).decode() == source.replace('"a": 1', '"a": 2')


@pytest.mark.parametrize("above", ["work/.mcp.json", ".mcp.json"])
def test_s09_a_parents_entry_is_told_and_left_alone(tmp_path: Path, above: str) -> None:
    home = Home(tmp_path)
    home.file(above, as_text({"mcpServers": {"homeport": OLD}}))
    done = home.run("install", "--client", "claude-code", "--json")
    shadows = done.envelope["result"]["clients"][0]["shadowed_by"]
    assert [(shadow["level"], shadow["file"]) for shadow in shadows] == [("parent", str(home.path / above))]
    installed = home.install("claude-code", *OURS)
    assert str(home.path / above) in said(installed)
    assert home.unchanged()


def test_s09_between_root_and_working_folder_it_is_the_projects_own(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    inner = home.project / "deep"
    inner.mkdir()
    home.file(f"{PROJECT}/deep/.mcp.json", as_text({"mcpServers": {"homeport": OLD}}))
    row = home.install("claude-code", *OURS, "--json", cwd=inner).envelope["result"]["clients"][0]
    assert [removed["file"] for removed in row["removed"]] == [str(inner / ".mcp.json")]


def test_a_losing_file_of_the_same_folder_gives_its_entry_up(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    home.file(OPENCODE, as_text({"mcp": {"homeport": OLD_OPENCODE}}))
    home.file(".config/opencode/opencode.jsonc", "{\n  // mine\n}\n")
    home.install("opencode", *OURS)
    assert home.value(OPENCODE, "mcp") == {}
    assert "homeport" in home.value(".config/opencode/opencode.jsonc", "mcp")


def test_levels_that_would_make_an_entry_codex_dies_of_are_refused(tmp_path: Path) -> None:
    home = Home(tmp_path, quick=True)
    home.file(f"{PROJECT}/.codex/config.toml", '[mcp_servers.ledger]\nurl = "http://127.0.0.1:1/mcp"\n')
    refused(home, home.install("codex"), "command", "url", f"{PROJECT}/.codex/config.toml")
