"""Speedups for people: FC-Eval's summary table, and bars of agent and oracle side by side on a logarithmic scale.

The bars are text in a code block: Mermaid's charts know no logarithmic scale and draw several bars over each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evalward.records.metric import Metric
from evalward.records.report import Run
from evalward.records.speedup import LEVELS, SpeedupDetails
from evalward.records.timing import TaskSpeed
from evalward.render.escape import md_cell, one_line
from evalward.render.numbers import MINUS, NOT_AVAILABLE, format_count, plural

MAX_ROWS = 18  # pairs of bars: a code block shows 40 lines
NAME_WIDTH, BAR_WIDTH = 36, 48
AGENT_BAR, ORACLE_BAR, AXIS = "█", "░", "│"
_ATTEMPTS_AT = "pass_at_"
_BLOCK_LIMIT = 20_000


@dataclass(frozen=True)
class SummaryRow:
    """One line of the table: what it is, and its text for each agent."""

    label: str
    values: list[str]


def summary_rows(runs: Iterable[Run]) -> tuple[list[str], list[SummaryRow]]:
    """The agents, sorted by key, and the rows of their summary. Text isn't escaped yet."""
    ordered = sorted((run for run in runs if run.kind == "speedup"), key=lambda run: (run.target, run.suite))
    rows = [
        _row("mean speedup", ordered, "mean_speedup", 6),
        SummaryRow("success rate", [_share(run, "mean_success_rate") for run in ordered]),
        SummaryRow("benchmarks, valid / all", [_counts(run) for run in ordered]),
        _row("agent advantage", ordered, "agent_advantage", 6),
        *(_level(ordered, number, word) for number, word in enumerate(LEVELS, 1)),
        _row("mean cost per task (USD)", ordered, "mean_cost_per_task", 4),
        _row("cost-weighted advantage", ordered, "cost_weighted_advantage", 6),
        _row("mean trajectory", ordered, "mean_trajectory_length", 2),
        SummaryRow("accuracy", [_share(run, "accuracy") for run in ordered]),
        *_attempts(ordered),
    ]
    return [run.target for run in ordered], rows


def summary_markdown(runs: Iterable[Run]) -> str:
    """The table as Markdown."""
    agents, rows = summary_rows(runs)
    head = ["", *(md_cell(agent) for agent in agents)]
    lines = [head, ["---", *("---:" for _ in agents)]]
    lines += [[row.label, *(md_cell(value, 200) for value in row.values)] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _row(label: str, runs: Sequence[Run], metric: str, decimals: int) -> SummaryRow:
    return SummaryRow(label, [_fixed(run.metrics.get(metric), decimals) for run in runs])


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


def _level(runs: Sequence[Run], number: int, word: str) -> SummaryRow:
    """One level by its word, with the number of groups behind it."""

    def value(run: Run) -> str:
        text = _fixed(run.metrics.get(f"agent_advantage_level{number}"), 6)
        found = sum(each.levels[number - 1].groups for each in _details(run) if len(each.levels) == len(LEVELS))
        return f"{text} ({plural(found, 'group')})" if found else text

    return SummaryRow(f"advantage, level {number}: {word}", [value(run) for run in runs])


def _attempts(runs: Sequence[Run]) -> list[SummaryRow]:
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


@dataclass(frozen=True)
class Bars:
    """Two speedups that belong together; `None` is not available. `mark` is put behind the agent's number."""

    name: str
    agent: float | None
    oracle: float | None
    mark: str = ""


def task_bars(run: Run) -> list[Bars]:
    """A pair for each valid trial of a run: the task's speedup beside the oracle's."""
    several = run.trials > 1
    return [
        Bars(
            f"{case.id} #{case.trial}" if several else case.id,
            case.details.task_speedup,
            case.details.oracle_speedup,
            "fell back" if case.details.fallback_to_baseline else "",
        )
        for case in run.cases
        if case.valid and isinstance(case.details, SpeedupDetails)
    ]


def compared_bars(speeds: Iterable[TaskSpeed]) -> list[Bars]:
    """A pair for each task, with its speedup in the baseline where that shows as another number."""
    return [Bars(each.case, each.agent, each.oracle, _compared(each)) for each in speeds]


def _compared(speed: TaskSpeed) -> str:
    was = _number(speed.before)
    moved = speed.before is not None and was != _number(speed.agent)
    return ", ".join(part for part in ("fell back" if speed.fell_back else "", f"was {was}" if moved else "") if part)


def benchmark_bars(details: SpeedupDetails) -> list[Bars]:
    """A pair for each benchmark of a task, the largest difference first."""
    ordered = sorted(details.benchmarks, key=lambda each: (-abs(each.advantage or 0.0), each.name))
    return [Bars(each.name, each.agent, each.oracle, "" if each.valid else "not valid") for each in ordered]


def bars(pairs: Sequence[Bars], limit: int = MAX_ROWS) -> str:
    """The pairs as text: a bar to the right of 1× is faster, to the left slower; each doubling is as wide."""
    shown = pairs[:limit]
    if not shown:
        return ""
    scale = _scale(shown)
    names = [one_line(pair.name, NAME_WIDTH) for pair in shown]
    width = max(map(len, names))
    lines = [_head(scale, width)]
    for name, pair in zip(names, shown, strict=True):
        lines.append(f"{name:<{width}} agent  {_bar(pair.agent, scale, AGENT_BAR)} {_number(pair.agent, pair.mark)}")
        lines.append(f"{'':<{width}} oracle {_bar(pair.oracle, scale, ORACLE_BAR)} {_number(pair.oracle)}")
    if len(pairs) > len(shown):
        lines.append(f"… and {len(pairs) - len(shown)} more")
    return "\n".join(line.rstrip() for line in lines)


@dataclass(frozen=True)
class _Scale:
    """Columns left and right of the axis, and columns per doubling."""

    left: int
    right: int
    doubling: float


def _log2(value: float | None) -> float:
    return math.log2(value) if value is not None and math.isfinite(value) and value > 0 else 0.0


def _scale(pairs: Iterable[Bars]) -> _Scale:
    """Whole doublings on both sides, so that all bars fit: from 1× to 2× at least."""
    logs = [_log2(value) for pair in pairs for value in (pair.agent, pair.oracle)]
    right = max(1, math.ceil(max(logs) - 1e-9))
    left = max(0, math.ceil(-min(logs) - 1e-9))
    doubling = BAR_WIDTH / (left + right)
    columns = round(left * doubling)
    return _Scale(columns, BAR_WIDTH - columns, doubling)


def _head(scale: _Scale, width: int) -> str:
    """The ends of the scale and the axis between them."""
    ends = [-scale.left / scale.doubling, scale.right / scale.doubling]
    low, high = (f"{2 ** round(end):.4g}×" for end in ends)
    left = (f"{low:<{scale.left}}" if scale.left else "")[: scale.left]
    right = f"{'1×':<{max(scale.right - len(high), 2)}}{high}"
    return " " * (width + 8) + left + right


def _bar(value: float | None, scale: _Scale, ink: str) -> str:
    """A bar from the axis to the value."""
    length = round(_log2(value) * scale.doubling)
    left = ink * min(max(-length, 0), scale.left)
    right = ink * min(max(length, 0), scale.right)
    return f"{left:>{scale.left}}{AXIS}{right:<{scale.right}}"


def _number(value: float | None, mark: str = "") -> str:
    text = NOT_AVAILABLE if value is None else f"{value:.3g}×".replace("-", MINUS)
    return f"{text} ({mark})" if mark else text
