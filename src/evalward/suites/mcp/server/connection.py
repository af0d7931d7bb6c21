"""The SDK's client in a task of its own, and what went wrong with it in words."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from mcp import Client, MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    CallToolRequest,
    CallToolRequestParams,
    Implementation,
    ListToolsRequest,
    PaginatedRequestParams,
)
from pydantic import BaseModel, ConfigDict, ValidationError

from evalward import __version__
from evalward.records.base import clean_text, why_of
from evalward.records.model_words import in_words
from evalward.sandbox.process.talking import LiveProgram
from evalward.suites.mcp.catalogue import LONGEST_TEXT, MOST_TOOLS, Catalogue, CatalogueError, make_catalogue
from evalward.suites.mcp.server.contents import BAD_ANSWER, CallOutcome, outcome_of
from evalward.suites.mcp.server.failures import (
    ServerAnswerError,
    ServerDiedError,
    ServerError,
    ServerHungError,
    both_ends,
    shown,
)
from evalward.suites.mcp.server.traffic import ServerTraffic

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

UNNAMED = "server"
"""The name of a server that doesn't say its own."""
_LAST_WORD_S = 10.0  # for the exit code of a server that has closed its output
_LEAVING_S = 5.0  # for the client's own end
_MOST_MISTAKES = 3


class _WireResult(BaseModel):
    """An answer as it stands on the wire. What the protocol asks of it the SDK has checked before."""

    model_config = ConfigDict(extra="allow")


class ServerConnection:
    """One server, spoken to from `open` to `close`.

    The client lives in a task of its own: a broken connection tears down that task, and not whoever waits for an
    answer. Requests may be made from every task of the event loop.
    """

    def __init__(self, traffic: ServerTraffic, program: LiveProgram | None = None) -> None:
        self._traffic, self._program = traffic, program
        self._client: Client | None = None
        self._catalogue: Catalogue | None = None
        self._failure: BaseException | None = None
        self._listed, self._leave = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def open(self, transport: AbstractAsyncContextManager[TransportStreams]) -> Catalogue:
        """Begin, and list the tools. Raises `ServerError`; call `close` in any case."""
        logging.getLogger("mcp").addHandler(logging.NullHandler())  # else Python prints what it says on our stderr
        self._task = asyncio.ensure_future(self._speak(transport))
        listed = asyncio.ensure_future(self._listed.wait())
        start_s = self._traffic.bounds.start_s
        try:
            await asyncio.wait([self._task, listed], timeout=start_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            listed.cancel()
        if self._catalogue is not None:
            return self._catalogue
        if not self._task.done():
            raise ServerHungError(f"it didn't list its tools within {start_s:g} s{self._complaint()}")
        raise await self._why_not_listed()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> CallOutcome:
        """Call a tool. Raises `ServerDiedError` and `ServerHungError`: then nothing more can be asked."""
        asked = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=dict(arguments)))
        try:
            result = await self._in_time(asked, tool)
        except ValidationError as error:
            return CallOutcome(mistakes(error), True, BAD_ANSWER)
        except MCPError as error:
            if self._traffic.broken is not None or (error.code == CONNECTION_CLOSED and self._traffic.ended):
                raise await self._death() from None
            return CallOutcome(f"MCP error {error.code}: {shown(error.message)}", True, "json_rpc_error")
        if self._traffic.asked_in_answer(result):
            return CallOutcome("The server asked for input, which it doesn't get here.", True, "input_required")
        return outcome_of(result)

    async def _in_time(self, asked: CallToolRequest, tool: str) -> dict[str, Any]:
        call_s = self._traffic.bounds.call_s
        waiting = asyncio.timeout(call_s)
        try:
            async with waiting:
                return await self._sent(asked)
        except TimeoutError:
            if not waiting.expired():
                raise
            raise ServerHungError(f"it gave no answer to {tool!r} within {call_s:g} s") from None

    async def close(self) -> None:
        """Leave the session, within bounds."""
        self._leave.set()
        if self._task is None:
            return
        if self._catalogue is None:
            self._task.cancel()
        for _ in range(2):
            done, _ = await asyncio.wait([self._task], timeout=_LEAVING_S)
            if done:
                return
            self._task.cancel()

    async def _speak(self, transport: AbstractAsyncContextManager[TransportStreams]) -> None:
        """The life of the client. Enter and leave have to be in the same task."""
        us = Implementation(name="evalward", version=__version__)
        try:
            async with Client(transport, client_info=us, cache=None) as self._client:
                self._catalogue = await self._list(self._client)
                self._listed.set()
                await self._leave.wait()
        except Exception as error:  # a server can make the SDK raise anything, in groups
            self._failure = error
        finally:
            self._traffic.ended = True

    async def _sent(self, asked: CallToolRequest | ListToolsRequest) -> dict[str, Any]:
        if self._client is None:
            raise MCPError(code=CONNECTION_CLOSED, message="Connection closed")
        result = await self._client.session.send_request(asked, _WireResult)
        return result.model_extra or {}

    async def _list(self, client: Client) -> Catalogue:
        """All pages of its tools."""
        tools: list[Any] = []
        cursor: str | None = None
        for _ in range(self._traffic.bounds.pages):
            page = await self._sent(ListToolsRequest(params=PaginatedRequestParams(cursor=cursor)))
            tools += page["tools"]
            cursor = page.get("nextCursor")
            if cursor is None or len(tools) > MOST_TOOLS:
                return _catalogue(client, tools)
        raise ServerAnswerError(f"its list of tools has no end: more than {self._traffic.bounds.pages} pages")

    # --- why ----------------------------------------------------------------------------------------------------------

    async def _why_not_listed(self) -> ServerError:
        if self._traffic.broken is not None:
            return await self._death()
        errors = list(_leaves(self._failure)) if self._failure is not None else []
        known = next((error for error in errors if isinstance(error, ServerError)), None)
        if known is not None:
            return known
        refusal = next((error for error in errors if isinstance(error, MCPError)), None)
        if refusal is not None and refusal.code != CONNECTION_CLOSED:
            if self._traffic.http_status is not None:
                return ServerAnswerError(f"it refused to list its tools: HTTP status {self._traffic.http_status}")
            return ServerAnswerError(f"it refused to list its tools: {shown(refusal.message)} ({refusal.code})")
        odd = next((error for error in errors if isinstance(error, ValidationError)), None)
        if odd is not None:
            return ServerAnswerError(f"its answer isn't what the protocol has: {mistakes(odd)}")
        return await self._death(next(iter(errors), None) if refusal is None else None)

    async def _death(self, error: BaseException | None = None) -> ServerError:
        """How it ended, with the last of what it printed. Raises `SandboxError` when not it but the sandbox broke."""
        if (broken := self._traffic.broken) is not None:
            return type(broken)(str(broken))
        if self._program is None:
            why = f": {shown(why_of(error))}" if error is not None else ""
            return ServerDiedError(f"it can't be reached, or the connection broke{why}")
        code = await self._program.exit_code(_LAST_WORD_S)
        if code is None:
            return ServerDiedError(f"it closed its standard output{self._complaint()}")
        exceeded = self._program.exceeded
        how = f"it was ended: too much {exceeded}" if exceeded else f"it ended with exit code {code}"
        return ServerDiedError(f"{how}{self._complaint()}")

    def _complaint(self) -> str:
        """What it printed to standard error, its beginning and its end."""
        words = "" if self._program is None else both_ends(self._program.complaints)
        return f": {words}" if words else ""


def _catalogue(client: Client, tools: list[Any]) -> Catalogue:
    """What it listed, within bounds. Raises `ServerAnswerError`."""
    name = client.server_info.name if client.server_info is not None else ""
    instructions = client.instructions
    if instructions is not None and len(instructions) > LONGEST_TEXT:
        raise ServerAnswerError(f"its instructions have more than {LONGEST_TEXT:,} characters")
    try:
        return make_catalogue(clean_text(name).strip() or UNNAMED, tools, instructions, client.protocol_version)
    except CatalogueError as error:
        raise ServerAnswerError(f"its list of tools can't be used: {shown(str(error))}") from error


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """The exceptions in a group of groups; itself where it is none."""
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    for each in error.exceptions:
        yield from _leaves(each)


def mistakes(error: ValidationError) -> str:
    """What is wrong with an answer, by key path: the first few mistakes."""
    found = error.errors(include_url=False, include_input=False)
    words = [f"{'.'.join(map(str, item['loc']))}: {in_words(item)[0]}" for item in found[:_MOST_MISTAKES]]
    return shown("; ".join(words))
