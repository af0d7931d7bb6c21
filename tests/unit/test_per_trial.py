"""What single trials add to a metric, put together, is what `measure` gives: for every kind, over any trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.decide.portions import NONE, Portion
from evalward.records.base import Record
from evalward.records.metric import Metric
from evalward.records.result import Result, Status
from evalward.records.trace import Usage
from evalward.suites.base import Kind, kind_named
from evalward.suites.bash.details import BashDetails
from evalward.suites.command.details import CommandDetails
from evalward.suites.command.judge import WrongReason as CommandReason
from evalward.suites.mcp.details import JudgedCalls, McpDetails
from evalward.suites.prompt.details import PromptDetails
from evalward.suites.scenario.details import EvaluatorResult, Interaction, ScenarioDetails
from evalward.suites.skill.details import ArmOutcome, SkillDetails
from evalward.suites.speedup.details import BenchmarkSpeed, LevelAdvantage, SpeedupDetails
from evalward.suites.speedup.outcome import SpeedupReason

OF_SEVERAL = {"pass_at_*", "cost_weighted_advantage"}
"""Metrics of speedups that no sum over trials gives."""

counts = st.integers(0, 9)
scores = st.one_of(st.none(), st.floats(0, 1, width=16))
maybe = st.one_of(st.none(), st.booleans())
interactions = st.builds(
    Interaction,
    total_commands=counts,
    unique_commands=st.one_of(st.none(), counts),
    error_count=counts,
    retry_count=st.one_of(st.none(), counts),
    unknown_count=counts,
    first_try_count=st.one_of(st.none(), counts),
    help_invocations=counts,
    retries_after_failure=st.one_of(st.none(), counts),
)
evaluators = st.lists(st.builds(EvaluatorResult, name=st.sampled_from(["tidy", "fast"]), score=scores), max_size=3)
benchmarks = st.lists(
    st.builds(
        BenchmarkSpeed,
        name=st.sampled_from(["m.S.a", "m.S.b", "n.T.c"]),
        agent=st.one_of(st.none(), st.sampled_from([0.0, 0.5, 1.2, 500.0])),
        oracle=st.one_of(st.none(), st.sampled_from([0.8, 1.5])),
        resurrected=st.booleans(),
    ),
    max_size=3,
)
DETAILS: Mapping[str, st.SearchStrategy[Record]] = {
    "bash": st.builds(
        BashDetails, tool_calls=st.integers(5, 9), tool_calls_ok=st.integers(0, 5), turns=counts, natural_stop=...
    ),
    "command": st.builds(
        CommandDetails,
        safe_expected=maybe,
        safe_actual=maybe,
        behaviour=maybe,
        refused=...,
        unsafe=...,
        allowed=st.sampled_from([[], ["files.rm"]]),
    ),
    "mcp": st.builds(
        McpDetails,
        judged=st.builds(
            JudgedCalls,
            expects=st.sampled_from(["calls", "none", "neither"]),
            selected=maybe,
            expected=counts,
            matched=counts,
            counted=counts,
            args_tried=counts,
            args_matched=counts,
            forbidden=st.one_of(st.none(), counts),
        ),
        total=counts,
        unknown=counts,
        checked=counts,
        valid=counts,
        executed=st.integers(5, 9),
        failed=st.integers(0, 5),
        catalogue_tokens=st.one_of(st.none(), counts),
    ),
    "prompt": st.builds(
        PromptDetails, scores=st.dictionaries(st.sampled_from(["tone", "short"]), st.floats(0, 1, width=16))
    ),
    "scenario": st.builds(
        ScenarioDetails,
        interaction=interactions,
        gates_passed=counts,
        gates_total=counts,
        judge_score=scores,
        judge_error=st.sampled_from([None, "away"]),
        composite_score=scores,
        evaluators=evaluators,
        completed=maybe,
    ),
    "skill": st.builds(
        SkillDetails,
        asks=st.sampled_from(["trigger", "task"]),
        skill=st.just("csv"),
        wants=st.sampled_from([None, "csv"]),
        triggered=maybe,
        won=st.sampled_from([None, "csv", "xlsx"]),
        arms=st.lists(
            st.builds(
                ArmOutcome,
                arm=st.sampled_from(["with", "without"]),
                status=st.sampled_from(list(Status)),
                expectations=st.integers(0, 5),
                held=st.just(0),
                usage=st.sampled_from([Usage(), Usage(input_tokens=70, output_tokens=7, cost_usd=0.25)]),
                duration_ms=counts,
            ),
            max_size=2,
        ),
    ),
    "speedup": st.builds(
        SpeedupDetails,
        role=st.sampled_from(["agent", "oracle"]),
        benchmarks=benchmarks,
        pytest_failed=...,
        resolved=...,
        trajectory_length=st.one_of(st.none(), counts),
        legacy_percentage=st.sampled_from([None, 12.5]),
        levels=st.just([LevelAdvantage(advantage=0.5, groups=1)] * 4),
    ),
}
REASONS = {
    "command": [None, *CommandReason],
    "speedup": [None, *SpeedupReason],
}


def trials_of(kind: str) -> st.SearchStrategy[list[Result]]:
    """Trials of a few cases, that ended in every way."""
    one = st.builds(
        Result,
        id=st.sampled_from("abc"),
        category=st.sampled_from(["safety", "posix", "basic"]),
        definition=st.just("sha256:d"),
        status=st.sampled_from(Status),
        score=st.floats(0, 4, width=16),
        max_score=st.floats(4, 9, width=16),
        usage=st.builds(
            Usage,
            input_tokens=st.one_of(st.none(), counts),
            output_tokens=st.one_of(st.none(), counts),
            cost_usd=st.one_of(st.none(), st.floats(0, 1, width=16)),
        ),
        duration_ms=counts,
        reason=st.sampled_from(REASONS.get(kind, [None])),
        details=DETAILS[kind],
    )
    return st.lists(one, max_size=8)


def added_up(kind: Kind, name: str, results: Sequence[Result]) -> Portion | None:
    """A metric over these results, by what each of them adds; `None` where it is not available."""
    metric = kind.per_trial(name)
    assert metric is not None
    cases: dict[str, list[Portion]] = {}
    for result in results:
        portion = metric.portion(result)
        if portion is None:
            return None
        if portion != NONE:
            cases.setdefault(result.id, []).append(portion)
    found = [metric.together(portions) for portions in cases.values()]
    if not found:
        return None
    of = None if found[0].of is None else fsum(each.of or 0.0 for each in found)
    return Portion(fsum(each.value for each in found), of)


def check(kind: Kind, name: str, metric: Metric, results: Sequence[Result]) -> None:
    """The metric is what the portions add up to."""
    found = added_up(kind, name, results)
    if found is None or found.of == 0:
        assert metric.value in {None, 0.0}
    elif found.of is None:
        assert metric.denominator is None
        assert metric.value == pytest.approx(found.value)
    else:
        told = (metric.numerator, metric.denominator, metric.value)
        assert told == pytest.approx((found.value, found.of, found.value / found.of))


@pytest.mark.parametrize("name", DETAILS)
def test_portions_add_up_to_what_is_measured(name: str) -> None:
    kind = kind_named(name)

    @given(trials_of(name))
    def every_metric(results: list[Result]) -> None:
        for metric, found in kind.measure(results).metrics.items():
            if kind.per_trial(metric) is not None:
                check(kind, metric, found, results)

    every_metric()


@pytest.mark.parametrize("name", DETAILS)
def test_every_metric_is_made_of_trials__but_those_that_say_so(name: str) -> None:
    kind = kind_named(name)
    ids = [metric.replace("*", "any") for metric in kind.metric_ids]
    without = {metric for metric in ids if kind.per_trial(metric) is None}
    several = {metric for metric in ids if metric.startswith("pass_at_") or metric in OF_SEVERAL}
    assert without == (several if name == "speedup" else set())


@pytest.mark.parametrize("name", DETAILS)
def test_a_metric_that_there_is_not__is_made_of_nothing(name: str) -> None:
    assert kind_named(name).per_trial("no_such_metric") is None
