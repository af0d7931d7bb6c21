"""What both transports do with what a server says: hand it on, count it, and end well."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from evalward.suites.mcp.server.failures import ServerAnswerError, ServerError
from evalward.suites.mcp.server.traffic import ServerTraffic

_LARGEST_ID = 2**31
"""Of a request of ours; they are counted from 0 or 1."""
Heard = MemoryObjectSendStream[SessionMessage | Exception]
"""Where the SDK's client reads what a server said."""


@asynccontextmanager
async def hearing(traffic: ServerTraffic, heard: Heard) -> AsyncIterator[None]:
    """Around handing on what a server says: what ends it is kept, and that it has ended is heard."""
    try:
        yield
    except ServerError as error:
        traffic.broken = error
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return  # we are about to end
    finally:
        traffic.ended = True
        await heard.aclose()


def handed_on(message: object, traffic: ServerTraffic) -> bool:
    """Whether the client has to hear a message; notifications are only counted, and so are requests.

    Raises `ServerAnswerError` for an answer to what nobody can have asked.
    """
    if isinstance(message, JSONRPCNotification):
        traffic.notified(message.method)
        return False
    if isinstance(message, JSONRPCRequest):
        traffic.asked(message.method)
    if isinstance(message, JSONRPCResponse | JSONRPCError) and isinstance(message.id, int):
        _refuse_unasked(message.id)
    return True


def _refuse_unasked(number: int) -> None:
    """Nothing of ours has such an id. To pass over the answer would mean to wait for another one.

    Raises `ServerAnswerError`.
    """
    if not 0 <= number <= _LARGEST_ID:
        raise ServerAnswerError("it answered with the id of no request: a number that is negative or too large")
