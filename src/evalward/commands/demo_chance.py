"""What the gate decides when a model fails by chance: outcomes that nobody measured, judged as measured ones are.

The demo asks no model, and what it runs gives the same results each time. This is the other half of a verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from evalward.commands.pipeline import Criteria, kinds_of, remeasured
from evalward.decide.baseline import update_baseline
from evalward.decide.pooling import NamedReport
from evalward.records.policy import Policy
from evalward.records.report import Report, Run
from evalward.records.result import Result, Status
from evalward.records.verdict import Judgement
from evalward.render.demo import FRESH, KNOWN

_NAME = "the demo"


def supposed(report: Report, run: Run, unsteady: Collection[str], policy: Policy, *, again: Status) -> Judgement:
    """The verdict if a model had passed all cases of a run `KNOWN` times in the baseline, and then failed the
    `unsteady` ones in the one trial that each has, and in each of `FRESH` fresh trials had ended as `again` says.
    """
    before = _of(report, run, [_ended(each, Status.PASSED, trial) for each in run.cases for trial in _upto(KNOWN)])
    now = [_ended(each, Status.FAILED if each.id in unsteady else Status.PASSED, 1) for each in run.cases]
    tried = [each for each in run.cases if each.id in unsteady]
    fresh = [_ended(each, again, 1 + trial) for each in tried for trial in _upto(FRESH)]
    baseline = update_baseline([NamedReport(before, _NAME)], None, kinds_of(before)).baseline
    return Criteria(baseline, policy).decide(_of(report, run, now, fresh))


def _upto(count: int) -> range:
    return range(1, count + 1)


def _ended(result: Result, status: Status, trial: int) -> Result:
    score = result.max_score if status is Status.PASSED else 0.0
    return result.model_copy(update={"status": status, "score": score, "trial": trial})


def _of(report: Report, run: Run, planned: Sequence[Result], fresh: Sequence[Result] = ()) -> Report:
    """A report of a random target with these results."""
    trials = max(result.trial for result in planned)
    made = run.model_copy(
        update={
            "random": True,
            "trials": trials,
            "planned": len(planned),
            "cases": list(planned),
            "confirmation": list(fresh),
        }
    )
    return remeasured(report.model_copy(update={"runs": [made]}), _NAME)
