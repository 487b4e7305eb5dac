"""stdio: our own bytes under the SDK's server, from the first line to a clean end."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

import anyio
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel.server import Server
from mcp.shared.message import SessionMessage

from homeport.server.transport.channel import Channel, Inlet, Outlet
from homeport.server.transport.wire import INVALID_REQUEST, Refusal, read_line

# Longer than anything waits for a lock: what was asked for before the end is answered before it.
_DRAINING_S: Final = 10.0
# After a signal, a client that has read nothing for so long is not waited for.
_STUCK_S: Final = 0.4
# Further requests are not looked at before one of these is answered, and the answer read.
_IN_HAND: Final = 256


def serve_stdio(server: Server[Any], channel: Channel) -> None:
    """Serve one client until stdin ends, a signal comes or nobody reads stdout; then finish what is in hand."""
    asyncio.run(_Connection(server, channel).run())


class _Connection:
    def __init__(self, server: Server[Any], channel: Channel) -> None:
        self._server = server
        self._channel = channel
        self._unanswered: Counter[str] = Counter()
        self._answered = asyncio.Event()
        self._ending = asyncio.Event()
        self._signalled = False

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        self._inlet = Inlet(self._channel.read_descriptor, loop)
        self._outlet = Outlet(self._channel.write_descriptor, loop)
        _on_signals(loop, self._end)
        self._inlet.start()
        self._outlet.start()
        async with anyio.create_task_group() as tasks:
            serving = anyio.CancelScope()
            tasks.start_soon(self._end_in_time, serving)
            with serving:
                await self._serve()
            tasks.cancel_scope.cancel()

    async def _serve(self) -> None:
        to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_client, from_server = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._read, to_server)
            tasks.start_soon(self._write, from_server)
            await self._server.run(from_client, to_client, self._server.create_initialization_options())

    def _end(self) -> None:
        self._signalled = True
        self._ending.set()
        self._inlet.close()

    async def _end_in_time(self, serving: anyio.CancelScope) -> None:
        """A client that does not read must not keep the process. What an operation began it finishes all the same."""
        await self._ending.wait()
        with anyio.move_on_after(_DRAINING_S):
            while not (self._signalled and self._outlet.stuck_s() > _STUCK_S):  # noqa: ASYNC110 - no event tells it
                await anyio.sleep(0.05)
        serving.cancel()

    async def _read(self, to_server: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        async with to_server:
            while (line := await self._inlet.receive()) is not None:
                found = read_line(line)
                message = _message(found) if isinstance(found, dict) else found
                if isinstance(message, Refusal):
                    await self._send(message.encoded())
                elif message is not None:
                    await self._answered_down_to(_IN_HAND - 1)
                    self._expect(message)
                    await to_server.send(SessionMessage(message))
            self._ending.set()
            # The SDK cancels what is being done as soon as its stream ends: let it be answered first.
            await self._answered_down_to(0)

    async def _answered_down_to(self, number: int) -> None:
        while len(self._unanswered) > number:
            self._answered.clear()
            await self._answered.wait()

    async def _write(self, from_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with from_server:
            async for item in from_server:
                await self._send(_encoded(item.message))
                if isinstance(item.message, mcp_types.JSONRPCResponse | mcp_types.JSONRPCError):
                    self._settle(item.message.id)

    async def _send(self, line: bytes) -> None:
        if not await self._outlet.send(line):
            # Nobody reads: what is still being done has nobody to be answered to.
            self._unanswered.clear()
            self._answered.set()
            self._inlet.close()

    def _expect(self, message: mcp_types.JSONRPCMessage) -> None:
        if isinstance(message, mcp_types.JSONRPCRequest):
            self._unanswered[str(message.id)] += 1
        elif isinstance(message, mcp_types.JSONRPCNotification) and message.method == "notifications/cancelled":
            # The SDK answers a cancelled request no more.
            self._settle((message.params or {}).get("requestId"))

    def _settle(self, id: object) -> None:
        key = str(id)
        self._unanswered[key] -= 1
        if self._unanswered[key] <= 0:
            del self._unanswered[key]
        self._answered.set()


def _message(value: dict[str, Any]) -> mcp_types.JSONRPCMessage | Refusal:
    try:
        return mcp_types.jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValueError:
        id = value.get("id")
        return Refusal(id if isinstance(id, str | int) else None, INVALID_REQUEST, "Invalid request")


def _encoded(message: mcp_types.JSONRPCMessage) -> bytes:
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except ValueError:
        # Something that is not text got into an answer: a fault of ours, and still an answer.
        id = getattr(message, "id", None)
        return Refusal(id, mcp_types.INTERNAL_ERROR, "Internal error: the answer could not be encoded").encoded()


def _on_signals(loop: asyncio.AbstractEventLoop, end: Callable[[], None]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, end)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda number, frame: _from_signal(loop, end, frame))


def _from_signal(loop: asyncio.AbstractEventLoop, end: Callable[[], None], frame: FrameType | None) -> None:
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(end)
