"""One trial of a skill case: a query with all skills installed, or a task with its skill and without.

A query is run once; what matters is which skills were loaded. A task is worked on twice within one trial, the order
alternating with the trial's number; its result is that of the arm `with`. Where that breaks the trial is an error;
where the arm `without` does, the skill's uplift in this trial is unknown.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evalward.records.result import UNREADABLE, CheckResult, Result, Status
from evalward.records.trace import Trace, Usage, add_usage
from evalward.suites.base import TrialBrokenError, TrialOutcome
from evalward.suites.skill.arm import ArmJob, ArmPlan, ArmRun, crashed, drop, ended_badly
from evalward.suites.skill.case import SkillCase
from evalward.suites.skill.context import SkillPrepared
from evalward.suites.skill.details import ArmOutcome, SkillDetails
from evalward.suites.skill.loads import loads_by_calls, triggers
from evalward.targets.agents.base import Agent
from evalward.targets.base import Target, TrialSkippedError

NOT_TRIGGERED, UNWANTED = "not_triggered", "unwanted_skill"
OUT_OF_TIME, ENDED = "out_of_time", "agent_ended"
SAYS_NOTHING = "same_without"
"""The reason of an arm that isn't run, because the target does the same in it."""
ALIKE = frozenset({"oracle", "nop"})
"""Targets that do the same whether or not a skill is installed."""


async def run_skill(suite: SkillPrepared, case: SkillCase, target: Target | Agent, trial: int) -> TrialOutcome:
    """Raises `TrialSkippedError`, and `TrialBrokenError` for whatever is no doing of the agent's."""
    if case.asks == "trigger":
        return await _query(suite, case, target, trial)
    return await _task(suite, case, target, trial)


# ------------------------------------------------------------------------------------------- queries


async def _query(suite: SkillPrepared, case: SkillCase, target: Target | Agent, trial: int) -> TrialOutcome:
    context = suite.settings
    plan = ArmPlan("with", {"suite": context.skills, "distractor": context.distractors})
    arm = await ArmJob(context, plan, case, target, trial).run()
    details = _details(case, target, arm, [])
    names = _triggered(target, arm)
    missed = case.wants is not None and case.wants not in names
    taken = [name for name in names if name in case.unwanted]
    if arm.outcome.reason == UNREADABLE:
        return TrialOutcome(_failed(case, trial, arm, details), arm.trace, arm.artifacts)
    why = ended_badly(arm.run, target)
    if why is not None and not taken and (missed or case.wants is None):
        drop(arm.artifacts)
        reason = OUT_OF_TIME if arm.run is not None and arm.run.timed_out else ENDED
        raise TrialBrokenError(arm.trace, reason, why, begun=True)
    checks = _query_checks(case, names)
    passed = all(check.passed for check in checks)
    result = Result(
        id=case.id,
        category=case.category,
        definition=case.definition,
        trial=trial,
        status=Status.PASSED if passed else Status.FAILED,
        score=float(sum(check.passed for check in checks)),
        max_score=float(len(checks)),
        checks=checks,
        usage=arm.usage,
        duration_ms=arm.outcome.duration_ms,
        reason=None if passed else UNWANTED if taken else NOT_TRIGGERED,
        message=None if passed else next(check.detail for check in checks if not check.passed),
        details=details.model_copy(update={"correct": passed}),
    )
    return TrialOutcome(result, arm.trace, arm.artifacts)


def _query_checks(case: SkillCase, names: Sequence[str]) -> list[CheckResult]:
    """One for the skill that is wanted, one for each that isn't."""
    found = f"loaded: {', '.join(names)}" if names else "no skill was loaded"
    wanted = [CheckResult(check=f"loads {case.wants}", passed=case.wants in names, detail=found)] if case.wants else []
    return [
        *wanted,
        *(CheckResult(check=f"doesn't load {name}", passed=name not in names, detail=found) for name in case.unwanted),
    ]


def _failed(case: SkillCase, trial: int, arm: ArmRun, details: SkillDetails) -> Result:
    """A query whose trial can't be read: it has not led where it should."""
    return Result(
        id=case.id,
        category=case.category,
        definition=case.definition,
        trial=trial,
        status=Status.FAILED,
        max_score=1.0,
        usage=arm.usage,
        duration_ms=arm.outcome.duration_ms,
        reason=UNREADABLE,
        message=arm.outcome.message,
        details=details.model_copy(update={"correct": False}),
    )


# ------------------------------------------------------------------------------------------- tasks


@dataclass(frozen=True)
class _Without:
    """The arm `without`: what came of it, `None` where the suite has none; and where it was begun its trace."""

    outcome: ArmOutcome | None = None
    trace: Trace | None = None
    run: ArmRun | None = None


async def _task(suite: SkillPrepared, case: SkillCase, target: Target | Agent, trial: int) -> TrialOutcome:
    """Both arms, the one without skills first in trials of an even number."""
    plan = ArmPlan("with", {"suite": [suite.settings.named(case.skill)]})
    job = ArmJob(suite.settings, plan, case, target, trial, suite.judges)
    first = await _without(job) if trial % 2 == 0 else None
    try:
        arm = await job.run()
    except TrialBrokenError as error:
        drop(first.run.artifacts if first is not None and first.run is not None else None)
        raise _with_both(error, first.trace if first is not None else None) from error
    try:
        other = first or await _without(job)
    except TrialBrokenError as error:
        drop(arm.artifacts)
        raise _with_both(error, arm.trace) from error
    return await _together(job, arm, other)


async def _without(job: ArmJob) -> _Without:
    """The arm without skills. Raises `TrialBrokenError` only for what ends the run."""
    if not job.context.without:
        return _Without()
    if job.target.id in ALIKE:
        return _Without(_left_out(SAYS_NOTHING, f"{job.target.id} does the same without the skill"))
    try:
        run = await replace(job, plan=ArmPlan("without")).run()
    except TrialSkippedError as skipped:
        return _Without(_left_out(skipped.reason, skipped.message))
    except TrialBrokenError as error:
        if error.stops_run:
            raise
        outcome = ArmOutcome(
            arm="without",
            status=Status.ERROR,
            reason=error.reason,
            message=error.message,
            usage=error.trace.usage,
            duration_ms=error.trace.duration_ms,
        )
        return _Without(outcome, error.trace)
    return _Without(_unless_crashed(run, job.target), run.trace, run)


def _unless_crashed(run: ArmRun, target: Target | Agent) -> ArmOutcome:
    """What came of the arm; an error where the agent crashed: else a crash would prove that skills help."""
    why = crashed(run.run, target)
    if why is None or not run.outcome.status.valid:
        return run.outcome
    return run.outcome.model_copy(update={"status": Status.ERROR, "reason": ENDED, "message": why})


def _left_out(reason: str, message: str) -> ArmOutcome:
    return ArmOutcome(arm="without", status=Status.SKIPPED, reason=reason, message=message)


def _with_both(error: TrialBrokenError, other: Trace | None) -> TrialBrokenError:
    """The error with what both arms have used."""
    if other is None or not other.turns:
        return error
    usages = [trace.usage for trace in (error.trace, other) if trace.turns]
    trace = error.trace.model_copy(update={"total": add_usage(usages)})
    return TrialBrokenError(trace, error.reason, error.message, stops_run=error.stops_run, begun=error.begun)


async def _together(job: ArmJob, arm: ArmRun, other: _Without) -> TrialOutcome:
    """The trial: the arm `with`, and the other one beside it."""
    case, outcome = job.case, arm.outcome
    arms = [outcome, *([other.outcome] if other.outcome is not None else [])]
    judged = [run.judged.outcome for run in (arm, other.run) if run is not None and run.judged.outcome is not None]
    result = Result(
        id=case.id,
        category=case.category,
        definition=case.definition,
        trial=job.trial,
        status=outcome.status,
        score=float(outcome.held),
        max_score=float(outcome.expectations),
        checks=list(arm.checks),
        usage=_sum_of(arm.usage, other),
        judge_usage=add_usage(each.usage for each in judged) if judged else None,
        duration_ms=outcome.duration_ms,
        reason=outcome.reason,
        message=outcome.message,
        details=_details(case, job.target, arm, arms),
    )
    trace = arm.trace
    if other.trace is not None:
        trace = trace.model_copy(update={"arms": {"without": other.trace}})
    if other.run is not None:
        await asyncio.to_thread(_put_beside, arm.artifacts, other.run.artifacts)
    return TrialOutcome(result, trace, arm.artifacts)


def _sum_of(usage: Usage, other: _Without) -> Usage:
    """What the arms have cost together; an arm that never asked its model has cost nothing."""
    if other.trace is None or not other.trace.turns:
        return usage
    return add_usage([usage, other.trace.usage])


def _put_beside(artifacts: Path | None, others: Path | None) -> None:
    """The files of the arm `without`, in a folder of that name among those of the arm `with`."""
    if artifacts is None or others is None:
        drop(others)
    else:
        shutil.move(others, artifacts / "without")


# ------------------------------------------------------------------------------------------- what it says


def _triggered(target: Target | Agent, arm: ArmRun) -> list[str]:
    """The skills that count as loaded for this target, in their order."""
    by_calls = loads_by_calls(target.id, arm.trace, replayed=arm.details.replayed)
    return [each.name for each in triggers(arm.outcome.loaded, by_calls=by_calls)]


def _details(case: SkillCase, target: Target | Agent, arm: ArmRun, arms: Sequence[ArmOutcome]) -> SkillDetails:
    names = _triggered(target, arm)
    known = arm.outcome.status.valid and not case.forced
    return SkillDetails(
        asks=case.asks,
        skill=case.skill,
        wants=case.wants,
        unwanted=case.unwanted,
        loaded=arm.outcome.loaded,
        triggered=case.skill in names if known else None,
        won=names[0] if names else None,
        arms=list(arms),
        agent=target.id,
        isolation=arm.details.isolation,
        judge=arm.judged.outcome,
        replayed=arm.details.replayed,
        diverged_at=arm.details.diverged_at,
    )
