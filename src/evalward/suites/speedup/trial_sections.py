"""What people see of one optimisation task: speedups, samples, tests, snapshots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalward.records.result import Result
from evalward.records.sections import Facts, FileText, GridRow, SampleGroup, SamplePlot, TrialSection
from evalward.render.numbers import NOT_AVAILABLE, format_delta, format_factor
from evalward.suites.speedup.details import LEVELS, BenchmarkSpeed, BlockStatus, SpeedupDetails

BEFORE, HUMAN, NOW = "before", "human patch", "now"
"""The untouched code, the oracle's, and the change that is evaluated."""


def trial_sections(result: Result, files: Sequence[FileText]) -> list[TrialSection]:
    """Speedups by benchmark and level, the samples behind them, and what tests and snapshots say."""
    details = result.details
    if not isinstance(details, SpeedupDetails):
        return [*files]
    return [*_speeds(details), *_samples(details), *_tests(details), *_notes(details), *files]


def _speeds(details: SpeedupDetails) -> Iterator[Facts]:
    rows = [
        GridRow(label=one.name, values=[format_factor(one.agent), format_factor(one.oracle), _advantage(one)])
        for one in details.benchmarks
    ]
    if rows:
        yield Facts(title="Speedup by benchmark", heads=[NOW, HUMAN, "difference"], rows=rows)
    summed = [GridRow(label="the task", values=[format_factor(details.task_speedup)])]
    if len(details.levels) == len(LEVELS):
        summed += [
            GridRow(label=f"advantage by {word}", values=[format_delta(level.advantage, "speedup")])
            for word, level in zip(LEVELS, details.levels, strict=True)
        ]
    yield Facts(title="Speedup", rows=summed)


def _advantage(one: BenchmarkSpeed) -> str:
    if not one.valid:
        return f"{NOT_AVAILABLE}: no valid pair"
    return format_delta(one.advantage, "speedup") + (" (measured as no change)" if one.resurrected else "")


def _samples(details: SpeedupDetails) -> list[SamplePlot]:
    groups = [
        SampleGroup(name=one.name, samples=samples)
        for one in details.benchmarks
        if one.samples is not None
        and (
            samples := {
                label: taken
                for label, taken in ((BEFORE, one.samples.nop), (HUMAN, one.samples.oracle), (NOW, one.samples.agent))
                if taken
            }
        )
    ]
    return [SamplePlot(title="Samples", unit="s", groups=groups)] if groups else []


def _tests(details: SpeedupDetails) -> Iterator[Facts]:
    tests, snapshots = details.pytest_summary, details.snapshot_summary
    counts = [
        ("passed", tests.passed, snapshots.passed),
        ("failed", tests.failed, snapshots.failed),
        ("errors", tests.error, None),
        ("passed before, fail now", None, snapshots.pass_to_fail),
        ("skipped", tests.skipped, snapshots.skipped),
        ("all", tests.total, snapshots.total),
    ]
    rows = [GridRow(label="state", values=[tests.status, snapshots.status])]
    rows += [
        GridRow(label=label, values=[_count(one, tests.status), _count(other, snapshots.status)])
        for label, one, other in counts
    ]
    yield Facts(title="Tests and snapshots", heads=["tests", "snapshots"], rows=rows)


def _count(value: int | None, status: BlockStatus) -> str:
    """A count; none where nothing is known of any."""
    if value is None:
        return "–"
    return f"{value:,}" if status in {"passed", "failed"} else NOT_AVAILABLE


def _notes(details: SpeedupDetails) -> list[Facts]:
    known = [
        ("fell back", "the untouched code counts instead of the change" if details.fallback_to_baseline else ""),
        ("times", "contradict the clock, or what the code gave meanwhile" if details.times_forged else ""),
        ("the human patch", "fails tests or snapshots, too" if details.oracle_failed else ""),
        ("steps of the agent", "" if details.trajectory_length is None else f"{details.trajectory_length:,}"),
        *(("note", note) for note in details.notes),
    ]
    rows = [GridRow(label=label, values=[value]) for label, value in known if value]
    return [Facts(title="Notes", rows=rows)] if rows else []
