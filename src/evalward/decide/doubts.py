"""Which doubts are settled by measuring the base beside the head, and with which trials.

The cases are chosen by what the head's planned and fresh trials showed, and by nothing else. So what is measured then,
of both sides in one session, is a fair sample: had the pull request changed nothing, its trials and the base's could be
swapped (see `evidence`). That holds also where the provider has changed since the baseline, or has a bad day.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalward.decide.compare import Measure, compare
from evalward.decide.confirm import Retry, evenly
from evalward.decide.drops import Applied, Drop, answerable, decide_drops
from evalward.decide.rules import judged, rules_of_run
from evalward.decide.samples import Samples, gather
from evalward.records.baseline import Baseline
from evalward.records.comparison import CaseChange, RunComparison
from evalward.records.policy import Confirm, Policy, Rule
from evalward.records.report import Report


def to_settle(
    report: Report,
    baseline: Baseline | None,
    policy: Policy,
    defaults: Mapping[str, Sequence[Rule]],
    measures: Mapping[str, Measure],
) -> list[Retry]:
    """What to measure of both sides, after the confirm stage: trials per case and side, each `Retry` being `beside`.

    Asked where a drop that the failed cases can answer would fail the check or stay in doubt. Nothing where the policy
    doesn't want it, chance plays no part, or it was done already.
    """
    confirm = policy.confirm
    if confirm is None or confirm.base == "off" or report.interrupted:
        return []
    comparison, samples = compare(report, baseline, measures), gather(report, baseline, measures)
    settled = {(run.suite, run.target) for run in report.runs if run.beside is not None}
    applied = [each for run in comparison.runs if judged(run) for each, _ in rules_of_run(run, policy.rules, defaults)]
    drops = decide_drops(applied, samples, confirm)
    asking = {id(each.run) for each, drop in zip(applied, drops, strict=True) if _asks(each, drop, samples)}
    runs = [run for run in comparison.runs if id(run) in asking and (run.suite, run.target) not in settled]
    return [retry for run in runs if (retry := _retry(run, confirm)) is not None]


def _asks(applied: Applied, drop: Drop, samples: Samples) -> bool:
    """True for a drop of a random target that isn't plainly none, and that failed cases tell all about."""
    return applied.run.random and drop.status != "ok" and answerable(applied, samples)


def _retry(run: RunComparison, confirm: Confirm) -> Retry | None:
    doubtful = [case.id for case in run.cases if _doubtful(case)]
    if not doubtful:
        return None
    return Retry(
        run.suite, run.target, evenly(doubtful, confirm.base_trials, _most(run, doubtful, confirm)), beside=True
    )


def _most(run: RunComparison, cases: Sequence[str], confirm: Confirm) -> int:
    """The trials that one side may have: as many as the confirm stage, but two of each case at least."""
    return max(2 * len(cases), int(confirm.at_most * run.planned))


def _doubtful(case: CaseChange) -> bool:
    """A comparable case that failed in its planned trials, and in a fresh one again, where it has any."""
    comparable = case.before is not None and case.change in {"broken", "fixed", "worse", "better", "same"}
    tallies = [tally for tally in (case.now, case.fresh) if tally is not None]
    return comparable and case.now is not None and all(tally.passed < tally.trials for tally in tallies)
