"""What passes between a server and us: how much of it may be, and what is counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from evalward.opening import MIB
from evalward.suites.mcp.server.failures import ServerDiedError, ServerError

REFUSED = frozenset({"sampling/createMessage", "elicitation/create", "roots/list"})
"""What servers ask of hosts and get from none of ours: a model's answer, a person's, and folders."""
LIST_CHANGED = "notifications/tools/list_changed"
LEAST_START_S = 10
"""Seconds that every server has until it has listed its tools: interpreters and imports take their time."""


@dataclass(frozen=True)
class ServerBounds:
    """What one server may take: times in seconds, and what it sends."""

    start_s: float = 60  # from its start to the last page of its tools
    call_s: float = 60  # one call of a tool
    end_s: float = 2  # from the end of its input to its own end
    line_bytes: int = 16 * MIB  # one message
    total_bytes: int = 256 * MIB  # all messages of one session
    messages: int = 200_000  # of one session, whether they are any or not
    pages: int = 200  # of its list of tools


def bounds_for(timeout_s: float) -> ServerBounds:
    """The bounds of a suite's servers: as long for listing the tools as for a call, and time enough to start."""
    return ServerBounds(start_s=max(timeout_s, LEAST_START_S), call_s=timeout_s)


@dataclass
class ServerTraffic:
    """What a server has sent so far. `broken`: why nothing more of it is read; `ended`: it sends no more."""

    bounds: ServerBounds
    refused: Counter[str] = field(default_factory=Counter)
    list_changed: int = 0
    noise: int = 0  # lines of standard output that are no messages
    notifications: int = 0
    messages: int = 0
    received_bytes: int = 0
    broken: ServerError | None = None
    ended: bool = False
    http_status: int | None = None  # of the last answer that was a refusal

    def take(self, size: int) -> None:
        """Count a message. Raises `ServerDiedError` when that is too much."""
        self.messages += 1
        if self.messages > self.bounds.messages:
            raise ServerDiedError(f"it sent more than {self.bounds.messages:,} messages")
        self.take_bytes(size)

    def take_bytes(self, size: int) -> None:
        """Count bytes that have come. Raises `ServerDiedError` when they are too many."""
        self.received_bytes += size
        if self.received_bytes > self.bounds.total_bytes:
            raise ServerDiedError(f"it sent more than {self.bounds.total_bytes:,} bytes of messages")

    def too_long(self) -> ServerDiedError:
        """What a single message is that exceeds its limit."""
        return ServerDiedError(f"it sent a message of more than {self.bounds.line_bytes:,} bytes")

    def notified(self, method: str) -> None:
        """A notification has come."""
        self.notifications += 1
        self.list_changed += method == LIST_CHANGED

    def asked(self, method: str) -> None:
        """The server asks something of us."""
        if method in REFUSED:
            self.refused[method] += 1

    def asked_in_answer(self, result: dict[str, Any]) -> bool:
        """Whether an answer asks for input instead of giving a result, as servers of 2026-07-28 do; it is counted."""
        wanted = result.get("inputRequests")
        if result.get("resultType") != "input_required":
            return False
        for each in wanted.values() if isinstance(wanted, dict) else ():
            method = each.get("method") if isinstance(each, dict) else None
            self.refused[method if isinstance(method, str) and method in REFUSED else "input"] += 1
        return True
