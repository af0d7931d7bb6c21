"""Example reports, as real runs would produce them."""

from __future__ import annotations

from evalward.records.report import Finding, Provenance, Report, Run, Subject, Tool
from evalward.records.result import CheckResult, Result, Status
from evalward.records.trace import Usage
from evalward.suites.bash.details import BashDetails
from support.comparisons import HEAD_COMMIT, SUITE, TARGET, categories, metric_changes


def result(case_id: str, status: Status, **changes: object) -> Result:
    """One trial."""
    values: dict[str, object] = {
        "id": case_id,
        "category": "json_processing",
        "definition": "sha256:" + "ab" * 32,
        "status": status,
        "score": 2.0 if status is Status.PASSED else 1.0,
        "max_score": 2.0,
        "checks": [
            CheckResult(check="exit_code:0", passed=True, detail="exit code is 0"),
            CheckResult(
                check="stdout_contains:42", passed=status is Status.PASSED, detail="stdout is '41\\n'", weight=1.0
            ),
        ],
        "usage": Usage(input_tokens=1200, output_tokens=310),
        "duration_ms": 8120,
        "details": BashDetails(
            tool_calls=3, tool_calls_ok=2, turns=4, natural_stop=True, failing_command="echo 41 | tee out.txt"
        ),
    }
    return Result.model_validate({**values, **changes})


def report(target: str = TARGET, **changes: object) -> Report:
    """A report of one run."""
    metrics = {item.id: item.now for item in metric_changes() if item.now is not None}
    summaries = {item.name: item.now for item in categories() if item.now is not None}
    one = Run(
        suite=SUITE,
        kind="bash",
        target=target,
        trials=1,
        planned=4,
        subject=Subject(hash="sha256:" + "cd" * 32),
        metrics=metrics,
        categories=summaries,
        findings=[
            Finding(
                id="weak_category",
                level="warning",
                message="json_processing is the weakest category",
                evidence="62.5 % (5/8)",
                threshold="80 %",
                advice="Read the traces of its failed cases: most fail in jq filters.",
                cases=["json_nested_keys"],
            )
        ],
        cases=[
            result("json_nested_keys", Status.FAILED, reason="checks_failed"),
            result("json_to_csv", Status.PASSED),
            result("awk_join", Status.ERROR, score=0.0, reason="rate_limit", message="429 after 5 tries", checks=[]),
            result("csv_revenue", Status.SKIPPED, score=0.0, reason="budget", checks=[]),
        ],
    )
    values: dict[str, object] = {
        "tool": Tool(version="0.1.0"),
        "created_at": "2026-11-21T08:00:00Z",
        "provenance": Provenance(commit=HEAD_COMMIT, platform="linux"),
        "runs": [one],
    }
    return Report.model_validate({**values, **changes})
