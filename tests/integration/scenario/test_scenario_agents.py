"""The built-in agent, recordings, and programs as agents of a scenario."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from evalward.records.result import Status, Trial
from evalward.records.trace import Message, Text, ToolCall, ToolUse, Trace, Turn, Usage
from evalward.suites.base import TrialBrokenError
from evalward.targets.base import TrialSkippedError
from support.agent_programs import bin_folder
from support.model_server import Answer, Call, Fault, ModelServer, Script, Tokens, bash
from support.needs import missing
from support.npm import UnavailableError
from support.patience import patiently
from support.scenario_runs import MODEL, PROMPT, Bench, Tried, scenario, tried

TARGET = f"openai/{MODEL}"
DONE = Answer(text="All done.", tokens=Tokens(input=10, output=2))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def answered(bench: Bench, *answers: Answer, faults: tuple[Fault, ...] = (), **more: Any) -> Tried:
    """A trial of the built-in agent with a model that answers this."""
    with ModelServer(Script(default=(*answers, DONE)), faults=faults) as server:
        bench.serve(server)
        done = await tried(bench, TARGET, scenario(**more))
        assert server.requests[0].asked is not None
        assert server.requests[0].asked.prompt == PROMPT
    return done


async def test_a_model_works_in_the_fixture(bench: Bench) -> None:
    target = {"binary": "./todo", "command_pattern": r"todo\s+(\S+)", "env": {"TODO_MODE": "on"}}
    asked = bash("cat AGENTS.md; ./todo create milk"), bash("./todo add milk; echo $TODO_MODE")
    done = await answered(bench, *asked, target=target)
    assert (done.outcome.result.status, done.details.completed) == (Status.PASSED, True)
    assert [(call.exit_code, call.stdout) for call in done.outcome.trace.tool_calls] == [
        (2, "Use ./todo add NAME.\n"),
        (0, "on\n"),
    ]
    assert done.details.interaction.error_count == 1
    assert done.outcome.result.usage.cost_usd is not None
    assert "$ ./todo add milk; echo $TODO_MODE\non\nAll done.\n" in done.files["transcript.raw.txt"]


async def test_the_turn_limit_ends_it(bench: Bench) -> None:
    done = await answered(bench, bash("true"), bash("./todo add milk"), run={"max_turns": 1})
    assert (done.details.completed, len(done.outcome.trace.turns)) == (False, 1)
    assert str(done.outcome.result.message).endswith("the agent had no turns left")


async def test_a_budget_ends_it(bench: Bench) -> None:
    dear = bash("true", tokens=Tokens(input=1_000_000, output=1))
    done = await answered(bench, dear, bash("./todo add milk"), cost={"max_usd": 0.5})
    assert str(done.outcome.result.message).endswith("the agent had no money left")


async def test_a_command_without_end_uses_up_the_time(bench: Bench) -> None:
    endless = "./todo add milk; sleep 6000"
    done = await patiently(
        lambda factor: answered(bench, bash(endless), bash("echo never"), run={"timeout_secs": 0.5 * factor}),
        lambda done: done.outcome.result.status is Status.PASSED,
    )
    assert done.commands == [endless]
    assert (done.outcome.result.status, done.details.completed) == (Status.PASSED, False)


async def test_a_provider_that_breaks_is_an_error(bench: Bench) -> None:
    with pytest.raises(TrialBrokenError) as caught:
        await answered(bench, bash("./todo add milk"), faults=(Fault("key_echoed"),))
    assert caught.value.reason == "key"
    assert caught.value.stops_run


# --- recordings -----------------------------------------------------------------------------------------------------


def recording(bench: Bench, definition: str, *messages: Message, stop: bool = True) -> str:
    """The target that replays this, said by an agent."""
    usage = Usage(input_tokens=100, output_tokens=20, cost_usd=0.5)
    calls = [ToolCall(commands="./todo add milk", stdout="\n", exit_code=None), ToolCall(commands="b", exit_code=0)]
    trace = Trace(messages=list(messages), tool_calls=calls, turns=[Turn(usage=usage)], natural_stop=stop)
    trial = Trial.model_validate(
        {
            "suite": "todo", "kind": "scenario", "target": "claude-code/x", "subject": "sha256:1",
            "result": {"id": "add_task", "category": "general", "definition": definition, "status": "passed"},
            "trace": trace.model_dump(mode="json"),
        }
    )  # fmt: skip
    (bench.root / "recorded.jsonl").write_text(trial.model_dump_json(by_alias=True) + "\n", "utf-8")
    bench.more["recordings"] = {"r": "recorded.jsonl"}
    return "replay:r"


def says(*blocks: Text | ToolUse) -> Message:
    return Message(role="assistant", content=list(blocks))


def definition_of(bench: Bench) -> str:
    prepared, _ = bench.prepared(bench.write())
    return prepared.cases[0].definition


async def test_what_another_agent_ran_is_run_again(bench: Bench) -> None:
    target = recording(
        bench,
        definition_of(bench),
        says(Text(text="I look first.")),
        says(ToolUse(id="1", name="Read", input={"file_path": "AGENTS.md"})),
        says(ToolUse(id="2", name="Bash", input={"command": "./todo add milk", "description": "add"})),
        says(ToolUse(id="3", name="shell", input={"command": "./todo frob"})),
        says(Text(text="Done.")),
    )
    done = await tried(bench, target)
    assert (done.commands, done.details.replayed) == (["./todo add milk", "./todo frob"], True)
    assert done.details.diverged_at == 2
    assert (done.outcome.result.status, done.details.completed) == (Status.PASSED, True)
    assert [call.exit_code for call in done.outcome.trace.tool_calls] == [0, 2]
    usage = done.outcome.result.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cost_usd) == (100, 20, 0.0)


async def test_an_agent_that_gave_up_has_given_up_in_its_replay(bench: Bench) -> None:
    use = ToolUse(id="1", name="bash", input={"commands": "./todo add milk"})
    done = await tried(bench, recording(bench, definition_of(bench), says(use), stop=False))
    assert (done.outcome.result.status, done.details.completed) == (Status.PASSED, False)


async def test_files_that_were_changed_by_other_tools_cant_be_replayed(bench: Bench) -> None:
    target = recording(
        bench, definition_of(bench), says(ToolUse(id="1", name="Write", input={"file_path": "tasks.txt"}))
    )
    with pytest.raises(TrialSkippedError, match="'Write', which can't be repeated"):
        await tried(bench, target)


async def test_a_script_is_a_recording_too(bench: Bench) -> None:
    first = await tried(bench, bench.script("s", "./todo add milk", {"say": "So."}))
    said = [message for message in first.outcome.trace.messages if message.role == "assistant"]
    del bench.more["scripts"]
    target = recording(bench, first.outcome.result.definition, *said)
    assert (await tried(bench, target)).commands == ["./todo add milk"]


# --- programs -------------------------------------------------------------------------------------------------------

PROGRAM = """\
#!/bin/sh
read -r prompt
echo "I was asked: $prompt"
echo '$ ./todo add milk'
./todo add milk
echo 'todo list'
"""


async def test_a_program_that_tells_only_words_is_read_from_its_transcript(bench: Bench) -> None:
    program = bench.root / "agent.sh"
    program.write_text(PROGRAM, "utf-8")
    program.chmod(0o755)
    bench.more["agents"] = {"own": {"command": ["./agent.sh"]}}
    done = await tried(bench, "agent:own")
    assert done.outcome.result.status is Status.PASSED, done.files["transcript.raw.txt"]
    assert (done.details.approximate, done.details.interaction.total_commands) == (True, 2)
    assert done.details.agent == "agent:own"


async def test_a_program_that_cant_be_started_has_failed_at_nothing(bench: Bench) -> None:
    program = bench.root / "agent.sh"
    program.write_text("#!/no/such/interpreter\n", "utf-8")
    program.chmod(0o755)
    bench.more["agents"] = {"own": {"command": ["./agent.sh"]}}
    with pytest.raises(TrialBrokenError, match="could not be started in the workspace"):
        await tried(bench, "agent:own")


@pytest.mark.agents
@pytest.mark.parametrize("network", ["open", "loopback", "none"])
async def test_claude_code_from_npm_completes_a_scenario(bench: Bench, network: str) -> None:
    try:
        folder = bin_folder("@anthropic-ai/claude-code")
    except UnavailableError as error:
        missing("agents", error)
    bench.env["PATH"] = f"{folder}:{os.environ['PATH']}"
    bench.suite["network"] = network
    call = Call({"command": "./todo add milk", "description": "add"}, "Bash")
    script = Script(default=(Answer(text="Working.", calls=(call,)), DONE))
    with ModelServer(script) as server:
        bench.serve(server)
        done = await tried(bench, "claude-code/claude-sonnet-5")
    assert done.outcome.result.status is Status.PASSED, done.files["transcript.raw.txt"][-2000:]
    assert (done.commands, done.details.completed, done.details.approximate) == (["./todo add milk"], True, False)
    assert done.outcome.result.usage.output_tokens == 22
