"""Judgements and reports for a terminal or a log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from evalward.records.report import Finding, Report
from evalward.records.trend import Trend
from evalward.records.verdict import Judgement, Outcome
from evalward.render.console import Screen
from evalward.render.context import Accepting, PageContext, ShowCommand
from evalward.render.escape import one_line, without_marks
from evalward.render.guidance import say_guidance
from evalward.render.kinds import ShownKinds
from evalward.render.numbers import plural
from evalward.render.page import build_page
from evalward.render.reports import ReportRun, ReportsPage, RunColumns, TaskLine, build_reports
from evalward.render.trend import trend_row
from evalward.render.view import (
    TERMINAL,
    Badge,
    CaseEntry,
    CaseMatrix,
    CaseTable,
    Colour,
    FindingLine,
    JudgementPage,
    MetricRow,
    ReasonLine,
    ReplacedLine,
    RunView,
    Some,
)

_T = TypeVar("_T")

_WITH_COUNTS = 100  # columns from which there is room for n of N
_COLUMN_WITH_COUNTS = 26
_BETWEEN_RUNS = 2
_PADDED = 2  # tabulate makes a column so much wider than its head
_NAME = 80  # characters of a metric with its run
_CHECK = 100  # characters of a check
RED: Colour = "red"
GREEN: Colour = "green"
_UNMOVED = {"±0", "–"}


def judgement_text(
    judgement: Judgement,
    *,
    colour: bool,
    width: int,
    accept: Accepting | None = None,
    show: ShowCommand | None = None,
) -> str:
    """The verdict and what led to it. `width` is the terminal's, in columns; `accept` is how to accept a failure, and
    `show` spells the command that shows a case.
    """
    page = build_page(judgement, PageContext(show=show), TERMINAL, counts=width >= _WITH_COUNTS)
    screen = Screen(colour, width)
    _verdict(screen, page)
    for line in page.replaced:
        _replaced(screen, line)
    for view in page.guidance:
        say_guidance(screen, view)
    _cases(screen, page)
    for run in page.runs.shown:
        _run(screen, run, page)
    for run in page.runs.shown:
        _changes(screen, run, page.several)
    _trends(screen, judgement.trends)
    for matrix in page.matrices:
        _matrix(screen, matrix)
    _listed(screen, "Warnings", page.warnings, lambda text: screen.say(text, 2, "!", "yellow"))
    if accept and judgement.verdict.outcome is not Outcome.PASS:
        screen.heading("How to accept this change")
        screen.verbatim(accept.command, 2)
        screen.say(without_marks(accept.text), 2)
    return screen.text()


def report_text(
    reports: Sequence[Report],
    kinds: ShownKinds,
    *,
    colour: bool,
    width: int,
    verbose: bool = False,
    findings: Sequence[Finding] | None = None,
) -> str:
    """Several runs side by side, then the runs of a single report in full.

    `verbose` shows all checks, not the failing ones only, and what each task took; `findings` are those over all the
    runs together.
    """
    runs = sum(len(report.runs) for report in reports)
    columns = 1 if runs == 1 else 1 + runs
    counts = width >= max(_WITH_COUNTS, columns * _COLUMN_WITH_COUNTS)
    page = build_reports(reports, kinds, counts=counts, findings=findings)
    screen = Screen(colour, width)
    _report_head(screen, page)
    if page.side:
        _side_by_side(screen, page.side)
    for matrix in page.matrices:
        _matrix(screen, matrix)
    _findings(screen, "Over all of them", page.findings)
    for run in page.runs:
        _report_run(screen, run, verbose)
    return screen.text()


def _verdict(screen: Screen, page: JudgementPage) -> None:
    screen.say(f"{page.title}: {page.badge.word} — {page.headline}", mark=page.badge.mark, colour=page.badge.colour)
    screen.say(without_marks(" · ".join(page.facts)), 2)
    if page.first:
        _remedy(screen, page.first)
    for reason in page.reasons.shown:
        screen.say(reason.message, 2, reason.badge.mark, reason.badge.colour)
        _remedy(screen, reason)
    _more(screen, page.reasons)
    for alert in page.alerts:
        screen.say(alert, 2, "!", "yellow")


def _replaced(screen: Screen, line: ReplacedLine) -> None:
    """What took whose place, and what that did."""
    screen.blank()
    screen.say(without_marks(line.title), mark="→", colour="dim")
    screen.say(" · ".join(line.facts), 2)
    for word, cases, mark, colour in (("broke", line.broken, "✗", RED), ("got fixed", line.fixed, "✓", GREEN)):
        if cases:
            more = f" and {cases.more} more" if cases.more else ""
            screen.say(f"{plural(cases.total, 'case')} {word}: {', '.join(cases.shown)}{more}", 2, mark, colour)


def _remedy(screen: Screen, reason: ReasonLine) -> None:
    if reason.cases:
        more = f" and {reason.cases.more} more" if reason.cases.more else ""
        screen.say(f"cases: {', '.join(reason.cases.shown)}{more}", 4)
    if reason.remedy:
        screen.say(reason.remedy, 4, "→")


def _run(screen: Screen, run: RunView, page: JudgementPage) -> None:
    word = "" if run.rows else f": {run.badge.word}"
    if page.several or not run.rows:
        screen.heading(f"{run.badge.mark} {run.name}{word}")
    screen.blank()
    _numbers(screen, run)
    for table in run.tables:
        _table(screen, table)
    for finding in run.findings.shown if run.findings else []:
        if finding.badge.word == "warning":  # what is fine, and what is only good to know, stands in the comment
            _finding(screen, finding, 0)
    for row in run.sure:
        if row.decision:
            screen.say(row.decision)
    for note in run.notes:
        screen.say(without_marks(note).replace("⚠️", "!"))


def _numbers(screen: Screen, run: RunView) -> None:
    if run.rows:
        headers = ["metric", "baseline", "now", "Δ", "threshold", "status"]
        screen.table(headers, [_cells(row) for row in run.rows], "lrrrll")
        screen.blank()
    if run.bars:
        screen.verbatim(run.bars, 2)
        screen.blank()
    moved = [row for row in run.info if row.delta not in _UNMOVED and not row.metric.endswith("_duration_ms")]
    if moved:
        cells = [[row.metric, row.before, row.now, row.delta] for row in moved]
        screen.table(["moved too", "baseline", "now", "Δ"], cells, "lrrr")
        screen.blank()


def _changes(screen: Screen, run: RunView, several: bool) -> None:
    where = f" in {run.name}" if several else ""
    fell = [category for category in run.categories if category.fell]
    if fell:
        screen.heading(f"Categories that fell{where}")
        cells = [[category.name, category.before, category.now, category.delta] for category in fell]
        screen.table(["category", "baseline", "now", "Δ"], cells, "lrrr")
    if run.subject:
        screen.heading(f"What changed in the subject{where}")
        for line in run.subject:
            screen.say(f"{line.part}: {line.before} → {line.now}", 2)


def _trends(screen: Screen, trends: Sequence[Trend]) -> None:
    """A line for each protected metric, of the measurements before this one."""
    if not trends:
        return
    screen.heading(f"Trend over {plural(max(len(trend.points) for trend in trends), 'earlier run')}")
    several = len({(trend.suite, trend.target) for trend in trends}) > 1
    names = [f"{trend.metric}, {trend.suite} × {trend.target}" if several else trend.metric for trend in trends]
    rows = [trend_row(trend) for trend in trends]
    held = any(row.anchor for row in rows)
    cells = [
        [one_line(name, _NAME), *([row.anchor] if held else []), row.move, row.line]
        for name, row in zip(names, rows, strict=True)
    ]
    screen.table(["metric", *(["anchor"] if held else []), "first → last", "trend"], cells, "lrll" if held else "lll")


def _table(screen: Screen, table: CaseTable) -> None:
    """A row per case, and how to read it."""
    cells = [[row.id, f"{row.badge.mark} {row.outcome}", *row.cells] for row in table.rows.shown]
    screen.table([table.head, "outcome", *table.columns], cells, "ll" + "r" * len(table.columns))
    _more(screen, table.rows)
    if table.note:
        screen.say(table.note)
    screen.blank()


def _matrix(screen: Screen, matrix: CaseMatrix) -> None:
    """Cases and targets."""
    screen.heading(f"{matrix.title} of {matrix.suite}")
    cells = [
        [name, *(f"{badge.mark} {text}" if badge else text for badge, text in row)] for name, row in matrix.rows.shown
    ]
    heads = [one_line(agent, _CHECK) for agent in matrix.targets]
    screen.table([matrix.head, *heads], cells, "l" * (1 + len(matrix.targets)))
    _more(screen, matrix.rows)


def _cells(row: MetricRow) -> list[str]:
    return [row.metric, row.before, row.now, row.delta, row.threshold, _badge(row.badge)]


def _badge(badge: Badge) -> str:
    return f"{badge.mark} {badge.word}"


def _cases(screen: Screen, page: JudgementPage) -> None:
    _listed(screen, "Unsafe answers", page.unsafe, lambda case: _answer(screen, case, "✗"))
    _listed(screen, "Broken", page.broken, lambda case: _broken(screen, case))
    new = "New and failing" if page.compared else "Failing"
    _listed(screen, new, page.new, lambda case: _broken(screen, case))
    _listed(screen, "Failed, but not held against this change", page.excused, lambda case: _excused(screen, case))
    _listed(screen, "Other wrong answers", page.wrong, lambda case: _answer(screen, case, "–"))
    _listed(screen, "Fixed", page.fixed, lambda case: screen.say(_case(case), 2, "✓", "green"))
    if page.still:
        names = ", ".join(one_line(name, _NAME) for name in page.still.shown)
        more = f" and {page.still.more} more" if page.still.more else ""
        screen.heading(f"Still failing: {page.still.total}, as before")
        screen.say(f"{names}{more}", 2)
    _listed(screen, "Other changes", page.others, lambda case: screen.say(f"{case.change}: {_case(case)}", 2))


def _broken(screen: Screen, case: CaseEntry) -> None:
    screen.say(_case(case), 2, "✗", "red")
    for check in case.checks:
        screen.say(one_line(check.check, _CHECK), 6)
        if check.detail:
            screen.say(one_line(check.detail, 2 * _CHECK), 8)
    if case.more_checks:
        screen.say(f"and {case.more_checks} more failing checks", 6)
    if case.session:
        screen.verbatim(case.session, 6)
    if case.show:
        screen.command(case.show, "      → ")


def _excused(screen: Screen, case: CaseEntry) -> None:
    screen.say(_case(case), 2, "–", "dim")


def _answer(screen: Screen, case: CaseEntry, mark: str) -> None:
    answer = case.answer
    if answer is None:
        return
    where = f"{case.category}, {case.run}" if case.run else case.category
    risk = f": rated {answer.risk}" if answer.risk else ""
    screen.say(f"{case.id} ({where}){risk} – {answer.why}", 2, mark, "red" if answer.risk else None)
    screen.verbatim(case.session, 6)


def _case(case: CaseEntry) -> str:
    where = f"{case.category}, {case.run}" if case.run else case.category
    note = "".join(f"; {text}" for text in (case.certainty, case.note) if text)
    before, now = case.before.replace("–", "new"), case.now.replace("–", "nothing")
    return f"{case.id} ({where}): {before} → {now}{note}"


def _listed(screen: Screen, title: str, items: Some[_T], show: Callable[[_T], None]) -> None:
    if not items:
        return
    screen.heading(f"{title}: {items.total}")
    for item in items.shown:
        show(item)
    _more(screen, items)


def _more(screen: Screen, items: Some[_T]) -> None:
    if items.more:
        screen.say(f"and {items.more} more", 2)


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
        _table(screen, table)
    if run.tasks:
        screen.heading(f"Tasks: {run.passed:,} of {run.total:,} passed")
        for task in run.tasks:
            _task(screen, task, verbose)
    _findings(screen, "Findings", run.findings)


def _findings(screen: Screen, title: str, findings: Sequence[FindingLine]) -> None:
    if findings:
        screen.heading(title)
    for finding in findings:
        _finding(screen, finding, 2)


def _finding(screen: Screen, finding: FindingLine, indent: int) -> None:
    why = f" ({finding.why})" if finding.why else ""
    screen.say(f"{finding.message}{why}", indent, finding.badge.mark, finding.badge.colour)
    if finding.advice:
        screen.say(finding.advice, indent + 2, "→")


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
