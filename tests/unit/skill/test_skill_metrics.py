"""The metrics of skills: triggers, near misses, routing, and arms; from what a baseline keeps just as well."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.records.result import Result, Status
from evalward.records.trace import Usage
from evalward.suites.skill.details import UPLIFTS
from evalward.suites.skill.evidence import as_failed
from evalward.suites.skill.kind import SKILL
from evalward.suites.skill.metrics import METRIC_IDS, measure
from support.skill_reports import arm, loaded, query, skill_base, skill_report, task, tasks


def told(results: list[Result], metric: str) -> tuple[float | None, float | None]:
    """Numerator and denominator; nothing where it isn't available."""
    found = measure(results).metrics[metric]
    return (found.numerator, found.denominator) if found.value is not None else (None, None)


QUERIES = [
    query("csv", "csv", id_="a"),
    query("csv", "xlsx", "csv", id_="b"),
    query("csv", "xlsx", id_="c"),
    query("csv", id_="d"),
    query("csv", "csv", wanted=False, id_="e"),
    query("csv", "xlsx", wanted=False, id_="f"),
    query("csv", "csv", id_="g", known=False),
]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("trigger_recall", (2, 4)),
        ("trigger_precision", (2, 3)),
        ("near_miss_rate", (1, 2)),
        ("routing_accuracy", (1, 3)),
        ("expectation_pass_rate", (None, None)),
        ("uplift_pass_rate", (None, None)),
    ],
)
def test_queries__count_where_it_is_known_what_was_loaded(metric: str, expected: tuple[float, float]) -> None:
    assert told(QUERIES, metric) == expected


def test_an_error__is_in_no_metric_of_triggers() -> None:
    broke = query("csv", id_="z").model_copy(update={"status": Status.ERROR})
    assert told([*QUERIES, broke], "trigger_recall") == (2, 4)


def test_a_read_skill__counts_as_the_details_say() -> None:
    assert told([query("csv", loaded("csv", how="read"))], "trigger_recall") == (0, 1)


def test_arms__are_compared_in_trials_that_are_valid_in_both() -> None:
    results = [
        *tasks((4, 2), (2, 4), (3, 0)),
        task("broke", arm("with", 4), arm("without", 0, status="error")),
        task("alone", arm("with", 1)),
        task("unjudged", arm("with", 0, 0), arm("without", 0, 0)),
    ]
    assert told(results, "expectation_pass_rate") == (14, 20)
    assert told(results, "without_pass_rate") == (6, 12)
    assert told(results, "uplift_pass_rate") == (0.5 - 0.5 + 0.75, 3)
    assert told(results, "uplift_tokens") == (0, 4)


def test_tokens_and_cost__are_those_with_the_skill__as_a_base_that_is_measured_now_has_no_other_arm() -> None:
    both, alone = tasks((4, 2)), [task("t0", arm("with", 4))]
    spent = both[0].model_copy(update={"usage": Usage(input_tokens=2_000, output_tokens=0, cost_usd=0.02)})
    for results in ([spent], alone):
        found = measure(results).metrics
        assert (found["total_input_tokens"].value, found["cost_usd"].value) == (1_000, 0.01)


def test_uplifts__are_not_available_where_an_arm_does_not_tell() -> None:
    results = [*tasks((4, 0)), task("dear", arm("with", 4, tokens=None, cost=None), arm("without", 4))]
    found = measure(results).metrics
    assert [found[metric].value is None for metric in UPLIFTS] == [False, True, True, False]
    assert found["uplift_tokens"].reason == "the agent reported no tokens"
    assert measure(tasks()).metrics["uplift_tokens"].reason == "no valid trial"


@given(st.lists(st.sampled_from([*QUERIES, *tasks((4, 2), (2, 4), (0, 0), trials=2)]), min_size=1, max_size=12))
def test_what_a_baseline_keeps__gives_the_same_metrics(results: list[Result]) -> None:
    numbered = [each.model_copy(update={"trial": at}) for at, each in enumerate(results, 1)]
    (run,) = skill_base(skill_report(numbered)).runs
    kept = measure([result for case in run.cases for result in case.results()]).metrics
    now = measure(numbered).metrics
    assert [kept[name].value for name in METRIC_IDS] == pytest.approx([now[name].value for name in METRIC_IDS])


def test_a_trial_that_went_wrong_in_all__is_the_worst_that_a_broken_one_can_be() -> None:
    worst = [each.model_copy(update={"details": as_failed(each.details)}) for each in (*QUERIES[:6], *tasks((4, 2)))]
    found = measure(worst).metrics
    assert [found[name].value for name in ("trigger_recall", "near_miss_rate", "expectation_pass_rate")] == [0, 1, 0]


def test_the_arms_of_an_uplift__by_case() -> None:
    results = [*tasks((4, 2), (2, 4), trials=2), task("broke", arm("with", 4), arm("without", 0, status="error"))]
    found = SKILL.contrast("uplift_pass_rate", "without", results)
    assert found is not None
    assert {case: (values.before, values.now) for case, values in found.cases.items()} == {
        "csv/t0": ((0.5, 0.5), (1.0, 1.0)),
        "csv/t1": ((1.0, 1.0), (0.5, 0.5)),
    }
    assert found.tried == 5
    assert SKILL.contrast("pass_rate", "without", results) is None


def test_what_must_beat_may_name__are_the_uplifts_where_the_other_arm_is_run() -> None:
    assert SKILL.spec.contrasted({"kind": "skill"}) == UPLIFTS
    assert SKILL.spec.contrasted({"kind": "skill", "without": False}) == ()


@pytest.mark.parametrize("status", ["skipped", "error"])
def test_an_arm_that_was_left_out__was_not_tried(status: str) -> None:
    found = SKILL.contrast("uplift_pass_rate", "without", [task("t", arm("with", 4), arm("without", 0, status=status))])
    assert found is not None
    assert (found.cases, found.tried) == ({}, int(status == "error"))
