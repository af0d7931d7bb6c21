"""What a drop of a rate over calls is tested by: trials. The calls of one trial hang together, and are one proof."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from evalward.commands.pipeline import Criteria
from evalward.decide.portions import Portion, residuals
from evalward.decide.statistics.permutation import permutation_tails
from evalward.records.policy import Policy, Rule
from evalward.records.result import Result
from evalward.records.verdict import RuleOutcome
from evalward.suites.mcp.kind import DEFAULT_RULES, MCP
from support.mcp_calls import call, mcp_case, mcp_result
from support.mcp_reports import confused, fine, mcp_report, mcp_run, trials
from support.written import make_baseline

CALLS = 25  # of each trial
VALIDITY = Rule(metric="argument_validity_rate", max_drop=0.05, confirm=False)
CASES = [mcp_case("echo", id_=f"case-{number}", mode="run") for number in range(8)]


def many_calls(valid: Sequence[Sequence[bool]]) -> list[Result]:
    """Trials of each case: all calls of one are valid, or none is."""
    return [
        mcp_result(case, *[call(valid=held) for _ in range(CALLS)], trial=number)
        for case, held_in in zip(CASES, valid, strict=False)
        for number, held in enumerate(held_in, 1)
    ]


def outcomes(before: list[Result], now: list[Result], *rules: Rule) -> dict[str, RuleOutcome]:
    baseline = make_baseline(mcp_report(mcp_run(before)), "report.json", None, {"mcp": MCP})
    judgement = Criteria(baseline, Policy(rules=list(rules))).decide(mcp_report(mcp_run(now)))
    return {outcome.rule.metric: outcome for outcome in judgement.verdict.rules}


def test_a_trial_with_many_wrong_calls_is_one_observation() -> None:
    """75 of 100 calls beside 100 of 100: independent calls would be proof enough."""
    found = outcomes(many_calls([[True]] * 4), many_calls([[True]] * 3 + [[False]]), VALIDITY)[VALIDITY.metric]
    assert found.evidence is not None
    assert found.evidence.p == pytest.approx(0.5)
    assert found.status == "inconclusive"


def test_wrong_calls_in_every_case_are_a_proof() -> None:
    found = outcomes(many_calls([[True]] * 8), many_calls([[False]] * 8), VALIDITY)[VALIDITY.metric]
    assert found.evidence is not None
    assert found.evidence.p == pytest.approx(2**-8)
    assert found.status == "fail"


def test_without_a_change_chance_alone_is_blamed_as_seldom_as_alpha_says() -> None:
    """200 pairs of measurements with the same chance of valid trials; each trial's calls are alike."""
    metric = MCP.per_trial(VALIDITY.metric)
    assert metric is not None
    right, wrong = (metric.portion(each) for each in many_calls([[True, False]]))
    assert right is not None
    assert wrong is not None
    dice = random.Random(23)

    def side() -> list[Portion]:
        return [right if dice.random() < 0.6 else wrong for _ in range(3)]

    tails = (permutation_tails([residuals(side(), side()) for _ in range(8)]).low for _ in range(200))
    assert sum(tail <= 0.05 for tail in tails) / 200 <= 0.05


def test_a_forbidden_call_breaks_a_ceiling_and_no_case_that_forbids_fails_it_too() -> None:
    ceiling = Rule(metric="forbidden_call_rate", ceiling=0.0)
    case = mcp_case("search_orders", forbid=["delete_order"])
    tried = [mcp_result(case, call("search_orders"), call("delete_order"))]
    assert outcomes(tried, tried, ceiling)["forbidden_call_rate"].status == "fail"
    held = [mcp_result(case, call("search_orders"))]
    assert outcomes(held, held, ceiling)["forbidden_call_rate"].status == "ok"
    assert outcomes(fine(), fine(), ceiling)["forbidden_call_rate"].status == "fail"


def test_the_default_rules_hold_for_cases_of_every_sort() -> None:
    """None of them fails where its metric has no denominator."""
    calm = mcp_case(none=True, id_="calm")
    for results in (fine(), trials(calm, None, None), trials(mcp_case(forbid=["delete_order"]), None)):
        assert {found.status for found in outcomes(results, results).values()} <= {"ok"}
    lost = outcomes(fine(), confused())
    assert set(lost) == {rule.metric for rule in DEFAULT_RULES}
    assert lost["tool_selection_accuracy"].status == "fail"


@pytest.mark.parametrize("random", [True, False])
def test_a_server_all_of_whose_calls_end_in_an_error_is_red_by_default(*, random: bool) -> None:
    """The models choose and call as before, and the cases pass; only what the server answers is worse."""

    def tried(*, error: bool) -> list[Result]:
        return [
            mcp_result(case, call(executed=True, error=error), trial=number) for case in CASES for number in (1, 2, 3)
        ]

    def judged(now: list[Result]) -> tuple[str, dict[str, str]]:
        before, after = (mcp_run(each).model_copy(update={"random": random}) for each in (tried(error=False), now))
        baseline = make_baseline(mcp_report(before), "report.json", None, {"mcp": MCP})
        verdict = Criteria(baseline, Policy()).decide(mcp_report(after)).verdict
        return verdict.outcome, {outcome.rule.metric: outcome.status for outcome in verdict.rules}

    status, rules = judged(tried(error=True))
    assert status == "fail"
    assert {metric for metric, found in rules.items() if found != "ok"} == {"tool_call_success_rate"}
    assert judged(tried(error=False))[0] == "pass"


def test_a_default_rule_about_executed_calls_says_nothing_where_none_is() -> None:
    """As in mode select: neither a failure nor a warning."""
    baseline = make_baseline(mcp_report(mcp_run(fine())), "report.json", None, {"mcp": MCP})
    verdict = Criteria(baseline, Policy()).decide(mcp_report(mcp_run(fine()))).verdict
    rule = next(outcome for outcome in verdict.rules if outcome.rule.metric == "tool_call_success_rate")
    assert (verdict.outcome, rule.status, rule.statements, rule.value and rule.value.value) == ("pass", "ok", [], None)
    assert not any("tool_call_success_rate" in str(notice) for notice in verdict.notices)
