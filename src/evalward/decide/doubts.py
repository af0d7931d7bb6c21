"""Which doubts are settled by measuring the base beside the head, and with which trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalward.decide.compare import Measure, compare
from evalward.decide.confirm import Retry
from evalward.decide.rules import judged
from evalward.records.baseline import Baseline
from evalward.records.comparison import CaseChange
from evalward.records.policy import Policy, Rule
from evalward.records.report import Report


def to_settle(
    report: Report,
    baseline: Baseline | None,
    policy: Policy,
    defaults: Mapping[str, Sequence[Rule]],  # noqa: ARG001 - what is in doubt is what failed and failed again
    measures: Mapping[str, Measure],
) -> list[Retry]:
    """What to measure of both sides, after the confirm stage: trials per case and side, each `Retry` being `beside`."""
    confirm = policy.confirm
    if confirm is None or confirm.base == "off" or report.interrupted:
        return []
    settled = {(run.suite, run.target) for run in report.runs if run.beside is not None}
    found = []
    for run in compare(report, baseline, measures).runs:
        doubtful = [case.id for case in run.cases if _doubtful(case)]
        if judged(run) and run.random and doubtful and (run.suite, run.target) not in settled:
            found.append(Retry(run.suite, run.target, dict.fromkeys(doubtful, confirm.base_trials), beside=True))
    return found


def _doubtful(case: CaseChange) -> bool:
    """A comparable case that failed in its planned trials, and in a fresh one again, where it has any."""
    comparable = case.before is not None and case.change in {"broken", "fixed", "worse", "better", "same"}
    tallies = [tally for tally in (case.now, case.fresh) if tally is not None]
    return comparable and case.now is not None and all(tally.passed < tally.trials for tally in tallies)
