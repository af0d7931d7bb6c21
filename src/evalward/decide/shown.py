"""Which trials show that a metric got worse, counted."""

from __future__ import annotations

from evalward.decide.samples import CasePair, Observed, Sample
from evalward.records.codes.rules import BothSides, CasesFailed
from evalward.records.evidence import Evidence, SideBySide


def what_failed(sample: Sample, evidence: Evidence, retried: frozenset[str]) -> CasesFailed | None:
    """The cases that mostly passed before and mostly fail now; `None` where there is nothing to count.

    `retried` are those with fresh trials, which count alone where they confirm.
    """
    if not sample.counted:
        return None
    lost = [
        (pair.before, now)
        for pair in sample.pairs
        if (now := _seen(pair, evidence, retried)) and _lost(sample, pair, now)
    ]
    if not lost:
        return None
    return CasesFailed(
        cases=len(lost),
        total=len(sample.pairs),
        passed=sum(sample.good(before)[0] for before, _ in lost),
        before=sum(before.trials for before, _ in lost),
        failed=sum(now.trials - sample.good(now)[0] for _, now in lost),
        trials=sum(now.trials for _, now in lost),
        fresh=evidence.confirmed,
    )


def side_by_side(found: SideBySide | None, cases: int) -> BothSides | None:
    """What head and base gave of the cases that were measured on both sides; `cases` are all of the run."""
    if found is None or not found.cases:
        return None
    return BothSides(
        cases=len(found.cases),
        total=cases,
        head_passed=found.head_passed,
        head_trials=found.head_trials,
        base_passed=found.base_passed,
        base_trials=found.base_trials,
    )


def _seen(pair: CasePair, evidence: Evidence, retried: frozenset[str]) -> Observed | None:
    if not evidence.confirmed:
        return pair.now
    return pair.fresh if pair.id in retried else None


def _lost(sample: Sample, pair: CasePair, now: Observed) -> bool:
    good, is_good = sample.good(pair.before)[0], sample.good(now)[0]
    return 2 * good > pair.before.trials and 2 * is_good <= now.trials
