"""A provider of Messages whose every answer the test holds in its hand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

READ, WRITTEN = 90, 20  # tokens of each answer
OK = b"HTTP/1.1 200 OK\r\nset-cookie: a=b\r\nx-debug: inner\r\nrequest-id: req_1\r\nconnection: close\r\n"
PING = b'event: ping\ndata: {"type": "ping"}\n\n'


@dataclass(frozen=True)
class Got:
    """One request as the provider got it."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


@dataclass
class Provider:
    """`async with` runs it. `answers` may go while it is set; `endless`: streams begin and never come to an end.

    `raw` is sent instead of an answer: everything after the status line's headers.
    """

    endless: bool = False
    raw: bytes | None = None
    got: list[Got] = field(default_factory=list)
    url: str = ""

    def __post_init__(self) -> None:
        self.answers = asyncio.Event()
        self.answers.set()
        self.arrived = asyncio.Semaphore(0)  # one more for each request
        self.at_once = self.most_at_once = 0
        self._serving: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in list(self._serving):
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            await self._one(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._serving.discard(task)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in head[1:] if line)}
        body = json.loads(await reader.readexactly(int(headers["content-length"])))
        self.got.append(Got(head[0].split()[1], headers, body))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.arrived.release()
        try:
            await self._answer(body, writer)
        finally:
            self.at_once -= 1

    async def _answer(self, body: Mapping[str, Any], writer: asyncio.StreamWriter) -> None:
        if self.endless:
            writer.write(OK + b"content-type: text/event-stream\r\n\r\n" + PING)
            await writer.drain()
            await self.answers.wait()
            while True:
                writer.write(PING)
                await writer.drain()
        await self.answers.wait()
        if self.raw is not None:
            writer.write(OK + self.raw)
        else:
            writer.write(OK + b"content-type: application/json\r\n\r\n" + message(str(body.get("model"))))
        await writer.drain()


def message(model: str) -> bytes:
    """An answer."""
    return json.dumps(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [{"type": "text", "text": "Hello."}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": READ, "output_tokens": WRITTEN},
        }
    ).encode()
