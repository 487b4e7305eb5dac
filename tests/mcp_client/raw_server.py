"""A server in raw bytes, for what no library would send: `python raw_server.py HOW`.

It answers `initialize` and lists one tool, `do`, like a good server of the handshake era, except where HOW says.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

HOW = sys.argv[1]
TOOL = {"name": "do", "description": "does", "inputSchema": {"type": "object", "properties": {"x": {"type": "number"}}}}


def put(text: str) -> None:
    sys.stdout.write(text + ("\r\n" if HOW == "crlf" else "\n"))
    sys.stdout.flush()


def answer(id: Any, result: Any) -> None:
    put(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}))


def refuse(id: Any, code: int, message: str) -> None:
    put(json.dumps({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}))


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}], **more}


def tools(params: dict[str, Any]) -> dict[str, Any]:
    cursor = params.get("cursor")
    match HOW:
        case "two alike":
            return {"tools": [TOOL, TOOL]}
        case "two different":
            return {"tools": [TOOL, {**TOOL, "description": "does otherwise"}]}
        case "same cursor":
            return {"tools": [], "nextCursor": "again"}
        case "new cursors":
            return {"tools": [], "nextCursor": f"{cursor}x"}
        case "pages":
            number = int(cursor or 0)
            return {
                "tools": [{**TOOL, "name": f"do{number}"}],
                **({"nextCursor": str(number + 1)} if number < 4 else {}),
            }
        case "empty cursor":
            return {"tools": [TOOL], "nextCursor": ""} if cursor is None else {"tools": [{**TOOL, "name": "do2"}]}
        case "no list":
            return {"tool": []}
        case "promises":
            return {"tools": [{**TOOL, "outputSchema": {"type": "object", "required": ["n"]}}]}
        case "promises abroad":
            return {"tools": [{**TOOL, "outputSchema": {"type": "object", "$ref": "http://127.0.0.1:1/x"}}]}
    return {"tools": [TOOL]}


def call(id: Any, arguments: dict[str, Any]) -> None:
    match HOW:
        case "dies":
            sys.stderr.write("out of memory\n")
            sys.stderr.flush()
            os._exit(9)
        case "is killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "closes stdout":
            os.close(1)
            time.sleep(100)
        case "hangs" if arguments.get("x") != 1:
            return
        case "broken answer":
            put(f'{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"te')
        case "no answer in it":
            put(json.dumps({"jsonrpc": "2.0", "id": id}))
        case "not utf-8":
            sys.stdout.buffer.write(
                b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"\xff"}]}}\n' % id
            )
            sys.stdout.flush()
        case "lone surrogate":
            put(f'{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"\\ud800"}}]}}}}')
        case "no content":
            answer(id, {"contents": []})
        case "content is text":
            answer(id, {"content": "done"})
        case "no object":
            answer(id, 7)
        case "refuses":
            refuse(id, -32602, "x is too\nlarge")
        case "huge":
            answer(id, text("ab" * 10_000_000))
        case "too huge":
            sys.stdout.write("x" * (70 << 20))
            put("")
        case "echo":
            answer(id, text(arguments["x"]))
        case "chatters":
            for number in range(300):
                put(f"working {number}")
                put(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": "?"}}))
                put(json.dumps({"jsonrpc": "2.0", "id": 900 + number, "result": {}}))
                put(
                    json.dumps(
                        {"jsonrpc": "2.0", "id": f"ask{number}", "method": "sampling/createMessage", "params": {}}
                    )
                )
            answer(id, text("done"))
        case _:
            answer(id, text("done"))


def serve() -> None:
    if HOW == "banner":
        put("Welcome to the server!")
        put('{"level": "info", "id": 1, "message": "started"}')
    if HOW == "loud":
        sys.stderr.write("token sk-abcdefghijklmnop was refused\n" + "noise " * 30_000 + "\nlast line\n")
        sys.stderr.flush()
    for line in sys.stdin:
        message = json.loads(line)
        id, method, params = message.get("id"), message.get("method"), message.get("params", {})
        if HOW == "only initialize" and method == "server/discover":
            sys.exit("expected initialize")
        match method:
            case "initialize":
                version = "1999-01-01" if HOW == "old" else params["protocolVersion"]
                answer(
                    id,
                    {
                        "protocolVersion": version,
                        "capabilities": {"tools": {}},
                        "serverInfo": {"name": "raw", "version": "1"},
                    },
                )
            case "tools/list" if HOW == "no tools":
                refuse(id, -32601, "no such method")
            case "tools/list":
                answer(id, tools(params))
            case "tools/call":
                call(id, params["arguments"])
            case "notifications/cancelled":
                sys.stderr.write(f"cancelled {params['requestId']}\n")
                sys.stderr.flush()
            case _ if id is not None and method is not None:
                refuse(id, -32601, "no such method")


def leave_a_family_behind() -> None:
    """Children and grandchildren that hold on to everything, each with its id in the file named."""
    child = "import os,subprocess,sys,time\nopen(sys.argv[1],'a').write(f'{os.getpid()}\\n')\n"
    grandchild = child + "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"
    parent = child + f"subprocess.Popen([sys.executable,'-c',{grandchild!r},sys.argv[1]]); time.sleep(300)"
    subprocess.Popen([sys.executable, "-c", parent, sys.argv[2]])
    with open(sys.argv[2], "a") as file:
        file.write(f"{os.getpid()}\n")
    deadline_s = time.monotonic() + 30
    while len(open(sys.argv[2]).read().split()) < 3 and time.monotonic() < deadline_s:
        time.sleep(0.01)


if HOW in ("family", "deaf family"):
    leave_a_family_behind()
serve()
if HOW == "deaf family":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(300)
