"""The process's own stdin and stdout, taken away from everything else in it, as bytes and off the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from homeport.server.transport.wire import LineSplitter, TooLong

_READ_BYTES: Final = 64 * 1024
_WRITE_BYTES: Final = 8 * 1024
# A client that sends without reading the answers is slowed down here, not kept in memory.
_LINES_AHEAD: Final = 256

Line = bytes | TooLong


@dataclass(frozen=True, slots=True)
class Channel:
    """Two descriptors that only we know. Never closed: a thread may still wait on one when the process ends."""

    read_descriptor: int
    write_descriptor: int


def claim_channel() -> Channel:
    """Take stdin and stdout. Descriptor 0 is then empty and descriptor 1 is stderr, for us and for every child.

    Nothing is flushed on the way: what a library printed before, and is still in Python's buffer, must go to stderr.
    """
    channel = Channel(_duplicate(0, os.O_RDONLY), _duplicate(1, os.O_WRONLY))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # started without a stderr
        os.dup2(nothing, 1)
    if nothing > 2:
        os.close(nothing)
    return channel


def _duplicate(descriptor: int, flags: int) -> int:
    """A copy above the three standard ones, blocking, in binary. A closed one reads as empty and writes go nowhere."""
    try:
        copy = os.dup(descriptor)
    except OSError:
        return os.open(os.devnull, flags)
    while copy <= 2:
        copy = os.dup(copy)
    with contextlib.suppress(OSError):  # Windows: not every kind of handle can be told
        os.set_blocking(copy, True)
    if os.name == "nt":
        import importlib

        importlib.import_module("msvcrt").setmode(copy, getattr(os, "O_BINARY", 0))
    return copy


class Inlet:
    """Reads lines on a thread of its own, since a blocking read cannot be cancelled on every platform."""

    def __init__(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        self._descriptor = descriptor
        self._loop = loop
        self._lines: asyncio.Queue[Line | None] = asyncio.Queue()
        self._room = threading.Semaphore(_LINES_AHEAD)

    def start(self) -> None:
        threading.Thread(target=self._read, name="homeport stdin", daemon=True).start()

    async def receive(self) -> Line | None:
        """The next line; None at the end of the stream, or once `close` was called."""
        line = await self._lines.get()
        self._room.release()
        return line

    def close(self) -> None:
        """End the stream now; lines that nobody took yet are dropped."""
        while not self._lines.empty():
            self._lines.get_nowait()
        self._lines.put_nowait(None)

    def _read(self) -> None:
        splitter = LineSplitter()
        data = self._next()
        while data:
            for line in splitter.feed(data):
                self._hand_over(line)
            data = self._next()
        for line in splitter.end():
            self._hand_over(line)
        self._hand_over(None)

    def _next(self) -> bytes:
        try:
            return os.read(self._descriptor, _READ_BYTES)
        except OSError:  # Windows says a closed pipe so
            return b""

    def _hand_over(self, line: Line | None) -> None:
        self._room.acquire()
        _on_loop(self._loop, lambda: self._lines.put_nowait(line))


class Outlet:
    """Writes whole lines on a thread of its own: a client that does not read must not stop the event loop."""

    def __init__(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        self._descriptor = descriptor
        self._loop = loop
        self._waiting: queue.SimpleQueue[tuple[bytes, asyncio.Future[bool]]] = queue.SimpleQueue()
        self._writing_since_s: float | None = None

    def start(self) -> None:
        threading.Thread(target=self._write, name="homeport stdout", daemon=True).start()

    async def send(self, line: bytes) -> bool:
        """Write a line and its end; False where the reader is gone."""
        written: asyncio.Future[bool] = self._loop.create_future()
        self._waiting.put((line + b"\n", written))
        return await written

    def stuck_s(self) -> float:
        """For how long the client has read nothing of what waits for it; 0 where nothing waits."""
        since_s = self._writing_since_s
        return 0.0 if since_s is None else time.monotonic() - since_s

    def _write(self) -> None:
        while True:
            line, written = self._waiting.get()
            succeeded = self._write_whole(line)
            _on_loop(self._loop, partial(_tell, written, succeeded))

    def _write_whole(self, line: bytes) -> bool:
        left = memoryview(line)
        try:
            while left:
                self._writing_since_s = time.monotonic()
                # In pieces: a write that has to wait comes back only when all of it is taken.
                left = left[os.write(self._descriptor, left[:_WRITE_BYTES]) :]
        except OSError:
            return False
        finally:
            self._writing_since_s = None
        return True


def _tell(written: asyncio.Future[bool], succeeded: bool) -> None:
    if not written.done():  # cancelled: the process is ending
        written.set_result(succeeded)


def _on_loop(loop: asyncio.AbstractEventLoop, call: Callable[[], object]) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed: the process is ending
        loop.call_soon_threadsafe(call)
