"""What people see of one scenario trial beside its gates and its conversation: commands, judge, evaluators, files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalward.records.result import Result
from evalward.records.sections import Facts, FileText, GridRow, TrialSection
from evalward.render.numbers import NOT_AVAILABLE, format_number
from evalward.suites.judge.shown import judge_facts
from evalward.suites.scenario.artifacts import EVALUATION, EVENTS, METRICS
from evalward.suites.scenario.details import EvaluatorResult, Interaction, ScenarioDetails

_SHOWN_ELSEWHERE = {METRICS, EVALUATION, EVENTS}
"""Files that say again what the result and the conversation say."""


def trial_sections(result: Result, files: Sequence[FileText]) -> list[TrialSection]:
    """Facts first, then the files as the trial left them."""
    left = [file for file in files if file.name not in _SHOWN_ELSEWHERE]
    details = result.details
    if not isinstance(details, ScenarioDetails):
        return [*left]
    gates = [] if result.checks else _gates(details)
    judged = judge_facts([details.judge]) if details.judge else _unjudged(details)
    evaluated = [_evaluator(one) for one in details.evaluators]
    return [*gates, *_commands(details), *judged, *evaluated, *_place(details), *left]


def _row(label: str, *values: str) -> GridRow:
    return GridRow(label=label, values=list(values))


def _gates(details: ScenarioDetails) -> list[Facts]:
    """Of trials whose checks were not kept."""
    rows = [_row(gate.gate_type, "holds" if gate.passed else "fails", gate.message) for gate in details.gates]
    return [Facts(title="Gates", heads=["outcome", "what was there"], rows=rows)] if rows else []


def _commands(details: ScenarioDetails) -> Iterator[Facts]:
    """How the tool was used: in all, by subcommand, and the commands that failed with what worked in their place."""
    used = details.interaction
    yield Facts(title="How the tool was used", rows=list(_used(details, used)))
    rows = [
        _row(name, f"{one.total:,}", f"{one.errors:,}", f"{one.retries:,}", _yes(one.first_try))
        for name, one in used.per_subcommand.items()
    ]
    if rows:
        yield Facts(title="By subcommand", heads=["commands", "failed", "repeated", "first try"], rows=rows)
    failed = [_row(one.command, _code(one.exit_code), one.said, one.worked or "–") for one in used.failed]
    if failed:
        yield Facts(title="Commands that failed", heads=["exit code", "said", "what worked then"], rows=failed)


def _used(details: ScenarioDetails, used: Interaction) -> Iterator[GridRow]:
    guess = "≈ " if details.approximate else ""
    yield _row("commands", f"{guess}{used.total_commands:,}")
    yield _row("failed", f"{used.error_count:,}" if used.exit_codes_known else NOT_AVAILABLE)
    if used.unknown_count:
        yield _row("exit code unknown", f"{used.unknown_count:,}")
    yield _row("asked for help", f"{used.help_invocations:,}")
    yield _row("first tries that succeeded", _ratio(used.first_try_success_rate))
    yield _row("repeated", _ratio(used.retry_rate))
    yield _row("agent ended by itself", _yes(details.completed))
    if details.composite_score is not None:
        yield _row("composite score", format_number(details.composite_score, "score"))


def _unjudged(details: ScenarioDetails) -> list[Facts]:
    if details.judge_error:
        return [Facts(title="Judge", rows=[_row("not judged", details.judge_error)])]
    if details.judge_score is None:
        return []
    return [Facts(title="Judge", rows=[_row("score", format_number(details.judge_score, "score"))])]


def _evaluator(found: EvaluatorResult) -> Facts:
    rows = [] if found.score is None else [_row("score", format_number(found.score, "score"))]
    rows += [_row(name, format_number(value, "score")) for name, value in found.metrics.items()]
    words = (("summary", found.summary), ("error", found.error or ""))
    rows += [_row(word, text) for word, text in words if text]
    return Facts(title=f"Evaluator {found.name}", rows=rows)


def _place(details: ScenarioDetails) -> list[Facts]:
    """Where the agent worked, and what it says of itself."""
    known = [
        ("agent", details.agent),
        ("isolation", details.isolation),
        ("differs from the recording from call", str(details.diverged_at or "")),
        ("changed by the agent and put back before judging", ", ".join(details.put_back)),
        ("lines of its events that can't be read", str(details.skipped_events or "")),
        *((f"agent's own {name}", str(value)) for name, value in details.claims.items()),
    ]
    rows = [_row(label, value) for label, value in known if value]
    return [Facts(title="Where and how", rows=rows)] if rows else []


def _code(code: int | None) -> str:
    return NOT_AVAILABLE if code is None else str(code)


def _yes(value: bool | None) -> str:
    return NOT_AVAILABLE if value is None else "yes" if value else "no"


def _ratio(value: float | None) -> str:
    return NOT_AVAILABLE if value is None else format_number(value, "ratio")
