"""What people see of one prompt trial beside its checks and its conversation."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.result import Result
from evalward.records.sections import Facts, FileText, GridRow, TrialSection
from evalward.render.numbers import NOT_AVAILABLE, format_number
from evalward.suites.judge.shown import judge_facts
from evalward.suites.prompt.details import PromptDetails

_NONE = "–"


def trial_sections(result: Result, files: Sequence[FileText]) -> list[TrialSection]:
    """Expected beside answered, the scores, then what judges said."""
    details = result.details
    if not isinstance(details, PromptDetails):
        return [*files]
    answer = GridRow(label="answer", values=[details.expected or _NONE, details.answer or "(no answer)"])
    return [
        Facts(title="Answer", heads=["expected", "found"], rows=[answer]),
        *_scores(result, details),
        *judge_facts(details.judgements),
        *files,
    ]


def _scores(result: Result, details: PromptDetails) -> list[Facts]:
    rows = []
    for check in result.checks:
        score = details.scores.get(check.check)
        rows.append(GridRow(label=check.check, values=[_shown(score)]))
    return [Facts(title="Scores", rows=rows)] if rows else []


def _shown(score: float | None) -> str:
    return NOT_AVAILABLE if score is None else format_number(score, "score")
