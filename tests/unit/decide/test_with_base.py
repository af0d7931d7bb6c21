"""Suites that are compared with the base commit: its side stands in for a baseline, and without it nothing passes."""

from __future__ import annotations

from typing import Any

import pytest

from evalward.commands.pipeline import Criteria, decide_report, kinds_of
from evalward.decide.baseline import update_baseline
from evalward.decide.pooling import NamedReport
from evalward.decide.with_base import compared_with
from evalward.records.policy import Policy, Waiver
from evalward.records.problem import InputError
from evalward.records.report import MeasuredBase, Report, Run
from evalward.records.result import Status
from evalward.records.succession import Predecessor
from evalward.records.verdict import Outcome, Verdict
from evalward.render import sentences as english
from support.outcomes import DROP, TARGET, Letters, steady, trials
from support.results import baseline, report, result, run

COMMIT = "b" * 40
POLICY = Policy(rules=[DROP], with_base=["suite"])


def both(now: Letters, base: Letters | None, *, notes: dict[str, str] | None = None, **more: Any) -> Report:
    """A report of one run, and of its base's, where that was measured."""
    count = max(len(each) for each in now.values())
    head = run(trials(now), target=TARGET, suite="suite", trials=count, random=True)
    known = [run(trials(base), target=TARGET, suite="suite", trials=count, random=True)] if base else []
    return report(head, base=MeasuredBase(commit=COMMIT, runs=known, notes=notes or {}), **more)


def decided(now: Report, policy: Policy = POLICY) -> Verdict:
    return decide_report(now, None, policy).verdict


def test_what_broke_since_the_base__fails() -> None:
    broken = {f"c{number}": "FFFFF" for number in range(6)}
    verdict = decided(both(steady(each="PPPPP") | broken, steady(each="PPPPP")))
    assert verdict.outcome is Outcome.FAIL, english.headline(verdict)


def test_what_broke_since_the_base__is_not_advised_to_be_accepted() -> None:
    broken = {f"c{number}": "FFFFF" for number in range(6)}
    (reason, *_) = decided(both(steady(each="PPPPP") | broken, steady(each="PPPPP"))).reasons
    assert english.remedy(reason) == (
        "Look at the broken cases and fix them. "
        "The suite is compared with the base commit, so no baseline can accept it."
    )


@pytest.mark.parametrize(("suite", "target"), [("suite", "openai/new"), ("other", TARGET)])
def test_what_has_another_name_now__is_no_way_out(suite: str, target: str) -> None:
    replaces = Predecessor(suite="suite", target=TARGET)
    now = both(steady(each="PPPPP"), steady(each="PPPPP"))
    head = now.runs[0].model_copy(update={"suite": suite, "target": target, "replaces": replaces})
    known = MeasuredBase(commit=COMMIT, runs=[unmeasured(TARGET)])
    renamed = now.model_copy(update={"runs": [head], "base": known})
    verdict = decided(renamed)
    assert verdict.outcome is Outcome.FAIL, english.headline(verdict)
    assert f"suite × {TARGET} was renamed, so it was not compared" in english.headline(verdict)
    waived = POLICY.model_copy(update={"waive": [Waiver(id=TARGET, reason="an upgrade")]})
    assert decided(renamed, waived).outcome is not Outcome.FAIL


def unmeasured(target: str) -> Run:
    """A run of the base that the head doesn't have: its cases are known, and were not run."""
    left = [result.model_copy(update={"status": Status.SKIPPED}) for result in trials(steady())]
    return run(left, target=target, suite="suite", random=True)


def test_what_the_base_fails_too__passes() -> None:
    broken = {f"c{number}": "FFFFF" for number in range(6)}
    same = steady(each="PPPPP") | broken
    assert decided(both(same, same)).outcome is Outcome.PASS


def test_committed_baseline_of_such_a_suite__decides_nothing__others_stay() -> None:
    committed = baseline(
        run(trials(steady(3, "F")), target=TARGET, suite="suite", random=True),
        run(trials(steady(3)), target=TARGET, suite="other", random=True),
    )
    now = both(steady(3), steady(3))
    found = compared_with(now, committed, ["suite"], kinds_of(now))
    assert found is not None
    tallies = {each.suite: {case.tally.passed for case in each.cases if case.tally} for each in found.runs}
    assert tallies == {"suite": {1}, "other": {1}}
    assert found.provenance == committed.provenance


def test_base_that_nobody_asked_for__is_no_baseline() -> None:
    """Whoever runs the head may hand over anything: the base counts for the suites that the policy names alone."""
    now = both(steady(3, "F"), steady(3, "F"))
    assert compared_with(now, None, [], kinds_of(now)) is None
    assert compared_with(now, None, ["another"], kinds_of(now)) is None
    committed = baseline(run(trials(steady(3)), target=TARGET, suite="suite", random=True))
    assert compared_with(now, committed, ["another"], kinds_of(now)) == committed


def test_case_that_the_base_alone_has__is_missing__one_that_it_asks_otherwise_is_redefined() -> None:
    now = both({"a": "P", "b": "P"}, {"a": "P"})
    assert now.base is not None
    left = [result("gone", "skipped"), result("b", "skipped", definition="sha256:" + "9" * 64)]
    base = now.base.runs[0].model_copy(update={"cases": [*now.base.runs[0].cases, *left]})
    judgement = decide_report(now.model_copy(update={"base": MeasuredBase(runs=[base])}), None, POLICY)
    changes = {case.id: case.change for case in judgement.comparison.runs[0].cases}
    assert changes == {"a": "same", "b": "redefined", "gone": "missing"}
    assert judgement.verdict.outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (report(run(trials(steady(3)), target=TARGET, suite="suite")), "this report has no measurement of the base"),
        (both(steady(3), None, notes={f"suite × {TARGET}": "it is too large"}), "it is too large"),
        (both(steady(3), None, notes={"suite": "it has no evalward.yml"}), "it has no evalward.yml"),
    ],
)
def test_base_that_was_not_measured__is_inconclusive_with_reason_and_remedy(now: Report, told: str) -> None:
    verdict = decided(now)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert english.headline(verdict) == f"suite × {TARGET} was not compared with the base: {told}"
    assert "fetch-depth: 2" in english.remedy(verdict.reasons[0])


def test_suite_that_is_gone__and_whose_base_cant_be_read__is_inconclusive() -> None:
    now = report(run(trials(steady(3)), target=TARGET, suite="other"), base=MeasuredBase(notes={"suite": "no git"}))
    assert "suite was not compared with the base: no git" in [english.message(each) for each in decided(now).reasons]


def test_failure_stays_one__whatever_could_not_be_compared() -> None:
    now = both(steady(3, "F"), None, notes={"suite": "no git"})
    floor = DROP.model_copy(update={"floor": 0.9})
    assert decided(now, POLICY.model_copy(update={"rules": [floor]})).outcome is Outcome.FAIL


def test_suite_that_is_new__is_compared_with_nothing__and_said_to_be_new() -> None:
    judgement = decide_report(both(steady(3), None), None, POLICY)
    assert (judgement.verdict.outcome, judgement.comparison.runs[0].added) == (Outcome.PASS, True)


def test_trials_of_the_base_that_broke__one_is_named__many_are_no_pass() -> None:
    few = decided(both(steady(37), steady(37, c3="E")))
    assert few.outcome is Outcome.PASS
    assert f"suite × {TARGET}: the base has no valid trial of c3, so nothing was compared there" in english.warnings(
        few.notices
    )
    many = decided(both(steady(37), steady(37, c1="E", c2="E", c3="E", c4="E")))
    assert many.outcome is Outcome.INCONCLUSIVE
    assert "4 of 37 trials of the base ended in an error, so c1, c2, c3, … can't be compared" in english.headline(many)


def test_failed_cases_are_tried_again__on_the_word_of_the_base() -> None:
    (retry,) = Criteria(None, POLICY).retries(both(steady(each="P", c1="F"), steady()))
    assert (dict(retry.trials), retry.beside) == ({"c1": 4}, False)


def test_baseline_update__leaves_such_suites_out() -> None:
    now = report(*(run(trials(steady(3)), target=TARGET, suite=name) for name in ("suite", "other")))
    done = update_baseline([NamedReport(now, "report.json")], None, kinds_of(now), policy=POLICY)
    assert [each.suite for each in done.baseline.runs] == ["other"]
    assert "suite: left out, as it is compared with the base commit and needs no baseline" in done.notes
    alone = report(run(trials(steady(3)), target=TARGET, suite="suite"))
    with pytest.raises(InputError, match="no suite of it has a committed baseline"):
        update_baseline([NamedReport(alone, "report.json")], None, kinds_of(alone), policy=POLICY)
