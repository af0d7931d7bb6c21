"""What a server lists, for who isn't in an event loop, or is in somebody else's."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from evalward.suites.mcp.catalogue import Catalogue
from evalward.suites.mcp.server.place import ServerPlace
from evalward.suites.mcp.server.session import open_server
from evalward.suites.mcp.server.traffic import ServerBounds


def listed(place: ServerPlace, bounds: ServerBounds | None = None) -> Catalogue:
    """Start or reach a server, list its tools, and end it. Blocking. Raises as `open_server`.

    A signal that interrupts this thread ends the other one, too, and the server with it.
    """
    asked = _Listing(place, bounds)
    with ThreadPoolExecutor(1) as threads:
        future = threads.submit(asyncio.run, asked.catalogue())
        try:
            return future.result()
        except BaseException:
            asked.end()
            raise


class _Listing:
    """A question to a server that another thread can end."""

    def __init__(self, place: ServerPlace, bounds: ServerBounds | None) -> None:
        self._place, self._bounds = place, bounds
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[object] | None = None
        self._ended = False

    async def catalogue(self) -> Catalogue:
        """What it lists."""
        self._task, self._loop = asyncio.current_task(), asyncio.get_running_loop()
        if self._ended:
            raise asyncio.CancelledError
        async with open_server(self._place, self._bounds) as session:
            return session.catalogue

    def end(self) -> None:
        """Wait no longer for it; from any thread, also when it has answered or failed."""
        self._ended = True
        loop, task = self._loop, self._task
        if loop is not None and task is not None and not task.done():
            with suppress(RuntimeError):  # the loop was closed just now
                loop.call_soon_threadsafe(task.cancel)
