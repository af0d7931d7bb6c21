"""What foreign results come to."""

from __future__ import annotations

import pytest

from evalward.records.trace import Usage
from evalward.suites.external.kind import EXTERNAL
from evalward.suites.external.results import Reading
from support.foreign.trials import foreign, results


def values(*trials: object, how: Reading | None = None) -> dict[str, float | None]:
    measured = EXTERNAL.measure(results(*trials, how=how))  # type: ignore[arg-type]
    return {name: metric.value for name, metric in measured.metrics.items()}


def test_rates_are_over_valid_trials__errors_over_all_that_were_run() -> None:
    found = values(foreign("a"), foreign("b", "failed"), foreign("c", "error"), foreign("d", "skipped"))
    assert found["pass_rate"] == 0.5
    assert found["harness_error_rate"] == pytest.approx(1 / 3)


def test_each_scorer_has_a_metric__over_the_trials_that_have_its_score() -> None:
    found = values(foreign("a", scores={"helpful": 0.5, "short": 1.0}), foreign("b", scores={"helpful": 0.7}))
    assert found["score:helpful"] == pytest.approx(0.6)
    assert found["score:short"] == 1.0
    assert found["mean_score"] is None  # b has one score alone, but the run has two scorers


def test_a_scorer_of_which_less_is_better__is_measured_so() -> None:
    how = Reading("inspect", suite="bot", lower=["toxic"])
    measured = EXTERNAL.measure(results(foreign("a", scores={"toxic": 0.1, "helpful": 0.9}), how=how))
    assert measured.metrics["score:toxic"].better == "lower"
    assert measured.metrics["score:helpful"].better == "higher"


def test_what_the_harness_does_not_say__is_not_available() -> None:
    measured = EXTERNAL.measure(results(foreign("a")))
    unknown = {name for name, metric in measured.metrics.items() if metric.value is None}
    assert unknown == {
        "mean_score",
        "total_input_tokens",
        "total_output_tokens",
        "total_duration_ms",
        "avg_duration_ms",
        "cost_usd",
    }


def test_tokens_time_and_cost__are_summed_where_every_trial_says_them() -> None:
    usage = Usage(input_tokens=10, output_tokens=2, cost_usd=0.25)
    found = values(foreign("a", usage=usage, duration_ms=30), foreign("b", usage=usage, duration_ms=50))
    assert (found["total_input_tokens"], found["total_output_tokens"], found["cost_usd"]) == (20, 4, 0.5)
    assert (found["total_duration_ms"], found["avg_duration_ms"]) == (80, 40)


def test_what_single_trials_add__comes_to_the_metric() -> None:
    every = results(foreign("a", scores={"helpful": 0.5}), foreign("b", "failed", scores={"helpful": 0.25}))
    for name, metric in EXTERNAL.measure(every).metrics.items():
        made_of = EXTERNAL.per_trial(name)
        assert made_of is not None
        if metric.numerator is not None:
            portions = [portion for result in every if (portion := made_of.portion(result)) is not None]
            assert made_of.together(portions).value == pytest.approx(metric.numerator)
    assert EXTERNAL.per_trial("csr") is None


def test_categories__are_counted() -> None:
    every = results(foreign("a", category="math"), foreign("b", "failed", category="math"), foreign("c"))
    measured = EXTERNAL.measure(every)
    assert {name: (each.tasks, each.passed, each.rate) for name, each in measured.categories.items()} == {
        "general": (1.0, 1.0, 1.0),
        "math": (2.0, 1.0, 0.5),
    }


def test_had_a_trial_failed__its_scores_would_be_nothing() -> None:
    (found,) = results(foreign("a", scores={"helpful": 0.9}))
    worst = EXTERNAL.as_failed(found.details)
    assert worst.model_dump()["scores"] == {"helpful": 0.0}
    assert worst.model_dump()["score"] == 0.0
