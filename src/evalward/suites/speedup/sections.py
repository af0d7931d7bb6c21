"""What people see of speedups: FC-Eval's summary table, and bars of agent and oracle side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from evalward.records.baseline import BaselineRun
from evalward.records.metric import Metric
from evalward.records.report import Run
from evalward.records.result import Result
from evalward.records.sections import BarGroup, Bars, Grid, GridRow, Section
from evalward.render.kinds import TrialText
from evalward.render.numbers import MINUS, NOT_AVAILABLE, format_count, format_factor, plural
from evalward.suites.speedup.details import LEVELS, SpeedupDetails

_ATTEMPTS_AT = "pass_at_"
_REFERENCES = {"nop", "oracle"}
_LABELS = ["agent", "oracle"]


def sections(run: Run, base: BaselineRun | None, *, alone: bool) -> list[Section]:
    """The tasks' speedups beside the oracle's, with what they were in the baseline; alone, each trial by itself, and
    of a single task its benchmarks. Of what others are measured by there is nothing to compare.
    """
    if alone:
        groups = _of_trials(run)
    elif run.target in _REFERENCES or run.not_measured is not None:
        groups = []
    else:
        groups = compared_bars(speeds_of(run, base))
    return [Bars(labels=_LABELS, groups=groups)] if groups else []


def trial_text(result: Result) -> TrialText:
    """The steps that the agent took, where its log tells them."""
    details = result.details
    if not isinstance(details, SpeedupDetails) or details.trajectory_length is None:
        return TrialText()
    return TrialText(turns=f"{details.trajectory_length:,}")


def summary(runs: Iterable[Run]) -> Grid:
    """FC-Eval's summary table: the agents, sorted by key."""
    ordered = sorted(runs, key=lambda run: (run.target, run.suite))
    rows = [
        _row("mean speedup", ordered, "mean_speedup", 6),
        GridRow(label="success rate", values=[_share(run, "mean_success_rate") for run in ordered]),
        GridRow(label="benchmarks, valid / all", values=[_counts(run) for run in ordered]),
        _row("agent advantage", ordered, "agent_advantage", 6),
        *(_level(ordered, number, word) for number, word in enumerate(LEVELS, 1)),
        _row("mean cost per task (USD)", ordered, "mean_cost_per_task", 4),
        _row("cost-weighted advantage", ordered, "cost_weighted_advantage", 6),
        _row("mean trajectory", ordered, "mean_trajectory_length", 2),
        GridRow(label="accuracy", values=[_share(run, "accuracy") for run in ordered]),
        *_attempts(ordered),
    ]
    return Grid(heads=[run.target for run in ordered], rows=rows)


def _row(label: str, runs: Sequence[Run], metric: str, decimals: int) -> GridRow:
    return GridRow(label=label, values=[_fixed(run.metrics.get(metric), decimals) for run in runs])


def _fixed(metric: Metric | None, decimals: int) -> str:
    """A value with so many decimals; `n/a` with the reason when there is none."""
    if metric is None:
        return NOT_AVAILABLE
    if metric.value is None:
        return f"{NOT_AVAILABLE} ({metric.reason})"
    return f"{metric.value:.{decimals}f}".replace("-", MINUS)


def _share(run: Run, name: str) -> str:
    """A share in per cent with two decimals and its counts."""
    metric = run.metrics.get(name)
    if metric is None or metric.value is None:
        return _fixed(metric, 0)
    counts = f" ({format_count(metric.numerator)}/{format_count(metric.denominator)})"
    return f"{metric.value * 100:.2f} %" + (counts if metric.denominator is not None else "")


def _counts(run: Run) -> str:
    valid, everything = (run.metrics.get(name) for name in ("num_valid_benchmarks", "num_benchmarks"))
    if valid is None or everything is None or valid.value is None or everything.value is None:
        return NOT_AVAILABLE
    return f"{format_count(valid.value)} / {format_count(everything.value)}"


def _level(runs: Sequence[Run], number: int, word: str) -> GridRow:
    """One level by its word, with the number of groups behind it."""

    def value(run: Run) -> str:
        text = _fixed(run.metrics.get(f"agent_advantage_level{number}"), 6)
        found = sum(each.levels[number - 1].groups for each in _details(run) if len(each.levels) == len(LEVELS))
        return f"{text} ({plural(found, 'group')})" if found else text

    return GridRow(label=f"advantage, level {number}: {word}", values=[value(run) for run in runs])


def _attempts(runs: Sequence[Run]) -> list[GridRow]:
    """pass@k for every k that an agent has, or one row that says why there is none."""
    ids = [
        name for name in dict.fromkeys(name for run in runs for name in run.metrics) if name.startswith(_ATTEMPTS_AT)
    ]
    shown = [name for name in ids if any(_known(run, name) for run in runs)] or ids[:1]
    return [_row(f"pass@{name.removeprefix(_ATTEMPTS_AT)}", runs, name, 4) for name in shown]


def _known(run: Run, name: str) -> bool:
    return name in run.metrics and run.metrics[name].value is not None


def _details(run: Run) -> list[SpeedupDetails]:
    return [case.details for case in run.cases if case.valid and isinstance(case.details, SpeedupDetails)]


# --- bars -----------------------------------------------------------------------------------------------------------


def _of_trials(run: Run) -> list[BarGroup]:
    pairs = task_bars(run)
    if len(pairs) != 1:
        return pairs
    details = next((case.details for case in run.cases if isinstance(case.details, SpeedupDetails)), None)
    return benchmark_bars(details) if details else pairs


def task_bars(run: Run) -> list[BarGroup]:
    """A pair for each valid trial of a run: the task's speedup beside the oracle's."""
    several = run.trials > 1
    return [
        BarGroup(
            name=f"{case.id} #{case.trial}" if several else case.id,
            values=[case.details.task_speedup, case.details.oracle_speedup],
            mark="fell back" if case.details.fallback_to_baseline else "",
        )
        for case in run.cases
        if case.valid and isinstance(case.details, SpeedupDetails)
    ]


def benchmark_bars(details: SpeedupDetails) -> list[BarGroup]:
    """A pair for each benchmark of a task, the largest difference first."""
    ordered = sorted(details.benchmarks, key=lambda each: (-abs(each.advantage or 0.0), each.name))
    return [
        BarGroup(name=each.name, values=[each.agent, each.oracle], mark="" if each.valid else "not valid")
        for each in ordered
    ]


@dataclass(frozen=True)
class TaskSpeed:
    """A task's speedup beside the oracle's and its own in the baseline; of several trials the median."""

    case: str
    agent: float | None = None
    oracle: float | None = None
    before: float | None = None
    fell_back: bool = False


def compared_bars(speeds: Iterable[TaskSpeed]) -> list[BarGroup]:
    """A pair for each task, with its speedup in the baseline where that shows as another number."""
    return [BarGroup(name=each.case, values=[each.agent, each.oracle], mark=_compared(each)) for each in speeds]


def _compared(speed: TaskSpeed) -> str:
    was = format_factor(speed.before)
    moved = speed.before is not None and was != format_factor(speed.agent)
    return ", ".join(part for part in ("fell back" if speed.fell_back else "", f"was {was}" if moved else "") if part)


def speeds_of(run: Run, base: BaselineRun | None) -> list[TaskSpeed]:
    """Each task with a valid trial, in the order of the run. A task of another definition has nothing before it."""
    was = {(case.id, case.definition): case.results() for case in base.cases} if base else {}
    tasks: dict[str, list[Result]] = defaultdict(list)
    for result in run.cases:
        if result.valid:
            tasks[result.id].append(result)
    return [_task_speed(trials, was.get((trials[0].id, trials[0].definition), [])) for trials in tasks.values()]


def _task_speed(now: Sequence[Result], before: Sequence[Result]) -> TaskSpeed:
    details = _speedups(now)
    return TaskSpeed(
        case=now[0].id,
        agent=_middle(each.task_speedup for each in details),
        oracle=_middle(each.oracle_speedup for each in details),
        before=_middle(each.task_speedup for each in _speedups(before)),
        fell_back=any(each.fallback_to_baseline for each in details),
    )


def _speedups(results: Iterable[Result]) -> list[SpeedupDetails]:
    return [r.details for r in results if r.valid and isinstance(r.details, SpeedupDetails)]


def _middle(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
