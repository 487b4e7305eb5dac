"""What looks like a credential, and how it is hidden."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homeport.credentials import (
    MASK,
    is_reference,
    is_secret,
    is_secret_name,
    is_secret_value,
    masked,
    masked_arguments,
    masked_diff,
    masked_url,
    secret_argument,
)

# Put together here, so that no scanner takes this file for a leak.
ISSUED = [
    "sk-" + "a1B2c3D4e5F6g7H8", "sk-ant-" + "api03-a1B2c3D4e5F6", "ghp_" + "a1B2c3D4e5F6g7H8i9J0",
    "github_pat_" + "a1B2c3D4e5F6g7H8i9J0k1", "glpat-" + "a1B2c3D4e5F6g7H8", "xoxb-" + "1234567890-abc",
    "AKIA" + "ABCDEFGHIJKLMNOP", "AIza" + "a" * 35, "npm_" + "a" * 36, "hf_" + "a" * 30, "pypi-" + "a" * 40,
    "sk_live_" + "a1B2c3D4e5F6g7H8", "eyJ" + "hbGciOiJI.eyJzdWIiOiIx.abc", "SG." + "a" * 20 + "." + "b" * 20,
    "-----BEGIN " + "RSA PRIVATE KEY-----", "tvly-" + "a" * 20,
]  # fmt: skip
KEY = ISSUED[0]


@pytest.mark.parametrize("value", ISSUED, ids=lambda value: value[:7])
def test_an_issuers_own_format_is_a_credential_wherever_it_stands(value: str) -> None:
    assert is_secret_value(value)
    assert is_secret_value(f"prefix {value}")
    assert is_secret("DAY", value)


@pytest.mark.parametrize(
    "value",
    ["", "monday", "sk-", "ghost", "https://x.example/mcp?team=web", "user:ann", "/home/nora/.ssh/id", "AKIA", "Bearer",
     "npm_config", "postgres://db/x", "postgres://nora@db/x", "eyJ", "@modelcontextprotocol/server-github"],
)  # fmt: skip
def test_ordinary_values_are_none(value: str) -> None:
    assert not is_secret_value(value)


@pytest.mark.parametrize(
    "value",
    ["Bearer abcdef", "Basic dTpwYXNz", "token abcdef", "https://u:pw@x", "https://x/?api_key=abc", "https://x/?token=abc#f"],
)  # fmt: skip
def test_schemes_and_urls_with_credentials_are_some(value: str) -> None:
    assert is_secret_value(value)


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        *((name, True) for name in (
            "API_KEY", "api-key", "apikey", "GITHUB_TOKEN", "X-Auth-Token", "Authorization", "Cookie", "PASSWORD",
            "KEY", "DB_PASSWD", "HOMEPORT_POSTGRES_DSN", "client_secret", "PGPASSWORD", "TOKEN_2", "accessToken")),
        *((name, False) for name in (
            "KEYBOARD", "TOKENIZERS_PARALLELISM", "MONKEY", "DAY", "PATH", "AUTHOR", "PATTERN", "COMPASS", "",
            "bearer_token_env_var", "api-key-env", "TOKEN_ENV_VARS")),
    ],
)  # fmt: skip
def test_names(name: str, secret: bool) -> None:
    assert is_secret_name(name) is secret


@pytest.mark.parametrize("value", ["", "3", "123456", "true", "No", "off"])
def test_a_plain_number_or_flag_is_no_credential_whatever_its_name(value: str) -> None:
    assert not is_secret("TOKEN", value)


@pytest.mark.parametrize(
    ("value", "reference"),
    [
        ("${T}", True), ("$T", True), ("${env:T}", True), ("{env:T}", True), ("Bearer ${T}", True), ("Token $T", True),
        ("", False), ("T", False), ("${T:-hunter2}", False), ("${T}hunter2", False), ("x${T}", False),
        ("${T}hunter2${U}", False),
        ("$5", True), ("%T%", False),
    ],
)  # fmt: skip
def test_a_reference_is_a_variable_and_nothing_else(value: str, reference: bool) -> None:
    assert is_reference(value) is reference


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--api-key", "abcdef"), "api-key"),
        (("--token=abcdef",), "token"),
        ((KEY,), ""),
        (("x", "https://u:pw@h"), ""),
        (("--token", "--verbose"), None),
        (("--tokens", "3"), None),
        (("--day", "monday"), None),
        ((), None),
    ],
)
def test_an_argument_that_is_a_credential_is_found(arguments: tuple[str, ...], expected: str | None) -> None:
    assert secret_argument(arguments) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--api-key", "abcdef", "x"], ["--api-key", MASK, "x"]),
        (["--api-key", "${KEY}"], ["--api-key", "${KEY}"]),
        (["--token=abcdef", "--token=$T"], [f"--token={MASK}", "--token=$T"]),
        (["-e", "ROTA_TOKEN=abcdef", "-e", "DAY=monday"], ["-e", f"ROTA_TOKEN={MASK}", "-e", "DAY=monday"]),
        (["-e", "T_TOKEN=${T_TOKEN}"], ["-e", "T_TOKEN=${T_TOKEN}"]),
        (["--header", "X-Api-Key: abcdef"], ["--header", f"X-Api-Key: {MASK}"]),
        (["--header", "Authorization: Bearer ${T}"], ["--header", "Authorization: Bearer ${T}"]),
        (["--bearer-token-env-var", "DOCS_TOKEN"], ["--bearer-token-env-var", "DOCS_TOKEN"]),
        ([f"x={KEY}", "https://u:pw@h/p"], [f"x={MASK}", f"https://u:{MASK}@h/p"]),
        (["scope=user:nora,path=me", "C:\\key\\x"], ["scope=user:nora,path=me", "C:\\key\\x"]),
    ],
)
def test_a_command_line_is_shown_without_them(arguments: list[str], expected: list[str]) -> None:
    assert masked_arguments(arguments) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("https://u:pw@x.example:8080/a?b=c#d", f"https://u:{MASK}@x.example:8080/a?b=c#d"),
        ("https://x/?api_key=abc&team=web", f"https://x/?api_key={MASK}&team=web"),
        ("https://x/?team=web", "https://x/?team=web"),
        ("http://[::1", "http://[::1"),
        ("no url", "no url"),
    ],
)
def test_a_url_is_shown_without_them(value: str, expected: str) -> None:
    assert masked_url(value) == expected


def test_a_value_is_hidden_by_its_name_or_by_what_it_is() -> None:
    assert [masked("TOKEN", "abcdef"), masked("DAY", "monday"), masked("DAY", KEY)] == [MASK, "monday", MASK]
    assert masked("DB", "postgres://u:pw@h/d") == f"postgres://u:{MASK}@h/d"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (['  "API_KEY": "abcdef",\n'], [f'  "API_KEY": "{MASK}",\n']),
        (["token = 'abcdef'\n"], [f"token = '{MASK}'\n"]),
        (['"TOKEN": "${TOKEN}"'], ['"TOKEN": "${TOKEN}"']),
        (['"TOKEN": "${TOKEN:-abcdef}"'], [f'"TOKEN": "{MASK}"']),
        (['+  "--api-key",\n', '+  "abcdef",\n', '+  "x"\n'], ['+  "--api-key",\n', f'+  "{MASK}",\n', '+  "x"\n']),
        (
            [' "--api-key",\n', '-"abcdef",\n', '+"ghijkl",\n', ' "x"\n'],
            [' "--api-key",\n', f'-"{MASK}",\n', f'+"{MASK}",\n', ' "x"\n'],
        ),
        (['"args": ["--api-key", "abcdef", "x"]'], [f'"args": ["--api-key", "{MASK}", "x"]']),
        (['"postgres://u:pw@h/d"'], [f'"postgres://u:{MASK}@h/d"']),
        ([f"# {KEY}\n"], [f"# {MASK}\n"]),
        (['"DAY": "a \\"quoted\\" day"'], ['"DAY": "a \\"quoted\\" day"']),
        (['bearer_token_env_var = "DOCS_TOKEN"'], ['bearer_token_env_var = "DOCS_TOKEN"']),
        (['+env_http_headers = { "X-Api-Key" = "DOCS_KEY" }'], ['+env_http_headers = { "X-Api-Key" = "DOCS_KEY" }']),
        (
            ["+[mcp_servers.docs.env_http_headers]\n", '+X-Api-Key = "DOCS_KEY"\n', "+[a]\n", '+token = "abcdef"\n'],
            [
                *("+[mcp_servers.docs.env_http_headers]\n", '+X-Api-Key = "DOCS_KEY"\n', "+[a]\n"),
                f'+token = "{MASK}"\n',
            ],
        ),
        ([f'+env_http_headers = {{ A = "{KEY}" }}'], [f'+env_http_headers = {{ A = "{MASK}" }}']),
    ],
)
def test_lines_of_a_file_are_shown_without_them(lines: list[str], expected: list[str]) -> None:
    assert list(masked_diff(lines)) == expected


@settings(deadline=None)
@given(st.lists(st.text()))
def test_hiding_needs_no_well_formed_text(lines: list[str]) -> None:
    assert len(list(masked_diff(lines))) == len(masked_arguments(lines)) == len(lines)
    for line in lines:
        masked(line, line)
        secret_argument((line, line))
