"""What the page of reports shows that nothing was compared with: one in full, several side by side."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from evalward.records.report import Report, Run
from evalward.records.sections import Bars
from evalward.render.html.anchoring import AnchorBook
from evalward.render.html.bars import FactorBars, factor_bars
from evalward.render.html.case_rows import RunCases, measured_cases
from evalward.render.html.links import Links
from evalward.render.html.setup import SetupView, report_setup
from evalward.render.kinds import ShownKinds
from evalward.render.outputs.base import ShownReports
from evalward.render.reports import ReportRun, ReportsPage, TaskLine, build_reports
from evalward.render.view import Some

MOST_FAILING = 500  # trials of one run


class MeasuredBody(Struct, frozen=True):
    """One run in full, with its factors drawn, and the trials that didn't pass."""

    view: ReportRun
    failing: Some[TaskLine]
    bars: list[FactorBars]
    place: str


class ReportsBody(Struct, frozen=True):
    """Everything that the page of reports shows; `prefix` as in a judgement's."""

    page: ReportsPage
    prefix: str
    runs: list[MeasuredBody]
    cases: list[RunCases]
    setup: SetupView
    passed: int
    total: int


def reports_body(shown: ShownReports, book: AnchorBook) -> ReportsBody:
    """The whole of it."""
    page = build_reports(shown.reports, shown.kinds, findings=shown.findings)
    runs = [run for report in shown.reports for run in report.runs]
    return ReportsBody(
        page=page,
        prefix="",
        runs=_runs(page, shown.reports, shown.kinds),
        cases=measured_cases(runs, book),
        setup=report_setup(shown.reports, Links()),
        passed=sum(run.passed for run in page.runs),
        total=sum(run.total for run in page.runs),
    )


def _runs(page: ReportsPage, reports: Sequence[Report], kinds: ShownKinds) -> list[MeasuredBody]:
    if not page.runs:
        return []
    return [
        MeasuredBody(view, _failing(view), _bars(run, kinds), f"run-{number}")
        for number, (view, run) in enumerate(zip(page.runs, reports[0].runs, strict=True), 1)
    ]


def _failing(view: ReportRun) -> Some[TaskLine]:
    found = view.remarkable
    return Some(found[:MOST_FAILING], len(found))


def _bars(run: Run, kinds: ShownKinds) -> list[FactorBars]:
    sections = kinds[run.kind].sections(run, None, alone=True) if run.kind in kinds else []
    return [factor_bars(section) for section in sections if isinstance(section, Bars)]
