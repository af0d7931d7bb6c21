"""What a plan says a run will use: sums of what the baseline measured, and never 0 for what is unknown."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.decide.confirm import evenly
from evalward.decide.foresee import PlanJudging
from evalward.decide.plan import cost_plan
from evalward.records.budget import Budget
from evalward.records.outline import LeftOut, OutlinedHarness, PlanOutline
from evalward.records.plan import CostPlan, PlannedAmount, PlannedUse, add_estimates, estimate
from evalward.records.policy import Confirm, Policy
from evalward.records.result import Status
from support.plans import MODEL, baseline_of, measured, outline, outlined

RULES = Policy.model_validate({"rules": [{"metric": "pass_rate", "max_drop": 0.02}]})
JUDGED = PlanJudging(policy=RULES)


def only(plan: CostPlan) -> PlannedUse:
    (run,) = plan.runs
    return run.usage


def test_known_cases__their_own_means() -> None:
    known = baseline_of({"a": [measured(0.01, turns=2), measured(0.03, turns=4)], "b": [measured(0.10, turns=5)]})
    plan = cost_plan(outline(outlined({"a": 2, "b": 1})), known, JUDGED)
    use = only(plan)
    assert plan.due == 3
    assert use.cost_usd.amount == pytest.approx(2 * 0.02 + 0.10)
    assert use.cost_usd.complete
    assert use.requests.amount == 2 * 3 + 5
    assert (use.input_tokens.amount, use.output_tokens.amount) == (3 * 750, 3 * 250)


def test_new_case__the_median_of_the_known_ones() -> None:
    known = baseline_of({"a": [measured(0.01)], "b": [measured(0.02)], "c": [measured(0.90)]})
    plan = cost_plan(outline(outlined(["new"])), known, JUDGED)
    assert only(plan).cost_usd.amount == pytest.approx(0.02)
    assert plan.runs[0].cases_new == 1


def test_no_figures_of_the_target__unknown_and_not_nothing() -> None:
    plan = cost_plan(outline(outlined(["a"], target="openai/gpt-x")), baseline_of({"a": [measured()]}), JUDGED)
    assert only(plan).cost_usd == PlannedAmount(amount=None, without=1)
    assert (plan.usage.cost_usd.amount, plan.wall.least_ms, plan.wall.most_ms) == (None, None, None)
    assert not plan.runs[0].in_baseline


def test_no_baseline__nothing_is_known_but_the_trials() -> None:
    plan = cost_plan(outline(outlined(["a", "b"])), None, JUDGED)
    assert (plan.due, plan.usage.cost_usd.amount, plan.baseline) == (2, None, None)


def test_some_cases_without_a_price__at_least() -> None:
    known = baseline_of({"a": [measured(0.10)], "b": [measured(None)], "c": [measured(0.02)]})
    use = only(cost_plan(outline(outlined(["a", "b", "c"])), known, JUDGED))
    assert use.cost_usd.amount == pytest.approx(0.12)
    assert use.cost_usd.without == 1
    assert not use.cost_usd.complete
    assert use.input_tokens.complete


def test_known_and_unknown_runs__the_total_is_at_least_what_is_known() -> None:
    runs = (outlined(["a"]), outlined(["a"], target="openai/gpt-x"))
    plan = cost_plan(outline(*runs), baseline_of({"a": [measured(0.25)]}), JUDGED)
    assert plan.usage.cost_usd == PlannedAmount(amount=0.25, without=1)
    assert (plan.wall.least_ms, plan.wall.most_ms) == (60_000, None)


def test_free_target__costs_nothing_whatever_it_repeats() -> None:
    known = baseline_of({"a": [measured(0.10)]}, target="replay:r", random=False)
    use = only(cost_plan(outline(outlined(["a"], target="replay:r", free=True, random=False)), known, JUDGED))
    assert use.cost_usd == use.requests == use.input_tokens == PlannedAmount(amount=0)
    assert use.trial_ms.amount == 60_000


def test_free_target_beside_an_unknown_one__the_total_is_unknown() -> None:
    runs = (outlined(["a"], target="oracle", free=True), outlined(["a"]))
    assert cost_plan(outline(*runs), None, JUDGED).usage.cost_usd == PlannedAmount(amount=None, without=1)


def test_judges__what_they_use_is_in_no_baseline() -> None:
    known = baseline_of({"a": [measured(0.10)]})
    use = only(cost_plan(outline(outlined(["a"], judges=["openai/judge"])), known, JUDGED))
    assert use.cost_usd == PlannedAmount(amount=0.10, open=True)


def test_broken_trials__say_nothing_of_what_a_whole_one_uses() -> None:
    broken = measured(0.001).model_copy(update={"status": Status.ERROR})
    known = baseline_of({"a": [broken, measured(0.10)]})
    assert only(cost_plan(outline(outlined(["a"])), known, JUDGED)).cost_usd.amount == pytest.approx(0.10)


def test_kept_trials__cost_nothing_again() -> None:
    known = baseline_of({"a": [measured(0.10)], "b": [measured(0.20)]})
    plan = cost_plan(outline(outlined({"a": 2, "b": 2}, kept={"a": 2, "b": 1})), known, JUDGED)
    assert (plan.due, plan.kept) == (1, 3)
    assert plan.usage.cost_usd.amount == pytest.approx(0.20)


def test_both_sides__twice_the_trials() -> None:
    plan = cost_plan(outline(outlined({"a": 3}, both_sides=True)), baseline_of({"a": [measured(0.10)]}), JUDGED)
    assert (plan.due, plan.runs[0].of_base) == (6, 3)
    assert plan.usage.cost_usd.amount == pytest.approx(0.60)


# --- time -----------------------------------------------------------------------------------------------------------


def test_time__the_sum_over_the_places_or_the_longest() -> None:
    known = baseline_of({"a": [measured(ms=60_000)], "b": [measured(ms=60_000)], "c": [measured(ms=240_000)]})
    plan = cost_plan(outline(outlined(["a", "b", "c"], at_once=2)), known, JUDGED)
    assert plan.wall.least_ms == 240_000  # the longest: the sum over two places is 180,000
    assert plan.wall.most_ms == 180_000 + 240_000 / 2
    alone = cost_plan(outline(outlined(["a", "b", "c"], at_once=1)), known, JUDGED)
    assert (alone.wall.least_ms, alone.wall.most_ms) == (360_000, 360_000)


def test_time__targets_go_side_by_side_and_suites_of_one_target_share_its_places() -> None:
    known = baseline_of({"a": [measured(ms=60_000)]})
    other = baseline_of({"a": [measured(ms=60_000)]}, target="openai/b")
    known = known.model_copy(update={"runs": [*known.runs, *other.runs]})
    apart = outline(outlined({"a": 4}, at_once=1), outlined({"a": 4}, at_once=1, target="openai/b"))
    assert cost_plan(apart, known, JUDGED).wall.most_ms == 240_000
    same = outline(outlined({"a": 4}, at_once=1), outlined({"a": 4}, at_once=1))
    assert cost_plan(same, known, JUDGED).wall.most_ms == 480_000


@given(st.lists(st.integers(1, 500), min_size=1, max_size=12), st.integers(1, 5))
def test_time__any_list_schedule_lies_between_the_bounds(durations: list[int], places: int) -> None:
    cases = {f"c{number}": [measured(ms=ms)] for number, ms in enumerate(durations)}
    wall = cost_plan(outline(outlined(list(cases), at_once=places)), baseline_of(cases), JUDGED).wall
    free_at = [0] * places
    for ms in durations:
        place = free_at.index(min(free_at))
        free_at[place] += ms
    assert wall.least_ms is not None
    assert wall.most_ms is not None
    assert wall.least_ms - 1e-6 <= max(free_at) <= wall.most_ms + 1e-6


# --- sums -----------------------------------------------------------------------------------------------------------

_COSTS = st.none() | st.floats(0.001, 10)


@given(
    st.lists(
        st.tuples(st.dictionaries(st.sampled_from("abcdef"), _COSTS, min_size=1), st.booleans()), min_size=1, max_size=4
    )
)
def test_total__is_the_sum_of_its_parts_and_unknown_never_nothing(
    runs: list[tuple[dict[str, float | None], bool]],
) -> None:
    known = []
    planned = []
    for number, (costs, in_baseline) in enumerate(runs):
        target = f"openai/m{number}"
        planned.append(outlined(list(costs), target=target))
        if in_baseline:
            known += baseline_of({case: [measured(cost)] for case, cost in costs.items()}, target=target).runs
    baseline = baseline_of({"z": [measured()]}, target="other").model_copy(update={"runs": known})
    plan = cost_plan(outline(*planned), baseline, JUDGED)
    figures = [cost for costs, there in runs for cost in costs.values() if there and cost is not None]
    missing = sum(len(costs) if not there else list(costs.values()).count(None) for costs, there in runs)
    assert plan.due == sum(run.due for run in plan.runs) == sum(len(costs) for costs, _ in runs)
    assert plan.usage.cost_usd.without == missing == sum(run.usage.cost_usd.without for run in plan.runs)
    assert plan.usage.cost_usd.amount == (pytest.approx(sum(figures)) if figures else None)


@given(st.lists(st.tuples(st.floats(0, 100), st.integers(0, 3), st.booleans()), max_size=5))
def test_estimates__nothing_is_only_said_of_what_is_known_whole(parts: list[tuple[float, int, bool]]) -> None:
    total = add_estimates([estimate(amount, without, more=more) for amount, without, more in parts])
    unknown = any(without or more for _, without, more in parts)
    assert total.complete is not unknown
    assert (total.amount == 0) <= total.complete
    assert total.without == sum(without for _, without, _ in parts)


# --- what may be added ----------------------------------------------------------------------------------------------


def test_confirm_stage__at_most_as_many_trials_as_the_policy_allows() -> None:
    known = baseline_of({f"c{n}": [measured(0.01 * (n + 1))] for n in range(10)})
    plan = cost_plan(outline(outlined(known_ids := [f"c{n}" for n in range(10)]), base=True), known, JUDGED)
    assert plan.confirm is not None
    assert plan.beside is not None
    assert plan.confirm.most == len(known_ids)  # 4 of each are 40, at most as many as are planned
    assert plan.confirm.most_usd == pytest.approx(4 * 0.10 + 4 * 0.09 + 2 * 0.08)
    assert plan.beside.most == 2 * 20
    assert plan.beside.most_usd == pytest.approx(2 * (8 * 0.10 + 8 * 0.09 + 4 * 0.08))
    assert plan.confirm.usual is None  # a baseline of one trial says little about how often a case passes


def test_confirm_stage__what_it_usually_adds_is_computed_from_how_often_cases_pass() -> None:
    flaky = [measured(passed=number < 9) for number in range(10)]
    never = [measured(passed=False)] * 10
    plan = cost_plan(
        outline(outlined({"flaky": 1, "never": 1})),
        baseline_of({"flaky": flaky, "never": never}),
        PlanJudging(policy=RULES.model_copy(update={"confirm": Confirm(at_most=10)})),
    )
    assert plan.confirm is not None
    assert plan.confirm.usual == pytest.approx(0.1 * 2 * 4)  # once in ten runs both fail, and both are tried again


@given(st.integers(1, 12), st.integers(1, 5), st.floats(0.1, 5), st.integers(1, 8), st.data())
def test_stages__no_choice_of_failed_cases_gets_more_trials_than_said(
    cases: int, trials: int, at_most: float, each: int, data: st.DataObject
) -> None:
    names = [f"c{number}" for number in range(cases)]
    confirm = Confirm(trials=each, at_most=at_most, base_trials=each + 1)
    plan = cost_plan(
        outline(outlined(dict.fromkeys(names, trials)), base=True),
        baseline_of({name: [measured()] for name in names}),
        PlanJudging(policy=RULES.model_copy(update={"confirm": confirm})),
    )
    failed = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    fresh = evenly(failed, each, max(len(failed), int(at_most * cases * trials)))  # as `to_confirm` asks for them
    beside = evenly(failed, each + 1, max(2 * len(failed), int(2 * at_most * cases * trials)))  # as `to_settle` does
    assert plan.confirm is not None
    assert plan.beside is not None
    assert sum(fresh.values()) <= plan.confirm.most
    assert 2 * sum(beside.values()) <= plan.beside.most


@given(st.lists(st.integers(0, 5), min_size=1, max_size=5))
def test_usual_fresh_trials__are_the_mean_over_all_outcomes(passes: list[int]) -> None:
    """Every outcome of one trial of each case, by its probability: what the stage would ask for."""
    cases = {f"c{n}": [measured(passed=i < count) for i in range(5)] for n, count in enumerate(passes)}
    confirm = Confirm(trials=2, at_most=10)
    judging = PlanJudging(policy=RULES.model_copy(update={"confirm": confirm}))
    plan = cost_plan(outline(outlined(list(cases))), baseline_of(cases), judging)
    mean = 0.0
    for outcome in product((True, False), repeat=len(passes)):
        seen = list(zip(passes, outcome, strict=True))
        chance = math.prod(count / 5 if passed else 1 - count / 5 for count, passed in seen)
        lost = any(not passed and 2 * count > 5 for count, passed in seen)
        mean += chance * (2 * outcome.count(False) if lost else 0)
    assert plan.confirm is not None
    assert plan.confirm.usual == pytest.approx(mean)


@pytest.mark.parametrize(
    "judging",
    [
        PlanJudging(policy=RULES.model_copy(update={"confirm": None})),
        PlanJudging(policy=RULES, compares=False),
    ],
    ids=["off", "run alone"],
)
def test_no_confirm_stage__nothing_is_added(judging: PlanJudging) -> None:
    plan = cost_plan(outline(outlined(["a"]), base=True), baseline_of({"a": [measured()]}), judging)
    assert (plan.confirm, plan.beside) == (None, None)


def test_deterministic_target__nothing_is_tried_again() -> None:
    known = baseline_of({"a": [measured()]}, target="oracle", random=False)
    plan = cost_plan(outline(outlined(["a"], target="oracle", free=True, random=False)), known, JUDGED)
    assert plan.confirm is None


# --- budgets --------------------------------------------------------------------------------------------------------


def test_budget__the_planned_trials_leave_the_confirm_stage_its_part() -> None:
    known = baseline_of({"a": [measured(0.50)], "b": [measured(0.50)]})
    plan = outline(outlined(["a", "b"]))
    budget = Budget.planned(1.2, None, confirms=True)  # planned: $1.00, of which $0.90 may be used
    (over,) = cost_plan(plan, known, PlanJudging(policy=RULES, budget=budget)).over
    assert (over.needs, over.limit, over.surely) == (1.0, 1.2, True)
    assert over.kept == pytest.approx(0.3)
    tokens = Budget.planned(None, 2400, confirms=True)
    (over,) = cost_plan(plan, known, PlanJudging(policy=RULES, budget=tokens)).over
    assert (over.needs, over.kept) == (2000, 600)


def test_budget__exceeded_by_what_is_planned_or_by_what_may_be_added() -> None:
    known = baseline_of({"a": [measured(0.50)], "b": [measured(0.50)]})
    plan = outline(outlined(["a", "b"]))
    (surely,) = cost_plan(plan, known, PlanJudging(policy=RULES, budget=Budget(usd=0.9))).over
    assert (surely.budget, surely.needs, surely.surely) == ("usd", 1.0, True)
    (maybe,) = cost_plan(plan, known, PlanJudging(policy=RULES, budget=Budget(usd=1.5))).over
    assert (maybe.needs, maybe.surely) == (2.0, False)
    assert not cost_plan(plan, known, PlanJudging(policy=RULES, budget=Budget(usd=2.0))).over
    (tokens,) = cost_plan(plan, known, PlanJudging(policy=RULES, budget=Budget(tokens=1999))).over
    assert (tokens.budget, tokens.needs) == ("tokens", 2000)


# --- what others run, and what is skipped ---------------------------------------------------------------------------


def test_other_harness__what_it_costs_is_unknown_unless_the_baseline_has_it() -> None:
    harness = OutlinedHarness(suite="bot", kind="bash", source="its own command", command=True)
    asked = PlanOutline(harnesses=[harness])
    plan = cost_plan(asked, None, JUDGED)
    assert plan.harnesses[0].usage.cost_usd == plan.usage.cost_usd == PlannedAmount(open=True)
    plan = cost_plan(asked, baseline_of({"a": [measured(0.10)], "b": [measured(0.20)]}, suite="bot"), JUDGED)
    assert plan.usage.cost_usd.amount == pytest.approx(0.30)
    assert not plan.usage.cost_usd.complete
    assert plan.harnesses[0].cases == 2


def test_results_of_an_earlier_step__cost_nothing_here() -> None:
    harness = OutlinedHarness(suite="bot", kind="bash", source="logs/*.eval")
    assert cost_plan(PlanOutline(harnesses=[harness]), None, JUDGED).usage.cost_usd == PlannedAmount(amount=0)


def test_what_is_skipped__is_named_with_the_reason() -> None:
    spared = outlined(["a"]).model_copy(update={"not_measured": "there is no key here (X is not set)"})
    plan = cost_plan(
        PlanOutline(runs=[spared], left_out=[LeftOut(suite="other"), LeftOut(suite="bash", target="oracle")]),
        baseline_of({"a": [measured()]}),
        JUDGED,
    )
    assert [(part.suite, part.target, part.why) for part in plan.skipped] == [
        ("bash", MODEL, "there is no key here (X is not set)"),
        ("other", None, None),
        ("bash", "oracle", None),
    ]
    assert (plan.due, plan.runs, plan.usage.cost_usd) == (0, [], PlannedAmount(amount=0))
