"""The outcome of a trial, the composite score where a scenario asks for one, and the words for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalward.records.metric import EPSILON
from evalward.records.result import GRADER_ERROR
from evalward.render.numbers import format_number
from evalward.suites.scenario.details import GateResult
from evalward.suites.scenario.model import Composite

GATES_FAILED = "gates_failed"
JUDGE_FAILED = "judge_failed"
JUDGE_ERROR = "judge_error"

TIERS = ((0.9, "Excellent"), (0.7, "Good"), (0.5, "Acceptable"))
LOWEST_TIER = "Poor"


@dataclass(frozen=True)
class LayerOutcome:
    """Pass, or fail with a reason and what it says to people. `asserts_nothing`: a pass that means nothing."""

    passed: bool
    reason: str | None = None
    message: str | None = None
    asserts_nothing: bool = False


@dataclass(frozen=True)
class JudgeLayerOutcome:
    """What the judge layer gave. Enabled without a score, it has failed, and `error` says why."""

    enabled: bool = False
    score: float | None = None
    threshold: float | None = None
    error: str | None = None

    @property
    def passed(self) -> bool | None:
        """`score >= threshold`; `None` where nobody was asked."""
        if not self.enabled:
            return None
        return self.score is not None and self.threshold is not None and self.score >= self.threshold - EPSILON


def outcome_of(
    gates: Sequence[GateResult], judgement: JudgeLayerOutcome = JudgeLayerOutcome(), faults: Sequence[str] = ()
) -> LayerOutcome:
    """Pass iff all gates pass and the judge, where it is enabled, passes. Layer 1 has no say.

    `faults`: why graders gave no answer, each a gate that has not passed. Where nothing else failed nobody knows.
    """
    passed = sum(gate.passed for gate in gates)
    if faults and passed + len(faults) == len(gates) and (judgement.passed is not False or judgement.score is None):
        return LayerOutcome(False, GRADER_ERROR, faults[0])
    if passed < len(gates):
        failed = ", ".join(dict.fromkeys(gate.gate_type for gate in gates if not gate.passed))
        return LayerOutcome(False, GATES_FAILED, f"{passed} of {len(gates)} gates passed; failed: {failed}")
    if not judgement.enabled:
        return LayerOutcome(True, asserts_nothing=not gates)
    if judgement.passed:
        return LayerOutcome(True)
    if judgement.score is None:
        return LayerOutcome(False, JUDGE_ERROR, f"the judge gave no score: {judgement.error or 'it was never asked'}")
    limits = [judgement.threshold] if judgement.threshold is not None else []
    return LayerOutcome(
        False,
        JUDGE_FAILED,
        f"the judge's score {format_number(judgement.score, 'score', limits)} is below its threshold "
        f"{judgement.threshold:g}",
    )


def composite_score(
    weights: Composite | None,
    *,
    judge: float | None,
    gates_passed: int,
    gates_total: int,
    first_try: float | None,
) -> float | None:
    """clamp(jw·judge + gw·passed/total + iw·first-try rate, 0, 1); weights are as written, not normalised.

    A judge that gave nothing and a scenario without gates count 0, as the specification has it. `None` without weights,
    and where the interaction carries weight and nobody knows it.
    """
    if weights is None or (first_try is None and weights.interaction_weight > 0):
        return None
    gates = gates_passed / gates_total if gates_total else 0.0
    score = (
        weights.judge_weight * (judge or 0.0)
        + weights.gate_weight * gates
        + weights.interaction_weight * (first_try or 0.0)
    )
    return min(1.0, max(0.0, score))


def tier_word(score: float) -> str:
    """Excellent from .9, Good from .7, Acceptable from .5, else Poor; on the unrounded score."""
    return next((word for least, word in TIERS if score >= least), LOWEST_TIER)
