"""What one trial may ask and has asked: its token, its limits, its turns and the provider's faults."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from evalward.keeper.proxy.exchange import ByteRoom, ConnectionBounds, Limit
from evalward.records.trace import Message, Turn
from evalward.targets.asking import AnsweredRequest
from evalward.targets.failures import Cause
from evalward.targets.models.faults import STOPS, Fault
from evalward.targets.models.settings import LiveSettings, Secret
from evalward.targets.prices import Price, cost
from evalward.targets.purse import Estimate, Purse, Reservation, SpentError, admitted

OWN_DOING = {Cause.REJECTED}  # an agent makes its requests itself: a bad one is its own
COUNTS = 200  # requests that only count tokens, of one trial
REFUSED = 500  # requests of one trial that the provider may refuse, retries of its busy hours included


@dataclass(frozen=True)
class Allowance:
    """How much a trial may use; `None` is without limit. A request under way is never cut off: the next is refused."""

    turns: int | None = None
    tokens: int | None = None
    usd: float | None = None


@dataclass
class TrialAccount:
    """One trial at the proxy.

    `price` tells a model's price by its name. `pinned`: requests for another model than the target's are refused;
    otherwise those pass whose price is known and no higher, and are counted by their own name and price.
    `shared` is the invocation's purse, which has to pay each request, too.
    """

    settings: LiveSettings
    key: Secret
    price: Callable[[str], Price | None]
    allowance: Allowance = Allowance()
    pinned: bool = True
    shared: Purse | None = None
    token: str = field(default_factory=lambda: f"evalward-{secrets.token_urlsafe(24)}", repr=False)
    answers: list[AnsweredRequest] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    last_fault: Fault | None = None
    limit: Limit | None = None
    starved: str | None = None  # what the invocation's purse said when it could not pay a request
    closed: bool = False
    room: ByteRoom = field(default_factory=lambda: ByteRoom(ConnectionBounds().account), repr=False)

    def __post_init__(self) -> None:
        self.own = Purse(self.allowance.usd, self.allowance.tokens)
        self.tasks: set[asyncio.Task[object]] = set()  # requests that have no answer yet, of all models
        self.quiet = asyncio.Event()  # set while there are none
        self.quiet.set()
        self._under_way = {True: 0, False: 0}  # of the evaluated model; of others
        self._counted = 0

    @property
    def turns(self) -> list[Turn]:
        """Every answered request, background models included, in order."""
        return [answer.turn for answer in self.answers]

    def main(self, model: str) -> bool:
        """Whether this is the model that is evaluated."""
        return model == self.settings.model

    def why_not(self, model: str) -> str | None:
        """Why this model is not there for the trial, if so."""
        if self.main(model):
            return None
        if self.pinned:
            return f"only {self.settings.model} is there"
        other, own = self.price(model), self.price(self.settings.model)
        if other is None or own is None:
            return f"only {self.settings.model} and models with a known price are available"
        if other.input > own.input or other.output > own.output:
            return f"only {self.settings.model} and models that cost no more are available"
        return None

    def may_count(self) -> bool:
        """Whether one more request may count tokens. They are free, and no turns; but not without end."""
        self._counted += 1
        return self._counted <= COUNTS and len(self.faults) < REFUSED

    def refusal(self, model: str) -> Limit | None:
        """The limit of turns, when it forbids a further request; it is noted as what ended the trial.

        Other models than the evaluated one have as many turns again, together.
        """
        main = self.main(model)
        asked = sum(answer.main == main for answer in self.answers) + self._under_way[main]
        most = self.allowance.turns
        if (most is None or asked < most) and len(self.faults) < REFUSED:
            return None
        self.limit = self.limit or "turns"
        return "turns"

    @contextmanager
    def asking(self, model: str) -> Iterator[None]:
        """Around a request that is under way: it counts as a turn already."""
        main, task = self.main(model), asyncio.current_task()
        self._under_way[main] += 1
        if task is not None:
            self.tasks.add(task)
            self.quiet.clear()
        try:
            yield
        finally:
            self._under_way[main] -= 1
            if task is not None:
                self.tasks.discard(task)
            if not self.tasks:
                self.quiet.set()

    async def reserve(self, estimate: Estimate) -> Reservation:
        """Put the estimate aside, in the trial's allowance and in the invocation's purse.

        Raises `SpentError`, which is noted as what ended the trial: of the trial, or of the whole invocation.
        """
        purses = (self.own,) if self.shared is None else (self.own, self.shared)
        try:
            return await admitted(purses, estimate)
        except SpentError as error:
            if error.purse is self.shared:
                self.starved = self.starved or error.message
            else:
                self.limit = self.limit or ("tokens" if error.kind == "tokens" else "usd")
            raise

    def answered(self, turn: Turn, message: Message, asked: str) -> None:
        """Note an answer. It is priced by the name that was asked for: a provider answers with a snapshot's."""
        usage = turn.usage.model_copy(update={"cost_usd": cost(turn.usage, self.price(asked))})
        main = self.main(asked)
        self.answers.append(AnsweredRequest(turn.model_copy(update={"usage": usage}), message, main))
        if main:
            self.last_fault = None

    def failed(self, fault: Fault, asked: str) -> None:
        """Note a fault of the provider. What is the target's own doing (a refusal, a full context) is none."""
        if fault.cause in STOPS:
            return
        self.faults.append(fault)
        if self.main(asked):
            self.last_fault = fault

    @property
    def ended_by(self) -> Fault | None:
        """The provider's fault that the trial ended with: the model's last request met it, and no later answer came."""
        fault = self.last_fault
        return None if fault is None or fault.cause in OWN_DOING else fault

    @property
    def refused(self) -> Fault | None:
        """The refusal that its model's last request met by the agent's own doing."""
        fault = self.last_fault
        return fault if fault is not None and fault.cause in OWN_DOING else None
