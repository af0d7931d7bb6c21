"""The metrics of a skill suite, by its reference's definitions.

Everything runs over valid trials, and what an error, a timeout or a refused key left unknown is in none of it. A metric
without a denominator is not available.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from evalward.records.metric import Better, Measurement, Unit
from evalward.records.result import Result
from evalward.records.trace import Usage
from evalward.suites.pooling import (
    MEAN_DURATION,
    NO_TRIAL,
    USAGE,
    USAGE_IDS,
    Amount,
    Mean,
    Metrics,
    Share,
    by_category,
    category_by_score,
    measured,
    passed,
    why_no_usage,
)
from evalward.suites.skill.details import UPLIFTS, ArmName, ArmOutcome, SkillDetails

METRIC_IDS = (
    "pass_rate",
    "trigger_recall",
    "trigger_precision",
    "near_miss_rate",
    "routing_accuracy",
    "expectation_pass_rate",
    "without_pass_rate",
    *UPLIFTS,
    *USAGE_IDS,
)
"""In the order in which people read them."""

ArmNumber = Callable[[ArmOutcome], float | None]


def details_of(result: Result) -> SkillDetails:
    """The details of a skill trial; empty ones of a trial that broke."""
    return result.details if isinstance(result.details, SkillDetails) else SkillDetails()


def is_asked(result: Result) -> bool:
    """A query that should load its skill, of which it is known whether it did."""
    details = details_of(result)
    return _is_query(result) and details.wants is not None


def is_near_miss(result: Result) -> bool:
    """A query that should not load its skill, of which it is known whether it did."""
    return _is_query(result) and details_of(result).wants is None


def _is_query(result: Result) -> bool:
    details = details_of(result)
    return result.valid and details.asks == "trigger" and details.triggered is not None


def _is_triggered(result: Result) -> bool:
    return _is_query(result) and bool(details_of(result).triggered)


def _is_routed(result: Result) -> bool:
    return is_asked(result) and details_of(result).won is not None


def _triggered(result: Result) -> float:
    return float(bool(details_of(result).triggered))


def valid_arm(result: Result, name: ArmName) -> ArmOutcome | None:
    """The arm of a valid task trial, where it is valid, too."""
    details = details_of(result)
    arm = details.arm(name) if result.valid and details.asks == "task" else None
    return arm if arm is not None and arm.status.valid else None


def _decided(name: ArmName) -> Callable[[Result], bool]:
    def counts(result: Result) -> bool:
        arm = valid_arm(result, name)
        return arm is not None and arm.expectations > 0

    return counts


def _of_arm(name: ArmName, number: Callable[[ArmOutcome], float]) -> Callable[[Result], float]:
    def of(result: Result) -> float:
        arm = valid_arm(result, name)
        return 0.0 if arm is None else float(number(arm))

    return of


def _expectations(name: ArmName, better: Better) -> Share:
    held, every = _of_arm(name, lambda arm: arm.held), _of_arm(name, lambda arm: arm.expectations)
    return Share(held, every, better=better, counts=_decided(name), lasting=name == "with")


def held_share(arm: ArmOutcome) -> float | None:
    """The share of the expectations that hold; `None` where there is none."""
    return arm.held / arm.expectations if arm.expectations else None


def tokens_of_arm(arm: ArmOutcome) -> float | None:
    """All that the model read and wrote; `None` where it isn't known."""
    read, written = arm.usage.total_input_tokens, arm.usage.output_tokens
    return None if read is None or written is None else float(read + written)


def _duration(arm: ArmOutcome) -> float | None:
    return None if arm.usage.batched else float(arm.duration_ms)


NUMBERS: Mapping[str, ArmNumber] = {
    "uplift_pass_rate": held_share,
    "uplift_tokens": tokens_of_arm,
    "uplift_cost_usd": lambda arm: arm.usage.cost_usd,
    "uplift_duration_ms": _duration,
}
"""What each uplift is the difference of, in one arm."""


def arms_of(result: Result, metric: str) -> tuple[ArmOutcome, ArmOutcome] | None:
    """The arms with and without, where both have a part in an uplift; of cases in which nothing decides neither has."""
    with_it, without = valid_arm(result, "with"), valid_arm(result, "without")
    if with_it is None or without is None:
        return None
    decided = with_it.expectations > 0 and without.expectations > 0
    return (with_it, without) if decided or metric != "uplift_pass_rate" else None


def values_of(result: Result, metric: str) -> tuple[float, float] | None:
    """What an uplift takes of the arms with and without; `None` where one has no part in it, or isn't known."""
    arms = arms_of(result, metric)
    if arms is None:
        return None
    values = [NUMBERS[metric](arm) for arm in arms]
    known = [value for value in values if value is not None]
    return (known[0], known[1]) if len(known) == len(values) else None


_UNITS: Mapping[str, Unit] = {"uplift_tokens": "tokens", "uplift_cost_usd": "usd", "uplift_duration_ms": "ms"}


def _uplift(metric: str) -> Mean:
    def number(result: Result) -> float | None:
        values = values_of(result, metric)
        return None if values is None else values[0] - values[1]

    def counts(result: Result) -> bool:
        return arms_of(result, metric) is not None

    if metric == "uplift_pass_rate":
        return Mean(number, "points", counts=counts)
    return Mean(number, _UNITS[metric], "lower", counts)


def _usage_with(result: Result) -> Usage:
    """What the skill's own arm took: a base that is measured now has no other, and two arms would look like a rise."""
    arm = valid_arm(result, "with")
    return result.usage if arm is None else arm.usage


_OF_ARM_WITH: Metrics = {
    "total_input_tokens": Amount(lambda result: _usage_with(result).total_input_tokens, "tokens", "lower"),
    "total_output_tokens": Amount(lambda result: _usage_with(result).output_tokens, "tokens", "lower"),
    "cost_usd": Amount(lambda result: _usage_with(result).cost_usd, "usd", "lower"),
}

PER_TRIAL: Metrics = {
    "pass_rate": Share(passed),
    "trigger_recall": Share(_triggered, counts=is_asked, lasting=True),
    "trigger_precision": Share(lambda result: float(is_asked(result)), counts=_is_triggered),
    "near_miss_rate": Share(_triggered, better="lower", counts=is_near_miss, lasting=True),
    "routing_accuracy": Share(
        lambda result: float(details_of(result).won == details_of(result).wants), counts=_is_routed
    ),
    "expectation_pass_rate": _expectations("with", "higher"),
    "without_pass_rate": _expectations("without", "neither"),
    **{metric: _uplift(metric) for metric in UPLIFTS},
    "avg_duration_ms": MEAN_DURATION,
    **USAGE,
    **_OF_ARM_WITH,
}
"""What each trial adds to each metric."""

_NO_BOTH = "no trial of a task is valid both with and without the skill"
_WITHOUT = {
    "trigger_recall": "no query should load a skill",
    "trigger_precision": "no query loaded its skill",
    "near_miss_rate": "no query should leave its skill alone",
    "routing_accuracy": "no query that should load a skill loaded any",
    "expectation_pass_rate": "no task has checks or expectations",
    "without_pass_rate": "no task with checks or expectations was run without its skill",
    "uplift_pass_rate": _NO_BOTH,
}
"""Why a metric may be missing although there are valid trials."""
_UNKNOWN = {
    "uplift_tokens": "the agent reported no tokens",
    "uplift_cost_usd": "the price is unknown",
    "uplift_duration_ms": "how long a model takes that answers in batches is unknown",
}


def measure(results: Sequence[Result]) -> Measurement:
    """All metrics and category summaries of these results."""
    valid = [result for result in results if result.valid]
    found = measured(PER_TRIAL, results, {**_why_not(valid), **why_no_usage(valid, "agent")})
    return Measurement(
        metrics={name: found[name] for name in METRIC_IDS}, categories=by_category(valid, category_by_score)
    )


def _why_not(valid: Sequence[Result]) -> dict[str, str]:
    if not valid:
        return dict.fromkeys((*_WITHOUT, *_UNKNOWN), NO_TRIAL)
    both = any(arms_of(result, "uplift_tokens") for result in valid)
    return {**_WITHOUT, **(_UNKNOWN if both else dict.fromkeys(_UNKNOWN, _NO_BOTH))}
