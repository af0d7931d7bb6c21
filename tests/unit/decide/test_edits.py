from __future__ import annotations

import pytest

from evalward.decide.edits import baseline_edits, policy_edits
from evalward.records.policy import Confirm, Limits, Policy, Rule, Waiver
from support.results import baseline, passes, result, run


def test_a_laxer_limit_of_judge_errors_is_told() -> None:
    assert policy_edits(Policy(), Policy(max_judge_error_rate=1.0)) == ["judge: max_error_rate 0.1 → 1"]


def test_policy__nothing_changed() -> None:
    policy = Policy(rules=[Rule(metric="csr", floor=0.9)])
    assert policy_edits(policy, policy) == []


def test_policy__old_and_new_of_all_that_differs() -> None:
    old = Policy(rules=[Rule(metric="csr", floor=0.9), Rule(metric="pass_rate", max_drop=0.1, suite="a")])
    new = Policy(
        rules=[Rule(metric="csr", floor=0.5, goal=0.6)],
        limits=Limits(max_error_rate=1.0),
        waive=[Waiver(id="x", reason="slow")],
        fail_on="never",
    )
    assert policy_edits(old, new) == [
        "csr: floor 0.9 → floor 0.5, goal 0.6",
        "pass_rate of a × *: max_drop 0.1 → none",
        "limits: max_error_rate 0.05 → 1",
        "waive 'x': none → slow",
        "fail-on: regression → never",
    ]


def test_policy__two_rules_of_one_metric() -> None:
    old = Policy(rules=[Rule(metric="csr", floor=0.9), Rule(metric="csr", max_drop=0.1)])
    assert policy_edits(old, Policy(rules=old.rules[:1])) == ["csr: floor 0.9; max_drop 0.1 → floor 0.9"]


def test_baseline__old_and_new() -> None:
    before, now = baseline(run(passes("a", "b"))), baseline(run([result("a"), result("b", "failed")]))
    [line] = baseline_edits(before, now)
    assert line.endswith(": 2 of 2 trials passed → 1 of 2 trials passed")
    assert baseline_edits(None, now)[0].endswith(": none → 1 of 2 trials passed")
    assert baseline_edits(before, before) == []


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"test": "off"}, "pass_rate: max_drop 0.02 → max_drop 0.02, test off"),
        ({"alpha": 0.001}, "pass_rate: max_drop 0.02 → max_drop 0.02, alpha 0.001"),
        ({"floor_test": "upper"}, "pass_rate: max_drop 0.02 → max_drop 0.02, floor_test upper"),
        ({"confirm": False}, "pass_rate: max_drop 0.02 → max_drop 0.02, confirm off"),
    ],
)
def test_how_a_rule_tells_chance_from_change__is_part_of_it(change: dict[str, object], line: str) -> None:
    """Nobody makes a rule toothless unseen."""
    rule = Rule(metric="pass_rate", max_drop=0.02)
    assert policy_edits(Policy(rules=[rule]), Policy(rules=[rule.model_copy(update=change)])) == [line]


def test_confirm_stage__is_part_of_the_policy() -> None:
    assert policy_edits(Policy(), Policy(confirm=None)) == ["confirm: trials 4, at_most 1, base 8 trials → off"]
    assert policy_edits(Policy(confirm=None), Policy(confirm=Confirm(trials=2))) == [
        "confirm: off → trials 2, at_most 1, base 8 trials"
    ]
    assert policy_edits(Policy(confirm=Confirm(at_most=0.5)), Policy()) == [
        "confirm: trials 4, at_most 0.5, base 8 trials → trials 4, at_most 1, base 8 trials"
    ]


def test_what_suites_are_compared_with__is_part_of_the_policy() -> None:
    assert policy_edits(Policy(with_base=["b", "a"]), Policy(with_base=["a"])) == ["compared with the base: a, b → a"]
    assert policy_edits(Policy(with_base=["a"]), Policy()) == ["compared with the base: a → none"]
