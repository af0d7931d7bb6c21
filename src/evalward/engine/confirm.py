"""The confirm stage: the plan of its fresh trials, and where their results go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import structs

from evalward.engine.keeping import RunRetrials
from evalward.engine.plan import Plan, PlannedRun
from evalward.engine.scheduler import Executed
from evalward.records.report import Report, Run


def confirm_plan(plan: Plan, retrials: Sequence[RunRetrials]) -> Plan:
    """The fresh trials, numbered on from the planned ones."""
    asked = {(each.suite, each.target): each.trials for each in retrials}
    runs = [
        _again(run, trials)
        for run in plan.runs
        if (trials := asked.get((run.suite.spec.name, run.target.id))) is not None
    ]
    return structs.replace(plan, runs=runs)


def _again(run: PlannedRun, trials: Mapping[str, int]) -> PlannedRun:
    first = run.trials + 1
    numbers = {case: range(first, first + count) for case, count in trials.items()}
    return structs.replace(run, cases=[case for case in run.cases if case.id in trials], numbers=numbers)


def with_confirmation(report: Report, retrials: Sequence[RunRetrials], done: Executed) -> Report:
    """The report with the fresh trials beside the planned ones.

    A stage that ended early (a spent budget) ends no report: what was planned has been measured. One that somebody
    stopped does: a cancelled check is no green one.
    """
    fresh = {(run.suite, run.target): run for run in done.runs}
    asked = {(each.suite, each.target) for each in retrials}
    runs = [
        _joined(run, fresh[run.suite, run.target], done.interrupted) if (run.suite, run.target) in asked else run
        for run in report.runs
    ]
    warnings = list(dict.fromkeys([*report.warnings, *done.warnings]))
    return report.ended(done.stopped, "signal").model_copy(update={"runs": runs, "warnings": warnings})


def _joined(run: Run, fresh: Run, interrupted: str | None) -> Run:
    note = f"it ended early: {interrupted}" if interrupted else None
    return run.model_copy(update={"confirmation": fresh.cases, "confirm_note": note})
