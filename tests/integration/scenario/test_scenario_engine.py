"""Scenario suites in the engine: planned by their matrix, kept with artifacts, resumed, compared, proven."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evalward.commands.pipeline import Criteria
from evalward.config import LoadedConfig
from evalward.engine.plan import make_plan
from evalward.engine.scheduler import Executed, ExecutionSettings, execute
from evalward.engine.selection import Selection
from evalward.engine.store import Store
from evalward.records.policy import Policy
from evalward.records.problem import InputError
from evalward.records.report import Run
from evalward.records.result import Result
from evalward.redaction import NOTHING, Redaction
from evalward.runner.measure import prepare
from evalward.suites.across import unfed_rules
from evalward.suites.scenario.details import ScenarioDetails
from evalward.suites.scenario.kind import SCENARIO
from support.results import report
from support.scenario_runs import Bench, scenario
from support.written import make_baseline


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


class Counted:
    """Counts the trials that came to their end."""

    def __init__(self) -> None:
        self.trials = 0

    def finished(self, run: str, result: Result, *, kept: bool = False) -> None:
        self.trials += 1


async def ran(loaded: LoadedConfig, output: Path, *, resume: bool = False, redaction: Redaction = NOTHING) -> Executed:
    store = Store(output, redaction)
    return await execute(make_plan(loaded, Selection()), ExecutionSettings(store, Counted(), resume=resume))


def by_target(done: Executed) -> Mapping[str, Run]:
    return {run.target: run for run in done.runs}


def details(run: Run) -> ScenarioDetails:
    found = run.cases[0].details
    assert isinstance(found, ScenarioDetails)
    return found


async def test_every_trial_is_kept_with_its_artifacts(bench: Bench) -> None:
    output = bench.root / "out"
    done = by_target(await ran(bench.write(["oracle", "nop", bench.script("bad", "./todo create milk")]), output))
    assert [run.cases[0].status for run in done.values()] == ["passed", "failed", "failed"]
    for run in done.values():
        folder = details(run).artifacts
        assert folder is not None
        assert folder.startswith("artifacts/todo/")
        assert {path.name for path in (output / folder).iterdir()} >= {"evaluation.md", "events.jsonl", "fixture"}
        kept = json.loads((output / str(run.cases[0].trace)).read_text("utf-8"))
        assert kept["result"]["details"]["artifacts"] == folder
    assert not list(output.rglob(".*"))


async def test_a_resumed_run_repeats_nothing_that_is_finished(bench: Bench) -> None:
    output = bench.root / "out"
    loaded = bench.write(["oracle", "nop"])
    first = await ran(loaded, output)
    marks = {path: path.stat().st_mtime_ns for path in (output / "trials").rglob("*.json")}
    shutil.rmtree(output / "trials" / "todo" / "nop")
    again = await ran(loaded, output, resume=True)
    assert [r.cases[0].status for r in again.runs] == [r.cases[0].status for r in first.runs]
    untouched = [path for path in marks if path.stat().st_mtime_ns == marks[path]]
    assert [path.parent.name for path in untouched] == ["oracle"]


async def test_a_broken_setup_is_an_error_in_the_report(bench: Bench) -> None:
    done = await ran(bench.write(["oracle"], scenario(setup={"commands": ["exit 9"]})), bench.root / "out")
    (result,) = done.runs[0].cases
    assert (result.status, result.reason) == ("error", "setup_failed")
    assert done.runs[0].metrics["harness_error_rate"].value == 1.0


async def test_nothing_of_an_earlier_run_is_left_where_a_trial_broke(bench: Bench) -> None:
    output = bench.root / "out"
    await ran(bench.write(), output)
    assert list((output / "artifacts").rglob("evaluation.md"))
    await ran(bench.write(["oracle"], scenario(setup={"commands": ["exit 9"]})), output, resume=True)
    assert not list((output / "artifacts").rglob("evaluation.md"))


# --- planning -------------------------------------------------------------------------------------------------------


def only_for(tool: str, name: str) -> dict[str, Any]:
    return scenario(name, tool_matrix=[{"tool": tool}])


def test_a_matrix_leaves_out_and_nothing_is_missing(bench: Bench) -> None:
    bench.more["agents"] = {name: {"command": ["sh", "-c", "true"]} for name in ("one", "two")}
    loaded = bench.write(
        ["agent:one", "agent:two", "oracle"], only_for("one", "a"), only_for("two", "b"), scenario("c")
    )
    plan = make_plan(loaded, Selection(), {"PATH": "/usr/bin:/bin"})
    assert {run.target.id: [case.id for case in run.cases] for run in plan.runs} == {
        "agent:one": ["a", "c"], "agent:two": ["b", "c"], "oracle": ["a", "b", "c"],
    }  # fmt: skip
    assert plan.size == 7


def test_who_is_never_measured_is_told(bench: Bench) -> None:
    bench.more["agents"] = {name: {"command": ["sh", "-c", "true"]} for name in ("one", "two")}
    loaded = bench.write(["agent:one", "agent:two"], only_for("one", "a"), only_for("three", "b"))
    with pytest.raises(InputError) as caught:
        make_plan(loaded, Selection(), {"PATH": "/usr/bin:/bin"})
    assert [str(problem.message) for problem in caught.value.problems] == [
        "no case of todo is meant for the target 'agent:two'",
        "'b' is meant for none of the targets of todo",
    ]


def test_tags_and_tiers_choose(bench: Bench) -> None:
    bench.suite.update({"tags": ["quick"], "tier": 1})
    loaded = bench.write(
        ["oracle"],
        scenario("a", tags=["quick"]), scenario("b", tags=["slow"]), scenario("c", tags=["quick"], tier=2),
    )  # fmt: skip
    assert [case.id for case in make_plan(loaded, Selection()).runs[0].cases] == ["a"]


def test_a_missing_key_is_told_before_anything_runs(bench: Bench) -> None:
    plan = prepare(bench.write(["openai/gpt-4.1"]), Selection(), {})
    assert plan.runs[0].target.missing_key == "OPENAI_API_KEY"


def test_the_built_in_agents_prompt_is_under_evaluation(bench: Bench) -> None:
    (bench.root / "prompt.md").write_text("Be quick.", "utf-8")

    def subject(*targets: str) -> Mapping[str, str]:
        return make_plan(bench.write(targets), Selection()).runs[0].suite.subject

    before = subject("openai/gpt-4.1")
    bench.suite["system"] = "prompt.md"
    assert before["system"] != subject("openai/gpt-4.1")["system"]
    assert "system" not in subject("oracle")
    assert {"guidance", "tool", "isolation"} <= set(before)


def test_rules_on_evaluators_are_fed_and_others_not(bench: Bench) -> None:
    bench.more["policy"] = [{"metric": "evaluator.tidy", "floor": 0.5}, {"metric": "tidy", "floor": 0.5}]
    (problem,) = unfed_rules(bench.write())
    assert "'tidy'" in problem.message


# --- proving --------------------------------------------------------------------------------------------------------


async def test_good_scenarios_are_proven(bench: Bench) -> None:
    prepared, _ = bench.prepared(bench.write(["oracle"], scenario("a"), scenario("b", solution=[])))
    proof = await SCENARIO.prove(prepared)
    assert (list(proof.problems), proof.summary) == (
        [],
        "1 of 2 solutions run, 1 without a solution, and doing nothing tried on 2 scenarios",
    )


async def test_what_is_wrong_with_a_set_is_told(bench: Bench) -> None:
    free = {"gates": [{"type": "file_exists", "path": "AGENTS.md"}]}
    broken = scenario("c", setup={"commands": ["exit 1"]})
    wrong = scenario("b", solution=["./todo add bread"])
    prepared, _ = bench.prepared(bench.write(["oracle"], scenario("a", evaluation=free), wrong, broken))
    proof = await SCENARIO.prove(prepared)
    assert [(problem.place.file, problem.field) for problem in proof.problems] == [
        ("evals/a.yaml", "evaluation.gates"),
        ("evals/b.yaml", "evaluation.gates[0]"),
        ("evals/b.yaml", "evaluation.gates[1]"),
        ("evals/c.yaml", ""),
    ]
    assert "all gates of 'a' pass when nothing is done" in proof.problems[0].message


# --- judging --------------------------------------------------------------------------------------------------------


async def test_a_flipped_outcome_names_gates_and_the_failed_command(bench: Bench) -> None:
    name = bench.script("s", "./todo add milk")
    before = (await ran(bench.write([name]), bench.root / "one")).runs[0]
    bench.script("s", "./todo create milk")
    after = (await ran(bench.write([name]), bench.root / "two")).runs[0]
    known = make_baseline(report(before), "report.json", None, {"scenario": SCENARIO})
    (found,) = Criteria(known, Policy()).compared(report(after)).comparison.runs
    (change,) = found.cases
    assert (change.change, change.command, change.stderr) == (
        "broken", "todo create milk", "todo: unknown command create",
    )  # fmt: skip
    assert [check.check for check in change.checks] == [
        "file_contains: tasks.txt, milk",
        "command_output_contains: ./todo list, milk",
    ]


async def test_secrets_are_taken_out_of_artifacts(bench: Bench) -> None:
    secret = "hunter2-hunter2"
    output = bench.root / "out"
    steps = [f"printf '\\377{secret}' > tasks.txt", f"echo {secret}"]
    await ran(bench.write([bench.script("s", *steps)]), output, redaction=Redaction({"MY_TOKEN": secret}))
    files = [path for path in output.rglob("*") if path.is_file()]
    assert any(b"\xff[redacted]" in path.read_bytes() for path in files)
    assert [path for path in files if secret.encode() in path.read_bytes()] == []
