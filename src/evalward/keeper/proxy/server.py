"""The proxy itself: who may ask what, and the way to the provider and back.

It listens on 127.0.0.1 only. A request needs a token of an open account, an own Host header (against pages that bind
a name of theirs to this address), and one of the paths of the account's protocol; all that is looked at before its body
is read. It goes to the provider's `base_url` and nowhere else, redirects are not followed. The key is put in where the
token stood, and is in no answer.
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

from evalward.keeper.proxy.account import TrialAccount
from evalward.keeper.proxy.exchange import (
    ByteRoom,
    ClientGoneError,
    ConnectionBounds,
    Refusal,
    RequestHead,
    Welcome,
    WholeRequest,
)
from evalward.keeper.proxy.question import ModelRequest, back
from evalward.keeper.proxy.wire import (
    LIMITS,
    NO_BUDGET,
    NO_COUNTS,
    NO_PRICE,
    TOO_LONG,
    WIRES,
    ProxyProtocol,
    error_body,
    models_body,
    untold,
)
from evalward.targets.failures import FAILURES, Cause
from evalward.targets.limiter import Limiter, Slot
from evalward.targets.models.bounded import bounded_to
from evalward.targets.models.faults import Fault, fault_of, reported, retry_after
from evalward.targets.models.openai_client import newer
from evalward.targets.purse import SpentError

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response

    from evalward.keeper.proxy.door import ListenerConnections
    from evalward.keeper.proxy.http import Exchange

ERROR_LIMIT = 1_000_000  # bytes of a provider's error that are read
TOO_MUCH = {Cause.RATE_LIMIT, Cause.OVERLOAD}
READING = {"GET", "HEAD"}
_UNKNOWN = (401, "authentication_error", "this token is not known")
_NO_BODY = (400, "invalid_request_error", "this request has no body")
_NEVER_SENT = {"ConnectError", "ConnectTimeout", "PoolTimeout"}


class Proxy:
    """One proxy for all trials of an agent: each opens an account. Belongs to the event loop that started it."""

    def __init__(
        self, limiter: Limiter, clock: Callable[[], float] = time.monotonic, bounds: ConnectionBounds | None = None
    ) -> None:
        self.url = ""
        self._limiter, self._clock = limiter, clock
        self._bounds = bounds or ConnectionBounds()
        self._bodies = ByteRoom(self._bounds.bodies)
        self._accounts: list[TrialAccount] = []
        self._hosts: list[str] = []
        self._server: asyncio.Server | None = None
        self._client: AsyncClient | None = None
        self._door: ListenerConnections | None = None

    async def start(self) -> None:
        """Listen on a free port of 127.0.0.1; `url` is then its address without a path. Again does nothing."""
        if self._server is None:
            self._door = self._new_door()
            self._server = await asyncio.start_server(self._door.enter, "127.0.0.1", 0)
            host = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
            self.url = f"http://{host}"
            self._hosts.append(host)

    def _new_door(self) -> ListenerConnections:
        from evalward.keeper.proxy.door import ListenerConnections  # noqa: PLC0415 - h11 costs only who starts a proxy

        return ListenerConnections(self, self._bounds)

    @asynccontextmanager
    async def also_on(self, listener: socket) -> AsyncIterator[str]:
        """Listen on this socket, too, which is closed at the end with its connections; its address without a path."""
        door = self._new_door()
        server = await asyncio.start_server(door.enter, sock=listener)
        host = f"127.0.0.1:{listener.getsockname()[1]}"
        self._hosts.append(host)
        try:
            yield f"http://{host}"
        finally:
            self._hosts.remove(host)
            server.close()
            await door.close()

    def open(self, account: TrialAccount) -> None:
        """From now on its token is good."""
        self._accounts.append(account)

    def end(self, account: TrialAccount) -> None:
        """From now on its token is worth nothing, and what it has under way ends."""
        account.closed = True
        self._accounts.remove(account)
        for task in account.tasks:
            task.cancel()

    async def settled(self, account: TrialAccount, patience_s: float = 2.0) -> None:
        """Take no further request, and wait until what is under way is counted: an agent ends faster than a stream.

        What isn't answered in that time is ended, and noted as unknown; it is charged what was put aside for it.
        """
        account.closed = True
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                await account.quiet.wait()
        tasks = list(account.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def close(self) -> None:
        """End all connections, and listen no more."""
        server, self._server = self._server, None
        door, self._door = self._door, None
        client, self._client = self._client, None
        self._hosts.clear()
        if server is not None:
            server.close()
        if door is not None:
            await door.close()
        if server is not None:
            await server.wait_closed()
        if client is not None:
            await client.aclose()

    # ----------------------------------------------------------------------------------------- who may ask what

    def judge(self, head: RequestHead) -> Refusal | Welcome:
        """Whether a request's body is to be read: by its Host, its token, its path and its length."""
        if head.headers.get("host", "") not in self._hosts:
            return _refused(421, "invalid_request_error", "this is not the host that you look for")
        if head.path == "/" and head.method in READING:
            return Welcome() if not head.holds else _refused(*_NO_BODY)
        account = self._account(head.headers)
        if account is None or account.closed:
            return _refused(*_UNKNOWN)
        if not _served(WIRES[account.settings.provider], head):
            return _refused(404, "not_found_error", f"there is no {head.method} {head.path}")
        if head.method in READING and head.holds:
            return _refused(*_NO_BODY)
        return TOO_LONG if head.length > self._bounds.body else Welcome((account.room, self._bodies))

    async def handle(self, asked: WholeRequest, exchange: Exchange) -> None:
        """Answer a request that `judge` has welcomed."""
        head = asked.head
        silent = head.method == "HEAD"
        if head.path == "/":
            await exchange.answer(200, b"" if silent else b"{}")
            return
        account = self._account(head.headers)
        if account is None or account.closed:  # its trial ended while the body was read
            await exchange.answer(_UNKNOWN[0], error_body(*_UNKNOWN[1:]))
        elif head.method in READING:
            await exchange.answer(200, b"" if silent else models_body(account.settings.model))
        else:
            await self._ask(account, asked, exchange)

    def _account(self, headers: Mapping[str, str]) -> TrialAccount | None:
        given = _token(headers).encode("utf-8", "replace")
        known = [one for one in self._accounts if secrets.compare_digest(one.token.encode(), given)]
        return known[0] if known else None

    async def _ask(self, account: TrialAccount, asked: WholeRequest, exchange: Exchange) -> None:
        wire = WIRES[account.settings.provider]
        body = self._body(asked.body)
        model = body.get("model") if body is not None else None
        if body is None or not isinstance(model, str):
            await exchange.answer(400, error_body("invalid_request_error", "this is not a JSON object with a model"))
            return
        why_not = account.why_not(model)
        if why_not is not None:
            await exchange.answer(404, error_body("not_found_error", why_not))
            return
        field = untold(body)
        if field is not None:
            await exchange.answer(400, error_body("invalid_request_error", f"{field!r} can't be asked for here"))
            return
        if _path(asked.head) != wire.protocol.path:
            await self._count(account, asked, body, model, exchange)
            return
        limit = account.refusal(model)
        if limit is not None:
            await exchange.answer(wire.protocol.limit_status, error_body(wire.protocol.limit_type, LIMITS[limit]))
            return
        with account.asking(model):
            await self._buy(account, asked, body, model, exchange)

    async def _count(
        self, account: TrialAccount, asked: WholeRequest, body: dict[str, Any], model: str, exchange: Exchange
    ) -> None:
        wire = WIRES[account.settings.provider]
        if not account.may_count():
            await exchange.answer(wire.protocol.limit_status, error_body(wire.protocol.limit_type, NO_COUNTS))
            return
        await self._forward(self._question(account, asked, body, model), exchange)

    async def _buy(
        self, account: TrialAccount, asked: WholeRequest, body: dict[str, Any], model: str, exchange: Exchange
    ) -> None:
        wire = WIRES[account.settings.provider]
        if wire.protocol.asks_for_usage and body.get("stream"):
            options = body.get("stream_options")
            body["stream_options"] = {**(options if isinstance(options, dict) else {}), "include_usage": True}
        estimate = wire.estimate(body, len(asked.body), account.price(model))
        try:
            reservation = await account.reserve(estimate)
        except SpentError as error:
            words = NO_PRICE if error.kind == "price" else LIMITS[error.kind]
            message = NO_BUDGET if error.purse is account.shared and error.kind != "price" else words
            await exchange.answer(wire.protocol.limit_status, error_body(wire.protocol.limit_type, message))
            return
        try:
            if reservation.written < estimate.written:  # what is left pays a shorter answer than was asked for
                wire.bound(body, reservation.written, newer=newer(model))
            question = self._question(account, asked, body, model)
            question.reservation = reservation
            await self._forward(question, exchange)
        finally:
            reservation.forfeit()  # does nothing where it is settled

    def _question(self, account: TrialAccount, asked: WholeRequest, body: dict[str, Any], model: str) -> ModelRequest:
        content = json.dumps(body).encode("utf-8", "surrogatepass")
        wire, head = WIRES[account.settings.provider], asked.head
        return ModelRequest(account, wire, model, head.headers, head.query, content, stream=bool(body.get("stream")))

    def _body(self, body: bytes) -> dict[str, Any] | None:
        """The body as JSON; `None` when it is not an object, or holds so many values that reading it would be dear."""
        if body.count(b",") + body.count(b"[") + body.count(b"{") > self._bounds.values:
            return None
        with suppress(ValueError, RecursionError):
            value = json.loads(body)
            return value if isinstance(value, dict) else None
        return None

    # ----------------------------------------------------------------------------------------- there and back

    async def _forward(self, question: ModelRequest, exchange: Exchange) -> None:
        started = self._clock()
        try:
            async with self._limiter.slot() as slot:
                answer = await self._sent(question, exchange)
                if answer is not None:
                    await self._answer(question, answer, exchange, started, slot)
        finally:
            question.dropped(self._clock() - started)

    async def _sent(self, question: ModelRequest, exchange: Exchange) -> Response | None:
        """The beginning of the provider's answer; `None` when none came, which the agent is told."""
        try:
            return await self._send(question)
        except Exception as error:
            # Whatever the HTTP library raises; its words may hold the request, and with it the key.
            fault = fault_of(error)
            question.failed(fault, charged=type(error).__name__ not in _NEVER_SENT)
        # As a gateway does, so that the agent tries again.
        status = 504 if fault.cause == Cause.TIMEOUT else 502
        await exchange.answer(status, error_body("api_error", "the provider could not be reached"))
        return None

    async def _answer(
        self, question: ModelRequest, answer: Response, exchange: Exchange, started: float, slot: Slot
    ) -> None:
        try:
            if answer.status_code == 200:
                await self._pass_on(question, answer, exchange, started, slot)
            else:
                await self._pass_error(question, answer, exchange, slot)
        except ClientGoneError:
            raise
        except Exception as error:
            question.failed(fault_of(error), charged=answer.status_code == 200)
            raise ClientGoneError from None  # the agent sees what we saw: an answer that breaks off
        finally:
            await answer.aclose()

    async def _send(self, question: ModelRequest) -> Response:
        import httpx2  # noqa: PLC0415 - costs only who asks

        settings = question.account.settings
        if self._client is None:
            hooks: dict[str, list[Any]] = {"response": [bounded_to()]}
            self._client = httpx2.AsyncClient(follow_redirects=False, timeout=settings.timeout_s, event_hooks=hooks)
        self._client.cookies.clear()  # one trial's would go to the next
        request = self._client.build_request(
            "POST",
            settings.base_url.rstrip("/") + question.forward,
            headers=question.sent_headers(),
            content=question.content,
            timeout=settings.timeout_s,
        )
        question.sent = True
        return await self._client.send(request, stream=True)

    async def _pass_on(
        self, question: ModelRequest, answer: Response, exchange: Exchange, started: float, slot: Slot
    ) -> None:
        kept = bytearray()
        try:
            await exchange.begin(200, back(answer.headers))
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

    async def _pass_error(self, question: ModelRequest, answer: Response, exchange: Exchange, slot: Slot) -> None:
        body = bytearray()
        async for chunk in answer.aiter_bytes():
            body += chunk[: ERROR_LIMIT - len(body)]
            if len(body) >= ERROR_LIMIT:
                break
        fault = _fault(answer, bytes(body))
        question.failed(fault, charged=False)
        if fault.cause in TOO_MUCH:
            slot.too_much()
        if 300 <= answer.status_code < 400:  # never the agent's to follow
            await exchange.answer(502, error_body("api_error", "the provider sends us to another address"))
            return
        shown = question.account.key.hide(body.decode("utf-8", "replace")).encode()
        # What every further request would meet has to end the agent: some of them try a 401 again for minutes.
        final = FAILURES[fault.cause].stops_run
        await exchange.answer(
            question.wire.protocol.limit_status if final else answer.status_code, shown, back(answer.headers)
        )


def _refused(status: int, kind: str, message: str) -> Refusal:
    return Refusal(status, error_body(kind, message))


def _path(head: RequestHead) -> str:
    return head.path.removeprefix("/v1")


def _served(wire: ProxyProtocol, head: RequestHead) -> bool:
    """Whether there is such a path."""
    if head.method in READING:
        return _path(head) == "/models"
    return head.method == "POST" and _path(head) in {wire.protocol.path, wire.count_path()}


def _token(headers: Mapping[str, str]) -> str:
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    return headers.get("x-api-key") or (bearer if scheme.lower() == "bearer" else "")


def _fault(answer: Response, body: bytes) -> Fault:
    try:
        error: Any = json.loads(body)
    except (ValueError, RecursionError):
        error = None
    fault = reported(error, answer.status_code)
    return Fault(fault.cause, fault.said, retry_after(answer.headers, datetime.now(UTC)))
