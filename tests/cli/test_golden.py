"""What each client is given, at each level, on each system: byte for byte, in golden/<client>/."""

from __future__ import annotations

import json
import shlex
from pathlib import PurePath, PurePosixPath, PureWindowsPath

import pytest

from homeport.environment import Environment, Platform
from homeport.installer.clients import CLIENTS
from tests.cli.running import run, transcript
from tests.conftest import Golden
from tests.made import FOLDER, PLATFORMS, MadeDisk, Thing, make_environment

LEVELS = ("user", "project")
BUNDLED = "install --client {client} --level {level}"
LINES = (
    BUNDLED,
    BUNDLED + " --name github --env GITHUB_TOKEN -- npx -y @modelcontextprotocol/server-github",
    BUNDLED + " --name docs --header 'Authorization: Bearer $DOCS_TOKEN' https://docs.example.com/mcp",
)
# What a client gets that takes neither of the last two.
PLAIN = BUNDLED + " --name notes -- npx -y server-notes ~/notes"
HOMES = ["~/.claude", "~/.cursor", "~/.codex", "~/.config/opencode", "~/.config/muse", ".git"]
DESKTOP = {
    "linux": "~/.config/Claude",
    "darwin": "~/Library/Application Support/Claude",
    "win32": "~/AppData/Roaming/Claude",
}


def npx(platform: Platform) -> PurePath:
    if platform == "win32":
        return PureWindowsPath(r"C:\Program Files\nodejs\npx.cmd")
    return PurePosixPath("/opt/homebrew/bin/npx" if platform == "darwin" else "/usr/bin/npx")


def machine(platform: Platform, things: dict[str, Thing] | None = None) -> tuple[Environment, MadeDisk]:
    """Every client is installed, and the working folder is a project."""
    environment = make_environment(platform, search={"npx": npx(platform)}.get)
    folders: dict[str, Thing] = dict.fromkeys([*HOMES, DESKTOP[platform]], FOLDER)
    return environment, MadeDisk(environment, {**folders, **(things or {})})


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_printed(client: str, level: str, platform: Platform, golden: Golden) -> None:
    environment, disk = machine(platform)
    asked = (*LINES, PLAIN) if client == "claude-desktop" else LINES
    lines = [line.format(client=client, level=level) for line in asked]
    shown = [transcript(line, run(*shlex.split(line), environment=environment, disk=disk)) for line in lines]
    golden.check(f"{client}/{level}-print-{platform}.txt", b"".join(shown))


# A file as somebody may have it, in a layout of its own.
TALLY: dict[str, tuple[str, bytes]] = {
    "claude-code": (
        "~/.claude.json",
        b'{\n  "numStartups": 7,\n  "mcpServers": {\n    "tally": { "command": "x" }\n  }\n}\n',
    ),
    "claude-desktop": ("~/.config/Claude/claude_desktop_config.json", b'{"mcpServers": {"tally": {"command": "x"}}}'),
    "cursor": ("~/.cursor/mcp.json", b'{\n\t"mcpServers": {\n\t\t// counts\n\t\t"tally": {"command": "x"},\n\t},\n}\n'),
    "codex": (
        "~/.codex/config.toml",
        b'model = "o3"  # mine\n\n[mcp_servers.tally]\ncommand = "x"\n\n[tui]\nvim = true\n',
    ),
    "opencode": ("~/.config/opencode/opencode.jsonc", b'{\n  // mine\n  "theme": "system",\n  "mcp": {}\n}\n'),
    "muse-code": ("~/.config/muse/settings.json", b'{\n    "schema_version": 1,\n    "mcpServers": {}\n}\n'),
}
MODES = ("diff", "check")


@pytest.mark.parametrize("client", CLIENTS)
def test_what_the_other_modes_say_of_a_file_with_a_neighbour(client: str, golden: Golden) -> None:
    file, source = TALLY[client]
    environment, disk = machine("linux", {file: source})
    lines = [f"install --client {client} --{mode}" for mode in MODES]
    shown = [transcript(line, run(*shlex.split(line), environment=environment, disk=disk)) for line in lines]
    golden.check(f"{client}/user-diff-linux.txt", b"".join(shown))


@pytest.mark.parametrize("client", CLIENTS)
def test_what_an_envelope_holds(client: str, golden: Golden) -> None:
    file, source = TALLY[client]
    environment, disk = machine("linux", {file: source})
    done = run("install", "--client", client, "--json", environment=environment, disk=disk)
    assert (done.exit, done.stderr) == (0, b"")
    text = json.dumps(done.envelope, indent=2, ensure_ascii=False) + "\n"
    golden.check(f"{client}/user-json-linux.json", text.encode())


def test_the_common_shape(golden: Golden) -> None:
    environment, disk = machine("linux")
    lines = [line.format(client="mcp-json", level="user") for line in LINES]
    shown = [transcript(line, run(*shlex.split(line), environment=environment, disk=disk)) for line in lines]
    golden.check("mcp-json/print.txt", b"".join(shown))
