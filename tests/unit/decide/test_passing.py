"""A pass says what it means: one short plain sentence, however many cases there are."""

from __future__ import annotations

from random import Random

import pytest

from evalward.commands.pipeline import decide_report
from evalward.records.policy import Policy, Rule
from evalward.records.report import Run
from evalward.records.result import Result
from evalward.records.verdict import Outcome
from evalward.render import sentences as english
from support.results import baseline, passes, report, result, run, verdict_of

DROP = Rule(metric="pass_rate", max_drop=0.5)
FLOOR = Rule(metric="pass_rate", floor=0.1)
TURNS = Rule(metric="total_turns", max_rise=50)


def cases(**status: str) -> list[Result]:
    """A trial of each case."""
    return [result(name, word) for name, word in status.items()]


P, F = "passed", "failed"
WITHIN = "nothing got worse by more than the policy allows"


@pytest.mark.parametrize(
    ("before", "now", "headline"),
    [
        (cases(a=P, b=P), cases(a=P, b=P), "nothing got worse"),
        (cases(a=F, b=F), cases(a=P, b=F), "nothing got worse, 1 case got fixed"),
        (cases(a=P, b=P), cases(a=F, b=P), f"{WITHIN}: 1 of 2 cases broke"),
        (cases(a=P, b=F, c=F), cases(a=F, b=P, c=P), f"{WITHIN}: 1 of 3 cases broke and 2 got fixed"),
        (cases(a=P), cases(a=P, b=F), "nothing got worse; not compared: 1 new case (fails)"),
        (
            cases(a=P, b=F),
            cases(a=P, b=P, c=F, d=F),
            "nothing got worse, 1 case got fixed; not compared: 2 new cases (all fail)",
        ),
        (cases(a=P), cases(a=P, b=P, c=P, d=F), "nothing got worse; not compared: 3 new cases (1 fails)"),
        (cases(a=P), cases(a=P, b=P), "nothing got worse; not compared: 1 new case"),
        ([result("a", P, turns=2)], [result("a", P, turns=3)], WITHIN),
        ([result("a", F, score=2, most=4)], [result("a", F, score=1, most=4)], f"{WITHIN}: 1 of 1 case got worse"),
    ],
)
def test_one_run(before: list[Result], now: list[Result], headline: str) -> None:
    verdict = verdict_of(report(run(now)), baseline(run(before)), DROP, TURNS)
    assert (verdict.outcome, english.headline(verdict)) == (Outcome.PASS, headline)


def several(**status: str) -> list[Run]:
    """The same cases in three suites."""
    return [run(cases(**status), suite=name) for name in ("one", "two", "three")]


def test_several_runs_say_in_how_many() -> None:
    before, now = several(a=P, b=P, c=F), several(a=P, b=P, c=F)
    now[0], now[1] = run(cases(a=F, b=F, c=P), suite="one"), run(cases(a=F, b=P, c=P), suite="two")
    verdict = verdict_of(report(*now), baseline(*before), Rule(metric="pass_rate", max_drop=0.9))
    assert english.headline(verdict) == f"{WITHIN}: 3 cases broke in 2 of 3 runs and 2 got fixed"


def test_a_new_suite_that_fails_is_in_the_headline() -> None:
    now = [*several(a=P), run(cases(a=F, b=F), suite="new")]
    assert english.headline(verdict_of(report(*now), baseline(*several(a=P)), DROP)) == (
        "nothing got worse; not compared: new × replay:haiku (new; 2 of 2 cases fail)"
    )


def test_a_target_that_does_nothing_fails_by_design() -> None:
    now = [run(passes("a")), run(cases(a=F), target="nop")]
    assert english.headline(verdict_of(report(*now), baseline(run(passes("a"))), DROP)) == (
        "nothing got worse; not compared: bash-tools × nop (new)"
    )


def test_where_nothing_was_compared_the_headline_claims_nothing() -> None:
    empty = baseline(run(passes("a"))).model_copy(update={"runs": []})
    verdict = verdict_of(report(run(cases(a=P, b=F))), empty, DROP)
    assert english.headline(verdict) == (
        "nothing could be compared: no case is in the baseline yet; "
        "not compared: bash-tools × replay:haiku (new; 1 of 2 cases fails)"
    )


@pytest.mark.parametrize(
    ("rules", "now", "headline"),
    [
        ([DROP], passes("a"), "there is no baseline yet"),
        ([FLOOR], passes("a"), "there is no baseline yet; every floor and ceiling is met"),
        ([FLOOR], cases(a=P, b=F), "there is no baseline yet; every floor and ceiling is met; 1 of 2 cases fails"),
        ([DROP], cases(a=F, b=F), "there is no baseline yet; 2 of 2 cases fail"),
    ],
)
def test_without_a_baseline(rules: list[Rule], now: list[Result], headline: str) -> None:
    assert english.headline(verdict_of(report(run(now)), None, *rules)) == headline


def random_run(count: int, trials: int, seed: int) -> Run:
    """Cases that pass more or less often, by chance alone."""
    chance, odds = Random(seed), Random(7)
    shares = [odds.betavariate(0.56, 0.14) for _ in range(count)]
    results = [
        result(f"c{number:04}", P if chance.random() < share else F, trial=trial)
        for number, share in enumerate(shares)
        for trial in range(1, trials + 1)
    ]
    return run(results, target="anthropic/m", random=True)


@pytest.mark.parametrize("count", [40, 1000])
def test_a_suite_of_any_size_compared_with_itself_fits_a_line(count: int) -> None:
    now, before = random_run(count, 1, seed=1), random_run(count, 5, seed=2)
    policy = Policy(rules=[Rule(metric="pass_rate", max_drop=0.5)])
    verdict = decide_report(report(now), baseline(before), policy).verdict
    assert verdict.outcome is Outcome.PASS
    assert english.headline(verdict).count(" and ") <= 1
    assert len(english.headline(verdict)) < 110


def test_flaky_cases_that_failed_are_no_loss() -> None:
    before = run([result("a", word, trial=n) for n, word in enumerate((P, P, P, F, F), 1)], random=True)
    policy = Policy(rules=[Rule(metric=name, max_drop=0.9) for name in ("pass_rate", "overall_rate")])
    verdict = decide_report(report(run(cases(a=F), random=True)), baseline(before), policy).verdict
    assert english.headline(verdict) == f"{WITHIN}: 1 flaky case failed"
