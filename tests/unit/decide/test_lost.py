"""A scorer that gives no score any more, and trials that a harness leaves out, are seen."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from evalward.engine.gathering import run_record
from evalward.records.policy import Rule, Waiver
from evalward.records.report import Run
from evalward.records.verdict import Outcome, Verdict
from evalward.render.sentences.dispatch import sentences
from evalward.suites.external.formats.base import ForeignTrial
from evalward.suites.external.kind import EXTERNAL
from evalward.suites.external.metrics import per_trial
from support.foreign.trials import foreign, read
from support.results import baseline, compared, metric_change, report, verdict_of

HELP = Rule(metric="score:help", max_drop=0.05)
CASES = [f"c{number:02}" for number in range(40)]


def made(*trials: ForeignTrial) -> Run:
    """The run of a suite with these trials."""
    (run,) = read(*trials).runs
    return run_record(EXTERNAL, "bot", run.gathered)


def scored(without: Sequence[str] = (), cases: Sequence[str] = CASES) -> Run:
    """A passed trial of each case, with a score for helpfulness except in those `without`."""
    return made(*(foreign(case, scores={} if case in without else {"help": 0.8}) for case in cases))


def judged(now: Run, *rules: Rule, before: Run | None = None, waive: Sequence[Waiver] = ()) -> Verdict:
    """The verdict beside 40 cases that all had a score."""
    return verdict_of(report(now), baseline(before or scored()), *rules, waive=list(waive))


def test_a_score_that_most_cases_lost__can_not_be_judged() -> None:
    found = judged(scored(without=CASES[5:]), HELP)
    assert found.outcome is Outcome.ERROR
    (reason,) = found.reasons
    assert sentences(reason.statements) == (
        "bot × inspect: score:help is missing in 35 of 40 known cases that had it in the baseline (c05, c06, c07, …)"
    )
    assert reason.advice[0].code == "advice.look_at_scores"
    assert reason.cases == CASES[5:]


def test_a_score_that_one_case_lost__is_no_pass() -> None:
    found = judged(scored(without=["c07"]), HELP)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert [reason.cases for reason in found.reasons] == [["c07"]]


@pytest.mark.parametrize("word", ["c07", "general"])
def test_what_the_policy_waives__may_lose_its_score(word: str) -> None:
    waive = [Waiver(id=word, reason="its judge was retired")]
    assert judged(scored(without=["c07"]), HELP, waive=waive).outcome is Outcome.PASS


def test_a_score_that_no_rule_protects__may_go() -> None:
    assert judged(scored(without=CASES[5:]), Rule(metric="pass_rate", max_drop=0.02)).outcome is Outcome.PASS


def test_a_case_that_had_no_score_in_the_baseline__has_lost_none() -> None:
    before = scored(without=["c07"])
    assert judged(scored(without=["c07"]), HELP, before=before).outcome is Outcome.PASS


def test_a_case_that_has_its_score_in_one_of_its_trials__has_it() -> None:
    twice = [foreign(case, scores={"help": 0.8} if trial == 1 else {}) for case in CASES for trial in (1, 2)]
    assert judged(made(*twice), HELP).outcome is Outcome.PASS


def test_a_score_that_most_trials_of_a_case_lost__is_no_pass() -> None:
    trials = [
        foreign(case, scores={} if case == "c00" and trial else {"help": 0.8}) for case in CASES for trial in range(5)
    ]
    full = [foreign(case, scores={"help": 0.8}) for case in CASES for _ in range(5)]
    found = judged(made(*trials), HELP, before=made(*full))
    assert (found.outcome, found.reasons[0].cases) == (Outcome.INCONCLUSIVE, ["c00"])


def test_mean_score__loses_cases_alike() -> None:
    found = judged(scored(without=CASES[:3]), Rule(metric="mean_score", max_drop=0.05))
    assert (found.outcome, found.reasons[0].cases) == (Outcome.ERROR, CASES[:3])


def test_the_comparison__names_the_cases_of_metrics_in_which_every_trial_has_a_part() -> None:
    run = compared(report(scored(without=["c07"])), baseline(scored())).runs[0]
    assert (metric_change(run, "score:help").lost, metric_change(run, "score:help").had) == (["c07"], 40)
    assert metric_change(run, "pass_rate").lost == []


def test_only_scores_last() -> None:
    lasting = {name for name in ("score:x", "mean_score", "pass_rate", "cost_usd") if per_trial(name).lasting}  # type: ignore[union-attr]
    assert lasting == {"score:x", "mean_score"}


def thrice(*, but: Sequence[str] = (), cases: Sequence[str] = CASES[:12]) -> Run:
    """Three trials of each case, and of those in `but` two."""
    return made(*(foreign(case) for case in cases for trial in range(2 if case in but else 3)))


def test_trials_that_the_harness_left_out__are_counted_as_errors() -> None:
    run = thrice(but=CASES[:5])
    assert (run.planned, len(run.cases)) == (36, 31)
    comparison = compared(report(run), baseline(thrice()))
    assert comparison.runs[0].errors == 5
    found = judged(run, before=thrice())
    assert found.outcome is Outcome.ERROR
    said = "bot × inspect: 5 of 36 trials ended in an error (13.9 %), more than the 5 % allowed"
    assert sentences(found.reasons[0].statements) == said


def test_trials_that_the_harness_left_out__are_said() -> None:
    trials = [foreign(case) for case in CASES[:4] for trial in range(2 if case == "c00" else 3)]
    assert read(*trials).notes == [
        "inspect: 1 case has fewer trials than the others; the missing one counts as an error"
    ]


def test_a_case_with_more_trials_than_the_others__makes_none_missing() -> None:
    assert made(*map(foreign, ["a", "a", "a", "b", "c"])).planned == 5


def test_what_the_files_say__is_planned() -> None:
    (run,) = read(foreign("a"), foreign("a"), foreign("b"), planned=9).runs
    assert run.planned == 9
