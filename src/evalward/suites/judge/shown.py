"""What people see of a judge's outcome in one trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalward.records.judge import JudgeOutcome
from evalward.records.sections import Facts, GridRow
from evalward.render.numbers import NOT_AVAILABLE, format_number


def judge_facts(outcomes: Sequence[JudgeOutcome]) -> list[Facts]:
    """Score, criteria, votes and words of each outcome."""
    return [Facts(title=f"Judge {outcome.model}: {outcome.rubric}", rows=list(_rows(outcome))) for outcome in outcomes]


def _rows(outcome: JudgeOutcome) -> Iterator[GridRow]:
    yield _row("outcome", outcome.sentence)
    for criterion, score in outcome.scores.items():
        yield _row(criterion, format_number(score, "score"))
    if len(outcome.votes) > 1:
        yield _row("votes", ", ".join(format_number(vote.score, "score") for vote in outcome.votes))
    if outcome.confidence is not None:
        yield _row("confidence", format_number(outcome.confidence, "score"))
    for word, texts in (("issue", outcome.issues), ("highlight", outcome.highlights), ("note", outcome.notes)):
        for text in texts:
            yield _row(word, text)
    cost = outcome.usage.cost_usd
    yield _row("cost", NOT_AVAILABLE if cost is None else format_number(cost, "usd"))


def _row(label: str, value: str) -> GridRow:
    return GridRow(label=label, values=[value])
