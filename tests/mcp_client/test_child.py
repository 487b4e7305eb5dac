"""Servers as child processes: whatever they do, connecting says why, a call answers, and none is left behind."""

from __future__ import annotations

import asyncio
import signal
import time
from pathlib import Path

import anyio
import pytest

from homeport import McpServer, ToolResult
from homeport.errors import HomeportError
from tests.mcp_client.using import BACKENDS, by_name, call, is_alive, raw, refusal, sdk, tools, using

QUICK_S = 15.0
"""Longer than anything takes that does not wait for a timeout of a minute, on a machine under load."""


def told(result: ToolResult) -> tuple[bool, str, str]:
    """ok, code and message; the text is checked to say the same."""
    assert result.error is not None
    assert result.text.startswith(f"[{result.error.code}] {result.error.message}")
    return result.ok, result.error.code, result.error.message


@pytest.mark.parametrize("how", ["good", "banner", "crlf", "loud", "chatters"])
@BACKENDS
def test_a_server_that_can_be_used_is_used(how: str, backend: str) -> None:
    result = call(raw(how), "do", backend, x=1)
    assert (result.ok, result.text, result.error) == (True, "done", None)


@pytest.mark.parametrize(
    ("server", "version"), [(raw("good"), "2025-11-25"), (sdk(), "2026-07-28")], ids=["older", "newer"]
)
def test_either_era_of_the_protocol_is_spoken(server: McpServer, version: str) -> None:
    async def body(server: McpServer) -> str:
        return server.protocol_version

    assert using(server, body) == version


@pytest.mark.parametrize(
    ("how", "code", "message"),
    [
        ("dies", "tool_disconnected", "the server 'raw' did not answer 'do': it ended with exit code 9; "
         "its last line on stderr: out of memory"),
        ("is killed", "tool_disconnected", "the server 'raw' did not answer 'do': it was ended by SIGKILL"),
        ("closes stdout", "tool_disconnected", "the server 'raw' did not answer 'do': it closed its stdout"),
        ("broken answer", "tool_reply_unusable", "the server 'raw' answered 'do' with what cannot be used: "
         "the answer is not a message that can be read"),
        ("no answer in it", "tool_reply_unusable", "the server 'raw' answered 'do' with what cannot be used: "
         "the answer is not a message that can be read"),
        ("not utf-8", "tool_reply_unusable", "the server 'raw' answered 'do' with what cannot be used: "
         "the answer is not a message that can be read"),
        ("lone surrogate", "tool_reply_unusable", "the server 'raw' answered 'do' with what cannot be used: "
         "the answer is not a message that can be read"),
        ("no object", "tool_reply_unusable", "the server 'raw' answered 'do' with what cannot be used: "
         "the answer is not a message that can be read"),
        ("refuses", "tool_refused", "the server 'raw' refused 'do': x is too large (-32602)"),
        ("too huge", "tool_disconnected", "the server 'raw' did not answer 'do': it wrote a line of more than 64 MiB"),
    ],
    ids=lambda value: value if len(value) < 20 else "",
)  # fmt: skip
def test_a_server_that_fails_in_a_call_is_a_result(how: str, code: str, message: str) -> None:
    started_s = time.monotonic()
    assert told(call(raw(how), "do", x=0)) == (False, code, message)
    assert time.monotonic() - started_s < QUICK_S


@pytest.mark.parametrize("how", ["no content", "content is text", "promises", "promises abroad"])
def test_an_answer_that_is_not_what_the_protocol_or_the_tool_says_is_a_result(how: str) -> None:
    ok, code, message = told(call(raw(how), "do"))
    assert (ok, code) == (False, "tool_reply_unusable")
    assert message.startswith("the server 'raw' answered 'do' with what cannot be used: ")
    assert "\n" not in message and len(message) < 700


def test_an_answer_of_20_megabytes_arrives_whole() -> None:
    assert len(call(raw("huge"), "do").text) == 20_000_000


@BACKENDS
def test_a_call_that_is_not_answered_ends_in_time_and_the_next_one_is_answered(backend: str) -> None:
    async def body(server: McpServer) -> tuple[ToolResult, float, ToolResult]:
        started_s = time.monotonic()
        first = await server.tools[0].call(x=0)
        return first, time.monotonic() - started_s, await server.tools[0].call(x=1)

    server = raw("hangs", timeout=1.5)
    first, took_s, second = using(server, body, backend)
    assert told(first) == (False, "tool_timed_out", "the server 'raw' did not answer 'do' within 1.5 s")
    assert 1.4 < took_s < QUICK_S
    assert second.ok
    assert server.stderr.startswith("cancelled ")


@BACKENDS
def test_a_cancelled_caller_is_cancelled_and_the_server_is_told(backend: str) -> None:
    async def body(server: McpServer) -> ToolResult:
        with anyio.move_on_after(1) as limit:
            await server.tools[0].call(x=0)
        assert limit.cancelled_caught
        return await server.tools[0].call(x=1)

    server = raw("hangs")
    assert using(server, body, backend).ok
    assert server.stderr.startswith("cancelled ")


def test_calls_side_by_side_each_get_their_own_answer() -> None:
    async def body(server: McpServer) -> list[str]:
        said = [""] * 20

        async def one(number: int) -> None:
            said[number] = (await server.tools[0].call(x=str(number))).text

        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(one, number)
        return said

    assert using(raw("echo"), body) == [str(number) for number in range(20)]


def test_after_the_server_died_every_call_says_so() -> None:
    async def body(server: McpServer) -> list[tuple[bool, str, str]]:
        return [told(await server.tools[0].call()) for _ in range(2)]

    said = "the server 'raw' did not answer 'do': it was ended by SIGKILL"
    assert using(raw("is killed"), body) == [(False, "tool_disconnected", said)] * 2


def test_arguments_that_are_not_json_are_a_result_and_nothing_is_sent() -> None:
    async def body(server: McpServer) -> list[tuple[bool, str, str]]:
        return [told(await server.tools[0].call(x=value)) for value in (object(), float("nan"), "\ud800", {1, 2})]

    told_each = using(raw("dies"), body)
    assert {(ok, code) for ok, code, _ in told_each} == {(False, "bad_argument")}
    assert {message.partition(": ")[0] for _, _, message in told_each} == {"the arguments of 'do' are not JSON"}


def test_a_server_that_does_not_read_holds_a_call_up_no_longer_than_its_timeout() -> None:
    async def body(server: McpServer) -> tuple[list[str], float]:
        codes: list[str] = []
        started_s = time.monotonic()

        async def one() -> None:
            codes.append(told(await by_name(server, "do").call(x="x" * 1_000_000))[1])

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(one)
        return codes, time.monotonic() - started_s

    codes, took_s = using(raw("closes stdout", timeout=2), body)
    assert set(codes) <= {"tool_disconnected", "tool_timed_out"} and len(codes) == 5
    assert took_s < QUICK_S


# Connecting


@pytest.mark.parametrize(
    ("server", "message", "hint"),
    [
        (McpServer.stdio("no-such"), "the MCP server 'no-such' (no-such) could not be connected: "
         "there is no program 'no-such' on PATH", "install it, or give its whole path"),
        (McpServer.stdio("/no/such", name="x"), "the MCP server 'x' (/no/such) could not be connected: "
         "there is no such program: /no/such", None),
        (McpServer.stdio("/", name="x"), "the MCP server 'x' (/) could not be connected: "
         "/ may not be run: Permission denied", None),
        (McpServer.stdio("true", cwd="/no/such"), "the MCP server 'true' (true) could not be connected: "
         "its working folder does not exist: /no/such", None),
        (McpServer.stdio("sh", ["-c", "exit 0"], name="x"), "the MCP server 'x' (sh -c exit 0) could not be connected: "
         "it ended with exit code 0", None),
        (McpServer.stdio("sh", ["-c", "echo a >&2; echo no database >&2; exit 3"], name="x"),
         "the MCP server 'x' (sh -c echo a >&2; echo no database >&2; exit 3) could not be connected: "
         "it ended with exit code 3; its last line on stderr: no database", None),
        (McpServer.stdio("sh", ["-c", "echo usage: x; exit 2"], name="x"),
         "the MCP server 'x' (sh -c echo usage: x; exit 2) could not be connected: "
         "it ended with exit code 2; on stdout it wrote what is not MCP: usage: x", None),
        (McpServer.stdio("a\0b", name="x"), "the MCP server 'x' (a\0b) could not be connected: "
         "it could not be started: embedded null byte", None),
    ],
    ids=["missing", "no file", "a folder", "no cwd", "ends at once", "ends with a reason", "no server", "null byte"],
)  # fmt: skip
def test_a_program_that_is_no_server_is_refused_with_the_reason(
    server: McpServer, message: str, hint: str | None
) -> None:
    started_s = time.monotonic()
    error = refusal(server)
    assert (error.code, error.message, error.hint) == ("tool_mcp_connection_failed", message, hint)
    assert isinstance(error, HomeportError)
    assert time.monotonic() - started_s < QUICK_S


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("two different", "it lists two different tools named 'do'"),
        ("same cursor", "its list of tools does not end"),
        ("new cursors", "its list of tools does not end"),
        ("no list", "its answer is not what the protocol says: tools: Field required"),
        ("no tools", "no such method"),
        ("old", "Unsupported protocol version from the server: 1999-01-01"),
    ],
)
def test_a_server_whose_beginning_cannot_be_used_is_refused_with_the_reason(how: str, reason: str) -> None:
    assert refusal(raw(how)).details["reason"] == reason


@pytest.mark.parametrize("script", ["sleep 100", "echo hello; sleep 100", "while :; do echo hello; sleep 0.01; done"])
@BACKENDS
def test_a_program_that_never_answers_is_given_up_in_time_and_ended(script: str, backend: str) -> None:
    started_s = time.monotonic()
    error = refusal(McpServer.stdio("sh", ["-c", script], connect_timeout=1), backend)
    assert error.details["reason"] == "it did not answer within 1 s" + (
        "; on stdout it wrote what is not MCP: hello" if "hello" in script else ""
    )
    assert time.monotonic() - started_s < QUICK_S


def test_a_server_that_accepts_nothing_before_initialize_is_greeted_the_older_way() -> None:
    async def body(server: McpServer) -> tuple[str, ToolResult]:
        return server.protocol_version, await server.tools[0].call()

    version, result = using(raw("only initialize"), body)
    assert (version, result.text) == ("2025-11-25", "done")


def test_the_list_of_tools_is_followed_to_its_end_and_a_tool_that_comes_twice_is_one() -> None:
    assert [tool.name for tool in tools(raw("pages"))] == ["do0", "do1", "do2", "do3", "do4"]
    assert [tool.name for tool in tools(raw("empty cursor"))] == ["do", "do2"]
    assert [tool.name for tool in tools(raw("two alike"))] == ["do"]


# Its environment and its stderr


def test_a_server_gets_the_variables_of_the_list_and_env_over_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ours")
    monkeypatch.setenv("TZ", "Europe/Prague")
    monkeypatch.setenv("TERM", "() { :; }")
    refusal(McpServer.stdio("sh", ["-c", "env > out"], cwd=tmp_path, env={"LEDGER_TOKEN": "its", "LANG": "C"}))
    got = dict(line.split("=", 1) for line in (tmp_path / "out").read_text().splitlines())
    assert (got["TZ"], got["LEDGER_TOKEN"], got["LANG"]) == ("Europe/Prague", "its", "C")
    assert {"GITHUB_TOKEN", "TERM"} & got.keys() == set()


def test_stderr_is_kept_bounded_and_masked_and_not_printed(capfd: pytest.CaptureFixture[str]) -> None:
    server = raw("loud")
    assert call(server, "do").ok
    assert server.stderr.endswith("noise \nlast line\n") and len(server.stderr) <= 65_536
    assert capfd.readouterr() == ("", "")


def test_stderr_is_given_line_by_line_where_that_is_asked_for() -> None:
    lines: list[str] = []
    script = "printf 'one\\r\\ntwo\\n\\nhalf' >&2; exit 1"
    refusal(McpServer.stdio("sh", ["-c", script], stderr=lines.append))
    # It was started twice: see the server that accepts nothing before initialize.
    assert lines == ["one", "two", "", "half"] * 2


def test_a_stderr_function_that_raises_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def broken(line: str) -> None:
        raise OSError(line)

    assert call(raw("loud", stderr=broken), "do").ok
    assert {record.message for record in caplog.records} == {"on_stderr failed"}


def test_what_a_server_says_of_a_credential_is_masked() -> None:
    script = 'echo "token $LEDGER_TOKEN and sk-abcdefghijklmnop refused" >&2; exit 1'
    server = McpServer.stdio(
        "sh", ["-c", script, "--api-key", "k-12345678"], env={"LEDGER_TOKEN": "tomato-soup"}, name="x"
    )
    error = refusal(server)
    assert error.details["reason"].endswith("its last line on stderr: token *** and *** refused")
    said = f"{error} {error.details} {server.stderr} {server!r}"
    assert [secret for secret in ("tomato-soup", "sk-abcdef", "k-12345678") if secret in said] == []


# Its end


def alive(file: Path) -> list[int]:
    """Those of three processes that are still there."""
    ids = [int(line) for line in file.read_text().split()]
    assert len(ids) == 3
    return [process for process in ids if is_alive(process)]


@pytest.mark.parametrize("how", ["family", "deaf family"])
@BACKENDS
def test_no_child_outlives_the_block(how: str, backend: str, tmp_path: Path) -> None:
    file = tmp_path / "ids"

    async def body(server: McpServer) -> list[int]:
        return alive(file)

    assert len(using(raw(how, str(file)), body, backend)) == 3
    assert alive(file) == []


@BACKENDS
def test_no_child_outlives_a_body_that_raises_and_its_error_comes_out_as_it_was(backend: str, tmp_path: Path) -> None:
    file = tmp_path / "ids"

    async def body(server: McpServer) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        using(raw("family", str(file)), body, backend)
    assert alive(file) == []


@BACKENDS
def test_no_child_outlives_a_cancelled_body(backend: str, tmp_path: Path) -> None:
    file = tmp_path / "ids"

    async def main() -> None:
        with anyio.CancelScope() as scope:
            async with raw("deaf family", str(file)):
                scope.cancel()
                await anyio.sleep_forever()

    anyio.run(main, backend=backend)
    assert alive(file) == []


@BACKENDS
def test_no_child_outlives_an_entering_that_is_cancelled(backend: str, tmp_path: Path) -> None:
    file = tmp_path / "ids"

    async def main() -> None:
        # Its children are there as soon as it says so, and it never answers.
        script = (
            f"sleep 300 & sleep 300 & jobs -p > {file}; echo $$ >> {file}; echo here >&2; cat > /dev/null; sleep 300"
        )
        here = anyio.Event()
        async with anyio.create_task_group() as tasks:

            async def enter() -> None:
                async with McpServer.stdio("sh", ["-c", script], stderr=lambda line: here.set()):
                    raise AssertionError("it connected")

            tasks.start_soon(enter)
            with anyio.fail_after(QUICK_S):
                await here.wait()
            tasks.cancel_scope.cancel()

    anyio.run(main, backend=backend)
    assert alive(file) == []


def test_no_child_outlives_a_task_that_asyncio_cancels_again_and_again(tmp_path: Path) -> None:
    file = tmp_path / "ids"

    async def main() -> None:
        entered = asyncio.Event()

        async def body() -> None:
            async with raw("deaf family", str(file)):
                entered.set()
                await asyncio.sleep(300)

        task = asyncio.create_task(body())
        await entered.wait()
        while not task.done():
            task.cancel()
            await asyncio.sleep(0.05)

    asyncio.run(main())
    assert alive(file) == []


def test_no_child_outlives_a_program_that_is_interrupted(tmp_path: Path) -> None:
    file = tmp_path / "ids"

    async def main() -> None:
        async with raw("family", str(file)):
            signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(300)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main())
    assert alive(file) == []


def test_leaving_a_server_that_ends_with_its_stdin_does_not_wait() -> None:
    async def body(server: McpServer) -> float:
        return time.monotonic()

    left_s = using(raw("good"), body)
    assert time.monotonic() - left_s < 1.5


@BACKENDS
def test_a_block_can_be_entered_again(backend: str) -> None:
    server = raw("echo")

    async def main() -> list[str]:
        said: list[str] = []
        for number in range(2):
            async with server:
                tool = server.tools[0]
                said.append((await tool.call(x=str(number))).text)
            said.append((await tool.call(x="late")).text)
        return said

    outside = (
        "[tool_disconnected] the server 'raw' is not connected: its `async with` block was left\n"
        "call 'do' inside the block"
    )
    assert anyio.run(main, backend=backend) == ["0", outside, "1", outside]
