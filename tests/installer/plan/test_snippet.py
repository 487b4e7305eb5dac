"""Servers out of what people paste."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from homeport.errors import HomeportError
from homeport.installer.clients.references import parse_text, plain_text
from homeport.installer.clients.values import Remote, Server, Stdio
from homeport.installer.plan.snippet import CONTAINERS, Pasted, parse_snippet

ENTRY = {"command": "npx", "args": ["-y", "rota"], "env": {"T": "${T}"}}
ROTA = Stdio(plain_text("npx"), (plain_text("-y"), plain_text("rota")), (("T", parse_text("$T")),))


def stdio(*words: str) -> Stdio:
    return Stdio(plain_text(words[0]), tuple(plain_text(word) for word in words[1:]))


FEED = Remote(plain_text("https://x.example/mcp"))


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_clients_container_is_known(container: str) -> None:
    assert parse_snippet(json.dumps({container: {"rota": ENTRY}})) == (Pasted("rota", ROTA),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('{"rota": {"command": "npx"}}', [Pasted("rota", stdio("npx"))], id="no container"),
        pytest.param('{"command": "npx"}', [Pasted(None, stdio("npx"))], id="one entry without a name"),
        pytest.param(
            '{"name": "rota", "command": "npx"}', [Pasted("rota", stdio("npx"))], id="VS Code's deep link"
        ),
        pytest.param('"rota": {"command": "npx"}', [Pasted("rota", stdio("npx"))], id="no braces"),
        pytest.param('"mcpServers": {"a": {"command": "b"}},', [Pasted("a", stdio("b"))], id="a comma too"),
        pytest.param(
            "// first\n{mcpServers: {'a': {command: 'b', /* x */ args: ['c',],},},}",
            [Pasted("a", stdio("b", "c"))],
            id="JSON5",
        ),
        pytest.param(
            "Add this:\n\n```json\n{\"a\": {\"command\": \"b\"}}\n```\nThen restart.",
            [Pasted("a", stdio("b"))],
            id="a fence in prose",
        ),
        pytest.param("~~~\n{a: {command: 'b'}}\n~~~", [Pasted("a", stdio("b"))], id="the other fence"),
        pytest.param(
            '[mcp_servers.a]\ncommand = "b"\nargs = ["c"]\nenv_vars = ["T"]\n',
            [Pasted("a", Stdio(plain_text("b"), (plain_text("c"),), (("T", parse_text("$T")),)))],
            id="Codex's TOML",
        ),
        pytest.param(
            '[mcp_servers."x.y"]\nurl = "https://x.example/mcp"\nbearer_token_env_var = "T"\n',
            [Pasted("x.y", FEED._replace(headers=(("Authorization", parse_text("Bearer $T")),)))],
            id="TOML with a token's variable",
        ),
        pytest.param(
            '{"context_servers": {"a": {"command": {"path": "b", "args": ["c"], "env": {"D": "e"}}, "settings": {}}}}',
            [Pasted("a", Stdio(plain_text("b"), (plain_text("c"),), (("D", plain_text("e")),)), ("settings",))],
            id="Zed's nested command",
        ),
        pytest.param(
            '{"mcp": {"a": {"type": "local", "command": ["b", "c"], "environment": {"D": "{env:D}"}, "enabled": 1}}}',
            [Pasted("a", Stdio(plain_text("b"), (plain_text("c"),), (("D", parse_text("$D")),)), ("enabled",))],
            id="OpenCode",
        ),
        pytest.param(
            '{"mcp": {"servers": {"a": {"command": "b"}}, "inputs": []}}',
            [Pasted("a", stdio("b"))],
            id="VS Code's settings",
        ),
        pytest.param('{"a": {"httpUrl": "https://x.example/mcp"}}', [Pasted("a", FEED)], id="Gemini's url"),
        pytest.param('{"a": {"serverUrl": "https://x.example/mcp"}}', [Pasted("a", FEED)], id="Windsurf's url"),
        pytest.param(
            '{"a": {"type": "sse", "url": "https://x.example/mcp"}}',
            [Pasted("a", FEED._replace(transport="sse"))],
            id="sse",
        ),
        pytest.param(
            '{"a": {"url": "https://x.example/mcp", "headers": {"K": "Bearer ${env:T}"}, '
            '"env_http_headers": {"X": "Y"}}}',
            [Pasted("a", FEED._replace(headers=(("K", parse_text("Bearer $T")), ("X", parse_text("$Y")))))],
            id="headers",
        ),
        pytest.param(
            '{"extensions": {}, "a": {"cmd": "b", "args": [], "envs": {"D": "e"}, "env_keys": ["T"]}}',
            [Pasted("a", Stdio(plain_text("b"), (), (("T", parse_text("$T")), ("D", plain_text("e")))))],
            id="Goose's words",
        ),
        pytest.param(
            '{"a": {"command": "b", "args": [1, true, 1.5], "env": {"A": false, "B": null}}}',
            [Pasted("a", stdio("b", "1", "true", "1.5")._replace(env=(("A", plain_text("false")),)))],
            id="values that are no text",
        ),
        pytest.param(
            '{"mcpServers": {"a": {"command": "b", "disabled": true, "autoApprove": []}, '
            '"c": {"url": "https://x.example/mcp"}, "d": 1}}',
            [Pasted("a", stdio("b"), ("autoApprove", "disabled")), Pasted("c", FEED)],
            id="several, and what is left out",
        ),
    ],
)  # fmt: skip
def test_a_snippet_is_read(text: str, expected: list[Pasted]) -> None:
    assert list(parse_snippet(text)) == expected


@pytest.mark.parametrize(
    "reference", ["${input:key}", "${command:x}", "${config:a.b}", "${prompt:x}", "${user_config:k}"]
)
@pytest.mark.parametrize("where", ["command", "args", "env", "url", "headers"])
def test_a_value_that_the_client_would_ask_for_is_refused(reference: str, where: str) -> None:
    entry: dict[str, object] = {"url": "https://x"} if where in ("url", "headers") else {"command": "a"}
    entry[where] = {"args": [reference], "env": {"K": reference}, "headers": {"K": reference}}.get(where, reference)
    with pytest.raises(HomeportError) as caught:
        parse_snippet(json.dumps({"a": entry}))
    assert (caught.value.code, caught.value.details) == ("reference_unsupported", {"reference": reference})


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "rota", "npx -y rota", "<html></html>", "\0", "```json\n```", "[]", "{}", "null", "3", "{",
        '{"a": 1}', '{"a": 1, "a": 2}', '{"mcpServers": {}}', '{"mcpServers": []}', '{"a": {"url": 3}}',
        '{"a": {"command": ""}}', '{"a": {"command": []}}', '{"a": {"command": "b", "args": "c"}}',
        '{"a": {"command": {"path": 3, "args": {}}}}', "[mcp_servers.a", "[mcp_servers.a]\ncommand = ",
        "{" * 5000, "[" * 5000, '{"a":' * 3000 + "1" + "}" * 3000, "[a]\nb = " + "[" * 3000,
    ],
)  # fmt: skip
def test_what_is_no_snippet_is_refused_and_never_a_fault(text: str) -> None:
    with pytest.raises(HomeportError) as caught:
        parse_snippet(text)
    assert caught.value.code == "bad_snippet"


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
keys = st.sampled_from([*CONTAINERS, "command", "args", "env", "env_vars", "url", "headers", "type", "name", "path"])
things = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4), max_leaves=15
)


@settings(deadline=None)
@given(things.map(json.dumps) | st.text(max_size=60) | st.text(st.sampled_from("{}[]\"':,/*# \n=a.$`~"), max_size=40))
@example('{"command": {"path": null}}')
@example('{"command": {}, "url": ""}')
@example('{"command": {"a": 1}, "url": "https://x.example"}')
@example('{"env": {"a": {}}, "command": ["a", {}], "env_vars": [{}]}')
def test_any_text_gives_servers_or_an_error_of_ours(text: str) -> None:
    try:
        found = parse_snippet(text)
    except HomeportError as error:
        assert error.code in ("bad_snippet", "reference_unsupported")
    else:
        assert found
        assert all(isinstance(one.server, Server) for one in found)
