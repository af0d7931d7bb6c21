"""Who may come in: the connections of one listener, so many and no more."""

from __future__ import annotations

import asyncio

from evalward.keeper.proxy.exchange import ConnectionBounds
from evalward.keeper.proxy.http import Handler, HttpConnection


class ListenerConnections:
    """The connections of one listener. When it is full the one that has said nothing for longest has to go."""

    def __init__(self, handler: Handler, bounds: ConnectionBounds) -> None:
        self._handler, self._bounds = handler, bounds
        self._inside: set[asyncio.Task[None]] = set()
        self._idle: dict[asyncio.Task[None], None] = {}

    async def enter(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hold one connection to its end."""
        task = asyncio.current_task()
        if task is None or not self._room():  # a coroutine always runs in a task
            writer.close()
            return

        def idles(waiting: bool) -> None:
            self._idle.pop(task, None)
            if waiting:
                self._idle[task] = None

        self._inside.add(task)
        try:
            await HttpConnection((reader, writer), self._handler, self._bounds, idles).hold()
        except asyncio.CancelledError:
            pass  # we close; the server's own task would report the cancelling as an error
        finally:
            self._inside.discard(task)
            self._idle.pop(task, None)

    def _room(self) -> bool:
        if len(self._inside) < self._bounds.connections:
            return True
        oldest = next(iter(self._idle), None)
        if oldest is None:
            return False
        del self._idle[oldest]
        self._inside.discard(oldest)
        oldest.cancel()
        return True

    async def close(self) -> None:
        """End all of them."""
        for task in list(self._inside):
            task.cancel()
        await asyncio.gather(*self._inside, return_exceptions=True)
