"""What holds for every client, whichever is added."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from homeport.cli.options import CLIENT_NAMES
from homeport.environment import Platform
from homeport.errors import HomeportError
from homeport.installer.clients import CLIENTS, mcp_json
from homeport.installer.clients.references import parse_text
from homeport.installer.clients.values import Level, Place, Reference, Remote, Server, Stdio, Text
from tests.made import PLATFORMS, make_machine

LEVELS: tuple[Level, ...] = ("user", "project")
# What each client's own documents know inside an entry. Anything else would be a field of ours.
KNOWN_KEYS = {
    "claude-code": {"type", "command", "args", "env", "url", "headers"},
    "claude-desktop": {"command", "args", "env"},
    "cursor": {"type", "command", "args", "env", "url", "headers"},
    "codex": {"command", "args", "env", "env_vars", "cwd", "url", "bearer_token_env_var", "http_headers"}
    | {"env_http_headers"},
    "opencode": {"type", "command", "environment", "cwd", "enabled", "url", "headers"},
    "muse-code": {"type", "transport", "command", "args", "env", "cwd", "url", "headers"},
}

names = st.from_regex(r"[A-Z_][A-Z0-9_]{0,8}", fullmatch=True)
plain = st.text(st.characters(exclude_categories=["Cs"]), max_size=12).filter(
    lambda text: not parse_text(text).references
)
references = st.builds(Reference, names, st.none() | st.just("a b"))


def joined(parts: list[str | Reference]) -> Text:
    found: list[str | Reference] = []
    for part in parts:
        if isinstance(part, str) and found and isinstance(found[-1], str):
            found[-1] += part
        elif part != "":
            found.append(part)
    return Text(tuple(found))


def is_unmistakable(text: Text) -> bool:
    """Nothing plain looks like a reference, beside a reference neither: `$` before `{env:A}` does."""
    plain = [part for part in text.parts if isinstance(part, str)]
    beside = any(isinstance(part, str) and part.endswith("$") for part in text.parts[:-1])
    return not beside and not any(parse_text(part).references for part in plain)


texts = st.lists(plain | references, max_size=3).map(joined).filter(is_unmistakable)
commands = st.builds(lambda text: Text((text,)), plain.filter(bool)) | texts.filter(lambda text: bool(text.parts))
pairs = st.dictionaries(names, texts, max_size=3).map(lambda found: tuple(found.items()))
stdio = st.builds(Stdio, commands, st.lists(texts, max_size=3).map(tuple), pairs, st.none() | st.just("/srv"))
remote = st.builds(Remote, commands, pairs, st.sampled_from(["http", "sse"]))
servers: st.SearchStrategy[Server] = stdio | remote


WORDS = [
    "command",
    "args",
    "env",
    "environment",
    "env_vars",
    "url",
    "headers",
    "type",
    "http_headers",
    "cwd",
    "enabled",
]
WORDS += ["env_http_headers", "bearer_token_env_var", "disabled"]
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=3), inner),
    max_leaves=12,
)


def places(name: str) -> list[Place]:
    contents = {"~/.config/muse/settings.json": b'{"schema_version":1,"mcpServers":{}}'}
    found = []
    for machine in (make_machine(), make_machine("linux", contents)):
        for level in LEVELS:
            if (name, level) != ("claude-desktop", "project"):
                found.append(machine.target(CLIENTS[name], level))
    return found


# The others take either transport under one spelling.
TELLS_TRANSPORT = ("claude-code", "codex", "muse-code")


def over_http(server: Server) -> Server:
    return server._replace(transport="http") if isinstance(server, Remote) else server


def unordered(server: Server | None) -> Any:
    """Without the order of variables and headers: Codex keeps forwarded ones in a list of their own."""
    if isinstance(server, Stdio):
        return server._replace(env=tuple(sorted(server.env, key=repr)))
    return None if server is None else server._replace(headers=tuple(sorted(server.headers, key=repr)))


@pytest.mark.parametrize("name", CLIENTS)
@settings(deadline=None)
@given(server=servers)
def test_what_is_spelled_is_read_back_as_the_same_server(name: str, server: Server) -> None:
    client = CLIENTS[name]
    for place in places(name):
        try:
            value = client.entry(server, place).value
        except HomeportError as error:
            assert error.code in ("reference_unsupported", "transport_unsupported", "field_unsupported")
            continue
        read = client.server(json.loads(json.dumps(value)))
        assert unordered(read) == unordered(server if name in TELLS_TRANSPORT else over_http(server))
        assert set(value) <= KNOWN_KEYS[name]


def test_the_registry_the_modules_and_the_golden_folders_agree() -> None:
    root = Path(__file__).parents[3]
    seam = {"__init__", "client", "folders", "mcp_json", "references", "registry", "shapes", "values"}
    modules = {path.stem for path in (root / "src/homeport/installer/clients").glob("*.py")} - seam
    folders = {path.name for path in (root / "golden").iterdir() if path.is_dir()} - {"serve", "mcp-json"}
    assert set(CLIENTS) == set(CLIENT_NAMES) == {module.replace("_", "-") for module in modules} == folders


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("name", CLIENTS)
def test_the_target_of_each_level_is_one_of_the_layers(name: str, platform: Platform) -> None:
    machine, client = make_machine(platform), CLIENTS[name]
    layers = client.layers(machine.environment, machine.disk, machine.view)
    for level in LEVELS:
        if (name, level) != ("claude-desktop", "project"):
            place = machine.target(client, level)
            assert (place.file, place.container) in [(one.file, one.container) for one in layers]


@pytest.mark.parametrize("name", CLIENTS)
def test_nothing_is_installed_on_a_bare_machine(name: str) -> None:
    machine = make_machine()
    assert not CLIENTS[name].is_installed(machine.environment, machine.disk)


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("entry", [None, [], "rota", 3, True, {}, {"command": ""}, {"url": 3}, {"command": None}])
def test_what_is_no_entry_runs_nothing(name: str, entry: object) -> None:
    assert CLIENTS[name].server(entry) is None


@pytest.mark.parametrize("name", CLIENTS)
@settings(deadline=None)
@given(entry=values)
@example(entry={"command": "a", "args": 3})
def test_any_value_in_a_file_is_read_without_a_fault(name: str, entry: Any) -> None:
    lists = {"~/.claude/settings.json": b'{"deniedMcpServers": [{"serverCommand": ["a"]}]}'}
    machine, client = make_machine("linux", lists), CLIENTS[name]
    client.server(entry)
    for place in places(name):
        machine.gates(client, place, entry)


@pytest.mark.parametrize("name", CLIENTS)
def test_nothing_empty_is_written(name: str) -> None:
    for place in places(name):
        value = CLIENTS[name].entry(Stdio(Text(("rota",))), place).value
        assert all(item not in ({}, [], None, "") for item in value.values())


def test_the_common_shape_has_a_type_for_a_url_only() -> None:
    assert mcp_json.entry(Stdio(Text(("rota",)), (Text((Reference("A"),)),), (), "/srv")).value == {
        "command": "rota",
        "args": ["${A}"],
        "cwd": "/srv",
    }
    assert mcp_json.entry(Remote(Text(("https://x",)), (("A", Text(("b",))),), "sse")).value == {
        "type": "sse",
        "url": "https://x",
        "headers": {"A": "b"},
    }
