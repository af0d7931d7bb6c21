"""What a part of a suite's cases says about the limits of the whole."""

from __future__ import annotations

from typing import Literal

from evalward.records.codes.rules import LimitUnjudged, OfMetric
from evalward.records.comparison import RunComparison
from evalward.records.metric import EPSILON, Metric
from evalward.records.policy import Rule
from evalward.records.verdict import RuleStatus, Stage

RuleFinding = tuple[RuleStatus, Stage, OfMetric | None]
_LIMITS: tuple[Literal["floor", "ceiling", "goal"], ...] = ("floor", "ceiling", "goal")
SILENT: RuleFinding = ("ok", "limit", None)


def limits_of_part(
    run: RunComparison, rule: Rule, value: Metric | None, findings: tuple[RuleFinding, RuleFinding]
) -> tuple[RuleFinding, RuleFinding]:
    """What a rule's limits and its goal say of a run of which only some cases were run: `findings`, if that is certain.

    A share that may not be below 100 % or above 0 % is broken by any part of the cases. All other limits hold for the
    suite as a whole, and what the rest would give is unknown.
    """
    names = tuple(name for name in _LIMITS if getattr(rule, name) is not None)
    if not names or run.whole is None or _certain(rule, value):
        return findings
    unjudged = LimitUnjudged(metric=rule.metric, limits=names, chosen=run.total, cases=run.whole)
    return ("not_judged", "limit", unjudged), SILENT


def _certain(rule: Rule, value: Metric | None) -> bool:
    if value is None or value.value is None or value.unit != "ratio":
        return False
    below = rule.floor is not None and rule.floor >= 1 and value.value < rule.floor - EPSILON
    above = rule.ceiling is not None and rule.ceiling <= 0 and value.value > rule.ceiling + EPSILON
    return below or above
