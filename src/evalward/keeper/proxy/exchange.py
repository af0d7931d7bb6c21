"""What passes between an agent and the proxy, without the HTTP library: bounds, rooms, heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Limit = Literal["turns", "tokens", "usd"]
"""What of an allowance can be used up."""


class ClientGoneError(Exception):
    """The agent has closed the connection, takes nothing, sends too slowly, or speaks no HTTP."""


@dataclass(frozen=True)
class ConnectionBounds:
    """What one connection, and all together, may take of the process that holds the keys.

    `connections` of one listener; `body` bytes of one request, `account` of those of one trial and `bodies` of all that
    are held at once; `values` of a request's JSON; seconds until a head begins, is whole, until a body is whole, and
    until a piece of an answer is taken.
    """

    connections: int = 64
    body: int = 32_000_000
    account: int = 48_000_000
    bodies: int = 192_000_000
    values: int = 1_000_000
    idle_s: float = 120.0
    head_s: float = 10.0
    body_s: float = 60.0
    send_s: float = 60.0


class ByteRoom:
    """So many bytes, shared by the requests that are held at once."""

    def __init__(self, size: int) -> None:
        self.left = size

    def take(self, size: int) -> bool:
        """Whether there was room."""
        if size > self.left:
            return False
        self.left -= size
        return True

    def give(self, size: int) -> None:
        """It is free again."""
        self.left += size


@dataclass(frozen=True)
class RequestHead:
    """One request's head, header names in lower case."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]

    @property
    def length(self) -> int:
        """Bytes of the body, as far as the head tells."""
        given = self.headers.get("content-length", "")
        return int(given) if given.isascii() and given.isdigit() else 0

    @property
    def holds(self) -> bool:
        """Whether a body follows."""
        return self.length > 0 or "transfer-encoding" in self.headers


@dataclass(frozen=True)
class WholeRequest:
    """One request, whole."""

    head: RequestHead
    body: bytes = field(repr=False)


@dataclass(frozen=True)
class Refusal:
    """An answer that is given before a body is read, after which the connection ends."""

    status: int
    body: bytes


@dataclass(frozen=True)
class Welcome:
    """Whose body may be read, into these rooms."""

    rooms: Sequence[ByteRoom] = ()
