"""The proxy itself: who may ask what, and the way to the provider and back.

It listens on 127.0.0.1 only. A request needs a token of an open account, an own Host header (against pages that bind
a name of theirs to this address), and one of the paths of the account's protocol; it goes to the provider's `base_url`
and nowhere else, redirects are not followed. The key is put in where the token stood, and is in no answer.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from socket import socket
from typing import TYPE_CHECKING, Any

from evalward.records.trace import Message, Turn
from evalward.targets.agents.proxy.account import Account
from evalward.targets.agents.proxy.exchange import ClientGoneError
from evalward.targets.agents.proxy.wire import LIMITS, WIRES, Wire, error_body, models_body
from evalward.targets.base import Reply
from evalward.targets.failures import FAILURES, Cause
from evalward.targets.limiter import Limiter, Slot
from evalward.targets.models.faults import Fault, fault_of, reported, retry_after
from evalward.targets.models.reading import reading

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response

    from evalward.targets.agents.proxy.http import Asked, Exchange

ERROR_LIMIT = 1_000_000  # bytes of a provider's error that are read
TOO_MUCH = {Cause.RATE_LIMIT, Cause.OVERLOAD}
_NOT_SENT = {
    *("host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect"),
    *("cookie", "accept-encoding", "proxy-authorization", "proxy-connection", "authorization", "x-api-key"),
    *("forwarded", "x-forwarded-for", "x-forwarded-host"),
}
_SENT_BACK = ("content-type", "retry-after", "retry-after-ms", "x-should-retry", "request-id", "x-request-id")


class Proxy:
    """One proxy for all trials of an agent: each opens an account. Belongs to the event loop that started it."""

    def __init__(self, limiter: Limiter, clock: Callable[[], float] = time.monotonic) -> None:
        self.url = ""
        self._limiter, self._clock = limiter, clock
        self._accounts: list[Account] = []
        self._hosts: list[str] = []
        self._server: asyncio.Server | None = None
        self._client: AsyncClient | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen on a free port of 127.0.0.1; `url` is then its address without a path. Again does nothing."""
        if self._server is None:
            self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
            host = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
            self.url = f"http://{host}"
            self._hosts.append(host)

    @asynccontextmanager
    async def also_on(self, listener: socket) -> AsyncIterator[str]:
        """Listen on this socket, too, which is closed at the end; its address without a path."""
        server = await asyncio.start_server(self._connected, sock=listener)
        host = f"127.0.0.1:{listener.getsockname()[1]}"
        self._hosts.append(host)
        try:
            yield f"http://{host}"
        finally:
            self._hosts.remove(host)
            server.close()

    def open(self, account: Account) -> None:
        """From now on its token is good."""
        self._accounts.append(account)

    def end(self, account: Account) -> None:
        """From now on its token is worth nothing."""
        self._accounts.remove(account)

    async def settled(self, account: Account, patience_s: float = 2.0) -> None:
        """Wait until what the account's agent still has under way is counted: an agent ends faster than a stream.

        What isn't answered in that time stays unknown, and is noted so.
        """
        waited = asyncio.get_running_loop().time() + patience_s
        while account.under_way and asyncio.get_running_loop().time() < waited:
            await asyncio.sleep(0.01)
        for _ in range(account.under_way):
            unknown = Reply(Message(role="assistant", content=[]), Turn(stop="other"))
            account.answered(unknown.turn, unknown.message, account.settings.model)

    async def close(self) -> None:
        """End all connections, and listen no more."""
        server, self._server = self._server, None
        self._hosts.clear()
        client, self._client = self._client, None
        if server is not None:
            server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        if server is not None:
            await server.wait_closed()
        if client is not None:
            await client.aclose()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from evalward.targets.agents.proxy.http import converse  # noqa: PLC0415 - h11 costs only who starts a proxy

        task = asyncio.current_task()
        if task is None:  # a coroutine always runs in one
            return
        self._connections.add(task)
        try:
            await converse(reader, writer, self._handle)
        except asyncio.CancelledError:
            pass  # we close; the server's own task would report the cancelling as an error
        finally:
            self._connections.discard(task)

    # ----------------------------------------------------------------------------------------- who may ask what

    async def _handle(self, asked: Asked, exchange: Exchange) -> None:
        if asked.headers.get("host", "") not in self._hosts:
            await exchange.answer(421, error_body("invalid_request_error", "this is not the host that you look for"))
            return
        if asked.path == "/" and asked.method in {"GET", "HEAD"}:
            await exchange.answer(200, b"" if asked.method == "HEAD" else b"{}")
            return
        account = self._account(asked.headers)
        if account is None:
            await exchange.answer(401, error_body("authentication_error", "this token is not known"))
            return
        await self._route(account, asked, exchange)

    def _account(self, headers: Mapping[str, str]) -> Account | None:
        given = _token(headers).encode("utf-8", "replace")
        known = [one for one in self._accounts if secrets.compare_digest(one.token.encode(), given)]
        return known[0] if known else None

    async def _route(self, account: Account, asked: Asked, exchange: Exchange) -> None:
        wire = WIRES[account.settings.provider]
        path = asked.path.removeprefix("/v1")
        if path == "/models" and asked.method in {"GET", "HEAD"}:
            await exchange.answer(200, b"" if asked.method == "HEAD" else models_body(account.settings.model))
        elif path not in {wire.path, wire.count_path()} or asked.method != "POST":
            await exchange.answer(404, error_body("not_found_error", f"there is no {asked.method} {asked.path}"))
        else:
            await self._ask(account, wire, asked, exchange, counting=path != wire.path)

    async def _ask(self, account: Account, wire: Wire, asked: Asked, exchange: Exchange, *, counting: bool) -> None:
        body = _body(asked.body)
        model = body.get("model") if body is not None else None
        if body is None or not isinstance(model, str):
            size = "is too long" if asked.body is None else "is no JSON object with a model"
            await exchange.answer(413 if asked.body is None else 400, error_body("invalid_request_error", size))
            return
        if account.pinned and not account.main(model):
            await exchange.answer(404, error_body("not_found_error", f"only {account.settings.model} is there"))
            return
        limit = None if counting else account.refusal(model)
        if limit is not None:
            await exchange.answer(wire.limit_status, error_body(wire.limit_type, LIMITS[limit]))
            return
        if account.settings.provider == "openai" and body.get("stream"):
            options = body.get("stream_options")
            body["stream_options"] = {**(options if isinstance(options, dict) else {}), "include_usage": True}
        question = _Question(account, wire, asked, body=body, model=model, counting=counting)
        counted = int(account.main(model) and not counting)
        account.under_way += counted
        try:
            await self._forward(question, exchange)
        finally:
            account.under_way -= counted

    # ----------------------------------------------------------------------------------------- there and back

    async def _forward(self, question: _Question, exchange: Exchange) -> None:
        started = self._clock()
        async with self._limiter.slot() as slot:
            try:
                answer = await self._send(question)
            except Exception as error:
                # Whatever the HTTP library raises; its words may hold the request, and with it the key.
                await self._broken(question, exchange, fault_of(error))
                return
            try:
                if answer.status_code == 200:
                    await self._pass_on(question, answer, exchange, started, slot)
                else:
                    await self._pass_error(question, answer, exchange, slot)
            except ClientGoneError:
                raise
            except Exception as error:
                question.failed(fault_of(error))
                raise ClientGoneError from None  # the agent sees what we saw: an answer that breaks off
            finally:
                await answer.aclose()

    async def _send(self, question: _Question) -> Response:
        import httpx2  # noqa: PLC0415 - costs only who asks

        settings = question.account.settings
        if self._client is None:
            self._client = httpx2.AsyncClient(follow_redirects=False, timeout=settings.timeout_s)
        request = self._client.build_request(
            "POST",
            settings.base_url.rstrip("/") + question.forward,
            headers=question.headers(),
            content=json.dumps(question.body).encode("utf-8", "surrogatepass"),
            timeout=settings.timeout_s,
        )
        return await self._client.send(request, stream=True)

    async def _broken(self, question: _Question, exchange: Exchange, fault: Fault) -> None:
        """No answer came: told as a gateway does, so that the agent tries again."""
        question.failed(fault)
        status = 504 if fault.cause == Cause.TIMEOUT else 502
        await exchange.answer(status, error_body("api_error", "the provider could not be reached"))

    async def _pass_on(
        self, question: _Question, answer: Response, exchange: Exchange, started: float, slot: Slot
    ) -> None:
        await exchange.begin(200, _back(answer.headers))
        kept = bytearray()
        try:
            async for chunk in answer.aiter_bytes():
                kept += chunk
                await exchange.send(chunk)
        except (ClientGoneError, asyncio.CancelledError):
            wall = self._clock() - started
            question.left(bytes(kept), wall, wall - slot.waited_s)
            raise
        wall = self._clock() - started
        question.read(bytes(kept), wall, wall - slot.waited_s)
        slot.succeeded()
        await exchange.end()

    async def _pass_error(self, question: _Question, answer: Response, exchange: Exchange, slot: Slot) -> None:
        body = bytearray()
        async for chunk in answer.aiter_bytes():
            body += chunk[: ERROR_LIMIT - len(body)]
        fault = _fault(answer, bytes(body))
        question.failed(fault)
        if fault.cause in TOO_MUCH:
            slot.too_much()
        if 300 <= answer.status_code < 400:  # never the agent's to follow
            await exchange.answer(502, error_body("api_error", "the provider sends us to another address"))
            return
        shown = question.account.key.hide(body.decode("utf-8", "replace")).encode()
        # What every further request would meet has to end the agent: some of them try a 401 again for minutes.
        final = FAILURES[fault.cause].stops_run
        await exchange.answer(question.final_status if final else answer.status_code, shown, _back(answer.headers))


class _Question:
    """One request on its way to the provider."""

    def __init__(
        self, account: Account, wire: Wire, asked: Asked, *, body: dict[str, Any], model: str, counting: bool
    ) -> None:
        self.account, self.body, self._asked, self._model = account, body, asked, model
        self._wire, self._counting = wire, counting
        self.final_status = wire.limit_status
        suffix = "/count_tokens" if counting else ""
        self.forward = wire.forward + suffix + (f"?{asked.query}" if asked.query else "")

    def headers(self) -> dict[str, str]:
        """The agent's own, with the key where the token stood, and those that the configuration adds."""
        given = {name: value for name, value in self._asked.headers.items() if name not in _NOT_SENT}
        key = self.account.key.reveal()
        if key and "x-api-key" in self._asked.headers:
            given["x-api-key"] = key
        elif key:
            given["authorization"] = f"Bearer {key}"
        return {**given, "accept-encoding": "identity", **dict(self.account.settings.headers)}

    def read(self, body: bytes, wall_s: float, working_s: float) -> None:
        """Count what was answered. One that broke off, or is none, is the provider's fault."""
        if self._counting:
            return
        try:
            with reading():
                reply = self._wire.reply(body, stream=bool(self.body.get("stream")))
        except Exception as error:
            fault = fault_of(error)
            if fault.cause is not Cause.UNREADABLE:
                self.failed(fault)
                return
            reply = Reply(Message(role="assistant", content=[]), Turn(stop="other"))  # answered; we know no more of it
        self._answered(reply, wall_s, working_s)

    def left(self, body: bytes, wall_s: float, working_s: float) -> None:
        """Count an answer that the agent didn't wait for: what it cost is not known, unless it was whole already."""
        if self._counting:
            return
        try:
            reply = self._wire.reply(body, stream=bool(self.body.get("stream")))
        except Exception:
            reply = Reply(Message(role="assistant", content=[]), Turn(stop="other"))
        self._answered(reply, wall_s, working_s)

    def _answered(self, reply: Reply, wall_s: float, working_s: float) -> None:
        times = {"wall_ms": round(wall_s * 1000), "working_ms": round(max(0.0, working_s) * 1000)}
        self.account.answered(reply.turn.model_copy(update=times), reply.message, self._model)

    def failed(self, fault: Fault) -> None:
        """Count a fault; what only counts tokens can't end a trial."""
        if not self._counting:
            self.account.failed(fault, self._model)


def _token(headers: Mapping[str, str]) -> str:
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    return headers.get("x-api-key") or (bearer if scheme.lower() == "bearer" else "")


def _body(body: bytes | None) -> dict[str, Any] | None:
    with suppress(ValueError, RecursionError):
        value = json.loads(body or b"")
        return value if isinstance(value, dict) else None
    return None


def _back(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(name, headers[name]) for name in _SENT_BACK if name in headers]


def _fault(answer: Response, body: bytes) -> Fault:
    try:
        said: Any = json.loads(body)
    except (ValueError, RecursionError):
        said = None
    fault = reported(said, answer.status_code)
    return Fault(fault.cause, fault.said, retry_after(answer.headers, datetime.now(UTC)))
