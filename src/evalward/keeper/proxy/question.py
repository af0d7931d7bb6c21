"""One request on its way to the provider: what is sent, and how its answer is counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from evalward.keeper.proxy.account import TrialAccount
from evalward.keeper.proxy.wire import ProxyProtocol
from evalward.records.trace import Message, Turn
from evalward.targets.base import Reply
from evalward.targets.failures import Cause
from evalward.targets.models.bounded import UNCOMPRESSED
from evalward.targets.models.faults import Fault, fault_of
from evalward.targets.models.reading import reading
from evalward.targets.purse import Reservation

PASSED_ON = ("accept", "anthropic-beta", "anthropic-version", "openai-beta", "user-agent")
"""An agent's headers that the provider sees. Others could choose who pays, where it is processed, or what we seem."""
SENT_BACK = ("content-type", "retry-after", "retry-after-ms", "x-should-retry", "request-id", "x-request-id")


@dataclass
class ModelRequest:
    """One request. `content` is its body; `reservation` is what was put aside for it, `None` where it costs nothing."""

    account: TrialAccount
    wire: ProxyProtocol
    model: str
    headers: Mapping[str, str]
    query: str
    content: bytes = field(repr=False)
    stream: bool
    reservation: Reservation | None = None
    sent: bool = False
    counted: bool = False

    @property
    def counting(self) -> bool:
        """Whether it only counts tokens."""
        return self.reservation is None

    @property
    def forward(self) -> str:
        """What follows the provider's `base_url`."""
        beta = "?beta=true" if ("beta", "true") in parse_qsl(self.query) else ""
        return self.wire.protocol.forward + ("/count_tokens" if self.counting else "") + beta

    def sent_headers(self) -> dict[str, str]:
        """The agent's own, as far as they are passed on, with the key, and those that the configuration adds."""
        given = {name: self.headers[name] for name in PASSED_ON if name in self.headers}
        key = self.account.key.reveal()
        if key and "x-api-key" in self.headers:
            given["x-api-key"] = key
        elif key:
            given["authorization"] = f"Bearer {key}"
        return {**given, "content-type": "application/json", **UNCOMPRESSED, **dict(self.account.settings.headers)}

    def read(self, body: bytes, wall_s: float, working_s: float) -> None:
        """Count what was answered. One that broke off, or is none, is the provider's fault."""
        if self.counting:
            return
        try:
            with reading():
                reply = self.wire.reply(body, stream=self.stream)
        except Exception as error:
            fault = fault_of(error)
            if fault.cause is not Cause.UNREADABLE:
                self.failed(fault, charged=True)
                return
            reply = Reply(Message(role="assistant", content=[]), Turn(stop="other"))  # answered; we know no more of it
        self._answered(reply, wall_s, working_s)

    def left(self, body: bytes, wall_s: float, working_s: float) -> None:
        """Count an answer that the agent didn't wait for: what it cost is not known, unless it was whole already."""
        if self.counting:
            return
        try:
            reply = self.wire.reply(body, stream=self.stream)
        except Exception:
            reply = Reply(Message(role="assistant", content=[]), Turn(stop="other"))
        self._answered(reply, wall_s, working_s)

    def _answered(self, reply: Reply, wall_s: float, working_s: float) -> None:
        self.counted = True
        times = {"wall_ms": round(wall_s * 1000), "working_ms": round(max(0.0, working_s) * 1000)}
        self.account.answered(reply.turn.model_copy(update=times), reply.message, self.model)
        if self.reservation is not None:
            self.reservation.settle(reply.turn.usage)

    def failed(self, fault: Fault, *, charged: bool) -> None:
        """Count a fault; what only counts tokens can't end a trial. `charged`: the provider may have answered."""
        self.counted = True
        if self.reservation is None:
            self.account.faults.append(fault)
            return
        self.account.failed(fault, self.model)
        if charged:
            self.reservation.forfeit()
        else:
            self.reservation.release()

    def dropped(self, wall_s: float) -> None:
        """The agent is gone, or its trial has ended. What was sent and has no answer yet is one of unknown cost."""
        if self.counted or self.reservation is None:
            return
        if self.sent:
            self.left(b"", wall_s, wall_s)
        else:
            self.reservation.release()


def back(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    """The provider's headers that an agent sees."""
    return [(name, headers[name]) for name in SENT_BACK if name in headers]
