"""Cases that a metric lost: a scorer that no longer scores them would otherwise leave only those that it likes."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.decide.kinds import ComparedKind, PerTrial
from evalward.decide.rules import judged
from evalward.decide.sides import RunSides
from evalward.records.codes.advice import Advice
from evalward.records.codes.base import FIRST
from evalward.records.codes.reasons import LostMetric
from evalward.records.comparison import Comparison, MetricChange, RunComparison
from evalward.records.metric import EPSILON
from evalward.records.policy import Policy
from evalward.records.result import Result
from evalward.records.verdict import Outcome, Reason, RuleOutcome


def with_lost(changes: Sequence[MetricChange], sides: RunSides, kind: ComparedKind) -> list[MetricChange]:
    """The changes of metrics, those that lost cases with the ids of these."""
    return [_with_lost(change, sides, kind) for change in changes]


def _with_lost(change: MetricChange, sides: RunSides, kind: ComparedKind) -> MetricChange:
    made_of = kind.per_trial(change.id)
    if made_of is None or not made_of.lasting or change.before is None:
        return change
    had = {case: share for case in sides.comparable if (share := _share(made_of, sides.known[case]))}
    lost = [case for case, share in had.items() if 2 * _share(made_of, sides.now[case]) < share - EPSILON]
    return change.model_copy(update={"lost": lost, "had": len(had)}) if lost else change


def _share(made_of: PerTrial, trials: Sequence[Result]) -> float:
    """The share of the valid trials that have a part in the metric: a case has lost it with more than half of that."""
    portions = [made_of.portion(trial) for trial in trials if trial.valid]
    return sum(portion is None or portion.of != 0 for portion in portions) / max(len(portions), 1)


def lost_reasons(rules: Sequence[RuleOutcome], comparison: Comparison, policy: Policy) -> list[Reason]:
    """A reason for each protected metric that lost known cases: no pass, and beyond `min_valid` no judgement at all."""
    runs = {(run.suite, run.target): run for run in comparison.runs if judged(run)}
    protected = dict.fromkeys((rule.suite, rule.target, rule.rule.metric) for rule in rules)
    found = [
        _reason(run, change, policy)
        for suite, target, metric in protected
        if (run := runs.get((suite, target))) is not None
        for change in run.metrics
        if change.id == metric and change.lost
    ]
    return [reason for reason in found if reason is not None]


def _reason(run: RunComparison, change: MetricChange, policy: Policy) -> Reason | None:
    category = {case.id: case.category for case in run.cases}
    lost = [case for case in change.lost if not policy.waiver(case, category[case])]
    if not lost:
        return None
    enough = 1 - len(lost) / change.had >= policy.limits.min_valid - EPSILON
    return Reason(
        stage="validity",
        outcome=Outcome.INCONCLUSIVE if enough else Outcome.ERROR,
        statements=[
            LostMetric(
                suite=run.suite,
                target=run.target,
                count=len(lost),
                first=tuple(lost[:FIRST]),
                metric=change.id,
                known=change.had,
            )
        ],
        advice=[Advice(code="advice.look_at_scores")],
        suite=run.suite,
        target=run.target,
        metric=change.id,
        cases=lost,
    )
