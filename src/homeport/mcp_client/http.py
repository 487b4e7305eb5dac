"""The SDK's HTTP transport over a client that answers for a network that fails.

Left to itself that transport lets one failed request end the whole connection, and tells neither an HTTP status nor
what else answered at the address.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any, Final

import anyio
import httpx2
import mcp_types
from mcp.client.streamable_http import streamable_http_client

from homeport.mcp_client.endpoint import Http
from homeport.mcp_client.failures import Refused, one_line

_MOST_BODY_BYTES: Final = 64 * 1024 * 1024
_IDLE_S: Final = 300.0
"""A stream for what the server may have to say is left open that long. The SDK's own choice."""
_FAREWELL_S: Final = 2.0


@asynccontextmanager
async def http_streams(endpoint: Http, connect_s: float, read_s: float) -> AsyncGenerator[tuple[Any, Any]]:
    """The transport for the SDK. Raises Refused where the URL is none."""
    try:
        url = httpx2.URL(endpoint.url)
    except (httpx2.InvalidURL, ValueError) as error:
        raise Refused("the URL cannot be read") from error  # a part of it in the words could be a password
    if url.scheme not in ("http", "https") or not url.host:
        raise Refused("the URL is not an http or https address")
    try:
        client = _Client(
            headers=dict(endpoint.headers), timeout=httpx2.Timeout(connect_s, read=max(read_s, _IDLE_S), pool=None)
        )
    except (UnicodeError, ValueError) as error:
        raise Refused("a header cannot be sent: it is not ASCII") from error
    async with (
        client,
        streamable_http_client(endpoint.url, http_client=client, max_sse_event_size=_MOST_BODY_BYTES) as streams,
    ):
        yield streams


class _Client(httpx2.AsyncClient):
    """Nothing that the network does is raised: a request is then answered with an error of JSON-RPC."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        if request.method == "DELETE":
            return await self._say_farewell(request, options)
        try:
            response = await super().send(request, **options)
            if request.method != "POST" or response.status_code == HTTPStatus.ACCEPTED:
                return response
            response.stream = _Body(response.stream)
            if response.status_code >= 400:
                return await _refusal(request, response)
            return await _checked(request, response)
        except (httpx2.RequestError, httpx2.StreamError) as error:
            said = network_failure(error)
            return _answer(request, HTTPStatus.BAD_GATEWAY, mcp_types.CONNECTION_CLOSED, said)
        except (UnicodeError, ValueError) as error:
            # A tool's name or argument that its schema wants in a header, and no header can hold.
            return _answer(request, HTTPStatus.BAD_REQUEST, mcp_types.INVALID_PARAMS, one_line(str(error)))

    async def _say_farewell(self, request: httpx2.Request, options: Mapping[str, Any]) -> httpx2.Response:
        """Tell the server that its session is over; it need not take note, nor be there any more."""
        with anyio.move_on_after(_FAREWELL_S):
            try:
                return await super().send(request, **options)
            except httpx2.RequestError:
                pass  # it is over all the same
        return httpx2.Response(HTTPStatus.NO_CONTENT, request=request)


class _Body(httpx2.AsyncByteStream):
    """A body that ends in an error the SDK expects, when the network fails or there is too much of it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size_bytes = 0
        try:
            async for part in self._stream:
                size_bytes += len(part)
                if size_bytes > _MOST_BODY_BYTES:
                    raise httpx2.StreamError(f"the answer is larger than {_MOST_BODY_BYTES >> 20} MiB")
                yield part
        except httpx2.RequestError as error:
            raise httpx2.StreamError(network_failure(error)) from error

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _refusal(request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
    """The answer with an HTTP error: the server's own error of JSON-RPC, or one that tells the status."""
    body = await response.aread()
    try:
        mcp_types.JSONRPCError.model_validate({"id": None, **json.loads(body)} | {"id": 0})
    except (ValueError, TypeError, RecursionError):
        await response.aclose()
        said = f"HTTP {response.status_code} {response.reason_phrase}".strip()
        return _answer(request, response.status_code, mcp_types.INTERNAL_ERROR, said, response.status_code)
    return response


async def _checked(request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if response.status_code >= 300 or kind == "text/event-stream":
        return response
    if kind != "application/json":
        await response.aclose()
        said = f"what answers there is not an MCP server: it sent {one_line(kind, 100) or 'no content type'}"
        return _answer(request, HTTPStatus.BAD_GATEWAY, mcp_types.INVALID_REQUEST, said)
    try:
        mcp_types.jsonrpc_message_adapter.validate_json(await response.aread(), by_name=False)
    except ValueError:
        said = "the answer is not a message of JSON-RPC"
        return _answer(request, HTTPStatus.BAD_GATEWAY, mcp_types.PARSE_ERROR, said)
    return response


def _answer(
    request: httpx2.Request, status: int, code: int, message: str, http_status: int | None = None
) -> httpx2.Response:
    error: dict[str, Any] = {"code": code, "message": message}
    if http_status is not None:
        error["data"] = {"http_status": http_status}
    return httpx2.Response(max(status, 400), json={"jsonrpc": "2.0", "id": None, "error": error}, request=request)


def network_failure(error: BaseException) -> str:
    """The failure in words. The libraries' own errors say which of their parts failed, the system's say why."""
    if isinstance(error, httpx2.TimeoutException):
        return "nothing answered in time"
    for cause in _causes(error):
        if isinstance(cause, ConnectionRefusedError):
            return "connection refused: nothing listens there"
        if isinstance(cause, OSError) and cause.errno and cause.strerror:
            # Of a failed look-up the number is another one's and the words are the system's; else the other way round.
            said = os.strerror(cause.errno) if cause.errno > 0 else cause.strerror
            return f"the network failed: {one_line(said)}"
    return one_line(str(error)).removesuffix(".") or type(error).__name__


def _causes(error: BaseException | None) -> list[BaseException]:
    """An error and what led to it, from the outside in."""
    found: list[BaseException] = []
    waiting = [error]
    while waiting and len(found) < 20:
        one = waiting.pop(0)
        if one is None or one in found:
            continue
        found.append(one)
        waiting += [one.__cause__, one.__context__, *(one.exceptions if isinstance(one, BaseExceptionGroup) else ())]
    return found
