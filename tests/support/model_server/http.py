"""HTTP/1.1 on asyncio: as much as test clients speak, and fast."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from typing import Any

from support.model_server.api import HttpRequest
from support.model_server.reply import Reply

REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}
RESET_AFTER = 0.02  # the client reads what was sent before the reset arrives
END_OF_HEAD = b"\r\n\r\n"


class Connection(asyncio.Protocol):
    """One connection: parses requests, hands each to `handle`, writes the reply that `answer` is given.

    `handle` calls `answer` now or later; `gone` is called when the connection has ended, whoever ended it.
    """

    def __init__(self, handle: Callable[[Connection, HttpRequest], None], gone: Callable[[Connection], None]) -> None:
        self._handle, self._gone = handle, gone
        self._buffer = bytearray()
        self._busy = False
        self._method = ""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        self._gone(self)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._next()

    def _next(self) -> None:
        if self._busy or self.transport is None:
            return
        try:
            request = self._parse()
        except (ValueError, IndexError):
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            self.transport.close()
            return
        if request is not None:
            self._busy, self._method = True, request.method
            self._handle(self, request)

    def _parse(self) -> HttpRequest | None:
        end = self._buffer.find(END_OF_HEAD)
        if end < 0:
            return None
        lines = self._buffer[:end].decode("latin-1").split("\r\n")
        headers = {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])
        }
        body, rest = self._body(headers, end + len(END_OF_HEAD))
        if body is None:
            if headers.get("expect", "").lower() == "100-continue" and self.transport:
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            return None
        del self._buffer[:rest]
        method, target, _ = lines[0].split(" ", 2)
        path, _, query = target.partition("?")
        return HttpRequest(method, path, query, headers, body)

    def _body(self, headers: dict[str, str], start: int) -> tuple[bytes | None, int]:
        if headers.get("transfer-encoding", "").lower() == "chunked":
            return self._chunked(start)
        length = int(headers.get("content-length") or 0)
        if len(self._buffer) < start + length:
            return None, start
        return bytes(self._buffer[start : start + length]), start + length

    def _chunked(self, start: int) -> tuple[bytes | None, int]:
        body = b""
        while True:
            line = self._buffer.find(b"\r\n", start)
            if line < 0:
                return None, start
            size = int(self._buffer[start:line].split(b";")[0], 16)
            start = line + 2 + size + 2
            if len(self._buffer) < start:
                return None, start
            if size == 0:
                return body, start
            body += self._buffer[line + 2 : start - 2]

    def answer(self, reply: Reply) -> bool:
        """Write the reply. False when it never ends, so that the request stays open until the client leaves."""
        if self.transport is None:
            return True
        if reply.status:
            self.transport.write(_encoded(reply, head_only=self._method == "HEAD"))
        if reply.ending == "stall":
            return False
        self._busy = False
        if reply.ending == "reset":
            asyncio.get_running_loop().call_later(RESET_AFTER if reply.status else 0, self._reset)
        elif reply.ending == "closed":
            self.transport.close()
        else:
            self._next()
        return True

    def _reset(self) -> None:
        if self.transport is None:
            return
        connection: Any = self.transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()


def _encoded(reply: Reply, *, head_only: bool) -> bytes:
    streamed = reply.chunks is not None
    length = len(reply.body)
    if reply.ending in {"reset", "stall", "closed"}:
        length *= 2  # there is less than was promised
    framing = "transfer-encoding: chunked" if streamed else f"content-length: {length}"
    fields = [f"{name}: {value}" for name, value in reply.headers.items()]
    lines = [f"HTTP/1.1 {reply.status} {REASONS.get(reply.status, 'Other')}", framing, *fields]
    head = "\r\n".join(lines).encode("latin-1") + END_OF_HEAD
    if head_only:
        return head
    if reply.chunks is None:
        return head + reply.body
    end = b"0\r\n\r\n" if reply.ending == "done" else b""
    return b"".join([head, *(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in reply.chunks), end])
