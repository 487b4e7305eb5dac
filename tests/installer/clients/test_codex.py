"""Codex's facts."""

from __future__ import annotations

import pytest

from homeport.environment import Platform
from homeport.errors import HomeportError
from homeport.installer.clients import codex
from homeport.installer.clients.references import parse_text, plain_text
from homeport.installer.clients.values import Gate, Level, Reference, Remote, Server, Stdio, Text
from tests.made import FOLDER, PLATFORMS, LinkTo, Thing, make_machine

PLACE = make_machine().target(codex)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize(
    ("level", "expected"), [("user", "~/.codex/config.toml"), ("project", "~/code/.codex/config.toml")]
)
def test_the_file_is_the_same_on_every_system(platform: Platform, level: Level, expected: str) -> None:
    assert make_machine(platform, {"../.git": FOLDER}).file(codex, level) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param("", "~/.codex", id="empty counts as unset"),
        pytest.param("/srv/codex", "/srv/codex", id="absolute"),
        pytest.param("cx", "~/code/app/cx", id="relative: from the working folder"),
        pytest.param("~/cx", "~/code/app/~/cx", id="a tilde is a folder's name"),
    ],
)
def test_codex_home_is_taken_as_codex_takes_it(given: str, expected: str) -> None:
    machine = make_machine(variables={"CODEX_HOME": given})
    assert machine.file(codex) == f"{expected}/config.toml"


def test_a_codex_home_that_does_not_exist_is_not_installed() -> None:
    machine = make_machine("linux", {"~/.codex": FOLDER}, variables={"CODEX_HOME": "/srv/none"})
    assert not codex.is_installed(machine.environment, machine.disk)


@pytest.mark.parametrize(("level", "owner"), [("user", "codex"), ("project", None)])
def test_only_the_user_file_is_written_by_codex_itself(level: Level, owner: str | None) -> None:
    place = make_machine().target(codex, level)
    assert (place.owner, place.container, place.dialect) == (owner, ("mcp_servers",), "toml")
    assert place.stale_containers == (("mcpServers",), ("mcp",))


@pytest.mark.parametrize(
    ("platform", "system", "managed"),
    [
        ("linux", [("system", "/etc/codex/config.toml")], [("managed", "/etc/codex/managed_config.toml")]),
        ("darwin", [], []),
        ("win32", [], []),
    ],
)
def test_every_folder_from_the_root_down_is_a_layer(
    platform: Platform, system: list[tuple[str, str]], managed: list[tuple[str, str]]
) -> None:
    assert make_machine(platform, {"../.git": FOLDER}).layers(codex) == [
        *system,
        ("user", "~/.codex/config.toml"),
        ("project", "~/code/.codex/config.toml"),
        ("project", "~/code/app/.codex/config.toml"),
        *managed,
    ]


def test_in_the_home_both_levels_are_one_file() -> None:
    assert make_machine("darwin", cwd="").layers(codex) == [("user", "~/.codex/config.toml")]


@pytest.mark.parametrize(
    ("server", "value", "required"),
    [
        pytest.param(
            Stdio(
                plain_text("rota"),
                (plain_text("$5"),),
                (("TOKEN", parse_text("${TOKEN}")), ("DAY", plain_text("${X}"))),
                "/srv",
            ),
            {"command": "rota", "args": ["$5"], "env_vars": ["TOKEN"], "env": {"DAY": "${X}"}, "cwd": "/srv"},
            ("TOKEN",),
            id="stdio",
        ),
        pytest.param(Stdio(plain_text("rota")), {"command": "rota"}, (), id="nothing empty"),
        pytest.param(
            Remote(
                plain_text("https://x.example/mcp"),
                (
                    ("Authorization", parse_text("Bearer $T")),
                    ("X-Team", plain_text("web")),
                    ("X-Key", parse_text("{env:KEY}")),
                ),
            ),
            {
                "url": "https://x.example/mcp",
                "bearer_token_env_var": "T",
                "http_headers": {"X-Team": "web"},
                "env_http_headers": {"X-Key": "KEY"},
            },
            ("T", "KEY"),
            id="remote",
        ),
    ],
)
def test_an_entry_is_spelled(server: Server, value: dict[str, object], required: tuple[str, ...]) -> None:
    entry = codex.entry(server, PLACE)
    assert (entry.value, entry.requires_env) == (value, required)


@pytest.mark.parametrize(
    ("server", "code"),
    [
        pytest.param(Stdio(parse_text("$A")), "reference_unsupported", id="command"),
        pytest.param(Stdio(plain_text("a"), (parse_text("--t=${A}"),)), "reference_unsupported", id="argument"),
        pytest.param(Stdio(plain_text("a"), (), (("A", parse_text("$B")),)), "reference_unsupported", id="other name"),
        pytest.param(
            Stdio(plain_text("a"), (), (("A", parse_text("${A:-1}")),)), "reference_unsupported", id="a default"
        ),
        pytest.param(Remote(parse_text("https://$H/")), "reference_unsupported", id="url"),
        pytest.param(
            Remote(plain_text("https://x"), (("X", parse_text("a $B")),)),
            "reference_unsupported",
            id="part of a header",
        ),
        pytest.param(
            Remote(plain_text("https://x"), (("Authorization", parse_text("Basic $B")),)),
            "reference_unsupported",
            id="another scheme",
        ),
        pytest.param(Remote(plain_text("https://x"), (), "sse"), "transport_unsupported", id="sse"),
    ],
)
def test_what_it_cannot_hold_is_refused(server: Server, code: str) -> None:
    with pytest.raises(HomeportError) as caught:
        codex.entry(server, PLACE)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        pytest.param(
            {"command": "a", "env_vars": ["T", {"name": "U", "source": "local"}, 3]},
            Stdio(plain_text("a"), (), (("T", Text((Reference("T"),))), ("U", Text((Reference("U"),))))),
            id="names and tables in env_vars",
        ),
        pytest.param(
            {"url": "https://x", "headers": {"A": "b"}, "type": "sse", "transport": "sse"},
            Remote(plain_text("https://x")),
            id="words it does not know say nothing",
        ),
        pytest.param({"enabled": False}, None, id="no server"),
        pytest.param({"command": "a", "args": "b"}, None, id="args no list"),
        pytest.param("rota", None, id="no table"),
    ],
)
def test_an_entry_is_read_as_codex_reads_it(entry: object, expected: Server | None) -> None:
    assert codex.server(entry) == expected


@pytest.mark.parametrize(
    ("name", "good"), [("rota", True), ("a_b:@/.-9", True), ("a b", False), ("ä", False), ("", False), ("-a", False)]
)
def test_names(name: str, good: bool) -> None:
    assert (codex.name_problem(name) is None) is good


TRUST = b'[projects."/home/nora/code"]\ntrust_level = "%s"\n'


@pytest.mark.parametrize(
    ("things", "waits"),
    [
        pytest.param({}, True, id="no user file"),
        pytest.param({"~/.codex/config.toml": TRUST % b"trusted"}, False, id="trusted"),
        pytest.param({"~/.codex/config.toml": TRUST % b"untrusted"}, True, id="untrusted"),
        pytest.param({"~/.codex/config.toml": b"[projects"}, True, id="nobody can read it"),
    ],
)
def test_a_project_waits_until_its_root_is_trusted(things: dict[str, Thing], waits: bool) -> None:
    machine = make_machine("linux", {"../.git": FOLDER, **things})
    place = machine.target(codex, "project")
    assert [gate.status for gate in machine.gates(codex, place, {"command": "a"})] == (["waiting"] if waits else [])


def test_trust_is_asked_for_the_folder_behind_links() -> None:
    trust = b'[projects."/srv/code/app"]\ntrust_level = "trusted"\n'
    machine = make_machine(
        "linux", {"~/code": LinkTo("/srv/code"), "/srv/code/app/.git": FOLDER, "~/.codex/config.toml": trust}
    )
    assert machine.gates(codex, machine.target(codex, "project"), {"command": "a"}) == ()


def test_a_windows_root_is_asked_in_its_own_spelling() -> None:
    trust = b"[projects.'C:\\Users\\nora\\code\\app']\ntrust_level = \"trusted\"\n"
    machine = make_machine("win32", {"~/.codex/config.toml": trust})
    assert machine.gates(codex, machine.target(codex, "project"), {"command": "a"}) == ()


def test_an_entry_that_is_not_enabled_is_off() -> None:
    machine = make_machine()
    assert machine.gates(codex, PLACE, {"command": "a", "enabled": False}) == (
        Gate("off", "the entry says enabled = false in /home/nora/.codex/config.toml", "set enabled to true"),
    )


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        pytest.param(
            Stdio(plain_text("npx"), (plain_text("-y"), plain_text("rota")), (("DAY", plain_text("mon day")),)),
            ["codex", "mcp", "add", "rota", "--env", "DAY=mon day", "--", "npx", "-y", "rota"],
            id="stdio",
        ),
        pytest.param(
            Remote(plain_text("https://x/mcp"), (("Authorization", parse_text("Bearer $T")),)),
            ["codex", "mcp", "add", "rota", "--url", "https://x/mcp", "--bearer-token-env-var", "T"],
            id="remote",
        ),
        pytest.param(Stdio(plain_text("a"), (), (("T", parse_text("$T")),)), None, id="no option for env_vars"),
        pytest.param(Stdio(plain_text("a"), (), (), "/srv"), None, id="no option for cwd"),
        pytest.param(Remote(plain_text("https://x"), (("A", plain_text("b")),)), None, id="no option for headers"),
    ],
)
def test_its_own_command(server: Server, expected: list[str] | None) -> None:
    assert codex.apply_command("rota", server) == expected


def test_steps_afterwards() -> None:
    machine = make_machine()
    assert codex.next_steps("rota", PLACE) == ("start a new Codex session",)
    assert codex.next_steps("rota", machine.target(codex, "project")) == (
        "start codex in /home/nora/code/app and trust it: the file is read in trusted projects only",
    )
    assert codex.remove_command("rota") == ["codex", "mcp", "remove", "rota"]
