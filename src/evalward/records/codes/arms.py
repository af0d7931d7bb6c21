"""What a rule says of the other arm of the same trials."""

from __future__ import annotations

from typing import Literal

from evalward.records.codes.rules import OfMetric
from evalward.records.metric import Unit
from evalward.records.policy import Arm

WhyUncompared = Literal["part", "says_nothing", "broke", "never_run"]


class ArmUncompared(OfMetric):
    """No trial is valid in both arms. `why`: only some cases were run; what the target does there `says_nothing`; the
    trials of the other arm broke; or it was `never_run`."""

    code: Literal["arm.uncompared"] = "arm.uncompared"
    arm: Arm
    why: WhyUncompared


class AgainstArm(OfMetric):
    """The mean difference from the other arm, over so many `trials` of `cases` that are valid in both arms."""

    arm: Arm
    unit: Unit
    value: float
    cases: int
    trials: int


class ArmBeaten(AgainstArm):
    """The metric is better than in the other arm, and not by chance; `p` where chance plays a part."""

    code: Literal["arm.beaten"] = "arm.beaten"
    p: float | None = None


class ArmNotBeaten(AgainstArm):
    """The metric isn't better than in the other arm, and no chance is involved or asked for."""

    code: Literal["arm.not_beaten"] = "arm.not_beaten"


class ArmWorse(AgainstArm):
    """The metric is worse than in the other arm, and not by chance; `p` is corrected for all rules that ask for it."""

    code: Literal["arm.worse"] = "arm.worse"
    p: float


class ArmUnproven(AgainstArm):
    """That the metric is better than in the other arm is not proven.

    `detectable` is a difference that so many trials would prove four times out of five; `hopeless`: they are too few to
    prove any.
    """

    code: Literal["arm.unproven"] = "arm.unproven"
    p: float
    detectable: float | None = None
    hopeless: bool = False


Arms = ArmUncompared | ArmBeaten | ArmNotBeaten | ArmWorse | ArmUnproven
"""What a rule's `must_beat` says."""
