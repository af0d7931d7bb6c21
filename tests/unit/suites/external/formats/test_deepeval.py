"""Test runs of deepeval: each trap of its files, in files that it wrote and in files of the same shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from evalward.records.problem import InputError
from evalward.records.result import Status
from evalward.records.trace import Usage
from evalward.suites.external.formats import deepeval
from evalward.suites.external.formats.base import (
    ForeignFile,
    ForeignResults,
    ForeignTrial,
    Score,
    format_named,
    recognised,
)
from evalward.suites.external.results import Reading, read_results
from support.foreign.deepeval import case, metric, run_text, talk
from support.foreign.files import in_memory, stored

PASSED, FAILED, ERROR = Status.PASSED, Status.FAILED, Status.ERROR
BROKE = metric("Judge", None, error="judge unavailable: HTTP 500")


def results(content: str | ForeignFile) -> ForeignResults:
    file = content if isinstance(content, ForeignFile) else in_memory(content, "out/test_run.json")
    assert recognised(file) == "deepeval"
    (found,) = format_named("deepeval").read([file])
    return found


def trials(content: str | ForeignFile) -> list[ForeignTrial]:
    return list(results(content).trials)


def trial(*metrics: Mapping[str, Any], **changed: Any) -> ForeignTrial:
    (found,) = trials(run_text([case("test_shell[a]", *metrics, **changed)]))
    return found


def names(*found: str, **changed: Any) -> list[tuple[str, int | None]]:
    return [(one.case, one.number) for one in trials(run_text([case(name, **changed) for name in found]))]


def refusal(content: str) -> str:
    with pytest.raises(InputError) as caught:
        trials(content)
    assert len(caught.value.problems) == 1
    return str(caught.value)


# files that deepeval wrote

KINDS = {
    "good": PASSED,
    "bad": FAILED,
    "flaky-bad": PASSED,
    "broken": ERROR,
    "broken-and-bad": FAILED,
    "flaky-broken": PASSED,
    "nan": ERROR,
    "a-1-b": PASSED,
}


@pytest.mark.parametrize("name", ["shapes", "errors-not-ignored", "latest_test_run"])
def test_every_kind_of_case_of_a_real_run(name: str) -> None:
    found = trials(stored(f"deepeval/{name}.json"))
    whole = {f"test_kind[{kind}]": status for kind, status in KINDS.items()} | {"test_talk": PASSED}
    assert [(one.case, one.number, one.status) for one in found] == [
        (case, number, status) for case, status in whole.items() for number in (1, 2)
    ]


def test_a_case_of_a_real_run() -> None:
    found = trials(stored("deepeval/shapes.json"))[0]
    assert found.asked == {
        "input": "How many lines? (good)",
        "expectedOutput": "42",
        "context": ["notes"],
        "expectedTools": [{"name": "bash", "type": "FUNCTION"}],
        "metadata": {"area": "tools"},
    }
    assert (found.usage, found.duration_ms) == (Usage(cost_usd=0.0002), 500)
    assert (found.category, found.target, found.suite, found.again) == ("tools", "", "", "test_kind[good")
    assert found.scores == {"Contains": Score(value=1.0, passed=True, reason="looked for '42'")}
    trace = found.trace() if found.trace else None
    assert trace is not None
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool_result", "assistant"]
    assert [(call.commands, call.stdout) for call in trace.tool_calls] == [("wc -l notes.txt", "42")]
    assert trace.messages[-1].text == "There are 42."


def test_a_conversation_of_a_real_run() -> None:
    found = trials(stored("deepeval/shapes.json"))[-1]
    assert found.asked == {"scenario": "A greeting", "expectedOutcome": "42", "userDescription": "Ana"}
    trace = found.trace() if found.trace else None
    assert trace is not None
    assert [(message.role, message.text) for message in trace.messages] == [
        ("user", "Hello"),
        ("assistant", "Hi, I am 42."),
    ]


def test_cases_without_a_name_of_a_real_run() -> None:
    found = trials(stored("deepeval/unnamed.json"))
    assert [(one.case, one.number, one.status) for one in found] == [
        ("Question 0", None, PASSED),
        ("Question 1", None, PASSED),
        ("Question 2", None, PASSED),
        ("named", None, FAILED),
    ]


# statuses


def test_a_metric_that_broke_is_an_error_also_where_its_words_are_missing() -> None:
    found = trial(metric(), BROKE)
    assert (found.status, found.reason, found.message) == (ERROR, "scorer_error", "Judge: judge unavailable: HTTP 500")
    assert found.scores["Judge"] == Score(error="judge unavailable: HTTP 500")
    assert [(check.passed, check.detail) for check in found.checks] == [
        (True, "Contains gave 1.0"),
        (False, "error: judge unavailable: HTTP 500"),
    ]
    assert trial(metric(), metric("Judge", None)).status is ERROR
    assert trial(metric("Judge", 1.0, error="it gave rubbish")).status is ERROR


def test_a_metric_that_really_failed_is_believed_beside_one_that_broke() -> None:
    found = trial(metric(score=0.0), BROKE)
    assert (found.status, found.message) == (FAILED, "Contains: Contains gave 0.0")


def test_a_flaky_metric_never_decides() -> None:
    found = trial(metric(), metric("Experimental", 0.0, flaky=True))
    assert found.status is PASSED
    assert not found.scores["Experimental"].decides
    assert found.checks[1].weight == 0.0
    assert trial(metric(), metric("Experimental", None, flaky=True)).status is PASSED
    assert trial(metric(score=0.0), metric("Experimental", 1.0, flaky=True)).status is FAILED


def test_a_case_of_no_metric_is_unjudged() -> None:
    assert trial(metricsData=[]).status is None
    assert trial(metricsData=None, success=None).status is None


def test_success_decides_where_no_metric_does() -> None:
    assert trial(metric(flaky=True), success=False).status is FAILED
    assert trial(metric(flaky=True), success=True).status is PASSED


def test_two_metrics_of_one_name() -> None:
    found = trial(metric("Correct"), metric("Correct", 0.0), metric("Correct", 0.5))
    assert {name: score.value for name, score in found.scores.items()} == {
        "Correct": 1.0,
        "Correct (2)": 0.0,
        "Correct (3)": 0.5,
    }


def test_what_judges_used_stands_apart() -> None:
    costly = metric(inputTokenCount=100, outputTokenCount=10, evaluationCost=0.01)
    found = trial(costly, costly, metric(evaluationCost=0))
    assert found.judge_usage == Usage(input_tokens=200, output_tokens=20, cost_usd=0.02)
    assert trial().judge_usage is None


def test_tokens_are_those_that_the_case_tells() -> None:
    found = trial(inputTokenCount=7, outputTokenCount=3, tokenCost=None, completionTime=None)
    assert found.usage == Usage(input_tokens=7, output_tokens=3)
    assert found.duration_ms is None


# names


def test_repeats_do_not_share_their_name() -> None:
    found = names("test_a[x-1-3]", "test_a[x-2-3]", "test_a[x-3-3]", "test_b[1-3]", "test_b[2-3]")
    assert found == [("test_a[x]", 1), ("test_a[x]", 2), ("test_a[x]", 3), ("test_b", 1), ("test_b", 2)]


def test_a_date_is_no_repeat() -> None:
    days = ["test_a[2026-11-22]", "test_a[2026-12-22]"]
    found = trials(run_text([case(day, input=f"What happened on {day}?") for day in days]))
    assert [(one.case, one.number) for one in found] == [(day, None) for day in days]


def test_dates_that_are_repeated() -> None:
    assert names("test_a[2026-11-22-1-2]", "test_a[2026-11-22-2-2]") == [
        ("test_a[2026-11-22]", 1),
        ("test_a[2026-11-22]", 2),
    ]


def test_a_gap_in_the_numbers_is_a_trial_that_is_missing() -> None:
    found = results(run_text([case("test_a[x-1-3]"), case("test_a[x-3-3]"), case("test_b[2-3]"), case("test_c")]))
    assert found.planned == 7
    assert list(found.notes) == [
        "3 trials left no case in deepeval's file, as number 2 of test_a[x]: a task that raises leaves none"
    ]
    assert [(one.case, one.number) for one in found.trials] == [
        ("test_a[x]", 1),
        ("test_a[x]", 3),
        ("test_b", 2),
        ("test_c", None),
    ]


def test_a_whole_run_has_as_many_trials_as_planned() -> None:
    found = results(run_text([case("test_a[x-1-2]"), case("test_a[x-2-2]")], [talk()]))
    assert (found.planned, list(found.notes)) == (3, [])


def test_cases_without_a_name_are_called_by_what_they_ask() -> None:
    long = "word " * 40
    inputs = ["short", "short", long, ""]
    found = trials(run_text([case(f"test_case_{place}", input=words) for place, words in enumerate(inputs)]))
    assert [one.case for one in found] == ["short", "short", f"{'word ' * 11}word… #c53599f8", "case"]
    turned = talk("conversational_test_case_0", scenario=None)
    assert [one.case for one in trials(run_text([], [turned]))] == ["Hello"]


def test_cases_without_a_name_that_ask_different_things_in_the_same_words() -> None:
    found = trials(run_text([case("test_case_0"), case("test_case_1", expectedOutput="43")]))
    assert len({one.case for one in found}) == 2
    assert all(one.case.startswith("How many lines has notes.txt? #") for one in found)


def test_two_different_cases_of_one_name_are_refused() -> None:
    text = run_text([case("test_a"), case("test_a", input="another question")])
    with pytest.raises(InputError, match="two different cases are called"):
        read_results([results(text)], Reading("deepeval"), "x.json")


def test_the_definition_is_the_input_side_alone() -> None:
    other = trial(metric(score=0.0), actualOutput="no", toolsCalled=[], retrievalContext=["x"], completionTime=9)
    assert trial().asked == other.asked
    assert trial(expectedOutput="43").asked != other.asked


def test_thresholds_are_the_subjects() -> None:
    one, same = run_text([case("a", metric())]), run_text([case("a", metric(score=0.0)), case("b")])
    assert results(one).subject == results(same).subject
    assert results(one).subject != results(run_text([case("a", metric(threshold=0.5))])).subject


def test_the_model_is_the_target_where_hyperparameters_tell_it() -> None:
    (found,) = trials(run_text([case()], hyperparameters={"model": "gpt-5.5", "prompt template": "x"}))
    assert found.target == "gpt-5.5"


# what is refused


def test_no_case_at_all_is_refused() -> None:
    assert "a test run of deepeval without a case" in refusal(run_text([]))
    assert "a test run of deepeval without a case" in refusal(run_text([], wrapped=True))


@pytest.mark.parametrize("item", [None, 1, {"name": ""}, {"name": 3}, {"input": "x"}])
def test_what_is_no_case_is_refused(item: Any) -> None:
    assert "one of its cases has no name" in refusal(run_text([case(), item]))


def test_more_cases_than_can_be_held_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deepeval, "MOST_CASES", 1)
    assert "it has more than 1 cases" in refusal(run_text([case()], [talk()]))


def test_a_run_that_is_cut_gives_nothing() -> None:
    text = run_text([case("a"), case("b")])
    assert "it ends in the middle" in refusal(text[: len(text) // 2])
    assert "it ends in the middle" in refusal(text[:-1])


# what is recognised


def test_other_files_are_not_recognised() -> None:
    form = format_named("deepeval")
    for text in ("", "[]", '{"testCases": []}', '{"testRunData": {}}', '{"note": "testCases"}', "<testsuite/>"):
        file = in_memory(text)
        assert not form.recognises(file, file.head())


def test_of_a_folder_a_run_is_read_once() -> None:
    form = format_named("deepeval")
    assert form.belongs(".deepeval/.latest_run_full.json")
    assert form.belongs("out/test_run_20261122_224023.json")
    assert not form.belongs(".deepeval/.latest_test_run.json")
    assert not form.belongs("out/.test_run.lock")


def test_a_run_of_conversations_alone() -> None:
    assert [one.case for one in trials(run_text([], [talk("a"), talk("b")], wrapped=True))] == ["a", "b"]
