"""FC-Eval's run folder: tasks, attempts and agents by the names of folders, and agents' logs merged over a task."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePath

import pytest

from evalward.importers.base import Imported, SourceFile, read_files
from evalward.importers.fc_eval_layout import of_folder, part_of, tasks_of, trial_folder
from evalward.records.problem import InputError
from evalward.records.report import Run
from evalward.records.result import Status
from evalward.suites.speedup.payload import details_of
from support.fc_eval_files import AgentRun, payload, results, run_folder, trial
from support.speedups import GOOD_TESTS, KEY, NOP, ORACLE, log, result_object

AGENT = "terminus-2:anthropic-claude-haiku-4-5"
SPEEDS = {"m.S.a": 2.0, "m.S.b": 1.2}
THREE = {NOP: AgentRun(), ORACLE: AgentRun(SPEEDS), AGENT: AgentRun({"m.S.a": 3.0, "m.S.b": 1.1})}
STEPS = json.dumps(
    [{}, {"llm_metrics": {"accumulated_token_usage": {"prompt_tokens": 1000, "completion_tokens": 100}}}]
)
MOMENT = "2026-01-02T03:04:05Z"
CAST = '{"version": 2}\n[0.1, "o", "x"]\n[0.2, "i", "y"]\n'


def imported(files: Mapping[str, str], changed: Mapping[str, float] | None = None) -> Imported:
    sources = [SourceFile(text.encode(), name, (changed or {}).get(name)) for name, text in files.items()]
    ((_, found),) = read_files("fc-eval", sources)
    return found


def runs(files: Mapping[str, str]) -> dict[str, Run]:
    return {run.target: run for run in imported(files).runs}


def refused(files: Mapping[str, str]) -> str:
    with pytest.raises(InputError) as error:
        imported(files)
    (problem,) = error.value.problems
    return str(problem)


# --- tasks, attempts and agents --------------------------------------------------------------------------------------


def test_the_agents_of_a_trial_are_merged_and_each_is_a_run() -> None:
    found = runs(run_folder({"sort": THREE, "scan": THREE}))
    assert sorted(found) == sorted(THREE)
    assert {run.planned for run in found.values()} == {2}
    assert {case.id for run in found.values() for case in run.cases} == {"sort", "scan"}
    values = {key: run.metrics["agent_advantage"].value for key, run in found.items()}
    oracle = (2.0 * 1.2) ** 0.5
    assert values == pytest.approx({NOP: 1 - oracle, ORACLE: 0.0, AGENT: (3.0 * 1.1) ** 0.5 - oracle})
    assert {run.metrics["num_valid_benchmarks"].value for run in found.values()} == {4}


def test_an_agents_failing_tests_are_held_against_the_oracle_of_its_trial() -> None:
    two = {**GOOD_TESTS, "failed": 2}
    agents = {NOP: AgentRun(), ORACLE: AgentRun(SPEEDS, two), AGENT: AgentRun({"m.S.a": 3.0}, two)}
    (case,) = runs(run_folder({"sort": agents}))[AGENT].cases
    assert case.status is Status.PASSED
    assert details_of(case).task_speedup == pytest.approx(3.0**0.5)


def test_attempts_are_trials_of_their_task_by_the_number_in_the_folders_name() -> None:
    files = run_folder({"sort": THREE}, attempt=2, of=2) | run_folder({"sort": THREE}, attempt=1, of=2)
    found = runs(files)[AGENT]
    assert (found.trials, sorted((case.id, case.trial) for case in found.cases)) == (2, [("sort", 1), ("sort", 2)])


def test_a_run_of_one_agent_has_no_agents_folder() -> None:
    (run,) = imported({"runs/r/sort/sort.1-of-1.r/panes/post-test.txt": log()}).runs
    assert (run.target, [case.id for case in run.cases]) == (KEY, ["sort"])


@pytest.mark.parametrize("form", ["{task}/{agent}/post-test.log", "run/{task}/{agent}.log", "{agent}/{task}.log"])
def test_logs_that_lie_elsewhere_are_placed_by_their_agents(form: str) -> None:
    logs = run_folder({"sort": THREE, "scan": THREE})
    files = {}
    for name, text in logs.items():
        folder = trial_folder(name)
        assert folder is not None
        files[form.format(task=folder.task, agent=folder.agent)] = text
    found = runs(files)
    assert {case.id for run in found.values() for case in run.cases} == {"sort", "scan"}
    assert found[AGENT].metrics["agent_advantage"].value == runs(logs)[AGENT].metrics["agent_advantage"].value


def test_a_log_that_calls_its_agents_by_number_and_name_is_read_alike() -> None:
    files = run_folder({"sort": THREE})
    numbers = {NOP: 1, ORACLE: 2, AGENT: 3}
    for key, number in numbers.items():
        files = {name: text.replace(f'"{key}"', f'"agent-{number}-{key}"') for name, text in files.items()}
    found = runs(files)
    assert sorted(found) == sorted(THREE)
    assert found[AGENT].metrics["num_valid_benchmarks"].value == 2


def test_the_agent_of_a_broken_log_is_its_folders() -> None:
    files = run_folder({"sort": THREE, "scan": {**THREE, AGENT: AgentRun(log="nothing was measured\n")}})
    found = runs(files)[AGENT]
    assert {case.id: case.status for case in found.cases} == {"sort": Status.PASSED, "scan": Status.FAILED}


def test_a_log_of_another_agent_than_its_folder_says_counts_as_the_folders() -> None:
    files = run_folder({"sort": THREE})
    last, before = list(files)[-1], list(files)[-2]
    read = imported({**files, last: files[before]})
    assert sorted(run.target for run in read.runs) == sorted([NOP, ORACLE, "terminus-2"])
    assert any("its RESULT is of oracle:human" in warning for warning in read.warnings)


def test_a_later_log_that_tells_an_agents_speed_otherwise_is_named() -> None:
    files = run_folder({"sort": THREE})
    last = list(files)[-1]
    other = files[last].replace('"agent/nop": 2.0', '"agent/nop": 9.0')
    assert any("m.S.a of oracle:human differs from" in told for told in imported({**files, last: other}).warnings)


def test_two_logs_of_one_attempt_are_refused() -> None:
    said = refused(run_folder({"sort": THREE}, run="one") | run_folder({"sort": THREE}, run="two"))
    assert f"attempt 1 of {NOP} at sort too" in said


def test_what_can_be_a_task_or_an_agent_is_refused() -> None:
    other = log(result=result_object(key="other:model"))
    assert "one task's agents or as many tasks" in refused({"x/one/post-test.log": log(), "x/two/post-test.log": other})
    assert "no folder says which task" in refused({"nop.log": log(result=result_object(key=NOP))})
    assert "two ways" in refused({"x/a.1-of-1.b.1-of-1.c/panes/post-test.txt": log()})


def test_two_models_of_one_agent_need_a_log_that_tells_them_apart() -> None:
    agents = {"a:one": AgentRun(SPEEDS), "a:two": AgentRun(SPEEDS), "a:three": AgentRun(log="nothing")}
    assert "whether it is of a:one or a:two" in refused(run_folder({"sort": agents}))


@pytest.mark.parametrize(
    ("file", "task"),
    [
        ("sort.log", "sort"),
        ("runs/7/sort/panes/post-test.txt", "sort"),
        ("/test.log", "test"),
        ("a/tests/log", "a"),
        ("runs/sort/agent/post-test.log", "sort"),
    ],
)
def test_the_task_is_the_first_name_that_says_something(file: str, task: str) -> None:
    assert tasks_of({file: KEY}) == {file: task}


@pytest.mark.parametrize(
    ("folder", "task", "attempt", "number", "agent"),
    [
        ("t/t.2-of-4.r", "t", 2, None, None),
        ("t/t.2-of-4.r.agent-3-my.module.Agent", "t", 2, 3, "my.module.Agent"),
        ("t.v1/t.v1.2-of-4.2026-01-01__00-00-00", "t.v1", 2, None, None),
        ("t.1-of-2.x/t.1-of-2.x.1-of-1.r", "t.1-of-2.x", 1, None, None),
        ("elsewhere/t.1-of-1.r.agent-1-nop", "t", 1, 1, "nop"),
        ("t/t.old", None, None, None, None),
    ],
)
def test_a_trials_folder(
    folder: str, task: str | None, attempt: int | None, number: int | None, agent: str | None
) -> None:
    found = trial_folder(f"{folder}/panes/post-test.txt")
    told = (found.task, found.attempt, found.number, found.agent) if found else (None, None, None, None)
    assert told == (task, attempt, number, agent)


# --- what lies beside the logs ---------------------------------------------------------------------------------------


def test_steps_tokens_and_recordings_of_the_same_trial() -> None:
    files = run_folder({"sort": THREE})
    nop, _, mine = (name.removesuffix("panes/post-test.txt") for name in files)
    files |= {
        f"{mine}agent-logs/log.json": STEPS,
        f"{nop}sessions/agent.cast": CAST,
        f"{nop}sessions/tests.cast": CAST * 2,
    }
    found = runs({**files, f"{mine}agent-logs/state.json": "{}", f"{mine}panes/pre-agent.txt": "$", "run.log": "…"})
    assert details_of(found[NOP].cases[0]).trajectory_length == 2
    (case,) = found[AGENT].cases
    assert (details_of(case).trajectory_length, case.usage.input_tokens, case.usage.output_tokens) == (2, 1000, 100)
    assert case.usage.cost_usd == pytest.approx(0.0015)


def test_recordings_in_the_trials_common_folder_are_their_agents_by_number() -> None:
    files = run_folder({"sort": THREE})
    common = "run-1/sort/sort.1-of-1.run-1/"
    read = imported({**files, f"{common}sessions/agent-3-terminus-2:x.cast": CAST, f"{common}agent-logs/a.json": STEPS})
    found = {run.target: details_of(run.cases[0]).trajectory_length for run in read.runs}
    assert found == {NOP: None, ORACLE: None, AGENT: 2}
    assert [told for told in read.warnings if "left out" in told] == [
        f"{common}agent-logs/a.json: left out: no name says whose steps these are"
    ]


def test_the_newest_of_several_logs_counts_and_two_newest_are_refused() -> None:
    files = {"t/t.1-of-1.r/panes/post-test.txt": log()}
    old, new = (f"t/t.1-of-1.r/agent-logs/{name}.json" for name in ("b", "a"))
    both = {**files, new: STEPS, old: "[{}]"}
    (run,) = imported(both, {new: 2.0, old: 1.0}).runs
    assert details_of(run.cases[0]).trajectory_length == 2
    assert "2 agent logs are in its folder, and which of them is the newest is unknown" in refused(both)


def test_half_a_recording_is_left_out_and_told() -> None:
    files = {
        "t/t.1-of-1.r/panes/post-test.txt": log(),
        "t/t.1-of-1.r/sessions/agent.cast": "",
        "t/t.1-of-1.r/agent-logs/a.json": "[{",
    }
    read = imported(files)
    assert details_of(read.runs[0].cases[0]).trajectory_length is None
    assert sum("left out" in told for told in read.warnings) == 2


# --- tasks that an agent left out -------------------------------------------------------------------------------------


def test_an_agent_without_a_trial_of_a_task_that_others_tried_is_named() -> None:
    """No folder says that it was to be tried, so there is no result for it: a warning tells that it isn't counted."""
    others = {key: run for key, run in THREE.items() if key != AGENT}
    read = imported(run_folder({"sort": THREE, "scan": others}))
    assert {run.target: run.planned for run in read.runs} == {NOP: 2, ORACLE: 2, AGENT: 1}
    assert [warning for warning in read.warnings if AGENT in warning] == [
        f"{AGENT} has no trial of scan, which other agents tried: it is not in that agent's metrics"
    ]


def test_the_first_three_tasks_that_an_agent_left_out_are_named() -> None:
    others = {ORACLE: THREE[ORACLE]}
    read = imported(run_folder({"a": THREE, "b": others, "c": others, "d": others, "e": others}))
    assert [warning for warning in read.warnings if "has no trial" in warning] == [
        f"{key} has no trial of b, c, d and 1 more, which other agents tried: they are not in that agent's metrics"
        for key in sorted({NOP, AGENT})
    ]


def test_an_agent_that_tried_every_task_at_some_attempt_left_none_out() -> None:
    files = run_folder({"sort": THREE, "scan": THREE}, attempt=1, of=2) | run_folder({"sort": THREE}, attempt=2, of=2)
    assert not [warning for warning in imported(files).warnings if "has no trial" in warning]


# --- trials without a test log ---------------------------------------------------------------------------------------


def untested(files: Mapping[str, str], task: str = "scan") -> tuple[dict[str, str], str]:
    """The files of a run in which the agent left no test log of a task, with that trial's folder as it is listed."""
    (gone,) = [name for name in files if f"/{task}/" in name and ".agent-3-" in name]
    folder = gone.removesuffix("panes/post-test.txt")
    return {**{name: text for name, text in files.items() if name != gone}, folder: ""}, folder


def test_an_agents_trial_without_a_test_log_is_an_error_of_that_agent() -> None:
    files, folder = untested(run_folder({"sort": THREE, "scan": THREE}))
    read = imported(files)
    found = {run.target: run for run in read.runs}
    assert {run.planned for run in found.values()} == {2}
    told = [(case.id, case.status, case.reason, case.message) for case in found[AGENT].cases]
    name = folder.split("/")[-2]
    assert told == [
        ("sort", Status.PASSED, None, None),
        ("scan", Status.ERROR, "no_result", f"{name} has no test log"),
    ]
    assert found[AGENT].cases[1].definition == found[NOP].cases[1].definition
    values = {each: found[AGENT].metrics[each].value for each in ("accuracy", "harness_error_rate")}
    assert values == {"accuracy": 0.5, "harness_error_rate": 0.5}
    assert f"{folder[:-1]}: it has no test log, so {AGENT} has no result for scan: an error" in read.warnings


def test_what_an_agent_left_instead_of_a_test_log_is_its_own() -> None:
    files, folder = untested(run_folder({"sort": THREE, "scan": THREE}))
    read = imported({**files, f"{folder}agent-logs/log.json": STEPS})
    (case,) = [case for run in read.runs if run.target == AGENT for case in run.cases if case.id == "scan"]
    assert details_of(case).trajectory_length == 2
    assert case.usage.cost_usd == pytest.approx(0.0015)
    assert not any("left out" in told for told in read.warnings)


def test_steps_whose_test_log_is_not_given_are_left_out() -> None:
    files, folder = untested(run_folder({"sort": THREE, "scan": THREE}))
    del files[folder]
    read = imported({**files, f"{folder}sessions/agent.cast": CAST})
    assert f"{folder}sessions/agent.cast: left out: the test log of its trial is missing" in read.warnings


def test_an_oracle_without_a_test_log_is_no_measure_of_others() -> None:
    files = run_folder({"sort": {**THREE, AGENT: AgentRun({"m.S.a": 3.0}, {**GOOD_TESTS, "failed": 1})}})
    (gone,) = [name for name in files if ".agent-2-" in name]
    left = {name: text for name, text in files.items() if name != gone}
    found = runs({**left, gone.removesuffix("panes/post-test.txt"): ""})
    assert {key: run.cases[0].status for key, run in found.items()} == {
        NOP: Status.PASSED,
        ORACLE: Status.ERROR,
        AGENT: Status.FAILED,
    }


def test_an_agent_without_any_test_log_is_a_run_of_errors_under_its_folders_name() -> None:
    files = {name: text for name, text in run_folder({"sort": THREE}).items() if ".agent-3-" not in name}
    found = runs({**files, "run-1/sort/sort.1-of-1.run-1.agent-3-other/": ""})
    assert [(case.status, case.reason) for case in found["other"].cases] == [(Status.ERROR, "no_result")]


def test_a_second_agent_of_the_same_name_is_not_taken_for_the_first() -> None:
    files = run_folder({"sort": THREE})
    found = runs({**files, "run-1/sort/sort.1-of-1.run-1.agent-4-terminus-2/": ""})
    assert sorted(found) == sorted([*THREE, "terminus-2"])
    read = imported({**files, **{f"run-1/sort/sort.1-of-1.run-1.agent-{number}-terminus-2/": "" for number in (4, 5)}})
    assert len(read.runs) == 4
    assert any("agent-5-terminus-2: left out: no log says whose trial it is" in told for told in read.warnings)


def test_a_single_agents_trial_without_a_test_log_is_an_error() -> None:
    files = {"r/sort/sort.1-of-1.r/panes/post-test.txt": log(), "r/scan/scan.1-of-1.r/": ""}
    (run,) = imported(files).runs
    assert [(case.id, case.status) for case in run.cases] == [("sort", Status.PASSED), ("scan", Status.ERROR)]


def test_a_common_folder_of_several_agents_that_never_began_is_told() -> None:
    read = imported({**run_folder({"sort": THREE}), "run-1/scan/scan.1-of-1.run-1/": ""})
    assert {run.planned for run in read.runs} == {1}
    assert "run-1/scan/scan.1-of-1.run-1: left out: no log says whose trial it is" in read.warnings
    other = imported({**run_folder({"sort": THREE}), "run-1/scan/scan.1-of-1.another/": ""})
    assert not any("left out" in told for told in other.warnings)


def test_of_a_runs_folder_the_trials_without_a_test_log_are_told() -> None:
    files, folder = untested(run_folder({"sort": THREE, "scan": THREE}))
    common = "run-1/scan/scan.1-of-1.run-1/"
    inside = [f"{folder}{part}/" for part in ("panes", "sessions", "agent-logs")]
    folders = {f"{above}/" for name in files for above in map(str, PurePath(name).parents) if above != "."}
    logs = [name for name in files if name.endswith(".txt")]
    assert of_folder([*logs, *sorted(folders), folder, *inside, common, "run-1/notes/"]) == [*logs, folder]
    assert of_folder(["results.json", folder]) == ["results.json"]
    assert of_folder([folder]) == []


# --- folders, dates and single trials --------------------------------------------------------------------------------


def test_of_a_runs_folder_its_results_or_else_its_logs_are_read() -> None:
    names = [*run_folder({"sort": THREE}), "sort/t/agent-logs/a.json", "sort/t/results.json", "run.log", "x/notes.txt"]
    logs = of_folder([*names, "run_metadata.json"])
    assert [name for name in logs if "post-test" not in name] == ["sort/t/agent-logs/a.json", "run_metadata.json"]
    assert of_folder([*names, "results.json", "run_metadata.json"]) == ["results.json", "run_metadata.json"]
    assert of_folder(["sort/t/results.json"]) == ["sort/t/results.json"]
    others = ("fc.lock", "x/panes/post-agent.txt", "x/agent-logs/state/a.json")
    assert {part_of(name) for name in others} == {"other"}


def test_a_run_is_dated_by_its_metadata_or_its_trials() -> None:
    metadata = (
        '{"run_id": "r", "dataset_name": null, "start_time": "2026-01-02T03:04:05.678901+00:00", "end_time": null}'
    )
    read = imported({**run_folder({"sort": THREE}), "run_metadata.json": metadata})
    assert (read.created_at, read.runs[0].suite) == ("2026-01-02T03:04:05Z", "fc-eval")
    ended = trial("sort", {KEY: payload()}, trial_ended_at="2026-01-03T00:00:00.5+01:00")
    assert imported({"results.json": results(ended).decode()}).created_at == "2026-01-02T23:00:00Z"


DATED = "2026-01-05__09-47-55"
FOLDER_DATE = f"the run's date is that of its folder's name, {DATED}; its time zone is unknown, UTC is assumed"


@pytest.mark.parametrize(
    "files",
    [
        run_folder({"sort": THREE}, run=DATED),
        {f"runs/{DATED}/sort/oracle/post-test.log": log()},
        {f"runs/{DATED}/results.json": results(trial("sort", {KEY: payload()})).decode()},
        {f"runs/{DATED}/sort/sort.1-of-1.{DATED}/results.json": json.dumps(trial("sort", {KEY: payload()}))},
    ],
)
def test_a_run_without_a_date_is_dated_by_its_folders_name(files: dict[str, str]) -> None:
    read = imported(files)
    assert (read.created_at, read.warnings[0]) == ("2026-01-05T09:47:55Z", FOLDER_DATE)


def test_a_folders_name_is_no_date_where_files_tell_one_or_it_is_none() -> None:
    told = imported({f"{DATED}/results.json": results(trial("t", {KEY: payload()}), created_at=MOMENT).decode()})
    assert (told.created_at, told.warnings) == (MOMENT, [])
    metadata = {f"{DATED}/run_metadata.json": json.dumps({"run_id": "r", "end_time": MOMENT})}
    assert imported({**run_folder({"sort": THREE}, run=DATED), **metadata}).created_at == MOMENT
    assert imported(run_folder({"sort": THREE}, run="2026-13-05__09-47-55")).created_at is None


def test_results_of_single_trials_are_read_together_without_their_agents_parts() -> None:
    whole = {f"r/{name}/{name}.1-of-1.r/results.json": json.dumps(trial(name, {KEY: payload()})) for name in ("a", "b")}
    part = {**trial("a", {KEY: payload()}), "trial_name": "a.1-of-1.r.agent-1-nop"}
    (run,) = imported({**whole, "r/a/a.1-of-1.r.agent-1-nop/results.json": json.dumps(part)}).runs
    assert [case.id for case in run.cases] == ["a", "b"]
    assert "one agent's result" in refused({"r/results.json": json.dumps(part)})


def test_what_fc_eval_does_not_write_is_refused() -> None:
    assert "not of the older form" in refused({"settings.json": '{"theme": "dark"}'})


def test_an_oracle_alone_is_no_measure_of_its_own_failing_tests() -> None:
    text = log({**GOOD_TESTS, "failed": 1}, result_object({"m.f": {"agent/nop": 2, "oracle/nop": 2}}, key=ORACLE))
    (run,) = imported({"sort/oracle/post-test.log": text}).runs
    assert (run.cases[0].status, run.metrics["mean_success_rate"].value) == (Status.FAILED, 0.0)
