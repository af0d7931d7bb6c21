"""What reports without a baseline show: one in full, several side by side. Plain text, not yet escaped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from evalward.records.metric import Metric
from evalward.records.report import Finding, Report, Run
from evalward.records.result import NOT_RUN, BashDetails, CommandDetails, Details, Result, Status
from evalward.records.scenario import ScenarioDetails
from evalward.records.scenario_line import ScenarioLine, scenario_lines
from evalward.records.speedup import SpeedupDetails
from evalward.records.target_id import target_id
from evalward.render.entries import answer_lines
from evalward.render.findings import finding_line
from evalward.render.names import quoted, short_hash
from evalward.render.numbers import NOT_AVAILABLE, format_count, format_number, format_value, plural
from evalward.render.rows import format_category, metric_order
from evalward.render.scenario import matrices, scenario_table
from evalward.render.view import RESULTS, SUMMARY, Badge, CheckLine, FindingLine, ScenarioMatrix, ScenarioTable

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?Z")

_ANSWER = 600  # characters of a command
_LABEL = 28  # characters of a column's head


@dataclass(frozen=True)
class Effort:
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


@dataclass(frozen=True)
class TaskLine:
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


@dataclass(frozen=True)
class ReportRun:
    """One run in full. `passed` of `total` count also what another tool's file doesn't list case by case."""

    suite: str
    target: str
    facts: list[str]
    not_measured: str
    metrics: list[tuple[str, str]]
    categories: list[tuple[str, str]]
    tasks: list[TaskLine]
    findings: list[FindingLine]
    scenarios: ScenarioTable | None = None
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


@dataclass(frozen=True)
class Column:
    """One run among several: the head of its column (target, date or a letter) and what it stands for."""

    label: str
    name: str
    facts: list[str]


@dataclass(frozen=True)
class SideBySide:
    """Runs as columns: the rows are a metric or category and its value in each."""

    columns: list[Column]
    metrics: list[tuple[str, list[str]]]
    categories: list[tuple[str, list[str]]]


@dataclass(frozen=True)
class ReportsPage:
    """Reports to be shown: several runs in columns, the runs of a single report in full; what they show together."""

    facts: list[str]
    warnings: list[str]
    runs: list[ReportRun]
    side: SideBySide | None
    findings: list[FindingLine]
    matrices: list[ScenarioMatrix] = field(default_factory=list)
    summary: str = ""  # Markdown: FC-Eval's table of all speedup runs


def build_reports(
    reports: Sequence[Report], *, counts: bool = True, findings: Sequence[Finding] | None = None
) -> ReportsPage:
    """What to show of these reports. `counts` adds n of N to ratios; `findings` are those over all the runs together.

    Without `findings` those of a single report are shown.
    """
    warnings = [warning for report in reports for warning in _warnings(report)]
    together = reports[0].findings if findings is None and len(reports) == 1 else findings or []
    several = sum(len(report.runs) for report in reports) > 1
    return ReportsPage(
        facts=_facts(reports[0]) if len(reports) == 1 else [plural(len(reports), "report")],
        warnings=warnings,
        runs=[_run(run, counts) for run in reports[0].runs] if len(reports) == 1 else [],
        side=_side_by_side(reports, counts) if several else None,
        findings=[finding_line(finding) for finding in together],
        matrices=matrices(
            ((run.suite, run.target, lines) for report in reports for run in report.runs if (lines := _lines(run))),
            SUMMARY.scenarios,
        ),
        summary=_summary([run for report in reports for run in report.runs if run.kind == "speedup"]),
    )


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


@dataclass(frozen=True)
class _Outcomes:
    """How many trials ended how. `unlisted` are counted by another tool's file, which doesn't tell how they ended."""

    counts: Counter[Status]
    unlisted: int

    @classmethod
    def of(cls, run: Run) -> _Outcomes:
        """Of the trials, and of what is only counted: such a file lists those that failed."""
        counts = Counter(result.status for result in run.cases)
        left = max(0, run.planned - len(run.cases)) if run.trials == 1 and run.not_measured is None else 0
        passed = round(sum(category.passed for category in run.categories.values()))
        elsewhere = max(0, min(left, passed - counts[Status.PASSED]))
        counts[Status.PASSED] += elsewhere
        return cls(counts, left - elsewhere)

    @property
    def total(self) -> int:
        """All of them."""
        return self.counts.total() + self.unlisted

    @property
    def facts(self) -> list[str]:
        """In words."""
        facts = [f"{self.counts[status]:,} {badge.word}" for status, badge in RESULTS.items() if self.counts[status]]
        return [*facts, f"{self.unlisted:,} more that aren't listed"] if self.unlisted else facts


def _run(run: Run, counts: bool) -> ReportRun:
    outcomes = _Outcomes.of(run)
    facts = outcomes.facts
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
        metrics=[(name, format_value(run.metrics[name], counts=counts)) for name in metric_order(run.metrics)],
        categories=[(name, format_category(run.categories[name])) for name in sorted(run.categories)],
        tasks=[_task(result, run.trials) for result in run.cases if result.reason != NOT_RUN],
        findings=[finding_line(finding) for finding in run.findings],
        scenarios=scenario_table(lines, SUMMARY.scenarios) if (lines := _lines(run)) else None,
        bars=_bars(run) if run.kind == "speedup" else "",
        passed=outcomes.counts[Status.PASSED],
        total=outcomes.total,
    )


def _lines(run: Run) -> list[ScenarioLine]:
    return scenario_lines(run.cases) if run.kind == "scenario" else []


def _summary(runs: Sequence[Run]) -> str:
    if not runs:
        return ""
    from evalward.render.speedup import summary_markdown  # noqa: PLC0415 - of one kind only

    return summary_markdown(runs)


def _bars(run: Run) -> str:
    """The tasks' speedups beside the oracle's; of a single task its benchmarks'."""
    from evalward.render.speedup import bars, benchmark_bars, task_bars  # noqa: PLC0415

    pairs = task_bars(run)
    if len(pairs) == 1:
        details = next((case.details for case in run.cases if isinstance(case.details, SpeedupDetails)), None)
        pairs = benchmark_bars(details) if details else pairs
    return bars(pairs)


def _task(result: Result, trials: int) -> TaskLine:
    checks = [(check.passed, CheckLine(check.check, check.detail)) for check in result.checks]
    return TaskLine(
        id=result.id,
        category=result.category + (f", trial {result.trial}" if trials > 1 else ""),
        badge=RESULTS[result.status],
        score=f"{format_count(result.score)}/{format_count(result.max_score)}",
        why=": ".join(part for part in (result.reason, result.message) if part),
        failing=[line for passed, line in checks if not passed],
        checks=checks,
        session=_session(result),
        effort=_effort(result),
    )


def _effort(result: Result) -> Effort:
    """Unknown is left empty: nobody told it. A trial that was replayed or imported may have no time."""
    read, written = result.usage.total_input_tokens, result.usage.output_tokens
    tokens = [NOT_AVAILABLE if each is None else f"{each:,}" for each in (read, written)]
    turns, calls = _steps(result.details)
    return Effort(
        turns=turns,
        calls=calls,
        tokens=f"{tokens[0]} in, {tokens[1]} out" if (read, written) != (None, None) else "",
        time=format_number(result.duration_ms, "ms") if result.duration_ms else "",
    )


def _steps(details: Details | None) -> tuple[str, str]:
    """Turns, and calls that went well and those that failed; of a scenario the commands of its tool."""
    if isinstance(details, BashDetails):
        failed = details.tool_calls - details.tool_calls_ok
        return f"{details.turns:,}", f"{details.tool_calls_ok:,} ok, {plural(failed, 'error')}"
    if isinstance(details, ScenarioDetails):
        used = details.interaction
        unknown = f", {used.unknown_count:,} unknown" if used.unknown_count else ""
        well = used.total_commands - used.error_count - used.unknown_count
        return "", f"{well:,} ok, {plural(used.error_count, 'error')}{unknown}"
    if isinstance(details, SpeedupDetails) and details.trajectory_length is not None:
        return f"{details.trajectory_length:,}", ""
    return "", ""


def _session(result: Result) -> str:
    details = result.details
    if isinstance(details, CommandDetails) and (result.status is Status.FAILED or details.unsafe):
        return answer_lines(details.expected, details.answer, _ANSWER)
    if result.status is not Status.FAILED or not isinstance(details, BashDetails):
        return ""
    command = f"$ {details.failing_command}" if details.failing_command else ""
    return "\n".join(part for part in (command, (details.failing_stderr or "").strip("\n")) if part)


def _side_by_side(reports: Sequence[Report], counts: bool) -> SideBySide:
    pairs = [(report, run) for report in reports for run in report.runs]
    labels = _labels(pairs)
    columns = [
        Column(label, run.name, [*_facts(report), *_Outcomes.of(run).facts])
        for label, (report, run) in zip(labels, pairs, strict=True)
    ]
    runs = [run for _, run in pairs]
    names = list(dict.fromkeys(name for run in runs for name in run.metrics))
    groups = sorted({name for run in runs for name in run.categories})
    return SideBySide(
        columns=columns,
        metrics=[(name, _across([run.metrics.get(name) for run in runs], counts)) for name in metric_order(names)],
        categories=[
            (name, [format_category(run.categories.get(name), counts=counts) for run in runs]) for name in groups
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
