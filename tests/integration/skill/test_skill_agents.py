"""Skills and the agents that aren't scripts: models in the built-in loop, recordings, programs; and their judge."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from evalward.records.case import Case
from evalward.records.result import Status, Trial
from evalward.records.trace import ToolCall, Trace
from evalward.suites.base import TrialBrokenError
from evalward.suites.skill.kind import SKILL
from evalward.targets.agents.base import AgentJob, AgentRun
from evalward.targets.base import Free, TrialSkippedError
from support.model_server import Answer, Fault, ModelServer, Script, Tokens, bash
from support.scenario_runs import MODEL
from support.skill_runs import (
    CSV_LINE,
    NEAR,
    QUERY,
    READ,
    SOLUTION,
    SUITE,
    TASK,
    SkillBench,
    TriedSkill,
    first_case,
    tried_skill,
)

TARGET = f"openai/{MODEL}"
SENTENCES = ["The number is in answer.txt.", "Nothing else was made."]
JUDGED = {**TASK, "expectations": SENTENCES, "expected_output": "A file answer.txt with the number 3."}


@pytest.fixture
def bench(tmp_path: Path) -> SkillBench:
    return SkillBench(tmp_path)


async def answered(
    bench: SkillBench, case: dict[str, Any], *answers: Answer, faults: tuple[Fault, ...] = ()
) -> tuple[TriedSkill, list[str]]:
    """A trial of the built-in agent with a model that answers this in each arm; and what the model was told."""
    done = Answer(text="Done.", tokens=Tokens(input=10, output=2))
    with ModelServer(Script(default=(*answers, done)), faults=faults) as server:
        bench.serve(server)
        tried = await tried_skill(bench, TARGET, case)
        return tried, [str(logged.body) for logged in server.requests]


async def test_a_model_is_told_of_the_skills_and_loads_one_by_reading_it(bench: SkillBench) -> None:
    bench.suite["distractors"] = ["others/*/SKILL.md"]
    other = bench.root / "others" / "pdf" / "SKILL.md"
    other.parent.mkdir(parents=True)
    other.write_text("---\nname: pdf\ndescription: Reads portable documents.\n---\nA page after a page.\n", "utf-8")
    pages = READ.format("pdf")
    done, told = await answered(bench, QUERY, bash(pages), bash(READ.format("csv")))
    assert "<location>.agents/skills/csv/SKILL.md</location>" in told[0]
    assert "Reads portable documents." in told[0]
    assert CSV_LINE not in told[0]
    assert done.loaded == [("pdf", "distractor", "read"), ("csv", "suite", "read")]
    assert (done.outcome.result.status, done.details.won) == (Status.PASSED, "pdf")


async def test_the_model_that_has_no_skill_is_told_of_none(bench: SkillBench) -> None:
    done, told = await answered(bench, TASK, bash(SOLUTION, tokens=Tokens(input=100, output=20)))
    assert ["<available_skills>" in each for each in told] == [True, True, False, False]
    first, second = done.details.arms
    assert (first.turns, first.usage.input_tokens, second.usage.input_tokens) == (2, 110, 110)
    usage, cost = done.outcome.result.usage, first.usage.cost_usd
    assert usage.input_tokens == 220
    assert cost is not None
    assert usage.cost_usd == pytest.approx(2 * cost)
    assert (first.held, second.held) == (1, 0)


async def test_a_provider_that_fails_the_arm_without_leaves_the_other_as_it_is(bench: SkillBench) -> None:
    failing = Fault("context_length", nth=(3,))
    done, _ = await answered(bench, TASK, bash(SOLUTION), faults=(failing,))
    first, second = done.details.arms
    assert (done.outcome.result.status, first.status) == (Status.PASSED, Status.PASSED)
    assert not second.status.valid or second.held == 0
    with pytest.raises(TrialBrokenError, match="key"):
        await answered(bench, TASK, bash(SOLUTION), faults=(Fault("key", nth=(3,)),))
    with pytest.raises(TrialBrokenError):
        await answered(bench, TASK, bash(SOLUTION), faults=(Fault("key", nth=(1,)),))


async def test_a_recording_of_both_arms_is_repeated_in_both(bench: SkillBench) -> None:
    done, _ = await answered(bench, TASK, bash(READ.format("csv")), bash(SOLUTION))
    recorded = Trial(
        suite=SUITE, kind="skill", target=TARGET, subject="s", result=done.outcome.result, trace=done.outcome.trace
    )
    (bench.root / "recorded.jsonl").write_text(recorded.model_dump_json(by_alias=True) + "\n", "utf-8")
    again = SkillBench(bench.root, more={"recordings": {"r": "recorded.jsonl"}})
    replay = await tried_skill(again, "replay:r", TASK)
    assert (replay.details.replayed, replay.details.diverged_at) == (True, None)
    assert (replay.outcome.result.status, replay.loaded) == (Status.PASSED, [("csv", "suite", "read")])
    assert [(each.status, each.held) for each in replay.details.arms] == [(Status.PASSED, 1), (Status.FAILED, 0)]
    assert replay.outcome.result.usage.input_tokens == done.outcome.result.usage.input_tokens
    assert replay.outcome.result.usage.cost_usd == 0
    alone = recorded.model_copy(update={"trace": done.outcome.trace.model_copy(update={"arms": {}})})
    (bench.root / "recorded.jsonl").write_text(alone.model_dump_json(by_alias=True) + "\n", "utf-8")
    replay = await tried_skill(again, "replay:r", TASK)
    assert [(each.status, each.reason) for each in replay.details.arms] == [
        (Status.PASSED, None),
        (Status.SKIPPED, "not_recorded"),
    ]


def judge_says(*scores: float) -> dict[str, Any]:
    return {"scores": {f"e{number}": score for number, score in enumerate(scores, 1)}, "issues": []}


async def test_each_expectation_holds_or_not_by_what_a_judge_says(bench: SkillBench) -> None:
    bench.judged(count=[judge_says(1, 0.2)], count__without=[judge_says(0, 1)])
    done = await tried_skill(bench, bench.script("solve", SOLUTION), JUDGED)
    result, (first, second) = done.outcome.result, done.details.arms
    assert (result.status, result.reason) == (Status.FAILED, "expectations_failed")
    assert [(check.check, check.passed) for check in result.checks][1:] == [(SENTENCES[0], True), (SENTENCES[1], False)]
    assert [(each.held, each.expectations) for each in (first, second)] == [(2, 3), (1, 3)]
    assert (done.details.judge is not None and done.details.judge.passed, result.judge_usage is not None) == (
        False,
        True,
    )


async def test_without_a_judge_expectations_are_an_error(bench: SkillBench) -> None:
    done = await tried_skill(bench, "oracle", JUDGED)
    assert (done.outcome.result.status, done.outcome.result.reason) == (Status.ERROR, "judge_error")
    assert done.details.triggered is None
    bench.judged(count__without=[judge_says(0, 1)])
    done = await tried_skill(bench, "oracle", JUDGED)
    assert "has no answer about count" in str(done.outcome.result.message)


async def test_a_judge_is_shown_what_was_left_and_not_what_was_installed(bench: SkillBench) -> None:
    with ModelServer(Script(default=(Answer(text=json.dumps(judge_says(1, 1))),))) as server:
        bench.serve(server)
        bench.more["judge"] = {"model": TARGET}
        done = await tried_skill(bench, bench.script("solve", SOLUTION), JUDGED)
        asked = [str(logged.body) for logged in server.requests]
    assert done.outcome.result.status is Status.PASSED
    assert len(asked) == 2
    assert all("A file answer.txt with the number 3." in each for each in asked)
    assert "answer.txt (2 bytes):" in asked[0]
    assert "answer.txt (0 bytes):" in asked[1]
    assert not any("table.csv (" in each or "columns.sh (" in each or CSV_LINE in each for each in asked)


PROGRAM = """\
import json, sys
print(json.dumps({"event": "skill", "skill": "csv", "success": sys.argv[1] != "fails"}))
print(json.dumps({"event": "tool_call", "tool": "bash", "command": "true"}))
sys.exit(3 if sys.argv[1] == "crashes" else 0)
"""


def program(bench: SkillBench, how: str, output: str = "events") -> str:
    (bench.root / "agent.py").write_text(PROGRAM, "utf-8")
    (bench.root / "evals").mkdir(exist_ok=True)
    path = bench.root / "agent.py"
    bench.more["agents"] = {"mine": {"command": [sys.executable, "-c", path.read_text("utf-8"), how], "output": output}}
    return "agent:mine"


async def test_a_program_says_itself_which_skills_it_loads(bench: SkillBench) -> None:
    done = await tried_skill(bench, program(bench, "works"), QUERY)
    assert (done.outcome.result.status, done.loaded) == (Status.PASSED, [("csv", "suite", "called")])
    done = await tried_skill(bench, program(bench, "fails"), QUERY)
    assert (done.outcome.result.reason, done.loaded) == ("not_triggered", [])
    done = await tried_skill(bench, program(bench, "crashes"), QUERY)
    assert done.outcome.result.status is Status.PASSED  # it had loaded it before
    with pytest.raises(TrialSkippedError, match="prints only words"):
        await tried_skill(bench, program(bench, "works", "text"), QUERY)


async def test_an_agent_that_crashes_without_the_skill__proves_nothing_for_it(bench: SkillBench) -> None:
    done = await tried_skill(bench, program(bench, "crashes"), TASK)
    first, second = done.details.arms
    assert (done.outcome.result.status, first.status.valid) == (Status.FAILED, True)
    assert (second.status, second.reason) == (Status.ERROR, "agent_ended")
    assert second.message == "the agent ended with exit code 3"
    done = await tried_skill(bench, program(bench, "works"), TASK)
    assert [each.status for each in done.details.arms] == [Status.FAILED, Status.FAILED]


class Ends(Free):
    """An agent that reads these skills and then ends as it is made to."""

    id = "scripted:ends"
    random = False
    readable: Sequence[Path] = ()
    subject: Mapping[str, str] = {}

    def __init__(self, *lines: str, **how: Any) -> None:
        calls = [ToolCall(commands="cat x", stdout=line, exit_code=0) for line in lines]
        self._run = AgentRun(**{"trace": Trace(tool_calls=calls), "transcript": "", "exit_code": 1, **how})

    async def work(self, case: Case, trial: int, job: AgentJob) -> AgentRun:
        """The end."""
        return self._run


async def ended(bench: SkillBench, case: dict[str, Any], *lines: str, **how: Any) -> tuple[str, str | None]:
    """Status and reason of a trial that ends so; of one that is broken the reason."""
    prepared, first = first_case(bench, case)
    try:
        outcome = await SKILL.run_trial(prepared, first, Ends(*lines, **how), 1)
    except TrialBrokenError as error:
        return "error", error.reason
    if outcome.artifacts is not None:
        shutil.rmtree(outcome.artifacts)
    return outcome.result.status, outcome.result.reason


async def test_an_end_before_the_skill_was_loaded_decides_nothing(bench: SkillBench) -> None:
    late: dict[str, Any] = {"timed_out": True, "exit_code": None}
    assert await ended(bench, QUERY, **late) == ("error", "out_of_time")
    assert await ended(bench, NEAR, **late) == ("error", "out_of_time")
    assert await ended(bench, QUERY, CSV_LINE, **late) == ("passed", None)
    assert await ended(bench, NEAR, CSV_LINE, **late) == ("failed", "unwanted_skill")
    assert await ended(bench, QUERY, limit="turns") == ("failed", "not_triggered")


async def test_an_agent_that_was_failed_has_not_failed(bench: SkillBench) -> None:
    assert await ended(bench, QUERY, api_error="API Error: 529") == ("error", "api_error")
    assert await ended(bench, TASK, refused="prompt is too long") == ("error", "api_error")
    assert await ended(bench, QUERY, refused="a side question", exit_code=0) == ("failed", "not_triggered")
    assert await ended(bench, QUERY, api_error="no turns left", limit="turns") == ("failed", "not_triggered")
    assert await ended(bench, QUERY, lacking="rg", exit_code=0) == ("error", "missing_program")


async def test_the_base_side_works_on_tasks_with_the_skill_alone(bench: SkillBench) -> None:
    prepared, (target,) = bench.prepared(bench.write((bench.script("solve", SOLUTION),), TASK))
    base = SKILL.base_side(prepared)
    outcome = await SKILL.run_trial(base, base.cases[0], target, 2)
    details = outcome.result.details.model_dump()
    assert [arm["arm"] for arm in details["arms"]] == ["with"]
    assert (base.subject, base.cases) == (prepared.subject, prepared.cases)


async def test_cases_are_proved(bench: SkillBench) -> None:
    prepared, _ = bench.prepared(bench.write(("oracle",), QUERY, NEAR, TASK, {**JUDGED, "id": "judged"}))
    proof = await SKILL.prove(prepared)
    assert (list(proof.problems), proof.summary) == ([], "2 queries tried, 2 of 2 tasks solved by their solution")
    wrong = {**TASK, "solution": ["true"]}
    empty = {**TASK, "id": "empty", "checks": [{"type": "file_exists", "path": "table.csv"}]}
    prepared, _ = bench.prepared(bench.write(("oracle",), wrong, empty))
    problems = [problem.message for problem in (await SKILL.prove(prepared)).problems]
    assert problems[0].startswith("the solution of 'count' fails the check")
    assert problems[1] == "all checks of 'empty' pass when nothing is done"
