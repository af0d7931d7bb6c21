"""Results of promptfoo: each trap of its files, in files that it wrote and in files of the same shape."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from evalward.records.problem import InputError
from evalward.records.result import Status
from evalward.records.trace import Usage
from evalward.suites.external.formats.base import (
    ForeignFile,
    ForeignResults,
    ForeignTrial,
    Score,
    format_named,
    recognised,
)
from evalward.suites.external.formats.promptfoo import survey
from evalward.suites.external.results import Reading, read_results
from support.foreign.files import in_memory, stored
from support.foreign.promptfoo import (
    assertion_set,
    broken,
    component,
    document,
    judge_failed,
    lines,
    row,
    threw,
    tokens,
)

PASSED, FAILED, ERROR = Status.PASSED, Status.FAILED, Status.ERROR


def all_results(content: str | bytes | ForeignFile, name: str = "out/x.json") -> Sequence[ForeignResults]:
    file = content if isinstance(content, ForeignFile) else in_memory(content, name)
    assert recognised(file) == "promptfoo"
    return format_named("promptfoo").read([file])


def results(content: str | bytes | ForeignFile) -> ForeignResults:
    (found,) = all_results(content)
    return found


def trials(content: str | bytes | ForeignFile) -> list[ForeignTrial]:
    return [trial for found in all_results(content) for trial in found.trials]


def trial(*args: Any, **changed: Any) -> ForeignTrial:
    """The trial of one row."""
    (found,) = trials(document([row(*args, **changed)]))
    return found


def refusal(content: str | bytes) -> str:
    with pytest.raises(InputError) as caught:
        trials(content)
    assert len(caught.value.problems) == 1
    return str(caught.value)


# files that promptfoo wrote

SHAPES = {
    "plain": PASSED,
    "no-asserts": PASSED,
    "mode=unnamed": PASSED,
    "twin": PASSED,
    "provider throws": ERROR,
    "provider error": ERROR,
    "cached": PASSED,
    "object": PASSED,
    "judge good": PASSED,
    "judge bad": FAILED,
    "judge throws": ERROR,
    "judge error": ERROR,
    "judge rubbish": FAILED,  # another assertion failed, too
    "js throws": ERROR,
    "js syntax": ERROR,
    "py throws": ERROR,
    "weight zero": PASSED,
    "score two": PASSED,
    "score quarter": PASSED,
    "set": PASSED,
    "hostile \0 \x1b[31m \u202e <img src=x> | `x` ../../etc/passwd": PASSED,
    "mode=empty": PASSED,
    "two-values (mode=m1)": PASSED,
    "two-values (mode=m2)": PASSED,
}


def test_shapes_of_a_real_document() -> None:
    found = results(stored("promptfoo/shapes.json"))
    read = list(found.trials)
    assert {one.case: one.status for one in read} == SHAPES
    assert [one.number for one in read if one.case == "twin"] == [1, 2]
    assert {(one.suite, one.target) for one in read} == {("", "first")}
    assert (found.version, found.planned, found.made_at) == ("0.123.1", 26, "2026-11-22T22:22:03Z")
    assert [note.partition(": ")[2].partition(":")[0] for note in found.notes] == [
        "promptfoo counts 1 result that the file doesn't have",
        "1 answer came from promptfoo's cache",
        "1 result of tests without an assertion, which always pass.",
        "tests that are equal are read as trials of one case.",
    ]


def test_scores_and_tokens_of_a_real_document() -> None:
    found = {one.case: one for one in trials(stored("promptfoo/shapes.json"))}
    values = {name: {key: score.value for key, score in one.scores.items()} for name, one in found.items()}
    assert values["plain"] == {"score": 1.0, "name": 1.0}
    assert values["judge good"] == {"score": 0.8, "polite": 0.8}
    assert (values["score two"], values["weight zero"]) == ({"score": 2.0}, {"score": 0.0})
    assert values["score quarter"] == {"score": 0.25, "quarter": 0.25}
    assert values["js throws"] == {"score": None}
    assert found["plain"].usage == Usage(
        input_tokens=50,
        cache_read_tokens=40,
        cache_write_tokens=10,
        output_tokens=20,
        reasoning_tokens=5,
        cost_usd=0.001,
    )
    assert found["judge good"].judge_usage == Usage(input_tokens=300, output_tokens=30)
    assert found["plain"].judge_usage is None
    assert found["cached"].usage == Usage(input_tokens=0, output_tokens=0, cost_usd=0.0)
    assert found["plain"].category == "text"


def test_lines_of_the_same_run_also_have_the_scores_that_are_none() -> None:
    found = results(stored("promptfoo/shapes.jsonl"))
    read = {one.case: one for one in found.trials}
    assert {name: one.status for name, one in read.items()} == {**SHAPES, "score nan": PASSED}
    assert read["score nan"].scores == {"score": Score(value=None, passed=True)}
    assert (found.version, found.planned, found.made_at) == ("", None, None)
    whole = {one.case: one for one in trials(stored("promptfoo/shapes.json"))}
    assert {name: one.asked for name, one in read.items() if name in whole} == {
        name: one.asked for name, one in whole.items()
    }


def test_prompts_and_providers_of_a_real_document_are_kept_apart() -> None:
    read = trials(stored("promptfoo/arms.json"))
    assert {(one.suite, one.target) for one in read} == {
        ("short", "first"),
        ("short", "second"),
        ("long", "first"),
        ("long", "second"),
    }
    assert len({(one.suite, one.target, one.case, one.number) for one in read}) == len(read) == 16
    assert {(one.target, one.status) for one in read if one.case == "greets-ana"} == {
        ("first", PASSED),
        ("second", FAILED),
    }


def test_the_conversation_of_a_real_row() -> None:
    found = {one.case: one for one in trials(stored("promptfoo/shapes.json"))}
    make = found["plain"].trace
    trace = make() if make else None
    assert trace is not None
    assert [message.role for message in trace.messages] == ["user", "assistant", "assistant"]
    assert trace.messages[0].text == "Greet: usual"
    assert [(use.name, use.input) for use in trace.messages[1].tool_uses] == [
        ("bash", {"cmd": "wc -l notes.txt"}),
        ("look_up", {"who": "Ana"}),
    ]
    assert [call.commands for call in trace.tool_calls] == ["wc -l notes.txt"]
    assert trace.messages[2].text.startswith("Hello Ana <b>")
    assert trace.usage.input_tokens == 50


# statuses


def test_an_error_of_the_provider_is_an_error() -> None:
    error = "Error: connect ECONNREFUSED\n    at Agent.callApi (/home/runner/project/agent.js:6:42)"
    (found,) = trials(document([broken(error=error)]))
    assert (found.status, found.reason, found.message) == (ERROR, "provider_error", "Error: connect ECONNREFUSED")
    assert found.scores == {}
    assert found.usage == Usage()


def test_a_timeout_is_an_error() -> None:
    (found,) = trials(document([broken(error="Error: Evaluation timed out after 300ms: file://agent.js")]))
    assert (found.status, found.reason) == (ERROR, "timeout")


@pytest.mark.parametrize("kind", [threw(), judge_failed(), judge_failed("factuality")])
def test_an_assertion_that_broke_is_an_error(kind: dict[str, Any]) -> None:
    found = trial(checks=[component(), kind], success=False, error="something")
    assert (found.status, found.reason) == (ERROR, "scorer_error")
    assert [check.passed for check in found.checks] == [True, False]
    assert found.scores["score"].error == found.message
    assert "/home" not in found.message


def test_an_assertion_that_broke_beside_one_that_failed_is_a_failure() -> None:
    found = trial(checks=[component(passed=False), threw()], success=False)
    assert found.status is FAILED
    assert found.scores["score"].value is None


def test_a_graders_words_make_no_error_of_a_failure() -> None:
    said = component("llm-rubric", "is polite", passed=False, reason="Custom function threw error: no")
    assert trial(checks=[said], success=False).status is FAILED


@pytest.mark.parametrize(("threshold", "status"), [(0.5, ERROR), (0.7, FAILED)])
def test_with_a_threshold_an_assertion_that_broke_counts_as_much_as_it_weighs(threshold: float, status: Status) -> None:
    checks = [component(), component(passed=False), threw()]
    found = trial(checks=checks, success=False, case={"threshold": threshold})
    assert found.status is status


def test_a_set_of_assertions() -> None:
    found = trial(checks=assertion_set(0.5, component(), component(value="no", passed=False), passed=True))
    assert found.status is PASSED
    assert [(check.check, check.passed) for check in found.checks] == [
        ("assert-set", True),
        ("contains: 42", True),
        ("contains: no", False),
    ]


@pytest.mark.parametrize(
    ("parts", "threshold", "status"),
    [
        ([component(), threw()], None, ERROR),
        ([component(passed=False), threw()], None, FAILED),
        ([component(passed=False), threw()], 0.5, ERROR),
    ],
)
def test_a_set_that_broke(parts: list[dict[str, Any]], threshold: float | None, status: Status) -> None:
    found = trial(checks=assertion_set(threshold, *parts, passed=False), success=False)
    assert found.status is status


def test_success_decides_whatever_the_score() -> None:
    assert trial(score=0.25, namedScores={}).status is PASSED
    assert trial(score=2).scores["score"] == Score(value=2.0, passed=True)
    assert trial(checks=[component(weight=0)], score=0).checks[0].weight == 0.0


def test_a_row_that_says_neither_is_unjudged() -> None:
    assert trial(success=None).status is None


def test_named_scores() -> None:
    checks = [component(metric="length"), component(passed=False, metric="tone"), component(metric="tone")]
    found = trial(checks=checks, success=False, namedScores={"length": 1, "tone": 0.5, "derived": 0.3})
    assert found.scores["length"] == Score(value=1.0, passed=True, reason="Assertion passed")
    assert (found.scores["tone"].value, found.scores["tone"].passed) == (0.5, False)
    assert found.scores["derived"] == Score(value=0.3, passed=None)
    assert [check.check for check in found.checks] == ["length (contains)", "tone (contains)", "tone (contains)"]


def test_a_named_score_of_an_assertion_that_broke_is_unknown() -> None:
    checks = [component(metric="length"), {**threw(), "assertion": {"type": "javascript", "metric": "tone"}}]
    found = trial(checks=checks, success=False, namedScores={"length": 1, "tone": 0})
    assert found.scores["tone"].value is None
    assert found.scores["tone"].error
    assert found.scores["length"].value == 1.0


# names, numbers, arms


def test_repeats_are_numbered_by_test_index_and_not_by_place() -> None:
    read = trials(document([row(5), row(3), row(4), row(0, "other")]))
    assert [(one.case, one.number) for one in read] == [
        ("count-lines", 3),
        ("count-lines", 1),
        ("count-lines", 2),
        ("other", 1),
    ]


def test_names_of_tests_without_a_description() -> None:
    assert trial(description=None, variables={"b": 1, "a": "x"}).case == "a=x, b=1"
    assert trial(description=" ", variables={"a": "x"}).case == "a=x"
    assert trial(description="Row #3", variables={"a": "x"}).case == "a=x"
    long = trial(description=None, variables={"a": "word " * 50}).case
    assert long == f"a={'word ' * 11}wor… #4cacfb9d"
    assert trial(description=None, variables={"a": "two\nlines"}).case == "a=two lines… #0f7e71af"
    assert trial(description=None, variables={}).case == "test #d4b01128"


def test_a_description_of_several_tests_is_told_apart_by_their_variables() -> None:
    read = trials(document([row(0, variables={"q": "a"}), row(1, variables={"q": "b"}), row(2, "other")]))
    assert [one.case for one in read] == ["count-lines (q=a)", "count-lines (q=b)", "other"]


def test_two_different_tests_of_one_name_and_the_same_variables_are_refused() -> None:
    text = document([row(0), row(1, checks=[component(value="43")])])
    with pytest.raises(InputError, match="two different cases are called"):
        read_results(all_results(text), Reading("promptfoo"), "x.json")


def test_the_definition_is_the_input_side_alone() -> None:
    one = trial(case={"metadata": {"area": "text"}, "threshold": 0.5})
    other = trial(
        7,
        "another name",
        checks=[component(passed=False)],
        success=False,
        case={"metadata": {"area": "text"}, "threshold": 0.5, "providerOutput": "x"},
        response={"output": "no"},
        latencyMs=1,
        prompt=(0, "another prompt"),
        variables={"question": "How many lines?", "_conversation": ["earlier"], "sessionId": "f81d"},
    )
    assert one.asked == other.asked
    assert set(one.asked) == {"vars", "assert", "metadata", "threshold"}
    assert trial(variables={"question": "How many words?"}).asked != one.asked


def test_prompts_without_a_label_are_numbered() -> None:
    labels = ["Say {{x}}", "prompts/a.txt: Greet {{x}}", "Just a text", "short"]
    rows = [row(0, prompt=(index, label)) for index, label in enumerate(labels)]
    rows[2]["prompt"]["raw"] = "Just a text"
    assert [one.suite for one in trials(document(rows))] == ["prompt 1", "prompts/a.txt", "prompt 3", "short"]


def test_two_prompts_of_one_file_are_numbered() -> None:
    rows = [row(0, prompt=(index, f"prompts/a.txt: Number {index}")) for index in range(2)]
    assert [one.suite for one in trials(document(rows))] == ["prompt 1", "prompt 2"]


def test_providers_of_one_name_are_told_apart() -> None:
    rows = [row(0, provider=("openai:gpt-5.5", ""), prompt=(index, "{{question}}")) for index in range(3)]
    read = trials(document(rows))
    assert [(one.target, one.number) for one in read] == [
        ("openai:gpt-5.5", 1),
        ("openai:gpt-5.5 (2)", 1),
        ("openai:gpt-5.5 (3)", 1),
    ]


def test_a_provider_is_called_by_its_label_and_never_by_where_it_lies() -> None:
    assert trial(provider=("openai:gpt-5.5", "careful")).target == "careful"
    assert trial(provider=("file:///home/runner/project/agent.js", "")).target == "file://agent.js"
    assert trial(provider=("openai:gpt-5.5", "")).target == "openai:gpt-5.5"


def test_a_test_with_a_provider_of_its_own() -> None:
    read = trials(document([row(0), row(1, "other", provider=("openai:gpt-5.5", ""))]))
    assert [one.target for one in read] == ["scripted", "openai:gpt-5.5"]


@pytest.mark.parametrize(
    ("metadata", "category"),
    [
        ({"category": "a", "area": "b"}, "a"),
        ({"area": "b"}, "b"),
        ({"tags": ["t", "u"]}, "t"),
        ({"tags": "t"}, "t"),
        ({"pluginId": "harmful"}, "harmful"),
        ({"category": 3, "tags": []}, ""),
        ({}, ""),
    ],
)
def test_the_category(metadata: dict[str, Any], category: str) -> None:
    assert trial(case={"metadata": metadata}).category == category


# counts


def test_rows_that_are_missing_are_planned() -> None:
    found = results(document([row(0), row(1)], counted=4))
    assert found.planned == 4
    assert "promptfoo counts 2 results that the file doesn't have" in found.notes[0]


def test_rows_that_are_missing_are_planned_for_each_prompt_and_provider() -> None:
    rows = [row(test, prompt=(index, f"label {index}")) for test in range(2) for index in range(2)]
    found = all_results(document(rows, counted=6))
    assert [(one.planned, len(list(one.trials))) for one in found] == [(4, 2), (2, 2)]
    read = read_results(all_results(document(rows, counted=6)), Reading("promptfoo"), "x.json")
    assert [(run.suite, run.planned) for run in read.runs] == [("label 0", 4), ("label 1", 2)]


def test_a_whole_run_of_several_prompts_is_one() -> None:
    rows = [row(test, prompt=(index, f"label {index}")) for test in range(2) for index in range(2)]
    assert results(document(rows)).planned == 4


def test_tokens_that_a_provider_does_not_count_and_a_price_that_nobody_knows_are_unknown() -> None:
    assert trial(tokenUsage=tokens(0, 0), cost=0).usage == Usage()
    assert trial(tokenUsage=tokens(7, 2), cost=0).usage == Usage(input_tokens=7, output_tokens=2)
    assert trial(tokenUsage=tokens(judge=(30, 3))).judge_usage == Usage(input_tokens=30, output_tokens=3)
    assert trial(tokenUsage="no", cost="no").usage == Usage()


# conversations


def test_a_prompt_of_messages() -> None:
    chat = [
        {"role": "system", "content": "Be nice"},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "image_url"}]},
        {"role": "assistant", "content": "Hello"},
    ]
    one = row()
    one["prompt"]["raw"] = json.dumps(chat)
    (found,) = trials(document([one]))
    trace = found.trace() if found.trace else None
    assert trace is not None
    assert [(message.role, message.text) for message in trace.messages] == [
        ("user", "Be nice"),
        ("user", "Hi"),
        ("assistant", "Hello"),
        ("assistant", "The answer is 42."),
    ]


def test_tool_calls_with_results_and_those_that_are_the_answer() -> None:
    told = {
        "toolCalls": [{"id": "c1", "name": "Bash", "input": {"command": "ls"}, "output": "a.txt", "is_error": False}]
    }
    found = trial(response={"output": "one file", "metadata": told})
    trace = found.trace() if found.trace else None
    assert trace is not None
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool_result", "assistant"]
    assert [(call.commands, call.stdout, call.exit_code) for call in trace.tool_calls] == [("ls", "a.txt", None)]
    output = [{"id": "c", "type": "function", "function": {"name": "look_up", "arguments": '{"q": 1}'}}]
    found = trial(response={"output": output})
    trace = found.trace() if found.trace else None
    assert trace is not None
    assert [(use.name, use.input) for use in trace.messages[-1].tool_uses] == [("look_up", {"q": 1})]


def test_an_answer_that_is_no_text_is_json() -> None:
    found = trial(response={"output": {"a": [1]}})
    trace = found.trace() if found.trace else None
    assert trace is not None
    assert json.loads(trace.messages[-1].text) == {"a": [1]}


# what is refused


def test_no_test_at_all_is_refused() -> None:
    nothing = row(description=None, checks=[], variables={})
    assert "results of promptfoo have no test in them" in refusal(document([nothing]))
    assert "results of promptfoo have no test in them" in refusal(lines([nothing]))
    assert "results of promptfoo have no test in them" in refusal(document([]))


def test_other_versions_are_refused() -> None:
    text = document([row()]).replace('"version": 3', '"version": 2')
    assert "are of version 2, and only version 3 is known" in refusal(text)
    assert "no version given" in refusal('{"evalId": "x", "results": {"results": []}}')


def test_a_row_that_is_there_twice_is_refused() -> None:
    assert "two results of test 0 with prompt 0" in refusal(document([row(), row()]))


def test_two_files_of_one_run_are_refused() -> None:
    files = [in_memory(document([row()]), "out/x.json"), in_memory(lines([row()]), "out/x.jsonl")]
    with pytest.raises(InputError, match=r"out/x.jsonl: it holds results that out/x.json has, too"):
        format_named("promptfoo").read(files)


def test_several_runs_are_several() -> None:
    one, other = row(), row()
    other["id"] = "another"
    files = [in_memory(document([one]), "a.json"), in_memory(document([other]), "b.json")]
    assert len(format_named("promptfoo").read(files)) == 2


def test_more_rows_than_can_be_held_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "MOST_ROWS", 2)
    assert "it has more than 2 results" in refusal(document([row(0), row(1), row(2)]))


@pytest.mark.parametrize("item", ["1", "null", '{"success": true}', '{"testCase": []}'])
def test_what_is_no_row_is_refused(item: str) -> None:
    text = document([row()]).replace('"results": [', f'"results": [{item}, ', 1)
    assert "one of its results is not a test's" in refusal(text)


def test_a_document_that_is_cut_gives_nothing() -> None:
    text = document([row(0), row(1)])
    assert "it ends in the middle" in refusal(text[: len(text) // 2])
    assert "it ends in the middle" in refusal(text[:-2])


def test_lines_that_are_cut_are_refused() -> None:
    text = lines([row(0), row(1)])
    assert "line 2: " in refusal(text[:-40])


# what is recognised


def test_other_files_are_not_recognised() -> None:
    form = format_named("promptfoo")
    for text in ("", "[]", '{"results": []}', '{"testCases": []}', "<testsuite/>", '{"note": "evalId results"}'):
        file = in_memory(text)
        assert not form.recognises(file, file.head())
    assert form.belongs("out/a.json")
    assert form.belongs("out/a.JSONL")
    assert not form.belongs("out/a.xml")
