"""MCP over standard input and output: a message a line, within bounds, counted; what is no message is passed over."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from evalward.records.base import why_of
from evalward.sandbox.process.talking import LineTooLongError, LiveProgram
from evalward.suites.mcp.server.failures import ServerAnswerError, shown
from evalward.suites.mcp.server.hearing import Heard, handed_on, hearing
from evalward.suites.mcp.server.traffic import ServerTraffic

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream
    from mcp.client._transport import TransportStreams

_MEANT = re.compile(rb'\s*\{\s*"(jsonrpc|id|result|error)"\s*:')
"""How a line begins that is meant as a message. To pass over one that can't be read would mean to wait for it."""


@asynccontextmanager
async def over_stdio(program: LiveProgram, traffic: ServerTraffic) -> AsyncIterator[TransportStreams]:
    """A transport for the SDK's client over a program that runs; whoever started it ends it."""
    heard, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writing, said = anyio.create_memory_object_stream[SessionMessage](0)
    async with heard, reading, writing, said, anyio.create_task_group() as tasks:
        tasks.start_soon(_hear, program, traffic, heard)
        tasks.start_soon(_say, program, said, heard)
        try:
            yield reading, writing
        finally:
            tasks.cancel_scope.cancel()


async def _hear(program: LiveProgram, traffic: ServerTraffic, heard: Heard) -> None:
    """Pass on what comes until nothing more does, or too much."""
    async with hearing(traffic, heard):
        try:
            while (line := await program.line()) is not None:
                message = read_message(line, traffic)
                if message is not None:
                    await heard.send(message)
        except LineTooLongError:
            raise traffic.too_long() from None


def read_message(line: bytes, traffic: ServerTraffic) -> SessionMessage | None:
    """What a line says that has to be answered, or is an answer. Bytes that are no UTF-8 are U+FFFD in it.

    Lines that are no message, and notifications, are only counted. Raises `ServerError` for what ends the session.
    """
    traffic.take(len(line))
    try:
        message = jsonrpc_message_adapter.validate_json(line.decode("utf-8", "replace"), by_name=False)
    except ValueError as error:
        if _MEANT.match(line):
            raise ServerAnswerError(f"it sent a message that can't be read: {shown(why_of(error))}") from None
        traffic.noise += bool(line.strip())
        return None
    return SessionMessage(message) if handed_on(message, traffic) else None


async def _say(
    program: LiveProgram,
    said: MemoryObjectReceiveStream[SessionMessage],
    heard: Heard,
) -> None:
    try:
        async for each in said:
            text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
            await program.write(text.encode("utf-8", "replace") + b"\n")
    except (OSError, anyio.ClosedResourceError):
        await heard.aclose()  # it reads no more: nobody need wait for an answer
