"""skill-creator's benchmarks: arms that are never mixed, and numbers that stand for nothing."""

from __future__ import annotations

import pytest

from evalward.records.problem import InputError
from evalward.records.result import CheckResult, Status
from evalward.suites.external.choice import Bounds, ScoreChoice
from evalward.suites.external.formats.base import ForeignResults, ForeignTrial, recognised
from evalward.suites.external.formats.skill_creator import FORMAT
from evalward.suites.external.results import Reading, read_results
from support.foreign import skill_creator
from support.foreign.files import files_of

FILE = "benchmarks/2026-07-01/benchmark.json"


def read(value: object) -> ForeignResults:
    """The run in this file."""
    (found,) = FORMAT.read(files_of({FILE: value}))
    return found


def trials_of(value: object) -> list[ForeignTrial]:
    return list(read(value).trials)


def test_a_run_that_passed() -> None:
    (trial,) = trials_of(skill_creator.benchmark([skill_creator.run(2)]))
    assert (trial.case, trial.number, trial.suite) == ("1", 2, "pdf")
    assert trial.target == "claude-sonnet-5/with_skill"
    assert trial.status is Status.PASSED
    assert trial.asked == {"eval": "1", "expectations": ["The output has part 1", "The output has part 2"]}
    assert trial.checks[0] == CheckResult(check="The output has part 1", passed=True, detail="seen at step 1")
    assert trial.duration_ms == 42_500


def test_all_expectations_have_to_hold_or_as_many_as_the_suite_says() -> None:
    (trial,) = trials_of(skill_creator.benchmark([skill_creator.run(held=(True, True, True, False))]))
    assert (trial.status, trial.message) == (Status.FAILED, "The output has part 4")
    assert ScoreChoice(bounds={"pass_rate": Bounds(least=0.7)}).ending(trial).status is Status.PASSED


def test_the_counts_and_the_list_have_to_agree_on_a_pass() -> None:
    counted = skill_creator.run()["result"]
    (trial,) = trials_of(skill_creator.benchmark([skill_creator.run(held=(True, False), result=counted)]))
    assert trial.status is Status.FAILED


def test_arms_are_targets_and_stay_apart_in_a_suite_of_ours() -> None:
    runs = [
        skill_creator.run(held=(holds,), arm=arm) for arm, holds in (("with_skill", True), ("without_skill", False))
    ]
    found = read_results([read(skill_creator.benchmark(runs))], Reading("skill-creator", suite="skills"), FILE)
    assert [(run.suite, run.target, [one.status for one in run.results]) for run in found.runs] == [
        ("skills", "claude-sonnet-5/with_skill", [Status.PASSED]),
        ("skills", "claude-sonnet-5/without_skill", [Status.FAILED]),
    ]


def test_a_run_that_was_not_graded_did_not_fail() -> None:
    runs = [skill_creator.run(), skill_creator.run(2, **skill_creator.not_graded())]
    ending = ScoreChoice().ending(trials_of(skill_creator.benchmark(runs))[1])
    assert (ending.status, ending.message) == (Status.ERROR, "the run was not graded")
    unread = [{"text": "The output has part 1", "passed": None, "evidence": ""}]
    (trial,) = trials_of(skill_creator.benchmark([skill_creator.run(expectations=unread)]))
    assert trial.status is None


def test_tokens_are_unknown_and_so_is_no_time() -> None:
    (trial,) = trials_of(skill_creator.benchmark([skill_creator.run(**skill_creator.not_graded())]))
    assert (trial.duration_ms, trial.usage.input_tokens, trial.usage.output_tokens) == (None, None, None)


def test_what_the_script_leaves_for_people_to_fill_in_is_no_name() -> None:
    value = skill_creator.benchmark([skill_creator.run()], skill_name="<skill-name>", executor_model="<model-name>")
    (trial,) = trials_of(value)
    assert (trial.suite, trial.target) == ("", "with_skill")


def test_arms_without_the_same_runs_are_noted() -> None:
    runs = [skill_creator.run(), skill_creator.run(2), skill_creator.run(arm="without_skill")]
    (note,) = read(skill_creator.benchmark(runs)).notes
    assert "claude-sonnet-5/with_skill 2, claude-sonnet-5/without_skill 1" in note
    assert read(skill_creator.benchmark([skill_creator.run(), skill_creator.run(arm="without_skill")])).notes == []


def test_expectations_in_other_words_define_nothing() -> None:
    found = read(skill_creator.benchmark([skill_creator.run(), skill_creator.run(2, held=(True,))]))
    assert [trial.asked for trial in found.trials] == [{"eval": "1", "expectations": None}] * 2
    assert found.notes == ["the expectations differ between runs of eval 1: its id alone defines it"]


def test_one_run_twice_is_refused() -> None:
    with pytest.raises(InputError, match="run 1 of eval 1 occurs in it twice"):
        read(skill_creator.benchmark([skill_creator.run(), skill_creator.run(held=(False,))]))


def test_a_run_of_no_arm_is_refused() -> None:
    with pytest.raises(InputError, match="a run has no eval_id or no configuration"):
        read(skill_creator.benchmark([skill_creator.run(configuration=None)]))


@pytest.mark.parametrize("value", [skill_creator.benchmark([]), {}, b'{"metadata": {"skill_name": "pdf"}, "runs": ['])
def test_no_run_is_never_green(value: object) -> None:
    with pytest.raises(InputError):
        read(value)


def test_it_is_recognised_by_content_and_by_name() -> None:
    for value in (skill_creator.benchmark([skill_creator.run()]), skill_creator.benchmark([])):
        (file,) = files_of({"results.json": value})
        assert recognised(file) == "skill-creator"
    assert FORMAT.belongs(FILE)
    assert read(skill_creator.benchmark([skill_creator.run()])).made_at == "2026-07-01T10:30:00Z"
