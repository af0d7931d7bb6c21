"""The JSON of vitest, vitest-evals and jest."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from evalward.records.problem import InputError
from evalward.records.result import Status
from evalward.records.trace import Message, Text, ToolCall, ToolResult, ToolUse, Usage
from evalward.suites.external.formats.base import (
    ForeignFile,
    ForeignResults,
    ForeignTrial,
    Score,
    format_named,
    recognised,
)
from support.foreign.files import in_memory, stored
from support.foreign.vitest import answered, fell, jest_json, jest_row, judged, row, spec_file, vitest_json

PASSED, FAILED, ERROR, SKIPPED = Status.PASSED, Status.FAILED, Status.ERROR, Status.SKIPPED
THREW = "Error: judge down\n    at Object.assess (/home/runner/evals/agent.ts:45:59)\n    at Array.map (<anonymous>)"
ASSERTED = "AssertionError: expected 1 to be 2\n    at /home/runner/evals/a.ts:1:2"


def read(content: str | ForeignFile) -> ForeignResults:
    file = content if isinstance(content, ForeignFile) else in_memory(content, "out/report.json")
    (results,) = format_named("vitest-evals").read([file])
    return results


def trials(content: str | ForeignFile) -> Sequence[ForeignTrial]:
    return list(read(content).trials)


def one(test: Any) -> ForeignTrial:
    (trial, *_) = trials(vitest_json(spec_file(test, row("of another file"))))
    return trial


def endings(content: str | ForeignFile) -> list[tuple[str, Status | None, str | None]]:
    return [(trial.case, trial.status, trial.reason) for trial in trials(content)]


def test_a_test_is_named_to_vitest_by_its_full_name() -> None:
    first, *_ = trials(stored("vitest/vitest.json"))
    assert (first.case, first.again) == ("shell > 'plain'", "shell 'plain'")
    first, *_ = trials(stored("vitest/jest.json"))
    assert first.again == first.case.replace(" > ", " ")


def test_real_file_of_vitest_and_vitest_evals() -> None:
    file = stored("vitest/vitest.json")
    assert recognised(file) == "vitest-evals"
    assert endings(file) == [
        ("shell > 'plain'", PASSED, None),
        ("shell > 'plain'", PASSED, None),
        ("shell > 'wrong'", FAILED, "failed"),
        ("shell > 'down'", ERROR, "provider_error"),
        ("shell > 'slow'", ERROR, "timeout"),
        ("shell > 'judge'", ERROR, "error"),
        ("shell > 'nan'", None, None),
        ("shell > 'null'", FAILED, "failed"),
        ("shell > 'retried'", PASSED, None),
        ("shell > skipped case", SKIPPED, "skipped"),
        ("shell > todo case", SKIPPED, "skipped"),
        ("two judges > both", PASSED, None),
        ("two judges > asserts", FAILED, "failed"),
        ("one", ERROR, "hook"),
        ("two", ERROR, "hook"),
        ("at the top", PASSED, None),
        ("outer > inner > deep > wrong", FAILED, "failed"),
        ("throws", ERROR, "error"),
        ("flaky", PASSED, None),
        ("expected to fail", PASSED, None),
        ("snapshot", ERROR, "error"),
        ("hook > one", SKIPPED, "skipped"),
        ("hook > two", SKIPPED, "skipped"),
        ("hook > three", SKIPPED, "skipped"),
        ("hook after > one", PASSED, None),
        ("bad.eval.ts", ERROR, "not_loaded"),
    ]
    results = read(file)
    assert results.notes == [
        "bad.eval.ts couldn't be loaded: its tests are missing",
        "a hook of hook.eval.ts failed: the tests that it left out are errors",
        "1 test passed or failed after retries: the last attempt counts",
    ]
    assert (results.planned, results.stopped) == (26, None)
    assert {trial.target for trial in results.trials} == {"scripted/one"}


def test_real_file_of_a_run_that_ended_early() -> None:
    results = read(stored("vitest/vitest-bail.json"))
    assert results.stopped == "the run ended early (--bail): 7 tests didn't run"
    assert results.notes == ["1 file of the report without a test"]
    assert [trial.status for trial in results.trials] == [PASSED, FAILED] + [SKIPPED] * 8


def test_real_file_without_a_test_that_ran_is_refused() -> None:
    with pytest.raises(InputError, match="without a test that ran: all 13 are skipped"):
        read(stored("vitest/vitest-none.json"))


@pytest.mark.parametrize("name", ["jest", "jest-colour"])
def test_real_files_of_jest(name: str) -> None:
    file = stored(f"vitest/{name}.json")
    assert recognised(file) == "vitest-evals"
    assert endings(file)[:10] == [
        ("at the top", PASSED, None),
        ("shell > plain", PASSED, None),
        ("shell > plain", PASSED, None),
        ("shell > wrong", FAILED, "failed"),
        ("shell > down", ERROR, "error"),
        ("shell > slow", ERROR, "timeout"),
        ("shell > skipped", SKIPPED, "skipped"),
        ("shell > later", SKIPPED, "skipped"),
        ("shell > expected to fail", PASSED, None),
        ("control \x1b[31m \x00 <b>", FAILED, "failed"),
    ]
    assert endings(file)[-1] == ("bad.test.js", ERROR, "not_loaded")
    assert trials(file)[3].message.startswith(
        "Error: expect(received).toBe(expected) // Object.is equality\n\nExpected"
    )
    assert not any("\n    at " in trial.message for trial in trials(file))


def test_a_hook_of_jest_fails_its_tests() -> None:
    found = {case: (status, reason) for case, status, reason in endings(stored("vitest/jest.json"))}
    assert found["hook > one"] == (ERROR, "error")
    assert found["hook > two"] == (SKIPPED, "skipped")
    assert read(stored("vitest/jest.json")).notes[1:] == [
        "1 test passed or failed after retries: the last attempt counts"
    ]


@pytest.mark.parametrize(
    ("messages", "meta", "status", "reason"),
    [
        (["AssertionError: Score: 0.50 below"], judged({"a": 0.5}, average=0.5, below=True), FAILED, "failed"),
        (["Error: of ours"], judged({"a": 0.5}, average=0.5, below=True), FAILED, "failed"),
        ([ASSERTED], {}, FAILED, "failed"),
        ([ASSERTED], judged({"a": 1}, average=1), FAILED, "failed"),
        (["Error: expect(received).toBe(expected)"], {}, FAILED, "failed"),
        (["\x1b[31mError: \x1b[2mexpect(\x1b[22m"], {}, FAILED, "failed"),
        (["Error: provider down: 503"], fell("provider down: 503"), ERROR, "provider_error"),
        ([THREW], answered(), ERROR, "error"),
        (["Error: STACK_TRACE_ERROR\n    at task (x)"], {}, ERROR, "timeout"),
        (["TypeError: AssertionError: no"], {}, ERROR, "error"),
        ([], {}, ERROR, "error"),
    ],
)
def test_what_failed_and_what_broke(messages: list[str], meta: Any, status: Status, reason: str) -> None:
    trial = one(row("t", "failed", *messages, meta=meta))
    assert (trial.status, trial.reason) == (status, reason)
    assert "\n    at " not in trial.message


def test_a_judge_without_a_number_passes_under_every_threshold_and_judged_nothing() -> None:
    trial = one(row("t", meta=judged({"Right": None})))
    assert (trial.status, trial.scores) == (None, {"Right": Score(reason="why Right")})
    counted_as_zero = one(row("t", "failed", ASSERTED, meta=judged({"Right": None}, average=0.0, below=True)))
    assert (counted_as_zero.status, counted_as_zero.scores["Right"].value) == (FAILED, None)
    assert one(row("t", meta=judged({}))).status is PASSED


def test_scores_by_name_with_their_average() -> None:
    trial = one(row("t", meta=judged({"Right": 1, "Polite": 0.5}, average=0.75)))
    assert trial.scores == {
        "Right": Score(1.0, reason="why Right"),
        "Polite": Score(0.5, reason="why Polite"),
        "score": Score(0.75),
    }
    twice = judged({"A": 1}, average=0.5)
    twice["eval"]["scores"] += [{"name": "A", "score": 0}, {"score": 0.25}, {"name": "A", "score": "high"}]
    assert {name: score.value for name, score in one(row("t", meta=twice)).scores.items()} == {
        "A": 1.0,
        "A 2": 0.0,
        "judge 3": 0.25,
        "A 4": None,
        "score": 0.5,
    }


def test_errors_of_the_run_on_a_pass_are_no_error() -> None:
    assert one(row("t", meta=judged({"a": 1}, average=1, errors=["slow"]))).status is PASSED


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({}, Usage(input_tokens=100, output_tokens=20)),
        ({"reasoningTokens": 5}, Usage(input_tokens=100, output_tokens=20, reasoning_tokens=5)),
        ({"reasoningTokens": 5, "totalTokens": 125}, Usage(input_tokens=100, output_tokens=25, reasoning_tokens=5)),
        ({"inputTokens": None, "outputTokens": "many"}, Usage()),
        ({"inputTokens": -1, "outputTokens": 1.5}, Usage()),
        ({"inputTokens": True, "outputTokens": 1e30}, Usage()),
    ],
)
def test_usage(usage: dict[str, Any], expected: Usage) -> None:
    assert one(row("t", meta=answered(**usage))).usage == expected


def test_equal_titles_are_trials_and_keep_their_quotes() -> None:
    found = trials(vitest_json(spec_file(row("'a'"), row("'a'", "failed", ASSERTED), row("b"))))
    assert [(trial.case, trial.number) for trial in found] == [("shell > 'a'", None)] * 2 + [("shell > b", None)]


def test_a_test_is_tried_again_by_its_titles_joined_by_blanks() -> None:
    trial = one(row("'a' > b", within=["outer", "inner"]))
    assert (trial.case, trial.again) == ("outer > inner > 'a' > b", "outer inner 'a' > b")


def test_equal_titles_of_two_files_are_two_cases() -> None:
    files = [spec_file(row("a"), row("b"), name="x/one.ts"), spec_file(row("a"), name="y/two.ts")]
    found = trials(vitest_json(*files))
    assert [(trial.case, trial.asked) for trial in found] == [
        ("one.ts > shell > a", {"test": ["one.ts", "shell", "a"]}),
        ("shell > b", {"test": ["shell", "b"]}),
        ("two.ts > shell > a", {"test": ["two.ts", "shell", "a"]}),
    ]
    same = [spec_file(row("a"), name=f"{folder}/one.ts") for folder in "xy"]
    assert [trial.case for trial in trials(vitest_json(*same))] == ["x/one.ts > shell > a", "y/one.ts > shell > a"]


def test_one_file_in_two_projects_gives_trials() -> None:
    assert [trial.case for trial in trials(vitest_json(spec_file(row("a")), spec_file(row("a"))))] == ["shell > a"] * 2


def test_what_broke_without_a_model_belongs_to_the_one_that_the_others_name() -> None:
    named, broken = row("a", meta=answered()), row("b", "failed", "Error: down", meta=fell("down"))
    assert [trial.target for trial in trials(vitest_json(spec_file(named, broken)))] == ["scripted/one"] * 2
    other = row("c", meta=answered(model="two"))
    assert [trial.target for trial in trials(vitest_json(spec_file(named, broken, other)))] == [
        "scripted/one",
        "",
        "scripted/two",
    ]


def test_the_definition_is_the_same_whether_the_test_answered_or_broke() -> None:
    passed, broken = one(row("a", meta=judged({"x": 1}, average=1))), one(row("a", "failed", THREW, duration=9))
    assert passed.asked == broken.asked == {"test": ["shell", "a"]}
    assert (passed.duration_ms, broken.duration_ms, one(row("a", "skipped")).duration_ms) == (1, 9, None)


def test_the_category_is_the_outermost_suite_or_the_file() -> None:
    assert one(row("a", within=["outer", "inner"])).category == "outer"
    assert one(row("a", within=[])).category == "shell.eval.ts"


@pytest.mark.parametrize(("rows", "expected"), [([row("a", "skipped"), row("b", "todo")], [ERROR, SKIPPED])])
def test_a_hook_that_broke_left_its_tests_out(rows: Sequence[Any], expected: list[Status]) -> None:
    ran = row("ran", within=["other"])
    for message in ("", "no database"):
        file = spec_file(*rows, ran, status="failed", message=message)
        assert [trial.status for trial in trials(vitest_json(file))] == [*expected, PASSED]
    assert trials(vitest_json(file))[0].message == "no database"


def test_a_skip_beside_tests_that_ran_stays_a_skip() -> None:
    hook = spec_file(row("a", "skipped"), row("ran"), status="failed")
    assert [trial.status for trial in trials(vitest_json(hook))] == [SKIPPED, PASSED]
    failed = spec_file(row("a", "skipped"), row("ran", "failed", ASSERTED, within=["other"]))
    assert [trial.status for trial in trials(vitest_json(failed))] == [SKIPPED, FAILED]
    jest = jest_json(spec_file(jest_row("a", "pending"), jest_row("b", within=["x"]), status="failed", message="m"))
    assert [trial.status for trial in trials(jest)] == [SKIPPED, PASSED]


def test_files_that_cannot_be_loaded_are_errors_and_missing() -> None:
    bad = spec_file(name="bad.ts", status="failed", message="\x1b[31mno module\x1b[39m\n    at /home/runner/x.ts:1:1")
    results = read(vitest_json(bad, spec_file(row("a"))))
    (_, trial) = results.trials
    assert (trial.case, trial.status, trial.message) == ("bad.ts", ERROR, "no module")
    assert results.planned == 2


def test_an_interrupted_run_of_jest_is_not_whole() -> None:
    results = read(jest_json(spec_file(jest_row("a")), interrupted=True))
    assert results.stopped == "the run was interrupted"
    assert read(jest_json(spec_file(jest_row("a"), jest_row("b", "pending")))).stopped is None


def test_retries_are_noted() -> None:
    results = read(vitest_json(spec_file(row("a", "passed", "Error: not yet"), row("b"))))
    assert len(results.notes) == 1
    assert [trial.status for trial in results.trials] == [PASSED, PASSED]
    assert len(read(jest_json(spec_file(jest_row("a", invocations=2)))).notes) == 1


def test_a_status_that_nobody_knows_is_an_error() -> None:
    trial = one(row("a", "queued"))
    assert (trial.status, trial.reason, trial.message) == (ERROR, "unknown_status", "its status is 'queued'")


def test_tests_that_are_missing_are_seen_in_the_plan() -> None:
    assert read(vitest_json(spec_file(row("a")), numTotalTests=4)).planned == 4
    assert read(vitest_json(spec_file(row("a")), numTotalTests="many")).planned is None


def test_the_conversation() -> None:
    events = [
        {"type": "message", "role": "system", "content": "Be brief."},
        {"type": "message", "role": "user", "content": "How many?"},
        {"type": "tool_call", "id": "c0", "name": "bash", "arguments": {"cmd": "wc -l < notes.txt"}},
        {"type": "tool_call", "id": "c1", "name": "weather", "arguments": {"city": "Oslo"}},
        {"type": "tool_result", "toolCallId": "c0", "name": "bash", "content": "42"},
        {"type": "tool_result", "toolCallId": "c1", "content": {"t": 3}, "error": {"message": "no net"}},
        {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "42."}]},
        {"type": "thought"},
        "rubbish",
    ]
    made = one(row("a", meta=answered(events))).trace
    assert made is not None
    trace = made()
    assert trace is not None
    assert trace.messages == [
        Message(role="user", content=[Text(text="How many?")]),
        Message(
            role="assistant",
            content=[
                ToolUse(id="c0", name="bash", input={"cmd": "wc -l < notes.txt"}),
                ToolUse(id="c1", name="weather", input={"city": "Oslo"}),
            ],
        ),
        Message(
            role="tool_result",
            content=[
                ToolResult(tool_use_id="c0", content="42"),
                ToolResult(tool_use_id="c1", content='{"message": "no net"}', is_error=True),
            ],
        ),
        Message(role="assistant", content=[Text(text='[{"type": "text", "text": "42."}]')]),
    ]
    assert trace.tool_calls == [ToolCall(commands="wc -l < notes.txt", stdout="42", exit_code=None)]
    assert trace.natural_stop
    assert one(row("a")).trace is None
    no_message = one(row("a", meta=answered([{"type": "thought"}]))).trace
    assert no_message is not None
    assert no_message() is None


@pytest.mark.parametrize("head", ['{"numTotalTestSuites":2,', '\ufeff {\n "numFailedTestSuites": 0'])
def test_recognised(head: str) -> None:
    assert format_named("vitest-evals").recognises(in_memory(head), head.encode())


@pytest.mark.parametrize("head", ["", "[]", '{"testResults":[]}', '{"a":"{\\"numTotalTestSuites\\":1"}', "{"])
def test_not_recognised(head: str) -> None:
    assert not format_named("vitest-evals").recognises(in_memory(head), head.encode())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (vitest_json(), "without a test that ran"),
        (vitest_json(spec_file(row("a", "skipped"), row("b", "todo"))), "all 2 are skipped"),
        (vitest_json(spec_file(row("a")))[:-40], "cut off"),
        (json.dumps({"numTotalTestSuites": 1}), "no testResults"),
        (vitest_json(spec_file(row("a"))).replace('"testResults"', '"testResults": [], "testResults"'), "twice"),
        (json.dumps({"numTotalTestSuites": 1, "testResults": [{"name": "a"}]}), "no assertionResults"),
        (json.dumps({"numTotalTestSuites": 1, "testResults": [{"assertionResults": [1]}]}), "not an object"),
        (json.dumps({"numTotalTestSuites": 1, "testResults": {}}), "is missing"),
        ("[]", "is missing"),
    ],
)
def test_refused_in_one_sentence(content: str, words: str) -> None:
    with pytest.raises(InputError, match=r"out/report\.json: ") as refused:
        trials(content)
    (problem,) = refused.value.problems
    assert words in str(problem)


def test_one_of_several_files_may_have_nothing_that_ran() -> None:
    files = [in_memory(vitest_json(spec_file(row("a", "skipped")))), in_memory(vitest_json(spec_file(row("a"))))]
    found = [[trial.status for trial in results.trials] for results in format_named("vitest-evals").read(files)]
    assert found == [[SKIPPED], [PASSED]]
