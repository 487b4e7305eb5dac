"""Servers behind HTTP: real ones in a process of their own, and raw answers that no good server gives."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import pytest

from homeport import McpServer, ToolResult
from tests.mcp_client.using import BACKENDS, HERE, by_name, call, refusal, using

QUICK_S = 15.0


class Running:
    """sdk_server.py behind a URL."""

    def __init__(self, folder: Path, kind: str = "http", token: str = "") -> None:
        port_file = folder / "port"
        self.process = subprocess.Popen([sys.executable, str(HERE / "sdk_server.py"), kind, str(port_file), token])
        deadline_s = time.monotonic() + 60
        while not port_file.exists() and time.monotonic() < deadline_s:
            assert self.process.poll() is None
            time.sleep(0.02)
        self.url = f"http://127.0.0.1:{port_file.read_text()}/mcp"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    server = Running(tmp_path_factory.mktemp("http"), token="let-me-in-please")
    yield server
    server.kill()


def entering(running: Running, **options: Any) -> McpServer:
    return McpServer.http(running.url, headers={"Authorization": "Bearer let-me-in-please"}, **options)


@BACKENDS
def test_a_server_behind_a_url_is_used(running: Running, backend: str) -> None:
    async def body(server: McpServer) -> tuple[Any, ...]:
        result = await by_name(server, "add").call(x=1, y=2)
        return server.name, server.protocol_version, server.instructions, result.data, result.text

    assert using(entering(running), body, backend) == (
        "127.0.0.1", "2026-07-28", "Use it well.", {"sum": 3}, '{"sum": 3}',
    )  # fmt: skip


def test_a_credential_that_is_missing_or_wrong_is_said_with_the_status(running: Running) -> None:
    error = refusal(McpServer.http(running.url, name="bench", headers={"Authorization": "Bearer wrong-credential"}))
    assert error.message == f"the MCP server 'bench' ({running.url}) could not be connected: HTTP 401 Unauthorized"
    assert error.hint == "pass the credential: headers={'Authorization': 'Bearer ...'}"
    assert error.details == {"server": "bench", "reason": "HTTP 401 Unauthorized", "http_status": 401}


@BACKENDS
def test_a_call_that_is_not_answered_ends_in_time_and_the_next_one_is_answered(running: Running, backend: str) -> None:
    async def body(server: McpServer) -> tuple[str, str]:
        late = await by_name(server, "wait").call(seconds=60)
        assert late.error is not None
        return late.error.code, (await by_name(server, "echo").call(z="x")).text

    assert using(entering(running, timeout=2), body, backend) == ("tool_timed_out", "x\nand that was it")


def test_an_answer_of_four_megabytes_arrives_whole(running: Running) -> None:
    # The SDK gives up at one, where nothing else is asked for.
    assert len(call(entering(running), "large", size=4_000_000).text) == 4_000_000


@pytest.mark.parametrize("kind", ["http", "stateless"])
@BACKENDS
def test_a_server_that_dies_in_a_call_is_a_result_and_so_is_every_call_after_it(
    kind: str, backend: str, tmp_path: Path
) -> None:
    server = Running(tmp_path, kind)

    async def body(entered: McpServer) -> list[str]:
        said = [await by_name(entered, "end").call()]
        server.kill()  # waits for its end
        said.append(await by_name(entered, "echo").call(z="x"))
        return [f"{result.error and result.error.code}: {result.error}" for result in said]

    first, second = using(McpServer.http(server.url, name="bench"), body, backend)
    assert first.startswith("tool_disconnected: the server 'bench' did not answer 'end': ")
    assert second == (
        "tool_disconnected: the server 'bench' did not answer 'echo': connection refused: nothing listens there"
    )


Answer = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


@contextmanager
def answering(answer: Answer) -> Iterator[str]:
    """The URL of a server that answers each POST as `answer` does; `initialize` and the list as a good server would."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer(self, request)

        def do_GET(self) -> None:
            send(self, 405, b"", "text/plain")

        def log_message(self, format: str, *arguments: Any) -> None:
            pass  # stderr is the test run's

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def send(handler: BaseHTTPRequestHandler, status: int, body: bytes, kind: str, **headers: str) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    for name, value in {"Content-Length": str(len(body)), "Connection": "close", **headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def in_calls(answer: Answer) -> Answer:
    """A good server of the handshake era, but for calls."""

    def whole(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        results = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "raw", "version": "1"},
            },
            "tools/list": {"tools": [{"name": "do", "inputSchema": {"type": "object"}}]},
        }
        if request["method"] == "tools/call":
            answer(handler, request)
        elif request["method"] in results:
            said = {"jsonrpc": "2.0", "id": request["id"], "result": results[request["method"]]}
            send(handler, 200, json.dumps(said).encode(), "application/json")
        else:
            send(handler, 202 if "id" not in request else 400, b"", "text/plain")

    return whole


def plain(status: int, body: bytes = b"<html>", kind: str = "text/html", **headers: str) -> Answer:
    return lambda handler, request: send(handler, status, body, kind, **headers)


def cut(kind: str) -> Answer:
    """The connection ends in the middle of the body."""

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        send(handler, 200, b'{"jsonrpc": "2.0",', kind, **{"Content-Length": "1000"})

    return answer


def hang_up(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
    handler.close_connection = True


def stay(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
    threading.Event().wait(5)


@pytest.mark.parametrize(
    ("answer", "reason", "hint"),
    [
        (plain(404), "HTTP 404 Not Found", "is the path of the URL right? Many servers answer at /mcp"),
        (plain(500), "HTTP 500 Internal Server Error", None),
        (plain(503, b'{"detail": "no"}', "application/json"), "HTTP 503 Service Unavailable", None),
        (plain(200), "what answers there is not an MCP server: it sent text/html", None),
        (plain(200, b"[1]", "application/json"), "the answer is not a message of JSON-RPC", None),
        (plain(200, b"nonsense", "application/json"), "the answer is not a message of JSON-RPC", None),
        (plain(202), "server answered a request with 202 Accepted", None),
        (hang_up, "Server disconnected without sending a response", None),
        (
            cut("application/json"),
            "peer closed connection without sending complete message body (received 18 bytes, expected 1000)",
            None,
        ),
        (
            plain(307, b"", Location="http://127.0.0.1:9/x"),
            "Redirect to http://127.0.0.1:9/x not followed; use that URL as the endpoint if it is the intended server",
            None,
        ),
    ],
    ids=["404", "500", "503", "a web page", "a list", "no JSON", "202", "hangs up", "cut", "redirect"],
)
def test_what_is_no_server_is_refused_with_the_reason(answer: Answer, reason: str, hint: str | None) -> None:
    started_s = time.monotonic()
    with answering(answer) as url:
        error = refusal(McpServer.http(url))
    assert (error.details["reason"], error.hint) == (reason, hint)
    assert time.monotonic() - started_s < QUICK_S


def test_what_does_not_answer_is_given_up_in_time() -> None:
    started_s = time.monotonic()
    with answering(stay) as url:
        assert refusal(McpServer.http(url, connect_timeout=1)).details["reason"] == "it did not answer within 1 s"
    assert time.monotonic() - started_s < QUICK_S


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (plain(404), "tool_refused"),
        (plain(500), "tool_refused"),
        (plain(200), "tool_refused"),
        (plain(200, b'{"jsonrpc": "2.0", "id": 1}', "application/json"), "tool_reply_unusable"),
        (plain(200, b"data: {]\n\n", "text/event-stream"), "tool_reply_unusable"),
        (plain(200, b"", "text/event-stream"), "tool_disconnected"),
        (plain(200, b"data: " + b"x" * 100, "text/event-stream"), "tool_disconnected"),
        (hang_up, "tool_disconnected"),
        (cut("application/json"), "tool_disconnected"),
        (cut("text/event-stream"), "tool_disconnected"),
    ],
    ids=[
        "404",
        "500",
        "a web page",
        "no result",
        "bad event",
        "no event",
        "half an event",
        "hangs up",
        "cut",
        "cut stream",
    ],
)
def test_what_goes_wrong_in_a_call_is_a_result_and_the_next_call_is_made(answer: Answer, code: str) -> None:
    calls: list[Any] = []

    def first_only(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        calls.append(request)
        result = {"content": [{"type": "text", "text": "done"}]}
        said = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode()
        answer(handler, request) if len(calls) == 1 else send(handler, 200, said, "application/json")

    async def body(server: McpServer) -> tuple[ToolResult, ToolResult]:
        return await server.tools[0].call(), await server.tools[0].call()

    with answering(in_calls(first_only)) as url:
        first, second = using(McpServer.http(url), body)
    assert (first.ok, first.error and first.error.code, second.text) == (False, code, "done")


def test_an_error_of_json_rpc_behind_a_status_is_the_servers_own() -> None:
    said = json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "x is missing"}}).encode()
    with answering(in_calls(plain(400, said, "application/json"))) as url:
        result = call(McpServer.http(url), "do")
    assert str(result.error) == "the server '127.0.0.1' refused 'do': x is missing (-32602)"


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        (McpServer.http("ftp://127.0.0.1/x"), "the URL is not an http or https address"),
        (McpServer.http("127.0.0.1:80"), "the URL is not an http or https address"),
        (McpServer.http("http://[::1"), "the URL cannot be read"),
        (McpServer.http("http://127.0.0.1:9", headers={"X-Name": "ž"}), "a header cannot be sent: it is not ASCII"),
        (McpServer.http("http://no-such-host.invalid/mcp"), "the network failed: Name or service not known"),
    ],
    ids=["scheme", "no scheme", "malformed", "header", "no host"],
)
def test_an_address_that_cannot_be_used_is_refused_with_the_reason(server: McpServer, reason: str) -> None:
    assert refusal(server).details["reason"] == reason


def test_no_message_shows_a_credential() -> None:
    server = McpServer.http(
        "http://ada:tomato-soup@127.0.0.1:9/mcp?key=4f9a1c77d2&page=1",
        headers={"Authorization": "Bearer let-me-in-please", "X-Api-Key": "pear-and-plum"},
    )
    error = refusal(server)
    said = f"{error} {error.details} {server!r}"
    assert "http://ada:***@127.0.0.1:9/mcp?key=***&page=1" in said
    secrets = ("tomato-soup", "4f9a1c77d2", "let-me-in-please", "pear-and-plum")
    assert [secret for secret in secrets if secret in said] == []


def test_leaving_does_not_wait_for_a_server_that_is_gone(tmp_path: Path) -> None:
    running = Running(tmp_path)

    async def body(server: McpServer) -> float:
        running.process.send_signal(19)  # SIGSTOP: it accepts connections, and answers none
        return time.monotonic()

    left_s = using(McpServer.http(running.url), body)
    took_s = time.monotonic() - left_s
    running.kill()
    assert took_s < QUICK_S


def test_calls_side_by_side_each_get_their_own_answer(running: Running) -> None:
    async def body(server: McpServer) -> list[Any]:
        sums: list[Any] = [None] * 20

        async def one(number: int) -> None:
            sums[number] = (await by_name(server, "add").call(x=number, y=1)).data["sum"]

        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(one, number)
        return sums

    assert using(entering(running), body) == [number + 1 for number in range(20)]
