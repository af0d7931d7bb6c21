"""What is different between two baselines."""

from __future__ import annotations

from evalward.decide.changes import subject_changes
from evalward.decide.pooling import run_key
from evalward.records.baseline import Baseline, BaselineCase, BaselineRun
from evalward.records.baseline_diff import BaselineDifference, CaseDifference, CaseDifferenceKind, RunDifference
from evalward.records.comparison import MetricChange, Tally
from evalward.records.metric import EPSILON, Metric

_CLOCK_METRICS = ("total_duration_ms", "avg_duration_ms")


def diff_baselines(before: Baseline | None, now: Baseline) -> BaselineDifference:
    """From the one to the other, run by run. Durations are told only where something else changed, too."""
    old = {run_key(run): run for run in before.runs} if before else {}
    new = {run_key(run): run for run in now.runs}
    known = before.provenance.accepted if before else []
    texts = set(before.texts) if before else set()
    return BaselineDifference(
        before=before.provenance if before else None,
        now=now.provenance,
        accepted=[one for one in now.provenance.accepted if one not in known],
        runs=[_run(old.get(key), new.get(key)) for key in sorted({*old, *new})],
        texts_added=len(now.texts.keys() - texts),
        texts_removed=len(texts - now.texts.keys()),
    )


def _run(old: BaselineRun | None, new: BaselineRun | None) -> RunDifference:
    shown = new or old
    assert shown is not None  # noqa: S101 - every key is of one side
    metrics = _metrics(old.metrics if old else {}, new.metrics if new else {})
    subject = subject_changes(old.subject, new.subject) if old and new else []
    cases = _cases(old, new) if old and new else []
    trials = (old.trial_counts if old else None, new.trial_counts if new else None)
    news = bool(subject or cases or trials[0] != trials[1]) or any(m.id not in _CLOCK_METRICS for m in metrics)
    return RunDifference(
        suite=shown.suite,
        kind=shown.kind,
        target=shown.target,
        change="added" if old is None else "removed" if new is None else "changed" if news else "same",
        cases_before=len(old.cases) if old else None,
        cases_now=len(new.cases) if new else None,
        trials_before=trials[0],
        trials_now=trials[1],
        subject=subject,
        metrics=metrics if news else [],
        cases=cases,
    )


def _metrics(before: dict[str, Metric], now: dict[str, Metric]) -> list[MetricChange]:
    names = [*now, *(name for name in before if name not in now)]
    changes = [_metric(name, before.get(name), now.get(name)) for name in names]
    return [
        change
        for change in changes
        if change.delta != 0 and (_value(change.before), _value(change.now)) != (None, None)
    ]


def _metric(name: str, before: Metric | None, now: Metric | None) -> MetricChange:
    was, is_now = _value(before), _value(now)
    delta = None if was is None or is_now is None else is_now - was
    better = (now or before or Metric(value=0)).better
    if delta is not None and abs(delta) <= EPSILON:
        delta = 0.0
    return MetricChange(id=name, before=before, now=now, whole=None, delta=delta, better=better)


def _value(metric: Metric | None) -> float | None:
    return metric.value if metric else None


def _cases(old: BaselineRun, new: BaselineRun) -> list[CaseDifference]:
    before, now = {case.id: case for case in old.cases}, {case.id: case for case in new.cases}
    found = (_case(before.get(case_id), now.get(case_id)) for case_id in sorted({*before, *now}))
    return [difference for difference in found if difference is not None]


def _case(old: BaselineCase | None, new: BaselineCase | None) -> CaseDifference | None:
    shown = new or old
    assert shown is not None  # noqa: S101 - every id is of one side
    before, now = (case.tally if case else None for case in (old, new))
    if old and new and old.definition == new.definition and _share(before) == _share(now):
        return None
    return CaseDifference(
        id=shown.id,
        category=shown.category,
        change=_change(old, new),
        before=before,
        now=now,
    )


def _change(old: BaselineCase | None, new: BaselineCase | None) -> CaseDifferenceKind:
    if old is None:
        return "added"
    if new is None:
        return "removed"
    return "redefined" if old.definition != new.definition else "changed"


def _share(counted: Tally | None) -> tuple[float, float] | None:
    if counted is None:
        return None
    return round(counted.passed / counted.trials, 9), round(counted.score or 0.0, 9)
