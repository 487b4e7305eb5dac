"""The protocol over a real process's pipes: encoding, framing, refusals, and how it ends."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import filelock
import pytest

from homeport.server.state.documents.locks import STRIPES
from homeport.server.transport import stdio
from homeport.server.transport.channel import Channel
from homeport.server.transport.tools import sdk_server
from tests.server.serving import INITIALIZE, Serving, call

PING = {"jsonrpc": "2.0", "id": 0, "method": "ping"}


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("shared") / "home", "--scope", "user:ann") as serving:
        serving.initialize()
        yield serving


@pytest.mark.parametrize(
    ("line", "id", "code"),
    [
        pytest.param(b'{"jsonrpc":"2.0","method":"x","params":\n', None, -32700, id="torn"),
        pytest.param(b"\xff\xc3\x28\n", None, -32700, id="not-utf8"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}\n', None, -32700, id="nan"),
        pytest.param(b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b"}\n", None, -32700, id="long-number"),
        pytest.param(b"[" * 100_000 + b"\n", None, -32700, id="nested"),
        pytest.param(b"[]\n", None, -32600, id="empty-batch"),
        pytest.param(b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n', None, -32600, id="batch"),
        pytest.param(b"42\n", None, -32600, id="number"),
        pytest.param(b"{}\n", None, -32600, id="empty-object"),
        pytest.param(b'{"jsonrpc":"2.0","id":7}\n', 7, -32600, id="no-method"),
        pytest.param(b'{"jsonrpc":"1.0","id":7,"method":"ping"}\n', 7, -32600, id="old-version"),
        pytest.param(b'{"jsonrpc":"2.0","id":"q","method":5}\n', "q", -32600, id="method-number"),
        pytest.param(b'{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}\n', 7, -32600, id="params-list"),
        pytest.param(b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}\n', 1.5, -32600, id="id-fraction"),
        pytest.param(b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n', None, -32600, id="id-null"),
        pytest.param(b'{"jsonrpc":"2.0","id":true,"method":"ping"}\n', None, -32600, id="id-true"),
        pytest.param(b'{"jsonrpc":"2.0","id":"a1","method":"no/such"}\n', "a1", -32601, id="unknown-method"),
        pytest.param(b'{"jsonrpc":"2.0","id":3,"method":"tools/call"}\n', 3, -32602, id="call-without-name"),
        pytest.param(
            b'{"jsonrpc":"2.0","id":3,"method":"ping","params":{"\\ud83d":1}}\n', 3, -32600, id="surrogate-name"
        ),
        pytest.param(
            b'{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"a\\uD83Db"}}\n',
            3,
            -32600,
            id="surrogate",
        ),
        pytest.param(
            b'{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"\\udc00"}}\n',
            3,
            -32600,
            id="surrogate-prompt",
        ),
        pytest.param(b'{"jsonrpc":"2.0","id":3,"method":"prompts/get"}\n', 3, -32602, id="prompt-without-name"),
        pytest.param(
            b'{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"x"}}\n', 3, -32602, id="unknown-prompt"
        ),
        pytest.param(
            b'{"jsonrpc":"2.0","id":3,"method":"prompts/list","params":{"cursor":"x"}}\n',
            3,
            -32602,
            id="unknown-cursor",
        ),
        pytest.param(
            b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"x"}}\n', 3, -32602, id="unknown-tool"
        ),
        pytest.param(b'{"jsonrpc":"2.0","id":3,"method":"resources/list"}\n', 3, -32601, id="no-resources"),
    ],
)
def test_what_is_no_request_is_answered_and_the_next_one_served(
    serving: Serving, line: bytes, id: object, code: int
) -> None:
    serving.send(line, PING)

    answers = serving.answers(2)

    assert {key: answer.get("error", {}).get("code") for key, answer in answers.items()} == {id: code, 0: None}


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("memory", '{"command":"create","path":"/memory/k","file_text":"a\\ud83db"}', "file_text"),
        ("list_skills", '{"after":"\\ud83d"}', "after"),
        ("load_skill", '{"name":"\\udc00"}', "name"),
        ("search_history", '{"query":"\\ud83d"}', "query"),
        ("recall_turn", '{"turn":1,"conversation":"\\ud83d"}', "conversation"),
    ],
)
def test_a_lone_surrogate_in_an_argument_is_an_error_that_names_it(
    serving: Serving, tool: str, arguments: str, field: str
) -> None:
    params = f'{{"name":"{tool}","arguments":{arguments}}}'
    serving.send(f'{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{params}}}\n'.encode(), PING)

    answers = serving.answers(2)

    assert answers[2]["result"]["isError"] is True
    assert answers[2]["result"]["structuredContent"]["error"]["details"] == {"field": field}
    assert answers[0] == {"jsonrpc": "2.0", "id": 0, "result": {}}


def test_lines_end_in_lf_alone_whatever_the_client_sends(tmp_path: Path) -> None:
    with Serving(tmp_path / "home") as serving:
        first = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}).encode()
        listing = b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n'
        serving.send(first + b"\r\n", listing, b"\n", PING)

        lines = [serving.line() for _ in range(3)]
        code, left, _ = serving.end()

    assert {json.loads(line)["id"] for line in lines} == {0, 1, 2}
    assert all(line.count(b"\n") == 1 and b"\r" not in line for line in lines)
    assert (code, left) == (0, b"")


@pytest.mark.parametrize("encoding", ["cp1252", "cp950", "ascii"])
def test_text_is_utf8_whatever_the_locale_says(tmp_path: Path, encoding: str) -> None:
    text = "✓ Přehled 東 🌙 ★ Журнал"
    variables = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "LC_ALL": "C", "LANG": "C"}
    with Serving(tmp_path / "home", "--scope", "user:ann", variables=variables) as serving:
        serving.initialize()
        serving.send(
            json.dumps(call(2, "create", path="/memory/★ Журнал", file_text=text), ensure_ascii=False).encode() + b"\n",
            call(3, "view", path="/memory/★ Журнал"),
        )
        serving.receive()
        viewed = serving.receive()

    assert viewed["result"]["structuredContent"]["result"]["content"] == text
    assert text in viewed["result"]["content"][0]["text"]
    assert (tmp_path / "home/memory/user=ann/★ Журнал").read_bytes() == text.encode()


def test_nothing_but_protocol_reaches_stdout(tmp_path: Path) -> None:
    noise = tmp_path / "noise"
    noise.mkdir()
    (noise / "sitecustomize.py").write_text(
        "import atexit, logging, os\nprint('hello')\nlogging.basicConfig(level=logging.DEBUG)\n"
        "atexit.register(lambda: (print('hello'), os.write(1, b'hello'), os.system('echo hello')))\n"
    )
    variables = {"PYTHONPATH": str(noise), "PYTHONWARNINGS": "always"}
    with Serving(tmp_path / "home", variables=variables) as serving:
        lines = [serving.initialize(), serving.request("tools/list"), serving.memory("view", path="/nowhere/x")]
        code, left, said = serving.end()

    assert len(lines) == 3
    assert (code, left) == (0, b"")
    assert said.count(b"hello") >= 3


def test_fifty_calls_in_one_burst_are_all_stored(tmp_path: Path) -> None:
    with Serving(tmp_path / "home", "--scope", "user:ann") as serving:
        serving.initialize()
        serving.send(*(call(n, "create", path=f"/memory/k{n:02}", file_text=f"t{n}") for n in range(50)))
        answers = [serving.receive() for _ in range(50)]

    assert sorted(answer["id"] for answer in answers) == list(range(50))
    assert not any(answer["result"]["isError"] for answer in answers)
    stored = {path.name: path.read_text() for path in (tmp_path / "home/memory/user=ann").iterdir()}
    assert stored == {f"k{n:02}": f"t{n}" for n in range(50)}


def test_a_document_of_1_mib_comes_back_whole_page_by_page(tmp_path: Path) -> None:
    texts = {"/memory/ascii": "x" * 1024 * 1024, "/memory/wide": "東" * 349_525}
    with Serving(tmp_path / "home", "--scope", "user:ann") as serving:
        serving.initialize()
        for path, text in texts.items():
            assert serving.memory("create", path=path, file_text=text)["ok"] is True
        read = {path: _read_all(serving, path) for path in texts}
        refused = serving.memory("create", path="/memory/more", file_text="東" * 349_526)

    assert read == texts
    assert refused["error"]["code"] == "document_too_large"
    assert refused["error"]["details"]["limit_bytes"] == 1024 * 1024


def _read_all(serving: Serving, path: str) -> str:
    text = ""
    following: dict[str, object] | None = {}
    while following is not None:
        page = serving.memory("view", path=path, **following)["result"]
        text += page["content"]
        following = page["next"]
    return text


def test_a_line_in_small_pieces_is_read(serving: Serving) -> None:
    line = json.dumps(call(5, "view", path="/")).encode() + b"\n"
    for start in range(0, len(line), 7):
        serving.send(line[start : start + 7])

    assert serving.receive()["id"] == 5


def test_a_line_of_16_mib_is_read(serving: Serving) -> None:
    line = json.dumps(call(9, "create", path="/memory/a", file_text="")).encode()
    text = b"x" * (16 * 1024 * 1024 - len(line))
    serving.send(line.replace(b'"file_text": ""', b'"file_text": "' + text + b'"') + b"\n", PING)

    answers = serving.answers(2)

    error = answers[9]["result"]["structuredContent"]["error"]
    assert (error["code"], error["details"]) == ("bad_argument", {"field": "file_text"})
    assert answers[0]["result"] == {}


@pytest.mark.parametrize("order", ["id-first", "id-last"])
def test_a_line_over_16_mib_is_refused_in_words_with_its_id(serving: Serving, order: str) -> None:
    text = b"x" * (16 * 1024 * 1024)
    params = (
        b'"params":{"name":"memory","arguments":{"command":"create","path":"/memory/a","file_text":"' + text + b'"}}'
    )
    head, tail = b'"jsonrpc":"2.0","method":"tools/call"', b',"id":9' if order == "id-last" else b""
    first = b'"id":9,' if order == "id-first" else b""
    serving.send(b"{" + first + head + b"," + params + tail + b"}\n", PING)

    answers = serving.answers(2)

    assert answers[9]["error"]["code"] == -32600
    assert "16777216 bytes" in answers[9]["error"]["message"]
    assert answers[0]["result"] == {}


@pytest.mark.parametrize("asked", ["1999-01-01", "2099-01-01"])
def test_an_unknown_date_is_answered_with_the_newest_we_speak(tmp_path: Path, asked: str) -> None:
    with Serving(tmp_path / "home") as serving:
        assert serving.initialize(protocolVersion=asked)["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize("asked", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_known_date_is_answered_with_itself(tmp_path: Path, asked: str) -> None:
    with Serving(tmp_path / "home") as serving:
        assert serving.initialize(protocolVersion=asked)["result"]["protocolVersion"] == asked


def test_the_stateless_revision_is_served_without_a_handshake(tmp_path: Path) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "Modern One", "version": "1"},
    }
    with Serving(tmp_path / "home", "--scope", "user:ann") as serving:
        found = serving.request("server/discover", {"_meta": meta})["result"]
        arguments = {"command": "create", "path": "/memory/a", "file_text": "x"}
        serving.request("tools/call", {"_meta": meta, "name": "memory", "arguments": arguments})
        arguments = {"command": "view", "path": "/memory/a"}
        viewed = serving.request("tools/call", {"_meta": meta, "name": "memory", "arguments": arguments})["result"]

    assert found["supportedVersions"] == ["2026-07-28"]
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "homeport"
    assert viewed["structuredContent"]["result"]["actor"] == "mcp:Modern-One"


def test_stdin_at_its_end_ends_the_process(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "homeport", "serve", "--root", str(tmp_path / "home")],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=10,
        env={"PATH": os.defpath, "HOME": str(tmp_path)},
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


def test_what_was_asked_before_the_end_is_answered_and_stored(tmp_path: Path) -> None:
    with Serving(tmp_path / "home", "--scope", "user:ann") as serving:
        serving.initialize()
        serving.send(*(call(n, "create", path=f"/memory/{n}", file_text="x" * 100_000) for n in range(10)))
        code, left, _ = serving.end()

    answers = [json.loads(line) for line in left.splitlines()]
    assert (code, sorted(answer["id"] for answer in answers)) == (0, list(range(10)))
    assert len(list((tmp_path / "home/memory/user=ann").iterdir())) == 10


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["sigint", "sigterm"])
@pytest.mark.parametrize("moment", ["starting", "idle"])
def test_a_signal_ends_it_within_a_second_with_exit_0(tmp_path: Path, number: signal.Signals, moment: str) -> None:
    with Serving(tmp_path / "home") as serving:
        if moment == "idle":
            serving.initialize()
        else:
            _wait_until_it_listens_to_signals(serving.process.pid)
        serving.process.send_signal(number)
        started_s = time.monotonic()
        code = serving.process.wait(5)

        assert serving.process.stderr is not None
        assert (code, serving.process.stderr.read()) == (0, b"")
        assert time.monotonic() - started_s < 1.5


def test_the_end_of_stdin_ends_it_within_a_second(tmp_path: Path) -> None:
    with Serving(tmp_path / "home") as serving:
        serving.initialize()
        started_s = time.monotonic()
        code, left, said = serving.end()

        assert (code, left, said) == (0, b"", b"")
        assert time.monotonic() - started_s < 1.5


def send_until_it_takes_no_more(serving: Serving, data: bytes) -> int:
    """Nothing is read meanwhile. How many bytes were taken, when for a second no more were."""
    assert serving.process.stdin is not None
    descriptor = serving.process.stdin.fileno()
    os.set_blocking(descriptor, False)
    sent = 0
    while sent < len(data) and select.select([], [descriptor], [], 1.0)[1]:
        sent += os.write(descriptor, data[sent : sent + 4096])
    os.set_blocking(descriptor, True)
    return sent


def listings(number: int) -> bytes:
    requests = ({"jsonrpc": "2.0", "id": id, "method": "tools/list"} for id in range(number))
    return b"".join(json.dumps(request).encode() + b"\n" for request in requests)


def test_a_client_that_reads_late_is_slowed_down_and_gets_every_answer(tmp_path: Path) -> None:
    number = 3000
    with Serving(tmp_path / "home") as serving:
        serving.initialize()
        before_kib = _peak_kib(serving.process.pid)
        sending = threading.Thread(target=serving.send, args=(listings(number),))
        sending.start()
        sending.join(3)  # until the server takes no more
        answered = [serving.receive()["id"] for _ in range(number)]
        sending.join()
        grown_kib = _peak_kib(serving.process.pid) - before_kib

    assert sorted(answered) == list(range(number))
    # Not three thousand answers that nobody takes: without a bound it grows by 90 MiB and more.
    assert grown_kib < 40 * 1024


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["sigint", "sigterm"])
def test_a_signal_ends_it_within_a_second_though_nobody_reads(tmp_path: Path, number: signal.Signals) -> None:
    with Serving(tmp_path / "home") as serving:
        serving.initialize()
        send_until_it_takes_no_more(serving, listings(8000))
        serving.process.send_signal(number)
        started_s = time.monotonic()
        code = serving.process.wait(5)

        assert code == 0
        assert time.monotonic() - started_s < 1.5


def test_the_end_of_stdin_ends_it_at_last_though_nobody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "_DRAINING_S", 0.5)  # ten seconds are long for a test
    from_client, to_client = os.pipe(), os.pipe()
    os.set_blocking(to_client[1], False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(to_client[1], b" " * 1024)
    os.set_blocking(to_client[1], True)
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
    os.write(from_client[1], json.dumps(request).encode() + b"\n")
    os.close(from_client[1])

    stdio.serve_stdio(sdk_server([], ""), Channel(from_client[0], to_client[1]))

    # The thread that still wants to write ends with its pipe.
    os.close(to_client[0])
    os.close(from_client[0])


def test_a_signal_lets_the_call_in_hand_finish_and_be_answered(tmp_path: Path) -> None:
    with Serving(tmp_path / "home", "--scope", "user:ann") as serving:
        serving.initialize()
        locks = [filelock.FileLock(tmp_path / f"home/locks/documents-{number:02}.lock") for number in range(STRIPES)]
        for lock in locks:
            lock.acquire()
        serving.send(call(1, "create", path="/memory/a", file_text="one"), PING)
        pong = serving.receive()
        serving.process.send_signal(signal.SIGTERM)
        for lock in locks:
            lock.release()
        answer = serving.receive()
        code = serving.process.wait(5)

    assert (pong["id"], code) == (0, 0)
    assert answer["result"]["structuredContent"]["result"]["version"] == 1
    assert (tmp_path / "home/memory/user=ann/a").read_text() == "one"


def test_a_cancelled_call_is_answered_no_more_and_the_server_still_ends(tmp_path: Path) -> None:
    with Serving(tmp_path / "home", "--scope", "user:ann") as serving:
        serving.initialize()
        locks = [filelock.FileLock(tmp_path / f"home/locks/documents-{number:02}.lock") for number in range(STRIPES)]
        for lock in locks:
            lock.acquire()
        # The second waits for its turn behind the first, and is never begun.
        serving.send(call(1, "create", path="/memory/a", file_text="one"))
        serving.send(call(2, "create", path="/memory/b", file_text="two"), PING)
        assert serving.receive()["id"] == 0
        for id in (1, 2):
            serving.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
        serving.send(PING)
        pong = serving.receive()
        for lock in locks:
            lock.release()
        code, left, _ = serving.end()

    assert (pong["id"], code, left) == (0, 0, b"")
    assert [path.name for path in (tmp_path / "home/memory/user=ann").iterdir()] == ["a"]


def _wait_until_it_listens_to_signals(pid: int) -> None:
    """/proc/PID/status, SigCgt: the mask of signals with a handler of the program's own. SIGTERM is bit 14."""
    while True:
        status = Path(f"/proc/{pid}/status").read_text()
        caught = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigCgt"))
        if caught >> (signal.SIGTERM - 1) & 1:
            return


def test_a_closed_stdout_ends_it_without_spinning(tmp_path: Path) -> None:
    with Serving(tmp_path / "home") as serving:
        serving.initialize()
        assert serving.process.stdout is not None
        serving.process.stdout.close()
        before_s = _cpu_s(serving.process.pid)
        serving.send(PING, PING, PING)
        _, _, used = os.wait4(serving.process.pid, 0)
        serving.process.returncode = 0

        assert serving.process.stderr is not None
        assert serving.process.stderr.read() == b""
        assert used.ru_utime + used.ru_stime - before_s < 1.0
        serving.process.stdout = open(os.devnull, "rb")


def _peak_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_ping_is_answered_while_a_call_waits_for_a_lock(tmp_path: Path) -> None:
    import sqlite3

    with Serving(tmp_path / "home", "--scope", "user:ann") as serving:
        serving.initialize()
        serving.memory("create", path="/memory/a", file_text="one")
        other = sqlite3.connect(tmp_path / "home/versions.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        started_s = time.monotonic()
        serving.send(call(1, "create", path="/memory/a", file_text="two"), PING)
        pong = serving.receive()
        refused = serving.receive()
        waited_s = time.monotonic() - started_s
        other.execute("ROLLBACK")
        other.close()
        again = serving.memory("create", path="/memory/a", file_text="two")

    assert pong["id"] == 0
    assert refused["result"]["structuredContent"]["error"]["code"] == "home_busy"
    assert waited_s < 5.5
    assert again["result"]["version"] == 2
