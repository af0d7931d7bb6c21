"""What a result that another harness measured says, beside status, checks and usage."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from evalward.records.base import Cleaned
from evalward.records.result import Details

MOST_SCORES = 200
ScoreName = Annotated[Cleaned, StringConstraints(min_length=1, max_length=200)]
"""How a scorer of the harness is called; the metric is `score:NAME`."""


class ExternalDetails(Details):
    """The scores of one trial by their scorers' names, those with a value.

    `score` is what `mean_score` is the mean of: the score that decides, else the harness's own of the whole trial, else
    that of the only scorer that the run has; `None` where there is none, or it isn't known. `lower`
    names those where less is better. `format` is the format of the file. `timed`: it says how long the trial took.
    """

    kind: Literal["external"] = "external"
    format: str = ""
    timed: bool = False
    score: float | None = None
    scores: dict[ScoreName, float] = Field(default={}, max_length=MOST_SCORES)
    lower: list[ScoreName] = Field(default=[], max_length=MOST_SCORES)

    def summary(self) -> ExternalDetails:
        """The part that a baseline keeps: all of it, for it is numbers by names."""
        return self
