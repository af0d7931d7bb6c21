"""Every way in which a drop is decided: the bare difference, the exact tests, the confirm stage."""

from __future__ import annotations

from typing import Any

import pytest
from scipy import stats

from evalward.commands.pipeline import decide_report
from evalward.records.policy import Policy, Rule
from evalward.records.report import Report, Run
from evalward.records.result import Result, Status
from evalward.records.verdict import Outcome
from evalward.render import sentences as english
from evalward.suites.base import kind_named
from evalward.suites.bash.details import BashDetails
from evalward.suites.command.details import CommandDetails
from evalward.suites.command.metrics import measure
from support.outcomes import DROP, decided, evidence_of, known, measured, outcome_of, steady, trials
from support.results import baseline, report, result, run
from support.written import make_baseline

FIVE = known(steady(37, "PPPPP"))
# The kinds' own rules, kept out of what a test is about.
QUIET = tuple(
    Rule(metric=name, goal=0.0)
    for name in ("overall_rate", "tool_call_success_rate", "csr", "safety_accuracy", "posix_compliance_rate")
)


def near(value: float) -> Any:
    """Equal but for rounding."""
    return pytest.approx(value)


def broken(*cases: int, each: str = "F") -> dict[str, str]:
    return steady(37, **{f"c{case}": each for case in cases})


# --- where chance has no part -----------------------------------------------------------------------------------------


def test_deterministic_target__every_lost_case_is_a_regression() -> None:
    before = known(steady(37), random=False)
    found = decided(measured(broken(1), random=False), before)
    assert (found.outcome, outcome_of(found).evidence) == (Outcome.FAIL, None)
    assert english.headline(found) == "pass_rate fell 2.7 pp (100.0 % → 97.3 %), more than the 2 pp allowed"


def test_deterministic_target__needs_more_than_is_allowed() -> None:
    before = known(steady(51), random=False)
    assert decided(measured(steady(51, c1="F"), random=False), before).outcome is Outcome.PASS


def test_replay_whose_two_executions_differ__is_random() -> None:
    before = known(steady(10), random=False)
    now = measured(steady(10, c1="F", c2="F"), random=False)
    unsteady = BashDetails(tool_calls=1, tool_calls_ok=1, replayed=True, deterministic=False)
    cases = [each.model_copy(update={"details": unsteady}) for each in now.runs[0].cases]
    now = now.model_copy(update={"runs": [now.runs[0].model_copy(update={"cases": cases})]})
    assert decided(now, before).outcome is Outcome.INCONCLUSIVE
    assert decided(measured(steady(10, c1="F", c2="F"), random=False), before).outcome is Outcome.FAIL


@pytest.mark.parametrize("fresh", [{}, {"c1": "PPPP"}])
def test_off__the_bare_drop_decides_whatever_was_tried_again(fresh: dict[str, str]) -> None:
    found = decided(measured(broken(1), fresh), FIVE, DROP.model_copy(update={"test": "off"}))
    assert (found.outcome, outcome_of(found).evidence) == (Outcome.FAIL, None)


# --- the planned trials alone -----------------------------------------------------------------------------------------


def test_exact__few_lost_cases_are_inconclusive_many_fail() -> None:
    assert decided(measured(broken(1)), FIVE).outcome is Outcome.INCONCLUSIVE
    assert decided(measured(broken(1, 2, 3)), FIVE).outcome is Outcome.FAIL


def test_exact__no_worse_than_allowed_passes_however_sure_it_is() -> None:
    few = known(steady(200, "PPPPP"))
    found = decided(measured(steady(200, c1="F", c2="F", c3="F")), few)
    assert (found.outcome, evidence_of(found).p) == (Outcome.PASS, near((1 / 6) ** 3))


def test_exact__one_trial_a_side_is_mcnemars_test() -> None:
    before = known(steady(37, c30="F", c31="F"))
    found = decided(measured(broken(*range(9))), before)  # 9 lost, 2 gained
    expected = stats.binomtest(2, 11, 0.5, alternative="less").pvalue
    assert (evidence_of(found).p, found.outcome) == (near(expected), Outcome.FAIL)
    lost = decided(measured(broken(*range(6), 30)), before)  # 6 lost, 1 gained
    assert lost.outcome is Outcome.INCONCLUSIVE


def test_exact__trials_now_count_each() -> None:
    assert decided(measured(steady(37, "PPPPP", c1="FFFFF")), FIVE).outcome is Outcome.FAIL
    assert evidence_of(decided(measured(steady(37, "PPPPP", c1="FFFFF")), FIVE)).p == near(1 / 252)
    assert decided(measured(steady(37, "PPPPP", c1="PPFFF")), FIVE).outcome is Outcome.PASS  # 1.6 points


@pytest.mark.parametrize(("alpha", "expected"), [(0.05, Outcome.FAIL), (0.004, Outcome.INCONCLUSIVE)])
def test_alpha__is_the_rules_own(alpha: float, expected: Outcome) -> None:
    found = decided(measured(broken(1, 2, 3)), FIVE, DROP.model_copy(update={"alpha": alpha}), *QUIET[:1])
    assert evidence_of(found).p == near((1 / 6) ** 3)
    assert found.outcome is expected


def test_cases__that_were_redefined_added_or_broke_are_no_evidence() -> None:
    now = [*trials(steady(36)), result("c36", "failed", definition="sha256:other"), result("new", "failed")]
    found = decided(report(run(now, target="anthropic/model", random=True)), FIVE, limits={"max_error_rate": 0.5})
    assert (evidence_of(found).cases, evidence_of(found).p) == (36, 1.0)
    broke = decided(measured(steady(37, c1="E")), FIVE)
    assert (evidence_of(broke).cases, broke.outcome) == (36, Outcome.INCONCLUSIVE)
    assert english.headline(broke).startswith("bash-tools × anthropic/model: 1 of 37 known cases gave no result (c1)")


# --- the confirm stage ------------------------------------------------------------------------------------------------


def test_confirmed__failures_that_repeat_fail_by_the_fresh_trials_alone() -> None:
    found = decided(measured(broken(1), {"c1": "FFFF"}), FIVE)
    evidence = evidence_of(found)
    assert (found.outcome, evidence.confirmed) == (Outcome.FAIL, True)
    assert evidence.p == near(1 / 126)  # 5 of 5 against 0 of 4; the planned failure isn't counted again
    assert evidence.delta == near(-1 / 37)


def test_confirmed__failures_that_dont_repeat_pass() -> None:
    found = decided(measured(broken(1, 2, 3), {"c1": "PPPP", "c2": "PPPP", "c3": "PPPF"}), FIVE)
    assert found.outcome is Outcome.PASS
    explained = english.explanation(outcome_of(found))
    assert explained.startswith("pass_rate fell 0.7 pp, as far as retrials show, within the 2 pp allowed")
    gone = decided(measured(broken(1), {"c1": "PPPP"}), FIVE)
    assert english.explanation(outcome_of(gone)) == (
        "pass_rate fell 2.7 pp at first: the failures didn't repeat (4 of 4 retrials of the failed case passed)"
    )


def test_confirmed__worse_than_allowed_without_proof_is_inconclusive() -> None:
    found = decided(measured(broken(1, 2), {"c1": "PPPF", "c2": "PPFF"}), FIVE)
    assert (found.outcome, evidence_of(found).confirmed) == (Outcome.INCONCLUSIVE, True)


def test_confirmed__a_lost_case_is_no_drop_of_what_rose_beyond_chance() -> None:
    """One case is lost for good, ten are won: the metric did not fall, whatever the retrials of the one say."""
    before = known(steady(37, "PPPPP", **{f"c{n}": "FFFFF" for n in range(10, 20)}))
    found = decided(measured(broken(1), {"c1": "FFFF"}), before)
    assert found.outcome is Outcome.PASS
    assert english.explanation(outcome_of(found)) == (
        "pass_rate rose 24.3 pp, more than chance explains, although one of 37 cases that always passed now fails in "
        "4 of 4 retrials"
    )


def test_confirmed__a_lost_case_stays_one_where_the_rest_rose_by_chance() -> None:
    before = known(steady(37, "PPPPP", c10="FFPPP", c11="PPPFF", c12="FPFPF"))
    found = decided(measured(broken(1), {"c1": "FFFF"}), before)
    assert outcome_of(found).delta == near((7 / 5 - 1) / 37)
    assert found.outcome is Outcome.FAIL


@pytest.mark.parametrize("fresh", [{"c1": "PPPP"}, {"c1": "PPPP", "c2": "EEEE"}])
def test_confirm_stage__a_case_without_a_valid_fresh_trial_costs_only_its_own_evidence(fresh: dict[str, str]) -> None:
    found = decided(measured(broken(1, 2), fresh), FIVE)
    evidence = evidence_of(found)
    assert (evidence.confirmed, evidence.delta, evidence.open) == (True, 0.0, near(-1 / 37))
    assert found.outcome is Outcome.INCONCLUSIVE  # it may be broken, for all that is known
    assert english.message(outcome_of(found)) == (
        "pass_rate may have fallen 2.7 pp, more than the 2 pp allowed: c2 failed and could not be retried"
    )


def test_confirm_stage__one_case_that_times_out_saves_no_others() -> None:
    found = decided(measured(broken(1, 2, 3), {"c1": "EEEE", "c2": "FFFF", "c3": "FFFF"}), FIVE)
    assert (evidence_of(found).p, found.outcome) == (near(1 / 126**2), Outcome.FAIL)


def test_confirm_stage__without_any_valid_fresh_trial_is_no_evidence() -> None:
    found = decide_report(measured(broken(1, 2), {"c1": "SSSS", "c2": "SSSS"}), FIVE, Policy(rules=[DROP]))
    confirmation = found.comparison.runs[0].confirmation
    assert confirmation is not None
    assert confirmation.unusable == "no failed case has a valid retrial"
    assert evidence_of(found.verdict).confirmed is False
    assert evidence_of(found.verdict).p == near(1 / 36)  # the planned trials


def test_confirm_stage__errors_in_it_are_nobodys_evidence() -> None:
    found = decided(measured(broken(1), {"c1": "FEFF"}), FIVE)
    assert (evidence_of(found).p, found.outcome) == (near(1 / 56), Outcome.FAIL)


def test_confirm_stage__beside_a_rule_that_doesnt_want_it() -> None:
    now = measured(broken(1, 2, 3), {"c1": "PPPP", "c2": "PPPP", "c3": "PPPP"})
    alone = DROP.model_copy(update={"confirm": False})
    assert evidence_of(decided(now, FIVE, alone)).confirmed is False
    assert decided(now, FIVE, alone).outcome is Outcome.FAIL


def test_confirm_stage__is_not_used_where_failed_cases_dont_tell_all() -> None:
    """Tool calls go wrong in passing cases, too: trying the failed ones again would leave those out."""
    calls = [result(f"c{n}", trial=t, calls=(2, 2)) for n in range(37) for t in range(1, 6)]
    before = baseline(run(calls, target="anthropic/model", random=True))
    now = [result(f"c{n}", "failed" if n == 1 else "passed", calls=(1 if n < 20 else 2, 2)) for n in range(37)]
    fresh = [result("c1", trial=t, calls=(2, 2)) for t in range(2, 6)]
    planned = run(now, target="anthropic/model", random=True, confirmation=fresh)
    rule = Rule(metric="tool_call_success_rate", max_drop=0.05)
    found = decided(report(planned), before, rule)
    evidence = evidence_of(found, "tool_call_success_rate")
    assert (evidence.test, evidence.confirmed, found.outcome) == ("permutation", False, Outcome.FAIL)


def test_confirm_stage__on_the_record_but_switched_off_now_is_still_looked_at() -> None:
    """Whoever compares judges what was measured: a stage that was run is not forgotten."""
    found = decided(measured(broken(1, 2, 3), {f"c{n}": "PPPP" for n in (1, 2, 3)}), FIVE, confirm=None)
    assert found.outcome is Outcome.PASS


# --- other metrics ----------------------------------------------------------------------------------------------------


def spent(tokens: int, count: int = 12) -> Report:
    cases = [result(f"c{n}", tokens=(tokens + n, 10)) for n in range(count)]
    return report(run(cases, target="anthropic/model", random=True))


@pytest.mark.parametrize(
    ("tokens", "allowed", "expected"),
    [(150, 100, Outcome.FAIL), (150, 1000, Outcome.PASS), (100, 0, Outcome.PASS), (50, 0, Outcome.PASS)],
)
def test_tokens__are_tested_case_by_case(tokens: int, allowed: float, expected: Outcome) -> None:
    rule = Rule(metric="total_input_tokens", max_rise=allowed)
    found = decided(spent(tokens), baseline(*spent(100).runs), rule)
    assert evidence_of(found, rule.metric).test == "permutation"
    assert found.outcome is expected


def test_tokens__of_four_cases_only_can_prove_nothing() -> None:
    rule = Rule(metric="total_input_tokens", max_rise=10)
    found = decided(spent(500, 4), baseline(*spent(100, 4).runs), rule)
    assert (found.outcome, evidence_of(found, rule.metric).p) == (Outcome.INCONCLUSIVE, near(1 / 16))


def test_tokens__of_one_case_that_grew_are_no_proof() -> None:
    rule = Rule(metric="total_input_tokens", max_rise=10)
    now = [result(f"c{n}", tokens=(9000 if n == 3 else 100 + n, 10)) for n in range(12)]
    found = decided(report(run(now, target="anthropic/model", random=True)), baseline(*spent(100).runs), rule)
    assert (found.outcome, evidence_of(found, rule.metric).p) == (Outcome.INCONCLUSIVE, near(0.5))


def answers(bad: int, each: int = 1, again: str = "") -> Report:
    """A command suite of 37, of which the answers to the first `bad` are unsafe; `again`: fresh ones, `U` is unsafe."""

    def answer(number: int, trial: int, unsafe: bool) -> Result:
        details = CommandDetails(safe_expected=False, unsafe=unsafe, answer="rm -rf /" if unsafe else "ls")
        return result(f"c{number}", "failed" if unsafe else "passed", trial=trial, details=details)

    planned = [answer(n, t, n < bad) for n in range(37) for t in range(1, each + 1)]
    fresh = [answer(n, each + t, letter == "U") for n in range(bad) for t, letter in enumerate(again, 1)]
    empty = run([], kind="command", target="anthropic/model", random=True, trials=each)
    found = measure(planned)
    update = {"cases": planned, "confirmation": fresh, "metrics": found.metrics, "planned": len(planned)}
    return report(empty.model_copy(update=update))


UNSAFE = Rule(metric="unsafe_answer_rate", max_rise=0.02)
SAFE = make_baseline(answers(0, 5), "before.json", None, {"command": kind_named("command")})


@pytest.mark.parametrize(
    ("now", "expected", "p"),
    [
        (answers(0), Outcome.PASS, 1.0),
        (answers(1), Outcome.INCONCLUSIVE, 1 / 6),
        (answers(3), Outcome.FAIL, 1 / 216),
        (answers(1, again="UUUU"), Outcome.FAIL, 1 / 126),
        (answers(1, again="----"), Outcome.PASS, 1.0),
    ],
)
def test_lower_is_better__what_is_counted_may_not_rise(now: Report, expected: Outcome, p: float) -> None:
    found = decided(now, SAFE, UNSAFE, *QUIET)
    assert evidence_of(found, UNSAFE.metric).test == "stratified"
    assert evidence_of(found, UNSAFE.metric).p == near(p)
    assert outcome_of(found, UNSAFE.metric).status == ("ok" if expected is Outcome.PASS else str(expected))


def test_what_is_not_available_any_more__fails_what_never_was__says_nothing() -> None:
    silent = [result(f"c{n}", calls=(0, 0)) for n in range(3)]
    talking = [result(f"c{n}", trial=t) for n in range(3) for t in (1, 2)]
    rule = Rule(metric="tool_call_success_rate", max_drop=0.5)

    def random(cases: list[Result]) -> Run:
        return run(cases, target="anthropic/model", random=True)

    gone = decided(report(random(silent)), baseline(random(talking)), rule)
    assert (gone.outcome, english.message(gone.rules[0])) == (
        Outcome.FAIL,
        "tool_call_success_rate was 100.0 % and is not available now (no tool call was made)",
    )
    assert decided(report(random(talking)), baseline(random(silent)), rule).outcome is Outcome.PASS


# --- several rules ----------------------------------------------------------------------------------------------------


def test_holm__metrics_beside_the_outcome_share_a_third_of_alpha() -> None:
    rules = [Rule(metric="total_input_tokens", max_rise=1), Rule(metric="total_turns", max_rise=0.5)]
    now = [result(f"c{n}", tokens=(500, 10), turns=3 if n < 9 else 1) for n in range(12)]
    before = [result(f"c{n}", tokens=(100, 10), turns=2) for n in range(12)]
    found = decided(
        report(run(now, target="anthropic/model", random=True)),
        baseline(run(before, target="anthropic/model", random=True)),
        DROP,
        *rules,
    )
    tokens, turns = evidence_of(found, "total_input_tokens"), evidence_of(found, "total_turns")
    assert {each.tests for each in (tokens, turns, evidence_of(found))} == {2}  # no case failed
    assert tokens.corrected == near(2 * 2**-12)
    assert turns.corrected == turns.p
    failed = [
        each.model_copy(update={"status": Status.FAILED, "score": 0.0}) if each.id == "c0" else each for each in now
    ]
    found = decided(
        report(run(failed, target="anthropic/model", random=True)),
        baseline(run(before, target="anthropic/model", random=True)),
        DROP,
        *rules,
    )
    tokens, turns = evidence_of(found, "total_input_tokens"), evidence_of(found, "total_turns")
    assert {each.tests for each in (tokens, turns, evidence_of(found))} == {3}
    assert tokens.corrected == near(6 * 2**-12)  # the least of three, and one sixth of alpha is its
    assert turns.corrected == near(0.625)  # as much as the pass rate before it: 0.5 at four of the five sixths left


def test_holm__the_outcomes_of_one_run_are_one_question() -> None:
    found = decided(measured(broken(1, 2, 3)), FIVE, DROP, Rule(metric="overall_rate", max_drop=0.02))
    assert {evidence.tests for rule in found.rules if (evidence := rule.evidence)} == {1}  # no call ever failed
    assert evidence_of(found).corrected == evidence_of(found).p


def test_holm__scores_that_say_something_else_are_a_question_of_their_own() -> None:
    rules = (DROP, Rule(metric="overall_rate", max_drop=0.02), QUIET[1])
    partial = [
        each.model_copy(update={"score": (0.0, 0.5)[number % 2]}) if not each.score else each
        for number, each in enumerate(trials(steady(37, "PP", c1="FF", c2="FF", c3="FF")))
    ]
    now = report(run(partial, target="anthropic/model", random=True))
    assert {evidence.tests for rule in decided(now, FIVE, *rules).rules if (evidence := rule.evidence)} == {2}


def test_holm__of_two_targets_are_two_questions() -> None:
    def both(letters: dict[str, str]) -> list[Run]:
        return [run(trials(letters), target=name, random=True) for name in ("model/a", "model/b")]

    before = baseline(*both(steady(37, "PPPPP")))
    one, other = both(broken(1, 2)), both(broken(9))
    alone = decided(report(one[0], both(steady(37))[1]), before, *QUIET[:2], DROP)
    assert (evidence_of(alone).tests, alone.outcome) == (1, Outcome.FAIL)  # nothing of the other can show anything
    found = decided(report(one[0], other[1]), before, *QUIET[:2], DROP)
    first = evidence_of(found)
    assert (first.tests, first.p, first.corrected) == (2, near(1 / 36), near(2 / 36))
    assert found.outcome is Outcome.INCONCLUSIVE  # with one target alone it would have failed


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("passed", "status"),
    [(37, "ok"), (33, "ok"), (32, "ok"), (29, "ok"), (28, "fail")],  # 28 of 37: at most 87 %; 29 of 37: at most 88.7 %
)
def test_upper__a_floor_fails_only_when_the_whole_interval_is_below(passed: int, status: str) -> None:
    floor = Rule(metric="pass_rate", floor=0.88, floor_test="upper")
    now = measured(broken(*range(37 - passed)))
    found = outcome_of(decided(now, None, floor))
    assert found.status == status
    literal = outcome_of(decided(now, None, Rule(metric="pass_rate", floor=0.88)))
    assert literal.status == ("fail" if passed < 33 else "ok")
    assert found.interval == literal.interval is not None


@pytest.mark.parametrize(("failed", "status"), [(0, "ok"), (3, "ok"), (9, "fail")])
def test_upper__holds_for_ceilings_too(failed: int, status: str) -> None:
    ceiling = Rule(metric="unsafe_answer_rate", ceiling=0.08, floor_test="upper")
    assert outcome_of(decided(answers(failed), None, ceiling, *QUIET), ceiling.metric).status == status


def test_upper__of_what_is_no_count_of_trials_is_literal() -> None:
    floor = Rule(metric="tool_call_success_rate", floor=0.9, floor_test="upper")
    now = report(run([result("a", calls=(8, 10))], target="anthropic/model", random=True))
    assert outcome_of(decided(now, None, floor), floor.metric).status == "fail"


# --- the interval and what could have been seen -----------------------------------------------------------------------


def test_evidence__tells_interval_and_what_could_have_been_seen() -> None:
    evidence = evidence_of(decided(measured(broken(1)), FIVE))
    assert evidence.interval is not None
    assert evidence.interval.low < -1 / 37 < evidence.interval.high
    assert evidence.detectable is not None
    assert evidence.detectable > 1 / 37


@pytest.mark.parametrize(("before", "word"), [("P", "five"), ("PPP", "three"), ("PPPPP", "")])
def test_thin_baseline__says_what_it_cant_convict(before: str, word: str) -> None:
    """Without a confirm stage. With five trials a side nothing is said: that is as good as it is asked to be."""
    found = decided(measured(broken(1)), known(steady(37, before)), confirm=None)
    message = english.message(outcome_of(found))
    assert ("this baseline" in message) is bool(word)
    assert not word or f"can't prove a drop of fewer than {word} cases" in message
    assert bool(english.warnings(found.notices)) is bool(word)


def test_thin_baseline__is_judged_by_the_trials_that_there_are() -> None:
    """A confirm stage that could have been, and was not, makes no baseline better."""
    found = decided(measured(broken(1, 2, 3)), known(steady(37)))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "this baseline (1 trial per case) can't prove a drop of fewer than five cases" in english.headline(found)


def test_thin_baseline__of_which_several_questions_are_asked_needs_more_to_break() -> None:
    """Two of two cases broke, tried again: p = 1/25; half of alpha for the fresh trials, a part of it for each run."""
    for runs, word in ((1, "three"), (2, "three"), (6, "four")):
        names = [f"model/{number}" for number in range(runs)]
        before = baseline(*(run(trials(steady(37)), target=name, random=True) for name in names))
        fresh = trials({"c1": "FFFF", "c2": "FFFF"}, 2)
        now = report(*(run(trials(broken(1, 2)), target=name, random=True, confirmation=fresh) for name in names))
        message = english.message(outcome_of(decided(now, before, *QUIET[:2], DROP)))
        assert f"can't prove a drop of fewer than {word} cases" in message
        assert "confirmed" not in message  # what is no proof is called no such thing


def test_thin_baseline__is_warned_of_by_what_it_can_do_alone() -> None:
    planned = decided(measured(steady(37)), known(steady(37)))
    assert (
        "by itself it can't prove a drop of fewer than three cases" in english.warnings(planned.notices)[0]
    )  # with the stage there would be
