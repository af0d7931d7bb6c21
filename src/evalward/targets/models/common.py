"""What the three protocols share: one question with its retries, its waits, its cost, and its failures in our words."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from evalward.records.case import Case
from evalward.records.trace import Message, Trace, Turn, Usage
from evalward.render.escape import one_line
from evalward.targets.base import Chat, Reply, Request
from evalward.targets.failures import FAILURES, Cause, TargetError, key_words
from evalward.targets.limiter import Limiter
from evalward.targets.models.faults import STOPS, Fault, fault_of
from evalward.targets.models.protocol import MakeWire, SdkProtocol
from evalward.targets.models.settings import LiveSettings, Secret
from evalward.targets.prices import cost
from evalward.targets.retry import Retried, RetryPolicy, Timing, with_retries

SAID_LIMIT = 300  # characters of a provider's own words that people are shown
NOTHING_READ = Usage(input_tokens=0, output_tokens=0)  # of a request that the provider refused to read
TOO_MUCH = {Cause.RATE_LIMIT, Cause.OVERLOAD}


@dataclass(frozen=True)
class Behaviour:
    """How often it is tried again, and where time comes from; tests bring their own."""

    policy: RetryPolicy = field(default_factory=RetryPolicy)
    timing: Timing = field(default_factory=Timing)


class LiveTarget:
    """A model that is asked over the network.

    `env` is looked into once, for the key. The SDK is imported, and its client made, by `prepare` or the first trial.
    """

    random = True

    def __init__(
        self,
        settings: LiveSettings,
        env: Mapping[str, str],
        limiter: Limiter,
        make_wire: MakeWire,
        behaviour: Behaviour | None = None,
    ) -> None:
        self.settings = settings
        self.limiter = limiter
        self.behaviour = behaviour or Behaviour()
        self.key = Secret(env.get(settings.key_env, "") if settings.key_env else "")
        self._make_wire = make_wire
        self._wire: SdkProtocol | None = None
        self.dead: TargetError | None = None  # the failure that every further question would meet

    @property
    def id(self) -> str:
        """`provider/model`."""
        return self.settings.id

    @property
    def subject(self) -> Mapping[str, str]:
        """Model, host and settings."""
        return self.settings.subject

    @property
    def priced(self) -> bool:
        """True when the model's price is known."""
        return self.settings.price is not None

    @property
    def missing_key(self) -> str | None:
        """The variable that should hold the key and is not set."""
        return self.settings.key_env if not self.key else None

    @property
    def at_once(self) -> int:
        """As many as the provider's places: further trials would only stand in line, begun but not going on."""
        return self.limiter.most

    def open(self, case: Case, trial: int) -> Chat:  # noqa: ARG002 - a model sees the conversation, not the case
        """A chat with the model. Where the key is missing or can't be one, its first answer is the `TargetError`."""
        if self.missing_key:
            return KeylessChat(self.error(Fault(Cause.KEY, f"{self.missing_key} is not set")))
        if not self.key.usable:
            return KeylessChat(
                self.error(Fault(Cause.KEY, f"{self.settings.key_env} has characters that are not allowed in a key"))
            )
        return LiveChat(self, self._connected())

    def prepare(self) -> None:
        """Import the SDK and make its client, which takes a while, where there is a key to ask with."""
        if not self.missing_key and self.key.usable:
            self._connected()

    def _connected(self) -> SdkProtocol:
        if self._wire is None:
            self._wire = self._make_wire(self.settings, self.key)
        return self._wire

    async def close(self) -> None:
        """Close the connections."""
        wire, self._wire = self._wire, None
        if wire is not None:
            await wire.close()

    def error(self, fault: Fault) -> TargetError:
        """A fault in words for people, without the key."""
        return target_error(fault, self.settings, self.key, self.id)

    def failed(self, fault: Fault) -> TargetError:
        """The same; nobody is asked again where every further question would meet it."""
        failure = self.error(fault)
        if failure.rule.stops_run:
            self.dead = failure
        return failure


def stop_reply(fault: Fault) -> Reply | None:
    """The empty answer that a fault of the target's own doing is; `None` for every other."""
    stop = STOPS.get(fault.cause)
    return None if stop is None else Reply(Message(role="assistant", content=[]), Turn(usage=NOTHING_READ, stop=stop))


def target_error(fault: Fault, settings: LiveSettings, key: Secret, target: str) -> TargetError:
    """A provider's fault in words for people, without the key, as the failure of the target of this id."""
    if fault.cause is Cause.KEY:
        words = key_words(settings.provider, settings.model, settings.key_env)
    else:
        words = FAILURES[fault.cause].text.format(provider=settings.provider, model=settings.model)
    reason = one_line(key.hide(fault.said), SAID_LIMIT)
    message = f"{words} ({reason})" if reason else words
    return TargetError(fault.cause, message, target=target, retry_after=fault.retry_after)


class KeylessChat:
    """A chat that never begins: the provider isn't even asked."""

    recording: Trace | None = None

    def __init__(self, error: TargetError) -> None:
        self._error = error

    async def send(self, request: Request) -> Reply:  # noqa: ARG002
        """Raises the `TargetError`."""
        raise self._error


class LiveChat:
    """The conversation of one trial with a model."""

    recording: Trace | None = None

    def __init__(self, target: LiveTarget, wire: SdkProtocol) -> None:
        self._target = target
        self._wire = wire

    async def send(self, request: Request) -> Reply:
        """One answer. Raises `TargetError` after the retries.

        `working_ms` of the turn leaves out the time in line and the waits between attempts. The place in line is kept
        while waiting: so nobody overtakes, and a provider that wants less gets less at once.
        """
        timing = self._target.behaviour.timing
        started = timing.clock()
        async with self._target.limiter.slot() as slot:
            if self._target.dead is not None:  # told while we stood in line: nobody is asked in vain
                raise self._target.dead

            def failed(error: TargetError) -> None:
                if error.cause in TOO_MUCH:
                    slot.too_much()

            answered = await with_retries(lambda: self._attempt(request), self._target.behaviour.policy, timing, failed)
            slot.succeeded()
        elapsed = timing.clock() - started
        return self._finished(answered, elapsed, elapsed - answered.waited_s - slot.waited_s)

    async def _attempt(self, request: Request) -> Reply:
        limit = self._target.settings.timeout_s
        try:
            async with asyncio.timeout(limit):
                return await self._wire.ask(request)
        except TimeoutError:
            fault = Fault(Cause.TIMEOUT, f"no answer after {limit:g} s")
        except Exception as error:
            fault = fault_of(error)
        # Outside of the `except`: the SDK's exceptions hold the request, and with it the key.
        reply = stop_reply(fault)
        if reply is not None:
            return reply
        raise self._target.failed(fault)

    def _finished(self, answered: Retried[Reply], elapsed: float, working: float) -> Reply:
        reply = answered.value
        usage = reply.turn.usage.model_copy(update={"cost_usd": self._cost(reply.turn.usage)})
        times = {"wall_ms": round(elapsed * 1000), "working_ms": round(max(0.0, working) * 1000)}
        return Reply(reply.message, reply.turn.model_copy(update={"usage": usage, **times}))

    def _cost(self, usage: Usage) -> float | None:
        return cost(usage, self._target.settings.price)
