"""A report as a baseline, or as lines of a history, in one step: what commands make in several."""

from __future__ import annotations

from evalward.decide.baseline import update_baseline
from evalward.decide.history_file import HistoryLimits, append_to_text, entries_of
from evalward.decide.kinds import Kinds
from evalward.decide.pooling import NamedReport
from evalward.records.baseline import Baseline
from evalward.records.report import Report
from evalward.records.verdict import Judgement


def make_baseline(report: Report, file: str, previous: Baseline | None, kinds: Kinds) -> Baseline:
    """The report's content as a baseline."""
    return update_baseline([NamedReport(report, file)], previous, kinds).baseline


def appended_text(
    old_text: str,
    report: Report,
    judgement: Judgement | None = None,
    limits: HistoryLimits | None = None,
    ref: str | None = None,
) -> str:
    """The text of `history.jsonl` with a line for each run of the report."""
    return append_to_text(old_text, entries_of(report, judgement, ref), limits)
