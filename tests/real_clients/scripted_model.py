"""A model that follows a script: it calls tools in order, then says a word. Clients reach it as they would a vendor's.

It speaks the formats of the three clients; each answer is a stream of events. What a call gave is in the next request.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, NamedTuple, Protocol, Self

Body = Mapping[str, Any]
Event = Mapping[str, Any]


class Call(NamedTuple):
    """tool: the server's own name for it; a client puts the name that the server has with it in front."""

    tool: str
    arguments: Mapping[str, Any]


class Format(Protocol):
    def tools(self, body: Body, server: str) -> Iterable[str]:
        """The server's tools that a request offers."""

    def results(self, body: Body) -> list[str]:
        """What the model is given of each call so far."""

    def call(self, server: str, call: Call) -> list[Event]: ...

    def say(self, text: str) -> list[Event]: ...


class ScriptedModel:
    """As a context it answers at `url`. Read it after the client ended.

    results: of each call, what the client gave the model. tools: what it offered. asked: all requests, as one text;
    first: those before anything was called.
    """

    def __init__(self, server: str, script: Sequence[Call] = ()) -> None:
        self.results: list[str] = []
        self.tools: set[str] = set()
        self.first = self.asked = ""
        self._server = server
        self._script = script
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("Asked", (_Handler,), {"model": self}))
        self._thread = threading.Thread(target=self._http.serve_forever)
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def answer(self, format: Format, body: Body) -> list[Event]:
        text = json.dumps(body, ensure_ascii=False)
        self.asked += text
        if not format.results(body):
            self.first += text
        offered = set(format.tools(body, self._server))
        self.tools |= offered
        if not offered:  # a title is asked for, or the client does not have the server yet
            return format.say("Nothing to call.")
        self.results = format.results(body)
        if len(self.results) == len(self._script):
            return format.say("Done.")
        return format.call(self._server, self._script[len(self.results)])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


class _Messages:
    """Anthropic's, which Claude Code speaks."""

    def tools(self, body: Body, server: str) -> Iterable[str]:
        prefix = f"mcp__{server}__"
        names = (tool["name"] for tool in body.get("tools", []))
        return (name.removeprefix(prefix) for name in names if name.startswith(prefix))

    def results(self, body: Body) -> list[str]:
        blocks = (block for message in body["messages"] for block in message["content"] if isinstance(block, dict))
        return [_text(block["content"]) for block in blocks if block["type"] == "tool_result"]

    def call(self, server: str, call: Call) -> list[Event]:
        block = {"type": "tool_use", "id": _id(call), "name": f"mcp__{server}__{call.tool}", "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
        return self._message(block, delta, "tool_use")

    def say(self, text: str) -> list[Event]:
        return self._message({"type": "text", "text": ""}, {"type": "text_delta", "text": text}, "end_turn")

    def _message(self, block: Event, delta: Event, reason: str) -> list[Event]:
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "m", "type": "message", "role": "assistant", "model": "script", "content": [], "usage": usage}
        return [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage},
            {"type": "message_stop"},
        ]


class _Responses:
    """OpenAI's newer one, which Codex speaks. A server is a namespace of tools."""

    def tools(self, body: Body, server: str) -> Iterable[str]:
        namespaces = (tool for tool in body["tools"] if tool["type"] == "namespace")
        return (tool["name"] for space in namespaces if space["name"] == f"mcp__{server}" for tool in space["tools"])

    def results(self, body: Body) -> list[str]:
        return [_text(item["output"]) for item in body["input"] if item["type"] == "function_call_output"]

    def call(self, server: str, call: Call) -> list[Event]:
        item = {"type": "function_call", "id": _id(call), "call_id": _id(call), "namespace": f"mcp__{server}"}
        return self._response({**item, "name": call.tool, "arguments": json.dumps(call.arguments)})

    def say(self, text: str) -> list[Event]:
        content = [{"type": "output_text", "text": text}]
        return self._response({"type": "message", "id": "m", "role": "assistant", "content": content})

    def _response(self, item: Event) -> list[Event]:
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        return [
            {"type": "response.created", "response": {"id": "r"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "r", "usage": usage}},
        ]


class _ChatCompletions:
    """OpenAI's older one, which OpenCode speaks to a provider that a person adds."""

    def tools(self, body: Body, server: str) -> Iterable[str]:
        names = (tool["function"]["name"] for tool in body.get("tools", []))
        return (name.removeprefix(f"{server}_") for name in names if name.startswith(f"{server}_"))

    def results(self, body: Body) -> list[str]:
        return [_text(message["content"]) for message in body["messages"] if message["role"] == "tool"]

    def call(self, server: str, call: Call) -> list[Event]:
        function = {"name": f"{server}_{call.tool}", "arguments": json.dumps(call.arguments)}
        tool_call = {"index": 0, "id": _id(call), "type": "function", "function": function}
        return self._chunks({"role": "assistant", "tool_calls": [tool_call]}, "tool_calls")

    def say(self, text: str) -> list[Event]:
        return self._chunks({"role": "assistant", "content": text}, "stop")

    def _chunks(self, delta: Event, reason: str) -> list[Event]:
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "script"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return [
            {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage},
        ]


_FORMATS: Mapping[str, Format] = {
    "/v1/messages": _Messages(),
    "/v1/responses": _Responses(),
    "/v1/chat/completions": _ChatCompletions(),
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ClassVar[ScriptedModel]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        format = _FORMATS.get(self.path.partition("?")[0])
        if format is None:
            self.send_error(404)
            return
        events = (
            f"event: {event.get('type', 'message')}\ndata: {json.dumps(event)}\n\n"
            for event in self.model.answer(format, body)
        )
        answer = "".join(events).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: stderr is the test run's."""


def _text(content: str | list[Event]) -> str:
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def _id(call: Call) -> str:
    """One for every call of a script: clients tell calls apart by it."""
    return f"call_{abs(hash(json.dumps(call)))}"
