"""What a trial of a case uses, as far as a baseline has measured it: for planning, not for judging."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from evalward.records.baseline import BaselineCase, BaselineRun, BaselineTrial
from evalward.records.plan import PlannedUse, estimate
from evalward.records.trace import BATCH_SHARE

READ: Mapping[str, Callable[[BaselineTrial], float | None]] = {
    "requests": lambda trial: trial.details.requests,
    "input_tokens": lambda trial: trial.usage.total_input_tokens,
    "output_tokens": lambda trial: trial.usage.output_tokens,
    "cost_usd": lambda trial: trial.usage.cost_usd,
    "trial_ms": lambda trial: trial.duration_ms or None,  # where nobody told, it is 0, and no trial takes no time
}
"""How each figure of `PlannedUse` is read from a trial; `None` where it isn't known."""

NOTHING: Mapping[str, float] = dict.fromkeys(("requests", "input_tokens", "output_tokens", "cost_usd"), 0.0)
"""What a target uses that asks no model."""

Figures = Mapping[str, float]
"""What one trial uses, by the names of `READ`; those that aren't known are missing."""


@dataclass(frozen=True)
class KnownFigures:
    """Figures of the cases that a baseline knows, and of the median one, which stands for cases that it doesn't."""

    by_case: Mapping[str, Figures]
    median: Figures

    @classmethod
    def of(cls, run: BaselineRun | None, *, free: bool = False, batched: bool = False) -> KnownFigures:
        """Those of a run of the baseline; what asks no model uses nothing, whatever it repeats.

        `batched`: requests cost half, and how long they take is not known.
        """
        cases = run.cases if run is not None else []
        fixed = NOTHING if free else {}
        found = {case.id: _in_batches(_of_case(case)) if batched else _of_case(case) for case in cases}
        by_case = {case: {**figures, **fixed} for case, figures in found.items()}
        known = {name: [each[name] for each in by_case.values() if name in each] for name in READ}
        return cls(by_case, {**{name: median(values) for name, values in known.items() if values}, **fixed})

    def of_trial(self, case: str) -> Figures:
        """What a trial of a case uses."""
        return self.by_case.get(case, self.median)

    def use(self, trials: Sequence[tuple[str, int]], *, more: bool = False) -> PlannedUse:
        """What so many trials of these cases use. `more`: others use something as well that isn't counted here.

        The time of the trials is theirs alone.
        """
        due = [(self.of_trial(case), count) for case, count in trials if count]
        return PlannedUse(
            **{
                name: estimate(
                    sum(figures[name] * count for figures, count in due if name in figures),
                    sum(name not in figures for figures, _ in due),
                    more=more and name != "trial_ms",
                )
                for name in READ
            }
        )


def _in_batches(figures: Figures) -> Figures:
    halved = {"cost_usd": figures["cost_usd"] * BATCH_SHARE} if "cost_usd" in figures else {}
    return {**{name: value for name, value in figures.items() if name != "trial_ms"}, **halved}


def _of_case(case: BaselineCase) -> Figures:
    """The means over the valid trials that have the figure: a trial that broke has not used what a whole one does."""
    valid = [trial for trial in case.trials if trial.status.valid]
    found = {name: [value for trial in valid if (value := read(trial)) is not None] for name, read in READ.items()}
    return {name: fmean(values) for name, values in found.items() if values}
