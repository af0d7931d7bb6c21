"""The metrics of a scenario suite, pooled."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.records.baseline import baseline_trial
from evalward.records.metric import Measurement
from evalward.records.result import Result, Status
from evalward.suites.scenario.details import FailedCommand, GateResult, ScenarioDetails, SubcommandStats
from evalward.suites.scenario.metrics import METRIC_IDS, measure
from support.scenarios import trial


def value(measured: Measurement, name: str) -> float | None:
    return measured.metrics[name].value


def counts(measured: Measurement, name: str) -> tuple[float | None, float | None]:
    return measured.metrics[name].numerator, measured.metrics[name].denominator


def test_rates_pool_counts_and_counts_are_per_pass() -> None:
    found = measure(
        [
            trial("a", counts=(4, 2, 1), first=1, gates=(2, 2)),
            trial("a", "failed", counts=(6, 2, 3), first=0, gates=(1, 2), completed=False),
            trial("b", counts=(10, 4, 0), first=4, gates=(3, 3)),
        ]
    )
    assert counts(found, "error_rate") == (4, 20)
    assert counts(found, "tool_success_rate") == (16, 20)
    assert counts(found, "retry_rate") == (12, 20)
    assert counts(found, "iteration_ratio") == (8, 20)
    assert counts(found, "first_try_success_rate") == (5, 20)
    assert counts(found, "commands_per_unique") == (20, 8)
    assert counts(found, "gate_pass_rate") == (6, 7)
    assert counts(found, "outcome_pass_rate") == (2, 3)
    assert counts(found, "completion_rate") == (2, 3)
    assert (value(found, "total_commands"), value(found, "error_count")) == (15, 2)
    assert (value(found, "cost_usd"), value(found, "total_input_tokens")) == (0.5, 200)
    category = found.categories["general"]
    assert (category.tasks, category.passed, category.score, category.max_score) == (2, 1.5, 4.5, 5)


def test_what_nobody_knows_is_not_available() -> None:
    silent = trial(counts=(0, 0, 0), first=0, gates=(0, 0))
    found = measure([silent])
    for name in ("error_rate", "tool_success_rate", "first_try_success_rate", "retry_rate", "iteration_ratio"):
        assert found.metrics[name].reason == "no command of the target tool was run"
    assert found.metrics["gate_pass_rate"].reason == "no scenario has a gate"
    assert found.metrics["judge_score"].reason == "no trial was judged"
    assert found.metrics["composite_score"].reason == "no scenario has a composite score"
    assert value(found, "total_commands") == 0
    assert found.categories["general"].rate is None


def test_unknown_exit_codes_are_no_success_and_no_error() -> None:
    partly = trial(counts=(4, 2, 1), interaction={"unknown_count": 2})
    found = measure([partly])
    assert (value(found, "error_rate"), value(found, "tool_success_rate")) == (0.25, 0.25)
    none = trial("b", counts=(3, 2, 0), first=None, interaction={"unknown_count": 3})
    assert counts(measure([partly, none]), "error_rate") == (1, 4)
    alone = measure([none])
    assert alone.metrics["error_rate"].reason == "exit codes are unknown"
    assert value(alone, "error_count") is None
    assert value(alone, "retry_rate") == pytest.approx(1 / 3)


def test_judge_and_evaluators() -> None:
    found = measure(
        [
            trial("a", judge_score=0.8, judge_passed=True, composite_score=0.5, scores={"tidy": 0.5, "fast": None}),
            trial("b", "failed", judge_passed=False, judge_error="no JSON", scores={"tidy": 1.0}),
            trial("c"),
        ]
    )
    assert counts(found, "judge_score") == (0.8, 1)
    assert counts(found, "judge_error_rate") == (1, 2)
    assert value(found, "composite_score") == 0.5
    assert counts(found, "evaluator.tidy") == (1.5, 2)
    assert found.metrics["evaluator.fast"].reason == "the evaluator gave no score"


def test_errors_are_the_harness_s() -> None:
    found = measure([trial("a"), Result(id="b", category="general", definition="d", status=Status.ERROR)])
    assert value(found, "harness_error_rate") == 0.5
    assert value(found, "outcome_pass_rate") == 1


@pytest.mark.parametrize("results", [[], [trial()]])
def test_every_metric_of_the_contract_is_there_in_order(results: list[Result]) -> None:
    assert tuple(measure(results).metrics) == METRIC_IDS


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 9), st.integers(0, 9)), max_size=6), st.randoms())
def test_the_order_of_trials_is_no_difference(rows: list[tuple[str, int, int]], random: object) -> None:
    results = [trial(n, counts=(t + e, min(t + e, 2), e), first=min(t, 1)) for n, t, e in rows]
    assert measure(results).metrics == measure(results[::-1]).metrics


def test_a_baseline_keeps_numbers_and_no_text_and_gives_the_same_metrics() -> None:
    result = trial(
        scores={"tidy": 0.5},
        judge_error="SECRET no JSON",
        judge_passed=False,
        gates=(1, 1),
        isolation="SECRET",
        agent="SECRET",
        claims={"cost": "SECRET"},
        interaction={
            "failed": [FailedCommand(subcommand="SECRET", command="SECRET", said="SECRET")],
            "per_subcommand": {"SECRET": SubcommandStats(total=1)},
        },
    )
    details = result.details
    assert isinstance(details, ScenarioDetails)
    told = details.model_copy(update={"gates": [GateResult(gate_type="script", passed=True, message="SECRET")]})
    kept = baseline_trial(result.model_copy(update={"details": told}))
    text = json.dumps(kept.model_dump(mode="json", exclude_defaults=True))
    assert "SECRET" not in text
    assert '"gate_type": "script"' in text
    again = result.model_copy(update={"details": kept.details})
    assert measure([again]) == measure([result])
