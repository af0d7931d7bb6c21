"""Logs of inspect: what each of their shapes means."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evalward.records.problem import InputError
from evalward.records.result import Status
from evalward.records.trace import Usage
from evalward.suites.external.choice import ScoreChoice
from evalward.suites.external.formats.base import Score, format_named
from support.foreign.files import in_memory
from support.foreign.inspect import (
    DEFLATED,
    MODEL,
    STORED,
    USED,
    ZSTANDARD,
    Logged,
    LoggedSample,
    archive,
    scored,
)
from support.foreign.inspect_reading import only, read, scores, trials

PASSED, FAILED, ERROR, SKIPPED = Status.PASSED, Status.FAILED, Status.ERROR, Status.SKIPPED
CANCELLED = "CancelledError('Cancelled via cancel scope 7f0231bfe840')"


# containers


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTANDARD])
def test_archives_by_each_method(method: int) -> None:
    results = read(Logged(epochs=2, samples=(LoggedSample(), LoggedSample(epoch=2))).eval_log(method))
    assert (results.version, results.planned, results.made_at) == ("0.3.285", 2, "2026-11-22T03:01:40Z")
    assert results.stopped is None
    assert not results.notes
    found = [(each.case, each.number, each.suite, each.target, each.status) for each in results.trials]
    assert found == [("one", 1, "shell_tasks", MODEL, PASSED), ("one", 2, "shell_tasks", MODEL, PASSED)]


def test_every_form_of_a_log_says_the_same() -> None:
    run = Logged((LoggedSample(), LoggedSample("two", scores=scores(match="I"), target=["1", "2"])))
    forms: list[str | bytes] = [run.eval_log(), run.json_log(), archive(run.chunked())]
    first, *others = [[replace(each, trace=None) for each in read(form).trials] for form in forms]
    assert [each.status for each in first] == [PASSED, FAILED]
    assert all(other == first for other in others)


def test_a_run_that_was_killed_has_its_journal_alone() -> None:
    run = Logged([LoggedSample(name) for name in "abc"], chosen=["a", "b", "c", "d"], epochs=2, status="started")
    results = read(archive(run.journal()))
    assert [each.case for each in results.trials] == ["a", "b", "c"]
    assert results.planned == 8
    assert results.stopped == "inspect hasn't finished: its log has 3 of 8 trials and no end"


def test_journals_are_read_in_the_order_of_their_numbers() -> None:
    run = Logged([LoggedSample(str(number)) for number in range(24)])
    assert [each.case for each in read(archive(run.journal())).trials] == [str(number) for number in range(24)]


def test_the_last_of_a_trial_that_was_written_twice_counts() -> None:
    first, again = LoggedSample(scores=scores(match="I")), LoggedSample(scores=scores(match="C"))
    (trial,) = read(Logged((first, again)).json_log()).trials
    assert trial.status is PASSED


# how samples end


@pytest.mark.parametrize(
    ("sample", "status", "reason"),
    [
        (LoggedSample(), PASSED, None),
        (LoggedSample(scores=scores(match="I")), FAILED, "failed"),
        (LoggedSample(scores=scores(match="P")), FAILED, "failed"),
        (LoggedSample(scores=scores(match="N")), FAILED, "failed"),
        (LoggedSample(scores=scores(match="I"), limit="time", model_usage={}), FAILED, "time_limit"),
        (LoggedSample(limit="message"), PASSED, None),
        (LoggedSample(scores=None, error="RuntimeError('down')"), ERROR, "sample_error"),
        (LoggedSample(error="RuntimeError('the second scorer broke')"), ERROR, "sample_error"),
        (LoggedSample(scores=None, error=CANCELLED), SKIPPED, "cancelled"),
        (LoggedSample(invalid="wrong key"), SKIPPED, "invalidated"),
        (LoggedSample(scores={}), None, None),
        (LoggedSample(scores=None), None, None),
        (LoggedSample(scores={"match": scored(float("nan"), "no number")}), ERROR, "scorer_error"),
    ],
)
def test_how_a_sample_ends(sample: LoggedSample, status: Status | None, reason: str | None) -> None:
    beside = LoggedSample("beside")
    for content in (Logged((sample, beside)).eval_log(), Logged((sample, beside)).json_log()):
        trial = next(iter(read(content).trials))
        assert (trial.status, trial.reason) == (status, reason)


def test_an_error_keeps_what_was_scored_before_it_and_says_why() -> None:
    trial = only(LoggedSample(error="RuntimeError('judge unavailable: HTTP 500')"))
    assert trial.scores == {"match": Score(1.0, True)}
    assert trial.message == "RuntimeError('judge unavailable: HTTP 500')"


def test_of_several_scorers_none_decides_until_one_is_chosen() -> None:
    sample = LoggedSample(scores=scores(letters="C", style=0.25))
    trial = only(sample, scorers=["letters", "style"])
    assert trial.status is None
    assert ScoreChoice("letters").ending(trial).status is PASSED
    assert ScoreChoice("style").ending(trial).status is ERROR  # a degree: only a threshold says what passes


def test_a_scorer_that_scored_no_other_sample_still_makes_two() -> None:
    assert only(LoggedSample(scores=scores(letters="C")), scorers=["letters", "sometimes"]).status is None


# scores


@pytest.mark.parametrize(
    ("value", "score"),
    [
        ("C", Score(1.0, True)),
        ("P", Score(0.5, False)),
        ("I", Score(0.0, False)),
        ("N", Score(0.0, False)),
        (1, Score(1.0, True)),
        (0.0, Score(0.0, False)),
        (0.25, Score(0.25, None)),
        (True, Score(1.0, True)),
        (False, Score(0.0, False)),
        ("0.75", Score(0.75, None)),
        ("yes", Score(1.0, True)),
        ("No", Score(0.0, False)),
        (float("nan"), Score(error="it gave no score")),
        (float("inf"), Score(error="it gave no score")),
        (None, Score(error="it gave no score")),
        ("good", Score(error="'good' is neither a number nor C, P, I or N")),
    ],
)
def test_what_a_value_says(value: Any, score: Score) -> None:
    assert only(LoggedSample(scores={"match": scored(value)})).scores == {"match": score}


def test_a_value_by_name_is_a_score_for_each() -> None:
    trial = only(LoggedSample(scores=scores(by_name={"safe": 1, "useful": 0.5}, listed=[1, 0])))
    assert {name: score.value for name, score in trial.scores.items()} == {
        "by_name.safe": 1.0,
        "by_name.useful": 0.5,
        "listed.1": 1.0,
        "listed.2": 0.0,
    }
    assert trial.status is None


def test_numbers_are_degrees_for_all_samples_where_one_is_neither_0_nor_1() -> None:
    found = trials(LoggedSample("a", scores=scores(match=1)), LoggedSample("b", scores=scores(match=0.9)))
    assert [(each.status, each.scores["match"].passed) for each in found] == [(None, None), (None, None)]


# tokens, times, names


def test_tokens_leave_out_what_a_cache_gave() -> None:
    usage = Usage(input_tokens=100, cache_read_tokens=50, output_tokens=20)
    assert only(LoggedSample()).usage == usage
    assert only(LoggedSample(model_usage={})).usage == Usage()


def test_tokens_of_all_models_are_added_and_those_of_the_grader_stand_apart() -> None:
    models = {MODEL: {**USED, "total_cost": 0.5}, "openai/judge": {**USED, "total_cost": 0.25}}
    trial = only(LoggedSample(model_usage=models, role_usage={"grader": {**USED, "total_cost": 0.25}}))
    assert trial.usage == Usage(input_tokens=100, cache_read_tokens=50, output_tokens=20, cost_usd=0.5)
    assert trial.judge_usage == Usage(input_tokens=100, cache_read_tokens=50, output_tokens=20, cost_usd=0.25)


def test_one_model_without_a_price_makes_the_cost_unknown() -> None:
    models = {MODEL: {**USED, "total_cost": 0.5}, "other/model": USED}
    assert only(LoggedSample(model_usage=models)).usage.cost_usd is None


def test_times_names_and_categories() -> None:
    trial = only(LoggedSample(7, metadata={"category": "files"}, total_time=1.2345))
    assert (trial.case, trial.category, trial.duration_ms) == ("7", "files", 1234)
    assert only(LoggedSample(total_time=None)).duration_ms is None


# what stands around


def test_of_a_run_and_its_retry_the_newer_is_read() -> None:
    first = Logged((LoggedSample("a"), LoggedSample("b", scores=None, error="RuntimeError('down')")), status="error")
    again = replace(first, samples=(LoggedSample("a"), LoggedSample("b")), created="2026-11-22T04:00:00+00:00")
    files = [in_memory(again.eval_log(), "logs/2.eval"), in_memory(first.eval_log(), "logs/1.eval")]
    (results,) = format_named("inspect").read(files)
    assert [each.status for each in results.trials] == [PASSED, PASSED]
    assert results.notes == ["logs/1.eval is not read: logs/2.eval is the same run, repeated"]


def test_logs_of_different_runs_stay_apart() -> None:
    files = [in_memory(Logged(task_id=name).eval_log(), f"logs/{name}.eval") for name in ("a", "b")]
    assert len(format_named("inspect").read(files)) == 2


def test_retries_within_a_run_are_noted() -> None:
    results = read(Logged((LoggedSample(retries=2), LoggedSample("two"))).eval_log())
    assert results.notes == ["inspect ran 1 trial again after an error: tokens are those of the last attempt"]


def test_invalid_samples_are_noted() -> None:
    results = read(Logged((LoggedSample(invalid="wrong key"), LoggedSample("two"))).eval_log())
    assert results.notes == ["samples that were declared invalid in inspect's log are not counted"]
    assert [(each.status, each.message) for each in results.trials] == [(SKIPPED, "wrong key"), (PASSED, "")]


def test_what_may_change_is_a_hash_for_each_part() -> None:
    one = read(Logged(config={"message_limit": 8}).eval_log()).subject
    other = read(Logged(config={"message_limit": 9}, solver="react").eval_log()).subject
    assert [name for name in one if one[name] != other[name]] == ["solver", "limits"]


@pytest.mark.parametrize(
    ("name", "whether"),
    [
        ("logs/a.eval", True),
        ("a.json", True),
        ("logs/.eval-set-id", False),
        ("logs/eval-set.json", False),
        ("a", False),
    ],
)
def test_which_files_of_a_folder_may_be_logs(name: str, whether: bool) -> None:
    assert format_named("inspect").belongs(name) is whether


def test_a_cancelled_run_says_what_is_missing() -> None:
    samples = [LoggedSample("a"), LoggedSample("b", scores=None, error=CANCELLED)]
    results = read(Logged(samples, chosen=["a", "b", "c"], status="cancelled").eval_log())
    assert results.planned == 3
    assert results.stopped == "inspect was cancelled after 1 of 3 trials"
    assert results.notes == ["1 trial was under way when inspect was stopped: not counted"]


def test_an_error_of_the_run_stopped_it_only_where_trials_are_missing() -> None:
    broken = LoggedSample("b", scores=None, error="RuntimeError('down')")
    run = Logged([LoggedSample("a"), broken], status="error", error="RuntimeError('down')")
    assert read(run.eval_log()).stopped is None
    cut = replace(run, chosen=["a", "b", "c"])
    assert read(cut.eval_log()).stopped == "an error ended inspect after 2 of 3 trials: RuntimeError('down')"


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (Logged((), chosen=[]), "none was chosen"),
        (Logged((), chosen=["a"], config={"log_samples": False}), "inspect was run with --no-log-samples"),
        (Logged((), chosen=["a"], status="started"), "none was finished"),
    ],
)
def test_a_log_without_a_sample_is_refused(run: Logged, why: str) -> None:
    for content in (run.eval_log(), run.json_log()):
        with pytest.raises(InputError, match=why):
            read(content)


def test_two_cases_of_one_id_are_refused() -> None:
    run = Logged((LoggedSample("a"), LoggedSample("a", target="another")))
    for content in (run.eval_log(), run.json_log()):
        with pytest.raises(InputError, match='two different cases are called "a"'):
            read(content)
