"""The servers of a suite in mode `run`: a fresh one for each trial, or one for all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol
from weakref import WeakKeyDictionary

from evalward.config import LoadedConfig
from evalward.suites.mcp.case import McpCase
from evalward.suites.mcp.server.place import CommandServer, ServerPlace, place_of
from evalward.suites.mcp.server.session import ServerSession, open_server
from evalward.suites.mcp.server.traffic import ServerBounds, bounds_for
from evalward.suites.mcp.spec import McpSuite


class Servers(Protocol):
    """Gives a trial its server."""

    def open(self, case: McpCase) -> AbstractAsyncContextManager[ServerSession]:
        """The server for a trial of a case. Raises as `open_server` on entering."""
        ...


@dataclass(frozen=True)
class ServerPerTrial:
    """A fresh server in a folder of its own, which holds the case's files."""

    place: ServerPlace
    bounds: ServerBounds

    @asynccontextmanager
    async def open(self, case: McpCase) -> AsyncIterator[ServerSession]:
        """It ends with the trial."""
        place = self.place
        if isinstance(place, CommandServer):
            place = place.with_files(case.task.files)
        async with open_server(place, self.bounds) as session:
            yield session


@dataclass
class _Kept:
    """The shared server of one event loop, and the task that holds it."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    session: ServerSession | None = None
    task: asyncio.Task[None] | None = None


@dataclass(frozen=True)
class SharedServer:
    """One server for all trials; after one that has ended there is a fresh one. It ends with the event loop."""

    place: ServerPlace
    bounds: ServerBounds
    _kept: WeakKeyDictionary[asyncio.AbstractEventLoop, _Kept] = field(default_factory=WeakKeyDictionary, repr=False)

    @asynccontextmanager
    async def open(self, case: McpCase) -> AsyncIterator[ServerSession]:  # noqa: ARG002 - it is the same for all
        """The one that is there, or else a new one."""
        kept = self._kept.setdefault(asyncio.get_running_loop(), _Kept())
        async with kept.lock:
            session = kept.session
            if session is None or session.ended:
                session = await self._started(kept)
        yield session

    async def _started(self, kept: _Kept) -> ServerSession:
        if kept.task is not None:
            kept.task.cancel()
            with suppress(asyncio.CancelledError):
                await kept.task
        kept.session = None
        begun: asyncio.Future[ServerSession] = asyncio.get_running_loop().create_future()
        kept.task = asyncio.ensure_future(self._hold(begun))
        kept.session = await begun
        return kept.session

    async def _hold(self, begun: asyncio.Future[ServerSession]) -> None:
        """Until it is cancelled: by who starts another one, or at the end of the event loop."""
        try:
            async with open_server(self.place, self.bounds) as session:
                begun.set_result(session)
                await asyncio.Event().wait()
        except Exception as error:
            if begun.done():
                raise
            begun.set_exception(error)


def servers_of(spec: McpSuite, config: LoadedConfig) -> Servers:
    """The servers of a suite in mode `run`. Raises `InputError` as `place_of`."""
    place, bounds = place_of(spec, config), bounds_for(spec.timeout_s)
    return ServerPerTrial(place, bounds) if spec.scope == "trial" else SharedServer(place, bounds)
