"""How the numbers of several trials become one: what every kind's metrics do in the same way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum

from msgspec import Struct

from evalward.decide.portions import NONE, Portion
from evalward.records.metric import Better, CategorySummary, Metric, Unit, amount, ratio
from evalward.records.result import Result, Status

Number = Callable[[Result], float | None]
NO_TRIAL = "no valid trial"
BATCHED = "the model answered in batches"


def one(_: Result) -> float:
    """Every trial counts as one."""
    return 1.0


def passed(result: Result) -> float:
    """1 for a trial that passed."""
    return float(result.status is Status.PASSED)


def score_of(result: Result) -> float:
    """The weights of the checks that held."""
    return result.score


def max_score_of(result: Result) -> float:
    """The weights of all checks."""
    return result.max_score


def is_valid(result: Result) -> bool:
    """Whether a trial says something about the target."""
    return result.valid


class Counted:
    """The trials that count in a metric. Many metrics are made of the same numbers: each is asked for once."""

    def __init__(self, results: Sequence[Result]) -> None:
        self.results = results
        self._known: dict[Number, list[float]] = {}

    def known(self, number: Number) -> list[float]:
        """What each trial tells, in their order; empty when one of them doesn't tell its number."""
        if number not in self._known:
            values = [value for value in map(number, self.results) if value is not None]
            self._known[number] = values if len(values) == len(self.results) else []
        return self._known[number]

    @cached_property
    def places(self) -> list[list[int]]:
        """For each case, where its trials stand."""
        places: dict[str, list[int]] = defaultdict(list)
        for place, result in enumerate(self.results):
            places[result.id].append(place)
        return list(places.values())

    def summed(self, number: Number) -> float | None:
        """The sum over all trials. `None` when there is none, or when one doesn't tell its number."""
        values = self.known(number)
        return fsum(values) if values else None

    def per_pass(self, number: Number) -> float | None:
        """The sum over the cases of each case's mean over its trials, `None` as for `summed`."""
        values = self.known(number)
        if not values or len(self.places) == len(values):
            return fsum(values) if values else None
        return fsum(fsum([values[at] for at in places]) / len(places) for places in self.places)


@dataclass(frozen=True)
class Share:
    """A metric that is a quotient of sums over the trials. `counts`: which trials have a part in it.

    `lasting`: see `decide.kinds.PerTrial`.
    """

    numerator: Callable[[Result], float]
    denominator: Callable[[Result], float] = one
    better: Better = "higher"
    unit: Unit = "ratio"
    counts: Callable[[Result], bool] = is_valid
    lasting: bool = False

    def measured(self, counted: Counted, why_not: str) -> Metric:
        """Over trials that count."""
        numerator, denominator = fsum(counted.known(self.numerator)), fsum(counted.known(self.denominator))
        return ratio(numerator, denominator, why_not, self.better, self.unit)

    def portion(self, result: Result) -> Portion | None:
        """See `decide.kinds.PerTrial`."""
        return Portion(self.numerator(result), self.denominator(result)) if self.counts(result) else NONE

    def together(self, portions: Sequence[Portion]) -> Portion:
        """The sums of both."""
        return Portion(fsum(each.value for each in portions), fsum(each.of or 0.0 for each in portions))


class Amount(Struct, frozen=True):
    """A metric that is a number of every trial, per pass of the suite: a case counts with the mean of its trials.

    `summed`: all attempts are added up instead.
    """

    number: Number
    unit: Unit = "count"
    better: Better = "neither"
    counts: Callable[[Result], bool] = is_valid
    summed: bool = False
    lasting: bool = False

    def measured(self, counted: Counted, why_not: str) -> Metric:
        """Over trials that count; not available when one of them doesn't tell its number."""
        total = counted.summed(self.number) if self.summed else counted.per_pass(self.number)
        return amount(total, self.unit, why_not, self.better)

    def portion(self, result: Result) -> Portion | None:
        """See `decide.kinds.PerTrial`."""
        if not self.counts(result):
            return NONE
        value = self.number(result)
        return None if value is None else Portion(value)

    def together(self, portions: Sequence[Portion]) -> Portion:
        """The mean, or the sum."""
        total = fsum(each.value for each in portions)
        return Portion(total if self.summed else total / len(portions))


class Mean(Struct, frozen=True):
    """A metric that is the mean of a number over the trials that have a part in it, whatever case they are of.

    Not available when one of them doesn't tell its number.
    """

    number: Number
    unit: Unit
    better: Better = "higher"
    counts: Callable[[Result], bool] = is_valid
    lasting: bool = False

    def measured(self, counted: Counted, why_not: str) -> Metric:
        """Over trials that count."""
        values = counted.known(self.number)
        return ratio(fsum(values), float(len(values)), why_not, self.better, self.unit)

    def portion(self, result: Result) -> Portion | None:
        """See `decide.kinds.PerTrial`."""
        if not self.counts(result):
            return NONE
        value = self.number(result)
        return None if value is None else Portion(value, 1.0)

    def together(self, portions: Sequence[Portion]) -> Portion:
        """The sum, and how many they are."""
        return Portion(fsum(each.value for each in portions), fsum(each.of or 0.0 for each in portions))


def _is_error(result: Result) -> float:
    return float(result.status is Status.ERROR)


def _is_timed(result: Result) -> bool:
    """Whether it is known how long a trial took: of one whose model answered in batches it isn't."""
    return is_valid(result) and not result.usage.batched


def was_run(result: Result) -> bool:
    """Whether a trial was tried at all, to whatever end."""
    return result.status is not Status.SKIPPED


TOKENS_IN = Amount(lambda result: result.usage.total_input_tokens, "tokens", "lower")
TOKENS_OUT = Amount(lambda result: result.usage.output_tokens, "tokens", "lower")
DURATION = Amount(lambda result: None if result.usage.batched else result.duration_ms, "ms", "lower")
MEAN_DURATION = Share(lambda result: result.duration_ms, better="lower", unit="ms", counts=_is_timed)
COST = Amount(lambda result: result.usage.cost_usd, "usd", "lower")
ERROR_RATE = Share(_is_error, better="lower", counts=was_run)
USAGE: Mapping[str, Share | Amount] = {
    "total_input_tokens": TOKENS_IN,
    "total_output_tokens": TOKENS_OUT,
    "total_duration_ms": DURATION,
    "cost_usd": COST,
    "harness_error_rate": ERROR_RATE,
}
"""What every kind that talks with models measures in the same way."""
USAGE_IDS = (
    "total_input_tokens",
    "total_output_tokens",
    "total_duration_ms",
    "avg_duration_ms",
    "cost_usd",
    "harness_error_rate",
)
"""Their ids with that of the mean duration, in the order in which people read them."""


Pooled = Share | Amount | Mean
Metrics = Mapping[str, Pooled]


def measured(metrics: Metrics, results: Iterable[Result], why_not: Mapping[str, str]) -> dict[str, Metric]:
    """Each metric over the trials that count in it. `why_not` says of some why there may be none, beside no trial."""
    every = list(results)
    counted: dict[Callable[[Result], bool], Counted] = {}
    for metric in metrics.values():
        if metric.counts not in counted:
            counted[metric.counts] = Counted([result for result in every if metric.counts(result)])
    return {
        name: metric.measured(counted[metric.counts], why_not.get(name, NO_TRIAL)) for name, metric in metrics.items()
    }


def why_no_usage(valid: Sequence[Result], who: str) -> dict[str, str]:
    """Why metrics of `USAGE` and the mean duration may be missing. `who` didn't tell its tokens."""
    reasons = (f"the {who} reported no tokens", "the price is unknown") if valid else (NO_TRIAL, NO_TRIAL)
    return {
        "total_input_tokens": reasons[0],
        "total_output_tokens": reasons[0],
        "cost_usd": reasons[1],
        "harness_error_rate": "no trial was run",
        **(dict.fromkeys(("total_duration_ms", "avg_duration_ms"), BATCHED) if any_batched(valid) else {}),
    }


def any_batched(results: Iterable[Result]) -> bool:
    """Whether a model answered in batches: how long it takes is then not known."""
    return any(result.usage.batched for result in results)


def by_category(valid: Iterable[Result], summary: Callable[[Counted], CategorySummary]) -> dict[str, CategorySummary]:
    """The summary of each category, sorted by name."""
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in valid:
        groups[result.category].append(result)
    return {name: summary(Counted(groups[name])) for name in sorted(groups)}


def by_case(results: Sequence[Result]) -> dict[str, list[Result]]:
    """The valid trials of each case."""
    grouped: dict[str, list[Result]] = {}
    for result in results:
        if result.valid:
            grouped.setdefault(result.id, []).append(result)
    return grouped


SCORE = "score:"
"""What the metrics of single scorers begin with; their names follow."""
SCORED_IDS = ("pass_rate", "mean_score", f"{SCORE}*", *USAGE_IDS)
"""The metrics of kinds whose trials have scores by name, in the order in which people read them."""

Scores = Callable[[Result], Mapping[str, float]]


def scored(name: str, scores_of: Scores, better: Better = "higher") -> Share:
    """The mean of one scorer over the trials that have its score."""
    return Share(
        lambda result: scores_of(result).get(name, 0.0),
        better=better,
        unit="score",
        counts=lambda result: result.valid and name in scores_of(result),
        lasting=True,
    )


def scorers(valid: Iterable[Result], scores_of: Scores, lower: Iterable[str] = ()) -> dict[str, Metric]:
    """The metric of each scorer, by name; of those in `lower` less is better."""
    trials, less = list(valid), set(lower)
    names = sorted({name for result in trials for name in scores_of(result)})
    metrics: Metrics = {SCORE + name: scored(name, scores_of, "lower" if name in less else "higher") for name in names}
    return measured(metrics, trials, {})


def category_by_score(counted: Counted) -> CategorySummary:
    """The summary of a category whose trials have scores: its rate is the share of the score that was had."""
    score, most = fsum(counted.known(score_of)), fsum(counted.known(max_score_of))
    return CategorySummary(
        tasks=counted.per_pass(one) or 0.0,
        passed=counted.per_pass(passed) or 0.0,
        score=counted.per_pass(score_of) or 0.0,
        max_score=counted.per_pass(max_score_of) or 0.0,
        rate=score / most if most else None,
    )
