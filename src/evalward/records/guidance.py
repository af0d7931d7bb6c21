"""One guidance against another: the same scenarios worked on with several AGENTS.md, skills or system prompts."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from evalward.records.base import Count, Record
from evalward.records.evidence import Interval
from evalward.records.finding import Finding
from evalward.records.metric import Better, Metric

GUIDANCE_SCHEMA: Literal["evalward.guidance/1"] = "evalward.guidance/1"

Standing = Literal["better", "worse", "unclear", "same", "thin", "exact", "unknown"]
"""What a difference is: `better` and `worse` by more than chance; `unclear`: chance could do it; `same`: there is none;
`thin`: too few trials to say anything; `exact`: the target leaves nothing to chance, so the difference is one;
`unknown`: a side, or some trial, doesn't tell it."""

Compared = Literal["guidance", "descriptions"]


class GuidanceNumber(Record):
    """A number of the specification's table: the name people read, the metric's id, and its value."""

    metric: str
    name: str
    value: Metric
    interval: Interval | None = None


class GuidanceColumn(Record):
    """One guidance: the files that differ between the columns with their fingerprints, and what it led to.

    `trials` are the valid ones that the numbers are over, `errors` those that broke, which say nothing about it.
    `findings` are the diagnostic patterns with the commands and errors behind them, `advice` what it should say.
    """

    name: str
    files: dict[str, str] = {}
    trials: Count = 0
    errors: Count = 0
    numbers: list[GuidanceNumber] = []
    findings: list[Finding] = []
    advice: list[str] = []


class GuidanceDifference(Record):
    """A metric of one column minus that of the reference.

    `interval` are 95 %. `p` is two-sided, of the exact permutation test; `q` the same, corrected for all differences of
    the comparison (Holm), and what `standing` goes by at 0.05.
    """

    column: str
    metric: str
    name: str
    better: Better
    delta: float | None = None
    interval: Interval | None = None
    p: float | None = None
    q: float | None = None
    standing: Standing = "unknown"


class GuidanceComparison(Record):
    """One suite and one target, with several guidances side by side; the first column is the reference.

    `compares` is what the columns differ in: guidance that an agent reads, or descriptions of tools.
    `cases` are the scenarios that all columns have with equal definitions; `left_out` are the others. `why` says how
    the comparison came about, `notes` what has to be known to read it. With `not_measured` there is nothing else.
    """

    suite: str
    target: str
    compares: Compared = "guidance"
    why: str = ""
    cases: list[str] = []
    left_out: list[str] = []
    columns: list[GuidanceColumn] = []
    differences: list[GuidanceDifference] = []
    notes: list[str] = []
    not_measured: str | None = None

    @property
    def name(self) -> str:
        """`suite × target`."""
        return f"{self.suite} × {self.target}"

    def of(self, column: str) -> list[GuidanceDifference]:
        """The differences of a column, in the table's order."""
        return [difference for difference in self.differences if difference.column == column]


class GuidanceReport(Record):
    """`guidance.json`: all comparisons of one invocation."""

    schema_: Literal["evalward.guidance/1"] = Field(default=GUIDANCE_SCHEMA, alias="schema")
    comparisons: list[GuidanceComparison] = []
