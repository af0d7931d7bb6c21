"""What a result of a prompt trial says, beside status, checks and usage."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from evalward.records.base import Cleaned
from evalward.records.judge import JudgeOutcome, Share
from evalward.records.result import Details

MOST_EVALUATORS = 100


class PromptDetails(Details):
    """The scores of one answer by the evaluators' names, those that are known.

    `answer` is what the target said, `expected` what the row expects, both cut; `judgements` are what judges said, in
    the order of the evaluators. `replayed`: the answer was recorded.
    """

    kind: Literal["prompt"] = "prompt"
    scores: dict[Cleaned, Share] = Field(default={}, max_length=MOST_EVALUATORS)
    answer: Cleaned | None = None
    expected: Cleaned | None = None
    replayed: bool = False
    judgements: list[JudgeOutcome] = Field(default_factory=list)

    @property
    def requests(self) -> int:
        """One answer is one request."""
        return 1

    def summary(self) -> PromptDetails:
        """The part that a baseline keeps: the scores, no text."""
        without: dict[str, Any] = {"answer": None, "expected": None, "judgements": []}
        return self.model_copy(update=without)
