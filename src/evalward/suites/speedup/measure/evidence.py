"""From what a session measured to what is known of each side: speedups per benchmark, tests, outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from evalward.suites.speedup.details import BenchmarkSpeed, PytestSummary, Samples, SnapshotSummary
from evalward.suites.speedup.failure import FailureEvidence
from evalward.suites.speedup.measure.clock import contradiction
from evalward.suites.speedup.measure.recorded import SHOWN, Recorded, differing
from evalward.suites.speedup.measure.rounds import SideSamples
from evalward.suites.speedup.measure.session import MeasuredCopy, SideChecks
from evalward.suites.speedup.measure.snapshots import Statuses, after_statuses, before_statuses, transitions
from evalward.suites.speedup.task import SpeedupTask
from evalward.suites.speedup.values import number

NOP, ORACLE, AGENT = "nop", "oracle", "agent"
NO_CHECK = SideChecks(PytestSummary())


def evidence_of(key: str, name: str, task: SpeedupTask, sides: Mapping[str, MeasuredCopy]) -> FailureEvidence:
    """What is known of one side. `key`: how its target is called; a side may stand for nop or the oracle itself.

    A side on which no benchmark gives a time, though they did on the untouched code, has broken them: one error more
    among its tests. Each test that ran there and no longer does is one, too: a change
    can deselect or skip what it breaks.
    """
    side, nop = sides[name], sides[NOP]
    checked = side.checked or NO_CHECK
    snapshot, notes = _snapshot(task, nop.checked or NO_CHECK, checked)
    tests = checked.tests
    lost = (nop.checked or NO_CHECK).tests.ran - tests.ran
    if tests.counted and lost > 0:
        tests = _more_errors(tests, lost)
        notes = [*notes, f"TESTS: {lost} fewer ran than on the untouched code"]
    if nop.measured.samples and not side.measured.samples:
        tests = _more_errors(tests, 1)
        notes = [*notes, "BENCHMARKS: none gave a time"]
    elif failed := _failed_rounds(side, nop):
        tests = _more_errors(tests, 1)
        notes = [*notes, f"BENCHMARKS: their command failed in {failed} of {len(side.timed)} rounds"]
    forged, also = _forged(task, sides, side) if name == AGENT else (False, [])
    return FailureEvidence(
        key=key,
        benchmarks=speeds(nop.measured, sides[ORACLE].measured if ORACLE in sides else SideSamples(), side.measured),
        tests=tests,
        snapshot=snapshot,
        notes=[*checked.notes, *notes, *also, *side.measured.notes],
        forged=forged,
    )


def flaky(nop: MeasuredCopy) -> str | None:
    """Why the untouched code's benchmarks can't be relied on: half of the rounds is not all of them."""
    silent = sum(not each.gave_times for each in nop.timed)
    if not silent or not nop.measured.samples:
        return None
    return "; ".join([f"its benchmarks gave no time in {silent} of {len(nop.timed)} rounds", *nop.measured.notes])


def _failed_rounds(side: MeasuredCopy, nop: MeasuredCopy) -> int:
    """Rounds that ended badly, where all of the untouched code's ended well."""
    if any(not each.ended_well for each in nop.timed):
        return sum(not each.gave_times for each in side.timed)
    return sum(not (each.ended_well and each.gave_times) for each in side.timed)


def _forged(task: SpeedupTask, sides: Mapping[str, MeasuredCopy], side: MeasuredCopy) -> tuple[bool, list[str]]:
    """Whether a change tells times, or works on them, as no honest one would; and in words."""
    before = [one for one in _recorded(sides[NOP]) if one is not None]
    human = next(iter(_recorded(sides[ORACLE])), None) if ORACLE in sides else None
    now = next(iter(_recorded(side)), None)
    notes = []
    if other := differing(_recorded(sides[NOP]), human, now, task.auto):
        shown = ", ".join(name[:80] for name in other[:SHOWN])
        notes.append(f"TIMES: while it was measured the code gave other results, or none: {shown}")
    turned = set(now.turned if now else ()).difference(*(one.turned for one in before))
    if turned and before:
        notes.append(f"TIMES: the change exchanges Python's clocks: {', '.join(sorted(turned)[:SHOWN])}")
    starts = [one.first for one in before if one.first is not None]
    longer = now.first - min(starts) if now and now.first is not None and starts else 0.0
    if found := contradiction(sides[NOP].timed, side.timed, longer):
        notes.append(f"TIMES: {found}")
    return bool(notes), notes


def _recorded(side: MeasuredCopy) -> Sequence[Recorded | None]:
    return (side.checked or NO_CHECK).recorded


def refused_evidence(key: str, why: str, sides: Mapping[str, MeasuredCopy]) -> FailureEvidence:
    """A change that could not be taken: nothing of it was tested or measured."""
    return FailureEvidence(
        key=key,
        benchmarks=speeds(sides[NOP].measured, sides[ORACLE].measured, SideSamples()),
        tests=PytestSummary(status="invalid"),
        snapshot=SnapshotSummary(status="invalid"),
        notes=[f"CHANGE: {why}"],
    )


def _more_errors(tests: PytestSummary, number: int) -> PytestSummary:
    return tests.model_copy(update={"error": tests.error + number, "total": tests.total + number, "status": "failed"})


def _snapshot(task: SpeedupTask, nop: SideChecks, side: SideChecks) -> tuple[SnapshotSummary, list[str]]:
    first, second = (*nop.outputs, None, None)[:2]
    now = side.outputs[0] if side.outputs else None
    if task.auto is None:
        return transitions(first, now)
    before: Statuses | None = None
    after: Statuses | None = None
    if first is not None and second is not None:
        before = before_statuses(first, second, task.auto.rtol, task.auto.atol)
        after = None if now is None else after_statuses(first, now, task.auto.rtol, task.auto.atol)
    summary, notes = transitions(before, after)
    if before is not None and not any(status == "passed" for status in before.values()):
        return SnapshotSummary(status="invalid"), ["SNAPSHOT: no output of the untouched code can be relied on"]
    return summary, notes


def speeds(nop: SideSamples, oracle: SideSamples, agent: SideSamples) -> list[BenchmarkSpeed]:
    """The benchmarks of the untouched code. What a side has no time for is missing there: no valid pair.

    Nor is it one where the agent has fewer times than the untouched code: those of the good rounds alone say nothing.
    """
    fewer = [name for name in nop.samples if len(agent.samples.get(name, [])) < len(nop.samples[name])]
    whole = {name: times for name, times in agent.samples.items() if name not in fewer}
    sides = (nop.samples, oracle.samples, whole)
    return [_speed(name, *(side.get(name, []) for side in sides)) for name in nop.samples]


def _ratio(before: float | None, now: float | None) -> float | None:
    """How many times as fast; what no program can be is none."""
    return None if before is None or not now else number(before / now)


def _speed(name: str, nop: Sequence[float], oracle: Sequence[float], agent: Sequence[float]) -> BenchmarkSpeed:
    medians = [median(times) if times else None for times in (nop, oracle, agent)]
    before, human, now = medians
    return BenchmarkSpeed(
        name=name,
        agent=_ratio(before, now),
        oracle=_ratio(before, human),
        nop_median=before,
        oracle_median=human,
        agent_median=now,
        samples=Samples(nop=list(nop), oracle=list(oracle), agent=list(agent)),
    )
