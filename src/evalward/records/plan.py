"""What a run will probably use, and what it could show: `evalward check --plan`. Unknown is unknown, never 0."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from evalward.records.base import Amount, Count, Record

PLAN_SCHEMA: Literal["evalward.plan/1"] = "evalward.plan/1"
_MOST = 1e15


class PlannedAmount(Record):
    """An amount of which a part may be unknown.

    `amount` is the sum of what is known, `None` where nothing is. `without` counts the cases that have no figure and
    are not in it; `open`: something else that isn't counted uses some as well. With either it is "at least".
    """

    amount: Amount | None = None
    without: Count = 0
    open: bool = False

    @property
    def complete(self) -> bool:
        """True when all of it is known."""
        return self.amount is not None and not self.without and not self.open


def estimate(amount: float, without: int = 0, *, more: bool = False) -> PlannedAmount:
    """An estimate; where nothing but 0 is known of something that isn't known as a whole, it is unknown."""
    known = amount > 0 or not (without or more)
    return PlannedAmount(amount=min(amount, _MOST) if known else None, without=without, open=more)


def add_estimates(parts: Iterable[PlannedAmount]) -> PlannedAmount:
    """The sum: what is unknown in a part is unknown in the whole."""
    every = list(parts)
    unknown = any(part.open or (part.amount is None and not part.without) for part in every)
    return estimate(sum(part.amount or 0.0 for part in every), sum(part.without for part in every), more=unknown)


class PlannedUse(Record):
    """What trials use. `input_tokens` is all that models read, caches included; `trial_ms` adds all trials up."""

    requests: PlannedAmount = PlannedAmount()
    input_tokens: PlannedAmount = PlannedAmount()
    output_tokens: PlannedAmount = PlannedAmount()
    cost_usd: PlannedAmount = PlannedAmount()
    trial_ms: PlannedAmount = PlannedAmount()


def add_use(parts: Iterable[PlannedUse]) -> PlannedUse:
    """The sum, figure by figure."""
    every = list(parts)
    return PlannedUse(
        **{name: add_estimates([getattr(part, name) for part in every]) for name in PlannedUse.model_fields}
    )


class WallTime(Record):
    """Between which bounds the clock will be, in ms, if trials take as long as they did; `None` is unknown.

    At least as long as the longest trial, and as all of them divided by how many run at a time.
    """

    least_ms: Amount | None = None
    most_ms: Amount | None = None


class Sight(Record):
    """What so many trials can show of a drop.

    `cases` are those that can be compared. A drop of fewer than `fewest` of them fails no check, whatever happens:
    up to `allowed` cases the rules allow it, and fewer than `convicting` could be chance; `None`: no number of cases
    is proof. `detectable` is the drop over all cases, as a share, that is seen at least four times out of five;
    `None` where even 100 % would not be, or that isn't known. `metric` is what the rule is about.
    """

    metric: str
    cases: Count
    allowed: Count
    convicting: Count | None
    detectable: Amount | None = None

    @property
    def fewest(self) -> int | None:
        """The fewest broken cases that could fail a check; `None`: not even all of them."""
        found = None if self.convicting is None else max(self.convicting, self.allowed + 1)
        return found if found is not None and found <= self.cases else None


Unseen = Literal["no_baseline", "not_in_baseline", "no_drop_rule", "no_common_case"]
"""Why nothing is said of drops: no baseline, no such run in it, no rule about drops, or no case that both have."""


class PlannedRunUse(Record):
    """One suite × target: its trials, and what they use.

    `trials` are those of each case; `due` are left to run, on the base's side, too (`of_base` of them); `kept` are
    finished. `cases_new` are not in the baseline and are taken for as costly as its median case. `usage` is of what is
    due. `judges` cost something that no baseline has. `missing_key` is a variable that isn't set and has to be.
    `batched`: the target's requests go in batches, at half price.
    """

    suite: str
    kind: str
    target: str
    cases: Count
    trials: Count
    due: Count
    of_base: Count = 0
    kept: Count = 0
    cases_new: Count = 0
    in_baseline: bool = False
    free: bool = False
    judges: list[str] = []
    missing_key: str | None = None
    usage: PlannedUse = PlannedUse()
    wall: WallTime = WallTime()
    seen: Sight | None = None
    unseen: Unseen | None = None
    random: bool = False
    batched: bool = Field(default=False, exclude_if=lambda value: not value)

    @property
    def name(self) -> str:
        """`suite × target`."""
        return f"{self.suite} × {self.target}"


class PlannedHarnessUse(Record):
    """A suite of another harness: `cases` and the usage of one trial of each are the baseline's, if it has them."""

    suite: str
    kind: str
    source: str
    command: bool
    cases: Count | None = None
    missing_key: str | None = None
    usage: PlannedUse = PlannedUse()


class SkippedPart(Record):
    """Something that is not run: a suite, or one target of it. `why` is `None` where the selection leaves it out."""

    suite: str
    target: str | None = None
    why: str | None = None


class ExtraTrials(Record):
    """What a stage after the planned trials may add at most, and what it usually adds, where that can be said.

    `usual` are the trials that it adds on average if nothing changed, by how often the baseline's cases pass.
    """

    most: Count = 0
    most_usd: Amount | None = None
    usual: Amount | None = None


class OverBudget(Record):
    """A budget that the plan exceeds: by the planned trials (`surely`), or only with those that may be added.

    `kept` of the limit is for the confirm stage: the planned trials may use the rest.
    """

    budget: Literal["usd", "tokens"]
    limit: Amount
    needs: Amount
    kept: Amount = 0.0
    surely: bool = True


class PlanBaseline(Record):
    """Which baseline the figures are from."""

    created_at: str
    commit: str | None = None


class CostPlan(Record):
    """What a run will probably use, before anything is spent.

    `baseline` is what the figures are from. `confirm` are fresh trials of cases that fail, `beside` those of both
    sides that settle a doubt. `skipped` is not run. `batch_wait_s`: seconds that the run waits for batches, if it has
    some.
    """

    schema_: Literal["evalward.plan/1"] = Field(default=PLAN_SCHEMA, alias="schema")
    baseline: PlanBaseline | None = None
    runs: list[PlannedRunUse] = []
    harnesses: list[PlannedHarnessUse] = []
    skipped: list[SkippedPart] = []
    due: Count = 0
    kept: Count = 0
    usage: PlannedUse = PlannedUse()
    wall: WallTime = WallTime()
    confirm: ExtraTrials | None = None
    beside: ExtraTrials | None = None
    over: list[OverBudget] = []
    batch_wait_s: Count | None = Field(default=None, exclude_if=lambda value: value is None)
