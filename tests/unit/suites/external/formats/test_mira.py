"""mira's runs: never a case twice, skipped before failed, zero that means unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from evalward.records.problem import InputError
from evalward.records.result import CheckResult, Status
from evalward.suites.external.choice import ScoreChoice
from evalward.suites.external.formats.base import ForeignTrial, recognised
from evalward.suites.external.formats.mira import FORMAT
from support.foreign import mira
from support.foreign.files import files_of

CASES = [
    mira.case("echo"),
    mira.case("grep", passed=False, aggregate=0.5, scores=[mira.score(value=0.5, passed=False)]),
    mira.skipped("echo"),
]


def trials_of(values: Mapping[str, object]) -> list[ForeignTrial]:
    """The trials of the one run in these files."""
    (found,) = FORMAT.read(files_of(values))
    return list(found.trials)


def the_trial(**changed: Any) -> ForeignTrial:
    """The trial of a run of one, which differs from a passed one in what is given."""
    (trial,) = trials_of(mira.run_folder([mira.case(**changed)]))
    return trial


def test_a_case_that_passed() -> None:
    trial = the_trial()
    assert (trial.suite, trial.case, trial.target, trial.number) == ("smoke", "echo", "anthropic/claude-haiku-4-5", 1)
    assert trial.status is Status.PASSED
    assert {name: score.value for name, score in trial.scores.items()} == {"score": 1.0, "expectations": 1.0}
    assert trial.checks == [CheckResult(check="expectations", passed=True, detail="expectations gave 1")]
    assert trial.duration_ms == 2723


def test_skipped_comes_before_failed() -> None:
    trial = trials_of(mira.run_folder(CASES))[2]
    assert (trial.status, trial.reason, dict(trial.scores)) == (Status.SKIPPED, "skipped", {})
    assert (trial.usage.input_tokens, trial.usage.output_tokens, trial.duration_ms) == (None, None, None)


def test_no_cost_is_free() -> None:
    usage = the_trial().usage
    assert (usage.input_tokens, usage.output_tokens, usage.cost_usd) == (1313, 101, None)
    spent = {"input_tokens": 1000, "output_tokens": 9, "cache_read_tokens": 400, "reasoning_tokens": 3, "cost_usd": 0.2}
    usage = the_trial(transcript=mira.transcript(usage=spent)).usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.reasoning_tokens, usage.cost_usd) == (600, 400, 3, 0.2)


def test_a_subject_that_counts_nothing_used_an_unknown_amount() -> None:
    spent = {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0}
    usage = the_trial(transcript=mira.transcript(usage=spent)).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cost_usd) == (None, None, None)


def test_the_report_and_the_cases_hold_the_same() -> None:
    whole = mira.run_folder(CASES)
    singly = {name: value for name, value in whole.items() if "/cases/" in name}
    told = [(trial.case, trial.target, trial.status) for trial in trials_of(whole)]
    assert len(told) == 3
    assert [(trial.case, trial.target, trial.status) for trial in trials_of(singly)] == told
    assert [(trial.case, trial.target, trial.status) for trial in trials_of({"r.json": mira.report(CASES)})] == told


def test_what_the_run_says_of_itself() -> None:
    (found,) = FORMAT.read(files_of(mira.run_folder(CASES)))
    assert (found.planned, found.version, found.made_at) == (3, "0.2.0", "2026-06-26T04:30:17Z")


def test_two_runs_are_two() -> None:
    files = mira.run_folder(CASES, "results/mira/a") | mira.run_folder(CASES[:1], "results/mira/b")
    assert [run.planned for run in FORMAT.read(files_of(files))] == [3, 1]


def test_an_error_of_the_infrastructure_is_none_of_the_targets() -> None:
    broken = mira.transcript(error="529 Overloaded", error_kind="infra")
    for scores in ([], [mira.score(value=0, passed=False)], [mira.score(value=0, passed=False, na=True)]):
        trial = the_trial(passed=False, aggregate=0.0, scores=scores, transcript=broken)
        assert (trial.status, trial.reason, trial.message[:3]) == (Status.ERROR, "infra", "529")


def test_an_error_of_the_subjects_is_its_failure() -> None:
    trial = the_trial(
        passed=False, scores=[mira.score(value=0, passed=False)], transcript=mira.transcript(error="turn budget")
    )
    assert (trial.status, trial.message) == (Status.FAILED, "turn budget")


def test_a_score_that_does_not_apply_decides_nothing() -> None:
    unread = mira.score("judge", 0.0, passed=False, na=True)
    trial = the_trial(passed=False, aggregate=0.0, scores=[unread])
    assert (trial.status, trial.reason) == (Status.ERROR, "scorer_error")
    trial = the_trial(scores=[unread, mira.score()])
    assert (trial.status, trial.scores["judge"].value, len(trial.checks)) == (Status.PASSED, None, 1)
    assert ScoreChoice(scorer="judge").ending(trial).status is Status.ERROR


def test_a_case_without_scores_is_not_judged() -> None:
    assert ScoreChoice().ending(the_trial(passed=False, aggregate=0.0, scores=[])).reason == "unjudged"


def test_trials_and_other_axes_of_later_versions() -> None:
    low: dict[str, Any] = {"trials": 2, "params": {"effort": "low"}}
    files = mira.run_folder([mira.case(**low), mira.case(trial=1, **low), mira.case(params={"effort": "high"})])
    assert [(trial.target, trial.number) for trial in trials_of(files)] == [
        ("anthropic/claude-haiku-4-5[effort=low]", 1),
        ("anthropic/claude-haiku-4-5[effort=low]", 2),
        ("anthropic/claude-haiku-4-5[effort=high]", 1),
    ]


def test_the_definition_is_what_was_asked() -> None:
    trial = the_trial(input=["Say hello."], expected="hello", seed=7, trials=2)
    assert trial.asked == {"sample": "echo", "input": ["Say hello."], "expected": "hello"}


def test_the_conversation() -> None:
    trial = the_trial(input=["Say hello."])
    trace = trial.trace() if trial.trace is not None else None
    assert trace is not None
    assert [(message.role, message.text) for message in trace.messages] == [
        ("user", "Say hello."),
        ("assistant", "It printed hello."),
    ]
    assert [(call.commands, call.exit_code) for call in trace.tool_calls] == [("echo hello", None)]
    assert trace.usage == trial.usage


def test_one_case_twice_is_refused() -> None:
    with pytest.raises(InputError, match='two results are called "smoke/echo"'):
        trials_of({"report.json": mira.report([mira.case(), mira.case(passed=False)])})


@pytest.mark.parametrize("value", [mira.report([]), mira.meta([]), b'{"cases": [{"aggregate": 1.0, "eval": "sm'])
def test_no_case_is_never_green(value: object) -> None:
    with pytest.raises(InputError):
        trials_of({"report.json": value})


def test_a_cut_case_is_no_stranger() -> None:
    files = {name: value for name, value in mira.run_folder(CASES).items() if "/cases/" in name}
    files[next(iter(files))] = b'{"eval": "smo'
    with pytest.raises(InputError, match="it is not a result of mira"):
        trials_of(files)


def test_every_file_is_recognised() -> None:
    for file in files_of(mira.run_folder(CASES) | {"empty/report.json": mira.report([])}):
        assert recognised(file) == "mira"


def test_which_files_of_a_folder_are_read() -> None:
    assert all(map(FORMAT.belongs, mira.run_folder(CASES)))
    assert not FORMAT.belongs("results/mira/run/cases/smoke/transcript.json")
    assert not FORMAT.belongs("jobs/a/b__c/result.json")
