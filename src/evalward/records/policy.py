"""The rules that say what blocks."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from evalward.records.base import StrictRecord

FailOn = Literal["regression", "inconclusive", "never"]


def _as_written(value: Any) -> Any:
    """YAML 1.1 reads a bare `off` as false."""
    return "off" if value is False else value


Off = Annotated[Literal["off"], BeforeValidator(_as_written, json_schema_input_type=Literal["off"] | Literal[False])]
OnOrOff = Annotated[
    Literal["auto", "off"],
    BeforeValidator(_as_written, json_schema_input_type=Literal["auto", "off"] | Literal[False]),
]
Anchor = Annotated[
    str,
    Field(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9][A-Za-z0-9._/+-]*$"),
    BeforeValidator(_as_written, json_schema_input_type=str | Literal[False]),
]
"""`auto`, `off`, or a tag."""
_Test = Annotated[
    Literal["exact", "off"],
    BeforeValidator(_as_written, json_schema_input_type=Literal["exact", "off"] | Literal[False]),
]


BOUNDS = ("floor", "ceiling", "goal", "max_drop", "max_rise")
"""What of a rule is a number that its metric is held against."""
Arm = Literal["without"]
"""The other arm of a trial, in which what is evaluated is left out."""


class Rule(StrictRecord):
    """What one metric must keep to.

    `floor` and `ceiling`: beyond fails. `goal`: short of it warns. `max_drop` and `max_rise`: worse than the
    baseline by more, and not by chance, fails. All are in the metric's own unit; differences are absolute points, not
    per cent. `must_beat` compares with the other arm of the same trials, not with the baseline. `test`, `alpha`,
    `floor_test` and `confirm` say how chance is told from change; they mean something where the target is random.
    """

    metric: str = Field(description="Metric id, for example tool_call_success_rate")
    floor: float | None = Field(default=None, description="A value below fails")
    ceiling: float | None = Field(default=None, description="A value above fails")
    goal: float | None = Field(default=None, description="A value short of it warns")
    max_drop: float | None = Field(default=None, ge=0, description="Lower than the baseline by more than this fails")
    max_rise: float | None = Field(default=None, ge=0, description="Higher than the baseline by more than this fails")
    test: _Test = Field(
        default="exact", description="exact: a drop fails when chance is excluded; off: the bare difference decides"
    )
    alpha: float = Field(
        default=0.05, gt=0, lt=0.5, description="How often chance may fail a check when nothing changed"
    )
    floor_test: Literal["literal", "upper"] = Field(
        default="literal", description="upper: a limit fails only when the whole 95 % interval is beyond it"
    )
    confirm: bool = Field(default=True, description="Decide drops on retrials of the cases that failed")
    must_beat: Arm | None = Field(
        default=None, description="The arm of the same run that the metric must be better than, and not by chance"
    )
    suite: str = Field(default="*", description="Applies to the suites that match this pattern")
    target: str = Field(default="*", description="Applies to the targets that match this pattern")

    @model_validator(mode="after")
    def _says_something(self) -> Rule:
        if all(getattr(self, name) is None for name in (*BOUNDS, "must_beat")):
            raise ValueError(f"a rule needs at least one of {', '.join(BOUNDS)}, must_beat")
        if self.floor is not None and self.ceiling is not None and self.floor > self.ceiling:
            raise ValueError(f"floor {self.floor} is above ceiling {self.ceiling}: nothing could pass")
        return self

    @property
    def in_words(self) -> str:
        """What it asks for, as it is written: `floor 0.9, max_drop 0.02`."""
        bounds = [f"{name} {value:g}" for name in BOUNDS if (value := getattr(self, name)) is not None]
        return ", ".join([*bounds, *([f"must_beat {self.must_beat}"] if self.must_beat else [])])

    def holds_for(self, suite: str, target: str) -> bool:
        """True when the rule's patterns match the run's suite and target."""
        return fnmatchcase(suite, self.suite) and fnmatchcase(target, self.target)


class Limits(StrictRecord):
    """How many errors of the measurement itself are allowed before nothing can be judged. Shares, 0 to 1."""

    max_error_rate: float = Field(default=0.05, ge=0, le=1, description="More errors than this: cannot be judged")
    min_valid: float = Field(default=0.95, ge=0, le=1, description="Share of comparable cases that need a valid trial")


class Confirm(StrictRecord):
    """The confirm stage: cases of random targets that failed are tried again before a drop is reported."""

    trials: int = Field(default=4, ge=1, le=20, description="Retrials of each case that failed")
    base: OnOrOff = Field(
        default="auto",
        description="auto: where a drop is in doubt, or would fail the check, "
        "measure the base commit alongside the head",
    )
    base_trials: int = Field(default=8, ge=2, le=20, description="Trials of each case in doubt then, on either side")
    at_most: float = Field(
        default=1.0,
        gt=0,
        le=10,
        allow_inf_nan=False,
        description="Most retrials in all, as a share of the planned trials",
    )


class Waiver(StrictRecord):
    """A case, suite or target that may be missing, and why."""

    id: str = Field(min_length=1, description="Case id, category, suite name or target id")
    reason: str = Field(min_length=1, description="Why it may be missing")


class Policy(StrictRecord):
    """All that decides: rules, limits, waivers, the confirm stage, and what the exit code does with an inconclusive
    verdict. `max_judge_error_rate`: the share of trials that the judge may have failed to judge. `anchor`: what slow
    losses are measured against: `auto`, `off`, or a release's tag. `with_base`: the suites that are compared with the
    base commit, measured now, and not with the committed baseline.
    """

    rules: list[Rule] = []
    limits: Limits = Limits()
    max_judge_error_rate: float = 0.1
    waive: list[Waiver] = []
    confirm: Confirm | None = Confirm()
    with_base: list[str] = []
    fail_on: FailOn = "regression"
    profile: str | None = None
    anchor: str = "auto"

    def waiver(self, *names: str) -> Waiver | None:
        """The first waiver for one of these names."""
        return next((waiver for waiver in self.waive if waiver.id in names), None)
