"""From what a session measured to what is known of each side: speedups per benchmark, tests, outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from evalward.records.speedup import BenchmarkSpeed, PytestSummary, Samples, SnapshotSummary
from evalward.suites.speedup.failure import Evidence
from evalward.suites.speedup.measure.rounds import Measured
from evalward.suites.speedup.measure.session import Checked, Side
from evalward.suites.speedup.measure.snapshots import Statuses, after_statuses, before_statuses, transitions
from evalward.suites.speedup.task import SpeedupTask
from evalward.suites.speedup.values import number

NOP, ORACLE, AGENT = "nop", "oracle", "agent"
NO_CHECK = Checked(PytestSummary())


def evidence_of(key: str, name: str, task: SpeedupTask, sides: Mapping[str, Side]) -> Evidence:
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
    return Evidence(
        key=key,
        benchmarks=speeds(nop.measured, sides[ORACLE].measured if ORACLE in sides else Measured(), side.measured),
        tests=tests,
        snapshot=snapshot,
        notes=[*checked.notes, *notes, *side.measured.notes],
    )


def refused_evidence(key: str, why: str, sides: Mapping[str, Side]) -> Evidence:
    """A change that could not be taken: nothing of it was tested or measured."""
    return Evidence(
        key=key,
        benchmarks=speeds(sides[NOP].measured, sides[ORACLE].measured, Measured()),
        tests=PytestSummary(status="invalid"),
        snapshot=SnapshotSummary(status="invalid"),
        notes=[f"CHANGE: {why}"],
    )


def _more_errors(tests: PytestSummary, number: int) -> PytestSummary:
    return tests.model_copy(update={"error": tests.error + number, "total": tests.total + number, "status": "failed"})


def _snapshot(task: SpeedupTask, nop: Checked, side: Checked) -> tuple[SnapshotSummary, list[str]]:
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


def speeds(nop: Measured, oracle: Measured, agent: Measured) -> list[BenchmarkSpeed]:
    """The benchmarks of the untouched code. What a side has no time for is missing there: no valid pair."""
    return [_speed(name, *(side.samples.get(name, []) for side in (nop, oracle, agent))) for name in nop.samples]


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
