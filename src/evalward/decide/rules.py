"""One rule applied to one run: the numbers it looked at and what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalward.decide.contrasts import Beaten, beaten
from evalward.decide.drops import Applied, Drop, decide_drops
from evalward.decide.parts import SILENT, RuleFinding, limits_of_part
from evalward.decide.samples import Samples
from evalward.decide.statistics.intervals import wilson
from evalward.records.codes.rules import GoalMissed, GoalUnavailable, Limit, LimitBroken, LimitUnavailable
from evalward.records.comparison import Comparison, RunComparison
from evalward.records.evidence import Interval
from evalward.records.metric import EPSILON, Metric
from evalward.records.policy import Confirm, Rule
from evalward.records.verdict import RuleOutcome, RuleStatus

_ORDER: tuple[RuleStatus, ...] = ("fail", "inconclusive", "not_available", "warn", "not_judged", "ok")


def apply_rules(
    comparison: Comparison,
    rules: Sequence[Rule],
    defaults: Mapping[str, Sequence[Rule]],
    samples: Samples,
    confirm: Confirm | None,
) -> list[RuleOutcome]:
    """Every rule on every run that has its metric; a kind's default rule where the policy names no rule for it."""
    found = [
        (applied, default)
        for run in comparison.runs
        if judged(run)
        for applied, default in rules_of_run(run, rules, defaults)
    ]
    every = [applied for applied, _ in found]
    drops, arms = decide_drops(every, samples, confirm), beaten(every)
    return [
        _apply(applied, drop, arm, default=default)
        for (applied, default), drop, arm in zip(found, drops, arms, strict=True)
    ]


def judged(run: RunComparison) -> bool:
    """True for a run that was measured: the others have reasons of their own."""
    return not run.missing and run.not_measured is None


def holds_for(rule: Rule, run: RunComparison) -> bool:
    """True for the rules of a run, and for those of the run that it replaced: what was protected stays so."""
    old = run.replaced
    return rule.holds_for(run.suite, run.target) or (old is not None and rule.holds_for(old.suite, old.target))


def rules_of_run(
    run: RunComparison, rules: Sequence[Rule], defaults: Mapping[str, Sequence[Rule]]
) -> list[tuple[Applied, bool]]:
    """The rules that hold for a run, each with whether it is a default of the kind."""
    metrics = {change.id: change for change in run.metrics}
    own = [rule for rule in rules if rule.metric in metrics and holds_for(rule, run)]
    named = {rule.metric for rule in own}
    default = [rule for rule in defaults.get(run.kind, ()) if rule.metric in metrics and rule.metric not in named]
    return [(Applied(rule, run, metrics[rule.metric]), False) for rule in own] + [
        (Applied(rule, run, metrics[rule.metric]), True) for rule in default
    ]


def _apply(applied: Applied, drop: Drop, arm: Beaten, *, default: bool) -> RuleOutcome:
    rule, change = applied.rule, applied.change
    interval = interval_of(change.whole, applied.run.planned)
    dropped: RuleFinding = (drop.status, "drop", drop.found) if drop.found else SILENT
    limit, goal = _limit(rule, change.whole, interval), _goal(rule, change.whole)
    if applied.run.whole is not None:
        limit, goal = limits_of_part(applied.run, rule, change.whole, (limit, goal))
    findings = [limit, dropped, arm.finding, goal]
    status, stage, _ = min(findings, key=lambda item: _ORDER.index(item[0]))
    return RuleOutcome(
        rule=rule,
        default=default,
        suite=applied.run.suite,
        target=applied.run.target,
        value=change.whole,
        before=change.before,
        now=change.now,
        delta=change.delta,
        status=status,
        stage=stage,
        statements=[found for state, _, found in findings if state == status and found],
        explained=[each for each in (drop.explained, arm.explained) if each],
        interval=interval,
        evidence=drop.evidence,
    )


def interval_of(whole: Metric | None, trials: int) -> Interval | None:
    """The Wilson interval of a share of trials, `None` for everything else: more things than trials are no trials."""
    if whole is None or whole.value is None or whole.unit != "ratio":
        return None
    numerator, denominator = whole.numerator, whole.denominator
    if (
        numerator is None
        or denominator is None
        or not (numerator.is_integer() and 0 <= numerator <= denominator <= trials)
    ):
        return None
    found = wilson(numerator, denominator)
    return Interval(low=found.low, high=found.high) if found else None


def _limit(rule: Rule, whole: Metric | None, interval: Interval | None) -> RuleFinding:
    """Floor and ceiling, on the value over all cases. A value that isn't available satisfies neither.

    They are literal, unless the rule's `floor_test` lets the far end of the interval decide.
    """
    if rule.floor is None and rule.ceiling is None:
        return SILENT
    if whole is None or whole.value is None:
        name: Limit = "floor" if rule.floor is not None else "ceiling"
        missing = LimitUnavailable(metric=rule.metric, limit=name, why=whole.reason if whole else None)
        return "fail", "limit", missing
    lenient = interval if rule.floor_test == "upper" else None
    highest, lowest = (lenient.high, lenient.low) if lenient else (whole.value, whole.value)
    if rule.floor is not None and highest < rule.floor - EPSILON:
        return "fail", "limit", _broken(rule, whole, whole.value, "floor", rule.floor)
    if rule.ceiling is not None and lowest > rule.ceiling + EPSILON:
        return "fail", "limit", _broken(rule, whole, whole.value, "ceiling", rule.ceiling)
    return SILENT


def _broken(rule: Rule, whole: Metric, value: float, limit: Limit, allowed: float) -> LimitBroken:
    return LimitBroken(
        metric=rule.metric,
        limit=limit,
        unit=whole.unit,
        value=value,
        allowed=allowed,
        numerator=whole.numerator,
        denominator=whole.denominator,
    )


def _goal(rule: Rule, whole: Metric | None) -> RuleFinding:
    if rule.goal is None:
        return SILENT
    if whole is None or whole.value is None:
        return "not_available", "limit", GoalUnavailable(metric=rule.metric, why=whole.reason if whole else None)
    short = rule.goal - whole.value if whole.better != "lower" else whole.value - rule.goal
    if short <= EPSILON:
        return SILENT
    return "warn", "limit", GoalMissed(metric=rule.metric, unit=whole.unit, value=whole.value, goal=rule.goal)
