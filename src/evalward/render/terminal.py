"""Judgements for a terminal or a log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import structs

from evalward.records.comparison import RunComparison
from evalward.records.trend import Trend
from evalward.records.verdict import Judgement, Outcome
from evalward.render.changed_sentences import say_changed_sentences
from evalward.render.console import UNBROKEN, Colour, Screen
from evalward.render.context import NO_CLOSING, Accepting, Closing, PageContext, ShowCommand
from evalward.render.escape import one_line, without_marks
from evalward.render.guidance import say_guidance
from evalward.render.names import short_hash
from evalward.render.numbers import plural
from evalward.render.page import build_page
from evalward.render.terminal_parts import (
    WITH_COUNTS,
    say_finding,
    say_headline,
    say_listed,
    say_listing,
    say_matrix,
    say_more,
    say_surface,
    say_table,
)
from evalward.render.trend import trend_row
from evalward.render.view import (
    TERMINAL,
    Badge,
    CaseEntry,
    ChangeGroup,
    JudgementPage,
    MetricRow,
    ReasonLine,
    ReplacedLine,
    RunView,
)

_NAME = 80  # characters of a metric with its run
_CHANGED_LINES = 6  # of a prompt
_CHECK = 100  # characters of a check
RED: Colour = "red"
GREEN: Colour = "green"


def judgement_text(
    judgement: Judgement,
    *,
    colour: bool,
    width: int,
    accept: Accepting | None = None,
    show: ShowCommand | None = None,
    ending: Closing = NO_CLOSING,
    grouped: bool = False,
    verbose: bool = False,
    texts: Mapping[str, str] | None = None,
) -> str:
    """The verdict, what led to it, and the verdict again: a terminal shows the end, a reader begins at the top.

    `width` is the terminal's, in columns; `accept` is how to accept a failure, `show` spells the command that shows a
    case, and `ending` is what stands with the verdict at the end. `grouped`: in a log whose groups fold, tables do.
    `verbose`: runs that are fine have their tables beside ones that aren't, too; a log has them anyway.
    `texts` are what the hashes of prompts stand for: of one that changed, its sentences are shown.
    """
    page = build_page(judgement, PageContext(show=show), TERMINAL, counts=width >= WITH_COUNTS)
    screen = Screen(colour, width, grouped=grouped)
    _verdict(screen, page)
    for line in page.replaced:
        _replaced(screen, line)
    for view in page.surfaces:
        say_surface(screen, view)
    _cases(screen, page)
    _tables(screen, page, judgement, texts or {}, verbose=verbose or grouped)
    screen.unfold()
    say_listed(screen, "Warnings", page.warnings, lambda text: screen.say(text, 2, "!", "yellow"))
    if accept and judgement.verdict.outcome is not Outcome.PASS:
        screen.heading("How to accept this change")
        if accept.first:
            screen.say(without_marks(accept.first), 2)
        if accept.command:
            screen.command(accept.command, "  ")
        screen.say(without_marks(accept.text), 2)
    _ending(screen, page, ending)
    return screen.text()


def verdict_line(judgement: Judgement, *, colour: bool) -> str:
    """The verdict alone, as one line of any length."""
    screen = Screen(colour, UNBROKEN)
    say_headline(screen, build_page(judgement, PageContext(), TERMINAL))
    return screen.text()


def _tables(
    screen: Screen, page: JudgementPage, judgement: Judgement, texts: Mapping[str, str], *, verbose: bool
) -> None:
    """All that there is to look up: what is folded in a log. Of a run that is fine a line, unless `verbose`."""
    trends, said = judgement.trends, set[str]()
    folded = {run.name for run in page.runs.shown if run.folded}
    runs = sorted(judgement.comparison.runs, key=lambda run: run.name in folded)  # as the page has them
    for view in page.guidance:
        screen.fold(f"Guidance: {view.name}")
        say_guidance(screen, view)
    fine = [run for run in page.runs.shown if run.folded and run.rows and not verbose]
    for run in page.runs.shown:
        if run not in fine:
            screen.fold(f"{run.badge.mark} {run.name}: {run.badge.word}")
            _run(screen, run, page, said)
    screen.blank()
    for run in fine:
        screen.say(f"{run.name}: {plural(len(run.rows), 'metric')} ok", 0, run.badge.mark, run.badge.colour)
    if any(run.subject or any(category.fell for category in run.categories) for run in page.runs.shown):
        screen.fold("Categories that fell, and what changed in the subject")
    for run in page.runs.shown:
        _fell(screen, run, page.several)
    _subject(screen, runs, texts)
    if trends:
        screen.fold("Trends")
    _trends(screen, trends)
    for matrix in page.matrices:
        screen.fold(f"{matrix.title} of {matrix.suite}")
        say_matrix(screen, matrix)


def _ending(screen: Screen, page: JudgementPage, ending: Closing) -> None:
    """How to go on, the headline again, and where everything is."""
    if ending.again:
        screen.heading("How to run again what failed")
        screen.command(ending.again, "  ")
    screen.blank()
    say_headline(screen, page)
    if ending.files:
        screen.say(ending.files, 2)


def _verdict(screen: Screen, page: JudgementPage) -> None:
    say_headline(screen, page)
    screen.say(without_marks(" · ".join(page.facts)), 2)
    if page.first:
        _remedy(screen, page.first)
    for reason in page.reasons.shown:
        screen.say(reason.message, 2, reason.badge.mark, reason.badge.colour)
        _remedy(screen, reason)
    say_more(screen, page.reasons)
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


def _run(screen: Screen, run: RunView, page: JudgementPage, said: set[str]) -> None:
    """A run's tables and notes; what is `said` of an earlier one already is not said again."""
    word = "" if run.rows else f": {run.badge.word}"
    if page.several or not run.rows:
        screen.heading(f"{run.badge.mark} {run.name}{word}")
    screen.blank()
    _numbers(screen, run)
    for table in run.tables:
        say_table(screen, structs.replace(table, note="") if table.note in said else table)
        said.add(table.note)
    for listing in run.listings:
        say_listing(screen, structs.replace(listing, note="") if listing.note in said else listing)
        said.add(listing.note)
    for finding in run.findings.shown if run.findings else []:
        if finding.badge.word == "warning":  # what is fine, and what is only good to know, stands in the comment
            say_finding(screen, finding, 0)
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
    if run.moved:
        cells = [[row.metric, row.before, row.now, row.delta] for row in run.moved]
        screen.table(["moved too", "baseline", "now", "Δ"], cells, "lrrr")
        screen.blank()


def _fell(screen: Screen, run: RunView, several: bool) -> None:
    fell = [category for category in run.categories if category.fell]
    if fell:
        screen.heading(f"Categories that fell{f' in {run.name}' if several else ''}")
        cells = [[category.name, category.before, category.now, category.delta] for category in fell]
        screen.table(["category", "baseline", "now", "Δ"], cells, "lrrr")


def _subject(screen: Screen, runs: Sequence[RunComparison], texts: Mapping[str, str]) -> None:
    """What changed in the subjects, each change once: a prompt is often that of several runs."""
    said: set[tuple[str, str | None, str | None]] = set()
    for run in runs:
        changes = [each for each in run.subject if (each.part, each.before, each.now) not in said]
        said.update((each.part, each.before, each.now) for each in changes)
        if changes:
            screen.heading(f"What changed in the subject{f' in {run.name}' if len(runs) > 1 else ''}")
        for each in changes[: TERMINAL.rows]:
            before, now = texts.get(each.before or ""), texts.get(each.now or "")
            if before is not None and now is not None and before != now:
                screen.say(f"{each.part}:", 2)
                say_changed_sentences(screen, before, now, indent=4, most=_CHANGED_LINES)
            else:
                screen.say(f"{each.part}: {short_hash(each.before)} → {short_hash(each.now)}", 2)


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


def _cells(row: MetricRow) -> list[str]:
    return [row.metric, row.before, row.now, row.delta, row.threshold, _badge(row.badge)]


def _badge(badge: Badge) -> str:
    return f"{badge.mark} {badge.word}"


def _cases(screen: Screen, page: JudgementPage) -> None:
    if page.cases_of:
        screen.blank()
        screen.say(f"All cases below are of {page.cases_of}.")
    say_listed(screen, "Unsafe answers", page.unsafe, lambda case: _answer(screen, case, "✗"))
    say_listed(screen, "Broken", page.broken, lambda case: _broken(screen, case))
    new = "New and failing" if page.compared else "Failing"
    say_listed(screen, new, page.new, lambda case: _broken(screen, case))
    say_listed(screen, "Flaky failures", page.excused, lambda case: _excused(screen, case))
    say_listed(screen, "Other wrong answers", page.wrong, lambda case: _answer(screen, case, "–"))
    say_listed(screen, "Fixed", page.fixed, lambda case: screen.say(_case(case), 2, "✓", "green"))
    if page.still:
        names = ", ".join(one_line(name, _NAME) for name in page.still.shown)
        more = f" and {page.still.more} more" if page.still.more else ""
        screen.heading(f"Still failing: {page.still.total}, as before")
        screen.say(f"{names}{more}", 2)
    if page.others:
        screen.heading(f"Other changes: {page.others.total:,}")
        for group in page.other_groups.shown:
            _changed(screen, group)
        say_more(screen, page.other_groups)


def _broken(screen: Screen, case: CaseEntry) -> None:
    if case.above:
        screen.say(f"{_case(case)}; see its unsafe answer above", 2, "✗", "red")
        return
    screen.say(_case(case), 2, "✗", "red")
    for check in case.checks:
        screen.say(one_line(check.check, _CHECK), 6)
        if check.detail:
            screen.say(one_line(check.detail, 2 * _CHECK), 8)
    if case.more_checks:
        screen.say(f"and {plural(case.more_checks, 'more failing check')}", 6)
    if case.session:
        screen.verbatim(case.session, 6)
    if case.show:
        screen.command(case.show, "      → ")


def _changed(screen: Screen, group: ChangeGroup) -> None:
    """One case, or all of which the same is to be said, with a count."""
    entry, ids = group.entry, group.ids
    if ids.total == 1:
        screen.say(f"{entry.change}: {_case(entry)}", 2)
        return
    where = f" in {entry.run}" if entry.run and entry.run not in entry.note else ""
    why = entry.note or _move(entry)
    screen.say(f"{plural(ids.total, 'case')} {entry.change}{where}: {why}", 2)
    screen.say(
        ", ".join(one_line(name, _NAME) for name in ids.shown) + (f" and {ids.more:,} more" if ids.more else ""), 6
    )


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
    if answer.risk and case.show:
        screen.command(case.show, "      → ")


def _case(case: CaseEntry) -> str:
    where = f"{case.category}, {case.run}" if case.run else case.category
    note = "".join(f"; {text}" for text in (case.certainty, case.note) if text)
    return f"{case.id} ({where}): {_move(case)}{note}"


def _move(case: CaseEntry) -> str:
    before, now = case.before.replace("–", "new"), case.now.replace("–", "nothing")
    return f"{before} → {now}"
