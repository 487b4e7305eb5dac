"""Claude Code's facts: files, records, approval, an administrator's lists."""

from __future__ import annotations

import json

import pytest

from homeport.environment import Platform
from homeport.errors import HomeportError
from homeport.installer.clients import claude_code
from homeport.installer.clients.references import parse_text, plain_text
from homeport.installer.clients.values import Remote, Server, Stdio
from tests.made import FOLDER, PLATFORMS, LinkTo, MadeDisk, Thing, make_machine

ROTA = {"command": "rota", "args": ["serve"]}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_user_file_is_in_the_home_on_every_system(platform: Platform) -> None:
    assert make_machine(platform).file(claude_code) == "~/.claude.json"


@pytest.mark.parametrize(
    ("variables", "things", "expected"),
    [
        pytest.param({"CLAUDE_CONFIG_DIR": "/srv/cl"}, {}, "/srv/cl/.claude.json", id="absolute"),
        pytest.param({"CLAUDE_CONFIG_DIR": "cl"}, {}, "~/code/app/cl/.claude.json", id="relative"),
        pytest.param({"CLAUDE_CONFIG_DIR": "~/cl"}, {}, "~/code/app/~/cl/.claude.json", id="a tilde is a name"),
        pytest.param({"CLAUDE_CONFIG_DIR": ""}, {}, "~/.claude.json", id="empty"),
        pytest.param({}, {"~/.claude/.config.json": b"{}"}, "~/.claude/.config.json", id="the old file"),
        pytest.param({}, {"~/.claude/.config.json": FOLDER}, "~/.claude.json", id="a folder is no file"),
        pytest.param(
            {"CLAUDE_CONFIG_DIR": "/srv/cl"}, {"/srv/cl/.config.json": b""}, "/srv/cl/.config.json", id="old, moved"
        ),
        pytest.param(
            {"CLAUDE_CONFIG_DIR": "/srv/cl"},
            {"~/.claude/.config.json": b""},
            "/srv/cl/.claude.json",
            id="old elsewhere",
        ),
    ],
)
def test_the_state_file_is_found_as_claude_finds_it(
    variables: dict[str, str], things: dict[str, Thing], expected: str
) -> None:
    assert make_machine("linux", things, variables=variables).file(claude_code) == expected


def test_the_user_file_is_claudes_own_and_locked_as_claude_locks_it() -> None:
    place = make_machine().target(claude_code)
    assert (place.owner, place.lock_suffix, place.shared_with) == ("claude", ".lock", ())


def test_the_project_file_is_at_the_root_and_shared() -> None:
    machine = make_machine("linux", {"../.git": FOLDER})
    place = machine.target(claude_code, "project")
    assert machine.short(place.file) == "~/code/.mcp.json"
    assert (place.owner, place.shared_with) == (None, ("Muse Code",))


def test_a_linked_worktree_has_a_project_file_of_its_own() -> None:
    machine = make_machine("linux", {".git": b"gitdir: /home/nora/main/.git/worktrees/app\n"})
    assert machine.file(claude_code, "project") == "~/code/app/.mcp.json"


def records(*keys: str) -> bytes:
    return json.dumps({"projects": {key: {"mcpServers": {}} for key in keys}}).encode()


def test_layers_go_from_other_projects_to_the_administrators_file() -> None:
    machine = make_machine(
        "linux",
        {"../.git": FOLDER, "~/.claude.json": records("/home/nora/code", "/home/nora/other", "/home/nora/code/app")},
    )
    assert machine.layers(claude_code) == [
        ("other-project", "~/.claude.json"),
        ("other-project", "~/.claude.json"),
        ("user", "~/.claude.json"),
        ("parent", "/.mcp.json"),
        ("parent", "/home/.mcp.json"),
        ("parent", "~/.mcp.json"),
        ("project", "~/code/.mcp.json"),
        ("project", "~/code/app/.mcp.json"),
        ("local", "~/.claude.json"),
        ("managed", "/etc/claude-code/managed-mcp.json"),
    ]


@pytest.mark.parametrize(
    ("things", "key"),
    [
        pytest.param(
            {".git": b"gitdir: ../../main/.git/worktrees/app"}, "/home/nora/main", id="worktree: the main checkout"
        ),
        pytest.param(
            {"~/code": LinkTo("/srv/code"), "/srv/code/app/.git": FOLDER}, "/srv/code/app", id="link: behind it"
        ),
        pytest.param({"../.git": FOLDER}, "/home/nora/code", id="below the root: the root"),
        pytest.param({}, "/home/nora/code/app", id="no repository: the folder"),
    ],
)
def test_the_local_record_is_the_one_claude_keys(things: dict[str, Thing], key: str) -> None:
    machine = make_machine("linux", {**things, "~/.claude.json": records(key, "/home/nora/elsewhere")})
    local = [
        place.container
        for place in claude_code.layers(machine.environment, machine.disk, machine.view)
        if place.level == "local"
    ]
    assert local == [("projects", key, "mcpServers")]


def test_on_windows_records_of_any_spelling_are_this_folders() -> None:
    keys = (r"C:\Users\nora\code\app", "C:/Users/nora/code/app", "c:/users/Nora/code/APP")
    layers = make_machine("win32", {"~/.claude.json": records(*keys)}).layers(claude_code)
    assert [level for level, _ in layers].count("local") == 3


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("linux", "/etc/claude-code/managed-mcp.json"),
        ("darwin", "/Library/Application Support/ClaudeCode/managed-mcp.json"),
        ("win32", "C:/Program Files/ClaudeCode/managed-mcp.json"),
    ],
)
def test_the_administrators_file(platform: Platform, expected: str) -> None:
    assert make_machine(platform).layers(claude_code)[-1] == ("managed", expected)


@pytest.mark.parametrize(
    ("things", "variables", "expected"),
    [
        pytest.param({}, {}, False, id="no"),
        pytest.param({"~/.claude": FOLDER}, {}, True, id="folder"),
        pytest.param({"~/.claude.json": b"{}"}, {}, True, id="file alone"),
        pytest.param({"~/.claude": FOLDER}, {"CLAUDE_CONFIG_DIR": "/none"}, False, id="moved to nowhere"),
    ],
)
def test_installed(things: dict[str, Thing], variables: dict[str, str], expected: bool) -> None:
    machine = make_machine("linux", things, variables=variables)
    assert claude_code.is_installed(machine.environment, machine.disk) is expected


@pytest.mark.parametrize(
    ("level", "server", "value"),
    [
        pytest.param(
            "user",
            Stdio(parse_text("${BIN}/rota"), (parse_text("$DAY"),), (("T", parse_text("${T:-x}")),)),
            {"type": "stdio", "command": "${BIN}/rota", "args": ["${DAY}"], "env": {"T": "${T:-x}"}},
            id="user stdio",
        ),
        pytest.param("project", Stdio(plain_text("rota")), {"command": "rota"}, id="project stdio has no type"),
        pytest.param(
            "user",
            Remote(parse_text("https://$H/mcp"), (("A", parse_text("Bearer {env:T}")),)),
            {"type": "http", "url": "https://${H}/mcp", "headers": {"A": "Bearer ${T}"}},
            id="user http",
        ),
        pytest.param(
            "project",
            Remote(plain_text("https://x/mcp")),
            {"type": "streamable-http", "url": "https://x/mcp"},
            id="project http in the word Muse reads",
        ),
        pytest.param("user", Remote(plain_text("https://x"), (), "sse"), {"type": "sse", "url": "https://x"}, id="sse"),
        pytest.param(
            "user",
            Stdio(plain_text("a"), (plain_text("$5"),)),
            {"type": "stdio", "command": "a", "args": ["$5"]},
            id="$",
        ),
    ],
)
def test_an_entry_is_spelled(level: str, server: Server, value: dict[str, object]) -> None:
    place = make_machine().target(claude_code, "project" if level == "project" else "user")
    assert claude_code.entry(server, place).value == value


@pytest.mark.parametrize(
    ("server", "code"),
    [
        pytest.param(Stdio(plain_text("a"), (), (), "/srv"), "field_unsupported", id="cwd is dropped in silence"),
        pytest.param(Stdio(parse_text("${workspaceFolder}")), "reference_unsupported", id="an editor's variable"),
        pytest.param(Stdio(plain_text("a"), (plain_text("x${A}"),)), "reference_unsupported", id="plain, yet expanded"),
    ],
)
def test_what_it_cannot_hold_is_refused(server: Server, code: str) -> None:
    with pytest.raises(HomeportError) as caught:
        claude_code.entry(server, make_machine().target(claude_code))
    assert caught.value.code == code


def test_what_a_reference_needs_and_how_others_read_it_is_said() -> None:
    server = Stdio(parse_text("$BIN"), (), (("T", parse_text("${T}")),))
    entry = claude_code.entry(server, make_machine().target(claude_code, "project"))
    assert entry.requires_env == ("BIN", "T")
    assert entry.notes == (
        "Claude Code hands on the text ${BIN} itself where the variable is not set",
        "Muse Code reads .mcp.json too and takes references outside env literally",
    )


@pytest.mark.parametrize(
    ("name", "good"),
    [("rota", True), ("a_b-9", True), ("a b", False), ("a.b", False), ("", False), ("-a", False)]
    + [(name, False) for name in ("workspace", "claude-in-chrome", "computer-use", "__proto__", "constructor")],
)
def test_names(name: str, good: bool) -> None:
    assert (claude_code.name_problem(name) is None) is good


LOCAL, SHARED, OWN = ".claude/settings.local.json", ".claude/settings.json", "~/.claude/settings.json"
APPROVED, ALL, DENIED = b'{"enabledMcpjsonServers": ["rota"]}', b'{"enableAllProjectMcpServers": true}', (
    b'{"disabledMcpjsonServers": ["rota"]}'
)  # fmt: skip
TRUSTED = json.dumps({"projects": {"/home/nora/code/app": {"hasTrustDialogAccepted": True}}}).encode()


@pytest.mark.parametrize(
    ("things", "tracked", "status"),
    [
        pytest.param({}, (), "waiting", id="nothing said"),
        pytest.param({LOCAL: APPROVED}, (), None, id="approved in the dialog"),
        pytest.param({LOCAL: ALL}, (), None, id="all approved"),
        pytest.param({LOCAL: b'{"enabledMcpjsonServers": ["tally"]}'}, (), "waiting", id="another approved"),
        pytest.param({LOCAL: APPROVED}, (LOCAL,), "waiting", id="a committed approval"),
        pytest.param({LOCAL: APPROVED, "~/.claude.json": TRUSTED}, (LOCAL,), None, id="committed, in a trusted folder"),
        pytest.param({SHARED: APPROVED}, (), "waiting", id="the shared file"),
        pytest.param({SHARED: ALL, "~/.claude.json": TRUSTED}, (), None, id="the shared file, in a trusted folder"),
        pytest.param({OWN: APPROVED}, (), None, id="the person's own file"),
        pytest.param({LOCAL: APPROVED, OWN: DENIED}, (), "off", id="forbidden beats approved"),
        pytest.param({SHARED: DENIED, LOCAL: ALL}, (), "off", id="forbidden in the shared file"),
        pytest.param({LOCAL: b"{"}, (), "waiting", id="nobody can read it"),
    ],
)
def test_a_projects_server_waits_for_approval(
    things: dict[str, Thing], tracked: tuple[str, ...], status: str | None
) -> None:
    machine = make_machine("linux", {".git": FOLDER, **things})
    disk = MadeDisk(machine.environment, {".git": FOLDER, **things}, tracked=tracked)
    place = machine.target(claude_code, "project")
    gates = claude_code.gates("rota", ROTA, place, machine.environment, disk, machine.view)
    assert [gate.status for gate in gates] == ([] if status is None else [status])


def test_a_list_in_this_folders_record_switches_a_server_off() -> None:
    lists = {"/home/nora/code/app": {"disabledMcpServers": ["rota"]}, "/other": {"disabledMcpServers": ["tally"]}}
    machine = make_machine("linux", {"~/.claude.json": json.dumps({"projects": lists}).encode()})
    place = machine.target(claude_code)
    assert [gate.status for gate in machine.gates(claude_code, place, ROTA)] == ["off"]
    assert machine.gates(claude_code, place, ROTA, "tally") == ()


MANAGED = "/etc/claude-code/managed-settings.json"
URL = {"type": "http", "url": "https://mcp.example.com/x"}


@pytest.mark.parametrize(
    ("things", "entry", "off"),
    [
        pytest.param({"/etc/claude-code/managed-mcp.json": b"{}"}, ROTA, True, id="an exclusive file"),
        pytest.param({MANAGED: b'{"deniedMcpServers": [{"serverName": "rota"}]}'}, ROTA, True, id="denied by name"),
        pytest.param({OWN: b'{"deniedMcpServers": [{"serverName": "rota"}]}'}, ROTA, True, id="denied by the person"),
        pytest.param({MANAGED: b'{"deniedMcpServers": [{"serverName": "tally"}]}'}, ROTA, False, id="another denied"),
        pytest.param(
            {MANAGED: b'{"deniedMcpServers": [{"serverCommand": ["rota", "serve"]}]}'},
            ROTA,
            True,
            id="denied by command",
        ),
        pytest.param(
            {MANAGED: b'{"deniedMcpServers": [{"serverUrl": "https://*.example.com/*"}]}'}, URL, True, id="url"
        ),
        pytest.param({MANAGED: b'{"allowedMcpServers": []}'}, ROTA, True, id="nothing allowed"),
        pytest.param({MANAGED: b'{"allowedMcpServers": [{"serverName": "rota"}]}'}, ROTA, False, id="allowed by name"),
        pytest.param(
            {MANAGED: b'{"allowedMcpServers": [{"serverName": "rota"}, {"serverCommand": ["x"]}]}'},
            ROTA,
            True,
            id="a command rule decides over commands",
        ),
        pytest.param(
            {MANAGED: b'{"allowedMcpServers": [{"serverName": "rota"}, {"serverCommand": ["x"]}]}'},
            URL,
            False,
            id="a command rule says nothing of a URL",
        ),
        pytest.param({MANAGED: b'{"allowedMcpServers": "x", "deniedMcpServers": [1]}'}, ROTA, False, id="nonsense"),
    ],
)
def test_an_administrators_lists_count(things: dict[str, Thing], entry: object, off: bool) -> None:
    machine = make_machine("linux", things)
    assert [gate.status for gate in machine.gates(claude_code, machine.target(claude_code), entry)] == ["off"] * off


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        pytest.param(
            Stdio(plain_text("npx"), (plain_text("-y"),), (("A", plain_text("b c")), ("T", parse_text("$T")))),
            ["claude", "mcp", "add", "--scope", "user", "rota", "-e", "A=b c", "-e", "T=${T}", "--", "npx", "-y"],
            id="stdio: the name before the greedy -e",
        ),
        pytest.param(
            Remote(plain_text("https://x"), (("A", plain_text("b")),), "sse"),
            ["claude", "mcp", "add", "--scope", "user", "--transport", "sse", "rota", "https://x", "--header", "A: b"],
            id="remote: the name before the greedy header",
        ),
    ],
)
def test_its_own_command(server: Server, expected: list[str]) -> None:
    assert claude_code.apply_command("rota", server) == expected


def test_steps_afterwards() -> None:
    machine = make_machine()
    assert claude_code.next_steps("rota", machine.target(claude_code)) == (
        "start a new Claude Code session, or reconnect under /mcp",
    )
    assert claude_code.next_steps("rota", machine.target(claude_code, "project")) == (
        "start claude in /home/nora/code/app and approve 'rota'",
    )
    assert claude_code.remove_command("rota") == ["claude", "mcp", "remove", "--scope", "user", "rota"]
