"""Runs a plan: many trials at once on one event loop, each kept as it finishes; the report is in the plan's order."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from evalward.engine.plan import Plan, PlannedRun
from evalward.engine.store import Store
from evalward.records.base import clean_text, digest
from evalward.records.case import Case
from evalward.records.report import Run, Subject
from evalward.records.result import Result, Status, Trial
from evalward.records.trace import Trace
from evalward.sandbox.base import SandboxError
from evalward.suites.base import TrialOutcome
from evalward.targets.base import TrialSkippedError

AT_ONCE = 8  # trials under way together


class Progress(Protocol):
    """Whoever wants to see the work go on."""

    def finished(self, run: str, result: Result) -> None:
        """One more trial is done."""
        ...


@dataclass(frozen=True)
class Job:
    """One trial of a plan."""

    run: PlannedRun
    case: Case
    trial: int


async def execute(plan: Plan, store: Store | None, progress: Progress) -> list[Run]:
    """Run every trial of the plan; the runs in the plan's order, whatever finished first."""
    limit = asyncio.Semaphore(AT_ONCE)
    return list(await asyncio.gather(*(_execute_run(run, store, progress, limit) for run in plan.runs)))


async def _execute_run(planned: PlannedRun, store: Store | None, progress: Progress, limit: asyncio.Semaphore) -> Run:
    subject = make_subject({**planned.suite.subject, **planned.target.subject})

    async def one(job: Job) -> Result:
        async with limit:
            outcome = await _run_trial(job)
        result = _kept(job, outcome, subject, store)
        progress.finished(f"{planned.suite.spec.name} × {planned.target.id}", result)
        return result

    jobs = [Job(planned, case, n) for case in planned.cases for n in range(1, planned.trials + 1)]
    results = list(await asyncio.gather(*(one(job) for job in jobs)))
    measurement = planned.kind.measure(results)
    return Run(
        suite=planned.suite.spec.name,
        kind=planned.kind.name,
        target=planned.target.id,
        trials=planned.trials,
        random=planned.target.random,
        planned=len(jobs),
        subject=subject,
        metrics=measurement.metrics,
        categories=measurement.categories,
        findings=planned.kind.findings(results, measurement),
        cases=results,
    )


def make_subject(parts: Mapping[str, str]) -> Subject:
    """The parts, and the hash over them."""
    return Subject.model_validate({"hash": digest(dict(parts)), **parts})


async def _run_trial(job: Job) -> TrialOutcome:
    try:
        return await job.run.kind.run_trial(job.run.suite, job.case, job.run.target, job.trial)
    except TrialSkippedError as skipped:
        return _nothing(job, Status.SKIPPED, skipped.reason, skipped.message)
    except SandboxError as error:
        return _nothing(job, Status.ERROR, "sandbox", str(error))
    except Exception as error:  # whatever else breaks is no fault of the target, and ends no other trial
        return _nothing(job, Status.ERROR, "harness", clean_text(f"{type(error).__name__}: {error}"))


def _nothing(job: Job, status: Status, reason: str, message: str) -> TrialOutcome:
    result = Result(
        id=job.case.id,
        category=job.case.category,
        definition=job.case.definition,
        trial=job.trial,
        status=status,
        reason=reason,
        message=message,
    )
    return TrialOutcome(result, Trace())


def _kept(job: Job, outcome: TrialOutcome, subject: Subject, store: Store | None) -> Result:
    if store is None or outcome.result.status is Status.SKIPPED:
        return outcome.result
    trial = Trial(
        suite=job.run.suite.spec.name,
        kind=job.run.kind.name,
        target=job.run.target.id,
        subject=subject.hash,
        case=job.case.written(),
        result=outcome.result,
        trace=outcome.trace,
    )
    return outcome.result.model_copy(update={"trace": store.keep(trial)})
