"""What is proposed of suites whose trials another harness makes: what its user can do."""

from __future__ import annotations

import pytest

from evalward.decide.baseline import update_baseline
from evalward.decide.pooling import NamedReport
from evalward.decide.staleness import few_trials
from evalward.engine.gathering import run_record
from evalward.records.codes.advice import MoreTrials
from evalward.records.problem import InputError
from evalward.records.report import Report
from evalward.records.verdict import Outcome
from evalward.render.sentences import says
from evalward.suites.external.kind import EXTERNAL
from support.foreign.trials import foreign, read
from support.results import baseline, report, result, run, verdict_of


def test_more_trials_for_a_baseline__are_the_harnesss_to_make() -> None:
    (gathered,) = read(foreign("a"), foreign("b")).runs
    (based,) = baseline(run_record(EXTERNAL, "bot", gathered.gathered)).runs
    few = few_trials(based)
    assert few is not None
    assert says(few).endswith(
        "Have the harness run 5 of each case (its epochs or repeats, or `--trials 5` where `run` has `{trials}`) and "
        "update it"
    )


def test_more_trials_of_our_own__are_an_option() -> None:
    (based,) = baseline(run([result("a", "passed")], target="openai/gpt-5", random=True)).runs
    few = few_trials(based)
    assert few is not None
    assert says(few).endswith("Run with `--trials 5` and update it")


def test_more_trials_now__are_the_harnesss_to_make() -> None:
    found = MoreTrials(of="planned", trials=5, has=1, cost=8, harness=True)
    assert says(found) == (
        "5 trials of each case by the harness give more evidence: by its epochs or repeats, or `--trials 5` where "
        "`run` has "
        "`{trials}`. That takes 8 more trials."
    )


def test_targets_that_the_harness_skipped__are_left_out_of_the_baseline() -> None:
    trials = [foreign("a", target="m/x"), foreign("a", "skipped", target="m/y", reason="skipped")]
    runs = [run_record(EXTERNAL, "bot", each.gathered) for each in read(*trials).runs]
    made = update_baseline([NamedReport(report(*runs), "report.json")], None, {"external": EXTERNAL})
    assert [each.target for each in made.baseline.runs] == ["m/x"]
    assert made.notes == ["bot × m/y: left out, because it could not be run: a"]


def test_a_run_whose_targets_were_all_skipped__is_no_baseline() -> None:
    (only,) = read(foreign("a", "skipped", reason="skipped")).runs
    with pytest.raises(InputError, match="the report has no case"):
        update_baseline(
            [NamedReport(report(run_record(EXTERNAL, "bot", only.gathered)), "report.json")],
            None,
            {"external": EXTERNAL},
        )


def of_targets(**statuses: str) -> Report:
    trials = [foreign("a", status, target=name, reason=status) for name, status in statuses.items()]
    return report(*(run_record(EXTERNAL, "bot", each.gathered) for each in read(*trials).runs))


def test_a_target_that_the_harness_skips_as_before__is_no_loss() -> None:
    before = update_baseline([NamedReport(of_targets(x="passed", y="skipped"), "r")], None, {"external": EXTERNAL})
    found = verdict_of(of_targets(x="passed", y="skipped"), before.baseline)
    assert found.outcome is Outcome.PASS


def test_a_target_that_the_harness_skips_now__is_missing() -> None:
    before = update_baseline([NamedReport(of_targets(x="passed", y="passed"), "r")], None, {"external": EXTERNAL})
    found = verdict_of(of_targets(x="passed", y="skipped"), before.baseline)
    assert found.outcome is Outcome.FAIL
