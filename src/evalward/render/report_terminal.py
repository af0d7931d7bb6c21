"""Reports without a baseline for a terminal or a log: side by side, and each run in full."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.report import Finding, Report
from evalward.render.console import UNBROKEN, Screen
from evalward.render.escape import without_marks
from evalward.render.kinds import ShownKinds
from evalward.render.reports import ReportRun, ReportsPage, RunColumns, TaskLine, build_reports, outcome_facts
from evalward.render.terminal_parts import WITH_COUNTS, say_findings, say_listing, say_matrix, say_table

_COLUMN_WITH_COUNTS = 26
_BETWEEN_RUNS = 2
_PADDED = 2  # a column is so much wider than its head


def report_text(
    reports: Sequence[Report],
    kinds: ShownKinds,
    *,
    colour: bool,
    width: int,
    verbose: bool = False,
    findings: Sequence[Finding] | None = None,
    grouped: bool = False,
) -> str:
    """Several runs side by side, then the runs of a single report in full.

    `verbose` shows all trials with all checks, not the failing ones only, and what each took; `findings` are those over
    all the runs together. `grouped`: in a log whose groups fold, each run does.
    """
    runs = sum(len(report.runs) for report in reports)
    columns = 1 if runs == 1 else 1 + runs
    counts = width >= max(WITH_COUNTS, columns * _COLUMN_WITH_COUNTS)
    page = build_reports(reports, kinds, counts=counts, findings=findings)
    screen = Screen(colour, width, grouped=grouped)
    _report_head(screen, page)
    if page.side:
        _side_by_side(screen, page.side)
    for matrix in page.matrices:
        say_matrix(screen, matrix)
    say_findings(screen, "Across all runs", page.findings)
    for run in page.runs:
        screen.fold(run.name)
        _report_run(screen, run, verbose)
    screen.unfold()
    return screen.text()


def outcome_line(reports: Sequence[Report]) -> str:
    """How the trials ended, as one line of any length."""
    screen = Screen(False, UNBROKEN)
    screen.say(f"Evalward run: {', '.join(outcome_facts(reports))}")
    return screen.text()


def _report_head(screen: Screen, page: ReportsPage) -> None:
    screen.heading("Evalward report: " + without_marks(" · ".join(page.facts)))
    for warning in page.warnings:
        screen.say(warning, 2, "!", "yellow")


def _report_run(screen: Screen, run: ReportRun, verbose: bool) -> None:
    facts = f": {', '.join(run.facts)}" if run.facts else ""
    screen.heading(f"{run.name}{facts}")
    if run.not_measured:
        screen.say(f"Not measured: {run.not_measured}", 2, "?", "yellow")
    screen.blank()
    if run.metrics:
        screen.table(["metric", "value"], run.metrics, "lr")
        screen.blank()
    if run.bars:
        screen.verbatim(run.bars, 2)
        screen.blank()
    if run.categories:
        screen.table(["category", "rate"], run.categories, "lr")
    for table in run.tables:
        screen.blank()
        say_table(screen, table)
    for listing in run.listings:
        say_listing(screen, listing)
    if run.tasks:
        screen.heading(f"Trials: {run.passed:,} of {run.total:,} passed")
        for task in run.tasks if verbose else run.remarkable:
            _task(screen, task, verbose)
    say_findings(screen, "Findings", run.findings)


def _task(screen: Screen, task: TaskLine, verbose: bool) -> None:
    why = f" – {task.why}" if task.why else ""
    screen.say(
        f"{task.badge.word} {task.score} {task.id} ({task.category}){why}", 2, task.badge.mark, task.badge.colour
    )
    if verbose and task.effort.known:
        screen.say(" · ".join(task.effort.known), 6)
    for passed, check in task.checks:
        if verbose or not passed:
            text = f"{check.check}: {check.detail}" if check.detail else check.check
            screen.say(text, 6, "✓" if passed else "✗", "green" if passed else "red")
    if task.session:
        screen.verbatim(task.session, 8)


def _side_by_side(screen: Screen, side: RunColumns) -> None:
    screen.blank()
    for column in side.columns:
        screen.say(f"{column.name} · " + without_marks(" · ".join(column.facts)), 2, f"{column.label} =")
    _columns(screen, "metric", side.metrics, side)
    if side.categories:
        _columns(screen, "category", side.categories, side)


def _columns(screen: Screen, title: str, rows: Sequence[tuple[str, list[str]]], side: RunColumns) -> None:
    """A table of as many columns at a time as fit."""
    names = max([len(title), *(len(name) for name, _ in rows)])
    widths = [
        max([len(column.label) + _PADDED, *(len(values[index]) for _, values in rows)])
        for index, column in enumerate(side.columns)
    ]
    start = 0
    while start < len(widths):
        end, used = start + 1, names + widths[start] + _BETWEEN_RUNS
        while end < len(widths) and used + widths[end] + _BETWEEN_RUNS <= screen.width:
            used += widths[end] + _BETWEEN_RUNS
            end += 1
        screen.blank()
        headers = [title, *(column.label for column in side.columns[start:end])]
        screen.table(headers, [[name, *values[start:end]] for name, values in rows], "l" + "r" * (end - start))
        start = end
