"""The tables of a run: its metrics with their thresholds, and its categories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalward.records.codes.arms import AgainstArm
from evalward.records.comparison import CategoryChange, MetricChange, RunComparison
from evalward.records.evidence import Evidence, Interval
from evalward.records.metric import EPSILON, CategorySummary, Metric, Unit
from evalward.records.policy import Rule
from evalward.records.verdict import RuleOutcome, RuleStatus
from evalward.render.numbers import (
    format_count,
    format_delta,
    format_number,
    format_rule,
    format_value,
    rule_limits,
    rule_moves,
)
from evalward.render.sentences import explanation, message
from evalward.render.view import (
    INFO,
    NOT_COMPARED,
    SEVERITY,
    STATUSES,
    WITHIN_NOISE,
    Badge,
    CategoryRow,
    MetricRow,
    SureRow,
)

# What people look for first among the metrics that no rule names.
FIRST_METRICS = (
    "csr",
    "safety_accuracy",
    "posix_compliance_rate",
    "unsafe_answer_rate",
    "outcome_pass_rate",
    "gate_pass_rate",
    "completion_rate",
    "tool_success_rate",
    "total_passed",
    "pass_rate",
    "mean_score",
    "overall_rate",
    "tool_call_success_rate",
    "total_tool_calls",
    "total_turns",
    "total_input_tokens",
    "total_output_tokens",
    "total_duration_ms",
    "cost_usd",
)
_KEY_ROWS = 4  # what stands in the open when no rule names anything


def metric_rows(
    run: RunComparison, rules: Sequence[RuleOutcome], *, counts: bool = True
) -> tuple[list[MetricRow], list[MetricRow]]:
    """The rows that rules speak about, in the policy's order, and the rows that only inform.

    Without any rule a few key metrics take the place of the first. `counts` adds n of N to ratios.
    """
    changes = {change.id: change for change in run.metrics}
    by_metric: dict[str, list[RuleOutcome]] = {}
    for outcome in rules:
        by_metric.setdefault(outcome.rule.metric, []).append(outcome)
    gated = [_row(metric, changes.get(metric), outcomes, counts) for metric, outcomes in by_metric.items()]
    others = [changes[metric] for metric in metric_order(changes) if metric not in by_metric]
    info = [_row(change.id, change, [], counts) for change in others if _has_value(change)]
    return (gated, info) if gated else (info[:_KEY_ROWS], info[_KEY_ROWS:])


def sure_rows(rules: Sequence[RuleOutcome]) -> list[SureRow]:
    """How sure each decided metric is, one row each. Metrics that chance has no part in have none."""
    rows: dict[str, SureRow] = {}
    for outcome in rules:
        if outcome.evidence is not None:
            rows.setdefault(outcome.rule.metric, _sure(outcome, outcome.evidence))
    return list(rows.values())


def _sure(outcome: RuleOutcome, evidence: Evidence) -> SureRow:
    value, unit = outcome.value, outcome.value.unit if outcome.value else "ratio"
    found = evidence.interval
    worse = "−" if outcome.rule.max_drop is not None else "+"
    detectable = "–" if evidence.detectable is None else f"{worse}{format_delta(evidence.detectable, unit)[1:]}"
    return SureRow(
        metric=outcome.rule.metric,
        value=format_value(value),
        interval=_interval(outcome.interval, unit),
        delta=format_delta(outcome.delta, unit) + (f" ({_deltas(found, unit)})" if found else ""),
        detectable=detectable + (" (assumed noise)" if evidence.assumed and evidence.detectable is not None else ""),
        decision=explanation(outcome) or message(outcome),
    )


def _interval(interval: Interval | None, unit: Unit) -> str:
    if interval is None:
        return "–"
    return f"{format_number(interval.low, unit)} to {format_number(interval.high, unit)}"


def _deltas(interval: Interval, unit: Unit) -> str:
    return f"{format_delta(interval.low, unit)} to {format_delta(interval.high, unit)}"


def metric_order(ids: Iterable[str]) -> list[str]:
    """Metric ids, those that people look for first in front, the others as they come."""
    known = list(ids)
    return [metric for metric in FIRST_METRICS if metric in known] + [
        metric for metric in known if metric not in FIRST_METRICS
    ]


def category_rows(categories: Sequence[CategoryChange]) -> list[CategoryRow]:
    """The categories, those that fell first, then by name."""
    scored = are_scored(side for change in categories for side in (change.before, change.now))
    rows = [_category(change, scored) for change in categories]
    return sorted(rows, key=lambda row: (not row.fell, row.name))


def are_scored(categories: Iterable[CategorySummary | None]) -> bool:
    """True where the rate of a category is a weighted score, and no share of passed tasks."""
    return any(
        one is not None and one.rate is not None and one.tasks > 0 and abs(one.rate - one.passed / one.tasks) > EPSILON
        for one in categories
    )


def format_category(
    summary: CategorySummary | None,
    other: CategorySummary | None = None,
    *,
    counts: bool = True,
    scored: bool = False,
) -> str:
    """A category's rate and, with `counts`, how many of its tasks passed: `87.5 % (7 of 8 passed)`.

    Where categories are `scored`, the rate is called a score: `score 92.5 %, 7 of 8 passed`.
    """
    if summary is None:
        return "–"
    if not summary.tasks:
        return "no cases"
    others = [] if other is None or other.rate is None else [other.rate]
    rate = "n/a" if summary.rate is None else format_number(summary.rate, "ratio", others)
    if not counts:
        return rate
    passed = f"{format_count(summary.passed)} of {format_count(summary.tasks)} passed"
    return f"score {rate}, {passed}" if scored else f"{rate} ({passed})"


def _has_value(change: MetricChange) -> bool:
    """False for a metric that is not available anywhere."""
    sides = (change.before, change.now, change.whole)
    return any(side is not None and side.value is not None for side in sides)


def _row(metric: str, change: MetricChange | None, outcomes: Sequence[RuleOutcome], counts: bool) -> MetricRow:
    rules = [outcome.rule for outcome in outcomes]
    before, now, whole, delta = _numbers(change, outcomes)
    unit: Unit = next((side.unit for side in (now, whole, before) if side is not None), "ratio")
    limits = rule_limits(rules)
    worst = max((outcome.status for outcome in outcomes), key=SEVERITY.__getitem__, default=None)
    thresholds = [_threshold(o, unit, now) + (" (default)" if o.default else "") for o in outcomes]
    return MetricRow(
        metric=metric,
        before=format_value(before, [*limits, *_values(now)], counts=counts),
        now=_now(now, whole, before, limits, counts),
        delta=format_delta(delta, unit, rule_moves(rules)),
        threshold="; ".join(dict.fromkeys(thresholds)) or "–",
        badge=_badge(
            worst,
            compared=bool(limits) or _compares_arms(rules) or (before is not None and before.value is not None),
            noise=any(map(_within_noise, outcomes)),
        ),
    )


def _threshold(outcome: RuleOutcome, unit: Unit, now: Metric | None) -> str:
    """What a rule asks for, and what it found in another arm where that isn't the row's number.

    The arms are tested in all cases, and the row is of those that the baseline has and that were measured.
    """
    text = format_rule(outcome.rule, unit)
    said = next((each for each in (*outcome.explained, *outcome.statements) if isinstance(each, AgainstArm)), None)
    if said is None or now is None or now.value is None or abs(said.value - now.value) <= EPSILON:
        return text
    return f"{text} ({format_delta(said.value, unit)} over all cases)"


def _compares_arms(rules: Iterable[Rule]) -> bool:
    return any(rule.must_beat for rule in rules)


def _within_noise(outcome: RuleOutcome) -> bool:
    """True where the move is larger than is allowed, and holds all the same: chance explains it."""
    rule, delta = outcome.rule, outcome.delta
    if outcome.status != "ok" or outcome.evidence is None or delta is None:
        return False
    dropped = rule.max_drop is not None and -delta > rule.max_drop + EPSILON
    return dropped or (rule.max_rise is not None and delta > rule.max_rise + EPSILON)


def _badge(worst: RuleStatus | None, *, compared: bool, noise: bool) -> Badge:
    """A rule that only compares is neither kept nor broken where there is nothing to compare with."""
    if worst is None:
        return INFO
    if worst == "ok" and noise:
        return WITHIN_NOISE
    return STATUSES[worst] if compared or worst != "ok" else NOT_COMPARED


def _numbers(
    change: MetricChange | None, outcomes: Sequence[RuleOutcome]
) -> tuple[Metric | None, Metric | None, Metric | None, float | None]:
    """Before, now (both over the comparable cases), the whole, and the difference."""
    if change is not None:
        return change.before, change.now, change.whole, change.delta
    if outcomes:
        first = outcomes[0]
        return first.before, first.now, first.value, first.delta
    return None, None, None, None


def _now(now: Metric | None, whole: Metric | None, before: Metric | None, limits: list[float], counts: bool) -> str:
    others = [*limits, *_values(before)]
    shown = now or whole
    text = format_value(shown, others, counts=counts)
    if before is None and whole is not None:
        return format_value(whole, others, counts=counts)
    if limits and _differ(now, whole):  # limits are judged on all cases
        return f"{text}; all cases: {format_value(whole, limits, counts=counts)}"
    return text


def _differ(one: Metric | None, other: Metric | None) -> bool:
    if one is None or other is None or one.value is None or other.value is None:
        return False
    return abs(one.value - other.value) > EPSILON


def _values(metric: Metric | None) -> list[float]:
    return [] if metric is None or metric.value is None else [metric.value]


def _category(change: CategoryChange, scored: bool) -> CategoryRow:
    before, now = change.before, change.now
    delta = None
    if before is not None and now is not None and before.rate is not None and now.rate is not None:
        delta = now.rate - before.rate
    return CategoryRow(
        name=change.name,
        before=format_category(before, now, scored=scored),
        now=format_category(now, before, scored=scored),
        delta=format_delta(delta, "ratio"),
        fell=delta is not None and delta < -EPSILON,
    )
