"""What the numbers of one run show: the specification's "Interpreting results", computed.

Every threshold stands in one table, with where it comes from; every finding carries the numbers that led to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalward.records.metric import Measurement
from evalward.records.report import Finding
from evalward.records.result import BashDetails, Result

HEALTHY_OVERALL = 0.90  # specification, "Healthy Profile"
HEALTHY_TOOL_SUCCESS = 0.80
HEALTHY_TURNS = 5.0
HEALTHY_CATEGORY = 0.70
FRICTION_TOOL_SUCCESS = 0.75  # specification, "Friction Signals"
FRICTION_CATEGORY = 0.50
FRICTION_TURNS = 7.0
# Where the specification says "most", "frequently" and "high", these are our numbers for it.
NATURAL_STOP_MOST = 0.90
TURN_LIMIT_OFTEN = 0.20
TOKENS_HIGH = 10_000.0  # per task; the published baseline runs need 3,700 to 9,300
PASS_LOW = 0.50

FIX_GAPS = "Fix what the failing commands have in common: it helps every model."
ADD_GUIDANCE = "Look at the failing commands of this category: a missing builtin or syntax, or an unclear task."


@dataclass(frozen=True)
class Numbers:
    """What the signals look at; `None` is not available."""

    overall: float | None
    passed: float | None
    tool_success: float | None
    turns: float | None
    natural: float | None
    tokens: float | None
    categories: dict[str, float]


def interpret(results: Sequence[Result], measurement: Measurement) -> list[Finding]:
    """The findings of one run, the healthy profile first when it holds, then the friction signals."""
    numbers = _numbers(measurement)
    signals = list(_friction(results, numbers))
    healthy = _healthy(numbers)
    return [healthy, *signals] if healthy else signals


def _numbers(measurement: Measurement) -> Numbers:
    def value(name: str) -> float | None:
        return measurement.metrics[name].value

    tasks, tokens_in, tokens_out = value("total_tasks"), value("total_input_tokens"), value("total_output_tokens")
    known = tasks and tokens_in is not None and tokens_out is not None
    return Numbers(
        overall=value("overall_rate"),
        passed=value("pass_rate"),
        tool_success=value("tool_call_success_rate"),
        turns=value("avg_turns_per_task"),
        natural=value("natural_stop_rate"),
        tokens=((tokens_in or 0) + (tokens_out or 0)) / tasks if tasks and known else None,
        categories={n: c.rate for n, c in measurement.categories.items() if c.rate is not None},
    )


def _healthy(n: Numbers) -> Finding | None:
    if n.overall is None or n.tool_success is None or n.turns is None or n.natural is None:
        return None
    lowest = min(n.categories.values(), default=1.0)
    holds = (
        n.overall > HEALTHY_OVERALL
        and n.tool_success > HEALTHY_TOOL_SUCCESS
        and n.turns < HEALTHY_TURNS
        and lowest >= HEALTHY_CATEGORY
        and n.natural >= NATURAL_STOP_MOST
    )
    if not holds:
        return None
    return Finding(
        id="healthy_profile",
        level="good",
        message="Healthy profile",
        evidence=f"overall {n.overall:.1%}, tool calls {n.tool_success:.1%}, {n.turns:.1f} turns a task, "
        f"lowest category {lowest:.1%}, natural stops {n.natural:.1%}",
        threshold=f"> {HEALTHY_OVERALL:.0%}, > {HEALTHY_TOOL_SUCCESS:.0%}, < {HEALTHY_TURNS:g}, "
        f"≥ {HEALTHY_CATEGORY:.0%}, ≥ {NATURAL_STOP_MOST:.0%}",
    )


def _friction(results: Sequence[Result], n: Numbers) -> Iterator[Finding]:
    if n.tool_success is not None and n.tool_success < FRICTION_TOOL_SUCCESS:
        yield Finding(
            id="tool_friction",
            level="warning",
            message="Many tool calls fail: the shell may lack what models expect of it",
            evidence=f"{n.tool_success:.1%} of the tool calls succeed",
            threshold=f"< {FRICTION_TOOL_SUCCESS:.0%}",
            advice=FIX_GAPS,
            cases=_cases_with_failed_calls(results),
        )
    yield from (_weak_category(results, name, rate) for name, rate in n.categories.items() if rate < FRICTION_CATEGORY)
    if n.turns is not None and n.turns > FRICTION_TURNS:
        yield Finding(
            id="many_turns",
            level="warning",
            message="Many turns a task: models retry after errors",
            evidence=f"{n.turns:.1f} turns a task",
            threshold=f"> {FRICTION_TURNS:g}",
            advice="Read the longest traces: what do they try again, and what would have told them better?",
        )
    if n.tokens is not None and n.passed is not None and n.tokens > TOKENS_HIGH and n.passed < PASS_LOW:
        yield Finding(
            id="tokens_without_success",
            level="warning",
            message="Many tokens and few passes: stuck in retry loops",
            evidence=f"{n.tokens:,.0f} tokens a task, {n.passed:.1%} passed",
            threshold=f"> {TOKENS_HIGH:,.0f} and < {PASS_LOW:.0%}",
            advice="Read the longest traces of failed cases.",
        )
    if n.natural is not None and 1 - n.natural > TURN_LIMIT_OFTEN:
        yield Finding(
            id="turn_limit_often",
            level="warning",
            message="Many trials end at the turn limit or cut off: the model didn't converge",
            evidence=f"{1 - n.natural:.1%} didn't stop by themselves",
            threshold=f"> {TURN_LIMIT_OFTEN:.0%}",
            advice="Read their last turns; a higher `max_turns` helps only who is nearly there.",
            cases=_cases_without_stop(results),
        )


def _weak_category(results: Sequence[Result], name: str, rate: float) -> Finding:
    return Finding(
        id="weak_category",
        level="warning",
        message=f"Category {name} is weak: builtins or syntax may be missing for it",
        evidence=f"{rate:.1%} of its score",
        threshold=f"< {FRICTION_CATEGORY:.0%}",
        advice=ADD_GUIDANCE,
        cases=sorted({r.id for r in results if r.category == name and r.valid and r.score < r.max_score}),
    )


def _cases_with_failed_calls(results: Sequence[Result]) -> list[str]:
    return sorted({r.id for r in results if (d := _details(r)) and d.tool_calls_ok < d.tool_calls})


def _cases_without_stop(results: Sequence[Result]) -> list[str]:
    return sorted({r.id for r in results if r.valid and (d := _details(r)) and not d.natural_stop})


def _details(result: Result) -> BashDetails | None:
    return result.details if isinstance(result.details, BashDetails) else None
