"""Outcome, composite score and tiers: the worked examples."""

from __future__ import annotations

import pytest

from evalward.suites.scenario.details import GateResult
from evalward.suites.scenario.model import Composite
from evalward.suites.scenario.outcome import JudgeLayerOutcome, composite_score, outcome_of, tier_word


def gates(passed: int, total: int) -> list[GateResult]:
    return [GateResult(gate_type="file_exists", passed=n < passed) for n in range(total)]


def judged(score: float | None, threshold: float = 0.7, error: str | None = None) -> JudgeLayerOutcome:
    return JudgeLayerOutcome(True, score, threshold, error)


@pytest.mark.parametrize(
    ("passed", "total", "judgement", "reason"),
    [
        (2, 2, JudgeLayerOutcome(), None),
        (2, 2, judged(0.70), None),
        (2, 2, judged(0.69), "judge_failed"),
        (1, 2, judged(1.0), "gates_failed"),
        (2, 2, judged(None, error="no JSON"), "judge_error"),
        (0, 0, judged(0.9), None),
        (0, 0, JudgeLayerOutcome(), None),
    ],
)
def test_outcome(passed: int, total: int, judgement: JudgeLayerOutcome, reason: str | None) -> None:
    found = outcome_of(gates(passed, total), judgement)
    assert (found.passed, found.reason) == (reason is None, reason)
    assert found.asserts_nothing is (total == 0 and not judgement.enabled)


def test_a_failure_says_why() -> None:
    assert outcome_of(gates(1, 2)).message == "1 of 2 gates passed; failed: file_exists"
    assert outcome_of([], judged(0.69)).message == "the judge's score 0.69 is below its threshold 0.7"
    assert outcome_of([], judged(None, error="no JSON")).message == "the judge gave no score: no JSON"


@pytest.mark.parametrize(
    ("passed", "total", "judgement", "reason"),
    [
        (1, 2, JudgeLayerOutcome(), "grader_error"),
        (1, 2, judged(0.9), "grader_error"),
        (1, 2, judged(None, error="no JSON"), "grader_error"),
        (1, 2, judged(0.1), "gates_failed"),
        (0, 2, JudgeLayerOutcome(), "gates_failed"),
    ],
)
def test_a_grader_without_an_answer_decides_where_nothing_else_failed(
    passed: int, total: int, judgement: JudgeLayerOutcome, reason: str
) -> None:
    found = outcome_of(gates(passed, total), judgement, ["the grader g: it broke"])
    assert (found.passed, found.reason) == (False, reason)
    assert (found.message == "the grader g: it broke") is (reason == "grader_error")


DEFAULT = Composite()
OTHER = Composite(judge_weight=0.3, gate_weight=0.5, interaction_weight=0.2)
THIRD = Composite(judge_weight=0.4, gate_weight=0.4, interaction_weight=0.2)


@pytest.mark.parametrize(
    ("weights", "judge", "passed", "total", "first_try", "score"),
    [
        (DEFAULT, 0.9, 3, 3, 0.8, 0.925),
        (DEFAULT, None, 3, 3, 0.8, 0.43),
        (DEFAULT, None, 0, 0, 0.0, 0.0),
        (DEFAULT, 1.5, 3, 3, 1.5, 1.0),
        (DEFAULT, 0.83, 2, 3, 0.5, 0.7398333),
        (OTHER, 0.83, 2, 3, 0.5, 0.6823333),
        (OTHER, None, 2, 2, 0.5, 0.6),
        (THIRD, 0.9, 4, 4, 1.0, 0.96),
        (THIRD, None, 4, 4, 1.0, 0.6),
    ],
)  # fmt: skip
def test_composite(  # noqa: PLR0917 - a table
    weights: Composite, judge: float | None, passed: int, total: int, first_try: float, score: float
) -> None:
    found = composite_score(weights, judge=judge, gates_passed=passed, gates_total=total, first_try=first_try)
    assert found == pytest.approx(score, abs=1e-7)


def test_no_composite_without_weights_or_without_the_interaction() -> None:
    assert composite_score(None, judge=1, gates_passed=1, gates_total=1, first_try=1) is None
    assert composite_score(DEFAULT, judge=1, gates_passed=1, gates_total=1, first_try=None) is None
    alone = Composite(judge_weight=0, gate_weight=1, interaction_weight=0)
    assert composite_score(alone, judge=None, gates_passed=1, gates_total=2, first_try=None) == 0.5


@pytest.mark.parametrize(
    ("score", "word"),
    [
        (0.9, "Excellent"),
        (0.8999, "Good"),
        (0.7, "Good"),
        (0.6999, "Acceptable"),
        (0.5, "Acceptable"),
        (0.4999, "Poor"),
    ],
)
def test_tiers(score: float, word: str) -> None:
    assert tier_word(score) == word
