"""One trial of an optimisation task: make the change, measure it beside nop and oracle, judge it."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Protocol, runtime_checkable
from weakref import WeakKeyDictionary

from evalward.records.base import clean_text
from evalward.records.case import Case
from evalward.records.result import UNREADABLE, Result, Status
from evalward.records.trace import Trace, Usage
from evalward.sandbox.base import SandboxError
from evalward.sandbox.process import SandboxLimits, Workspace, WorkspaceSettings
from evalward.sandbox.process.settings import PATH
from evalward.sandbox.process.temporary import temporary_folder
from evalward.suites.base import TrialBrokenError, TrialOutcome
from evalward.suites.blame import blameless, unreadable
from evalward.suites.isolation import settings_of
from evalward.suites.put_back import paths_of
from evalward.suites.speedup.details import SpeedupDetails
from evalward.suites.speedup.failure import merge
from evalward.suites.speedup.log import read_log
from evalward.suites.speedup.measure.changes import ChangeRefusedError, apply_patch, put_back, put_back_notes, take
from evalward.suites.speedup.measure.evidence import AGENT, NOP, ORACLE, evidence_of, flaky, refused_evidence
from evalward.suites.speedup.measure.recorded import modules_of
from evalward.suites.speedup.measure.session import (
    Conditions,
    MeasuredCopy,
    SetupError,
    SideChecks,
    agents_workspace,
    run_session,
)
from evalward.suites.speedup.outcome import TaskId, make_result
from evalward.suites.speedup.spec import SpeedupSuite
from evalward.suites.speedup.task import SpeedupCase
from evalward.targets.agents.base import AgentJob, AgentRun
from evalward.targets.base import BrokeOffError, Target, TrialSkippedError
from evalward.targets.failures import TargetError
from evalward.targets.per_task import FileTarget

TASK_BROKEN = "task_broken"
REFUSED = "change_refused"
FREE = Usage(input_tokens=0, output_tokens=0, cost_usd=0.0)
_locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


@runtime_checkable
class Working(Protocol):
    """A coding agent, as far as it is needed here."""

    async def work(self, case: Case, trial: int, job: AgentJob) -> AgentRun:
        """Do the job."""
        ...


@dataclass(frozen=True)
class MeasuredSides:
    """The sides that were measured together, and how long that took."""

    sides: Mapping[str, MeasuredCopy]
    took_ms: int


@dataclass
class SpeedupContext:
    """What a suite's trials share. `checked` and `sessions` hold what nop and oracle gave, by the task's definition."""

    spec: SpeedupSuite
    system: str | None = None
    checked: dict[tuple[str, str], SideChecks] = field(default_factory=dict)
    sessions: dict[str, MeasuredSides] = field(default_factory=dict)

    def settings(self) -> WorkspaceSettings:
        """A workspace that may read the Python that we run with; `python` there is that one."""
        ours = [Path(sys.prefix), Path(sys.base_prefix)]
        limits = SandboxLimits(memory_mb=self.spec.memory_mb, disk_mb=self.spec.disk_mb)
        return settings_of(self.spec, limits, list(dict.fromkeys(ours)), f"{Path(sys.prefix) / 'bin'}:{PATH}")

    def conditions(self, case: SpeedupCase) -> Conditions:
        """Rounds and times of a task: its own, else the suite's."""
        rounds = case.task.rounds or self.spec.rounds
        seconds = case.task.timeout_s or self.spec.timeout_s
        return Conditions(rounds, seconds, self.settings(), modules_of(case.task, case.oracle))

    def known(self, case: SpeedupCase) -> dict[str, SideChecks]:
        """What was checked of nop and oracle before."""
        return {name: found for (of, name), found in self.checked.items() if of == case.definition}

    def keep(self, case: SpeedupCase, sides: Mapping[str, MeasuredCopy]) -> None:
        """Keep what was checked of them: tests and outputs depend on content alone. Times do not, and are not kept."""
        for name in (NOP, ORACLE):
            checked = sides[name].checked
            if checked is not None:
                self.checked[case.definition, name] = checked


async def run_trial(equipment: SpeedupContext, case: SpeedupCase, target: Target, trial: int) -> TrialOutcome:
    """Measure what a target makes of a task. Raises `TrialSkippedError`, `TrialBrokenError`, `SandboxError`."""
    if isinstance(target, FileTarget) and target.form == "log":
        return TrialOutcome(_of_log(case, target, trial), Trace())
    with temporary_folder("speedup") as work:
        original = work / "original"
        await asyncio.to_thread(case.fixture.copy_to, original)
        await asyncio.to_thread(hide_answer, original, case.oracle)
        done = await _measured(equipment, case, target, trial, work)
    usage = FREE if target.id in {NOP, ORACLE} else done.trace.usage
    took_ms = done.trace.duration_ms + done.took_ms
    result = make_result(_task_id(case, trial), done.details, usage=usage, duration_ms=took_ms)
    return TrialOutcome(_owned(_with_refusal(result, done), target), done.trace)


def hide_answer(folder: Path, answer: bytes) -> None:
    """Remove the human patch from a copy of the code: an agent that reads it has nothing left to find. Blocking."""
    for name in list(paths_of(folder)):
        path = folder / name
        if not path.is_symlink() and path.stat().st_size == len(answer) and path.read_bytes() == answer:
            path.unlink()


def _task_id(case: SpeedupCase, trial: int) -> TaskId:
    return TaskId(case.id, case.category, case.definition, trial)


def _with_refusal(result: Result, done: _Done) -> Result:
    if done.refused is None:
        return result
    return result.model_copy(update={"status": Status.FAILED, "reason": done.reason, "message": done.refused})


def _owned(result: Result, target: Target) -> Result:
    """The result of a change without a valid benchmark is a failure where nop and oracle have one beside it."""
    details = result.details
    if result.status is not Status.ERROR or target.id in {NOP, ORACLE} or not isinstance(details, SpeedupDetails):
        return result
    if not any(benchmark.oracle is not None and benchmark.oracle > 0 for benchmark in details.benchmarks):
        return result
    return result.model_copy(update={"status": Status.FAILED, "reason": UNREADABLE})


@dataclass(frozen=True)
class _Done:
    """What became of a trial. `took_ms` is the measuring alone; `refused`: why the change could not be taken."""

    details: SpeedupDetails
    took_ms: int
    trace: Trace = field(default_factory=Trace)
    refused: str | None = None
    reason: str = REFUSED


@dataclass(frozen=True)
class _Change:
    """What was made of the code. `refused`: why it can't be taken, and in a word by what `reason`."""

    trace: Trace = field(default_factory=Trace)
    notes: list[str] = field(default_factory=list)
    refused: str | None = None
    reason: str = REFUSED


async def _measured(equipment: SpeedupContext, case: SpeedupCase, target: Target, trial: int, work: Path) -> _Done:
    if target.id in {NOP, ORACLE}:
        found = await reference(equipment, case, work)
        return _Done(judge(case, target.id, target.id, found.sides), found.took_ms)
    change = await _change(equipment, case, target, trial, work)
    if change.refused is not None:
        return await _refused(equipment, case, target, work, change)
    try:
        found = await session(equipment, case, work, (NOP, ORACLE, AGENT))
        return _Done(judge(case, target.id, AGENT, found.sides, change.notes), found.took_ms, change.trace)
    except TrialBrokenError as error:  # beside the change: nobody knows whether it is innocent
        raise TrialBrokenError(change.trace, error.reason, error.message, begun=True) from error
    except Exception as error:  # where all is well without the change, it is the change's doing
        broken = replace(change, refused=unreadable(error), reason=UNREADABLE)
        return await _refused(equipment, case, target, work, broken)


async def _refused(equipment: SpeedupContext, case: SpeedupCase, target: Target, work: Path, change: _Change) -> _Done:
    assert change.refused is not None  # noqa: S101 - its callers say why
    found = await reference(equipment, case, work)
    details = _refusal(case, target.id, change.refused, found.sides)
    return _Done(details, found.took_ms, change.trace, change.refused, change.reason)


def _refusal(case: SpeedupCase, key: str, why: str, sides: Mapping[str, MeasuredCopy]) -> SpeedupDetails:
    found = [evidence_of(name, name, case.task, sides) for name in (NOP, ORACLE)]
    return merge([*found, refused_evidence(key, why, sides)])[key]


async def _change(equipment: SpeedupContext, case: SpeedupCase, target: Target, trial: int, work: Path) -> _Change:
    """Make the change in `work/agent`."""
    trace, notes = Trace(), list[str]()
    try:
        if isinstance(target, FileTarget):
            patch = target.content(case)
            await apply_patch(work / "original", patch, work / AGENT, equipment.settings())
        elif isinstance(target, Working):
            trace, notes = await _work(equipment, case, target, trial, work)
        else:
            raise TrialSkippedError("no_agent", f"{target.id} changes no code")
    except ChangeRefusedError as error:
        return _Change(trace, notes, clean_text(str(error)))
    except BrokeOffError as broke:
        return _Change(broke.trace, notes, unreadable(broke.error), UNREADABLE)
    try:
        notes += put_back_notes(put_back(work / "original", work / AGENT, case.task.protect))
    except Exception as error:
        return _Change(trace, notes, unreadable(error), UNREADABLE)
    return _Change(trace, notes)


async def _work(
    equipment: SpeedupContext, case: SpeedupCase, agent: Working, trial: int, work: Path
) -> tuple[Trace, list[str]]:
    timeout_s = case.task.timeout_s or equipment.spec.timeout_s
    try:
        async with agents_workspace(case.task, work / "original", equipment.settings(), timeout_s) as workspace:
            job = AgentJob(case.task.prompt, workspace, equipment.spec.agent_timeout_s, system=equipment.system)
            run = await _worked(partial(agent.work, case, trial, job), workspace, work / AGENT)
    except SetupError as error:
        raise TrialBrokenError(Trace(), TASK_BROKEN, clean_text(str(error))) from error
    notes = [f"AGENT: its time of {equipment.spec.agent_timeout_s:g} s was up"] if run.timed_out else []
    return run.trace, notes


async def _worked(work: Callable[[], Awaitable[AgentRun]], workspace: Workspace, target: Path) -> AgentRun:
    """The agent's work, copied. Raises `BrokeOffError` for what can't be read or copied: that is its own doing."""
    trace = Trace()
    try:
        run = await work()
        trace = run.trace
        await workspace.end_processes()
        await asyncio.to_thread(take, workspace, target)
    except (TargetError, TrialSkippedError):
        raise  # it had not begun
    except Exception as error:
        broke = error if isinstance(error, BrokeOffError) else BrokeOffError(trace, error)
        lost = isinstance(broke.error, SandboxError) and await workspace.lost()
        raise (blameless(broke.trace, broke.error, lost=lost) or broke) from error
    return run


async def reference(equipment: SpeedupContext, case: SpeedupCase, work: Path) -> MeasuredSides:
    """Nop and oracle in turns, once per task and run: each is what it is, whoever asks."""
    async with alone():
        if case.definition not in equipment.sessions:
            equipment.sessions[case.definition] = await _session(equipment, case, work, (NOP, ORACLE))
        return equipment.sessions[case.definition]


async def session(equipment: SpeedupContext, case: SpeedupCase, work: Path, names: tuple[str, ...]) -> MeasuredSides:
    """These sides in turns. `work` has what was changed, by the side's name."""
    async with alone():
        return await _session(equipment, case, work, names)


async def _session(equipment: SpeedupContext, case: SpeedupCase, work: Path, names: tuple[str, ...]) -> MeasuredSides:
    started = time.monotonic()
    conditions = equipment.conditions(case)
    original, oracle = work / "original", work / ORACLE
    if not oracle.exists():
        try:
            await apply_patch(original, case.oracle, oracle, conditions.settings)
        except ChangeRefusedError as error:
            raise TrialBrokenError(Trace(), TASK_BROKEN, f"{case.task.oracle}: {clean_text(str(error))}") from error
    folders = {name: original if name == NOP else work / name for name in names}
    sides = await run_session(case.task, folders, conditions, equipment.known(case))
    broken = sides[NOP].broken or flaky(sides[NOP])
    if broken is not None or not sides[NOP].measured.samples:
        why = broken or "; ".join(sides[NOP].measured.notes) or "its benchmarks gave no time"
        raise TrialBrokenError(Trace(), TASK_BROKEN, clean_text(f"the untouched code can't be measured: {why}"))
    equipment.keep(case, sides)
    return MeasuredSides(sides, round((time.monotonic() - started) * 1000))


@asynccontextmanager
async def alone() -> AsyncIterator[None]:
    """One session at a time: two of them would measure each other."""
    lock = _locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())
    async with lock:
        yield


def judge(
    case: SpeedupCase, key: str, name: str, sides: Mapping[str, MeasuredCopy], notes: list[str] | None = None
) -> SpeedupDetails:
    """What became of one side beside nop and oracle, with how it was measured."""
    found = [evidence_of(each, each, case.task, sides) for each in (NOP, ORACLE)]
    if name == AGENT:
        found.append(evidence_of(key, AGENT, case.task, sides))
    details = merge(found)[key]
    how = [f"MEASURED: {sides[NOP].isolation}"]
    return details.model_copy(update={"notes": [*(notes or []), *details.notes, *how]})


def _of_log(case: SpeedupCase, target: FileTarget, trial: int) -> Result:
    """The result that a log of the task tells. Raises `TrialSkippedError` and `TrialBrokenError`."""
    try:
        reading = read_log(target.content(case))
    except ValueError as error:
        message = f"{target.path_of(case.id)}: {clean_text(str(error))}"
        raise TrialBrokenError(Trace(), TASK_BROKEN, message) from error
    details = merge([reading.evidence(target.id)])[target.id]
    return make_result(_task_id(case, trial), details, skipped=reading.skipped)
