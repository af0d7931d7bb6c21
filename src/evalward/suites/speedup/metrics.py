"""The metrics of a speedup suite: the specification's run-level aggregation, field by field.

Everything runs over the trials that told of benchmarks or failed, and is computed from their benchmarks, whatever else
was told. Only `accuracy`, pass@k and `total_cost` run over all trials that were run: by the specification a result that
is an error is not resolved, and it has cost what it has. Means are arithmetic. As in FC-Eval, a task without a valid
benchmark counts as unchanged: speedup 1.0 and advantage 0.0; it is an error all the same, or a failure, and
`valid_benchmark_share` shows it. `num_benchmarks`, `num_valid_benchmarks` and `total_cost` are sums over all attempts;
`cost_usd` is per pass of the suite, as everywhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import fsum

from msgspec import structs

from evalward.decide.portions import Portion
from evalward.records.metric import EPSILON, CategorySummary, Measurement, Metric, amount, ratio
from evalward.records.policy import Rule
from evalward.records.result import Result, Status
from evalward.suites.pooling import (
    COST,
    ERROR_RATE,
    NO_TRIAL,
    Amount,
    Counted,
    Metrics,
    Share,
    by_category,
    max_score_of,
    measured,
    passed,
    score_of,
    was_run,
)
from evalward.suites.speedup.attempts import pass_at, why_not
from evalward.suites.speedup.counting import has_metrics, is_resolved
from evalward.suites.speedup.details import LEVELS, SpeedupDetails
from evalward.suites.speedup.levels import levels, task_speedup
from evalward.suites.speedup.payload import NO_SPEEDUP, details_of, level_values

PASS_AT = (2, 4, 5, 8, 10)
LEVEL_IDS = tuple(f"agent_advantage_level{number}" for number in range(1, len(LEVELS) + 1))
METRIC_IDS = (
    "mean_speedup",
    "agent_advantage",
    *LEVEL_IDS,
    "mean_success_rate",
    "valid_benchmark_share",
    "num_benchmarks",
    "num_valid_benchmarks",
    "incredible_benchmarks",
    "accuracy",
    *(f"pass_at_{k}" for k in PASS_AT),
    "mean_cost_per_task",
    "total_cost",
    "cost_weighted_advantage",
    "mean_trajectory_length",
    "cost_usd",
    "harness_error_rate",
)

# The specification has no thresholds. Drops are absolute: an advantage may be negative or near 0. No rule on
# cost_weighted_advantage: with a negative advantage it rewards spending.
DEFAULT_RULES = (
    Rule(metric="mean_speedup", max_drop=0.05),
    Rule(metric="agent_advantage", max_drop=0.05),
    Rule(metric="mean_success_rate", max_drop=0.05),
    Rule(metric="valid_benchmark_share", max_drop=0.02),
    Rule(metric="incredible_benchmarks", ceiling=0.0),  # ours: what can hardly be is read before it is believed
)

NO_VALID = "no valid benchmark"
NO_PRICE = "the price is unknown"
NO_TOKENS = "no agent's log has token counts"


def _of_today(result: Result) -> bool:
    """Told in today's form: a result of the older form has no oracle, and its speedup is another."""
    return has_metrics(result) and details_of(result).legacy_percentage is None


def _task_speedup(result: Result) -> float:
    return task_speedup(details_of(result).benchmarks) or NO_SPEEDUP


def _advantages(result: Result) -> dict[str, float]:
    details = details_of(result)
    return level_values(details.model_copy(update={"levels": levels(details.benchmarks)}))


def _advantage(name: str) -> Share:
    return Share(lambda result: _advantages(result)[name], unit="speedup", counts=_of_today)


def _succeeded(result: Result) -> float:
    """By the specification a success is that neither tests nor snapshots failed, whatever could be measured."""
    return passed(result) or float(result.status is Status.ERROR and details_of(result).success)


def _resolved(result: Result) -> float:
    return is_resolved(result)


def _benchmarks(result: Result) -> float:
    return details_of(result).num_benchmarks


def _valid_benchmarks(result: Result) -> float:
    return details_of(result).num_valid_benchmarks


def _measured_benchmarks(result: Result) -> float:
    """What the measurement itself gave: a fallback makes no benchmark valid."""
    return sum(benchmark.valid and not benchmark.resurrected for benchmark in details_of(result).benchmarks)


def _incredible(result: Result) -> float:
    found = details_of(result)
    return sum(benchmark.incredible for benchmark in found.benchmarks) if found.role == "agent" else 0


def _cost(result: Result) -> float | None:
    return result.usage.cost_usd


class _MeanCost(Share):
    """Of all trials, or of none: what a trial costs may be unknown."""

    def portion(self, result: Result) -> Portion | None:
        """See `decide.kinds.PerTrial`."""
        return None if self.counts(result) and _cost(result) is None else super().portion(result)


PER_TRIAL: Metrics = {
    "mean_speedup": Share(_task_speedup, unit="speedup", counts=_of_today),
    **{name: _advantage(name) for name in ("agent_advantage", *LEVEL_IDS)},
    "mean_success_rate": Share(_succeeded, counts=has_metrics),
    "accuracy": Share(_resolved, counts=was_run),
    "num_benchmarks": Amount(_benchmarks, counts=has_metrics, summed=True),
    "num_valid_benchmarks": Amount(_valid_benchmarks, better="higher", counts=has_metrics, summed=True),
    "incredible_benchmarks": Amount(_incredible, better="lower", counts=has_metrics),
    "valid_benchmark_share": Share(_measured_benchmarks, _benchmarks, counts=has_metrics),
    "mean_trajectory_length": Share(
        lambda result: details_of(result).trajectory_length or 0,
        better="lower",
        unit="count",
        counts=lambda result: has_metrics(result) and details_of(result).trajectory_length is not None,
    ),
    "mean_cost_per_task": _MeanCost(
        lambda result: _cost(result) or 0.0, better="lower", unit="usd", counts=has_metrics
    ),
    "total_cost": Amount(_cost, "usd", "lower", counts=was_run, summed=True),
    "cost_usd": structs.replace(COST, counts=has_metrics),
    "harness_error_rate": ERROR_RATE,
}
"""What each trial adds to each metric; `pass_at_*` and `cost_weighted_advantage` are made of several."""


_LEVELLED = ("mean_speedup", "agent_advantage", *LEVEL_IDS, "mean_cost_per_task")
_ADDED_UP = {name: metric for name, metric in PER_TRIAL.items() if name not in _LEVELLED}
_WITHOUT = {
    "valid_benchmark_share": "no benchmark",
    "mean_trajectory_length": "no agent's log reports it",
}


def measure(results: Sequence[Result]) -> Measurement:
    """All metrics and category summaries of these results."""
    valid = [result for result in results if has_metrics(result)]
    run = [result for result in results if was_run(result)]
    why_not = {
        **(_WITHOUT if valid else {}),
        "total_cost": _why_no_cost(run),
        "cost_usd": _why_no_cost(valid),
        "harness_error_rate": "no trial was run",
    }
    found = {
        **measured(_ADDED_UP, results, why_not),
        **_speedups([details_of(result) for result in valid]),
        **_attempts(run),
        "mean_cost_per_task": _mean_cost(valid),
    }
    if results and not valid:
        found["incredible_benchmarks"] = amount(0.0, "count", better="lower")  # none among trials that broke
    found["cost_weighted_advantage"] = _weighted(found["agent_advantage"], found["mean_cost_per_task"])
    return Measurement(
        metrics={name: found[name] for name in METRIC_IDS},
        categories=by_category([result for result in valid if result.valid], _category),
    )


def _speedups(details: Sequence[SpeedupDetails]) -> dict[str, Metric]:
    """The levels of each task are computed once for all of their metrics."""
    today = [each for each in details if each.legacy_percentage is None]
    why = NO_VALID if details else NO_TRIAL
    by_task = [level_values(each.model_copy(update={"levels": levels(each.benchmarks)})) for each in today]
    return {
        "mean_speedup": _mean((task_speedup(each.benchmarks) or NO_SPEEDUP for each in today), why),
        **{name: _mean((task[name] for task in by_task), why) for name in ("agent_advantage", *LEVEL_IDS)},
    }


def _mean(values: Iterable[float], why_not: str) -> Metric:
    known = list(values)
    return ratio(fsum(known), len(known), why_not, unit="speedup")


def attempts_of(results: Iterable[Result]) -> dict[str, list[bool]]:
    """Which of these attempts at each task succeeded."""
    tasks: dict[str, list[bool]] = defaultdict(list)
    for result in results:
        tasks[result.id].append(is_resolved(result))
    return tasks


def _attempts(run: Sequence[Result]) -> dict[str, Metric]:
    tasks = attempts_of(run)
    found = pass_at(tasks)
    return {
        f"pass_at_{k}": Metric(value=found[k]) if k in found else Metric(value=None, reason=why_not(tasks, k))
        for k in PASS_AT
    }


def _mean_cost(valid: Sequence[Result]) -> Metric:
    costs = [cost for cost in map(_cost, valid) if cost is not None]
    known = len(costs) if len(costs) == len(valid) else 0
    return ratio(fsum(costs), known, _why_no_cost(valid), "lower", "usd")


def _why_no_cost(results: Sequence[Result]) -> str:
    """Why it is not known what these trials cost together: tokens that nobody told have none to begin with."""
    if not results:
        return NO_TRIAL
    unknown = [result for result in results if _cost(result) is None]
    untold = [result for result in unknown if None in {result.usage.input_tokens, result.usage.output_tokens}]
    if not untold:
        return NO_PRICE
    return NO_TOKENS if len(untold) == len(results) else f"{NO_TOKENS} of {untold[0].id[:60]}"


def _weighted(advantage: Metric, cost: Metric) -> Metric:
    """Advantage per dollar, 0 at cost 0. It has no good direction: the dearer a negative advantage, the better."""
    if advantage.value is None or cost.value is None:
        return Metric(value=None, unit="score", better="neither", reason=advantage.reason or cost.reason)
    value = advantage.value / cost.value if cost.value > EPSILON else 0.0
    return amount(value, "score")


def _category(counted: Counted) -> CategorySummary:
    score, most = counted.summed(score_of) or 0.0, counted.summed(max_score_of) or 0.0
    return CategorySummary(
        tasks=float(len(counted.places)),
        passed=counted.per_pass(passed) or 0.0,
        score=counted.per_pass(score_of) or 0.0,
        max_score=counted.per_pass(max_score_of) or 0.0,
        rate=score / most if most else None,
    )
