"""What a server lists, for who isn't in an event loop, or is in somebody else's."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from evalward.suites.mcp.catalogue import Catalogue
from evalward.suites.mcp.server.place import ServerPlace
from evalward.suites.mcp.server.session import open_server
from evalward.suites.mcp.server.traffic import ServerBounds


def listed(place: ServerPlace, bounds: ServerBounds | None = None) -> Catalogue:
    """Start or reach a server, list its tools, and end it. Blocking. Raises as `open_server`."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, _listed(place, bounds)).result()


async def _listed(place: ServerPlace, bounds: ServerBounds | None) -> Catalogue:
    async with open_server(place, bounds) as session:
        return session.catalogue
