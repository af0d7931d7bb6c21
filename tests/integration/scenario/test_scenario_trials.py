"""Trials of scenarios in real workspaces, with agents that need no key."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from evalward.records.events import completed, read_events
from evalward.records.result import Status
from evalward.sandbox.process.probe import Layers
from evalward.suites.base import TrialBrokenError
from evalward.suites.scenario.results_folder import ResultsFolder
from evalward.targets.base import TrialSkippedError
from support.patience import patiently
from support.sandboxes import use
from support.scenario_runs import GATES, Bench, Tried, scenario, tried

ADD = "./todo add milk"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def scripted(bench: Bench, *steps: Any, **more: Any) -> Tried:
    """A trial of these steps."""
    return await tried(bench, bench.script("s", *steps), scenario(**more))


# --- outcomes -------------------------------------------------------------------------------------------------------


async def test_a_task_that_is_done_passes(bench: Bench) -> None:
    done = await scripted(bench, "./todo --help", ADD)
    result = done.outcome.result
    assert (result.status, result.reason, result.message) == (Status.PASSED, None, None)
    assert (done.gates, result.score, result.max_score) == ([True, True], 2.0, 2.0)
    assert [check.check for check in result.checks] == [
        "file_contains: tasks.txt, milk",
        "command_output_contains: ./todo list, milk",
    ]
    interaction = done.details.interaction
    assert (interaction.total_commands, interaction.unique_commands, interaction.help_invocations) == (2, 2, 1)
    assert (done.details.completed, done.details.approximate, done.details.agent) == (True, False, "scripted:s")
    assert "isolation" in done.details.isolation


async def test_a_gate_that_fails_says_what_was_there_and_the_others_run(bench: Bench) -> None:
    done = await scripted(bench, "./todo create milk", "echo 'milkshake' > other.txt; touch tasks.txt")
    result = done.outcome.result
    assert (result.status, result.reason) == (Status.FAILED, "gates_failed")
    assert done.gates == [False, False]
    assert result.checks[0].detail == "'milk' isn't in tasks.txt; it is empty"
    assert [(f.command, f.exit_code, f.said) for f in done.details.interaction.failed] == [
        ("todo create milk", 2, "todo: unknown command create")
    ]


async def test_each_of_several_commands_in_a_call_has_its_own_exit_code(bench: Bench) -> None:
    """Behind the real walls: the shell tells it there, and the events keep it."""
    gates = [*GATES, {"type": "no_transcript_errors"}]
    step = "./todo create x || true; ./todo add milk && ./todo list | head -1"
    done = await scripted(bench, step, evaluation={"gates": gates})
    interaction = done.details.interaction
    assert (interaction.total_commands, interaction.error_count, interaction.unknown_count) == (3, 1, 0)
    assert done.gates == [True, True, False]
    assert "1 of 3 commands failed: `todo create x` (exit code 2)" in done.outcome.result.checks[2].detail
    assert '"commands":' in done.files["events.jsonl"]
    assert ".evalward" not in str(done.files)


@pytest.mark.parametrize("deaf", ["", "trap '' TERM INT HUP; "])
async def test_an_agent_whose_time_is_up_is_ended_and_judged(bench: Bench, deaf: str) -> None:
    done = await scripted(bench, {"run": f"{deaf}./todo list; sleep 6000"}, run={"timeout_secs": 0.4})
    result = done.outcome.result
    assert (result.status, done.details.completed, done.gates) == (Status.FAILED, False, [False, False])
    assert result.message is not None
    assert result.message.endswith("the agent was ended after 0.4 s")


async def test_what_was_done_before_the_time_was_up_counts(bench: Bench) -> None:
    done = await patiently(
        lambda factor: scripted(bench, ADD, {"hang": True}, run={"timeout_secs": 0.4 * factor}),
        lambda done: done.outcome.result.status is Status.PASSED,
    )
    assert (done.outcome.result.status, done.details.completed) == (Status.PASSED, False)
    events, _ = read_events(done.files["events.jsonl"])
    assert not completed(events)


@pytest.mark.parametrize(("step", "words"), [({"crash": True}, "exit code 139"), ({"exit": 3}, "exit code 3")])
async def test_an_agent_that_breaks_has_not_completed(bench: Bench, step: dict[str, Any], words: str) -> None:
    done = await scripted(bench, "touch tasks.txt", step)
    assert (done.outcome.result.status, done.details.completed) == (Status.FAILED, False)
    assert words in str(done.outcome.result.message)


async def test_what_an_agent_leaves_running_ends_before_the_gates(bench: Bench) -> None:
    late = "(sleep 0.3; echo milk > tasks.txt) > /dev/null 2>&1 &"
    wait = [{"type": "command_succeeds", "command": "sleep 0.5; test -e tasks.txt"}]
    done = await scripted(bench, late, evaluation={"gates": wait})
    assert done.gates == [False]


# --- nobody's fault but ours ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "reason", "words"),
    [
        ({"setup": {"commands": ["true", "echo broken >&2; exit 4"]}}, "setup_failed", "exit code 4: broken"),
        (
            {"target": {"binary": "./todo", "health_check": "./todo nonsense"}},
            "health_check_failed",
            "./todo isn't usable, its health check failed: `./todo nonsense`: exit code 2",
        ),
    ],
)
async def test_what_fails_before_the_agent_is_an_error(
    bench: Bench, more: dict[str, Any], reason: str, words: str
) -> None:
    with pytest.raises(TrialBrokenError) as caught:
        await scripted(bench, ADD, **more)
    assert caught.value.reason == reason
    assert words in caught.value.message


async def test_a_scenario_without_a_solution_is_no_oracles(bench: Bench) -> None:
    with pytest.raises(TrialSkippedError, match="no reference solution"):
        await tried(bench, "oracle", scenario(solution=[]))


RUBRIC = """criteria: [{id: clear, weight: 1.0, description: The workflow is clear}]
output: {format: json, require_fields: [scores, weighted_score]}
"""


async def test_a_judge_that_nobody_is_gives_no_verdict(bench: Bench) -> None:
    (bench.root / "evals").mkdir()
    (bench.root / "evals" / "rubric.txt").write_text(RUBRIC, "utf-8")
    judge = {"enabled": True, "rubric": "rubric.txt", "pass_threshold": 0.7}
    evaluation = {"gates": list(GATES), "judge": judge}
    good = await scripted(bench, ADD, evaluation=evaluation)
    assert (good.outcome.result.status, good.outcome.result.reason) == (Status.ERROR, "judge_error")
    assert "no judge is configured" in (good.details.judge_error or "")
    assert good.details.judge_passed is None
    bad = await scripted(bench, "true", evaluation=evaluation)
    assert (bad.outcome.result.status, bad.outcome.result.reason) == (Status.FAILED, "gates_failed")


# --- scripts --------------------------------------------------------------------------------------------------------

EVALUATOR = (
    'test "$(cat "$EVALWARD_TRANSCRIPT")" = "$(cat "$LLM_TOOL_TEST_TRANSCRIPT")" && '
    'calls=$(grep -c tool_call "$EVALWARD_EVENTS") && '
    """printf '{"score": 0.5, "metrics": {"calls": %s}, "summary": "%s"}' "$calls" """
    '"$EVALWARD_AGENT/$EVALWARD_MODEL/$EVALWARD_SCENARIO/$(paste -sd" " "$EVALWARD_RESULTS_DIR/note")"'
)


async def test_scripts_see_transcript_and_events_and_share_a_folder(bench: Bench) -> None:
    done = await scripted(
        bench,
        ADD,
        setup={"commands": ['echo set > "$EVALWARD_RESULTS_DIR/note"']},
        scripts={
            "post": [{"command": 'echo post >> "$LLM_TOOL_TEST_RESULTS_DIR/note"'}],
            "evaluators": [{"name": "seen", "command": EVALUATOR}],
        },
    )
    (seen,) = done.details.evaluators
    assert (seen.error, seen.score, seen.metrics) == (None, 0.5, {"calls": 1.0})
    assert seen.summary == "scripted/s/add_task/set post"
    events = [json.loads(line) for line in done.files["events.jsonl"].splitlines()]
    assert [event["event"] for event in events] == [
        "setup_command", "spawn", "tool_call", "tool_result", "output", "complete", "post_script",
    ]  # fmt: skip


async def test_nothing_of_ours_is_written_where_an_agent_lays_a_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "transcript.raw.txt").write_text("precious", "utf-8")
    (tmp_path / "tmp").mkdir()
    results = ResultsFolder(tmp_path / "tmp")
    (results.path / "transcript.raw.txt").symlink_to(outside / "transcript.raw.txt")
    assert results.write("transcript.raw.txt", "said").read_text("utf-8") == "said"
    for file in results.path.iterdir():
        file.unlink()
    results.path.rmdir()
    results.path.symlink_to(outside)
    written = results.write("transcript.raw.txt", "again")
    assert written.read_text("utf-8") == "again"
    assert (outside / "transcript.raw.txt").read_text("utf-8") == "precious"


# --- artifacts ------------------------------------------------------------------------------------------------------


async def test_what_a_trial_leaves_for_people(bench: Bench) -> None:
    done = await scripted(bench, ADD, "ln -s /etc/passwd link; mkdir -p a/b; echo x > a/b/c")
    assert set(done.files) == {
        "transcript.raw.txt", "events.jsonl", "metrics.json", "evaluation.md", "fixture-left-out.txt",
        "fixture/AGENTS.md", "fixture/todo", "fixture/tasks.txt", "fixture/a/b/c",
    }  # fmt: skip
    assert done.files["fixture-left-out.txt"] == "link -> /etc/passwd\n"
    assert done.files["transcript.raw.txt"].startswith(f"$ {ADD}\n")
    told = json.loads(done.files["metrics.json"])
    assert (told["outcome"], told["gates_passed"], told["interaction"]["error_rate"]) == ("Pass", 2, 0.0)


async def test_the_evaluation_quotes_nothing_as_markup(bench: Bench) -> None:
    hostile = "</table><img src=x onerror=alert(1)> @everyone ```\n# Passed\n| a | b |"
    step = {"run": f"cat > tasks.txt <<'END'\n{hostile}\nEND\nprintf '%s' \"$(cat tasks.txt)\""}
    done = await scripted(bench, step, {"say": hostile}, evaluation={"gates": [GATES[0]]})
    text = done.files["evaluation.md"]
    assert done.gates == [False]
    outside, fenced = [], False
    for line in text.splitlines():
        fenced = not fenced if line.startswith("```") else fenced
        outside += [] if fenced else [line]
    assert "<img" not in "\n".join(outside)
    assert "# Passed" not in outside


# --- secrets --------------------------------------------------------------------------------------------------------


async def test_a_secret_of_ours_is_in_nothing_that_a_trial_leaves(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = "canary-5ff1d2c7a90b"
    monkeypatch.setenv("SOME_TOKEN", canary)
    search = "env; cat /proc/self/environ /proc/1/environ /proc/*/environ 2>/dev/null | tr '\\0' '\\n'"
    done = await scripted(
        bench, search, ADD, scripts={"post": [{"command": search}]}, setup={"commands": [f"({search}) > env.txt"]}
    )
    assert done.outcome.result.status is Status.PASSED
    assert "HOME=" in done.files["fixture/env.txt"]
    assert canary not in done.outcome.result.model_dump_json() + done.outcome.trace.model_dump_json()
    assert not [name for name, text in done.files.items() if canary in text]


async def test_trials_at_the_same_time_have_copies_of_their_own(tmp_path: Path) -> None:
    benches = [Bench(tmp_path / str(number)) for number in range(3)]
    for each in benches:
        each.root.mkdir()
    steps = [[f"echo milk{number} > tasks.txt"] for number in range(3)]
    found = await asyncio.gather(*(scripted(b, *s) for b, s in zip(benches, steps, strict=True)))
    assert [done.files["fixture/tasks.txt"] for done in found] == ["milk0\n", "milk1\n", "milk2\n"]


# --- walls ----------------------------------------------------------------------------------------------------------


async def test_without_any_wall_nothing_runs_beside_the_keys_of_a_workflow(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, Layers())
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    with pytest.raises(TrialBrokenError, match="without any isolation") as caught:
        await scripted(bench, ADD)
    assert caught.value.reason == "sandbox"
    bench.suite["allow_unisolated"] = True
    done = await scripted(bench, ADD)
    assert (done.outcome.result.status, done.details.isolation) == (Status.PASSED, "no isolation, network open")
