"""What one trial may ask and has asked: its token, its limits, its turns and the provider's faults."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from evalward.records.trace import Message, Turn, Usage, add_usage
from evalward.targets.agents.base import Limit
from evalward.targets.failures import Cause
from evalward.targets.models.faults import STOPS, Fault
from evalward.targets.models.settings import Secret, Settings
from evalward.targets.prices import Price, cost

OWN_DOING = {Cause.REJECTED}  # an agent makes its requests itself: a bad one is its own


@dataclass(frozen=True)
class Allowance:
    """How much a trial may use; `None` is without limit. A request under way is never cut off: the next is refused."""

    turns: int | None = None
    tokens: int | None = None
    usd: float | None = None


@dataclass(frozen=True)
class Answered:
    """One answered request. `main`: by the model that is evaluated, not by another that the agent asks beside it."""

    turn: Turn
    message: Message
    main: bool


@dataclass
class Account:
    """One trial at the proxy.

    `price` tells a model's price by its name. `pinned`: requests for another model than the target's are refused;
    otherwise they pass, and are counted by their own name and price.
    """

    settings: Settings
    key: Secret
    price: Callable[[str], Price | None]
    allowance: Allowance = Allowance()
    pinned: bool = False
    token: str = field(default_factory=lambda: f"evalward-{secrets.token_urlsafe(24)}", repr=False)
    answers: list[Answered] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    last_fault: Fault | None = None
    limit: Limit | None = None
    under_way: int = 0  # requests of the evaluated model that have no answer yet

    @property
    def turns(self) -> list[Turn]:
        """Every answered request, background models included, in order."""
        return [answer.turn for answer in self.answers]

    def main(self, model: str) -> bool:
        """Whether this is the model that is evaluated."""
        return model == self.settings.model

    def refusal(self, model: str) -> Limit | None:
        """The limit that forbids a further request, which is noted as what ended the trial."""
        reached = self._reached(model)
        self.limit = self.limit or reached
        return reached

    def _reached(self, model: str) -> Limit | None:
        allowed, usage = self.allowance, add_usage(self._usages())
        mains = sum(answer.main for answer in self.answers) + self.under_way
        if allowed.turns is not None and self.main(model) and mains >= allowed.turns:
            return "turns"
        spent = (usage.total_input_tokens or 0) + (usage.output_tokens or 0)
        if allowed.tokens is not None and self.answers and spent >= allowed.tokens:
            return "tokens"
        if allowed.usd is not None and (usage.cost_usd or 0.0) >= allowed.usd:
            return "usd"
        return None

    def _usages(self) -> list[Usage]:
        """What is known: an answer that told nothing can't be counted against a limit."""
        return [_known(turn.usage) for turn in self.turns]

    def answered(self, turn: Turn, message: Message, asked: str) -> None:
        """Note an answer. It is priced by the name that was asked for: a provider answers with a snapshot's."""
        usage = turn.usage.model_copy(update={"cost_usd": cost(turn.usage, self.price(asked))})
        main = self.main(asked)
        self.answers.append(Answered(turn.model_copy(update={"usage": usage}), message, main))
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


def _known(usage: Usage) -> Usage:
    told = {"input_tokens": usage.input_tokens or 0, "output_tokens": usage.output_tokens or 0}
    return usage.model_copy(update={**told, "cost_usd": usage.cost_usd or 0.0})
