"""Rules that ask for more than the other arm of the same trials: proven, refuted, open, and never a silent pass."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, combinations, product
from typing import Any

import pytest

from evalward.commands.pipeline import Criteria
from evalward.decide.statistics.arms import detectable_difference, trial_variance
from evalward.decide.statistics.permutation import CaseValues
from evalward.decide.verdict import reach_verdict
from evalward.records.codes.arms import ArmUnproven
from evalward.records.policy import Policy, Rule
from evalward.records.report import Partial, Report
from evalward.records.result import Result
from evalward.records.verdict import Outcome, RuleOutcome, Verdict
from evalward.render.sentences import message, remedy
from support.skill_reports import arm, query, skill_report, task, tasks

BEAT = Rule(metric="uplift_pass_rate", must_beat="without")


def decided(now: Report, *rules: Rule) -> Verdict:
    seen = Criteria(None, Policy()).compared(now)
    return reach_verdict(seen.comparison, Policy(rules=list(rules or [BEAT])), {}, seen.samples)


def rule_of(results: Sequence[Result], rule: Rule = BEAT, **more: Any) -> RuleOutcome:
    return decided(skill_report(results, **more), rule).rules[0]


def test_better_in_all__is_proven() -> None:
    found = rule_of(tasks(*[(4, 0)] * 6))
    assert (found.status, message(found)) == ("ok", "")
    (said,) = found.explained
    assert said.model_dump(include={"code", "value", "cases", "trials"}) == {
        "code": "arm.beaten",
        "value": 1.0,
        "cases": 6,
        "trials": 6,
    }


def test_each_case_counts_once__however_many_trials_it_has() -> None:
    many = [task("old", arm("with", 4), arm("without", 0), trial=trial) for trial in range(1, 11)]
    (said,) = rule_of([*many, *tasks((0, 2), (0, 2), (0, 2), trials=3)]).statements
    assert isinstance(said, ArmUnproven)
    assert (said.value, said.cases, said.trials) == (-1 / 8, 4, 19)


def test_cases_of_unequal_trials__are_tested_by_the_mean_of_their_differences() -> None:
    pairs = {"a": [(4, 0)], "b": [(4, 1), (3, 2)], "c": [(2, 0), (4, 4), (1, 3)], "d": [(4, 0), (0, 0), (3, 1), (2, 1)]}
    results = [
        task(name, arm("with", held), arm("without", bare), trial=trial)
        for name, arms in pairs.items()
        for trial, (held, bare) in enumerate(arms, start=1)
    ]
    deals = [
        [Fraction(2 * sum(chosen) - sum(map(sum, arms)), len(arms)) for chosen in combinations(chain(*arms), len(arms))]
        for arms in pairs.values()
    ]
    seen = sum(Fraction(sum(held - bare for held, bare in arms), len(arms)) for arms in pairs.values())
    as_large = [sum(deal) >= seen for deal in product(*deals)]
    (said,) = rule_of(results, Rule(metric="uplift_pass_rate", must_beat="without", alpha=0.001)).statements
    assert isinstance(said, ArmUnproven)
    assert said.value == pytest.approx(float(seen) / 16)
    assert said.p == pytest.approx(sum(as_large) / len(as_large))


def test_worse_in_all__fails() -> None:
    verdict = decided(skill_report(tasks(*[(0, 4)] * 6)))
    assert verdict.outcome is Outcome.FAIL
    (reason,) = verdict.reasons
    assert reason.stage == "arm"
    assert message(reason) == (
        "uplift_pass_rate is −100.0 pp, worse than without (6 cases, 6 trials in each arm; chance would do that once "
        "in 64 runs)"
    )
    assert remedy(reason) == "Look at the cases that do no better than in the other arm."


def test_a_small_difference__is_inconclusive_and_says_what_could_be_proven() -> None:
    verdict = decided(skill_report(tasks((4, 3), (3, 3), (3, 4), (4, 4), (4, 2), (4, 4), (4, 4), (3, 3))))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    (reason,) = verdict.reasons
    (said,) = reason.statements
    assert isinstance(said, ArmUnproven)
    assert said.detectable is not None
    assert 0.6 < said.detectable <= 1
    assert message(reason).startswith(
        "uplift_pass_rate is +6.2 pp, which does not prove that it is better than without"
    )
    assert message(reason).endswith("four times out of five")
    assert "`--trials 5`" in remedy(reason)


def test_too_few_trials__can_prove_nothing_and_say_so() -> None:
    (reason,) = decided(skill_report(tasks(*[(4, 0)] * 4))).reasons
    assert reason.outcome is Outcome.INCONCLUSIVE
    assert message(reason).endswith("and 4 cases, 4 trials in each arm can't prove any difference")


@pytest.mark.parametrize(("pair", "status"), [((4, 3), "ok"), ((3, 3), "fail"), ((2, 3), "fail")])
def test_without_chance__the_bare_difference_decides(pair: tuple[int, int], status: str) -> None:
    assert rule_of(tasks(pair), random=False, target="scripted:steady").status == status
    assert rule_of(tasks(pair), BEAT.model_copy(update={"test": "off"})).status == status


def test_fewer_tokens__are_better() -> None:
    pairs = [task(f"t{n}", arm("with", 4, tokens=500 + n), arm("without", 4, tokens=900)) for n in range(6)]
    beat = Rule(metric="uplift_tokens", must_beat="without")
    assert rule_of(pairs, beat).status == "ok"
    swapped = [task(f"t{n}", arm("with", 4, tokens=900), arm("without", 4, tokens=500 + n)) for n in range(6)]
    assert rule_of(swapped, beat).status == "fail"


BROKEN = [task(f"t{n}", arm("with", 4), arm("without", 0, status="error")) for n in range(6)]
ALONE = [task(f"t{n}", arm("with", 4)) for n in range(6)]


@pytest.mark.parametrize(
    ("results", "more", "status", "words"),
    [
        (BROKEN, {}, "inconclusive", "no trial is valid in both arms"),
        (ALONE, {}, "fail", "no trial was run there"),
        ([query("csv", "csv")], {}, "fail", "no trial was run there"),
        (ALONE, {"random": False, "target": "oracle"}, "not_available", "the target isn't run there"),
        (tasks(*[(4, 0)] * 6), {"whole": 12}, "not_judged", "only some cases were run"),
    ],
)
def test_what_is_not_compared__is_no_pass(results: list[Result], more: dict[str, Any], status: str, words: str) -> None:
    now = skill_report(results, **more)
    if "whole" in more:
        now = now.model_copy(update={"partial": Partial(suites=[], targets=[], cases=["csv/*"])})
    found = decided(now).rules[0]
    assert found.status == status
    assert words in message(found)


def test_fresh_trials_of_failed_cases__do_not_count() -> None:
    planned = tasks(*[(0, 0)] * 6)
    again = [each.model_copy(update={"trial": 2}) for each in tasks(*[(4, 0)] * 6)]
    now = skill_report(planned, confirmation=again)
    assert rule_of(planned).status == decided(now).rules[0].status == "inconclusive"


def test_a_fail__is_corrected_for_every_rule_that_asks() -> None:
    worse = tasks(*[(0, 4)] * 5)  # p = 1/32
    one = skill_report(worse)
    assert decided(one).outcome is Outcome.FAIL
    two = one.model_copy(update={"runs": [*one.runs, one.runs[0].model_copy(update={"target": "codex/gpt"})]})
    assert decided(two).outcome is Outcome.INCONCLUSIVE


# --- sentences about certainty ---------------------------------------------------------------------------------------


def dealt(chance: random.Random, cases: int, trials: int, uplift: float) -> list[Result]:
    """Tasks of one check each that pass without the skill now and then, and with it so much more often."""
    found = []
    for case in range(cases):
        rate = chance.betavariate(0.56, 0.14) * (1 - uplift)
        for trial in range(1, trials + 1):
            with_it, bare = (int(chance.random() < p) for p in (rate + uplift, rate))
            found.append(task(f"t{case}", arm("with", with_it, 1), arm("without", bare, 1), trial=trial))
    return found


def statuses(cases: int, trials: int, uplift: float, checks: int) -> list[str]:
    chance = random.Random(7)
    return [rule_of(dealt(chance, cases, trials, uplift)).status for _ in range(checks)]


def test_a_skill_that_makes_no_difference__is_called_better_or_worse_once_in_twenty_at_most() -> None:
    found = statuses(8, 3, 0.0, 60)
    assert found.count("ok") <= 0.05 * 60
    assert found.count("fail") <= 0.05 * 60


@pytest.mark.parametrize(("cases", "trials"), [(8, 3), (20, 1)])
def test_the_size_that_is_said_to_be_provable__is_proven_four_times_out_of_five(cases: int, trials: int) -> None:
    chance = random.Random(3)
    quiet = rule_of(dealt(chance, cases, trials, 0.0)).statements[0]
    assert isinstance(quiet, ArmUnproven)
    assert quiet.detectable is not None
    assert statuses(cases, trials, quiet.detectable, 40).count("ok") >= 0.8 * 40


def test_what_can_be_proven__shrinks_with_more_trials_and_is_never_below_one_case() -> None:
    few, more, many = (detectable_difference([each] * 8, 0.1, alpha=0.05) for each in (1, 3, 10))
    assert few is not None
    assert more is not None
    assert many is not None
    assert few > more > many >= 1 / 8
    assert detectable_difference([1] * 4, 0.1, alpha=0.05) is None
    assert trial_variance([CaseValues((1.0, 1.0), (1.0, 1.0))]) == 0.1
    assert trial_variance([CaseValues((0.0,), (1.0,)), CaseValues((0.0,), (1.0,))]) == 0.5
