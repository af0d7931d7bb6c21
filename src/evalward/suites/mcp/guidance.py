"""What mcp results say about the descriptions of tools: the rows of the comparison, and what the descriptions lack."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.decide.guidance import ComparedRow, GuidanceReading
from evalward.records.metric import Measurement
from evalward.records.report import Finding
from evalward.records.result import Result
from evalward.suites.mcp.findings import interpret
from evalward.suites.mcp.metrics import measure

MOST_ADVICE = 5
ROWS = tuple(
    ComparedRow(metric, metric)
    for metric in (
        "tool_selection_accuracy",
        "call_recall",
        "call_precision",
        "argument_validity_rate",
        "argument_match_rate",
        "abstention_accuracy",
        "forbidden_call_rate",
        "pass_rate",
    )
)
"""Each row costs the others some of their power: left out are parts of others, and what is neither good nor bad."""


def _diagnosed(results: Sequence[Result], measurement: Measurement) -> list[Finding]:  # noqa: ARG001 - the calls say it
    return interpret(results)


def _advice(results: Sequence[Result], findings: Sequence[Finding]) -> list[str]:  # noqa: ARG001 - the findings say it
    return list(dict.fromkeys(finding.advice for finding in findings if finding.advice))[:MOST_ADVICE]


READING = GuidanceReading(measure, ROWS, _diagnosed, _advice, case="case", compares="descriptions")
"""How descriptions of tools are compared."""
