"""llm-tool-test's results as reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalward.importers import importer_named
from evalward.records.problem import InputError
from evalward.records.result import Status
from evalward.suites.scenario.details import ScenarioDetails
from support.scenarios import result_line

read = importer_named("llm-tool-test")


def test_one_run_per_agent_and_model_with_its_trials() -> None:
    found = read(
        (
            result_line()
            + result_line(outcome="Fail: 1/2 gates passed", gates_passed=False)
            + result_line(tool="codex", model="default")
        ).encode(),
        "results.jsonl",
    )
    assert [(run.target, run.trials, len(run.cases), run.kind) for run in found.runs] == [
        ("opencode/openai/gpt-5.5", 2, 2, "scenario"),
        ("codex/default", 1, 1, "scenario"),
    ]
    first, second = found.runs[0].cases
    assert (first.status, first.trial, second.status, second.trial) == (Status.PASSED, 1, Status.FAILED, 2)
    assert (second.reason, second.message) == ("gates_failed", "Fail: 1/2 gates passed")
    assert first.definition == second.definition
    assert found.created_at == "2026-01-01T10:11:12Z"
    details = first.details
    assert isinstance(details, ScenarioDetails)
    assert (details.gates[0].gate_type, details.gates[0].passed) == ("command_json_path", True)
    assert (details.evaluators[0].metrics, details.evaluators[0].score) == ({"lines": 3.0}, 0.5)


def test_rates_are_computed_anew_and_what_cant_be_is_not_available() -> None:
    metrics = read(result_line().encode(), "results.jsonl").runs[0].metrics
    assert metrics["iteration_ratio"].value == 2 / 5
    assert metrics["commands_per_unique"].value == 2.5
    assert metrics["error_rate"].value == 1 / 5
    assert metrics["retry_rate"].value == 3 / 5
    assert metrics["composite_score"].value == 0.9
    assert metrics["cost_usd"].value == 0.02
    for name, why in {
        "first_try_success_rate": "llm-tool-test computes another value",
        "completion_rate": "not in llm-tool-test's results",
        "retries_after_failure": "not in llm-tool-test's results",
        "total_input_tokens": "the agent reported no tokens",
    }.items():
        assert metrics[name].value is None
        assert str(metrics[name].reason).startswith(why)


def test_what_cant_be_trusted_is_told() -> None:
    silent = json.loads(result_line())["metrics"] | {"efficiency": {}}
    text = result_line(judge_score=0.4) + result_line(metrics=silent) + result_line(outcome="Dry run")
    found = read(text.encode(), "results.jsonl")
    assert len(found.runs[0].cases) == 2
    told = "\n".join(found.warnings)
    assert "1 dry run is left out" in told
    assert "leaves the judge out; 1 result has a judge's score" in told
    assert "1 of 2 results have no command at all" in told
    assert found.runs[0].metrics["judge_score"].value == 0.4


@pytest.mark.parametrize("inside", [True, False])
def test_tokens_come_from_the_runs_folder_and_from_nowhere_else(tmp_path: Path, inside: bool) -> None:
    name = "20260101-101112-opencode-openai_gpt-5.5-add_task" if inside else ".."
    folder = tmp_path / "results" / name / "artifacts"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text('{"token_usage": {"input": 100, "output": 7}}')
    line = result_line() if inside else result_line(transcript_path="../artifacts/transcript.raw.txt")
    metrics = read(line.encode(), str(tmp_path / "results" / "results.jsonl")).runs[0].metrics
    tokens = (metrics["total_input_tokens"].value, metrics["total_output_tokens"].value)
    assert tokens == ((100, 7) if inside else (None, None))


def test_mistakes_have_their_lines() -> None:
    text = result_line() + "not json\n" + result_line(gates_passed="perhaps") + result_line(timestamp="yesterday")
    with pytest.raises(InputError) as caught:
        read(text.encode(), "r.jsonl")
    assert [str(problem).partition(". ")[0] for problem in caught.value.problems] == [
        "r.jsonl:2: not valid JSON: JSON strings need double quotes (column 1)",
        'r.jsonl:3: gates_passed: must be true or false, not the text "perhaps"',
        "r.jsonl:4: timestamp: is not an ISO 8601 time such as 2026-01-09T12:34:56Z",
    ]


@pytest.mark.parametrize(("text", "message"), [("", "has no result"), (result_line(outcome="Dry run"), "but dry runs")])
def test_a_file_without_results(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(text.encode(), "r.jsonl")
