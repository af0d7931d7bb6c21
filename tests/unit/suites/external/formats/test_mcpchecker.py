"""mcpchecker's results: what is the agent's failure, and what broke around it."""

from __future__ import annotations

from typing import Any

import pytest

from evalward.records.problem import InputError
from evalward.records.result import CheckResult, Status
from evalward.suites.external.formats.base import ForeignResults, ForeignTrial, recognised
from evalward.suites.external.formats.mcpchecker import FORMAT
from support.foreign import mcpchecker
from support.foreign.files import files_of

FILE = "mcpchecker-kubernetes-out.json"


def read(value: object) -> ForeignResults:
    """The run in this file."""
    (found,) = FORMAT.read(files_of({FILE: value}))
    return found


def the_trial(run: dict[str, Any]) -> ForeignTrial:
    (trial,) = read(mcpchecker.output([run])).trials
    return trial


def test_a_run_that_passed() -> None:
    trial = the_trial(mcpchecker.run())
    assert (trial.case, trial.number, trial.category, trial.target) == (
        "create-pod",
        1,
        "easy",
        "my-agent/openai:gpt-5",
    )
    assert trial.status is Status.PASSED
    assert trial.asked == {"task": "create-pod", "path": "tasks/kubernetes/create-pod.yaml"}
    assert {name: score.value for name, score in trial.scores.items()} == {"task": 1.0, "assertions": 1.0}
    assert trial.checks[0] == CheckResult(check="1. script", passed=True, detail="ok")


def test_assertions_decide_with_the_verification() -> None:
    results = {"toolsUsed": {"passed": True}, "maxToolCalls": {"passed": False, "reason": "12 calls, at most 10"}}
    trial = the_trial(mcpchecker.run(assertionResults=results, allAssertionsPassed=False))
    assert (trial.status, trial.reason, trial.message) == (
        Status.FAILED,
        "assertion",
        "maxToolCalls: 12 calls, at most 10",
    )
    assert (trial.scores["task"].passed, trial.scores["assertions"].value) == (True, 0.5)


@pytest.mark.parametrize(
    "error",
    [
        "one or more verification steps failed",
        "verification failed: verify[0] failed: script execution failed: exit status 1\noutput: no pod",
    ],
)
def test_a_verification_that_says_no_is_a_failure(error: str) -> None:
    trial = the_trial(mcpchecker.failed(error))
    assert (trial.status, trial.reason, trial.message) == (Status.FAILED, "verification", error)


@pytest.mark.parametrize(
    "error",
    [
        "verification failed: verify[0] failed: failed to call llm judge: 529 Overloaded",
        "verification failed: verify[1] failed: no llm judge configured for llmJudge step",
        "verification failed: verify[0] failed: script execution failed: signal: killed\noutput: exit status 1",
    ],
)
def test_a_verification_that_broke_is_none(error: str) -> None:
    trial = the_trial(mcpchecker.failed(error))
    assert (trial.status, trial.reason, dict(trial.scores)) == (Status.ERROR, "verification_error", {})


def test_what_broke_before_the_agent_or_in_it() -> None:
    agent = mcpchecker.failed("failed to run agent: exit status 1", agentExecutionError=True)
    assert (the_trial(agent).status, the_trial(agent).reason) == (Status.ERROR, "agent_error")
    setup = mcpchecker.failed("failed to setup task: setup[0] failed", callHistory=None, agentOutput=None)
    assert (the_trial(setup).status, the_trial(setup).reason) == (Status.ERROR, "setup")


def test_the_time_limit_is_the_agents_while_it_works() -> None:
    limit = "task exceeded timeout of 5m0s"
    working = mcpchecker.failed(limit, timedOut=True, agentExecutionError=True)
    assert (the_trial(working).status, the_trial(working).reason) == (Status.FAILED, "timeout")
    for other in ({}, {"agentExecutionError": True, "taskError": f"{limit} during setup"}):
        trial = the_trial(mcpchecker.failed(limit, timedOut=True) | other)
        assert (trial.status, trial.reason) == (Status.ERROR, "timeout")


def test_a_run_without_a_verdict_is_not_judged() -> None:
    assert the_trial(mcpchecker.run(taskPassed=None)).status is None


def test_runs_of_a_task_are_its_trials() -> None:
    runs = [mcpchecker.run(totalRuns=2), mcpchecker.run(totalRuns=2, runIndex=1), mcpchecker.run("list-pods")]
    trials = list(read(mcpchecker.output(runs)).trials)
    assert [(trial.case, trial.number) for trial in trials] == [("create-pod", 1), ("create-pod", 2), ("list-pods", 1)]


def test_estimated_tokens_are_unknown() -> None:
    usage = the_trial(mcpchecker.run()).usage
    assert (usage.input_tokens, usage.output_tokens) == (None, None)


@pytest.mark.parametrize(("total", "fresh"), [(1100, 600), (1500, 1000), (1200, None)])
def test_counted_tokens_with_and_without_the_cache(total: int, fresh: int | None) -> None:
    counted = mcpchecker.estimate(inputTokens=1000, outputTokens=100, totalTokens=total, cachedReadTokens=400)
    usage = the_trial(mcpchecker.run(tokenEstimate=counted)).usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (fresh, 400, 100)


def test_the_judges_tokens_stand_alone() -> None:
    trial = the_trial(mcpchecker.run(judgeTokenUsage={"inputTokens": 70, "outputTokens": 7, "totalTokens": 77}))
    assert trial.judge_usage is not None
    assert (trial.judge_usage.input_tokens, trial.judge_usage.output_tokens) == (70, 7)
    assert the_trial(mcpchecker.run()).judge_usage is None


def test_the_conversation() -> None:
    trial = the_trial(mcpchecker.run())
    trace = trial.trace() if trial.trace is not None else None
    assert trace is not None
    assert [message.role for message in trace.messages] == ["assistant", "tool_result", "assistant"]
    assert trace.messages[0].tool_uses[0].input == {"image": "nginx"}
    assert trace.messages[2].text == "The pod runs."


def test_the_servers_calls_where_the_agent_told_nothing() -> None:
    trial = the_trial(mcpchecker.run(agentOutput=None))
    trace = trial.trace() if trial.trace is not None else None
    assert trace is not None
    assert trace.messages[0].tool_uses[0].name == "kubernetes/pods_create"
    assert trace.messages[-1].text == "The pod runs."
    assert "canary-of-the-header" not in trace.model_dump_json()


def test_the_servers_tools_are_the_subject() -> None:
    value = mcpchecker.output([mcpchecker.run()])
    subject = read(value).subject
    value["summary"]["mcpServers"][0]["tools"][0]["description"] = "Makes a pod."
    changed = read(value).subject
    assert subject["judge"] == changed["judge"] == "claude-sonnet-4"
    assert subject["tools of kubernetes"] != changed["tools of kubernetes"]


def test_older_versions_write_a_bare_list() -> None:
    (trial,) = read([mcpchecker.run()]).trials
    assert (trial.status, trial.target) == (Status.PASSED, "")


def test_two_tasks_of_one_name_are_refused() -> None:
    other = mcpchecker.run(taskPath="tasks/other/create-pod.yaml")
    with pytest.raises(InputError, match='two tasks are called "create-pod"'):
        list(read(mcpchecker.output([mcpchecker.run(), other])).trials)


@pytest.mark.parametrize("value", [mcpchecker.output([]), [], b'{"summary": {}, "results": [{"taskName"', b""])
def test_no_run_is_never_green(value: object) -> None:
    with pytest.raises(InputError):
        list(read(value).trials)


def test_it_is_recognised_by_content_and_by_name() -> None:
    for value in (mcpchecker.output([mcpchecker.run()]), [mcpchecker.run()], mcpchecker.output([])):
        (file,) = files_of({"results.json": value})
        assert recognised(file) == "mcpchecker"
    assert FORMAT.belongs("evals/gevals-netedge-out.json")
    assert not FORMAT.belongs("evals/results.json")
