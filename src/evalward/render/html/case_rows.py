"""All cases of all runs, a row each: how it ended, what changed, how often it passed, what it cost.

Of very many only as many rows as the page has room for.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import count

from msgspec import Struct

from evalward.records.comparison import CaseChange, RunComparison, Tally
from evalward.records.report import Run
from evalward.records.result import NOT_RUN, Result, Status, by_case
from evalward.render.anchors import case_anchor
from evalward.render.escape import html_shown
from evalward.render.html.anchoring import AnchorBook
from evalward.render.html.budget import CASES_BYTES, fitting_rows, size_of
from evalward.render.html.changes import UNKNOWN, mean
from evalward.render.html.sides import RunTrials
from evalward.render.names import spoken
from evalward.render.numbers import plural
from evalward.render.view import MISSING, RESULTS, Badge

_ROW = 450  # bytes of a row without its names
_PASSED = RESULTS[Status.PASSED]
_NOT_RUN = Badge("–", "not run", "dim", "–")


class ListedCase(Struct, frozen=True):
    """One case. `anchor` is the row's id where it is the place of the case, `link` the fragment where it isn't."""

    id: str
    category: str
    anchor: str
    link: str
    badge: Badge
    change: str
    before: str
    now: str
    cost: str


class RunCases(Struct, frozen=True):
    """The cases of one run; `why` says why there are none, or not all."""

    suite: str
    target: str
    lines: list[ListedCase]
    why: str = ""


def compared_cases(runs: Sequence[RunComparison], trials: Sequence[RunTrials], book: AnchorBook) -> list[RunCases]:
    """The cases of the runs that were compared, in the order of their ids: all that fit, what did not pass first."""
    rows = [(_badge(case) != _PASSED, _bytes(case.id, case.category)) for run in runs for case in run.cases]
    fitting, place = fitting_rows(rows, CASES_BYTES), count()
    found = []
    for run, kept in zip(runs, trials, strict=True):
        shown = [case for case in run.cases if next(place) in fitting]
        lines = [_compared(case, run, kept, book) for case in shown]
        why = _left_out(len(run.cases) - len(shown)) if run.cases else _no_case(run)
        found.append(RunCases(run.suite, run.target, lines, why))
    return found


def _no_case(run: RunComparison) -> str:
    return f"Not measured: {run.not_measured}" if run.not_measured else "The judgement lists no case of this run."


def _bytes(name: str, category: str) -> int:
    """About as long as the row of a case becomes."""
    return _ROW + size_of(escape(html_shown(name))) + 2 * size_of(escape(html_shown(category)))


def _left_out(number: int) -> str:
    return f"Left out for the size of the page: {plural(number, 'case')}. The report has them." if number else ""


def _compared(case: CaseChange, run: RunComparison, trials: RunTrials, book: AnchorBook) -> ListedCase:
    anchor = book.take(run.suite, run.target, case.id)
    return ListedCase(
        id=case.id,
        category=case.category,
        anchor=anchor,
        link="" if anchor else case_anchor(run.suite, run.target, case.id),
        badge=_badge(case),
        change="" if case.change == "same" else spoken(case.change),
        before=_passes(case.before),
        now=_passes(case.now),
        cost=mean([each.usage.cost_usd for each in trials.now.get(case.id, [])], "usd"),
    )


def _badge(case: CaseChange) -> Badge:
    if case.now is not None:
        return RESULTS[Status.PASSED if case.now.passes else Status.FAILED]
    if case.note == NOT_RUN:
        return _NOT_RUN
    if case.change == "missing":
        return MISSING
    return RESULTS[Status.SKIPPED if case.skipped else Status.ERROR]


def _passes(tally: Tally | None) -> str:
    return UNKNOWN if tally is None else f"{tally.passed:,} of {tally.trials:,}"


def measured_cases(runs: Sequence[Run], book: AnchorBook) -> list[RunCases]:
    """The cases of runs that nothing was compared with: all that fit, what did not pass first."""
    cases = [by_case(run.cases) for run in runs]
    rows = [
        (_ended(Tally.of(results), results) != _PASSED, _bytes(name, results[0].category))
        for each in cases
        for name, results in each.items()
    ]
    fitting, place = fitting_rows(rows, CASES_BYTES), count()
    found = []
    for run, each in zip(runs, cases, strict=True):
        shown = {name: results for name, results in each.items() if next(place) in fitting}
        lines = [_measured(name, results, run, book) for name, results in shown.items()]
        why = _left_out(len(each) - len(shown)) or ("" if each else "The report lists no case of this run.")
        found.append(
            RunCases(run.suite, run.target, lines, f"Not measured: {run.not_measured}" if run.not_measured else why)
        )
    return found


def _measured(name: str, results: Sequence[Result], run: Run, book: AnchorBook) -> ListedCase:
    tally = Tally.of(results)
    anchor = book.take(run.suite, run.target, name)
    return ListedCase(
        id=name,
        category=results[0].category,
        anchor=anchor,
        link="" if anchor else case_anchor(run.suite, run.target, name),
        badge=_ended(tally, results),
        change="",
        before=UNKNOWN,
        now=_passes(tally),
        cost=mean([each.usage.cost_usd for each in results], "usd"),
    )


def _ended(tally: Tally | None, results: Sequence[Result]) -> Badge:
    if tally is not None:
        return RESULTS[Status.PASSED if tally.passes else Status.FAILED]
    if all(result.reason == NOT_RUN for result in results):
        return _NOT_RUN
    return RESULTS[next((each.status for each in results if each.status is Status.ERROR), Status.SKIPPED)]
