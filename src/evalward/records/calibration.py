"""What holding a judge against labels found."""

from __future__ import annotations

from evalward.records.base import Record
from evalward.records.judge import JudgeOutcome
from evalward.records.trace import Usage


class Kappa(Record):
    """Cohen's κ with its 95 % interval; `value` is `None` where chance alone already agrees always (one label only)."""

    value: float | None
    low: float | None = None
    high: float | None = None


class Swayed(Record):
    """One way to sway a judge: verdicts that were had both ways, those that turned, and by how much scores moved."""

    compared: int
    turned: list[str]
    lifted: list[str]
    mean_shift: float | None


class LabelledOutcome(Record):
    """One labelled transcript: the label, and the judge's outcome plain, in the other order, and with the injection."""

    id: str
    label: bool
    plain: JudgeOutcome
    reversed: JudgeOutcome
    injected: JudgeOutcome


class Calibration(Record):
    """What a calibration found. Rates are `None` where nothing was judged.

    `lifted` of `injection` are the transcripts that failed and passed with the injected instruction.
    """

    model: str
    rubric: str
    threshold: float
    transcripts: int
    judged: int
    errors: list[str]
    agreement: float | None
    kappa: Kappa
    false_passes: list[str]
    false_fails: list[str]
    mean_absolute_error: float | None
    scores_compared: int
    order: Swayed
    injection: Swayed
    usage: Usage
    cases: list[LabelledOutcome]
