from __future__ import annotations

import json

import pytest

from evalward.importers.base import Imported
from evalward.importers.bashkit_eval import read, write
from evalward.records.problem import InputError, Place
from evalward.records.report import Report, Tool
from evalward.records.result import Status
from evalward.suites.bash.case import BashTask, make_case
from support.bashkit_files import FOUR_OF_FIVE, TWO_OF_TWO, entry, result_file


def imported(*entries: dict[str, object], **more: object) -> Imported:
    return read(result_file(*entries, **more), "eval.json")  # type: ignore[arg-type]


def test_metrics__are_recomputed_from_the_results() -> None:
    (run,) = imported(FOUR_OF_FIVE, TWO_OF_TWO).runs
    values = {name: metric.value for name, metric in run.metrics.items()}
    assert run.target == "anthropic/claude-x"
    assert values["overall_rate"] == pytest.approx(6 / 7)
    assert values["pass_rate"] == 0.5
    assert values["tool_call_success_rate"] == 0.75
    assert (values["avg_turns_per_task"], values["avg_tool_calls_per_task"]) == (3.0, 2.0)
    assert (values["total_input_tokens"], values["total_output_tokens"]) == (200, 20)
    assert values["cost_usd"] is None


def test_summary__that_agrees_is_silent_and_one_that_does_not_is_told() -> None:
    agreeing = imported(TWO_OF_TWO, summary={"total_tasks": 1, "overall_rate": 1.0, "tool_call_success_rate": 1.0})
    assert list(agreeing.warnings) == []
    lying = imported(TWO_OF_TWO, summary={"total_passed": 3, "overall_rate": 0.5, "by_category": {}})
    assert sorted(lying.warnings) == [
        "eval.json: its summary says overall_rate 0.5, its results give 1",
        "eval.json: its summary says total_passed 3, its results give 1",
    ]


def test_results__keep_checks_status_and_the_command_to_look_at() -> None:
    (run,) = imported(FOUR_OF_FIVE, entry("c", [], [True], natural_stop=False)).runs
    failed, passed = run.cases
    assert (failed.status, failed.reason, failed.score, failed.max_score) == (Status.FAILED, "checks_failed", 4.0, 5.0)
    assert failed.details.model_dump()["failing_command"] == "nope"
    assert failed.details.model_dump()["failing_stderr"] == "nope: command not found\n"
    assert (passed.status, passed.reason) == (Status.PASSED, None)
    (stuck,) = imported(entry("d", [], [False], natural_stop=False)).runs[0].cases
    assert stuck.reason == "turn_limit"


def test_definition__is_that_of_the_same_task_in_a_case_file() -> None:
    one = imported(TWO_OF_TWO)
    task = BashTask.model_validate(one.cases[0])
    assert make_case(task, Place(file="x"), 10, 30.0).definition == one.trials[0].result.definition


def test_export__of_an_import_is_the_same_file() -> None:
    one = imported(FOUR_OF_FIVE, TWO_OF_TWO)
    report = Report(tool=Tool(version="1"), created_at="2026-02-09T05:45:58Z", runs=list(one.runs))
    again = json.loads(write(report, one.runs[0], one.trials).text)
    original = json.loads(result_file(FOUR_OF_FIVE, TWO_OF_TWO))
    assert again["results"] == original["results"]
    assert {key: again[key] for key in ("provider", "model", "timestamp", "max_turns")} == {
        key: original[key] for key in ("provider", "model", "timestamp", "max_turns")
    }
    assert again["summary"]["overall_rate"] == pytest.approx(6 / 7)
    assert again["summary"]["by_category"]["basic"] == {
        "tasks": 2,
        "passed": 1,
        "score": 6.0,
        "max_score": 7.0,
        "rate": pytest.approx(6 / 7),
    }


def test_export__of_another_kind_or_several_trials_is_refused() -> None:
    one = imported(TWO_OF_TWO)
    report = Report(tool=Tool(version="1"), created_at="now", runs=list(one.runs))
    for change in ({"kind": "command"}, {"trials": 2}):
        with pytest.raises(InputError):
            write(report, one.runs[0].model_copy(update=change), one.trials)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"{", "not valid JSON"),
        (b"[]", "must be a mapping of keys to values, not a list"),
        (b'{"provider": "p", "model": "m", "results": [{}]}', "results.0.task"),
        (result_file(TWO_OF_TWO, TWO_OF_TWO), "the task 'b' is in it twice"),
    ],
)
def test_wrong_file__is_told_with_its_place(text: bytes, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text, "eval.json")
    assert "eval.json" in str(caught.value)
    assert words in str(caught.value)


def test_a_call_whose_exit_code_nobody_told_has_no_form() -> None:
    one = read(result_file(FOUR_OF_FIVE), "r.json")
    trial = one.trials[0]
    unknown = [call.model_copy(update={"exit_code": None}) for call in trial.trace.tool_calls]
    told = trial.model_copy(update={"trace": trial.trace.model_copy(update={"tool_calls": unknown})})
    report = Report(tool=Tool(version="0"), created_at="2026-01-01T00:00:00Z", runs=list(one.runs))
    with pytest.raises(InputError, match="a call whose exit code is unknown"):
        write(report, one.runs[0], [told])


def test_results_of_scripting_tools_are_refused_with_one_sentence() -> None:
    entry = {"task": {"id": "t", "tools": [{"name": "get_user"}]}, "trace": {"tool_calls": [{"tool_name": "get_user"}]}}
    text = json.dumps({"provider": "openai", "model": "m", "baseline": True, "results": [entry]}).encode()
    with pytest.raises(InputError, match="scripting tools") as caught:
        read(text, "scripting-eval-baseline.json")
    assert len(caught.value.problems) == 1
