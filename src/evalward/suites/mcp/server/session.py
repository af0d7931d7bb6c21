"""A session with a server: its tools, and calls of them. Whatever a server does, each of these ends within bounds."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evalward.sandbox.base import SandboxError
from evalward.sandbox.process import Workspace
from evalward.sandbox.process.temporary import temporary_folder
from evalward.suites.mcp.catalogue import Catalogue
from evalward.suites.mcp.server.contents import CallOutcome
from evalward.suites.mcp.server.failures import ServerError
from evalward.suites.mcp.server.folder import fill
from evalward.suites.mcp.server.place import FOLDER, CommandServer, HttpServer, ServerPlace
from evalward.suites.mcp.server.sdk import require_sdk
from evalward.suites.mcp.server.traffic import ServerBounds, ServerTraffic

if TYPE_CHECKING:
    from evalward.sandbox.process.talking import LiveProgram
    from evalward.suites.mcp.server.connection import ServerConnection


class ServerSession:
    """A server that has listed its tools. Calls may be made at the same time, from any task of the event loop."""

    def __init__(
        self,
        catalogue: Catalogue,
        traffic: ServerTraffic,
        spoken: ServerConnection,
        program: LiveProgram | None = None,
        workspace: Workspace | None = None,
    ) -> None:
        """See `open_server`. `workspace`: where the server runs; `None` for one that is reached by its address."""
        self.catalogue, self.traffic, self.workspace = catalogue, traffic, workspace
        self._spoken, self._program, self._failed = spoken, program, False

    @property
    def refused(self) -> Mapping[str, int]:
        """What the server asked for and didn't get (`sampling/createMessage` …), and how often."""
        return dict(self.traffic.refused)

    @property
    def ended(self) -> bool:
        """Whether the server can't be used any more."""
        return self._failed or self.traffic.ended

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> CallOutcome:
        """Call a tool. Raises `ServerDiedError`, `ServerHungError`: then the server can't be used any more."""
        started = time.monotonic()
        try:
            outcome = await self._spoken.call(tool, arguments)
        except ServerError:
            self._failed = True
            raise
        return replace(outcome, duration_ms=round((time.monotonic() - started) * 1000))

    async def closed(self) -> Workspace:
        """End the server as a host does. Where it ran, with what it left there. Raises `SandboxError`."""
        if self.workspace is None or self._program is None:
            raise SandboxError("a server at an address has no folder here")
        await self._spoken.close()
        await self._program.end(self.traffic.bounds.end_s)
        await self.workspace.end_processes()
        return self.workspace


@asynccontextmanager
async def open_server(place: ServerPlace, bounds: ServerBounds | None = None) -> AsyncIterator[ServerSession]:
    """Start or reach a server and list its tools; when this is left nothing of it runs any more.

    Raises `ServerError` when it never lists them, `SandboxError` when it can't be started behind walls, `InputError`
    where the SDK isn't installed.
    """
    require_sdk()
    traffic = ServerTraffic(bounds or ServerBounds())
    opened = _reached(place, traffic) if isinstance(place, HttpServer) else _started(place, traffic)
    async with opened as session:
        yield session


@asynccontextmanager
async def _started(place: CommandServer, traffic: ServerTraffic) -> AsyncIterator[ServerSession]:
    from evalward.suites.mcp.server.connection import ServerConnection  # noqa: PLC0415 - it takes a second to load
    from evalward.suites.mcp.server.stdio import over_stdio  # noqa: PLC0415

    async with await _workspace(place) as workspace:
        folder = str(workspace.folder)
        program = await workspace.start(
            [word.replace(FOLDER, folder) for word in place.words],
            env={name: value.replace(FOLDER, folder) for name, value in place.env.items()},
            line_bytes=traffic.bounds.line_bytes,
        )
        spoken, end_s = ServerConnection(traffic, program), traffic.bounds.end_s
        try:
            catalogue = await spoken.open(over_stdio(program, traffic))
            yield ServerSession(catalogue, traffic, spoken, program, workspace)
        except asyncio.CancelledError:  # we were asked to end: it is given no time to end by itself
            end_s = 0
            raise
        finally:
            await spoken.close()
            await program.end(end_s)


async def _workspace(place: CommandServer) -> Workspace:
    """Where it runs, with its folder filled. Raises `SandboxError`."""
    with temporary_folder("server") as given:
        try:
            await asyncio.to_thread(fill, given, place.linked, place.files)
        except OSError as error:
            raise SandboxError(f"the server's folder can't be made: {error.strerror or error}") from error
        return await Workspace.create(given, place.workspace)


@asynccontextmanager
async def _reached(place: HttpServer, traffic: ServerTraffic) -> AsyncIterator[ServerSession]:
    from evalward.suites.mcp.server.connection import ServerConnection  # noqa: PLC0415 - it takes a second to load
    from evalward.suites.mcp.server.http import over_http  # noqa: PLC0415

    spoken = ServerConnection(traffic)
    try:
        catalogue = await spoken.open(over_http(place.url, place.headers, traffic))
        yield ServerSession(catalogue, traffic, spoken)
    finally:
        await spoken.close()
