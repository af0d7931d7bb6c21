"""The server: three protocols, a script, faults, and a log."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from types import TracebackType
from typing import Any

from support.model_server.api import MODELS, Api, Asked, HttpRequest, Protocol, RejectedError, shown_models
from support.model_server.batches import Batches, BatchRules
from support.model_server.chat_api import ChatApi
from support.model_server.faults import Fault, Faults
from support.model_server.http import Connection
from support.model_server.messages_api import MessagesApi
from support.model_server.prompt_cache import CacheRules, Counted, PromptCache
from support.model_server.reply import Reply, error_reply, reply_to
from support.model_server.responses_api import ResponsesApi
from support.model_server.script import DONE, Script
from support.model_server.wire import json_bytes

KEY = "sk-test-0123456789abcdefSECRET"
APIS: tuple[Api, ...] = (MessagesApi(), ChatApi(), ResponsesApi())
SECRET_HEADERS = {"authorization", "x-api-key", "api-key", "cookie", "proxy-authorization"}
LOG_PATH = "/_log"
SAYS_DONE = Script(default=(DONE,))


@dataclass(frozen=True)
class Settings:
    """What a server is started with. `latency` is seconds before each answer; `tolerated` are unknown top-level fields
    that it lets pass. With `caching` the input tokens of Messages are the request's own.
    """

    script: Script = SAYS_DONE
    faults: tuple[Fault, ...] = ()
    latency: float = 0.0
    key: str = KEY
    models: tuple[str, ...] = MODELS
    tolerated: tuple[str, ...] = ()
    caching: CacheRules | None = None
    batches: BatchRules = field(default_factory=BatchRules)


@dataclass
class Logged:
    """One request to a model, without its key. Times are `time.monotonic()`; `ended` is 0 while it is open.

    `status` is 0 where nothing was sent. `error` is the message of a rejection.
    """

    number: int
    protocol: Protocol
    path: str
    headers: Mapping[str, str]
    body: Any
    started: float
    ended: float = 0.0
    asked: Asked | None = None
    status: int = 0
    fault: str | None = None
    error: str | None = None
    counted: Counted | None = None


@dataclass
class Log:
    """What happened. `open` are the requests without an answer yet, by protocol."""

    requests: list[Logged] = field(default_factory=list)
    open: Counter[Protocol] = field(default_factory=Counter)
    max_concurrent: int = 0
    max_concurrent_of: Counter[Protocol] = field(default_factory=Counter)

    def begin(self, logged: Logged) -> None:
        """Notes a request's beginning."""
        self.requests.append(logged)
        self.open[logged.protocol] += 1
        self.max_concurrent = max(self.max_concurrent, self.open.total())
        of = self.max_concurrent_of
        of[logged.protocol] = max(of[logged.protocol], self.open[logged.protocol])

    def end(self, logged: Logged) -> None:
        """Notes a request's end."""
        if not logged.ended:
            logged.ended = time.monotonic()
            self.open[logged.protocol] -= 1


class ModelServer:
    """The server in a thread of its own, as a context manager. `url` is its address without a path.

    `messages_url` and `openai_url` are what the SDKs take as `base_url`. `settings` may be replaced while it runs;
    `misbehave` replaces the faults.
    """

    def __init__(
        self, script: Script | None = None, *, faults: Iterable[Fault] = (), port: int = 0, **more: Any
    ) -> None:
        self.settings = Settings(faults=tuple(faults), **more)
        if script is not None:
            self.settings = replace(self.settings, script=script)
        self.log = Log()
        self._cache = PromptCache(self.settings.caching or CacheRules())
        self._faults = Faults(list(self.settings.faults))
        self.batches = Batches(self.settings.batches, self._batched)
        self._open: dict[Connection, Logged] = {}
        self._connections: set[Connection] = set()
        self._socket = socket.create_server(("127.0.0.1", port), backlog=512)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.messages_url, self.openai_url = self.url, f"{self.url}/v1"
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="model-server", daemon=True)

    @property
    def requests(self) -> list[Logged]:
        """All requests to models so far, in order."""
        return self.log.requests

    @property
    def max_concurrent(self) -> int:
        """The most requests that were open at the same time."""
        return self.log.max_concurrent

    def misbehave(self, *faults: Fault) -> None:
        """Replaces the rules, with new counts."""
        self._faults = Faults(list(faults))

    def start(self) -> ModelServer:
        """Starts; returns when it answers."""
        self._thread.start()
        self._ready.wait()
        return self

    def stop(self) -> None:
        """Drops all connections and ends. Again does nothing."""
        if not self._thread.is_alive():
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def __enter__(self) -> ModelServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(self._loop.create_server(self._connect, sock=self._socket))
        self._loop.call_soon(self._ready.set)
        self._loop.run_forever()
        server.close()
        for connection in list(self._connections):
            if connection.transport:
                connection.transport.abort()
        self._loop.run_until_complete(asyncio.sleep(0))  # the transports close their sockets
        self._loop.close()

    def _connect(self) -> Connection:
        connection = Connection(self._handle, self._gone)
        self._connections.add(connection)
        return connection

    def _gone(self, connection: Connection) -> None:
        self._connections.discard(connection)
        logged = self._open.pop(connection, None)
        if logged:
            self.log.end(logged)

    def _handle(self, connection: Connection, request: HttpRequest) -> None:
        api = _api(request)
        if api is None or request.method != "POST":
            batched = self.batches.handle(APIS, request, self.settings.key) if api is None else None
            connection.answer(batched or self._probe(request, api))
            return
        shown = {name: value for name, value in request.headers.items() if name not in SECRET_HEADERS}
        logged = Logged(len(self.requests) + 1, api.protocol, request.path, shown, None, time.monotonic())
        self.log.begin(logged)
        self._open[connection] = logged
        try:
            reply = self._reply(api, request, logged)
        except RejectedError as error:
            logged.error = error.message
            reply = error_reply(api, error)
        delay = self.settings.latency + reply.delay
        if delay:
            self._loop.call_later(delay, self._answer, connection, reply)
        else:
            self._answer(connection, reply)

    def _batched(self, api: Api, request: HttpRequest, body: dict[str, Any]) -> Reply:
        """One line of a batch, which is a request like any other."""
        headers = {**request.headers, "content-type": "application/json"}
        line = HttpRequest("POST", api.path, "", headers, json_bytes(body))
        logged = Logged(len(self.requests) + 1, api.protocol, request.path, {}, None, time.monotonic())
        self.log.begin(logged)
        try:
            reply = self._reply(api, line, logged)
        except RejectedError as error:
            logged.error = error.message
            reply = error_reply(api, error)
        logged.status = reply.status
        self.log.end(logged)
        return reply

    def _answer(self, connection: Connection, reply: Reply) -> None:
        logged = self._open.get(connection)
        if logged is None:
            return  # the client has left
        logged.status = reply.status
        if logged.counted is not None and reply.status == 200:
            self._cache.keep(logged.counted)
        del self._open[connection]
        self.log.end(logged)  # before the client can see the answer and send the next request
        if not connection.answer(reply):
            logged.ended = 0.0
            self.log.open[logged.protocol] += 1
            self._open[connection] = logged

    def _reply(self, api: Api, request: HttpRequest, logged: Logged) -> Reply:
        api.authenticate(request, self.settings.key)
        body = _json(api, request)
        logged.body = body
        known = {name: value for name, value in body.items() if name not in self.settings.tolerated}
        asked = api.read(request, known, _served(api, self.settings.models))
        logged.asked = asked
        answer = self.settings.script.answer_to(body, asked.prompt, asked.turn)
        if answer is None:
            raise RejectedError(500, "api_error", f"The test's script has no answer to {asked.prompt[:200]!r}.")
        if self.settings.caching is not None and asked.protocol == "messages" and asked.count_only is None:
            logged.counted = counted = self._cache.count(body)
            told = replace(answer.tokens, input=counted.input, cache_read=counted.read, cache_write=counted.written)
            answer = replace(answer, tokens=told)
        fault = self._faults.find(asked) if asked.count_only is None else None
        logged.fault = fault.name if fault else None
        return reply_to(api, asked, answer, fault, self.settings.key)

    def _probe(self, request: HttpRequest, api: Api | None) -> Reply:
        headers = {"content-type": "application/json"}
        if request.path == LOG_PATH:
            return Reply(200, json_bytes(self.summary()), headers)
        if request.path == "/" and request.method in {"GET", "HEAD"}:
            return Reply(200, b'{"status":"ok"}', headers)
        speaker = api or APIS[0 if "anthropic-version" in request.headers else 1]
        if api is None and request.path == "/v1/models" and request.method in {"GET", "HEAD"}:
            return self._models(speaker, request)
        if api is not None:
            return error_reply(speaker, RejectedError(405, "invalid_request_error", "Method Not Allowed"))
        message = f"Invalid URL ({request.method} {request.path})"
        kind = "not_found_error" if speaker.protocol == "messages" else "invalid_request_error"
        return error_reply(speaker, RejectedError(404, kind, message))

    def _models(self, speaker: Api, request: HttpRequest) -> Reply:
        try:
            speaker.authenticate(request, self.settings.key)
        except RejectedError as error:
            return error_reply(speaker, error)
        owner = "anthropic" if speaker.protocol == "messages" else "openai"
        shown: dict[str, Any] = {"object": "list", "data": shown_models(frozenset(self.settings.models), owner)}
        if owner == "anthropic":
            shown = {"data": shown["data"], "has_more": False, "first_id": None, "last_id": None}
        return Reply(200, json_bytes(shown), {"content-type": "application/json"})

    def summary(self) -> dict[str, Any]:
        """The log as JSON, which GET /_log gives."""
        return {
            "requests": [asdict(logged) for logged in self.requests],
            "max_concurrent": self.log.max_concurrent,
            "max_concurrent_of": dict(self.log.max_concurrent_of),
        }


def _api(request: HttpRequest) -> Api | None:
    path = request.path.removesuffix("/count_tokens") if request.path == "/v1/messages/count_tokens" else request.path
    return next((api for api in APIS if api.path == path), None)


def _served(api: Api, models: Iterable[str]) -> frozenset[str]:
    """Of the usual models each provider has its own; others are served everywhere, as gateways do."""
    claude = api.protocol == "messages"
    return frozenset(name for name in models if name not in MODELS or name.startswith("claude") == claude)


def _json(api: Api, request: HttpRequest) -> dict[str, Any]:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise api.unreadable("the content-type is not application/json")
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError) as error:
        raise api.unreadable(str(error)) from None
    if not isinstance(body, dict):
        raise api.unreadable("it is not an object")
    return body
