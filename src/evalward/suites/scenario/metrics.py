"""The metrics of a scenario suite: the specification's three layers, pooled over its scenarios.

Everything runs over valid trials. Counts are per pass of the suite: with several trials a scenario counts with the mean
over its valid ones. Rates pool counts: all failed commands over all commands, not a mean of rates. `tool_success_rate`
is 1 − `error_rate` where every exit code is known; an unknown one is no success. Rates on exit codes leave out trials
of which not one is known. `evaluator.NAME` is the mean score of an evaluator; which there are, the scenarios say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum

from evalward.records.metric import Better, CategorySummary, Measurement, Metric, ratio
from evalward.records.result import Result
from evalward.suites.pooling import (
    NO_TRIAL,
    USAGE,
    Amount,
    Counted,
    Metrics,
    Pooled,
    Share,
    by_category,
    measured,
    passed,
    why_no_usage,
)
from evalward.suites.scenario.details import Interaction, ScenarioDetails

METRIC_IDS = (
    "outcome_pass_rate",
    "gate_pass_rate",
    "completion_rate",
    "tool_success_rate",
    "error_rate",
    "first_try_success_rate",
    "retry_rate",
    "iteration_ratio",
    "commands_per_unique",
    "help_invocations",
    "total_commands",
    "unique_commands",
    "error_count",
    "retry_count",
    "retries_after_failure",
    "judge_score",
    "judge_error_rate",
    "composite_score",
    "total_input_tokens",
    "total_output_tokens",
    "total_duration_ms",
    "cost_usd",
    "harness_error_rate",
)
EVALUATOR = "evaluator."
"""What the metric of an evaluator's score begins with; its name follows."""
NO_COMMAND = "no command of the target tool was run"
NOT_TOLD = "exit codes are unknown"
NO_SUBCOMMAND = "the command pattern captures no subcommand"


def details_of(result: Result) -> ScenarioDetails:
    """The details of a scenario trial; empty ones of a trial that broke."""
    return result.details if isinstance(result.details, ScenarioDetails) else ScenarioDetails()


def was_judged(details: ScenarioDetails) -> bool:
    """A judge was asked, whatever came of it."""
    return any(one is not None for one in (details.judge_score, details.judge_passed, details.judge_error))


# ------------------------------------------------------------------------------------------- layer 1


def _of_commands(number: Callable[[Interaction], float | None]) -> Callable[[Result], float]:
    return lambda result: number(details_of(result).interaction) or 0.0


def _valid(holds: Callable[[ScenarioDetails], bool]) -> Callable[[Result], bool]:
    return lambda result: result.valid and holds(details_of(result))


def _count(number: Callable[[Interaction], float | None], better: Better = "lower") -> Amount:
    return Amount(lambda result: number(details_of(result).interaction), better=better)


def _errors(interaction: Interaction) -> float | None:
    return interaction.error_count if interaction.exit_codes_known else None


_total = _of_commands(lambda i: i.total_commands)
_unique = _of_commands(lambda i: i.unique_commands)
_exit_codes_known = _valid(lambda d: d.interaction.exit_codes_known)
_first_told = _valid(lambda d: d.interaction.first_try_count is not None)
_named = _valid(lambda d: d.interaction.unique_commands is not None)

_RATES = {
    "error_rate": Share(_of_commands(lambda i: i.error_count), _total, "lower", counts=_exit_codes_known),
    "tool_success_rate": Share(_of_commands(lambda i: i.succeeded), _total, counts=_exit_codes_known),
    "first_try_success_rate": Share(_of_commands(lambda i: i.first_try_count), _total, counts=_first_told),
    "retry_rate": Share(_of_commands(lambda i: i.retry_count), _total, "lower", counts=_named),
    "iteration_ratio": Share(_unique, _total, counts=_named),
    "commands_per_unique": Share(_total, _unique, "lower", "count", counts=_named),
}
_COUNTS = {
    "total_commands": _count(lambda i: i.total_commands),
    "unique_commands": _count(lambda i: i.unique_commands, "neither"),
    "error_count": _count(_errors),
    "retry_count": _count(lambda i: i.retry_count),
    "help_invocations": _count(lambda i: i.help_invocations),
    "retries_after_failure": _count(lambda i: i.retries_after_failure),
}


def _why_no_rate(valid: Sequence[Result]) -> dict[str, str]:
    """Why numbers about commands may be missing."""
    named = [result for result in valid if _named(result)]
    none = NO_COMMAND if valid else NO_TRIAL
    commands = fsum(map(_total, valid))
    not_named, not_told = (NO_SUBCOMMAND, NOT_TOLD) if commands else (none, none)
    unnamed, untold = (NO_SUBCOMMAND, NOT_TOLD) if valid else (NO_TRIAL, NO_TRIAL)
    return {
        "error_rate": not_told,
        "tool_success_rate": not_told,
        "first_try_success_rate": not_told if fsum(map(_total, named)) else not_named,
        **dict.fromkeys(("retry_rate", "iteration_ratio", "commands_per_unique"), not_named),
        **dict.fromkeys(("unique_commands", "retry_count"), unnamed),
        "error_count": untold,
        "retries_after_failure": untold if len(named) == len(valid) else unnamed,
    }


# ------------------------------------------------------------------------------------------- layers 2 and 3


def _score(score: Callable[[ScenarioDetails], float | None]) -> Share:
    """The mean of those that have one."""
    return Share(
        lambda result: score(details_of(result)) or 0.0,
        unit="score",
        counts=_valid(lambda details: score(details) is not None),
    )


def _gates_passed(result: Result) -> float:
    return details_of(result).gates_passed


def _gates_total(result: Result) -> float:
    return details_of(result).gates_total


_OUTCOMES = {
    "outcome_pass_rate": Share(passed),
    "gate_pass_rate": Share(_gates_passed, _gates_total),
    "completion_rate": Share(
        lambda r: bool(details_of(r).completed), counts=_valid(lambda details: details.completed is not None)
    ),
    "composite_score": _score(lambda details: details.composite_score),
    "judge_score": _score(lambda details: details.judge_score),
}
_WITHOUT = {"gate_pass_rate": "no scenario has a gate", "completion_rate": "no trial reported how it ended"}
_UNSCORED = {
    "composite_score": "no scenario has a composite score",
    "judge_score": "no trial was judged",
    "judge_error_rate": "no judge was asked",
}
_JUDGE_ERRORS = Share(
    lambda r: details_of(r).judge_error is not None, better="lower", counts=lambda r: was_judged(details_of(r))
)
"""Trials that a judge could not judge are no valid ones, but its errors all the same."""


def _evaluator(name: str) -> Share:
    """The mean score of an evaluator; one that broke is left out of the mean."""

    def scores(result: Result) -> list[float]:
        return [one.score for one in details_of(result).evaluators if one.name == name and one.score is not None]

    return Share(lambda result: fsum(scores(result)), lambda result: len(scores(result)), unit="score")


def _evaluators(valid: Sequence[Result]) -> dict[str, Metric]:
    """Of each evaluator that gave a score, or should have. In one pass: how many there are, others decide."""
    scores: dict[str, list[float]] = {}
    for result in valid:
        for evaluator in details_of(result).evaluators:
            given = scores.setdefault(evaluator.name, [])
            if evaluator.score is not None:
                given.append(evaluator.score)
    why = "the evaluator gave no score"
    return {
        EVALUATOR + name: ratio(fsum(scores[name]), len(scores[name]), why, unit="score") for name in sorted(scores)
    }


PER_TRIAL: Metrics = {**_RATES, **_COUNTS, **_OUTCOMES, "judge_error_rate": _JUDGE_ERRORS, **USAGE}


def per_trial(metric: str) -> Pooled | None:
    """What each trial adds to a metric; `None` for one that there is not."""
    if metric.startswith(EVALUATOR):
        return _evaluator(metric.removeprefix(EVALUATOR))
    return PER_TRIAL.get(metric)


def measure(results: Sequence[Result]) -> Measurement:
    """All metrics and category summaries of these results."""
    valid = [result for result in results if result.valid]
    why_not = {**_why_no_rate(valid), **(_WITHOUT if valid else {}), **_UNSCORED, **why_no_usage(valid, "agent")}
    found = measured(PER_TRIAL, results, why_not)
    return Measurement(
        metrics={**{name: found[name] for name in METRIC_IDS}, **_evaluators(valid)},
        categories=by_category(valid, _category),
    )


def _category(counted: Counted) -> CategorySummary:
    """Score and maximum are gates; a scenario without any has none."""
    held = counted.per_pass(_gates_passed) or 0.0
    most = counted.per_pass(_gates_total) or 0.0
    pooled = sum(counted.known(_gates_total))
    return CategorySummary(
        tasks=float(len(counted.places)),
        passed=counted.per_pass(passed) or 0.0,
        score=held,
        max_score=most,
        rate=sum(counted.known(_gates_passed)) / pooled if pooled else None,
    )
