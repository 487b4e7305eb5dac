"""Ours or foreign, by what an entry runs."""

from __future__ import annotations

import pytest

from homeport.installer.clients.references import parse_text, plain_text
from homeport.installer.clients.values import Json, Registration, Remote, Server, Stdio
from homeport.installer.plan.ownership import History, Identity, Written, identity, is_ours, runs_homeport


def stdio(*words: str) -> Stdio:
    return Stdio(parse_text(words[0]), tuple(parse_text(word) for word in words[1:]))


@pytest.mark.parametrize(
    "line",
    [
        "homeport serve",
        "homeport",
        "/home/nora/.local/bin/homeport serve --root /x",
        r"C:\Users\nora\Scripts\homeport.exe serve",
        "homeport.cmd serve",
        "python -m homeport serve",
        "/usr/bin/python3 -m homeport serve",
        "/opt/py/bin/python3.12 -I -m homeport",
        "python3 -X utf8 -W ignore -u -m homeport serve",
        "pythonw.exe -m homeport",
        "pypy3 -m homeport",
        r"C:\Windows\py.exe -3.12 -m homeport serve",
        "uvx homeport serve",
        "uvx homeport==0.1.0 serve",
        "uvx homeport@latest serve",
        "uvx --python 3.12 homeport[postgres]>=0.1 serve",
        "uvx --from homeport==0.1.0 homeport serve",
        "/opt/uv/uvx.exe --quiet homeport serve",
        "uv tool run --with x homeport serve",
        "uv run homeport serve",
        "uv run --project /x python -m homeport serve",
        "uv --directory /x run homeport serve",
        "uv run -- homeport serve",
        "pipx run homeport==0.1.0 serve",
        "pipx run --spec git+https://x homeport serve",
        "env A=1 homeport serve",
        "/usr/bin/env -i -u B A=1 python3 -m homeport",
        "cmd /c homeport serve",
        r"C:\Windows\System32\cmd.exe /C python -m homeport",
        "wsl.exe -d Ubuntu -- homeport serve",
        "wsl --cd ~ -- env A=1 python3 -m homeport serve",
        "wsl -e homeport serve",
        "wsl homeport serve",
    ],
)
def test_homeport_is_known_behind_every_launcher(line: str) -> None:
    assert runs_homeport(stdio(*line.split(" ")))


@pytest.mark.parametrize(
    "words",
    [
        ["echo", "-m", "homeport"],
        ["python", "script.py", "-m", "homeport"],
        ["python", "-c", "print()", "-m", "homeport"],
        ["python", "-", "-m", "homeport"],
        ["python", "-m", "homeport.other"],
        ["python", "-m", "homeport_tools"],
        ["python", "-m"],
        ["python", "homeport"],
        ["python-config", "-m", "homeport"],
        ["sh", "-c", "python -m homeport"],
        ["sh", "-c", "homeport"],
        ["homeport-other"],
        ["homeport2", "serve"],
        ["homeport.py", "serve"],
        ["my-homeport"],
        ["/opt/homeport/bin/tally"],
        ["/opt/homeport/", "serve"],
        ["npx", "-y", "homeport"],
        ["node", "homeport"],
        ["docker", "run", "homeport"],
        ["ssh", "host", "homeport"],
        ["uvx", "homeport-tools"],
        ["uvx", "other", "homeport"],
        ["uvx", "--from", "homeport", "tally"],
        ["uvx"],
        ["uv", "pip", "install", "homeport"],
        ["uv", "run", "tally", "homeport"],
        ["uv", "tool", "install", "homeport"],
        ["pipx", "install", "homeport"],
        ["pipx", "run", "tally", "homeport"],
        ["env", "A=homeport", "tally"],
        ["env", "homeport=1"],
        ["cmd", "/k", "homeport"],
        ["cmd", "homeport"],
        ["cmd", "/c", "echo", "homeport"],
        ["wsl", "tally", "-e", "homeport"],
        ["wsl", "tally", "--", "homeport"],
        ["wsl.exe", "-d", "homeport"],
        ["", "-m", "homeport"],
    ],
    ids=" ".join,
)
def test_near_misses_are_foreign(words: list[str]) -> None:
    assert not runs_homeport(Stdio(plain_text(words[0]), tuple(plain_text(word) for word in words[1:])))


@pytest.mark.parametrize("server", [None, Remote(plain_text("https://homeport.example/homeport"))])
def test_a_url_is_never_the_program(server: Server | None) -> None:
    assert not runs_homeport(server)


BUNDLED = Registration("homeport", stdio("homeport", "serve"), bundled=True)
ROTA = Registration("rota", stdio("npx", "-y", "rota"))
FEED = Registration("feed", Remote(plain_text("https://x.example/mcp")))


def known(runs: Identity | None, entry: Json) -> Written:
    return Written("/f", ("mcpServers", "rota"), entry, None, runs, (), False, None, "", "", ())


@pytest.mark.parametrize(
    ("server", "wanted", "written", "spelled", "expected"),
    [
        pytest.param(stdio("uvx", "homeport"), BUNDLED, None, None, True, id="ours, updated by the bundled server"),
        pytest.param(stdio("uvx", "homeport"), None, None, None, True, id="ours, taken out"),
        pytest.param(stdio("uvx", "homeport"), ROTA, None, None, False, id="ours is no licence for another server"),
        pytest.param(stdio("tally"), BUNDLED, None, None, False, id="foreign under our name"),
        pytest.param(stdio("npx", "-y", "rota"), ROTA, None, None, True, id="the same command and arguments"),
        pytest.param(stdio("npx", "rota"), ROTA, None, None, False, id="other arguments"),
        pytest.param(stdio("npx", "-y", "rota"), None, None, None, False, id="unknown, taken out"),
        pytest.param(
            stdio("cmd", "/c", "npx"), ROTA, None, stdio("cmd", "/c", "npx"), True, id="as it would be written"
        ),
        pytest.param(stdio("a"), ROTA, known(("stdio", "a"), {"command": "a"}), None, True, id="the journal knows it"),
        pytest.param(stdio("b"), ROTA, known(("stdio", "a"), {"command": "a"}), None, False, id="changed since"),
        pytest.param(stdio("a"), None, known(("stdio", "a"), None), None, False, id="we took it out; another came"),
        pytest.param(FEED.server, FEED, None, None, True, id="the same URL"),
        pytest.param(Remote(plain_text("https://y.example")), FEED, None, None, False, id="another URL"),
        pytest.param(
            FEED.server, None, known(("remote", "https://x.example/mcp"), {}), None, True, id="a URL we wrote"
        ),
        pytest.param(None, BUNDLED, known(None, {}), None, False, id="nothing that runs"),
    ],
)
def test_an_entry_is_ours(
    server: Server | None, wanted: Registration | None, written: Written | None, spelled: Server | None, expected: bool
) -> None:
    assert is_ours(server, wanted, written, spelled) is expected


def test_variables_do_not_make_another_server() -> None:
    first, second = stdio("npx", "rota"), stdio("npx", "rota")._replace(env=(("A", plain_text("b")),), cwd="/srv")
    assert identity(first) == identity(second)


def test_the_history_gives_the_last_change_and_what_was_made() -> None:
    one = known(("stdio", "a"), {})._replace(made=(("mcpServers",),))
    two = known(("stdio", "b"), {})
    other = known(None, {})._replace(path=("mcpServers", "tally"))
    history = History({"/f": (one, other, two)})
    assert history.of("/f", ("mcpServers", "rota")) == (one, two)
    assert history.last("/f", ("mcpServers", "rota")) is two
    assert history.last("/g", ("mcpServers", "rota")) is None
    assert history.made("/f") == {("mcpServers",)}
