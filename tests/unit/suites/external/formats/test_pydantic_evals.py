"""Reports of pydantic-evals."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from evalward.records.problem import InputError
from evalward.records.result import CheckResult, Status
from evalward.records.trace import Usage
from evalward.suites.external.formats.base import (
    ForeignFile,
    ForeignResults,
    ForeignTrial,
    Score,
    format_named,
    recognised,
)
from support.foreign.files import in_memory, stored
from support.foreign.pydantic_evals import answer, broke, raised, report_json

PASSED, FAILED, ERROR = Status.PASSED, Status.FAILED, Status.ERROR


def read(content: str | ForeignFile) -> ForeignResults:
    file = content if isinstance(content, ForeignFile) else in_memory(content, "out/report.json")
    (results,) = format_named("pydantic-evals").read([file])
    return results


def trials(content: str | ForeignFile) -> Sequence[ForeignTrial]:
    return list(read(content).trials)


def one(case: Any) -> ForeignTrial:
    (trial,) = trials(report_json([case]))
    return trial


def test_real_file() -> None:
    file = stored("pydantic-evals/once.json")
    assert recognised(file) == "pydantic-evals"
    assert [(trial.case, trial.number, trial.status) for trial in trials(file)] == [
        ("plain", None, PASSED),
        ("wrong", None, FAILED),
        ("once", None, PASSED),
        ("judge", None, ERROR),
        ("judge and wrong", None, FAILED),
        ("labels only", None, None),
        ("nothing", None, None),
        ("nan", None, ERROR),
        ("tail [1/3]", None, PASSED),
        ("Case 11", None, PASSED),
        ("down", None, ERROR),
    ]
    plain = trials(file)[0]
    assert (plain.category, plain.target, plain.suite) == ("easy", "agent", "shell")
    assert plain.usage == Usage(input_tokens=100, output_tokens=20, cost_usd=0.0002)
    assert read(file).planned == 11


def test_real_file_of_repeats() -> None:
    found = trials(stored("pydantic-evals/twice.json"))
    assert [(trial.case, trial.number) for trial in found[4:5]] == [("once", 1)]
    assert {(trial.case, trial.number) for trial in found} == {
        (case, number)
        for case in (
            *("plain", "wrong", "once", "judge", "judge and wrong", "labels only", "nothing", "nan"),
            *("tail [1/3]", "Case 11", "down"),
        )
        for number in (1, 2)
    }
    assert [trial.status for trial in found if trial.case == "once"] == [PASSED, ERROR]
    assert read(stored("pydantic-evals/twice.json")).planned == 22


def test_dataset_and_task_are_suite_and_target() -> None:
    trial = one(answer("x", {"right": True}))
    assert (trial.suite, trial.target, trial.case) == ("shell", "agent", "x")
    (nameless,) = trials(report_json([answer("x", {"right": True})], dataset_name=None))
    assert nameless.suite == ""


@pytest.mark.parametrize(
    ("case", "status", "reason", "message"),
    [
        (answer("x", {"a": True, "b": True}), PASSED, None, ""),
        (answer("x", {"a": True, "b": False}), FAILED, "failed", "b: why b"),
        (answer("x", {"a": True}, failures=[broke("J")]), ERROR, "scorer_error", "RuntimeError: judge down"),
        (answer("x", {}, failures=[broke("J")]), ERROR, "scorer_error", "RuntimeError: judge down"),
        (answer("x", {"a": False}, failures=[broke("J")]), FAILED, "failed", "a: why a"),
        (answer("x", {}, scores={"s": 1.0}), None, None, "it has no assertion"),
        (answer("x", {}, labels={"l": "fine"}), None, None, "it has no assertion"),
        (answer("x"), None, None, "it has no assertion"),
    ],
)
def test_how_a_case_ended(case: Any, status: Status | None, reason: str | None, message: str) -> None:
    trial = one(case)
    assert (trial.status, trial.reason, trial.message) == (status, reason, message)


def test_a_task_that_raised_is_an_error() -> None:
    (_, trial) = trials(report_json([answer("x", {"a": True})], [raised("y")]))
    assert (trial.case, trial.status, trial.reason) == ("y", ERROR, "task_error")
    assert trial.message == "ConnectionError: down"
    assert trial.duration_ms is None
    assert trial.usage == Usage()


def test_all_that_evaluators_said() -> None:
    trial = one(answer("x", {"right": False}, scores={"clarity": 0.5}, labels={"tone": "kind"}, failures=[broke("J")]))
    assert trial.scores == {
        "J": Score(error="RuntimeError: judge down"),
        "tone": Score(reason="kind", decides=False),
        "clarity": Score(0.5),
        "right": Score(0.0, passed=False, reason="why right"),
    }
    assert trial.checks == [CheckResult(check="right", passed=False, detail="why right")]


def test_the_number_of_a_repeat() -> None:
    cases = [answer(f"x [{n}/3]", {"a": True}, source="x") for n in (3, 1)]
    results = read(report_json([*cases, answer("y [1/3]", {"a": True})], [raised("x [2/3]", source="x")]))
    assert [(trial.case, trial.number) for trial in results.trials] == [
        ("x", 3),
        ("x", 1),
        ("y [1/3]", None),
        ("x", 2),
    ]
    assert results.planned == 4


def test_a_repeat_that_is_missing_is_seen_in_the_plan() -> None:
    assert read(report_json([answer("x [1/3]", {"a": True}, source="x")])).planned == 3


def test_a_source_that_is_not_in_the_name_is_no_case_of_it() -> None:
    assert one(answer("x [1/3]", {"a": True}, source="y")).case == "x [1/3]"
    assert (one(answer("x [?]", {"a": True}, source="x")).number, one(answer("x", source="x")).case) == (None, "x")


@pytest.mark.parametrize(
    ("metrics", "usage"),
    [
        ({"input_tokens": 100, "output_tokens": 20.0}, Usage(input_tokens=100, output_tokens=20)),
        (
            {
                "input_tokens": 100,
                "cache_read_tokens": 60,
                "cache_write_tokens": 10,
                "reasoning_tokens": 3,
                "cost": 0.1,
            },
            Usage(input_tokens=30, cache_read_tokens=60, cache_write_tokens=10, reasoning_tokens=3, cost_usd=0.1),
        ),
        ({"input_tokens": 10, "cache_read_tokens": 60}, Usage(input_tokens=10, cache_read_tokens=60)),
        ({"input_tokens": -1, "output_tokens": 1.5, "cost": -0.5}, Usage()),
        ({"requests": 3}, Usage()),
        ({}, Usage()),
    ],
)
def test_usage(metrics: dict[str, Any], usage: Usage) -> None:
    assert one(answer("x", {"a": True}, metrics=metrics)).usage == usage


def test_the_definition_is_the_input_side_of_all_trials() -> None:
    asked = {"inputs": "question of x", "metadata": None, "expected_output": "42"}
    cases = [answer("x [1/2]", {"a": True}, source="x", output="other")]
    assert [trial.asked for trial in trials(report_json(cases, [raised("x [2/2]", source="x")]))] == [asked, asked]


def test_time_is_the_task_s_alone() -> None:
    assert one(answer("x", {"a": True})).duration_ms == 1500
    assert one(answer("x", {"a": True}, task_duration=None)).duration_ms is None


def test_an_evaluator_of_the_report_that_broke_is_noted() -> None:
    results = read(report_json([answer("x", {"a": True})], report_evaluator_failures=[broke("Confusion")]))
    assert results.notes == ["an evaluator of the whole report ended in an error: Confusion"]


@pytest.mark.parametrize(
    "head",
    [
        '{"name":"agent","cases":[{"name":"x","inputs":1',
        '{\n "name": "a \\" b",\n "cases": [\n  {\n   "name": "x",\n   "inputs": "y"',
        '{"name":"agent","cases":[],"failures":[]',
    ],
)
def test_recognised(head: str) -> None:
    assert format_named("pydantic-evals").recognises(in_memory(head), head.encode()[:65_536])


@pytest.mark.parametrize(
    "head",
    [
        "",
        "[]",
        '{"cases":[]}',
        '{"name":"a"}',
        '{"name":"a","cases":[{"id":1',
        '{"name":"a","cases":{}',
        '{"name":1,"cases":[',
    ],
)
def test_not_recognised(head: str) -> None:
    assert not format_named("pydantic-evals").recognises(in_memory(head), head.encode())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (report_json([]), "without a case"),
        (report_json([answer("x"), answer("x")]), 'two cases called "x"'),
        (report_json([answer("x [1/2]", source="x")], [raised("x [1/2]", source="x")]), 'two cases called "x [1/2]"'),
        (report_json([answer("x")])[:-200], "cut off"),
        (report_json([{"inputs": 1}]), "has no name"),
        (report_json([1]), "has no name"),
        (json.dumps({"name": "a", "cases": {}}), "not a list"),
        (json.dumps({"name": "a", "cases": [], "failures": 3}), "not a list"),
        ("[]", "not an object"),
    ],
)
def test_refused_in_one_sentence(content: str, words: str) -> None:
    with pytest.raises(InputError, match=r"out/report\.json: ") as refused:
        trials(content)
    (problem,) = refused.value.problems
    assert words in str(problem)
