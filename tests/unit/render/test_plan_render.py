"""A plan for people: nothing unknown reads as 0, a table that fits, and few lines in a log."""

from __future__ import annotations

import pytest

from evalward.config.batch import Batch
from evalward.decide.foresee import PlanJudging
from evalward.decide.plan import cost_plan
from evalward.records.budget import Budget
from evalward.records.outline import LeftOut, OutlinedHarness, PlanOutline
from evalward.records.plan import CostPlan, WallTime
from evalward.records.policy import Policy
from evalward.render.plan import plan_lines, plan_text
from support.plans import baseline_of, measured, outline, outlined

JUDGED = PlanJudging(policy=Policy.model_validate({"rules": [{"metric": "pass_rate", "max_drop": 0.02}]}))
LONG = "anthropic/claude-something-with-a-very-long-name-20261121"


def text(plan: CostPlan, width: int = 80) -> str:
    return plan_text(plan, colour=False, width=width)


def known_and_unknown(target: str = "openai/gpt-x") -> CostPlan:
    names = [f"c{number}" for number in range(20)]
    known = baseline_of({name: [measured(0.006, ms=30_000)] for name in names})
    return cost_plan(outline(outlined(names), outlined(names, target=target), base=False), known, JUDGED)


def test_unknown__is_said_and_what_to_do() -> None:
    shown = " ".join(text(known_and_unknown()).split())
    assert "the baseline has no figures of openai/gpt-x; make one with `evalward run`" in shown
    assert "20 unknown unknown unknown unknown unknown" in shown
    assert "40 ≥ 60 ≥ 15.0k ≥ 5,000 ≥ $0.12" in shown
    assert "$0 " not in shown


def test_what_can_be_seen() -> None:
    shown = " ".join(text(known_and_unknown()).split())
    assert "with 20 cases × 1 trial a drop of pass_rate by fewer than 3 cases is not proof." in shown
    assert "Failed cases are retried: at most 20 trials (cost $0.12)." in shown


@pytest.mark.parametrize(("wait", "shown"), [("24h", "24 h"), ("5h", "5 h"), ("90m", "90 min"), ("120m", "2 h")])
def test_batches__the_wait_is_the_configurations(wait: str, shown: str) -> None:
    batched = outlined(["a"]).model_copy(update={"batched": True})
    plan = cost_plan(outline(batched), None, PlanJudging(batch_wait_s=Batch(wait=wait).wait_s))
    said = f"Requests go in batches, at half price; a batch may take up to {shown}."
    assert said in " ".join(text(plan).split())
    assert said in plan_lines(plan)[1]
    live = cost_plan(outline(outlined(["a"])), None, PlanJudging(batch_wait_s=Batch(wait=wait).wait_s))
    assert live.batch_wait_s is None
    assert "batch" not in text(live)


@pytest.mark.parametrize("width", [80, 100])
def test_table__fits_and_breaks_no_name(width: int) -> None:
    lines = text(known_and_unknown(LONG), width).splitlines()
    assert max(map(len, lines)) <= width
    assert f"bash × {LONG}" in lines


def test_narrow_terminal__a_list_in_place_of_the_table() -> None:
    shown = text(known_and_unknown(), 50)
    assert max(map(len, shown.splitlines())) <= 50
    assert "trials: 20, requests: 60" in shown


def test_log__at_most_four_lines() -> None:
    plan = known_and_unknown()
    lines = plan_lines(plan)
    assert lines[0] == (
        "Plan: trials 40, requests ≥ 60, tokens ≥ 15.0k in, ≥ 5,000 out, cost ≥ $0.12, time ≥ 2 min; "
        "figures of the baseline of 2026-11-21 08:00 UTC."
    )
    assert len(lines) <= 4
    crowded = cost_plan(
        PlanOutline(
            runs=[outlined(["a"], target=f"openai/m{n}") for n in range(9)],
            harnesses=[OutlinedHarness(suite="bot", kind="bash", source="its command", command=True)],
            left_out=[LeftOut(suite=f"suite-{n}") for n in range(9)],
        ),
        baseline_of({"a": [measured()]}, target="openai/m1"),
        PlanJudging(policy=JUDGED.policy, budget=Budget(usd=0.001)),
    )
    assert len(plan_lines(crowded)) == 4


def test_what_the_confirm_stage_usually_adds__where_the_baseline_can_say_it() -> None:
    flaky = [measured(0.01, passed=number < 9) for number in range(10)]
    shown = plan_lines(cost_plan(outline(outlined(["a", "b"])), baseline_of({"a": flaky, "b": flaky}), JUDGED))[1]
    assert shown == (
        "Failed cases are retried: at most 2 trials (cost $0.0200); "
        "0.8 on average while the cases pass as often as in the baseline."
    )


def test_other_harness__its_trials_are_unknown() -> None:
    harness = OutlinedHarness(suite="bot", kind="bash", source="what its command leaves", command=True)
    plan = cost_plan(PlanOutline(harnesses=[harness]), None, JUDGED)
    assert text(plan).startswith("Plan: 1 suite of other harnesses, trials: unknown. Nothing was run.\n")
    assert plan_lines(plan)[0].startswith("Plan: trials unknown, bot by its own harness, requests unknown,")


def test_no_baseline() -> None:
    lines = plan_lines(cost_plan(outline(outlined(["a"])), None, JUDGED))
    assert lines == [
        "Plan: trials 1, requests unknown, tokens unknown in, unknown out, cost unknown, time unknown; no baseline."
    ]


def test_budget() -> None:
    known = baseline_of({"a": [measured(0.50)]})
    plan = cost_plan(outline(outlined(["a"])), known, PlanJudging(policy=JUDGED.policy, budget=Budget(usd=0.25)))
    assert "`budget_usd` will stop the run: $0.50 planned, $0.25 allowed." in text(plan)
    kept = PlanJudging(policy=JUDGED.policy, budget=Budget.planned(0.6, None, confirms=True))
    told = "will stop the run: $0.50 planned, $0.45 allowed; $0.15 of $0.60 is kept for the confirm stage."
    assert told in " ".join(text(cost_plan(outline(outlined(["a"])), known, kept)).split())
    assert told in "\n".join(plan_lines(cost_plan(outline(outlined(["a"])), known, kept)))


def test_free_target__costs_nothing_as_a_fact() -> None:
    known = baseline_of({"a": [measured(0.50)]}, target="oracle", random=False)
    plan = cost_plan(outline(outlined(["a"], target="oracle", free=True, random=False)), known, JUDGED)
    row = text(plan).splitlines()[7].split()
    assert row[:5] == ["1", "0", "0", "0", "$0"]


def test_hostile_names__are_harmless() -> None:
    run = outlined(["a"], target="openai/\x1b[31mred\u202e")
    for shown in (
        text(cost_plan(outline(run), None, JUDGED)),
        "\n".join(plan_lines(cost_plan(outline(run), None, JUDGED))),
    ):
        assert "\x1b" not in shown
        assert "\u202e" not in shown


@pytest.mark.parametrize(
    ("least", "most", "said"),
    [
        (None, None, "unknown"),
        (10_000, 30_000, "< 1 min"),
        (10_000, 90_000, "1 to 2 min"),
        (240_000, 330_000, "4 to 6 min"),
        (60_000, 60_000, "1 min"),
        (150_000, None, "≥ 2 min"),
        (20_000, None, "unknown"),
    ],
)
def test_time(least: float | None, most: float | None, said: str) -> None:
    plan = CostPlan(wall=WallTime(least_ms=least, most_ms=most))
    assert f"time {said};" in plan_lines(plan)[0]
