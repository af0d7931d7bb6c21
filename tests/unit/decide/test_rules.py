"""Rules: floors, ceilings, goals and drops, on their boundaries."""

from __future__ import annotations

import pytest

from evalward.records.codes.rules import LimitBroken
from evalward.records.metric import Metric, Unit, amount, ratio
from evalward.records.policy import Rule
from evalward.records.report import Report, Run
from evalward.records.result import Result
from evalward.records.verdict import Outcome, RuleOutcome
from evalward.render import sentences as english
from support.results import baseline, passes, report, result, run, verdict_of


def scored(percent: float, **more: float) -> list[Result]:
    """A hundred cases of which so many pass."""
    return [result(f"c{n:03}", "passed" if n < percent else "failed") for n in range(100)]


def applied(rule: Rule, now: Run | list[Result], before: Run | list[Result] | None = None) -> RuleOutcome:
    """What one rule says."""
    now = now if isinstance(now, Run) else run(now)
    base = None if before is None else before if isinstance(before, Run) else run(before)
    (outcome,) = verdict_of(report(now), baseline(base) if base else None, rule).rules
    return outcome


def rule(**values: object) -> Rule:
    return Rule.model_validate({"metric": "pass_rate", **values})


@pytest.mark.parametrize(
    ("given", "percent", "status"),
    [
        (rule(floor=0.9), 90, "ok"),
        (rule(floor=0.9), 91, "ok"),
        (rule(floor=0.9), 89, "fail"),
        (rule(floor=1.0), 100, "ok"),
        (rule(floor=0.0), 0, "ok"),
        (rule(ceiling=0.1), 10, "ok"),
        (rule(ceiling=0.1), 11, "fail"),
        (rule(ceiling=0.0), 0, "ok"),
        (rule(goal=0.9), 90, "ok"),
        (rule(goal=0.9), 89, "warn"),
        (rule(floor=0.5, goal=0.9), 70, "warn"),
        (rule(floor=0.5, goal=0.9), 40, "fail"),
        (rule(floor=0.5, ceiling=0.6), 55, "ok"),
    ],
)
def test_limits_are_literal(given: Rule, percent: float, status: str) -> None:
    assert applied(given, scored(percent)).status == status


@pytest.mark.parametrize(
    ("given", "before", "now", "status"),
    [
        (rule(max_drop=0.05), 90, 85, "ok"),  # .85 - .90 is below -.05 by a rounding error only
        (rule(max_drop=0.05), 90, 84, "fail"),
        (rule(max_drop=0.05), 90, 95, "ok"),
        (rule(max_drop=0.0), 90, 90, "ok"),
        (rule(max_drop=0.0), 90, 89, "fail"),
        (rule(max_drop=0.3), 90, 60, "ok"),
        (rule(max_drop=0.1), 100, 90, "ok"),
        (rule(max_rise=0.05), 85, 90, "ok"),
        (rule(max_rise=0.05), 85, 91, "fail"),
        (rule(max_rise=0.0), 90, 50, "ok"),
        (rule(floor=0.5), 90, 60, "ok"),  # without max_drop there is no drop rule
    ],
)
def test_drops_and_rises_are_points_over_the_comparable_cases(
    given: Rule, before: float, now: float, status: str
) -> None:
    found = applied(given, scored(now), scored(before))
    assert found.status == status
    assert found.stage == ("drop" if status == "fail" else "limit")


@pytest.mark.parametrize("limit", [{"floor": 0.9}, {"goal": 0.9}])
def test_a_value_short_of_its_limit_by_rounding_only_keeps_to_it(limit: dict[str, float]) -> None:
    short = [result("a", score=0.95 - 0.05)]
    assert short[0].score < 0.9
    assert applied(Rule.model_validate({"metric": "overall_rate", **limit}), short).status == "ok"


def test_a_value_above_its_ceiling_by_rounding_only_keeps_to_it() -> None:
    assert applied(Rule(metric="overall_rate", ceiling=0.3), [result("a", score=0.1 + 0.2)]).status == "ok"


def test_limits_look_at_all_cases_and_drops_at_the_comparable_ones() -> None:
    now = [*passes("a"), *[result(f"new{n}", "failed") for n in range(9)]]
    assert applied(rule(floor=0.5), now, passes("a")).status == "fail"
    assert applied(rule(max_drop=0.01), now, passes("a")).status == "ok"


def test_totals_can_rise_and_fall_too() -> None:
    before, now = [result("a", turns=4)], [result("a", turns=7)]
    assert applied(Rule(metric="total_turns", max_rise=3), now, before).status == "ok"
    assert applied(Rule(metric="total_turns", max_rise=2.5), now, before).status == "fail"
    assert applied(Rule(metric="total_turns", ceiling=7), now).status == "ok"


def test_a_goal_of_a_metric_that_should_be_low_is_short_above_it() -> None:
    metric = "avg_turns_per_task"
    assert applied(Rule(metric=metric, goal=5), [result("a", turns=5)]).status == "ok"
    assert applied(Rule(metric=metric, goal=5), [result("a", turns=6)]).status == "warn"
    assert applied(Rule(metric=metric, goal=5), [result("a", turns=4)]).status == "ok"


# --- not available --------------------------------------------------------------------------------------------------

SILENT = [result("a", calls=(0, 0))]


@pytest.mark.parametrize(
    ("values", "status"),
    [({"floor": 0.0}, "fail"), ({"ceiling": 1.0}, "fail"), ({"goal": 0.0}, "not_available"), ({"max_drop": 1.0}, "ok")],
)
def test_not_available_satisfies_no_limit(values: dict[str, float], status: str) -> None:
    found = applied(Rule.model_validate({"metric": "tool_call_success_rate", **values}), SILENT)
    assert found.status == status
    if status != "ok":
        assert "is not available (no tool call was made)" in english.message(found)


def test_what_was_available_and_is_no_longer_has_dropped() -> None:
    found = applied(Rule(metric="tool_call_success_rate", max_drop=1.0), SILENT, passes("a"))
    assert (found.status, found.stage) == ("fail", "drop")
    assert (
        english.message(found) == "tool_call_success_rate was 100.0 % and is not available now (no tool call was made)"
    )


def test_what_was_not_available_can_not_drop() -> None:
    assert applied(Rule(metric="tool_call_success_rate", max_drop=0.0), passes("a"), SILENT).status == "ok"


def test_a_value_that_is_no_number_keeps_to_no_limit() -> None:
    now = run(passes("a"))
    spoilt = {**now.metrics, "pass_rate": now.metrics["pass_rate"].model_copy(update={"value": float("nan")})}
    for limit in (rule(floor=0.0), rule(ceiling=1.0)):
        assert applied(limit, now.model_copy(update={"metrics": spoilt})).status == "fail"


# --- which rules hold -----------------------------------------------------------------------------------------------

DEFAULTS = [Rule(metric="pass_rate", max_drop=0.05), Rule(metric="overall_rate", goal=0.9)]


def held(now: Report, *rules: Rule) -> list[tuple[str, str, str, bool]]:
    outcomes = verdict_of(now, None, *rules, defaults=DEFAULTS).rules
    return [(o.suite, o.target, o.rule.metric, o.default) for o in outcomes]


def test_default_rules_hold_for_metrics_that_the_policy_doesnt_name() -> None:
    now = report(run(passes("a")))
    s, t = "bash-tools", "replay:haiku"
    assert held(now) == [(s, t, "pass_rate", True), (s, t, "overall_rate", True)]
    assert held(now, rule(floor=0.1)) == [(s, t, "pass_rate", False), (s, t, "overall_rate", True)]


def test_a_rule_for_other_suites_leaves_the_default_in_force() -> None:
    now = report(run(passes("a"), suite="one"), run(passes("a"), suite="two"))
    found = held(now, rule(floor=0.1, suite="one"))
    assert [(suite, default) for suite, _, metric, default in found if metric == "pass_rate"] == [
        ("one", False),
        ("two", True),
    ]


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        ({}, ["bash-a × oracle", "bash-a × replay:x", "bash-b × oracle", "cmd × oracle"]),
        ({"suite": "bash-*"}, ["bash-a × oracle", "bash-a × replay:x", "bash-b × oracle"]),
        ({"target": "replay:*"}, ["bash-a × replay:x"]),
        ({"suite": "bash-?", "target": "or*"}, ["bash-a × oracle", "bash-b × oracle"]),
        ({"suite": "Bash-*"}, []),
    ],
)
def test_patterns_narrow_a_rule(patterns: dict[str, str], names: list[str]) -> None:
    now = report(
        run(passes("a"), suite="bash-a", target="oracle"),
        run(passes("a"), suite="bash-a", target="replay:x"),
        run(passes("a"), suite="bash-b", target="oracle"),
        run(passes("a"), suite="cmd", target="oracle"),
    )
    outcomes = verdict_of(now, None, rule(floor=0.1, **patterns)).rules
    assert [f"{o.suite} × {o.target}" for o in outcomes] == names


def test_two_rules_for_one_metric_both_speak() -> None:
    now = report(run(scored(50)))
    found = verdict_of(now, None, rule(floor=0.9), rule(floor=0.4, suite="bash-*"))
    assert [outcome.status for outcome in found.rules] == ["fail", "ok"]
    assert found.outcome is Outcome.FAIL


def test_a_run_that_was_not_measured_feeds_no_rule() -> None:
    now = report(run([], not_measured="no key"), run(passes("a"), suite="other"))
    assert [outcome.suite for outcome in verdict_of(now, None, rule(floor=0.5)).rules] == ["other"]


# --- words ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "before", "now", "message"),
    [
        (rule(floor=0.9), None, 89, "pass_rate is 89.0 % (89 of 100), below its floor of 90 %"),
        (rule(ceiling=0.5), None, 51, "pass_rate is 51.0 % (51 of 100), above its ceiling of 50 %"),
        (rule(goal=0.948), None, 90, "pass_rate is 90.0 %, short of its goal of 94.8 %"),
        (rule(max_drop=0.02), 90, 85, "pass_rate fell 5.0 pp (90.0 % → 85.0 %), more than the 2 pp allowed"),
        (rule(max_rise=0.02), 85, 90, "pass_rate rose 5.0 pp (85.0 % → 90.0 %), more than the 2 pp allowed"),
        (rule(floor=0.1), None, 90, ""),
    ],
)
def test_what_a_rule_says(given: Rule, before: float | None, now: float, message: str) -> None:
    assert english.message(applied(given, scored(now), None if before is None else scored(before))) == message


def test_a_rule_that_is_broken_twice_says_both() -> None:
    found = applied(rule(floor=0.9, max_drop=0.02, goal=0.95), scored(85), scored(95))
    assert (found.status, found.stage) == ("fail", "limit")
    assert english.message(found) == (
        "pass_rate is 85.0 % (85 of 100), below its floor of 90 %; "
        "pass_rate fell 10.0 pp (95.0 % → 85.0 %), more than the 2 pp allowed"
    )


def test_counts_stand_beside_ratios_only() -> None:
    assert below(ratio(33, 37, "")).endswith(" % (33 of 37), below its floor of 9,900 %")
    assert below(ratio(4.5, 7, "")).endswith(" % (4.50 of 7), below its floor of 9,900 %")
    assert below(amount(3.0, "count")) == "m is 3, below its floor of 99"
    assert below(ratio(5, 2, "", unit="count")) == "m is 2.50, below its floor of 99"


def below(metric: Metric) -> str:
    """What is said of a metric that is below its floor."""
    numbers = metric.model_dump(include={"unit", "value", "numerator", "denominator"})
    return english.says(LimitBroken(metric="m", limit="floor", allowed=99, **numbers))


@pytest.mark.parametrize(
    ("value", "limit", "unit", "text"),
    [
        (0.89, 0.9, "ratio", "89.0 %, below its floor of 90 %"),
        (0.89999, 0.9, "ratio", "89.999 %, below its floor of 90 %"),
        (0.8999999, 0.9, "ratio", "89.9999 %, below its floor of 90 %"),
        (286_000.0, 290_000, "tokens", "286,000 tokens, below its floor of 290,000 tokens"),
        (0.0099, 0.01, "usd", "$0.0099, below its floor of $0.01"),
        (1499.6, 1500.0, "ms", "1.4996 s, below its floor of 1.5 s"),
    ],
)
def test_a_boundary_is_never_hidden_by_rounding(value: float, limit: float, unit: Unit, text: str) -> None:
    found = LimitBroken(metric="m", limit="floor", unit=unit, value=value, allowed=limit)
    assert english.says(found) == f"m is {text}"
