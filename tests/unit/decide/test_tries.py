"""The same commit judged again: never greener for what was said before, and redder where all trials prove it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.decide.tries import KnownTries, rules_key, stricter_by_tries, try_of
from evalward.github.tries import parse_tries, tries_line
from evalward.records.policy import Policy, Rule
from evalward.records.report import Report
from evalward.records.tries import MOST_TRIES, Ends, TriedRun, Try
from evalward.records.verdict import OUTCOMES, Judgement, Outcome
from evalward.render import sentences as english
from support.outcomes import DROP, judgement, known, measured, steady

BASELINE = known(steady(37, "PPPPP"))
POLICY = Policy(rules=[DROP])
RULES = rules_key(POLICY, BASELINE)
CLEAN = measured(steady())
SHAKEN = measured(steady(c1="F", c2="F"), {"c1": "FFFP", "c2": "FFPP"})  # two cases, five of eight retrials failed
BROKEN = measured(steady(c1="F", c2="F"), {"c1": "FFFF", "c2": "FFFF"})
STRENGTH = (Outcome.PASS, *reversed(OUTCOMES))


def tried(report: Report, attempt: int = 1, run: int = 7) -> Try:
    return try_of(judgement(report, BASELINE), report, RULES, (run, attempt))


def again(report: Report, *tries: Try, attempt: int = 9, rules: str = RULES) -> Judgement:
    return stricter_by_tries(judgement(report, BASELINE), report, BASELINE, KnownTries(tries, rules, attempt))


def said(outcome: Outcome, attempt: int = 1, rules: str | None = RULES) -> Try:
    return Try(run=7, attempt=attempt, outcome=outcome, rules=rules)


def test_first_try__is_what_it_is() -> None:
    alone = judgement(CLEAN, BASELINE)
    assert stricter_by_tries(alone, CLEAN, BASELINE, KnownTries([], RULES)) == alone


def test_green_after_two_red__is_no_plain_pass() -> None:
    found = again(CLEAN, said(Outcome.FAIL), said(Outcome.FAIL, 2))
    assert found.verdict.outcome is Outcome.INCONCLUSIVE
    assert english.headline(found.verdict).startswith(
        "this is the third attempt at this commit: the first failed, the second failed, so one attempt without"
    )


def test_red_after_green__stays_red_and_says_what_was_before() -> None:
    found = again(BROKEN, said(Outcome.PASS))
    assert found.verdict.outcome is Outcome.FAIL
    assert "this is the second attempt at this commit: the first passed" in english.warnings(found.verdict.notices)


def test_green_after_an_outage__is_a_pass_that_says_so() -> None:
    found = again(CLEAN, said(Outcome.ERROR))
    assert found.verdict.outcome is Outcome.PASS
    assert "this is the second attempt at this commit: the first could not be judged" in english.warnings(
        found.verdict.notices
    )


def test_other_rules__a_verdict_by_another_baseline_or_policy_is_told_and_taints_nothing() -> None:
    found = again(CLEAN, said(Outcome.FAIL, rules="0" * 12))
    assert found.verdict.outcome is Outcome.PASS
    assert any("the first failed" in warning for warning in english.warnings(found.verdict.notices))
    assert again(CLEAN, said(Outcome.FAIL, rules=None)).verdict.outcome is Outcome.INCONCLUSIVE
    assert rules_key(POLICY, None) != RULES != rules_key(Policy(rules=[Rule(metric="csr", floor=0.1)]), BASELINE)


def test_unknown__a_later_attempt_of_which_nothing_is_known_says_that() -> None:
    found = again(CLEAN, attempt=3)
    assert found.verdict.outcome is Outcome.PASS
    assert "this is the third attempt of this workflow run; the results of the earlier ones are not known here" in (
        english.warnings(found.verdict.notices)
    )


def test_pooled__trials_of_all_tries_fail_what_the_last_ones_can_not_tell() -> None:
    """The two broken cases failed in eight of eight retrials; in the second try one of them passes by chance."""
    second = measured(steady(c1="F"), {"c1": "FFPF"})
    assert judgement(second, BASELINE).verdict.outcome is not Outcome.FAIL
    found = again(second, tried(BROKEN))
    assert found.verdict.outcome is Outcome.FAIL
    assert english.headline(found.verdict).startswith(
        "bash-tools × anthropic/model: over two attempts at this commit, 11 of 12 retrials of two cases failed, a loss"
    )
    assert english.remedy(found.verdict.reasons[0]).startswith("Running it again won't fix it.")


def test_pooled__what_failed_stays_failed_until_all_trials_together_speak_against_it() -> None:
    """First three cases failed 9 of 12 fresh trials, and one of them passes now; then a failure of one fresh trial."""
    first = tried(measured(steady(c1="F", c2="F", c3="F"), {"c1": "FFFF", "c2": "FFFP", "c3": "FFPP"}))
    assert first.outcome is Outcome.FAIL
    open_ = again(measured(steady(c1="F"), {"c1": "PPPP"}), first)
    assert open_.verdict.outcome is Outcome.FAIL
    assert "a loss of" in english.headline(open_.verdict)
    weak = tried(measured(steady(c1="F"), {"c1": "FPPP"})).model_copy(update={"outcome": Outcome.FAIL})
    refuted = again(measured(steady(c1="F"), {"c1": "P" * 8}), weak)
    assert refuted.verdict.outcome is Outcome.INCONCLUSIVE


def test_pooled__even_a_try_without_any_failure_does_not_undo_a_proof() -> None:
    assert again(CLEAN, tried(BROKEN)).verdict.outcome is Outcome.FAIL


@pytest.mark.parametrize(
    "other",
    [
        measured(steady(c1="F", c2="F"), {"c1": "FFFF", "c2": "FFFF"}, random=False),
        measured(steady(36)),
    ],
)
def test_pooled__only_trials_of_the_same_thing(other: Report) -> None:
    """Another set of cases, or a target that always does the same: the verdict before is told, nothing is pooled."""
    found = again(other, tried(BROKEN).model_copy(update={"outcome": Outcome.INCONCLUSIVE}))
    assert found.verdict.outcome is judgement(other, BASELINE).verdict.outcome


def test_pooled__doubts_that_do_not_add_up_stay_doubts() -> None:
    fine = measured(steady(c1="F"), {"c1": "PPPP"})
    found = again(fine, tried(measured(steady(c1="F"), {"c1": "FPPP"})))
    assert found.verdict.outcome is Outcome.PASS


ends = st.builds(Ends, st.integers(0, 40), st.integers(0, 40))
keys = st.text("0123456789abcdef", min_size=12, max_size=12)
runs = st.builds(TriedRun, subject=keys, cases=keys, fresh=st.dictionaries(keys, ends, max_size=5))
OURS = tried(BROKEN)
NAME, CASE = next(iter(OURS.runs)), next(iter(OURS.runs[next(iter(OURS.runs))].fresh))


@st.composite
def forged(draw: st.DrawFn) -> Try:
    """A try that somebody made up, often about the very run and cases."""
    mine = OURS.runs[NAME]
    about = draw(st.sampled_from([mine, mine.model_copy(update={"fresh": {CASE: draw(ends)}}), draw(runs)]))
    return Try(
        run=draw(st.integers(0, 10**17)),
        attempt=draw(st.integers(0, 10**8)),
        outcome=draw(st.sampled_from(list(Outcome))),
        rules=draw(st.sampled_from([RULES, None, "f" * 12])),
        runs={draw(st.sampled_from([NAME, "a" * 12])): about},
    )


@given(st.lists(forged(), max_size=4), st.sampled_from([CLEAN, SHAKEN, BROKEN]))
def test_whatever_is_forged__no_verdict_gets_greener(tries: Sequence[Try], report: Report) -> None:
    alone, found = judgement(report, BASELINE).verdict, again(report, *tries).verdict
    assert STRENGTH.index(found.outcome) >= STRENGTH.index(alone.outcome)
    assert set(english.warnings(alone.notices)) <= set(english.warnings(found.notices))
    assert {english.message(reason) for reason in alone.reasons} <= {
        english.message(reason) for reason in found.reasons
    }


@given(st.lists(forged(), max_size=MOST_TRIES, unique_by=lambda one: one.number))
def test_the_line__says_it_all_again(tries: Sequence[Try]) -> None:
    found = parse_tries(f"<!-- evalward:v1 … -->\n{tries_line(tries)}\nrest")
    assert found == sorted(tries, key=lambda one: one.number)
