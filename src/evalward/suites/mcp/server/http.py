"""MCP over streamable HTTP: the SDK's transport over a client of ours, whose answers are bounded and counted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from evalward.suites.mcp.server.failures import ServerAnswerError, ServerError
from evalward.suites.mcp.server.hearing import Heard, handed_on, hearing
from evalward.suites.mcp.server.traffic import ServerTraffic

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, TransportStreams

_CONNECT_S = 30.0
_EVENTS = "text/event-stream"
_FAILED = 400  # the first status of a refusal


@asynccontextmanager
async def over_http(url: str, headers: Mapping[str, str], traffic: ServerTraffic) -> AsyncIterator[TransportStreams]:
    """A transport for the SDK's client. No variable of the environment (proxies, `.netrc`) has a part in it."""
    bounds = traffic.bounds
    timeout = httpx2.Timeout(_CONNECT_S, read=max(bounds.start_s, bounds.call_s))
    client = httpx2.AsyncClient(
        headers={"accept-encoding": "identity", **headers},
        timeout=timeout,
        trust_env=False,
        event_hooks={"response": [_bounding(traffic)]},
    )
    async with client, _spoken(url, client, traffic) as (reading, writing):
        heard, counted = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        async with heard, counted, anyio.create_task_group() as tasks:
            tasks.start_soon(_hear, reading, traffic, heard)
            try:
                yield counted, writing
            finally:
                tasks.cancel_scope.cancel()


def _spoken(url: str, client: httpx2.AsyncClient, traffic: ServerTraffic) -> Any:
    return streamable_http_client(url, http_client=client, max_sse_event_size=traffic.bounds.line_bytes)


async def _hear(
    reading: ReadStream[SessionMessage | Exception],
    traffic: ServerTraffic,
    heard: Heard,
) -> None:
    """Pass on what comes until nothing more does, or too much. The bytes are counted where they come."""
    async with hearing(traffic, heard):
        async for each in reading:
            traffic.take(0)
            if not isinstance(each, SessionMessage):
                traffic.noise += 1
            elif handed_on(each.message, traffic):
                await heard.send(each)


def _bounding(traffic: ServerTraffic) -> Any:
    """A hook of the HTTP client: an answer that is too long ends when it is read, and the session with it."""

    async def bound(response: httpx2.Response) -> None:
        if response.status_code >= _FAILED:
            traffic.http_status = response.status_code
        one = not response.headers.get("content-type", "").lower().startswith(_EVENTS)
        packed = response.headers.pop("content-encoding", "identity").strip().lower()  # a packed one is never unpacked
        if packed not in {"", "identity"}:
            traffic.broken = ServerAnswerError(f"it sent an answer that is packed as {packed[:20]!r}, unasked")
        response.stream = _BoundedBody(response.stream, traffic, one_message=one)

    return bound


class _BoundedBody(httpx2.AsyncByteStream):
    """The body of an answer, counted. Raises `httpx2.StreamError` beyond the limits, which the SDK expects."""

    def __init__(self, stream: Any, traffic: ServerTraffic, *, one_message: bool) -> None:
        self._stream, self._traffic, self._one_message = stream, traffic, one_message

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for piece in self._stream:
            length += len(piece)
            try:
                self._count(len(piece), length)
            except ServerError as error:
                self._traffic.broken = error
                raise httpx2.StreamError(str(error)) from error
            yield piece
            await asyncio.sleep(0)  # a server that always has more to say must not keep time-outs and signals waiting

    def _count(self, new: int, length: int) -> None:
        self._traffic.take_bytes(new)
        if self._traffic.broken is not None:
            raise self._traffic.broken
        if self._one_message and length > self._traffic.bounds.line_bytes:
            raise self._traffic.too_long()

    async def aclose(self) -> None:
        await self._stream.aclose()
