"""Costs as if nothing had been bought at half price: what batches saved is no change of what is evaluated."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.report import Report, Run
from evalward.records.result import Result


def at_list_price(report: Report) -> Report:
    """The report, for comparing, with what its trials would have cost live; itself where none went in a batch."""
    if not any(result.usage.batch_usd for run in report.every_run for result in run.cases):
        return report
    base = report.base
    changes = {"runs": _runs(report.runs), "base": base and base.model_copy(update={"runs": _runs(base.runs)})}
    return report.model_copy(update=changes)


def _runs(runs: Sequence[Run]) -> list[Run]:
    return [run.model_copy(update={"cases": [_result(result) for result in run.cases]}) for run in runs]


def _result(result: Result) -> Result:
    return result.model_copy(update={"usage": result.usage.at_list_price})
