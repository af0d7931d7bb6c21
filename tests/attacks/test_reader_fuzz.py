"""Whatever agents print and models answer: no reader raises but what it says, and all that it gives can be kept."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from evalward.keeper.proxy.wire import WIRES
from evalward.records.result import Trial
from evalward.records.trace import Trace
from evalward.suites.scenario.details import ScenarioDetails
from evalward.targets.agents.driver import run_of
from evalward.targets.agents.program import READERS
from evalward.targets.agents.readers.common import LONGEST_LINE, MOST_LINES, AgentAccount
from evalward.targets.models.reading import MalformedError, ProviderError
from support.fuzzing.answers import ANSWERS, MESSAGE, STREAMS
from support.fuzzing.mutation import mutated, nested

ROUNDS = 200  # mutated texts of each reader
CLAUDE: list[Any] = [
    {"type": "system", "subtype": "init", "claude_code_version": "2.1.197"},
    {"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": "First."}]}},
    {"type": "assistant", "parent_tool_use_id": None, "message": {"id": "m", "content": [
        {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]}},
    {"type": "user", "tool_use_result": {"stdout": "a", "stderr": "", "interrupted": False}, "message": {"content": [
        {"type": "tool_result", "tool_use_id": "t", "content": [{"text": "a"}], "is_error": False}]}},
    {"type": "result", "subtype": "success", "is_error": False, "num_turns": 3, "total_cost_usd": 0.5,
     "duration_ms": 5, "result": "Done.", "usage": {"input_tokens": 1, "output_tokens": 2}},
]  # fmt: skip
CODEX: list[Any] = [
    {"type": "item.started", "item": {"id": "1", "type": "command_execution", "command": "bash -lc 'ls'"}},
    {"type": "item.completed", "item": {"id": "1", "type": "command_execution", "command": "bash -lc 'ls'",
     "aggregated_output": "a", "exit_code": 0, "status": "completed"}},
    {"type": "item.completed", "item": {"id": "2", "type": "file_change", "changes": [{"path": "a"}]}},
    {"type": "item.completed", "item": {"id": "3", "type": "agent_message", "text": "Done."}},
    {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 2}},
    {"type": "turn.failed", "error": {"message": "no"}},
]  # fmt: skip
OPENCODE: list[Any] = [
    {"type": "text", "part": {"text": "First."}},
    {"type": "tool_use", "part": {"tool": "bash", "callID": "c", "state": {"status": "completed", "output": "a",
     "input": {"command": "ls"}, "metadata": {"exit": 0, "output": "a"}, "time": {"start": 1, "end": 2}}}},
    {"type": "step_finish", "part": {"reason": "stop", "cost": 0.5, "tokens": {"input": 1, "output": 2,
     "reasoning": 0, "cache": {"read": 0, "write": 0}}}},
    {"type": "error", "error": {"name": "E", "data": {"message": "no"}}},
]  # fmt: skip
EVENTS: list[Any] = [
    {"event": "spawn", "command": "x", "args": []},
    {"event": "output", "text": "First."},
    {"event": "tool_call", "tool": "bash", "command": "ls"},
    {"event": "tool_result", "output": "a", "exit_code": 0},
    {"type": "complete", "exit_code": 0},
]
AGENTS = {"claude-code": CLAUDE, "codex": CODEX, "opencode": OPENCODE, "events": EVENTS, "text": EVENTS}


def printed(value: Any, chance: random.Random) -> str:
    """The value as a line, sometimes broken off."""
    line = json.dumps(value)
    return line[: chance.randrange(len(line) + 1)] if chance.random() < 0.1 else line


class _Ended:
    """A program that ended well."""

    stderr, exit_code, timed_out, duration_ms, dropped_bytes, exceeded = "", 0, False, 5, 0, None

    def __init__(self, stdout: str) -> None:
        self.stdout = stdout


class _Job:
    prompt = "Do it."


def assert_can_be_kept(told: AgentAccount, stdout: str) -> None:
    """What was read becomes a trial that is written and read again, to the same."""
    run = run_of(_Job(), _Ended(stdout), told, None)  # type: ignore[arg-type]
    claims = {name: value for name, value in run.claims.items() if isinstance(value, str | int | float)}
    details = ScenarioDetails(claims=claims, skipped_events=run.skipped)
    written = json.dumps({"details": details.model_dump(mode="json"), "trace": run.trace.model_dump(mode="json")})
    assert Trace.model_validate(json.loads(written)["trace"]) == run.trace
    trial = Trial.model_validate(
        {
            "suite": "s", "kind": "scenario", "target": "t", "subject": "x", "trace": run.trace,
            "result": {"id": "a", "category": "c", "definition": "d", "status": "failed", "details": details},
        }
    )  # fmt: skip
    text = trial.model_dump_json(by_alias=True)
    assert Trial.model_validate_json(text).model_dump_json(by_alias=True) == text


@pytest.mark.parametrize("form", AGENTS)
def test_no_output_of_an_agent_breaks_its_reader(form: str) -> None:
    chance = random.Random(f"agents {form}")
    for _ in range(ROUNDS):
        lines = [printed(mutated(line, chance) if chance.random() < 0.5 else line, chance) for line in AGENTS[form]]
        chance.shuffle(lines)
        text = "\n".join(lines)
        assert_can_be_kept(READERS[form](text), text)


@pytest.mark.parametrize("form", AGENTS)
def test_what_is_too_much_is_passed_over_and_counted(form: str) -> None:
    long = json.dumps({"event": "output", "type": "text", "text": "x" * (LONGEST_LINE + 1)})
    told = READERS[form](long + "\n" + json.dumps(nested(900)) + "\n[" * 5000)
    assert_can_be_kept(told, "")
    assert form == "text" or told.skipped == 5002
    many = READERS[form]("{}\n" * (MOST_LINES + 7))
    assert form == "text" or many.skipped >= 7


def test_one_message_in_very_many_lines_takes_no_square_of_time() -> None:
    line = json.dumps({"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": "x"}]}})
    told = READERS["claude-code"](f"{line}\n" * 20_000)
    assert [len(message.content) for message in told.messages] == [20_000]


# --- models ---------------------------------------------------------------------------------------------------------


def sent(values: list[Any], chance: random.Random) -> bytes:
    """Server-sent events, of which one may be odd."""
    blocks = [printed(mutated(v, chance) if chance.random() < 0.4 else v, chance) for v in values]
    return "".join(f"data: {block}\n\n" for block in blocks).encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("provider", ANSWERS)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_no_answer_of_a_model_breaks_its_reader(provider: str, stream: bool) -> None:
    chance = random.Random(f"models {provider} {stream}")
    wire, good = WIRES[provider], 0
    for _ in range(ROUNDS):
        whole = printed(mutated(ANSWERS[provider], chance), chance)
        body = sent(STREAMS[provider], chance) if stream else whole.encode("utf-8", "surrogatepass")
        try:
            reply = wire.reply(body, stream=stream)
        except (MalformedError, ProviderError):
            continue
        good += 1
        trace = Trace(messages=[reply.message], turns=[reply.turn])
        text = trace.model_dump_json()
        assert Trace.model_validate_json(text) == trace
    assert good > ROUNDS / 20


def test_an_answer_of_ten_megabytes_is_read_or_refused() -> None:
    body = json.dumps({**MESSAGE, "content": [{"type": "text", "text": "x" * 10_000_000}]}).encode()
    assert len(WIRES["anthropic"].reply(body, stream=False).message.text) == 10_000_000
