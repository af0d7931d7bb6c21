"""One line of the format `rows`: a trial of a harness of one's own."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from evalward.records.base import Amount, Count, StrictRecord

MOST_SCORE = 1e15


def _score(value: object) -> object:
    if isinstance(value, bool) or (isinstance(value, int | float) and abs(value) <= MOST_SCORE):
        return value
    raise ValueError("a score is a number, or true or false")


RowScore = Annotated[bool | float, BeforeValidator(_score)]


class ExternalRow(StrictRecord):
    """A trial: which case, how it ended, and what it took.

    `case` names the case; `trial` is its number, from 1, without it the order of the lines counts. `target` says who
    was evaluated (a model, an agent). `status`: `failed` is the target's doing, `error` the harness's or a provider's;
    without it the suite's `score` decides, by one of the `scores`: true or false, or a number that it sets bounds for.
    `input_tokens` are without what came from a cache; what isn't known is left out, never 0. `asked` is what defines
    the case (prompt, files, expectations), any JSON value: cases that ask something else are not compared.
    """

    case: str = Field(min_length=1, max_length=200)
    trial: int | None = Field(default=None, ge=1, le=1_000_000)
    target: str = Field(default="", max_length=200)
    status: Literal["passed", "failed", "error", "skipped"] | None = None
    scores: dict[str, RowScore] = Field(default={}, max_length=100)
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cost_usd: Amount | None = None
    duration_ms: Count | None = None
    asked: Any = None
    category: str = Field(default="", max_length=200)
    message: str = ""

    @model_validator(mode="after")
    def _ended(self) -> ExternalRow:
        if self.status is None and not self.scores:
            raise ValueError("it has no status and no score, so how the trial ended is unknown")
        return self
