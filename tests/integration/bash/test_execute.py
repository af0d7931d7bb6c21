"""From a case file to results: oracle, nop and replay, end to end through the engine."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evalward.config import LoadedConfig
from evalward.engine import scheduler
from evalward.engine.plan import Plan, PlannedRun, make_plan
from evalward.engine.scheduler import ExecutionSettings, execute
from evalward.engine.selection import Selection
from evalward.engine.store import Store
from evalward.engine.subject import make_subject
from evalward.records.case import Case
from evalward.records.problem import InputError
from evalward.records.report import Run
from evalward.records.result import Result, Status, Trial
from evalward.records.trace import Message, Text, ToolUse, Turn, Usage
from evalward.sandbox.base import FileType, SandboxError
from evalward.sandbox.virtual import VirtualShell
from evalward.suites import shells as bash_shells
from evalward.suites.bash.details import BashDetails
from evalward.targets.base import Chat, Free, Reply, Request
from evalward.targets.failures import Cause, TargetError
from evalward.targets.replay import load_recording
from support.cases import Silent, task, write_suite

TASKS = [
    task(),
    task(id="files", category="files", prompt="Copy it.", files={"/w/a": "alpha\n"}, solution=["cd /w", "cp a b"],
         expectations=[{"check": "file_contains:/w/b:alpha"}, {"check": "tool_calls_min:2"}]),
    task(id="partly", solution="echo hello; exit 3",
         expectations=[{"check": "stdout_contains:hello", "weight": 2}, {"check": "exit_code:0"},
                       {"check": "stderr_empty", "weight": 0}]),
    task(id="clock", solution="date; mktemp; echo hello $RANDOM > /dev/null; echo hello"),
]  # fmt: skip


def run_all(loaded: LoadedConfig, output: Path | None = None, selection: Selection | None = None) -> list[Run]:
    plan = make_plan(loaded, selection or Selection())
    return list(asyncio.run(execute(plan, ExecutionSettings(Store(output) if output else None, Silent()))).runs)


def statuses(run: Run) -> dict[str, str]:
    return {result.id: result.status.value for result in run.cases}


def details(result: Result) -> BashDetails:
    assert isinstance(result.details, BashDetails)
    return result.details


def without_clock(result: Result) -> dict[str, Any]:
    data = result.model_dump(exclude={"duration_ms", "trace", "details", "usage"})
    return {
        **data,
        "details": details(result).model_dump(include={"tool_calls", "tool_calls_ok", "turns", "natural_stop"}),
    }


# --- oracle and nop -------------------------------------------------------------------------------------------------


def test_the_oracle_gets_what_the_solutions_get(tmp_path: Path) -> None:
    (run,) = run_all(write_suite(tmp_path, TASKS))
    assert statuses(run) == {"hello": "passed", "files": "passed", "partly": "failed", "clock": "passed"}
    partly = run.cases[2]
    assert (partly.score, partly.max_score, partly.reason) == (2.0, 3.0, "checks_failed")
    assert [check.passed for check in partly.checks] == [True, False, True]
    assert details(partly).failing_command == "echo hello; exit 3"
    files = details(run.cases[1])
    assert (files.tool_calls, files.tool_calls_ok, files.turns, files.natural_stop) == (2, 2, 3, True)
    assert run.metrics["total_passed"].value == 3.0
    assert (run.random, run.planned, run.trials) == (False, 4, 1)
    assert {"system", "tool_description", "bashkit"} <= set(run.subject.parts)


def test_nop_gets_what_a_suite_gives_away(tmp_path: Path) -> None:
    free = task(id="free", expectations=[{"check": "stderr_empty"}, {"check": "llm_judge:polite?"}])
    (run,) = run_all(write_suite(tmp_path, [*TASKS, free], targets=["nop"]))
    assert statuses(run)["hello"] == "failed"
    assert statuses(run)["free"] == "passed"
    assert run.metrics["total_tool_calls"].value == 0.0
    assert run.metrics["tool_call_success_rate"].value is None
    assert (run.cases[-1].score, run.cases[-1].max_score) == (1.0, 1.0)  # a judge check weighs nothing


def test_a_failed_check_of_weight_0_fails_the_case_and_costs_no_score(tmp_path: Path) -> None:
    checks = [{"check": "stdout_contains:hello"}, {"check": "exit_code:7", "weight": 0}]
    (run,) = run_all(write_suite(tmp_path, [task(expectations=checks)]))
    (only,) = run.cases
    assert (only.status, only.score, only.max_score) == (Status.FAILED, 1.0, 1.0)
    assert run.metrics["overall_rate"].value == 1.0
    assert run.metrics["pass_rate"].value == 0.0


def test_a_case_without_a_solution_is_skipped_by_the_oracle(tmp_path: Path) -> None:
    (run,) = run_all(write_suite(tmp_path, [task(solution=None)]), tmp_path / "out")
    (only,) = run.cases
    assert (only.status, only.reason, only.message) == ("skipped", "no_solution", "the case has no reference solution")
    assert not (tmp_path / "out").exists()


def test_trials_are_kept_one_file_each_and_named_in_the_results(tmp_path: Path) -> None:
    (run,) = run_all(write_suite(tmp_path, TASKS[:2], trials=2), tmp_path / "out")
    assert [(result.id, result.trial) for result in run.cases] == [
        ("hello", 1),
        ("hello", 2),
        ("files", 1),
        ("files", 2),
    ]
    for result in run.cases:
        trial = Trial.model_validate_json((tmp_path / "out" / str(result.trace)).read_text("utf-8"))
        assert (trial.suite, trial.target, trial.subject) == ("shell", "oracle", run.subject.hash)
        assert trial.result.model_copy(update={"trace": result.trace, "place": result.place}) == result
        assert trial.trace.messages[0].role == "user"
    assert len(list((tmp_path / "out").rglob("*.json"))) == 4


def test_results_come_in_the_plans_order_whatever_finishes_first(tmp_path: Path) -> None:
    sleepy = [task(id=f"c{n}", solution=f"sleep {0.12 - n * 0.02:.2f}; echo hello") for n in range(6)]
    loaded = write_suite(tmp_path, sleepy, targets=["oracle", "nop"])
    progress = Silent()
    runs = asyncio.run(execute(make_plan(loaded, Selection()), ExecutionSettings(None, progress))).runs
    assert [run.target for run in runs] == ["oracle", "nop"]
    for run in runs:
        assert [result.id for result in run.cases] == [f"c{n}" for n in range(6)]
    assert len(progress.seen) == 12
    assert [result.id for result in progress.seen] != [result.id for run in runs for result in run.cases]


class Impatient(Silent):
    """Whoever presses Ctrl-C at the first trial that ends."""

    def finished(self, run: str, result: Result, *, kept: bool = False) -> None:
        if not self.seen:
            os.kill(os.getpid(), signal.SIGINT)
        super().finished(run, result, kept=kept)


def test_a_signal_ends_what_follows_in_the_same_invocation_too(tmp_path: Path) -> None:
    loaded = write_suite(tmp_path, [task(id="ends"), task(id="stays", solution="sleep 3600; echo hello")])
    execution = ExecutionSettings(None, Impatient())
    first, second = (asyncio.run(execute(make_plan(loaded, Selection()), execution)) for _ in range(2))
    assert [statuses(run) for run in first.runs] == [{"ends": "passed", "stays": "skipped"}]
    assert [statuses(run) for run in second.runs] == [{"ends": "skipped", "stays": "skipped"}]
    assert first.stopped == second.stopped == "interrupted by SIGINT"


def test_a_signal_at_the_very_end_of_a_stage_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All is measured and the loop waits for nothing any more: what follows isn't begun."""

    def measured(*given: Any) -> Run:
        os.kill(os.getpid(), signal.SIGTERM)
        return record(*given)

    record = scheduler._run_record
    monkeypatch.setattr(scheduler, "_run_record", measured)
    execution = ExecutionSettings(None, Silent())
    done = asyncio.run(execute(make_plan(write_suite(tmp_path, TASKS[:1]), Selection()), execution))
    assert (done.stopped, execution.ended.reason) == ("interrupted by SIGTERM",) * 2


def test_the_shell_of_one_case_knows_nothing_of_another(tmp_path: Path) -> None:
    leaves = task(id="leaves", solution="echo secret > /tmp/left; echo hello")
    finds = task(id="finds", solution="cat /tmp/left; echo hello", expectations=[{"check": "stdout_contains:secret"}])
    (run,) = run_all(write_suite(tmp_path, [leaves, finds]))
    assert statuses(run) == {"leaves": "passed", "finds": "failed"}


# --- replay ---------------------------------------------------------------------------------------------------------


def recorded(folder: Path, tasks: list[dict[str, Any]], **suite: Any) -> Run:
    folder.mkdir(exist_ok=True)
    (run,) = run_all(write_suite(folder, tasks, **suite), folder / "recording")
    return run


def replay(folder: Path, tasks: list[dict[str, Any]], **suite: Any) -> Run:
    loaded = write_suite(folder, tasks, targets=["replay:old"], recordings={"old": "recording"}, **suite)
    (run,) = run_all(loaded)
    return run


def edit_trials(folder: Path, change: Mapping[str, str]) -> None:
    for file in folder.rglob("*.json"):
        text = file.read_text("utf-8")
        for before, after in change.items():
            text = text.replace(before, after)
        file.write_text(text, "utf-8")


def test_a_replay_of_what_the_oracle_did_gives_the_same_without_divergence(tmp_path: Path) -> None:
    before = recorded(tmp_path, TASKS, trials=2)
    now = replay(tmp_path, TASKS, trials=2)
    assert [without_clock(result) for result in now.cases] == [without_clock(result) for result in before.cases]
    assert {details(result).diverged_at for result in now.cases if result.id != "clock"} == {None}
    assert all(details(result).replayed for result in now.cases)
    assert (now.target, now.random) == ("replay:old", False)
    assert now.metrics["cost_usd"].value == 0.0
    assert now.subject.parts["recording"].startswith("sha256:")


def test_a_jsonl_file_is_a_recording_too(tmp_path: Path) -> None:
    before = recorded(tmp_path, TASKS[:2])
    lines = [file.read_text("utf-8") for file in sorted((tmp_path / "recording").rglob("*.json"))]
    (tmp_path / "old.jsonl").write_text("# recorded by hand\n\n" + "".join(lines), "utf-8")
    loaded = write_suite(tmp_path, TASKS[:2], targets=["replay:old"], recordings={"old": "old.jsonl"})
    (now,) = run_all(loaded)
    assert [without_clock(result) for result in now.cases] == [without_clock(result) for result in before.cases]


def test_an_answer_that_changed_marks_the_divergence(tmp_path: Path) -> None:
    recorded(tmp_path, TASKS[:2])
    edit_trials(tmp_path / "recording", {'"stdout":"hello\\n"': '"stdout":"hullo\\n"'})
    hello, files = replay(tmp_path, TASKS[:2]).cases
    assert (details(hello).diverged_at, details(files).diverged_at) == (1, None)
    assert hello.status is Status.PASSED  # the result is today's


def test_a_command_that_works_now_shows_in_the_tool_success(tmp_path: Path) -> None:
    before = recorded(tmp_path, [task(solution=["false", "echo hello"])])
    assert details(before.cases[0]).tool_calls_ok == 1
    edit_trials(tmp_path / "recording", {'"commands":"false"': '"commands":"true"'})
    (now,) = replay(tmp_path, [task(solution=["false", "echo hello"])]).cases
    assert (details(now).tool_calls, details(now).tool_calls_ok, details(now).diverged_at) == (2, 2, 1)


def test_a_case_that_wasnt_recorded_is_skipped_with_the_reason(tmp_path: Path) -> None:
    recorded(tmp_path, TASKS[:1])
    run = replay(tmp_path, TASKS[:2])
    assert statuses(run) == {"hello": "passed", "files": "skipped"}
    missing = run.cases[1]
    assert (missing.reason, missing.message) == ("not_recorded", "the recording old has no trial 1 of this case")
    assert replay(tmp_path, TASKS[:1], trials=2).cases[1].message == "the recording old has no trial 2 of this case"


def test_a_case_that_changed_since_is_refused_with_the_reason(tmp_path: Path) -> None:
    recorded(tmp_path, TASKS[:2])
    changed = [{**TASKS[0], "prompt": "Say hello."}, {**TASKS[1], "description": "new words"}]
    run = replay(tmp_path, changed)
    assert statuses(run) == {"hello": "skipped", "files": "passed"}
    assert run.cases[0].reason == "definition_differs"
    assert "changed since old was recorded" in str(run.cases[0].message)


def test_a_trial_that_broke_when_it_was_recorded_is_no_recording_of_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(bash_shells, "VirtualShell", broken_shell)
        assert statuses(recorded(tmp_path, TASKS[:1])) == {"hello": "error"}
    (only,) = replay(tmp_path, TASKS[:1]).cases
    assert (only.status, only.reason) == ("skipped", "not_recorded")
    assert only.message == "trial 1 of this case ended in an error when old was recorded"


def test_the_subject_of_a_replay_is_what_was_said_and_not_when(tmp_path: Path) -> None:
    one = recorded(tmp_path / "one", TASKS[:2]).cases
    other = recorded(tmp_path / "other", TASKS[:2]).cases
    assert [without_clock(result) for result in one] == [without_clock(result) for result in other]
    first = load_recording("old", tmp_path / "one" / "recording").subject
    assert load_recording("new", tmp_path / "other" / "recording").subject == first
    edit_trials(tmp_path / "other" / "recording", {"echo hello": "echo hullo"})
    assert load_recording("new", tmp_path / "other" / "recording").subject != first


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", "", "holds no trial"),
        ("a.jsonl", "# nothing\n", "holds no trial"),
        ("a.jsonl", "{", "not valid JSON"),
        ("a.jsonl", "[]", "this is not a trial"),
        ("a.jsonl", '\n{"schema": "evalward.report/1"}', "this is not a trial"),
        ("a.jsonl", '{"schema": "evalward.trial/1", "suite": 5}', "a.jsonl:1: suite: "),
        ("a.jsonl", "[" * 100_000, "not valid JSON"),
        ("trials/x/a.json", "{", "not valid JSON"),
        ("a.txt", "", "holds no trial"),
    ],
)
def test_what_is_no_recording_is_told(tmp_path: Path, name: str, content: str, message: str) -> None:
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, "utf-8")
    with pytest.raises(InputError) as caught:
        load_recording("old", tmp_path)
    assert message in str(caught.value)


# --- what breaks ----------------------------------------------------------------------------------------------------


def broken_shell(files: Mapping[str, str], timeout_s: float) -> None:
    raise SandboxError("no memory")


def test_a_broken_sandbox_is_an_error_and_not_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bash_shells, "VirtualShell", broken_shell)
    (run,) = run_all(write_suite(tmp_path, TASKS[:2]), tmp_path / "out")
    assert {(result.status, result.reason, result.message) for result in run.cases} == {
        ("error", "sandbox", "no memory")
    }
    assert run.metrics["harness_error_rate"].value == 1.0
    assert run.metrics["pass_rate"].value is None
    assert len(list((tmp_path / "out").rglob("*.json"))) == 2


def test_a_sandbox_that_breaks_in_the_middle_ends_no_other_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Fragile(VirtualShell):
        async def run(self, script: str) -> Any:
            if script == "break":
                raise SandboxError("it broke")
            return await super().run(script)

    monkeypatch.setattr(bash_shells, "VirtualShell", Fragile)
    (run,) = run_all(write_suite(tmp_path, [task(id="bad", solution=["echo hello", "break"]), task()]))
    assert statuses(run) == {"bad": "error", "hello": "passed"}
    assert run.cases[0].score == run.cases[0].max_score == 0.0


def test_a_sandbox_that_breaks_at_the_checks_is_an_error_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(VirtualShell):
        def file_type(self, path: str) -> FileType | None:
            raise SandboxError("it broke")

    monkeypatch.setattr(bash_shells, "VirtualShell", Forgetful)
    (run,) = run_all(write_suite(tmp_path, [task(expectations=[{"check": "file_exists:/tmp/x"}])]))
    (result,) = run.cases
    assert (result.status, result.reason, result.message) == ("error", "sandbox", "it broke")


class Scripted(Free):
    """A target that says what it is told to, or raises it."""

    id = "scripted"
    random = True
    subject: Mapping[str, str] = {}
    recording = None

    def __init__(self, *answers: Reply | Exception) -> None:
        self._answers = list(answers)

    def open(self, case: Case, trial: int) -> Chat:
        return self

    async def send(self, request: Request) -> Reply:
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def run_target(tmp_path: Path, target: Scripted, **changes: Any) -> Result:
    plan = make_plan(write_suite(tmp_path, [task(**changes)]), Selection())
    (planned,) = plan.runs
    run = PlannedRun(planned.kind, planned.suite, target, planned.cases, 1)
    ((only,),) = [
        r.cases for r in asyncio.run(execute(Plan([run]), ExecutionSettings(Store(tmp_path / "out"), Silent()))).runs
    ]
    return only


@pytest.mark.parametrize("error", [RuntimeError("boom"), ValueError("odd \ud800 text"), KeyError("x"), OSError("gone")])
def test_whatever_else_breaks_is_an_error_too(tmp_path: Path, error: Exception) -> None:
    result = run_target(tmp_path, Scripted(error))
    assert (result.status, result.reason) == ("error", "ours")
    assert str(result.message).startswith(type(error).__name__)
    result.model_dump_json()


def test_what_a_model_did_that_breaks_the_checks_is_its_own_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Odd(VirtualShell):
        def read_file(self, path: str) -> bytes | None:
            raise RecursionError("what the model left is too deep \ud800")

    monkeypatch.setattr(bash_shells, "VirtualShell", Odd)
    checks = [{"check": "file_contains:/tmp/x:y", "weight": 2}, {"check": "stdout_contains:hello"}]
    (run,) = run_all(write_suite(tmp_path, [task(solution="echo hello; echo y > /tmp/x", expectations=checks)]))
    (result,) = run.cases
    assert (result.status, result.reason, result.score, result.max_score) == ("failed", "unreadable_result", 0.0, 3.0)
    assert "RecursionError: what the model left is too deep" in str(result.message)
    assert (details(result).tool_calls, run.metrics["overall_rate"].value) == (1, 0.0)
    result.model_dump_json()


def test_an_answer_that_breaks_its_reader_is_the_models_failure(tmp_path: Path) -> None:
    error = TargetError(Cause.UNREADABLE, "it can't be read", target="scripted")
    result = run_target(tmp_path, Scripted(error))
    assert (result.status, result.reason) == ("failed", "unreadable_result")
    assert str(result.message).endswith("it can't be read")


def test_an_answer_that_no_file_could_hold_is_kept_all_the_same(tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(300):
        deep = {"a": deep}
    blocks = [Text(text="\ud800"), ToolUse(id="1", name="bash", input={"commands": "echo '\ud800'; false"}),
              ToolUse(id="2", name="bash", input=deep)]  # fmt: skip
    told = Turn(usage=Usage(input_tokens=1, output_tokens=1), stop="end")
    result = run_target(tmp_path, Scripted(Reply(Message(role="assistant", content=list(blocks)), told)))
    assert (result.status, details(result).tool_calls) == ("failed", 2)
    result.model_dump_json()
    kept = json.loads((tmp_path / "out" / str(result.trace)).read_text("utf-8"))
    assert kept["trace"]["tool_calls"][0]["commands"] == "echo '\ufffd'; false"


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("end", "checks_failed"),
        ("length", "length"),
        ("refusal", "refusal"),
        ("content_filter", "content_filter"),
        ("other", "other"),
    ],
)
def test_why_a_trial_failed(tmp_path: Path, stop: Any, reason: str) -> None:
    reply = Reply(Message(role="assistant", content=[]), Turn(stop=stop))
    result = run_target(tmp_path, Scripted(reply))
    assert (result.status, result.reason) == ("failed", reason)


def test_the_turn_limit_is_a_reason(tmp_path: Path) -> None:
    use = ToolUse(id="1", name="bash", input={"commands": "true"})
    replies = [Reply(Message(role="assistant", content=[use]), Turn(stop="tool_use"))] * 3
    result = run_target(tmp_path, Scripted(*replies), max_turns=2)
    assert (result.status, result.reason, details(result).turns) == ("failed", "turn_limit", 2)


def test_the_hash_of_a_subject_is_over_its_parts() -> None:
    assert make_subject({"a": "1", "b": "2"}).hash == make_subject({"b": "2", "a": "1"}).hash
    assert make_subject({"a": "1"}).hash != make_subject({"a": "2"}).hash


def test_results_say_where_their_case_is_written_today(tmp_path: Path) -> None:
    loaded = write_suite(tmp_path, TASKS[:2])
    (first,) = run_all(loaded, tmp_path / "out")
    assert [result.place for result in first.cases] == ["cases.jsonl:1", "cases.jsonl:2"]
    cases = tmp_path / "cases.jsonl"
    cases.write_text("# a comment\n" + cases.read_text("utf-8"), "utf-8")
    execution = ExecutionSettings(Store(tmp_path / "out"), Silent(), resume=True)
    (resumed,) = asyncio.run(execute(make_plan(loaded, Selection()), execution)).runs
    assert [result.place for result in resumed.cases] == ["cases.jsonl:2", "cases.jsonl:3"]
    assert [result.duration_ms for result in resumed.cases] == [result.duration_ms for result in first.cases]
