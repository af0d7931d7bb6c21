"""The metrics of a speedup suite: the specification's run-level aggregation, field by field.

Everything runs over the trials that told of benchmarks or failed, and is computed from their benchmarks, whatever else
was told. Means are arithmetic. As in FC-Eval, a task without a valid benchmark counts as unchanged: speedup 1.0 and
advantage 0.0; it is an error all the same, or a failure, and `valid_benchmark_share` shows it. `num_benchmarks`,
`num_valid_benchmarks` and `total_cost` are sums over all attempts; `cost_usd` is per pass of the suite, as everywhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import fsum

from evalward.records.metric import EPSILON, CategorySummary, Measurement, Metric, Unit, amount, ratio
from evalward.records.policy import Rule
from evalward.records.result import Result, Status
from evalward.records.speedup import LEVELS, SpeedupDetails
from evalward.suites.pooling import by_category, per_pass
from evalward.suites.speedup.attempts import pass_at, why_not
from evalward.suites.speedup.levels import levels, task_speedup
from evalward.suites.speedup.outcome import Reason
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

NO_TRIAL = "no valid trial"
NO_VALID = "no valid benchmark"
NO_PRICE = "the price is unknown"


def measure(results: Sequence[Result]) -> Measurement:
    """All metrics and category summaries of these results."""
    valid = [result for result in results if result.valid or result.reason == Reason.NO_VALID]
    details = [details_of(result) for result in valid]
    found = {
        **_speedups(details),
        **_success(valid),
        **_benchmarks(valid, details, ran=bool(results)),
        **_attempts(valid),
        **_trajectory(details),
    }
    found |= _costs(valid, found["agent_advantage"])
    errors = sum(result.status is Status.ERROR for result in results)
    ran = errors + sum(result.valid for result in results)
    found["harness_error_rate"] = ratio(errors, ran, "no trial was run", "lower")
    return Measurement(
        metrics={name: found[name] for name in METRIC_IDS},
        categories=by_category([result for result in valid if result.valid], _category),
    )


def _mean(values: Iterable[float | None], why_not: str, unit: Unit = "speedup") -> Metric:
    known = [value for value in values if value is not None]
    return ratio(fsum(known), len(known), why_not, unit=unit)


def _speedups(details: Sequence[SpeedupDetails]) -> dict[str, Metric]:
    """Of results in today's form; one of the older form has no oracle, and its speedup is another."""
    today = [each for each in details if each.legacy_percentage is None]
    why = NO_VALID if details else NO_TRIAL
    by_task = [level_values(each.model_copy(update={"levels": levels(each.benchmarks)})) for each in today]
    return {
        "mean_speedup": _mean((task_speedup(each.benchmarks) or NO_SPEEDUP for each in today), why),
        **{name: _mean((task[name] for task in by_task), why) for name in ("agent_advantage", *LEVEL_IDS)},
    }


def _success(valid: Sequence[Result]) -> dict[str, Metric]:
    return {
        "mean_success_rate": ratio(sum(map(_succeeded, valid)), len(valid), NO_TRIAL),
        "accuracy": ratio(sum(details_of(result).resolved for result in valid), len(valid), NO_TRIAL),
    }


def _succeeded(result: Result) -> bool:
    """By the specification a success is that neither tests nor snapshots failed, whatever could be measured."""
    return _passed(result) or (result.status is Status.ERROR and details_of(result).success)


def _passed(result: Result) -> bool:
    return result.status is Status.PASSED


def _benchmarks(valid: Sequence[Result], details: Sequence[SpeedupDetails], *, ran: bool) -> dict[str, Metric]:
    """The share counts what the measurement itself gave: a fallback makes no benchmark valid."""
    measured = sum(benchmark.valid and not benchmark.resurrected for each in details for benchmark in each.benchmarks)
    everything = sum(each.num_benchmarks for each in details)

    every = sum(each.num_valid_benchmarks for each in details)

    def incredible(result: Result) -> float:
        found = details_of(result)
        return sum(benchmark.incredible for benchmark in found.benchmarks) if found.role == "agent" else 0

    found = per_pass(valid, incredible) if valid else (0.0 if ran else None)  # none among trials that broke
    return {
        "num_benchmarks": amount(everything if valid else None, "count", NO_TRIAL),
        "num_valid_benchmarks": amount(every if valid else None, "count", NO_TRIAL, "higher"),
        "incredible_benchmarks": amount(found, "count", NO_TRIAL, "lower"),
        "valid_benchmark_share": ratio(measured, everything, "no benchmark" if valid else NO_TRIAL),
    }


def attempts_of(results: Iterable[Result]) -> dict[str, list[bool]]:
    """Which of these attempts at each task succeeded."""
    tasks: dict[str, list[bool]] = defaultdict(list)
    for result in results:
        tasks[result.id].append(details_of(result).resolved)
    return tasks


def _attempts(valid: Sequence[Result]) -> dict[str, Metric]:
    tasks = attempts_of(valid)
    found = pass_at(tasks)
    return {
        f"pass_at_{k}": Metric(value=found[k]) if k in found else Metric(value=None, reason=why_not(tasks, k))
        for k in PASS_AT
    }


def _trajectory(details: Sequence[SpeedupDetails]) -> dict[str, Metric]:
    told = [each.trajectory_length for each in details if each.trajectory_length is not None]
    why = "no agent's log tells it" if details else NO_TRIAL
    return {"mean_trajectory_length": ratio(sum(told), len(told), why, "lower", "count")}


def _costs(valid: Sequence[Result], advantage: Metric) -> dict[str, Metric]:
    why = NO_PRICE if valid else NO_TRIAL
    per_suite = per_pass(valid, lambda result: result.usage.cost_usd)
    costs = [result.usage.cost_usd for result in valid if result.usage.cost_usd is not None]
    known = bool(valid) and len(costs) == len(valid)
    mean = ratio(fsum(costs), len(costs) if known else 0, why, "lower", "usd")
    return {
        "mean_cost_per_task": mean,
        "total_cost": amount(fsum(costs) if known else None, "usd", why, "lower"),
        "cost_usd": amount(per_suite, "usd", why, "lower"),
        "cost_weighted_advantage": _weighted(advantage, mean),
    }


def _weighted(advantage: Metric, cost: Metric) -> Metric:
    """Advantage per dollar, 0 at cost 0. It has no good direction: the dearer a negative advantage, the better."""
    if advantage.value is None or cost.value is None:
        return Metric(value=None, unit="score", better="neither", reason=advantage.reason or cost.reason)
    value = advantage.value / cost.value if cost.value > EPSILON else 0.0
    return amount(value, "score")


def _category(results: Sequence[Result]) -> CategorySummary:
    score, most = fsum(r.score for r in results), fsum(r.max_score for r in results)
    return CategorySummary(
        tasks=float(len({result.id for result in results})),
        passed=per_pass(results, lambda r: float(_passed(r))) or 0.0,
        score=per_pass(results, lambda r: r.score) or 0.0,
        max_score=per_pass(results, lambda r: r.max_score) or 0.0,
        rate=score / most if most else None,
    )
