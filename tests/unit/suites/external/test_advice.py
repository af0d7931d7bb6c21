"""What is proposed of suites whose trials another harness makes: what its user can do."""

from __future__ import annotations

from evalward.decide.staleness import few_trials
from evalward.engine.gathering import run_record
from evalward.records.codes.advice import MoreTrials
from evalward.render.sentences import says
from evalward.suites.external.kind import EXTERNAL
from support.foreign.trials import foreign, read
from support.results import baseline, result, run


def test_more_trials_for_a_baseline__are_the_harnesss_to_make() -> None:
    (gathered,) = read(foreign("a"), foreign("b")).runs
    (based,) = baseline(run_record(EXTERNAL, "bot", gathered.gathered)).runs
    few = few_trials(based)
    assert few is not None
    assert says(few).endswith(
        "Let the harness make 5 of each case (its epochs or repeats, or `--trials 5` where `run` has `{trials}`) and "
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
        "5 trials of each case by the harness tell more: by its epochs or repeats, or `--trials 5` where `run` has "
        "`{trials}`. That takes 8 more trials."
    )
