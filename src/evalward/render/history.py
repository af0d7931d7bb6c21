"""What the history says, for a terminal and as Markdown: trends, flaky cases with rate and since when, failing ones."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.history import BrokenCase, HistorySummary, RunHistory
from evalward.records.trend import FlakyCase, Mark
from evalward.render.console import Screen
from evalward.render.escape import md_cell, md_code
from evalward.render.names import DAY, moment
from evalward.render.numbers import format_number, plural
from evalward.render.trend import trend_row, trend_section

MOST_CASES = 20


def history_text(summary: HistorySummary, *, colour: bool, width: int, ascii: bool = False) -> str:
    """Each run with its trends and the cases that people can't rely on."""
    screen = Screen(colour, width)
    if not summary.runs:
        screen.say("The history has no run.")
    for run in summary.runs:
        _run_text(screen, run, ascii)
    return screen.text()


def _run_text(screen: Screen, run: RunHistory, ascii: bool) -> None:
    screen.heading(f"{run.name} ({run_facts(run)})")
    rows = [trend_row(trend, ascii=ascii) for trend in run.trends]
    if rows:
        arrow = "->" if ascii else "→"
        held = any(row.anchor for row in rows)
        cells = [[row.metric, *([row.anchor] if held else []), row.move, row.low, row.high, row.line] for row in rows]
        names = ["metric", *(["anchor"] if held else []), f"first {arrow} last", "lowest", "highest", "trend"]
        screen.table(names, cells, "lrlrrl" if held else "llrrl")
    for title, lines in (("Flaky cases:", flaky_lines(run.flaky)), ("Failing cases:", broken_lines(run.broken))):
        if lines:
            screen.blank()
            screen.say(title)
            for name, what in lines[:MOST_CASES]:
                screen.say(f"{name}: {what}", 2, *(("~", "yellow") if title.startswith("Flaky") else ("✗", "red")))
            _rest(screen, len(lines))


def _rest(screen: Screen, lines: int) -> None:
    if lines > MOST_CASES:
        screen.say(f"and {plural(lines - MOST_CASES, 'more case', 'more cases')}", 2)


def history_markdown(summary: HistorySummary) -> str:
    """The same for a page on GitHub, with charts."""
    if not summary.runs:
        return "The history has no run.\n"
    return "\n\n".join(part for run in summary.runs for part in _run_markdown(run)) + "\n"


def _run_markdown(run: RunHistory) -> list[str]:
    parts = [f"### {md_cell(run.suite)} × {md_cell(run.target)}", md_cell(run_facts(run), 300)]
    parts += [flaky_table(run.flaky), broken_table(run.broken), trend_section(run.trends).strip("\n")]
    return [part for part in parts if part]


def flaky_table(cases: Sequence[FlakyCase]) -> str:
    """The flaky cases as a Markdown table, the least reliable first; `""` without any."""
    return _table("flaky case", flaky_lines(cases))


def broken_table(cases: Sequence[BrokenCase]) -> str:
    """The failing cases as a Markdown table, the latest first; `""` without any."""
    return _table("failing case", broken_lines(cases))


def _table(head: str, lines: Sequence[tuple[str, str]]) -> str:
    if not lines:
        return ""
    rows = [f"| {md_code(name)} | {md_cell(what, 200)} |" for name, what in lines[:MOST_CASES]]
    more = len(lines) - MOST_CASES
    if more > 0:
        rows.append(f"| and {plural(more, 'more case', 'more cases')} | |")
    return "\n".join([f"| {head} | |", "|---|---|", *rows])


def flaky_lines(cases: Sequence[FlakyCase]) -> list[tuple[str, str]]:
    """Each case's id and `flaky_words`, the least reliable first."""
    return [(case.id, flaky_words(case)) for case in sorted(cases, key=lambda case: (case.rate, case.id))]


def flaky_words(case: FlakyCase) -> str:
    """`passes 70.0 % (7 of 10 trials in 5 runs), since 2026-11-02 (abc1234)`. Plain text."""
    if case.runs == 1 and case.since is None:
        return f"passed {case.passed} of {plural(case.trials, 'trial')} of the baseline"
    rate = f"passes {format_number(case.rate, 'ratio')} ({case.passed} of {plural(case.trials, 'trial')}"
    since = ", since before the history" if case.since is None else f", since {_mark(case.since)}"
    if case.since is not None and case.from_start:
        since += " or earlier"
    last = f", last failed {_mark(case.last_failed)}" if case.last_failed and case.last_failed != case.since else ""
    return f"{rate} in {plural(case.runs, 'run')}){since}{last}"


def broken_lines(cases: Sequence[BrokenCase]) -> list[tuple[str, str]]:
    """Each case's id and `broken_words`, the latest first."""
    latest = sorted(sorted(cases, key=lambda case: case.id), key=lambda case: case.since.at, reverse=True)
    return [(case.id, broken_words(case)) for case in latest]


def broken_words(case: BrokenCase) -> str:
    """`fails since 2026-11-02 (abc1234), 3 runs; passed last 2026-11-01 (0123abc)`. Plain text."""
    before = f"; passed last {_mark(case.last_passed)}" if case.last_passed else "; no run is known in which it passed"
    return f"fails since {_mark(case.since)}, {plural(case.runs, 'run')}{before}"


def run_facts(run: RunHistory) -> str:
    """`31 runs, 2026-10-21 to 2026-11-20`."""
    days = dict.fromkeys((run.first.at[:DAY], run.last.at[:DAY]))
    return f"{plural(run.runs, 'run')}, {' to '.join(days)}"


def _mark(mark: Mark) -> str:
    return moment(mark.at, mark.commit)
