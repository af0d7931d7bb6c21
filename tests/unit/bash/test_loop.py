"""The agent loop with a scripted chat, and what a tool use becomes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.records.trace import Message, Opaque, StopReason, Text, ToolCall, ToolResult, ToolUse, Trace, Turn
from evalward.sandbox.base import OUTPUT_LIMIT, Execution, cut
from evalward.suites.loop import USAGE_ERROR, Unusable, converse, keep, script_of, tool_text
from evalward.suites.tool import load_prompting
from evalward.targets.base import BrokeOffError, NoAnswerError, Reply, Request
from evalward.targets.replay import ReplayChat
from evalward.targets.scripted import ScriptedChat
from support.cases import FakeChat, FakeShell, case, says, use

PROMPTING = load_prompting(Path(), None, None, "")


async def talk(chat: Any, shell: FakeShell | None = None, max_turns: int = 10) -> Trace:
    return await converse(
        chat, shell or FakeShell(), system="Be good.", tool=PROMPTING.tool, prompt="Do it.", max_turns=max_turns
    )


def results(trace: Trace) -> list[ToolResult]:
    return [block for message in trace.messages for block in message.content if isinstance(block, ToolResult)]


# --- how it ends ----------------------------------------------------------------------------------------------------


async def test_an_answer_without_a_tool_use_is_a_natural_stop() -> None:
    trace = await talk(FakeChat(says(Text(text="Done."), stop="end")))
    assert (len(trace.turns), trace.tool_calls, trace.natural_stop) == (1, [], True)
    assert [message.role for message in trace.messages] == ["user", "assistant"]
    assert trace.messages[0].text == "Do it."


async def test_tool_uses_go_on_until_the_model_stops() -> None:
    chat = FakeChat(says(use("a")), says(use("b")), says(Text(text="Done."), stop="end"))
    trace = await talk(chat)
    assert [call.commands for call in trace.tool_calls] == ["a", "b"]
    assert (len(trace.turns), trace.natural_stop) == (3, True)
    assert [m.role for m in trace.messages] == [
        "user", "assistant", "tool_result", "assistant", "tool_result", "assistant",
    ]  # fmt: skip


async def test_a_stop_token_beside_tool_uses_ends_it_after_they_ran() -> None:
    trace = await talk(FakeChat(says(use("a"), stop="end")))
    assert ([call.commands for call in trace.tool_calls], trace.natural_stop) == (["a"], True)
    assert trace.messages[-1].role == "tool_result"


@pytest.mark.parametrize("stop", ["refusal", "content_filter", "context_length"])
async def test_a_turn_after_which_nothing_can_follow_ends_it_unnaturally(stop: StopReason) -> None:
    trace = await talk(FakeChat(says(use("a"), stop=stop)))
    assert (len(trace.turns), trace.natural_stop) == (1, False)


async def test_the_turn_limit_ends_it_unnaturally_after_the_last_calls_ran() -> None:
    trace = await talk(FakeChat(*[says(use(str(n))) for n in range(9)]), max_turns=3)
    assert [call.commands for call in trace.tool_calls] == ["0", "1", "2"]
    assert (len(trace.turns), trace.natural_stop) == (3, False)


class Silent(FakeChat):
    async def send(self, request: Request) -> Reply:
        raise NoAnswerError("the program gave no answer")


async def test_a_target_that_gives_no_answer__has_failed_by_itself() -> None:
    with pytest.raises(BrokeOffError, match="the program gave no answer"):
        await talk(Silent())


async def test_a_stop_in_the_last_turn_is_natural() -> None:
    trace = await talk(FakeChat(says(use("a")), says(Text(text="ok"), stop="end")), max_turns=2)
    assert (len(trace.turns), trace.natural_stop) == (2, True)


async def test_a_pause_goes_on_without_a_tool_result() -> None:
    chat = FakeChat(says(Text(text="hm"), stop="pause"), says(Text(text="ok"), stop="end"))
    trace = await talk(chat)
    assert (len(trace.turns), trace.natural_stop) == (2, True)
    assert [message.role for message in trace.messages] == ["user", "assistant", "assistant"]


async def test_endless_pauses_end_at_the_turn_limit() -> None:
    trace = await talk(FakeChat(*[says(stop="pause") for _ in range(9)]), max_turns=4)
    assert (len(trace.turns), trace.natural_stop) == (4, False)


@pytest.mark.parametrize(
    ("stop", "natural"),
    [
        ("end", True),
        ("tool_use", True),
        ("length", False),
        ("refusal", False),
        ("content_filter", False),
        ("other", False),
    ],
)
async def test_an_empty_answer_ends_it(stop: StopReason, natural: bool) -> None:
    trace = await talk(FakeChat(says(stop=stop)))
    assert (len(trace.turns), trace.natural_stop) == (1, natural)


# --- several calls, one shell ---------------------------------------------------------------------------------------


async def test_all_tool_uses_of_a_turn_run_in_order_in_one_shell() -> None:
    shell = FakeShell()
    uses = [use("first", use_id="u1"), use("second", use_id="u2"), use("third", use_id="u3")]
    trace = await talk(FakeChat(says(Text(text="I try."), *uses), says(use("fourth")), says(stop="end")), shell)
    assert shell.scripts == ["first", "second", "third", "fourth"]
    assert len(trace.turns) == 3
    assert [(r.tool_use_id, r.content) for r in results(trace)[:3]] == [
        ("u1", "<first>"), ("u2", "<second>"), ("u3", "<third>"),
    ]  # fmt: skip


async def test_the_model_reads_prompt_tool_and_all_that_was_said() -> None:
    chat = FakeChat(says(use("a")), says(stop="end"))
    await talk(chat)
    first, second = chat.requests
    assert (first.system, [tool.name for tool in first.tools]) == ("Be good.", ["bash"])
    assert [message.role for message in first.messages] == ["user"]
    assert [message.role for message in second.messages] == ["user", "assistant", "tool_result"]


async def test_a_failing_script_is_an_error_for_the_model_and_goes_on() -> None:
    shell = FakeShell(answers={"bad": Execution("out", "oops", 3, 7)})
    trace = await talk(FakeChat(says(use("bad")), says(stop="end")), shell)
    (answer,), (call,) = results(trace), trace.tool_calls
    assert (answer.is_error, answer.content) == (True, "out\nSTDERR: oops\nExit code: 3")
    assert (call.stdout, call.stderr, call.exit_code, call.duration_ms, call.ran) == ("out", "oops", 3, 7, True)


async def test_a_broken_tool_use_runs_nothing_and_tells_the_model() -> None:
    shell = FakeShell()
    trace = await talk(FakeChat(says(use("x", name="python"), use("y")), says(stop="end")), shell)
    assert shell.scripts == ["y"]
    broken, fine = trace.tool_calls
    assert (broken.ran, broken.exit_code, fine.exit_code) == (False, USAGE_ERROR, 0)
    assert results(trace)[0].is_error
    assert "no tool 'python'" in results(trace)[0].content


async def test_waits_for_rate_limits_are_no_working_time() -> None:
    trace = await talk(FakeChat(says(use("a"), wall_ms=50_000, working_ms=10), says(stop="end")))
    assert trace.working_ms == 0
    trace = await talk(FakeChat(says(stop="end", wall_ms=10, working_ms=10)))
    assert trace.working_ms == trace.duration_ms


# --- hostile answers ------------------------------------------------------------------------------------------------


async def test_lone_surrogates_of_a_model_can_be_written_down() -> None:
    shell = FakeShell()
    chat = FakeChat(says(Text(text="hm \ud800"), use("echo '\ud83d'"), use({"\udfff": ["\ud800"]})), says(stop="end"))
    trace = keep(await talk(chat, shell))
    trace.model_dump_json().encode("utf-8")
    assert shell.scripts == ["echo '\ufffd'"]


async def test_arguments_nested_beyond_reason_are_a_usage_error() -> None:
    deep: Any = "ls"
    for _ in range(400):
        deep = [deep]
    trace = keep(await talk(FakeChat(says(Text(text="hm"), use(deep)), says(stop="end"))))
    trace.model_dump_json()
    assert [call.ran for call in trace.tool_calls] == [False]
    assert trace.messages[1].text == "hm"


async def test_blocks_of_a_provider_come_back_unaltered() -> None:
    block = Opaque(provider="anthropic", data={"signature": "x" * 10})
    message = Message(role="assistant", content=[block, use("a")])
    chat = FakeChat(Reply(message, Turn(stop="tool_use")), says(stop="end"))
    await talk(chat)
    assert chat.requests[1].messages[1] is message


async def test_a_trace_keeps_long_output_cut_and_says_so() -> None:
    shell = FakeShell(answers={"yes": Execution("y\n" * 500_000, "", 0, 1)})
    whole = await talk(FakeChat(says(use("yes")), says(stop="end")), shell)
    assert len(whole.tool_calls[0].stdout) == 1_000_000  # the checks look at all of it
    assert len(results(whole)[0].content) <= OUTPUT_LIMIT
    (kept,) = keep(whole).tool_calls
    assert len(kept.stdout) <= OUTPUT_LIMIT
    assert kept.cut == 1_000_000 - len(kept.stdout)
    assert keep(keep(whole)) == keep(whole)


# --- script_of ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "script"),
    [
        ({"commands": "ls"}, "ls"),
        ({"script": "ls"}, "ls"),
        ({"commands": "ls", "script": "pwd"}, "ls"),
        ({"commands": "ls", "timeout": 5}, "ls"),
        ({"commands": ""}, ""),
        ({"commands": "a\nb # ü"}, "a\nb # ü"),
    ],
)
def test_the_script_is_in_commands_or_script(arguments: dict[str, Any], script: str) -> None:
    assert script_of(ToolUse(id="1", name="bash", input=arguments)) == script


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "lack the text `commands`"),
        ({"command": "ls"}, "lack the text `commands`"),
        ({"commands": None}, "lack the text `commands`"),
        ({"commands": ["ls"]}, "lack the text `commands`"),
        ({"commands": 5}, "lack the text `commands`"),
        ('{"commands": "ls', "no JSON object"),
        ("ls", "no JSON object"),
        (["ls"], "no JSON object"),
        (None, "no JSON object"),
    ],
)
def test_broken_arguments_say_what_to_send(arguments: Any, why: str) -> None:
    broken = script_of(ToolUse(id="1", name="bash", input=arguments))
    assert isinstance(broken, Unusable)
    assert why in broken.why
    assert 'Send {"commands": "…"}' in broken.why
    assert broken.shown == str(arguments)


@pytest.mark.parametrize("name", ["Bash", "sh", "", "bash ", "computer"])
def test_another_tool_is_unknown(name: str) -> None:
    broken = script_of(ToolUse(id="1", name=name, input={"commands": "ls"}))
    assert broken == Unusable(name, f"There is no tool {name!r}. The only tool is 'bash'.")


# --- tool_text ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("execution", "text"),
    [
        (Execution("out\n", "", 0, 0), "out\n"),
        (Execution("", "", 0, 0), "(no output)"),
        (Execution("", "", 2, 0), "Exit code: 2"),
        (Execution("", "oops\n", 0, 0), "STDERR: oops\n"),
        (Execution("", "oops\n", 1, 0), "STDERR: oops\n\nExit code: 1"),
        (Execution("out\n", "oops", 0, 0), "out\n\nSTDERR: oops"),
        (Execution("out", "oops", 127, 0), "out\nSTDERR: oops\nExit code: 127"),
        (Execution("out\n", "", -1, 0), "out\n\nExit code: -1"),
        (Execution(" ", "", 0, 0), " "),
    ],
)
def test_what_the_model_reads(execution: Execution, text: str) -> None:
    assert tool_text(execution) == text


# --- cut ------------------------------------------------------------------------------------------------------------


@given(st.text(max_size=400), st.integers(100, 300))
def test_cut_never_exceeds_its_limit_and_is_stable(text: str, limit: int) -> None:
    short = cut(text, limit)
    assert len(short) <= limit
    assert cut(short, limit) == short
    assert short == text or len(text) > limit


def test_cut_says_exactly_how_much_is_left_out_and_keeps_both_ends() -> None:
    short = cut("a" * 5_000 + "b" * 5_000, 1_000)
    head, note, tail = short.split("\n")
    assert set(head) == {"a"}
    assert set(tail) == {"b"}
    assert note == f"[… {10_000 - len(head) - len(tail)} characters left out …]"


# --- targets that answer by themselves ------------------------------------------------------------------------------


async def test_a_script_plays_its_messages_and_stops() -> None:
    shell = FakeShell()
    trace = await talk(ScriptedChat(case(solution=["a", "b"]).reference()), shell)
    assert shell.scripts == ["a", "b"]
    assert (len(trace.turns), trace.natural_stop) == (3, True)
    assert (trace.usage.input_tokens, trace.usage.output_tokens, trace.usage.cost_usd) == (0, 0, 0.0)


async def test_nothing_to_play_is_one_word_of_goodbye() -> None:
    trace = await talk(ScriptedChat([]))
    assert (len(trace.turns), trace.tool_calls, trace.messages[-1].text) == (1, [], "Done.")


async def test_a_replay_says_again_what_was_said_and_costs_nothing() -> None:
    live = await talk(FakeChat(says(use("a")), says(use("b")), says(Text(text="Done."), stop="end")))
    shell = FakeShell()
    again = await talk(ReplayChat(live), shell)
    assert shell.scripts == ["a", "b"]
    assert again.messages == live.messages
    assert (again.usage.input_tokens, again.usage.output_tokens, again.usage.cost_usd) == (30, 3, 0.0)
    assert again.natural_stop


async def test_a_replay_of_a_turn_limit_ends_there_too() -> None:
    live = await talk(FakeChat(*[says(use(str(n))) for n in range(5)]), max_turns=3)
    again = await talk(ReplayChat(live), max_turns=3)
    assert (len(again.turns), again.natural_stop) == (3, False)


async def test_a_replay_that_runs_out_stops_without_losing_its_tokens() -> None:
    live = await talk(FakeChat(*[says(use(str(n))) for n in range(5)]), max_turns=3)
    again = await talk(ReplayChat(live), max_turns=10)
    assert (len(again.tool_calls), again.natural_stop) == (3, False)
    assert (again.usage.input_tokens, again.usage.cost_usd) == (30, 0.0)


async def test_a_recording_that_tells_no_turns_is_played_to_its_end() -> None:
    calls = [ToolCall(commands="a", exit_code=0), ToolCall(commands="b", exit_code=0)]
    messages = [Message(role="assistant", content=[use("a")]), Message(role="assistant", content=[use("b")])]
    done = Message(role="assistant", content=[Text(text="Done.")])
    again = await talk(ReplayChat(Trace(messages=[*messages, done], tool_calls=calls)))
    assert [call.commands for call in again.tool_calls] == ["a", "b"]
    assert again.natural_stop


async def test_the_total_of_a_recording_costs_nothing_either() -> None:
    recorded = Trace.model_validate({"messages": [], "total": {"input_tokens": 7, "output_tokens": 2, "cost_usd": 1.5}})
    again = await talk(ReplayChat(recorded))
    assert (again.usage.input_tokens, again.usage.cost_usd) == (7, 0.0)


def test_messages_are_json() -> None:
    assert json.loads(says(use("a")).message.model_dump_json())["content"][0]["name"] == "bash"
