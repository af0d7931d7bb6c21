"""Findings: each threshold of the specification, on both sides."""

from __future__ import annotations

import pytest

from evalward.records.report import Finding
from evalward.records.result import Result
from evalward.suites.bash.findings import interpret
from evalward.suites.bash.metrics import measure
from support.results import result


def findings(*rows: Result) -> dict[str, Finding]:
    return {finding.id: finding for finding in interpret(rows, measure(rows))}


def suite(
    *,
    score: float = 100,
    ok: int = 100,
    turns: int = 4,
    natural: int = 100,
    tokens: int = 1_000,
    passed: bool = True,
    category: float | None = None,
) -> list[Result]:
    """A hundred cases in a strong category, and one more in a weak one when asked for."""
    rows = [
        result(
            f"c{n:03}",
            "passed" if passed else "failed",
            score=score,
            most=100,
            calls=(1, 1) if n < ok else (0, 1),
            turns=turns,
            natural=n < natural,
            tokens=(tokens, 0),
        )
        for n in range(100)
    ]
    if category is not None:
        rows.append(result("w", "failed", score=category, most=100, turns=turns, tokens=(tokens, 0), category="weak"))
    return rows


@pytest.mark.parametrize(
    ("rows", "healthy"),
    [
        (suite(), True),
        (suite(score=91), True),
        (suite(score=90), False),
        (suite(ok=81), True),
        (suite(ok=80), False),
        (suite(turns=4), True),
        (suite(turns=5), False),
        (suite(natural=51), True),  # "natural_stop on most tasks"
        (suite(natural=50), False),
        (suite(category=70), True),
        (suite(category=69.9), False),
        ([], False),
        ([result("a", calls=(0, 0))], False),  # tool success isn't available: nobody knows that it is healthy
    ],
)
def test_healthy_profile(rows: list[Result], healthy: bool) -> None:
    assert ("healthy_profile" in findings(*rows)) == healthy


def test_most_tasks__are_counted_by_task_and_not_by_trial() -> None:
    """One task with many trials at the turn limit doesn't outvote the others."""
    stuck = [result("stuck", natural=False, trial=n, calls=(9, 9), turns=4) for n in range(1, 6)]
    others = [result(f"c{n}", calls=(9, 9), turns=4) for n in range(2)]
    assert "healthy_profile" in findings(*stuck, *others)


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        (suite(score=85), "overall 85.0 % (healthy: > 90 %)"),
        (suite(ok=78), "tool calls 78.0 % (healthy: > 80 %)"),
        (suite(turns=6), "6.0 turns a task (healthy: < 5)"),
        (suite(category=60), "category weak 60.0 % (healthy: ≥ 70 %)"),
        ([result("a", calls=(0, 0))], "tool calls not available (healthy: > 80 %)"),
    ],
)
def test_neither_healthy_nor_in_friction__names_the_condition(rows: list[Result], names: str) -> None:
    found = findings(*rows)
    assert set(found) == {"between"}
    assert found["between"].evidence == names


def test_healthy_or_in_friction__says_no_more() -> None:
    assert "between" not in findings(*suite())
    assert "between" not in findings(*suite(ok=70))
    assert findings() == {}


def test_healthy_by_its_thresholds_and_yet_in_friction__says_both() -> None:
    found = findings(*suite(natural=70))
    assert found["healthy_profile"].level == "info"
    assert "turn_limit_often" in found


@pytest.mark.parametrize(
    ("rows", "signal", "shows"),
    [
        (suite(ok=75), "tool_friction", False),
        (suite(ok=74), "tool_friction", True),
        (suite(category=50), "weak_category", False),
        (suite(category=49.9), "weak_category", True),
        (suite(turns=7), "many_turns", False),
        (suite(turns=8), "many_turns", True),
        (suite(natural=80), "turn_limit_often", False),
        (suite(natural=79), "turn_limit_often", True),
        (suite(tokens=10_000, passed=False), "tokens_without_success", False),
        (suite(tokens=10_001, passed=False), "tokens_without_success", True),
        (suite(tokens=10_001, passed=True), "tokens_without_success", False),
        (suite(tokens=10_001)[:50] + suite(tokens=10_001, passed=False)[50:], "tokens_without_success", False),
        (suite(tokens=10_001)[:49] + suite(tokens=10_001, passed=False)[49:], "tokens_without_success", True),
    ],
)
def test_friction_signals(rows: list[Result], signal: str, shows: bool) -> None:
    found = findings(*rows)
    assert (signal in found) == shows
    if shows:
        assert found[signal].level == "warning"
        assert found[signal].evidence
        assert found[signal].threshold
        assert found[signal].advice


def test_a_finding_names_its_cases() -> None:
    rows = suite(ok=0, category=10, natural=98)
    found = findings(*rows)
    assert found["weak_category"].cases == ["w"]
    assert "weak" in found["weak_category"].message
    assert found["tool_friction"].cases == [f"c{n:03}" for n in range(100)]
    assert findings(*suite(natural=0)[:3])["turn_limit_often"].cases == ["c000", "c001", "c002"]


def test_every_weak_category_has_its_finding() -> None:
    rows = [result(name, "failed", category=name) for name in ("x", "y")]
    assert [f.id for f in interpret(rows, measure(rows))].count("weak_category") == 2


def test_tokens_that_nobody_told_are_no_signal() -> None:
    rows = [
        row.model_copy(update={"usage": row.usage.model_copy(update={"input_tokens": None})})
        for row in suite(passed=False)
    ]
    assert "tokens_without_success" not in findings(*rows)


def test_the_healthy_profile_shows_the_numbers() -> None:
    found = findings(*suite(score=95, ok=90))["healthy_profile"]
    assert found.level == "good"
    assert "95.0 %" in found.evidence
    assert "90.0 %" in found.evidence
    assert found.threshold == (
        "overall > 90 %, tool calls > 80 %, turns a task < 5, every category ≥ 70 %, natural stops > 50 % of the tasks"
    )
