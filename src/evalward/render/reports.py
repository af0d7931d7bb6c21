"""What reports without a baseline show: one in full, several side by side. Plain text, not yet escaped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct, field

from evalward.records.metric import Metric
from evalward.records.report import Finding, Report, Run
from evalward.records.result import NOT_RUN, Result, Status
from evalward.records.sections import Grid, Section
from evalward.records.target_id import target_id
from evalward.render.findings import finding_line
from evalward.render.kinds import ShownKinds, TrialText
from evalward.render.names import quoted, short_hash, spoken
from evalward.render.numbers import NOT_AVAILABLE, format_count, format_number, format_value, plural
from evalward.render.rows import are_scored, format_category, metric_order
from evalward.render.sections import bars, grid_markdown, listings, matrices, tables
from evalward.render.view import RESULTS, SUMMARY, Badge, CaseMatrix, CaseTable, CheckLine, FindingLine, ListingTable

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?Z")

_LABEL = 28  # characters of a column's head


class Effort(Struct, frozen=True):
    """What one trial took, in words; empty where it isn't known. `calls` are how many went well and how many failed."""

    turns: str = ""
    calls: str = ""
    tokens: str = ""
    time: str = ""

    @property
    def known(self) -> list[str]:
        """All that is known, with what it is."""
        turns = f"{self.turns} turn{'' if self.turns == '1' else 's'}" if self.turns else ""
        calls = f"calls {self.calls}" if self.calls else ""
        tokens = f"tokens {self.tokens}" if self.tokens else ""
        return [part for part in (turns, calls, tokens, self.time) if part]


class TaskLine(Struct, frozen=True):
    """One trial. `checks` are all of them, `failing` those that don't hold; `session` is command and stderr."""

    id: str
    category: str
    badge: Badge
    score: str
    why: str
    failing: list[CheckLine]
    checks: list[tuple[bool, CheckLine]]
    session: str
    effort: Effort = Effort()


class ReportRun(Struct, frozen=True):
    """One run in full. `passed` of `total` trials: counted is also what another tool's file doesn't list."""

    suite: str
    target: str
    facts: list[str]
    not_measured: str
    metrics: list[tuple[str, str]]
    categories: list[tuple[str, str]]
    tasks: list[TaskLine]
    findings: list[FindingLine]
    tables: list[CaseTable] = field(default_factory=list)
    listings: list[ListingTable] = field(default_factory=list)
    bars: str = ""
    passed: int = 0
    total: int = 0

    @property
    def name(self) -> str:
        """`suite × target`."""
        return f"{self.suite} × {self.target}"

    @property
    def remarkable(self) -> list[TaskLine]:
        """The trials that didn't pass."""
        return [task for task in self.tasks if task.badge.word != "passed"]


class ReportColumn(Struct, frozen=True):
    """One run among several: the head of its column (target, date or a letter) and what it stands for."""

    label: str
    name: str
    facts: list[str]


class RunColumns(Struct, frozen=True):
    """Runs as columns: the rows are a metric or category and its value in each."""

    columns: list[ReportColumn]
    metrics: list[tuple[str, list[str]]]
    categories: list[tuple[str, list[str]]]


class ReportsPage(Struct, frozen=True):
    """Reports to be shown: several runs in columns, the runs of a single report in full; what they show together."""

    facts: list[str]
    warnings: list[str]
    runs: list[ReportRun]
    side: RunColumns | None
    findings: list[FindingLine]
    matrices: list[CaseMatrix] = field(default_factory=list)
    grids: list[Grid] = field(default_factory=list)  # what the kinds show of all their runs

    @property
    def summary(self) -> str:
        """The grids as Markdown."""
        return "\n".join(grid_markdown(grid) for grid in self.grids)


def build_reports(
    reports: Sequence[Report],
    kinds: ShownKinds,
    *,
    counts: bool = True,
    findings: Sequence[Finding] | None = None,
) -> ReportsPage:
    """What to show of these reports. `counts` adds n of N to ratios; `findings` are those over all the runs together.

    `kinds` are those of the runs, as far as they are installed: they say what none of the others has. Without
    `findings` those of a single report are shown.
    """
    warnings = [warning for report in reports for warning in _warnings(report)]
    together = reports[0].findings if findings is None and len(reports) == 1 else findings or []
    several = sum(len(report.runs) for report in reports) > 1
    return ReportsPage(
        facts=_facts(reports[0]) if len(reports) == 1 else [plural(len(reports), "report")],
        warnings=warnings,
        runs=[_run(run, kinds, counts) for run in reports[0].runs] if len(reports) == 1 else [],
        side=_side_by_side(reports, counts) if several else None,
        findings=[finding_line(finding) for finding in together],
        matrices=matrices(
            ((run.suite, run.target, _sections(run, kinds)) for report in reports for run in report.runs), SUMMARY.table
        ),
        grids=_grids([run for report in reports for run in report.runs], kinds),
    )


def _sections(run: Run, kinds: ShownKinds) -> list[Section]:
    return kinds[run.kind].sections(run, None, alone=True) if run.kind in kinds else []


def _grids(runs: Sequence[Run], kinds: ShownKinds) -> list[Grid]:
    """What each kind shows of all its runs."""
    names = dict.fromkeys(run.kind for run in runs if run.kind in kinds)
    grids = [kinds[name].summary([run for run in runs if run.kind == name]) for name in names]
    return [grid for grid in grids if grid is not None]


def _facts(report: Report) -> list[str]:
    facts = [when(report.created_at), f"{report.tool.name} {report.tool.version}"]
    if report.provenance.commit:
        facts.append(f"commit {quoted(short_hash(report.provenance.commit))}")
    return facts


def when(time: str) -> str:
    """`2026-11-21 08:00 UTC`; other text as it is."""
    match = _TIME.fullmatch(time)
    return f"{match[1]} {match[2]} UTC" if match else time


def _warnings(report: Report) -> list[str]:
    warnings = [f"The run was interrupted: {report.interrupted}"] if report.interrupted else []
    if report.partial:
        warnings.append("Partial run: only the selected suites, targets and cases were run.")
    return warnings + report.warnings


class _Outcomes(Struct, frozen=True):
    """How many trials ended how. Of another tool's file some may be counted and not listed.

    `unlisted_failed` are among the failed; of the `unlisted` nobody knows how they ended.
    """

    counts: Counter[Status]
    unlisted_failed: int
    unlisted: int

    @classmethod
    def of(cls, run: Run) -> _Outcomes:
        """Of the trials, and of what is only counted: such a file lists those that failed."""
        counts = Counter(result.status for result in run.cases)
        left = max(0, run.planned - len(run.cases)) if run.trials == 1 and run.not_measured is None else 0
        passed = round(sum(category.passed for category in run.categories.values()))
        failed = round(sum(category.tasks for category in run.categories.values())) - passed
        passed_elsewhere = max(0, min(left, passed - counts[Status.PASSED]))
        failed_elsewhere = max(0, min(left - passed_elsewhere, failed - counts[Status.FAILED]))
        counts[Status.PASSED] += passed_elsewhere
        counts[Status.FAILED] += failed_elsewhere
        return cls(counts, failed_elsewhere, left - passed_elsewhere - failed_elsewhere)

    @property
    def known(self) -> int:
        """Those whose end is known."""
        return self.counts.total()

    @property
    def total(self) -> int:
        """All of them."""
        return self.known + self.unlisted

    @property
    def facts(self) -> list[str]:
        """In words."""
        facts = [f"{self.counts[status]:,} {self._word(status)}" for status in RESULTS if self.counts[status]]
        return [*facts, f"{self.unlisted:,} not listed"] if self.unlisted else facts

    def _word(self, status: Status) -> str:
        word, unlisted = RESULTS[status].word, self.unlisted_failed
        if status is not Status.FAILED or not unlisted:
            return word
        return f"{word} ({'' if unlisted == self.counts[status] else f'{unlisted:,} '}not listed)"


def outcome_facts(reports: Sequence[Report]) -> list[str]:
    """How the trials of all runs ended: `6 trials`, `4 passed`, `2 failed`."""
    runs = [run for report in reports for run in report.runs]
    each = [_Outcomes.of(run) for run in runs]
    whole = _Outcomes(
        sum((one.counts for one in each), Counter()),
        sum(one.unlisted_failed for one in each),
        sum(one.unlisted for one in each),
    )
    unmeasured = sum(run.not_measured is not None for run in runs)
    ended = [f"ended early: {report.interrupted}" for report in reports if report.interrupted]
    facts = [plural(whole.total, "trial"), *whole.facts]
    return [*facts, *([f"{plural(unmeasured, 'run')} not measured"] if unmeasured else []), *ended]


def _run(run: Run, kinds: ShownKinds, counts: bool) -> ReportRun:
    outcomes, sections = _Outcomes.of(run), _sections(run, kinds)
    facts, scored = outcomes.facts, are_scored(run.categories.values())
    if run.trials > 1:
        facts.append(f"{run.trials} trials per case")
    left_out = sum(result.reason == NOT_RUN for result in run.cases)
    if left_out:
        facts.append(f"{left_out:,} not run: the run ended early")
    return ReportRun(
        suite=run.suite,
        target=run.target,
        facts=facts,
        not_measured=run.not_measured or "",
        metrics=[(name, format_value(run.metrics[name], counts=counts)) for name in metric_order(run.metrics)]
        if left_out < len(run.cases) or not run.cases
        else [],
        categories=[(name, format_category(run.categories[name], scored=scored)) for name in sorted(run.categories)],
        tasks=[_task(result, run, kinds) for result in run.cases if result.reason != NOT_RUN],
        findings=[finding_line(finding) for finding in run.findings],
        tables=tables(sections, SUMMARY.table),
        listings=listings(sections, SUMMARY.table),
        bars=bars(sections),
        passed=outcomes.counts[Status.PASSED],
        total=outcomes.known,
    )


def _task(result: Result, run: Run, kinds: ShownKinds) -> TaskLine:
    text = kinds[run.kind].trial_text(result) if run.kind in kinds else TrialText()
    checks = [(check.passed, CheckLine(check.check, check.detail)) for check in result.checks]
    return TaskLine(
        id=result.id,
        category=result.category + (f", trial {result.trial}" if run.trials > 1 else ""),
        badge=RESULTS[result.status],
        score=f"{format_count(result.score)}/{format_count(result.max_score)}",
        why=": ".join(part for part in (spoken(result.reason), result.message) if part),
        failing=[line for passed, line in checks if not passed],
        checks=checks,
        session=text.session,
        effort=_effort(result, text),
    )


def _effort(result: Result, text: TrialText) -> Effort:
    """Unknown is left empty: nobody told it. A trial that was replayed or imported may have no time."""
    read, written = result.usage.total_input_tokens, result.usage.output_tokens
    tokens = [NOT_AVAILABLE if each is None else f"{each:,}" for each in (read, written)]
    return Effort(
        turns=text.turns,
        calls=text.calls,
        tokens=f"{tokens[0]} in, {tokens[1]} out" if (read, written) != (None, None) else "",
        time=format_number(result.duration_ms, "ms") if result.duration_ms else "",
    )


def _side_by_side(reports: Sequence[Report], counts: bool) -> RunColumns:
    pairs = [(report, run) for report in reports for run in report.runs]
    labels = _labels(pairs)
    columns = [
        ReportColumn(label, run.name, [*_facts(report), *_Outcomes.of(run).facts])
        for label, (report, run) in zip(labels, pairs, strict=True)
    ]
    runs = [run for _, run in pairs]
    names = list(dict.fromkeys(name for run in runs for name in run.metrics))
    groups = sorted({name for run in runs for name in run.categories})
    scored = are_scored(category for run in runs for category in run.categories.values())
    return RunColumns(
        columns=columns,
        metrics=[(name, _across([run.metrics.get(name) for run in runs], counts)) for name in metric_order(names)],
        categories=[
            (name, [format_category(run.categories.get(name), counts=counts, scored=scored) for run in runs])
            for name in groups
        ],
    )


def _across(metrics: Sequence[Metric | None], counts: bool) -> list[str]:
    values = [metric.value for metric in metrics if metric is not None and metric.value is not None]
    return [
        NOT_AVAILABLE if metric is not None and metric.value is None else format_value(metric, values, counts=counts)
        for metric in metrics
    ]


def _labels(pairs: Sequence[tuple[Report, Run]]) -> list[str]:
    """What tells the columns apart in few words: the targets, else the days (a trend), else letters."""
    targets = [target_id(run.target).short for _, run in pairs]
    days = [report.created_at[:10] for report, _ in pairs]
    for labels in (targets, days):
        if len(set(labels)) == len(labels) and all(len(label) <= _LABEL for label in labels):
            return labels
    return [_letter(index) for index in range(len(pairs))]


def _letter(index: int) -> str:
    """A, B, … Z, AA, AB, …"""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
