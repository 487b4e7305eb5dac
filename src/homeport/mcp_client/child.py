"""A server as a child process: started in a process group of its own, spoken to in lines, and ended with the group.

Not the SDK's stdio client, which leaves the children of a server that ended by itself alone, logs a traceback for every
line that is no message, and lets a request wait whose answer is broken. macOS and Windows are untested.
"""

from __future__ import annotations

import logging
import os
import re
import signal
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import mcp_types
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from homeport.mcp_client.endpoint import Stdio
from homeport.mcp_client.failures import one_line, start_failure

# The specification's order: close stdin, wait, ask to end, wait, kill (2025-11-25, basic/lifecycle#shutdown).
_GRACE_S: Final = 2.0
_HURRIED_GRACE_S: Final = 0.3
_KILLED_S: Final = 2.0
_POLL_S: Final = 0.01
_LAST_WORDS_S: Final = 0.5
"""How long after the end of its stdout a server's exit code and stderr are waited for."""

_READ_BYTES: Final = 64 * 1024
_MOST_LINE_BYTES: Final = 64 * 1024 * 1024
_MOST_STDERR_BYTES: Final = 64 * 1024
# More waits in the pipe: a server that does not read must not hold up a call beyond its timeout.
_MESSAGES_AHEAD: Final = 64

_log = logging.getLogger(__name__)

Incoming = SessionMessage | Exception
_GONE: Final = (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError)


class Child:
    """One run of a server.

    serves: set once it has answered; until then it is ended without much patience. noise: the first line on its stdout
    that is no message.
    """

    def __init__(self, endpoint: Stdio, variables: dict[str, str]) -> None:
        self._endpoint = endpoint
        self._variables = variables
        self._process: Process | None = None
        self._stderr = _Tail()
        self._stderr_ended = anyio.Event()
        self._group_is_gone = False
        self._stdout_ended = False
        self._exit_code: int | None = None
        self._is_being_ended = False
        self.serves = False
        self.noise = ""
        self.too_long = False

    @property
    def stderr(self) -> str:
        """The end of what it wrote on stderr."""
        return self._stderr.text

    @property
    def exit_code(self) -> int | None:
        """Of its own end; None while it runs and where we ended it."""
        if self._is_being_ended or self._process is None:
            return self._exit_code
        return self._process.returncode

    async def last_words(self) -> str:
        """How it ended and the last line it wrote on stderr, as the end of a sentence. Waits a moment for them."""
        with anyio.move_on_after(_LAST_WORDS_S):
            await self._stderr_ended.wait()
        if not self._is_being_ended:
            await _until(lambda: self.exit_code is not None, _LAST_WORDS_S)
        how = "it closed its stdout" if self.exit_code is None else _exit_in_words(self.exit_code)
        if self.too_long:
            how = f"it wrote a line of more than {_MOST_LINE_BYTES >> 20} MiB"
        return f"{how}{self.remarks}"

    @property
    def remarks(self) -> str:
        """What it said that was no protocol, behind a sentence; empty where it was silent."""
        lines = [line for line in self.stderr.splitlines() if line.strip()]
        said = f"; its last line on stderr: {one_line(lines[-1])}" if lines else ""
        return said + (f"; on stdout it wrote what is not MCP: {self.noise}" if self.noise else "")

    @asynccontextmanager
    async def streams(self) -> AsyncGenerator[tuple[MemoryObjectReceiveStream[Any], MemoryObjectSendStream[Any]]]:
        """The transport for the SDK. Raises Refused where the program cannot be started."""
        process = self._process = await self._start()
        try:
            async with anyio.create_task_group() as tasks:
                to_session, incoming = anyio.create_memory_object_stream[Incoming](0)
                outgoing, from_session = anyio.create_memory_object_stream[SessionMessage](_MESSAGES_AHEAD)
                tasks.start_soon(self._read, process, to_session)
                tasks.start_soon(self._write, process, from_session, to_session)
                tasks.start_soon(self._listen, process)
                try:
                    yield incoming, outgoing
                finally:
                    with anyio.CancelScope(shield=True):
                        # Its reader then only drains: a server that waits for room on stdout sees no end of its stdin.
                        incoming.close()
                        outgoing.close()
                        await self._end(process)
                    tasks.cancel_scope.cancel()
        finally:
            # Whatever cut the steps above short, no child is left behind.
            self._signal_group(signal.SIGTERM if os.name == "nt" else signal.SIGKILL)

    async def _start(self) -> Process:
        command, cwd = self._endpoint.command, self._endpoint.cwd
        if os.name == "nt":
            from mcp.os.win32.utilities import get_windows_executable_command

            command = get_windows_executable_command(command)
        try:
            # A start that is cut in two could leave a child that nobody knows.
            with anyio.CancelScope(shield=True):
                process = await anyio.open_process(
                    [command, *self._endpoint.args], env=self._variables, cwd=cwd, start_new_session=os.name != "nt"
                )
        except (OSError, ValueError) as error:
            raise start_failure(self._endpoint.command, cwd, error) from error
        return process

    async def _read(self, process: Process, to_session: MemoryObjectSendStream[Incoming]) -> None:
        assert process.stdout is not None
        async with to_session:
            lines = _Lines()
            try:
                while not self.too_long:
                    for line in lines.feed(await process.stdout.receive(_READ_BYTES)):
                        message = self._message(line)
                        if message is not None:
                            await to_session.send(message)
                    self.too_long = lines.waiting_bytes > _MOST_LINE_BYTES
            except anyio.EndOfStream:
                self._stdout_ended = True
            except _GONE:
                pass  # nobody listens any more
        await _drain(process.stdout)

    def _message(self, line: bytes) -> SessionMessage | None:
        if not line.strip():
            return None
        try:
            return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            self.noise = self.noise or one_line(line[:2000].decode(errors="replace"), 200)
            return _broken_answer(line)

    async def _write(
        self,
        process: Process,
        from_session: MemoryObjectReceiveStream[SessionMessage],
        to_session: MemoryObjectSendStream[Incoming],
    ) -> None:
        assert process.stdin is not None
        try:
            async with from_session:
                async for item in from_session:
                    line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await process.stdin.send(line.encode() + b"\n")
        except _GONE:
            # Its answers may still stand in the pipe. A server that lives on without reading can answer nothing more.
            await anyio.sleep(_LAST_WORDS_S)
            to_session.close()

    async def _listen(self, process: Process) -> None:
        assert process.stderr is not None
        lines = _Lines()
        try:
            while True:
                data = await process.stderr.receive(_READ_BYTES)
                self._stderr.add(data)
                if self._endpoint.on_stderr:
                    for line in lines.feed(data):
                        self._tell(line)
                    if lines.waiting_bytes > _MOST_STDERR_BYTES:
                        self._tell(lines.rest())
        except _GONE:
            if lines.waiting_bytes and self._endpoint.on_stderr:
                self._tell(lines.rest())
        finally:
            self._stderr_ended.set()

    def _tell(self, line: bytes) -> None:
        assert self._endpoint.on_stderr is not None
        try:
            self._endpoint.on_stderr(line.rstrip(b"\r").decode(errors="replace"))
        except Exception:
            # What the host does with a line must not end its server.
            _log.exception("on_stderr failed")

    async def _end(self, process: Process) -> None:
        await self._note_own_end(process)
        grace_s = _GRACE_S if self.serves else _HURRIED_GRACE_S
        family = _family(process.pid)
        assert process.stdin is not None
        try:
            await process.stdin.aclose()
        except _GONE:
            pass  # closed is closed
        await _until(lambda: process.returncode is not None, grace_s)
        # Its own children too, also where it ended by itself and left them behind.
        if await self._group_left(signal.SIGTERM, grace_s) and os.name != "nt":
            await self._group_left(signal.SIGKILL, _KILLED_S)
        _kill(family)
        with anyio.move_on_after(_KILLED_S):
            await process.aclose()

    async def _note_own_end(self, process: Process) -> None:
        """Keep the exit code apart from that of a server which we end. One that closed its stdout is just ending."""
        if self._stdout_ended:
            await _until(lambda: process.returncode is not None, _LAST_WORDS_S)
        self._exit_code = process.returncode
        self._is_being_ended = True

    async def _group_left(self, number: int, wait_s: float) -> bool:
        """Signal the group and wait for its end; whether some of it is left."""
        self._signal_group(number)
        return not await _until(self._is_group_gone, wait_s)

    def _is_group_gone(self) -> bool:
        assert self._process is not None
        ended = self._process.returncode is not None  # on trio, asking is what takes the entry of an ended child away
        self._signal_group(0)
        if ended and not self._group_is_gone and os.name != "nt":
            # In a container nobody may collect the orphans that have ended, and their entries keep the group.
            self._group_is_gone = not _runs_any_of(self._process.pid)
        return self._group_is_gone

    def _signal_group(self, number: int) -> None:
        """0 only asks. Once the group is gone its number may be another's, and nothing is sent any more."""
        if self._process is None or self._group_is_gone:
            return
        if os.name == "nt":
            self._group_is_gone = self._process.returncode is not None
            if number and not self._group_is_gone:
                self._process.terminate()
            return
        try:
            # The leader's id is the group's, also after the leader has ended.
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            self._group_is_gone = True
        except PermissionError:
            pass  # macOS says so of a group whose members have all ended and wait to be collected


class _Lines:
    """Bytes cut at line ends; each byte is looked at once, however long a line grows."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.waiting_bytes = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        *ended, last = data.split(b"\n")
        for part in ended:
            yield self.rest() + part
        if last:
            self._parts.append(last)
            self.waiting_bytes += len(last)

    def rest(self) -> bytes:
        """What came since the last line end."""
        whole = b"".join(self._parts)
        self._parts.clear()
        self.waiting_bytes = 0
        return whole


class _Tail:
    """The end of a stream."""

    def __init__(self) -> None:
        self._parts: deque[bytes] = deque()
        self._size_bytes = 0

    def add(self, data: bytes) -> None:
        self._parts.append(data)
        self._size_bytes += len(data)
        while self._size_bytes - len(self._parts[0]) >= _MOST_STDERR_BYTES:
            self._size_bytes -= len(self._parts.popleft())

    @property
    def text(self) -> str:
        return b"".join(self._parts)[-_MOST_STDERR_BYTES:].decode(errors="replace")


async def _until(condition: Callable[[], bool], limit_s: float) -> bool:
    """Wait for what no event tells: a group's end, and an exit apart from that of the pipes, which others may hold."""
    with anyio.move_on_after(limit_s):
        while not condition():  # noqa: ASYNC110 - see above
            await anyio.sleep(_POLL_S)
    return condition()


async def _drain(stream: ByteReceiveStream) -> None:
    try:
        while True:
            await stream.receive(_READ_BYTES)
    except _GONE:
        pass


def _broken_answer(line: bytes) -> SessionMessage | None:
    """An error in place of an answer that cannot be read, so that its call does not wait for the timeout."""
    found = re.search(rb'"id"\s*:\s*(\d{1,15})\b', line[:400]) or re.search(rb'"id"\s*:\s*(\d{1,15})\b', line[-400:])
    if not found or b'"jsonrpc"' not in line or b'"method"' in line[:400]:
        return None
    error = mcp_types.ErrorData(code=mcp_types.PARSE_ERROR, message="the answer is not a message that can be read")
    return SessionMessage(mcp_types.JSONRPCError(jsonrpc="2.0", id=int(found[1]), error=error))


def _exit_in_words(code: int) -> str:
    if code >= 0:
        return f"it ended with exit code {code}"
    try:
        return f"it was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"it was ended by signal {-code}"


def _runs_any_of(group: int) -> bool:
    """Whether a process of the group still runs, and is not only waiting to be collected."""
    import psutil

    for number in psutil.pids():
        try:
            if os.getpgid(number) == group and psutil.Process(number).status() != psutil.STATUS_ZOMBIE:
                return True
        except (OSError, psutil.Error):
            continue  # it ended meanwhile, or is somebody else's
    return False


def _family(pid: int) -> list[Any]:
    """Windows has no process groups that a signal reaches: the children, looked up while their parent is there."""
    if os.name != "nt":
        return []
    import psutil

    try:
        return list(psutil.Process(pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return []


def _kill(family: list[Any]) -> None:
    for member in family:
        try:
            member.kill()
        except Exception as error:
            _log.debug("a child of the server was not killed: %s", error)  # most have ended meanwhile
