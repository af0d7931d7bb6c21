"""One rule applied to one run: the numbers it looked at and what it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from evalward.records.comparison import Comparison, MetricChange, RunComparison
from evalward.records.metric import EPSILON, Metric, Unit
from evalward.records.policy import Rule
from evalward.records.verdict import RuleOutcome, RuleStatus, Stage

Shown = Callable[[float, Unit, int], str]
Said = tuple[RuleStatus, Stage, str]
SILENT: Said = ("ok", "limit", "")
_ORDER: tuple[RuleStatus, ...] = ("fail", "inconclusive", "not_available", "warn", "ok")


def apply_rules(
    comparison: Comparison, rules: Sequence[Rule], defaults: Mapping[str, Sequence[Rule]]
) -> list[RuleOutcome]:
    """Every rule on every run that has its metric; a kind's default rule where the policy names no rule for it."""
    return [outcome for run in comparison.runs if judged(run) for outcome in _rules_of_run(run, rules, defaults)]


def judged(run: RunComparison) -> bool:
    """True for a run that was measured: the others have reasons of their own."""
    return not run.missing and run.not_measured is None


def _rules_of_run(
    run: RunComparison, rules: Sequence[Rule], defaults: Mapping[str, Sequence[Rule]]
) -> list[RuleOutcome]:
    metrics = {change.id: change for change in run.metrics}
    own = [rule for rule in rules if rule.metric in metrics and rule.holds_for(run.suite, run.target)]
    named = {rule.metric for rule in own}
    default = [rule for rule in defaults.get(run.kind, ()) if rule.metric in metrics and rule.metric not in named]
    return [_apply(rule, metrics[rule.metric], run, default=False) for rule in own] + [
        _apply(rule, metrics[rule.metric], run, default=True) for rule in default
    ]


def _apply(rule: Rule, change: MetricChange, run: RunComparison, *, default: bool) -> RuleOutcome:
    said = [_limit(rule, change.whole), _drop(rule, change), _goal(rule, change.whole)]
    status, stage, _ = min(said, key=lambda item: _ORDER.index(item[0]))
    message = "; ".join(text for state, _, text in said if state == status and text)
    return RuleOutcome(
        rule=rule,
        default=default,
        suite=run.suite,
        target=run.target,
        value=change.whole,
        before=change.before,
        now=change.now,
        delta=change.delta,
        status=status,
        stage=stage,
        message=message,
    )


def _limit(rule: Rule, whole: Metric | None) -> Said:
    """Floor and ceiling, on the value over all cases, literally. A value that isn't available satisfies neither."""
    if rule.floor is None and rule.ceiling is None:
        return SILENT
    if whole is None or whole.value is None:
        why = whole.reason if whole else "the run doesn't have it"
        return "fail", "limit", f"{rule.metric} is not available ({why}), so it can't keep to its {_limit_name(rule)}"
    if rule.floor is not None and whole.value < rule.floor - EPSILON:
        value, floor = shown_apart(whole.value, rule.floor, whole.unit)
        return "fail", "limit", f"{rule.metric} is {value}{counts(whole)}, below its floor of {floor}"
    if rule.ceiling is not None and whole.value > rule.ceiling + EPSILON:
        value, ceiling = shown_apart(whole.value, rule.ceiling, whole.unit)
        return "fail", "limit", f"{rule.metric} is {value}{counts(whole)}, above its ceiling of {ceiling}"
    return SILENT


def _limit_name(rule: Rule) -> str:
    return "floor" if rule.floor is not None else "ceiling"


def _goal(rule: Rule, whole: Metric | None) -> Said:
    if rule.goal is None:
        return SILENT
    if whole is None or whole.value is None:
        why = whole.reason if whole else "the run doesn't have it"
        return "not_available", "limit", f"{rule.metric} is not available ({why})"
    short = rule.goal - whole.value if whole.better != "lower" else whole.value - rule.goal
    if short <= EPSILON:
        return SILENT
    value, goal = shown_apart(whole.value, rule.goal, whole.unit)
    return "warn", "limit", f"{rule.metric} is {value}, short of its goal of {goal}"


def _drop(rule: Rule, change: MetricChange) -> Said:
    """The bare difference, over the comparable cases, against the allowed one."""
    if (rule.max_drop is None and rule.max_rise is None) or change.before is None or change.before.value is None:
        return SILENT
    was = shown(change.before.value, change.before.unit)
    if change.now is None or change.now.value is None or change.delta is None:
        why = change.now.reason if change.now else "the run doesn't have it"
        return "fail", "drop", f"{rule.metric} was {was} and is not available now ({why})"
    unit, now = change.now.unit, shown(change.now.value, change.now.unit)
    if rule.max_drop is not None and -change.delta > rule.max_drop + EPSILON:
        fell, allowed = shown_apart(-change.delta, rule.max_drop, unit, shown_delta)
        return "fail", "drop", f"{rule.metric} fell {fell} ({was} → {now}), more than the {allowed} allowed"
    if rule.max_rise is not None and change.delta > rule.max_rise + EPSILON:
        rose, allowed = shown_apart(change.delta, rule.max_rise, unit, shown_delta)
        return "fail", "drop", f"{rule.metric} rose {rose} ({was} → {now}), more than the {allowed} allowed"
    return SILENT


def shown(value: float, unit: Unit, places: int = 2) -> str:
    """A value in a sentence; ratios in per cent."""
    if unit == "ratio":
        return f"{_trimmed(value * 100, places)} %"
    if unit == "usd":
        return f"${value:.{places + 2}f}"
    return f"{value:,.{places - 2}f} ms" if unit == "ms" else _trimmed(value, places)


def shown_delta(delta: float, unit: Unit, places: int = 2) -> str:
    """A difference in a sentence: points for ratios."""
    return f"{_trimmed(delta * 100, places)} points" if unit == "ratio" else shown(delta, unit, places)


def shown_apart(value: float, limit: float, unit: Unit, form: Shown = shown) -> tuple[str, str]:
    """Both in a sentence, with as many decimals as it takes to see which one is larger."""
    texts = [(form(value, unit, places), form(limit, unit, places)) for places in range(2, 10)]
    return next((pair for pair in texts if pair[0] != pair[1]), texts[0])


def _trimmed(value: float, places: int) -> str:
    return f"{value:,.{places}f}".rstrip("0").rstrip(".")


def counts(metric: Metric) -> str:
    """` (33 of 37)` for a ratio of whole numbers."""
    if metric.unit != "ratio" or metric.numerator is None or metric.denominator is None:
        return ""
    return f" ({metric.numerator:g} of {metric.denominator:g})"
