"""FC-Eval's results.json and the files of single tasks: read, computed anew, and written as they were."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest

from evalward.importers.base import Imported, SourceFile, read_files
from evalward.importers.fc_eval import FC_EVAL
from evalward.importers.fc_eval_export import write
from evalward.records.problem import InputError
from evalward.records.report import Report, Run
from evalward.records.result import Result, Status, Trial
from evalward.suites.speedup.failure import key_among
from evalward.suites.speedup.payload import details_of
from evalward.suites.speedup.payload import payload as written_payload
from support.fc_eval_files import one, payload, results, trial
from support.results import report
from support.results import run as bash_run
from support.speedups import GOOD_TESTS, KEY, NOP, ORACLE, log, result_object


def read(text: bytes) -> Imported:
    return FC_EVAL(text, "results.json")


def only(imported: Imported) -> Result:
    ((result,),) = [run.cases for run in imported.runs]
    return result


def exported(run: Run, trials: Any = ()) -> bytes:
    return write(report(run), run, trials).text.encode()


def without_traces(run: Run) -> Run:
    return run.model_copy(update={"cases": [case.model_copy(update={"trace": None}) for case in run.cases]})


def test_payloads_become_runs_by_their_full_key() -> None:
    payloads = {KEY: payload(), "agent:other": payload({"m.S.a": (2, 1)}), NOP: payload({"m.S.a": (1, 1.5)})}
    imported = read(results(trial("task", payloads)))
    assert [run.target for run in imported.runs] == ["agent:model", "agent:other", NOP]
    first, other, nop = imported.runs
    assert (first.suite, first.kind, first.planned, first.random, nop.random) == ("fc-eval", "speedup", 1, True, False)
    assert first.metrics["mean_speedup"].value == pytest.approx(1.0954451150)
    assert other.metrics["agent_advantage"].value == 1
    assert nop.metrics["agent_advantage"].value == -0.5
    assert imported.warnings == []


def test_what_the_file_claims_is_recomputed_and_told() -> None:
    imported = read(one(task_speedup=9.0, success=False, agent_advantage=3.0))
    assert details_of(only(imported)).task_speedup == pytest.approx(1.0954451150)
    assert len(imported.warnings) == 3
    summary = {KEY: {"mean_speedup": 4.0, "mean_success_rate": 1.0}}
    told = read(results(trial("task", {KEY: payload()}), agent_metrics_summary=summary)).warnings
    assert told == ["results.json: its summary of agent:model says mean_speedup 4, its payloads give 1.09545"]


def test_failures_are_decided_against_the_oracle_of_the_same_trial() -> None:
    oracle = payload({"m.S.a": (1.5, 1.5)}, failed=2)
    tolerated = read(results(trial("task", {KEY: payload(failed=2), ORACLE: oracle}))).runs[0]
    assert tolerated.cases[0].status is Status.PASSED
    failed = read(results(trial("task", {KEY: payload(failed=3), ORACLE: oracle}))).runs[0]
    assert details_of(failed.cases[0]).task_speedup == 1.0


def test_failing_tests_that_were_tolerated_elsewhere_are_told() -> None:
    imported = read(one(failed=2, pytest_failed=False))
    assert only(imported).status is Status.PASSED
    assert imported.warnings == ["results.json: task, agent:model: 2 failing tests are reported as tolerated"]
    (told,) = read(one(failed=1, pytest_failed=False)).warnings
    assert told.endswith("1 failing test is reported as tolerated")


def test_a_fallback_that_was_made_stays_one() -> None:
    made = payload({"m.S.a": (1.0, 1.5)}, fallback_to_baseline=True, pytest_failed=True, success=False)
    result = only(read(results(trial("task", {KEY: made}))))
    assert (result.status, details_of(result).fallback_to_baseline) == (Status.FAILED, True)
    assert details_of(result).benchmarks[0].raw_agent is None


@pytest.mark.parametrize(
    ("change", "status", "reason"),
    [
        ({"pytest_summary": None}, Status.FAILED, "tests_failed"),
        ({"pytest_summary": {"failed": 0, "status": "good"}}, Status.FAILED, "tests_failed"),
        ({"pytest_summary": {"failed": True, "status": "passed"}}, Status.FAILED, "tests_failed"),
        ({"snapshot_summary": {"status": "missing"}}, Status.FAILED, "snapshot_failed"),
        ({"snapshot_summary": {"pass_to_fail": 1, "status": "passed"}}, Status.FAILED, "snapshot_failed"),
        ({"per_benchmark_speedups": None}, Status.ERROR, "no_result"),
        ({"per_benchmark_speedups": {}}, Status.ERROR, "no_result"),
        ({"per_benchmark_speedups": {"m.f": {"agent/nop": True, "oracle/nop": 1}}}, Status.ERROR, "no_valid_benchmark"),
    ],
)
def test_malformed_payloads_never_pass(change: dict[str, Any], status: Status, reason: str) -> None:
    result = only(read(results(trial("task", {KEY: {**payload(), **change}}, failure_mode="none"))))
    assert (result.status, result.reason) == (status, reason)


@pytest.mark.parametrize(
    ("mode", "status"), [("agent_timeout", Status.FAILED), ("test_timeout", Status.ERROR), ("unset", Status.ERROR)]
)
def test_a_trial_without_payload_is_of_the_agents_of_the_file(mode: str, status: Status) -> None:
    broken = trial("two", None, failure_mode=mode, is_resolved=False)
    run = read(results(trial("one", {KEY: payload(), ORACLE: payload()}), broken)).runs[0]
    assert [(case.id, case.status) for case in run.cases] == [("one", Status.PASSED), ("two", status)]


def test_repeated_tasks_are_trials() -> None:
    run = read(results(*[trial("one", {KEY: payload()}, is_resolved=good) for good in (True, False)])).runs[0]
    assert (run.trials, [case.trial for case in run.cases]) == (2, [1, 2])
    assert (run.metrics["pass_at_2"].value, run.metrics["accuracy"].value) == (1.0, 0.5)


def test_tokens_are_the_only_agents_and_a_cost_of_0_beside_them_is_unknown() -> None:
    free = trial("t", {KEY: payload(cost=0.0)}, total_input_tokens=100, total_output_tokens=10)
    imported = read(results(free))
    assert only(imported).usage.input_tokens == 100
    assert only(imported).usage.cost_usd is None
    assert "price was unknown" in imported.warnings[0]
    shared = trial("t", {KEY: payload(), "b:model": payload()}, total_input_tokens=100, total_output_tokens=10)
    assert read(results(shared)).runs[0].cases[0].usage.input_tokens is None


def test_costs_are_the_payloads_agents_whatever_their_model_is_written_like() -> None:
    key = "agent:anthropic-claude-haiku"
    costs = {"agent:anthropic/claude-haiku": 0.5, "nop:unknown": 0.0}
    payloads = {key: payload(cost=None), NOP: payload(cost=None)}
    broken = trial("two", None, failure_mode="setup_timeout", costs_by_agent_model=costs)
    found = read(results(trial("one", payloads, costs_by_agent_model=costs), broken)).runs
    told = {run.target: [(case.id, case.usage.cost_usd) for case in run.cases] for run in found}
    assert told == {key: [("one", 0.5), ("two", 0.5)], NOP: [("one", 0.0), ("two", 0.0)]}


def test_costs_of_an_agent_with_two_models_are_not_guessed() -> None:
    assert key_among("agent:three", ["agent:one", "agent:two"]) == "agent:three"


@pytest.mark.parametrize(
    "text",
    [
        b'{"results": []}',
        b'{"results": [{"task_id": 3}]}',
        b'{"results": "x"',
        b"[",
        b"",
        b'{"results": [], "results": []}',
    ],
)
def test_what_is_no_results_file_is_refused(text: bytes) -> None:
    with pytest.raises(InputError):
        read(text)


def test_a_round_trip_gives_the_same_run_and_the_same_text() -> None:
    imported = read(
        results(
            trial("one", {KEY: payload()}),
            trial("one", {KEY: payload(cost=None)}, is_resolved=False),
            trial("two", {KEY: payload({"m.S.a": (1.0, 1.5)}, failed=1, fallback_to_baseline=True)}, is_resolved=False),
            trial("three", {KEY: payload({"m.S.a": (0, 1.5), "x": ("1", None)})}),
            trial("four", None, failure_mode="agent_timeout", is_resolved=False),
            trial("five", None, failure_mode="setup_timeout", is_resolved=False),
            dataset_name="formulacode",
        )
    )
    (run,) = imported.runs
    assert {case.status for case in run.cases} == {Status.PASSED, Status.FAILED, Status.ERROR}
    text = exported(run, imported.trials)
    again = read(text)
    assert again.warnings == []
    (back,) = again.runs
    assert [written_payload(case) for case in back.cases] == [written_payload(case) for case in run.cases]
    assert without_traces(back) == without_traces(run).model_copy(
        update={"cases": [_without_raw(case) for case in without_traces(run).cases]}
    )
    assert exported(back, again.trials) == text


def _without_raw(case: Result) -> Result:
    """Values behind a fallback have no place in the format."""
    details = details_of(case)
    plain = [
        each.model_copy(update={"raw_agent": None, "raw_oracle": None, "resurrected": False})
        for each in details.benchmarks
    ]
    return case.model_copy(update={"details": details.model_copy(update={"benchmarks": plain})})


def test_the_export_has_the_payload_at_its_place() -> None:
    data = json.loads(exported(read(one()).runs[0]))
    (entry,) = data["results"]
    told = entry["parser_extra_metrics"]["agent_metrics_by_agent"][KEY]
    assert told["agent_advantage"] == pytest.approx(-0.1890781429)
    assert data["agent_metrics_summary"][KEY]["mean_speedup"] == told["task_speedup"]
    assert (data["n_resolved"], data["accuracy"], data["total_cost"]) == (1, 1.0, 0.25)
    assert entry["parser_results"] == {"improvements": "passed"}
    assert UUID(entry["id"]).version == 4
    levels = {name: value for name, value in told.items() if name.startswith("agent_advantage")}
    assert data["agent_advantages_gmean"] == {KEY: pytest.approx(levels)}
    assert entry["parser_extra_metrics"]["agent_advantages_by_agent"] == {KEY: levels}


def test_the_export_has_fc_evals_own_words_and_no_value_that_is_not_known() -> None:
    missing = {**payload(cost=None), "pytest_summary": None, "snapshot_summary": None}
    (run,) = read(results(trial("one", {KEY: missing}), trial("two", None, failure_mode="brand_new"))).runs
    data = json.loads(exported(run))
    told = [entry["parser_extra_metrics"] for entry in data["results"]]
    mine = told[0]["agent_metrics_by_agent"][KEY]
    assert [mine[name]["status"] for name in ("pytest_summary", "snapshot_summary")] == ["failed", "failed"]
    assert (told[1], data["results"][1]["failure_mode"]) == (None, "unknown")
    assert (data["total_cost"], data["cost_by_agent_model"], data["results"][0]["costs_by_agent_model"]) == (
        None,
        {},
        {},
    )


def test_the_export_has_the_numbers_of_the_report() -> None:
    no_result = {**payload(), "per_benchmark_speedups": {}}
    (run,) = read(
        results(
            trial("one", {KEY: payload()}),
            trial("two", {KEY: payload(failed=1)}),
            trial("three", {KEY: payload({"m.S.a": (0, 1.5)})}),
            trial("four", {KEY: no_result}),
            trial("five", None, failure_mode="agent_timeout", costs_by_agent_model={KEY: 0.5}),
            trial("six", None, failure_mode="setup_timeout", costs_by_agent_model={KEY: 0.125}),
        )
    ).runs
    assert {case.id: case.reason for case in run.cases if case.status is Status.ERROR} == {
        "three": "no_valid_benchmark",
        "four": "no_result",
        "six": "setup_timeout",
    }
    data = json.loads(exported(run))
    values = {name: metric.value for name, metric in run.metrics.items()}
    told = data["agent_metrics_summary"][KEY]
    assert told == pytest.approx({name: values[name] for name in told})
    totals = {name: data[name] for name in ("accuracy", "total_cost")}
    assert totals == pytest.approx({name: values[name] for name in totals})
    assert totals == pytest.approx({"accuracy": 2 / 6, "total_cost": 1.625})
    assert {entry["task_id"]: entry["is_resolved"] for entry in data["results"]} == {
        "one": True,
        "two": False,
        "three": True,
        "four": False,
        "five": False,
        "six": False,
    }
    (again,) = read(exported(run)).runs
    assert {name: metric.value for name, metric in again.metrics.items()} == pytest.approx(values)


def test_a_log_without_a_result_is_not_resolved() -> None:
    run = runs_of(together(("a.log", log()), ("b.log", log(without="RESULT"))))[KEY]
    data = json.loads(exported(run))
    assert [(entry["is_resolved"], entry["failure_mode"]) for entry in data["results"]] == [
        (True, "none"),
        (False, "parse_error"),
    ]
    assert (data["accuracy"], data["unresolved_ids"]) == (run.metrics["accuracy"].value, ["b"])


def test_nop_has_no_mean_of_advantages() -> None:
    (run,) = read(results(trial("one", {NOP: payload()}))).runs
    assert json.loads(exported(run))["agent_advantages_gmean"] == {}


def test_another_kind_is_not_exported() -> None:
    run = bash_run([])
    with pytest.raises(InputError, match="speedup"):
        write(report(run), run, [])


# --- the files of single tasks --------------------------------------------------------------------------------------

ORACLE_LOG = log(
    {**GOOD_TESTS, "failed": 2}, result_object({"m.S.a": {"agent/nop": 1.5, "oracle/nop": 1.5}}, key=ORACLE)
)
AGENT_LOG = log({**GOOD_TESTS, "failed": 2}, result_object({"m.S.a": {"agent/nop": 1.2, "oracle/nop": 1.5}}))
STEP = {"llm_metrics": {"accumulated_token_usage": {"prompt_tokens": 1000, "completion_tokens": 100}}}


def together(*files: tuple[str, str | bytes]) -> Imported:
    sources = [SourceFile(text if isinstance(text, bytes) else text.encode(), name) for name, text in files]
    ((_, imported),) = read_files("fc-eval", sources)
    return imported


def runs_of(imported: Imported) -> dict[str, Run]:
    return {run.target: run for run in imported.runs}


def test_logs_of_a_task_are_merged_over_its_agents() -> None:
    found = runs_of(together(("oracle/sort.log", ORACLE_LOG), ("agent/sort.log", AGENT_LOG)))
    assert details_of(found[KEY].cases[0]).task_speedup == 1.2
    alone = runs_of(together(("agent/sort.log", AGENT_LOG), ("oracle/other.log", ORACLE_LOG)))
    assert details_of(alone[KEY].cases[0]).task_speedup == 1.0


def test_agents_logs_and_recordings_tell_steps_tokens_and_cost() -> None:
    key = "agent:anthropic/claude-haiku-4-5"
    text = log(result=result_object(key=key))
    cast = '{"version": 2}\n[0.1, "o", "x"]\n[0.2, "i"]\n[0.3, "i", "y"]\n[0.4'
    files = [("run/sort/panes/test.log", text), ("run/sort/panes/agent.cast", cast)]
    (recorded,) = together(*files).runs[0].cases
    assert (recorded.id, details_of(recorded).trajectory_length, recorded.usage.cost_usd) == ("sort", 2, None)
    empty = {"llm_metrics": {"accumulated_token_usage": {"prompt_tokens": 0, "completion_tokens": 0}}}
    steps = json.dumps([{}, STEP, empty])
    (logged,) = together(*files, ("run/sort/panes/agent.json", steps)).runs[0].cases
    assert (details_of(logged).trajectory_length, logged.usage.input_tokens) == (3, 1000)
    assert logged.usage.cost_usd == pytest.approx((1000 * 1.0 + 100 * 5.0) / 1_000_000)


def test_a_result_as_json_and_the_runs_dataset() -> None:
    parts = {"tests": GOOD_TESTS, "result": result_object(), "snapshot": {"pass-to-fail": 0}}
    (run,) = together(("sort.json", json.dumps(parts)), ("run_metadata.json", '{"dataset_name": "formulacode"}')).runs
    assert (run.suite, run.cases[0].status) == ("formulacode", Status.PASSED)
    (bare,) = together(("sort.json", json.dumps(result_object()))).runs
    assert bare.cases[0].reason == "tests_failed"


def test_a_log_that_does_not_say_whose_it_is_belongs_to_the_one_agent() -> None:
    broken = log(without="RESULT")
    run = runs_of(together(("a.log", AGENT_LOG), ("b.log", broken)))[KEY]
    assert [case.status for case in run.cases] == [Status.FAILED, Status.ERROR]
    with pytest.raises(InputError, match="whose run"):
        together(("b.log", broken))


def test_an_agents_log_without_its_test_log_is_refused() -> None:
    with pytest.raises(InputError, match="no test log is next to it"):
        together(("one/a.log", AGENT_LOG), ("two/agent.json", json.dumps([STEP])))
    with pytest.raises(InputError, match="no test log"):
        together(("agent.json", "[]"))


def test_everything_imported_can_be_written_and_read() -> None:
    with pytest.raises(InputError, match="UTF-8"):
        read(results(trial("\ud800x", {KEY: payload()})))
    imported = read(results(trial("x", {KEY: payload({"\ud800": (1, 2)})})))
    made = Report.model_validate_json(report(*imported.runs).model_dump_json(by_alias=True))
    assert list(made.runs) == list(imported.runs)
    assert all(isinstance(each, Trial) for each in imported.trials)
