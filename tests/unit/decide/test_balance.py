"""Cases weigh alike in a share, however often each was tried."""

from __future__ import annotations

import pytest

from evalward.decide.balance import balanced
from evalward.records.metric import Measurement
from evalward.records.report import Run
from evalward.suites.bash.metrics import measure
from support.results import baseline, compared, metric_change, report, result, run


def tried(**words: str) -> Run:
    """`a="FFF"`: case a failed three times."""
    status = {"P": "passed", "F": "failed"}
    cases = [
        result(name, status[letter], trial=number)
        for name, letters in words.items()
        for number, letter in enumerate(letters, 1)
    ]
    return run(cases, random=True)


def measured(one: Run) -> Measurement:
    ids = dict.fromkeys(case.id for case in one.cases)
    return balanced([[case for case in one.cases if case.id == name] for name in ids], measure)


def test_equal_numbers__are_pooled_as_ever() -> None:
    one = tried(a="PF", b="PP")
    assert measured(one) == measure(one.cases)


def test_unequal_numbers__count_each_case_once() -> None:
    found = measured(tried(a="FFFF", b="P", c="P", d="P")).metrics
    rate = found["pass_rate"]
    assert (rate.value, rate.numerator, rate.denominator) == (0.75, 3, 4)
    assert found["overall_rate"].value == pytest.approx(0.75)
    assert found["avg_turns_per_task"].value == pytest.approx(2)
    assert found["total_passed"].value == 3


def test_a_drop__is_not_hidden_by_the_baselines_uneven_trials() -> None:
    change = metric_change(
        compared(report(tried(a="F", b="F", c="P", d="P")), baseline(tried(a="FFFF", b="P", c="P", d="P"))).runs[0],
        "pass_rate",
    )
    assert change.delta == pytest.approx(-0.25)
