"""What is advised: never what is there already, never what can't help."""

from __future__ import annotations

import pytest

from evalward.commands.pipeline import decide_report
from evalward.records.baseline import Baseline
from evalward.records.policy import Confirm, Limits, Policy, Rule
from evalward.records.report import Beside, Report
from evalward.records.verdict import Outcome, Reason
from evalward.render import sentences as english
from support.results import baseline, report, result, run, verdict_of

CASES = [f"c{number:02}" for number in range(20)]
DROP = Rule(metric="pass_rate", max_drop=0.02)
OTHERS = [Rule(metric="overall_rate", max_drop=1), Rule(metric="tool_call_success_rate", max_drop=1)]


def before(trials: int) -> Baseline:
    """A baseline in which every case passed."""
    return baseline(run([result(name, trial=n) for name in CASES for n in range(1, trials + 1)], random=True))


def now(trials: int, failing: str = "", fresh: str = "") -> Report:
    """One case fails in as many trials as `failing` has letters; `fresh` are its fresh trials, `P` or `F`."""
    words = {"P": "passed", "F": "failed"}
    planned = [
        result(name, "failed" if name == "c00" and n <= len(failing) else "passed", trial=n)
        for name in CASES
        for n in range(1, trials + 1)
    ]
    again = [result("c00", words[letter], trial=trials + n) for n, letter in enumerate(fresh, 1)]
    return report(run(planned, random=True, confirmation=again))


def advice(measured: Report, base: Baseline, confirm: Confirm | None = None) -> str:
    """The remedy of the one drop that is in doubt."""
    policy = Policy(rules=[DROP, *OTHERS], confirm=confirm)
    (reason,) = decide_report(measured, base, policy).verdict.reasons
    assert reason.outcome is Outcome.INCONCLUSIVE
    return english.remedy(reason)


@pytest.mark.parametrize(
    ("trials", "had", "expected"),
    [
        (1, 1, "A baseline of 5 trials per case gives more evidence; it has 1. That takes 80 more trials."),
        (5, 1, "A baseline of 5 trials per case gives more evidence; it has 1. That takes 80 more trials."),
        (1, 5, "`--trials 5` gives more evidence. That takes 80 more trials."),
        (2, 5, "`--trials 5` gives more evidence. That takes 60 more trials."),
    ],
)
def test_doubts__are_told_which_trials_would_help_and_how_many(trials: int, had: int, expected: str) -> None:
    told = advice(now(trials, "F" if trials < 3 else "FFF"), before(had))
    assert told == f"Look at the broken cases. {expected}"


def test_doubts__five_trials_are_not_advised_to_whom_has_them() -> None:
    assert advice(now(5, "FFF"), before(5)) == "Look at the broken cases."


def test_doubts__of_fresh_tries_are_settled_by_more_of_them() -> None:
    told = advice(now(1, "F", "FPPF"), before(5), Confirm(trials=4))
    assert told.endswith("More retrials give more evidence: `confirm: {trials: 8}` in the config takes 4 more trials.")


@pytest.mark.parametrize(
    ("trials", "expected"),
    [
        (
            8,
            " More trials of both sides give more evidence: `confirm: {base_trials: 16}` in the config takes 16 more "
            "trials.",
        ),
        (
            16,
            " More trials of both sides give more evidence: `confirm: {base_trials: 20}` in the config takes 8 more "
            "trials.",
        ),
        (20, ""),
    ],
)
def test_doubts__that_both_sides_left_are_settled_by_more_of_both(trials: int, expected: str) -> None:
    measured = now(1, "F", "FFFF")
    sides = [
        [result("c00", word, trial=n) for n, word in enumerate(words, 6)]
        for words in (("passed", "passed"), ("failed", "failed"))
    ]
    beside = Beside(base=sides[0], head=sides[1])
    runs = [each.model_copy(update={"beside": beside}) for each in measured.runs]
    told = advice(measured.model_copy(update={"runs": runs}), before(5), Confirm(base_trials=trials))
    assert told == f"Look at the broken cases.{expected}"


def limited(rule: Rule) -> Reason:
    """The reason that a limit gives for ten cases of which three fail."""
    cases = [result(name, "failed" if name < "c03" else "passed") for name in CASES[:10]]
    (reason,) = verdict_of(report(run(cases)), baseline(run(cases)), rule).reasons
    return reason


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        (Rule(metric="pass_rate", floor=0.9), "floor"),
        (Rule(metric="pass_rate", ceiling=0.5), "ceiling"),
        (Rule(metric="pass_rate", floor=0.1, ceiling=0.5), "ceiling"),
        (Rule(metric="pass_rate", floor=0.9, ceiling=0.95), "floor"),
    ],
)
def test_limits__are_not_mended_by_a_baseline(rule: Rule, name: str) -> None:
    told = english.remedy(limited(rule))
    assert f"change its {name} in the policy: a new baseline doesn't change a {name}." in told
    assert "accept" not in told


def test_limits__of_a_kind_need_a_rule_of_ones_own() -> None:
    cases = [result(name, "failed") for name in CASES]
    found = verdict_of(report(run(cases)), None, defaults=[Rule(metric="pass_rate", floor=0.9)])
    assert "give pass_rate a rule of its own in the policy: a new baseline" in english.remedy(found.reasons[0])


def test_drops__can_be_accepted() -> None:
    cases = [result(name, "failed" if name < "c03" else "passed") for name in CASES]
    (reason,) = verdict_of(report(run(cases)), baseline(run([result(name) for name in CASES])), DROP).reasons
    assert "accept the change, which updates the baseline" in english.remedy(reason)


@pytest.mark.parametrize(
    ("errors", "cases", "shown"),
    [(2, 37, "2 of 37 trials ended in an error (5.4 %)"), (51, 1000, "51 of 1000 trials ended in an error (5.1 %)")],
)
def test_errors__no_share_is_rounded_to_the_limit_that_it_breaks(errors: int, cases: int, shown: str) -> None:
    names = [f"c{number:04}" for number in range(cases)]
    results = [result(name, "error" if number < errors else "passed") for number, name in enumerate(names)]
    found = verdict_of(report(run(results)), None, limits=Limits(max_error_rate=0.05))
    assert english.headline(found).endswith(f"{shown}, more than the 5 % allowed")


def test_the_same_failures__decided_otherwise_for_one_metric_say_why() -> None:
    strict = Rule(metric="overall_rate", max_drop=0.02, alpha=0.001)
    policy = Policy(rules=[DROP, strict, OTHERS[1]], confirm=Confirm())
    verdict = decide_report(now(1, "F", "FFFF"), before(5), policy).verdict
    first, second = verdict.reasons
    assert (first.outcome, second.outcome) == (Outcome.FAIL, Outcome.INCONCLUSIVE)
    assert "by the same failures; for this metric alone, chance would do that once in" in english.message(second)
