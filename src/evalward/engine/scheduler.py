"""Runs a plan: many trials at once on one event loop, each kept as it finishes; the report is in the plan's order."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Protocol

from msgspec import Struct, field, structs

from evalward.config.targets import predecessor_of
from evalward.engine.control import ENDS, Control, Ended, Spending, ends_on_signals
from evalward.engine.keeping import OutputStore
from evalward.engine.plan import Plan, PlannedRun
from evalward.engine.store import TrialKey, artifacts_path
from evalward.engine.subject import dependence_of
from evalward.records.base import clean_text, digest, why_of
from evalward.records.budget import Budget
from evalward.records.case import Case
from evalward.records.report import Interruption, Run, Subject
from evalward.records.result import NOT_RUN, UNREADABLE, Result, Status, Trial
from evalward.records.trace import Trace, Usage
from evalward.sandbox.base import SandboxError
from evalward.sandbox.process.temporary import remove_given
from evalward.suites.base import TrialBrokenError, TrialOutcome
from evalward.suites.batched import findings_of
from evalward.suites.blame import unreadable
from evalward.targets.base import BrokeOffError, Evaluated, TrialSkippedError
from evalward.targets.failures import Cause, TargetError
from evalward.targets.under_way import TrialsUnderWay

AT_ONCE = 8  # trials of all targets that ask nobody: they only compete for the processor


class Progress(Protocol):
    """Whoever wants to see the work go on."""

    def finished(self, run: str, result: Result, *, kept: bool = False) -> None:
        """One more trial is done; `kept`: by an earlier run, which is resumed."""
        ...


class ExecutionSettings(Struct, frozen=True):
    """How a plan is run. `resume`: finished trials in the store are not done again.

    `account` is what an earlier stage of the same invocation has used, so that both keep to one budget. `base_store` is
    where the trials of the base's runs are kept. `under_way` counts the trials at work. `ended` is the invocation's.
    """

    store: OutputStore | None
    progress: Progress
    budget: Budget = field(default_factory=Budget)
    resume: bool = False
    account: Spending | None = None
    base_store: OutputStore | None = None
    under_way: TrialsUnderWay = field(default_factory=TrialsUnderWay)
    ended: Ended = field(default_factory=Ended)

    def store_of(self, run: PlannedRun) -> OutputStore | None:
        """Where a run's trials are kept."""
        return self.base_store if run.of_base else self.store


class Executed(Struct, frozen=True):
    """What running a plan gave. `interrupted` says why it ended before its end, and `interrupted_by` what ended it."""

    runs: Sequence[Run]
    interrupted: str | None = None
    interrupted_by: Interruption | None = None
    warnings: Sequence[str] = ()

    @property
    def stopped(self) -> str | None:
        """Why it ended early, where somebody wanted it: no verdict, then."""
        return self.interrupted if self.interrupted_by == "signal" else None


class TrialJob(Struct, frozen=True):
    """One trial of a plan."""

    run: PlannedRun
    subject: Subject
    case: Case
    trial: int

    @property
    def key(self) -> tuple[str, int]:
        """What it and its twin on the other side have in common."""
        return self.case.id, self.trial

    @property
    def name(self) -> str:
        """What tells it from every other of the same invocation."""
        side = "base" if self.run.of_base else "head"
        suite, target = self.run.suite.spec.name, self.run.target.id
        return digest([side, suite, target, self.case.id, self.trial])

    @property
    def wanted(self) -> TrialKey:
        """What identifies it."""
        suite, target = self.run.suite.spec.name, self.run.target.id
        return TrialKey(suite, target, self.case.id, self.case.definition, self.subject.hash, self.trial)


class _State(Struct):
    """What the trials of one execution share. The only thing here that changes."""

    execution: ExecutionSettings
    account: Spending
    control: Control = field(default_factory=Control)
    dead: dict[str, str] = field(default_factory=dict)  # target id → why every trial of it would fail
    gates: dict[str, asyncio.Semaphore] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def why_not(self, planned: PlannedRun) -> str | None:
        """Why no further trial of this run is started, if so."""
        return self.control.reason or self.dead.get(planned.target.id)

    def gate(self, planned: PlannedRun) -> asyncio.Semaphore:
        """How many trials are under way together: of a target that says it, and of all others."""
        target = planned.target
        name = target.id if target.at_once else ""
        return self.gates.setdefault(name, asyncio.Semaphore(target.at_once or AT_ONCE))


async def execute(plan: Plan, execution: ExecutionSettings) -> Executed:
    """Run every trial of the plan; the runs in the plan's order, whatever finished first.

    A spent budget, SIGINT and SIGTERM end it early, and a failure that every trial of a target would meet ends that
    target's trials: what is finished is kept.
    """
    state = _State(execution, execution.account or Spending(execution.budget))
    try:
        with ends_on_signals(state.control, execution.ended):
            for run in plan.runs:
                if run.not_measured is None and state.control.reason is None:
                    for target in _asked(run):
                        target.prepare()
            runs = await _execute_runs(plan.runs, state)
    finally:
        for run in plan.runs:
            for target in _asked(run):
                await target.close()
    uncut = state.control.by == "budget" and state.account.has_kept and not _not_run(runs)
    early = (None if uncut else state.control.reason) or next(iter(state.dead.values()), None)
    by = (None if uncut else state.control.by) or ("fault" if early else None)
    return Executed(runs, early, by, tuple(state.warnings))


def _not_run(runs: Sequence[Run]) -> bool:
    """Whether a trial is left that was to be run."""
    return any(result.status is Status.SKIPPED and result.reason == NOT_RUN for run in runs for result in run.cases)


def _asked(run: PlannedRun) -> list[Evaluated]:
    """Everybody whom a run asks: its target, and whoever judges it."""
    return [run.target, *(judge.target for judge in (run.suite.judges.all if run.suite.judges else []))]


async def _execute_runs(planned: Sequence[PlannedRun], state: _State) -> list[Run]:
    """All of them; a trial begins when its turn has come and there is room."""
    subjects = [run.subject for run in planned]
    jobs = [jobs_of(run, subject) for run, subject in zip(planned, subjects, strict=True)]
    tasks = {id(job): asyncio.ensure_future(_run_job(job, state)) for job in in_turns(jobs)}
    await asyncio.gather(*tasks.values())
    return [
        _run_record(run, subject, [tasks[id(job)].result() for job in own], run.not_measured)
        for run, subject, own in zip(planned, subjects, jobs, strict=True)
    ]


def jobs_of(run: PlannedRun, subject: Subject) -> list[TrialJob]:
    """The trials of a run, case by case."""
    if run.not_measured is not None:
        return []
    return [TrialJob(run, subject, case, n) for case in run.cases for n in run.numbers_of(case)]


def in_turns(runs: Sequence[Sequence[TrialJob]]) -> Iterator[TrialJob]:
    """The jobs of all runs, one run after the other; but those of a run that is apart one by one with their twins.

    Whatever happens to a provider within the session then happens to both sides.
    """
    for number, jobs in enumerate(runs):
        if jobs and jobs[0].run.of_base:
            continue
        after = runs[number + 1] if number + 1 < len(runs) else []
        twins = {job.key: job for job in after if job.run.of_base}
        for job in jobs:
            yield job
            twin = twins.pop(job.key, None)
            if twin is not None:
                yield twin
        yield from twins.values()


def _run_record(
    planned: PlannedRun, subject: Subject, results: Sequence[Result], not_measured: str | None = None
) -> Run:
    measurement = planned.kind.measure(results)
    return Run(
        suite=planned.suite.spec.name,
        kind=planned.kind.name,
        target=planned.target.id,
        trials=planned.trials,
        random=planned.target.random,
        planned=len(results),
        whole=planned.whole if planned.whole > len(planned.cases) else None,
        replaces=predecessor_of(planned.suite.spec, planned.target.id),
        subject=subject,
        metrics={} if not_measured else measurement.metrics,
        categories={} if not_measured else measurement.categories,
        findings=[] if not_measured else findings_of(planned.kind, results, measurement),
        not_measured=not_measured,
        depends={case.id: found for case in planned.cases if (found := dependence_of(case, subject)) is not None},
        cases=list(results),
    )


async def _run_job(job: TrialJob, state: _State) -> Result:
    """One trial: an earlier one's result, or today's; never an exception."""
    kept = _resumed(job, state)
    if kept is not None:
        result = kept
    else:
        async with state.gate(job.run):
            with state.execution.under_way.trial(job.name):
                result = await _run_now(job, state)
    result = _placed(job, result)
    name = f"{job.run.suite.spec.name} × {job.run.target.id}"
    state.execution.progress.finished(name, result, kept=kept is not None)
    return result


def _placed(job: TrialJob, result: Result) -> Result:
    """The result with where its case is written today, which is nothing that a trial's identity depends on."""
    return result.model_copy(update={"place": str(job.case.place)})


def _resumed(job: TrialJob, state: _State) -> Result | None:
    store = state.execution.store_of(job.run)
    if not state.execution.resume or store is None:
        return None
    found = store.find(job.wanted)
    if found.note:
        state.warnings.append(found.note)
    return found.result


async def _run_now(job: TrialJob, state: _State) -> Result:
    if state.why_not(job.run) is not None:
        return _empty_outcome(job, Status.SKIPPED, NOT_RUN).result
    with state.control.running():
        outcome = await _run_trial(job, state)
    if outcome.trace.turns:
        _charge(outcome.result.usage, state)
    if outcome.result.judge_usage is not None:
        _charge(outcome.result.judge_usage, state)
    placed = structs.replace(outcome, result=_placed(job, outcome.result))
    store = state.execution.store_of(job.run)
    try:
        if store is not None:
            placed = await _with_artifacts(job, placed, store, state)
        return _store(job, placed, store)
    except OSError as error:  # the output folder's trouble: what is finished is told, and nothing new begins
        state.control.stop(f"the output folder can't be written: {error.strerror or why_of(error)}", "fault")
        return placed.result
    finally:
        if outcome.artifacts is not None:
            remove_given(outcome.artifacts)


async def _with_artifacts(job: TrialJob, outcome: TrialOutcome, store: OutputStore, state: _State) -> TrialOutcome:
    """The outcome with its artifacts in the output folder, and their path in its details.

    Those of an earlier run go in any case: nobody shall take them for this one's. Without `resume` they went before the
    first trial.
    """
    if outcome.artifacts is None and not state.execution.resume:
        return outcome
    result = outcome.result
    path = artifacts_path(job.run.suite.spec.name, job.run.target.id, result.id, result.trial)
    if store.has(path):
        await asyncio.to_thread(store.remove_folder, path)
    if outcome.artifacts is None:
        return outcome
    try:
        await asyncio.to_thread(store.keep_folder, outcome.artifacts, path)
    except OSError as error:  # files for people: no run ends for want of them
        state.warnings.append(f"the artifacts of {result.id} (trial {result.trial}) can't be kept: {why_of(error)}")
        return outcome
    return structs.replace(outcome, result=result.model_copy(update={"details": result.details.with_artifacts(path)}))


def _charge(usage: Usage, state: _State) -> None:
    spent = state.account.charge(usage)
    if spent is not None:
        state.control.stop(spent, "budget")


async def _run_trial(job: TrialJob, state: _State) -> TrialOutcome:
    try:
        return await _tried(job)
    except TrialSkippedError as skipped:
        return _empty_outcome(job, Status.SKIPPED, skipped.reason, skipped.message)
    except TrialBrokenError as broken:
        return _broken(job, broken, state)
    except BrokeOffError as broke:  # of a kind that says no more about it
        return _empty_outcome(job, Status.FAILED, UNREADABLE, unreadable(broke.error), broke.trace)
    except asyncio.CancelledError:
        if state.control.reason is None:
            raise
        return _empty_outcome(job, Status.SKIPPED, NOT_RUN)
    except Exception as error:  # whatever else breaks is nobody's fault that we know of, and ends no other trial
        return _empty_outcome(job, Status.ERROR, Cause.OURS, why_of(error))


async def _tried(job: TrialJob) -> TrialOutcome:
    """What the kind makes of the trial. A provider or sandbox that fails at the start breaks it."""
    try:
        return await job.run.kind.run_trial(job.run.suite, job.case, job.run.target, job.trial)
    except TargetError as error:
        raise TrialBrokenError(Trace(), error.cause, error.message, stops_run=error.rule.stops_run) from error
    except SandboxError as error:
        raise TrialBrokenError(Trace(), Cause.SANDBOX, clean_text(str(error))) from error


def _broken(job: TrialJob, broken: TrialBrokenError, state: _State) -> TrialOutcome:
    target = job.run.target.id
    if broken.reason in ENDS:  # nobody's failure: it was refused what it would have needed to go on
        state.control.stop(broken.message, ENDS[broken.reason])
        return _empty_outcome(job, Status.SKIPPED, NOT_RUN, trace=broken.trace)
    if broken.stops_run and target in state.dead and not broken.trace.turns:
        return _empty_outcome(job, Status.SKIPPED, NOT_RUN)  # one message instead of one per trial
    if broken.stops_run:
        state.dead.setdefault(target, f"{target}: {broken.message}")
    return _empty_outcome(job, Status.ERROR, broken.reason, broken.message, broken.trace, begun=broken.begun)


def _empty_outcome(
    job: TrialJob,
    status: Status,
    reason: str,
    message: str | None = None,
    trace: Trace | None = None,
    *,
    begun: bool = False,
) -> TrialOutcome:
    """The outcome of a trial of which there is nothing to tell. What it has used so far still counts."""
    trace = trace or Trace()
    result = Result(
        id=job.case.id,
        category=job.case.category,
        definition=job.case.definition,
        trial=job.trial,
        status=status,
        reason=reason,
        message=message,
        begun=begun,
        usage=trace.usage,
        duration_ms=trace.duration_ms,
    )
    return TrialOutcome(result, trace)


def _store(job: TrialJob, outcome: TrialOutcome, store: OutputStore | None) -> Result:
    """The result, written down where there is a store. One that can't be is the target's failure, not the run's end."""
    try:
        outcome.result.model_dump_json()  # as the report will write it
        return _written(job, outcome, store)
    except OSError:
        raise  # the output folder's trouble
    except Exception as error:
        return _written(job, _unwritable(job, outcome, error), store)


def _unwritable(job: TrialJob, outcome: TrialOutcome, error: Exception) -> TrialOutcome:
    """What remains of an outcome that no file can hold: that it failed, and what it has used."""
    result = outcome.result
    trace = Trace(turns=outcome.trace.turns, duration_ms=outcome.trace.duration_ms)
    if not result.valid:
        return _empty_outcome(job, result.status, result.reason or Cause.OURS, why_of(error), trace, begun=result.begun)
    return _empty_outcome(job, Status.FAILED, UNREADABLE, unreadable(error), trace)


def _written(job: TrialJob, outcome: TrialOutcome, store: OutputStore | None) -> Result:
    if store is None or outcome.result.status is Status.SKIPPED:
        return outcome.result
    trial = Trial(
        suite=job.run.suite.spec.name,
        kind=job.run.kind.name,
        target=job.run.target.id,
        subject=job.subject.hash,
        case=job.case.written(),
        result=outcome.result,
        trace=outcome.trace,
    )
    return outcome.result.model_copy(update={"trace": store.keep(trial)})
