"""What all batches of an invocation share: how long they may take, where they are written down, what people hear."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from evalward.config.batch import LONGEST_H, Batch
from evalward.keeper.batch_ledger import BatchLedger
from evalward.render.numbers import plural
from evalward.targets.failures import FAILURES, Cause, TargetError
from evalward.targets.models.settings import LiveSettings
from evalward.targets.retry import Timing


class NotBatchedError(TargetError):
    """The request has no answer from a batch, and is to be asked live."""

    def __init__(self, target: str) -> None:
        super().__init__(Cause.OVERLOAD, "the batch gave no answer", target=target)


@dataclass
class BatchOffice:
    """`say` shows text to people, `now` is the time as ISO 8601 in UTC.

    The time to wait counts from the first batch on, for all of them together.
    """

    terms: Batch
    ledger: BatchLedger
    say: Callable[[str], None]
    now: Callable[[], str]
    timing: Timing = field(default_factory=Timing)
    _until: float | None = None

    def begin(self) -> None:
        """A batch is under way: the time to wait runs."""
        if self._until is None:
            self._until = self.timing.clock() + self.terms.wait_s

    @property
    def left_s(self) -> float:
        """Seconds that are left to wait."""
        return self.terms.wait_s if self._until is None else max(0.0, self._until - self.timing.clock())

    def sent(self, settings: LiveSettings, batch: str, requests: int) -> None:
        """Tell people of a batch."""
        asked = plural(requests, "request")
        self.say(f"Batch {batch}: {asked} to {settings.id}, at half price. It may take up to {LONGEST_H} h.")

    def ended(self, batch: str, answered: int, requests: int) -> None:
        """Tell people what became of it."""
        self.say(f"Batch {batch} has ended: {answered:,} of {plural(requests, 'request')} answered.")

    def too_late(self, settings: LiveSettings) -> TargetError:
        """What a request meets that has no answer from its batch when the batch has ended."""
        return self.instead(settings, f"batch.wait: {self.terms.wait}")

    def instead(self, settings: LiveSettings, why: str) -> TargetError:
        """What requests meet that no batch answers: they are asked live, or end the run."""
        if self.terms.then == "live":
            return NotBatchedError(settings.id)
        text = FAILURES[Cause.BATCH].text.format(provider=settings.provider, model=settings.model)
        return TargetError(Cause.BATCH, f"{text} ({why})", target=settings.id)
