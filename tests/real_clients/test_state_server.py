"""The real clients use the bundled server in whole sessions: with a model that follows a script, and no account.

Between client and server stands a recorder: what a client asked of the server is known, and not only what came of it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from homeport.server.state.history.store import History
from homeport.server.state.home import open_home
from tests.docs.pages import DOCS, table
from tests.harness import run_homeport
from tests.real_clients.clients import Machine, output, program
from tests.real_clients.scripted_model import Call, ScriptedModel
from tests.server.recorded import land, said

RECORDER = Path(__file__).parent / "recorder.py"
NAME: Final = "state"
TOOLS = {"memory", "list_skills", "load_skill", "search_history", "recall_turn"}
LABELS = {"claude-code": "Claude Code", "codex": "Codex", "opencode": "OpenCode"}

SKILL = "---\ndescription: How to mend a pump\n---\nTurn it off first, said Žofie.\n"
WRITE = Call("memory", {"command": "create", "path": "/memory/skills/mend-pump", "file_text": SKILL})
# A call of each tool, with a word that its result must bring to the model.
USES = [
    (WRITE, "/memory/skills/mend-pump"),  # once more, where Codex wrote it first
    (Call("list_skills", {}), "How to mend a pump"),
    (Call("load_skill", {"name": "mend-pump"}), "Turn it off first, said Žofie."),
    (Call("search_history", {"query": "VALVE"}), "Close the valve, said Žofie"),
    (Call("recall_turn", {"turn": 1, "conversation": "c1"}), "Close the valve, said Žofie"),
]


class Household:
    """A home with one recorded conversation, and a machine whose clients have the server registered."""

    def __init__(self, folder: Path) -> None:
        self.machine = Machine(folder)
        self._home = folder / "state"
        self._logs = folder / "logs"
        with closing(History(open_home(self._home).history)) as history:
            land(history, said("Close the valve, said Žofie"))

    def session(self, client: str, script: Sequence[Call], prompt: str | None = None) -> ScriptedModel:
        """One whole session, from the client's start to its end; `prompt` is one of the server's."""
        program(client)
        self._register(client)
        with ScriptedModel(NAME, script) as model:
            words, variables = _command(client, model.url, prompt)
            machine = self.machine
            printed = output([str(program(client)), *words], machine.project, {**machine.environment, **variables})
        assert model.asked, printed
        return model

    def asked(self, client: str) -> list[dict[str, Any]]:
        """All that the client sent to the servers it started."""
        files = (self._logs / client).iterdir()
        lines = [json.loads(line) for file in files for line in file.read_bytes().splitlines()]
        return [line["message"] for line in lines if line["from"] == "client"]

    def _register(self, client: str) -> None:
        logs = self._logs / client
        logs.mkdir(parents=True)
        command = [sys.executable, str(RECORDER), str(logs), sys.executable, "-m", "homeport", "serve"]
        place = ["--client", client, "--level", "user", "--write", *(["--via", "file"] if client != "opencode" else [])]
        done = run_homeport(
            *("install", *place, "--name", NAME, "--", *command, "--root", str(self._home), "--scope", "user:ann"),
            home=self.machine.home,
            cwd=self.machine.project,
            variables=self.machine.environment,
        )
        assert done.exit == 0, done.stderr.decode()


def _command(client: str, url: str, prompt: str | None) -> tuple[list[str], dict[str, str]]:
    """What starts a session with the scripted model, without a question to a person."""
    if client == "claude-code":
        question = f"/mcp__{NAME}__{prompt}" if prompt else "Go."
        words = ["-p", question, "--allowedTools", f"mcp__{NAME}", "--model", "claude-sonnet-4-5"]
        # Otherwise it asks the model before the server has answered, as Codex does without `required`.
        return words, {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none", "MCP_CONNECTION_NONBLOCKING": "0"}
    if client == "codex":
        provider = f'model_providers.script={{name="script", base_url="{url}/v1", wire_api="responses"}}'
        settings = [provider, 'model_provider="script"', 'model="script"', f"mcp_servers.{NAME}.required=true"]
        words = ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        return [*words, *(word for setting in settings for word in ("-c", setting)), "Go."], {}
    options = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": f"{url}/v1", "apiKey": "none"}}
    providers = {"script": {**options, "models": {"script": {"name": "script"}}}}
    words = ["run", *(["--command", f"{NAME}:{prompt}"] if prompt else []), "Go."]
    return words, {"OPENCODE_CONFIG_CONTENT": json.dumps({"model": "script/script", "provider": providers})}


@pytest.fixture
def household(tmp_path: Path) -> Household:
    return Household(tmp_path)


@pytest.mark.parametrize("client", LABELS)
def test_instructions_tools_and_the_prompt_that_codex_wrote_reach_the_model_and_work(
    household: Household, client: str
) -> None:
    page = row(client)
    of_a_prompt = set() if page["for a prompt"] == "never asks" else set(page["for a prompt"].split(", "))
    if of_a_prompt:
        household.session("codex", [WRITE])
    model = household.session(client, [call for call, _ in USES], "mend-pump" if of_a_prompt else None)

    assert "Homeport keeps what should outlive this conversation." in model.asked
    assert model.tools == TOOLS
    assert [word in result for (_, word), result in zip(USES, model.results, strict=True)] == [True] * 5, model.results
    assert ("Turn it off first, said Žofie." in model.first) == bool(of_a_prompt)

    asked = household.asked(client)
    assert handshake(asked) == (page["revision"], page["calls itself"])
    assert methods(asked) == {*page["sends"].split(", "), *of_a_prompt}
    assert ('"operation":"memory"' in model.results[0]) == (page["the model is given"] == "structuredContent")


def row(client: str) -> dict[str, str]:
    """What the page says of a client, without the marks of code."""
    columns = ["client", "revision", "calls itself", "sends", "for a prompt", "the model is given"]
    rows = [[cell.replace("`", "") for cell in row] for row in table(DOCS / "protocol.md", "What the real clients do")]
    return next(dict(zip(columns, row, strict=True)) for row in rows if row[0] == LABELS[client])


def handshake(messages: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """The revision that is asked for, and the client's name. Every server of one client is asked the same."""
    params = [message["params"] for message in messages if message["method"] == "initialize"]
    [found] = {(one["protocolVersion"], one["clientInfo"]["name"]) for one in params}
    return found


def methods(messages: Sequence[Mapping[str, Any]]) -> set[str]:
    return {message["method"] for message in messages if "method" in message}
