"""What a judge said about a trial: its votes, what they come to, and what asking it has cost."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from evalward.records.base import Count, Record
from evalward.records.trace import Usage

JUDGE_ERROR = "judge_error"
"""The reason of trials that the judge could not judge: neither passed nor failed, and within a limit of their own."""

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class JudgeVote(Record):
    """One answer of the judge that could be read.

    `score` is the sum of weight · score over the rubric's criteria, computed by us. `claimed` is what the judge itself
    gave as `weighted_score`, `None` where it was not asked for. `repaired`: its first answer could not be used.
    """

    scores: dict[str, Share]
    score: Share
    claimed: float | None = None
    confidence: Share | None = None
    issues: list[str] = []
    highlights: list[str] = []
    passed: bool
    repaired: bool = False
    cached: bool = False


class JudgeOutcome(Record):
    """What the judge's votes come to.

    `score`, `scores` and `confidence` are means over the votes; `passed` is `score >= threshold`. All are `None` when
    there is an `error`: then nobody has judged. `agreement` is the share of votes on the side, passed or not, that has
    most of them, `spread` the highest vote minus the lowest. `usage` is the judge's own, never part of the trial's.
    `notes` say what is odd about answers that were used all the same.
    """

    model: str
    rubric: str
    threshold: Share
    score: Share | None = None
    passed: bool | None = None
    scores: dict[str, Share] = {}
    confidence: Share | None = None
    issues: list[str] = []
    highlights: list[str] = []
    votes: list[JudgeVote] = []
    asked: Count = 1
    agreement: Share | None = None
    spread: Share | None = None
    usage: Usage = Usage()
    error: str | None = None
    notes: list[str] = []
    cached: bool = False

    @property
    def sentence(self) -> str:
        """The outcome in a line: score, threshold, agreement of several votes, the first issue."""
        if self.score is None:
            return f"not judged: {self.error or 'the judge gave no verdict'}"
        parts = [f"scored {self.score:.2f}, {self.threshold:.2f} wanted"]
        if len(self.votes) > 1 and self.agreement is not None:
            parts.append(f"{self.agreement * 100:.0f} % of {len(self.votes)} votes agree")
        if not self.passed and self.issues:
            parts.append(f"issue: {self.issues[0]}")
        return "; ".join(parts)

    def summary(self) -> JudgeOutcome:
        """The part that a baseline keeps: numbers, no text."""
        votes = [vote.model_copy(update={"issues": [], "highlights": []}) for vote in self.votes]
        return self.model_copy(update={"votes": votes, "issues": [], "highlights": [], "notes": []})
