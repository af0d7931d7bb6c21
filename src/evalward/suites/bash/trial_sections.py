"""What people see of one bash trial beside its checks and its conversation."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.result import Result
from evalward.records.sections import Facts, FileText, GridRow, TrialSection
from evalward.suites.bash.details import BashDetails
from evalward.suites.judge.shown import judge_facts


def trial_sections(result: Result, files: Sequence[FileText]) -> list[TrialSection]:
    """What judges said, and of a replay whether the tool answered as it did when it was recorded."""
    details = result.details
    if not isinstance(details, BashDetails):
        return [*files]
    return [*judge_facts(details.judgements), *_replay(details), *files]


def _replay(details: BashDetails) -> list[Facts]:
    if not details.replayed:
        return []
    differs = f"differ from call {details.diverged_at}" if details.diverged_at else "the same"
    rows = [GridRow(label="answers, recorded and now", values=[differs])]
    if details.deterministic is not None:
        rows.append(GridRow(label="the same twice", values=["yes" if details.deterministic else "no"]))
    return [Facts(title="Replay", rows=rows)]
