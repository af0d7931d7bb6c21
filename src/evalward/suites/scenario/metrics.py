"""The metrics of a scenario suite: the specification's three layers, pooled over its scenarios.

Everything runs over valid trials. Counts are per pass of the suite: with several trials a scenario counts with the mean
over its valid ones. Rates pool counts: all failed commands over all commands, not a mean of rates. `tool_success_rate`
is 1 − `error_rate` where every exit code is known; an unknown one is no success. Rates on exit codes leave out trials
of which not one is known. `evaluator.NAME` is the mean score of an evaluator; which there are, the scenarios say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum

from evalward.records.metric import Better, CategorySummary, Measurement, Metric, amount, ratio
from evalward.records.result import Result, Status
from evalward.records.scenario import Interaction, ScenarioDetails
from evalward.suites.pooling import by_category, per_pass

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
NO_TRIAL = "no valid trial"
NO_COMMAND = "no command of the target tool was run"
NOT_TOLD = "exit codes are unknown"
NO_SUBCOMMAND = "the command pattern captures no subcommand"


def measure(results: Sequence[Result]) -> Measurement:
    """All metrics and category summaries of these results."""
    valid = [result for result in results if result.valid]
    found = {
        **_interaction(valid),
        **_outcomes(valid),
        **_judge(results, valid),
        **_totals(results, valid),
    }
    return Measurement(
        metrics={**{name: found[name] for name in METRIC_IDS}, **_evaluators(valid)},
        categories=by_category(valid, _category),
    )


def details_of(result: Result) -> ScenarioDetails:
    """The details of a scenario trial; empty ones of a trial that broke."""
    return result.details if isinstance(result.details, ScenarioDetails) else ScenarioDetails()


def _passed(result: Result) -> bool:
    return result.status is Status.PASSED


# ------------------------------------------------------------------------------------------- layer 1


def _interaction(valid: Sequence[Result]) -> dict[str, Metric]:
    all_of = [details_of(result).interaction for result in valid]
    known = [one for one in all_of if one.exit_codes_known]
    first = [one for one in all_of if one.first_try_count is not None]
    named = [one for one in all_of if one.unique_commands is not None]
    total, named_total = _sum(all_of, _total), _sum(named, _total)
    unique = _sum(named, lambda i: i.unique_commands or 0)
    none = NO_COMMAND if valid else NO_TRIAL
    not_named = NO_SUBCOMMAND if total else none
    not_told = NOT_TOLD if total else none
    return {
        **_counts(valid),
        "error_rate": ratio(_sum(known, lambda i: i.error_count), _sum(known, _total), not_told, "lower"),
        "tool_success_rate": ratio(_sum(known, lambda i: i.succeeded), _sum(known, _total), not_told),
        "first_try_success_rate": ratio(
            _sum(first, lambda i: i.first_try_count or 0), _sum(first, _total), not_told if named_total else not_named
        ),
        "retry_rate": ratio(_sum(named, lambda i: i.retry_count or 0), named_total, not_named, "lower"),
        "iteration_ratio": ratio(unique, named_total, not_named),
        "commands_per_unique": ratio(named_total, unique, not_named, "lower", "count"),
    }


def _total(interaction: Interaction) -> float:
    return interaction.total_commands


def _sum(interactions: Sequence[Interaction], number: Callable[[Interaction], float]) -> float:
    return fsum(map(number, interactions))


def _counts(valid: Sequence[Result]) -> dict[str, Metric]:
    def count(number: Callable[[Interaction], float | None], better: Better = "lower", why: str = NO_TRIAL) -> Metric:
        return amount(per_pass(valid, lambda r: number(details_of(r).interaction)), "count", why, better)

    def errors(interaction: Interaction) -> float | None:
        return interaction.error_count if interaction.exit_codes_known else None

    named = all(details_of(result).interaction.unique_commands is not None for result in valid)
    unnamed = NO_SUBCOMMAND if valid else NO_TRIAL
    why = NO_TRIAL if not valid else NOT_TOLD if named else NO_SUBCOMMAND
    return {
        "total_commands": count(_total),
        "unique_commands": count(lambda i: i.unique_commands, "neither", unnamed),
        "error_count": count(errors, why=NOT_TOLD if valid else NO_TRIAL),
        "retry_count": count(lambda i: i.retry_count, why=unnamed),
        "help_invocations": count(lambda i: i.help_invocations),
        "retries_after_failure": count(lambda i: i.retries_after_failure, why=why),
    }


# ------------------------------------------------------------------------------------------- layers 2 and 3


def _outcomes(valid: Sequence[Result]) -> dict[str, Metric]:
    details = [details_of(result) for result in valid]
    gates = sum(one.gates_total for one in details)
    ended = [one.completed for one in details if one.completed is not None]
    return {
        "outcome_pass_rate": ratio(sum(map(_passed, valid)), len(valid), NO_TRIAL),
        "gate_pass_rate": ratio(
            sum(one.gates_passed for one in details), gates, "no scenario has a gate" if valid else NO_TRIAL
        ),
        "completion_rate": ratio(sum(ended), len(ended), "no trial told how it ended" if valid else NO_TRIAL),
        "composite_score": _mean([one.composite_score for one in details], "no scenario has a composite score"),
    }


def _judge(results: Sequence[Result], valid: Sequence[Result]) -> dict[str, Metric]:
    """Trials that a judge could not judge are no valid ones, but its errors all the same."""
    asked = [one for one in map(details_of, results) if was_judged(one)]
    errors = sum(one.judge_error is not None for one in asked)
    return {
        "judge_score": _mean([one.judge_score for one in map(details_of, valid)], "no trial was judged"),
        "judge_error_rate": ratio(errors, len(asked), "no judge was asked", "lower"),
    }


def was_judged(details: ScenarioDetails) -> bool:
    """A judge was asked, whatever came of it."""
    return any(one is not None for one in (details.judge_score, details.judge_passed, details.judge_error))


def _mean(scores: Sequence[float | None], why_not: str) -> Metric:
    told = [score for score in scores if score is not None]
    return ratio(fsum(told), len(told), why_not, "higher", "score")


def _evaluators(valid: Sequence[Result]) -> dict[str, Metric]:
    """The mean score of each evaluator that gave one, or should have; one that broke is left out of the mean."""
    scores: dict[str, list[float]] = {}
    for result in valid:
        for evaluator in details_of(result).evaluators:
            told = scores.setdefault(evaluator.name, [])
            if evaluator.score is not None:
                told.append(evaluator.score)
    return {EVALUATOR + name: _mean(scores[name], "the evaluator gave no score") for name in sorted(scores)}


# ------------------------------------------------------------------------------------------- totals


def _totals(results: Sequence[Result], valid: Sequence[Result]) -> dict[str, Metric]:
    no_tokens, no_price = ("the agent told no tokens", "the price is unknown") if valid else (NO_TRIAL, NO_TRIAL)
    errors = sum(result.status is Status.ERROR for result in results)

    def total(number: Callable[[Result], float | None]) -> float | None:
        return per_pass(valid, number)

    return {
        "total_input_tokens": amount(total(lambda r: r.usage.total_input_tokens), "tokens", no_tokens, "lower"),
        "total_output_tokens": amount(total(lambda r: r.usage.output_tokens), "tokens", no_tokens, "lower"),
        "total_duration_ms": amount(total(lambda r: r.duration_ms), "ms", NO_TRIAL, "lower"),
        "cost_usd": amount(total(lambda r: r.usage.cost_usd), "usd", no_price, "lower"),
        "harness_error_rate": ratio(errors, len(valid) + errors, "no trial was run", "lower"),
    }


def _category(results: Sequence[Result]) -> CategorySummary:
    """Score and maximum are gates; a scenario without any has none."""
    passed = per_pass(results, lambda r: details_of(r).gates_passed) or 0.0
    most = per_pass(results, lambda r: details_of(r).gates_total) or 0.0
    pooled = sum(details_of(r).gates_total for r in results)
    return CategorySummary(
        tasks=float(len({result.id for result in results})),
        passed=per_pass(results, lambda r: float(_passed(r))) or 0.0,
        score=passed,
        max_score=most,
        rate=sum(details_of(r).gates_passed for r in results) / pooled if pooled else None,
    )
