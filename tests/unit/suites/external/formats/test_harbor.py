"""harbor's jobs: which files are one run, how a trial ended, and what it took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from evalward.records.problem import InputError
from evalward.records.result import Status
from evalward.records.trace import ToolCall, ToolResult, ToolUse
from evalward.suites.external.choice import ScoreChoice
from evalward.suites.external.formats.base import ForeignResults, ForeignTrial, recognised
from evalward.suites.external.formats.harbor import FORMAT
from support.foreign import harbor
from support.foreign.files import files_of


def read(values: Mapping[str, object]) -> ForeignResults:
    """The one run in these files."""
    (found,) = FORMAT.read(files_of(values))
    return found


def trials_of(values: Mapping[str, object]) -> list[ForeignTrial]:
    return list(read(values).trials)


def the_trial(**changed: Any) -> ForeignTrial:
    """The trial of a job of one, which differs from a passed one in what is given."""
    (trial,) = trials_of(harbor.job_folder({"count-lines__aB3": changed}))
    return trial


def test_a_trial_that_passed() -> None:
    trial = the_trial()
    assert (trial.case, trial.status, trial.number) == ("count-lines", Status.PASSED, 1)
    assert (trial.suite, trial.target) == ("tasks", "terminus-2/anthropic/claude-haiku-4-5")
    assert trial.asked == {"task": "count-lines", "checksum": harbor.CHECKSUM}
    assert {name: score.value for name, score in trial.scores.items()} == {"reward": 1.0}


def test_input_tokens_include_the_cache() -> None:
    usage = the_trial().usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (100, 50, 20)
    assert usage.cost_usd == 0.0002


def test_an_agent_that_counts_nothing_used_an_unknown_amount() -> None:
    usage = the_trial(agent_result={"n_input_tokens": None, "n_cache_tokens": None, "cost_usd": None}).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cost_usd) == (None, None, None)


def test_the_time_is_the_agents_alone() -> None:
    assert the_trial().duration_ms == 1250


@pytest.mark.parametrize(("reward", "status"), [(1.0, "passed"), (1.5, "passed"), (0.99, "failed"), (0, "failed")])
def test_a_reward_of_one_passes(reward: float, status: str) -> None:
    assert the_trial(verifier_result={"rewards": {"reward": reward}}).status == status


def test_of_several_rewards_the_one_called_reward_decides() -> None:
    trial = the_trial(verifier_result={"rewards": {"politeness": 0.5, "reward": 1}})
    assert trial.status is Status.PASSED
    assert trial.scores["politeness"].passed is None
    assert not trial.scores["politeness"].decides


def test_several_rewards_of_other_names_decide_nothing() -> None:
    trial = the_trial(verifier_result={"rewards": {"politeness": 0.5, "speed": 1}})
    assert trial.status is None
    assert ScoreChoice().ending(trial).reason == "unjudged"
    assert the_trial(verifier_result={"rewards": {"accuracy": 0.5}}).status is Status.FAILED


@pytest.mark.parametrize(
    "kind",
    [
        "AgentTimeoutError",
        "ContextWindowExceededError",
        "OutputTokenExceededError",
        "ContextLengthExceededError",
        "OutputLengthExceededError",
        "AgentSafetyRefusalError",
        "ContentPolicyViolationError",
    ],
)
def test_a_limit_of_the_agents_is_judged_by_its_reward(kind: str) -> None:
    assert the_trial(**harbor.raised(kind, {"reward": 1.0})).status is Status.PASSED
    failed = the_trial(**harbor.raised(kind, {"reward": 0.0}))
    assert (failed.status, failed.reason, failed.message) == (Status.FAILED, kind, f"what {kind} said")
    assert the_trial(**harbor.raised(kind)).status is Status.ERROR


@pytest.mark.parametrize(
    "kind", ["NonZeroAgentExitCodeError", "RewardFileNotFoundError", "ApiOverloadedError", "RuntimeError", "Unheard"]
)
def test_every_other_exception_is_an_error_whatever_the_reward(kind: str) -> None:
    for rewards in (None, {"reward": 1.0}, {"reward": 0.0}):
        trial = the_trial(**harbor.raised(kind, rewards))
        assert (trial.status, trial.reason) == (Status.ERROR, kind)


def test_an_environment_that_did_not_start() -> None:
    trial = the_trial(**harbor.not_started())
    assert (trial.status, trial.duration_ms, trial.usage.input_tokens) == (Status.ERROR, None, None)


def test_a_cancelled_trial_is_skipped_and_noted() -> None:
    files = harbor.job_folder({"a__1": {"task": "a", **harbor.raised("CancelledError")}, "b__2": {"task": "b"}})
    found = read(files)
    assert [trial.status for trial in found.trials] == [Status.SKIPPED, Status.PASSED]
    assert found.notes == ["harbor cancelled 1 trial, which count as skipped"]


def test_a_trial_without_reward_or_exception_is_not_judged() -> None:
    ending = ScoreChoice().ending(the_trial(verifier_result=None))
    assert (ending.status, ending.message) == (Status.ERROR, "the verifier gave no reward")


def test_trials_are_numbered_by_their_beginning() -> None:
    began = {"count-lines__z": "04:08:01", "count-lines__a": "04:08:03", "count-lines__m": "04:08:02"}
    trials = trials_of(harbor.job_folder({name: {"began": at, "id": name} for name, at in began.items()}))
    assert [trial.number for trial in trials] == [1, 2, 3]
    assert [trial.case for trial in trials] == ["count-lines"] * 3


def test_each_agent_has_its_own_numbers() -> None:
    other = {"name": "terminus-2", "version": "2.1.0", "model_info": None}
    trials = trials_of(harbor.job_folder({"count-lines__1": {}, "count-lines__2": {"agent_info": other}}))
    assert {(trial.target, trial.number) for trial in trials} == {
        ("terminus-2/anthropic/claude-haiku-4-5", 1),
        ("terminus-2", 1),
    }


def test_what_a_job_says_of_its_run() -> None:
    found = read(harbor.job_folder({"count-lines__1": {}}, planned=3, retries=2))
    assert (found.planned, found.version, found.stopped) == (3, "0.25.0", None)
    assert found.made_at == "2026-11-22T04:09:01Z"  # of a trial: the job's own times have no zone
    assert found.subject == {"agent": "terminus-2 2.1.0"}
    assert found.notes == ["harbor tried 2 trials again; the attempts before are not in its files"]


def test_a_job_that_did_not_finish() -> None:
    found = read(harbor.job_folder({"count-lines__1": {}}, planned=36, finished=False))
    assert found.planned == 36
    assert found.stopped == "harbor's job didn't finish: there are results of 1 of 36 trials"


def test_two_jobs_are_two_runs() -> None:
    files = {
        **harbor.job_folder({"a__1": {"task": "a"}}, "jobs/one"),
        **harbor.job_folder({"a__2": {"task": "a"}, "b__3": {"task": "b"}}, "jobs/two"),
    }
    assert [(run.planned, len(list(run.trials))) for run in FORMAT.read(files_of(files))] == [(1, 1), (2, 2)]


def test_trials_without_their_jobs_file_are_a_run_by_their_folder() -> None:
    files = {f"jobs/{job}/a__{job}/result.json": harbor.trial(f"a__{job}", task="a") for job in ("one", "two")}
    assert [run.planned for run in FORMAT.read(files_of(files))] == [None, None]


def test_one_trials_file_alone() -> None:
    (trial,) = trials_of({"result.json": harbor.trial("count-lines__1")})
    assert trial.status is Status.PASSED
    assert trial.trace is None


def test_a_jobs_file_alone_is_no_run() -> None:
    with pytest.raises(InputError, match=r"jobs/nightly/result\.json: it only counts .* Name the job's folder, jobs/n"):
        read({"jobs/nightly/result.json": harbor.job(36)})


def test_plans_alone_are_no_run() -> None:
    with pytest.raises(InputError, match="there is no trial of harbor in it"):
        read({"jobs/nightly/lock.json": harbor.lock(), "jobs/nightly/config.json": harbor.config()})


def test_other_files_in_a_jobs_folder_are_passed_over() -> None:
    inside = {"jobs/nightly/count-lines__1/verifier/reward.json": {"reward": 1}}
    assert len(trials_of(harbor.job_folder({"count-lines__1": {}}) | inside)) == 1


def test_other_files_elsewhere_are_refused() -> None:
    with pytest.raises(InputError, match=r"notes/reward\.json: it is not a result of harbor"):
        read(harbor.job_folder({"count-lines__1": {}}) | {"notes/reward.json": {"reward": 1}})


def test_a_trial_whose_file_is_cut_is_no_stranger() -> None:
    files = harbor.job_folder({"count-lines__1": {}, "count-lines__2": {}})
    for cut in (b"", b'{"id": "62', b'{"id": "62", "task_name": "count-lines", "trial_name": "x", "agent_info": {'):
        files["jobs/nightly/count-lines__2/result.json"] = cut
        with pytest.raises(InputError, match=r"count-lines__2/result\.json: "):
            read(files)


def test_a_conversation_is_read_when_it_is_asked_for() -> None:
    name = "jobs/nightly/count-lines__1/agent/trajectory.json"
    (trial,) = trials_of(harbor.job_folder({"count-lines__1": {}}) | {name: harbor.trajectory()})
    assert trial.trace is not None
    trace = trial.trace()
    assert trace is not None
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool_result", "assistant"]
    assert trace.messages[1].tool_uses == [ToolUse(id="call_1", name="bash_command", input={"command": "wc -l a.txt"})]
    assert trace.messages[2].content == [ToolResult(tool_use_id="call_1", content="3 a.txt\n")]
    assert trace.messages[3].text == "Three lines."
    assert trace.tool_calls == [ToolCall(commands="wc -l a.txt", stdout="3 a.txt\n", exit_code=None)]
    assert [turn.stop for turn in trace.turns] == ["tool_use", "end"]
    assert trace.turns[0].usage.input_tokens == 50
    assert (trace.usage, trace.natural_stop, trace.duration_ms) == (trial.usage, True, 1250)


def test_a_conversation_that_cannot_be_read_is_none() -> None:
    name = "jobs/nightly/count-lines__1/agent/trajectory.json"
    (trial,) = trials_of(harbor.job_folder({"count-lines__1": {}}) | {name: b'{"schema_version": "ATIF-v1.5", "st'})
    assert trial.trace is not None
    assert trial.trace() is None


def test_every_file_of_a_job_is_recognised() -> None:
    for file in files_of(harbor.job_folder({"count-lines__1": {}}) | {"trajectory.json": harbor.trajectory()}):
        assert recognised(file) == "harbor"


def test_a_text_that_quotes_a_result_is_none() -> None:
    (quoted,) = files_of({"a.json": {"output": "{" + '"n_total_trials": 1, "stats": {}' * 5000}})
    assert not FORMAT.recognises(quoted, quoted.head())


def test_which_files_of_a_folder_are_read() -> None:
    names = ["jobs/a/result.json", "jobs/a/t__1/result.json", "jobs/a/t__1/agent/trajectory.json", "jobs/a/lock.json"]
    assert all(map(FORMAT.belongs, names))
    assert not FORMAT.belongs("jobs/a/config.json")
