"""Results, runs, reports and baselines for tests: everything has a default, a test names only what it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalward.commands.pipeline import Criteria
from evalward.decide.kinds import Kinds
from evalward.decide.verdict import reach_verdict
from evalward.records.baseline import Baseline
from evalward.records.comparison import CaseChange, Comparison, MetricChange, RunComparison
from evalward.records.policy import Policy, Rule
from evalward.records.report import Partial, Provenance, Report, Run, Subject, Tool
from evalward.records.result import Result, Status
from evalward.records.trace import Usage
from evalward.records.verdict import Verdict
from evalward.suites.bash.details import BashDetails
from evalward.suites.bash.kind import BASH
from evalward.suites.bash.metrics import measure
from evalward.suites.command.kind import COMMAND
from evalward.suites.external.kind import EXTERNAL
from support.written import make_baseline

SUITE, TARGET = "bash-tools", "replay:haiku"
KINDS: Kinds = {"bash": BASH, "command": COMMAND, "external": EXTERNAL}


def result(
    case: str = "a",
    status: str = "passed",
    *,
    score: float | None = None,
    most: float = 1.0,
    calls: tuple[int, int] = (1, 1),
    turns: int = 2,
    trial: int = 1,
    category: str = "basic",
    definition: str | None = None,
    natural: bool = True,
    tokens: tuple[int, int] | None = (100, 10),
    cost: float | None = 0.0,
    duration_ms: int = 50,
    replayed: bool = False,
    **more: Any,
) -> Result:
    """One trial, of a definition of its case's own; an error is an outage unless `reason` says otherwise.

    `calls` is (ok, all); `tokens` is (in, out); the score is all or nothing unless given."""
    valid = status in {"passed", "failed"}
    if score is None:
        score = most if status == "passed" else 0.0
    details = BashDetails(
        tool_calls=calls[1], tool_calls_ok=calls[0], turns=turns, natural_stop=natural, replayed=replayed
    )
    tokens_in, tokens_out = tokens or (None, None)
    outage = {"reason": "overload"} if status == "error" else {}
    values: dict[str, Any] = {
        **outage,
        "score": score if valid else 0.0,
        "max_score": most if valid else 0.0,
        "usage": Usage(input_tokens=tokens_in, output_tokens=tokens_out, cost_usd=cost) if valid else Usage(),
        "duration_ms": duration_ms if valid else 0,
        **({"details": details} if valid else {}),
        **more,
    }
    asked = definition or f"sha256:{case}"
    return Result(id=case, category=category, definition=asked, trial=trial, status=Status(status), **values)


def passes(*cases: str) -> list[Result]:
    """A passed trial of each case."""
    return [result(case) for case in cases]


def subject(**parts: str) -> Subject:
    """A subject of these parts."""
    return Subject.model_validate({"hash": f"sha256:{sorted(parts.items())}", **parts})


def run(
    cases: Sequence[Result],
    *,
    suite: str = SUITE,
    target: str = TARGET,
    kind: str = "bash",
    planned: int | None = None,
    parts: Mapping[str, str] | None = None,
    **more: Any,
) -> Run:
    """One run, measured as the kind does it."""
    measurement = measure(cases)
    values: dict[str, Any] = {
        "trials": max((item.trial for item in cases), default=1),
        "metrics": measurement.metrics,
        "categories": measurement.categories,
        **more,
    }
    return Run(
        suite=suite,
        kind=kind,
        target=target,
        planned=len(cases) if planned is None else planned,
        subject=subject(**(parts or {"system": "s1", "bashkit": "1"})),
        cases=list(cases),
        **values,
    )


def report(*runs: Run, partial: Partial | None = None, interrupted: str | None = None, **more: Any) -> Report:
    """A report of these runs."""
    values: dict[str, Any] = {
        "tool": Tool(version="0.1.0"),
        "created_at": "2026-11-21T08:00:00Z",
        "provenance": Provenance(commit="abc"),
        **more,
    }
    return Report(runs=list(runs), partial=partial, interrupted=interrupted, **values)


def baseline(*runs: Run, previous: Baseline | None = None, **more: Any) -> Baseline:
    """The baseline that these runs make."""
    return make_baseline(report(*runs, **more), "report.json", previous, KINDS)


def compared(now: Report, before: Baseline | None) -> Comparison:
    """Report against baseline."""
    return Criteria(before, Policy()).compared(now).comparison


def verdict_of(
    now: Report,
    before: Baseline | None,
    *rules: Rule,
    defaults: Sequence[Rule] = (),
    **policy: Any,
) -> Verdict:
    """The whole decision."""
    return reach_verdict(compared(now, before), Policy(rules=list(rules), **policy), {"bash": defaults})


def case_change(comparison: Comparison, case: str) -> CaseChange:
    """What became of a case in the first run."""
    return next(change for change in comparison.runs[0].cases if change.id == case)


def metric_change(of: RunComparison, metric: str) -> MetricChange:
    """What became of a metric."""
    return next(change for change in of.metrics if change.id == metric)
