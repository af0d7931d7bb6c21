"""The three protocols' conversions, on their own: what no well-behaved server shows."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from evalward.records.result import Result, Status, Trial
from evalward.records.trace import Block, Message, Opaque, Text, ToolResult, ToolUse, Trace
from evalward.runner.link import Keeper, TrialTooLargeError
from evalward.targets.base import Reply, Request, ToolSpec
from evalward.targets.failures import Cause, TargetError
from evalward.targets.models import anthropic, openai_chat, openai_responses
from evalward.targets.models.reading import (
    MalformedError,
    ProviderError,
    arguments_to_send,
    body_of,
    reading,
    unique_ids,
)
from evalward.targets.models.room import AnswerRoom, parsed_arguments
from evalward.targets.models.sampling import takes_sampling
from evalward.targets.models.settings import LiveSettings
from evalward.wire.messages import KeptTrial, Models, asks, replies
from evalward.wire.peer import Peer
from evalward.wire.reading import (
    MOST_ASKED,
    MOST_TALK_VALUES,
    MOST_VALUES,
    BrokenMessageError,
    parse,
    read,
)

SETTINGS = LiveSettings("openai", "gpt-4.1", "https://h/v1", None)
TOOL = ToolSpec("bash", "Runs it.", {"type": "object"})


def user(text: str) -> Message:
    return Message(role="user", content=[Text(text=text)])


def assistant(*blocks: Block) -> Message:
    return Message(role="assistant", content=list(blocks))


def results(*blocks: Block) -> Message:
    return Message(role="tool_result", content=list(blocks))


TALK = (
    user("Do it."),
    assistant(),  # a pause without content
    assistant(
        Opaque(provider="anthropic", data={"type": "thinking", "thinking": "hm", "signature": "s"}),
        Opaque(provider="openai-responses", data={"type": "reasoning", "id": "rs_1", "encrypted_content": "e"}),
        Text(text=" \n"),
        ToolUse(id="1", name="bash", input={"commands": "ls"}),
        ToolUse(id="2", name="bash", input="{broken"),
        ToolUse(id="3", name="bash", input=None),
    ),
    results(
        ToolResult(tool_use_id="1", content="a"),
        ToolResult(tool_use_id="2", content="b", is_error=True),
        ToolResult(tool_use_id="3", content="c", is_error=True),
    ),
)
ASKED = Request("Be good.", TALK, (TOOL,))


def test_messages_request() -> None:
    params: Any = anthropic.request_of(ASKED, SETTINGS)
    assert params["system"] == "Be good."
    assert params["max_tokens"] == anthropic.MAX_TOKENS
    assert [message["role"] for message in params["messages"]] == ["user", "assistant", "user"]
    assert params["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "tool_use", "id": "1", "name": "bash", "input": {"commands": "ls"}},
        {"type": "tool_use", "id": "2", "name": "bash", "input": {"unusable": "{broken"}},
        {"type": "tool_use", "id": "3", "name": "bash", "input": {}},
    ]
    assert [block.get("is_error") for block in params["messages"][2]["content"]] == [None, True, True]


def test_chat_request() -> None:
    params: Any = openai_chat.request_of(ASKED, SETTINGS)
    assert [message["role"] for message in params["messages"]] == [
        "system", "user", "assistant", "tool", "tool", "tool",
    ]  # fmt: skip
    said = params["messages"][2]
    assert said["tool_calls"][1]["function"]["arguments"] == '{"unusable": "{broken"}'
    assert [message["tool_call_id"] for message in params["messages"][3:]] == ["1", "2", "3"]
    assert "max_tokens" not in params


def test_responses_request() -> None:
    params: Any = openai_responses.request_of(ASKED, SETTINGS)
    assert (params["instructions"], params["store"]) == ("Be good.", False)
    kinds = [item.get("type", item.get("role")) for item in params["input"]]
    assert kinds == ["user", "reasoning", *["function_call"] * 3, *["function_call_output"] * 3]


def test_no_system_prompt_and_no_tools_are_left_out() -> None:
    plain = Request(" ", (user("x"),))
    for params in (anthropic.request_of(plain, SETTINGS), openai_responses.request_of(plain, SETTINGS)):
        assert not {"system", "instructions", "tools"} & set(params)
    assert len(list(openai_chat.request_of(plain, SETTINGS)["messages"])) == 1


def test_reasoning_that_leads_nowhere_or_is_not_sent_along_stays_here() -> None:
    sealed = Opaque(provider="openai-responses", data={"type": "reasoning", "id": "1", "encrypted_content": "e"})
    open_ = Opaque(provider="openai-responses", data={"type": "reasoning", "id": "2", "summary": []})
    use = ToolUse(id="1", name="bash", input={})
    sent: Any = openai_responses.request_of(Request("", (assistant(open_, use, sealed),)), SETTINGS)["input"]
    assert [item["type"] for item in sent] == ["function_call"]


# --- answers --------------------------------------------------------------------------------------------------------


def chat_answer(message: dict[str, Any], finish: Any = "stop", **more: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"finish_reason": finish, "message": message}], **more}


def call(identity: str | None, arguments: Any = '{"commands": "ls"}') -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": "bash", "arguments": arguments}}


def uses(reply: Reply) -> list[tuple[str, Any]]:
    return [(use.id, use.input) for use in reply.message.tool_uses]


def test_servers_that_say_stop_beside_tool_calls_mean_to_go_on() -> None:
    assert openai_chat.reply_of(chat_answer({"content": None, "tool_calls": [call("a")]})).turn.stop == "tool_use"


def test_ids_that_are_missing_or_twice_are_made_up() -> None:
    calls = [call(""), call("a"), call("a"), call(None)]
    reply = openai_chat.reply_of(chat_answer({"tool_calls": calls}, "tool_calls"), turn=7)
    assert [identity for identity, _ in uses(reply)] == ["call_7_1", "a", "call_7_3", "call_7_4"]
    assert unique_ids(["", ""], 1) != unique_ids(["", ""], 3)


def test_arguments_that_are_an_object_already_are_taken() -> None:
    reply = openai_chat.reply_of(chat_answer({"tool_calls": [call("a", {"commands": "ls"})]}, "tool_calls"))
    assert uses(reply) == [("a", {"commands": "ls"})]


def test_a_custom_tool_call_reaches_the_loop_as_text() -> None:
    custom = {"id": "a", "type": "custom", "custom": {"name": "bash", "input": "ls"}}
    assert uses(openai_chat.reply_of(chat_answer({"tool_calls": [custom]}, "tool_calls"))) == [("a", "ls")]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("[1]", [1]),
        ("", ""),
        ("{", "{"),
        ('{"a": NaN}', '{"a": NaN}'),
        ("[" * 100_000, "[" * 100_000),
        ("1" * 5000, "1" * 5000),
    ],
)
def test_arguments(text: str, value: Any) -> None:
    assert parsed_arguments(text, AnswerRoom()) == value
    assert isinstance(arguments_to_send(value), dict)


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"choices": None},
        {"choices": []},
        {"choices": ["x"]},
        {"choices": [{}]},
        chat_answer({}, None),
        chat_answer({"tool_calls": "x"}),
        chat_answer({"tool_calls": [{"id": "a"}]}),
        chat_answer({"tool_calls": [{"id": "a", "function": {"arguments": "{}"}}]}),
    ],
)
def test_what_is_no_chat_answer(broken: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        openai_chat.reply_of(broken)


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"type": "error"},
        {"type": "message", "content": "x", "stop_reason": "end_turn"},
        {"type": "message", "content": [], "stop_reason": None},
        {"type": "message", "content": [{}], "stop_reason": "end_turn"},
        {"type": "message", "content": [{"type": "text"}], "stop_reason": "end_turn"},
        {"type": "message", "content": [{"type": "tool_use", "id": "a"}], "stop_reason": "tool_use"},
    ],
)
def test_what_is_no_message(broken: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        anthropic.reply_of(broken)


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"status": "in_progress", "output": []},
        {"status": "queued", "output": []},
        {"status": "completed"},
        {"status": "completed", "output": [{}]},
        {"status": "completed", "output": [{"type": "message", "content": None}]},
        {"status": "completed", "output": [{"type": "function_call", "name": "bash"}]},
    ],
)
def test_what_is_no_response(broken: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        openai_responses.reply_of(broken)


def test_a_failed_response_is_the_providers_error() -> None:
    with pytest.raises(ProviderError):
        openai_responses.reply_of({"status": "failed", "error": {"code": "server_error"}})


@pytest.mark.parametrize("numbers", [None, "x", -1, 1.5, True, [1]])
def test_numbers_of_tokens_that_are_none_are_unknown(numbers: Any) -> None:
    assert anthropic.usage_of({"input_tokens": numbers}).input_tokens is None
    assert openai_chat.usage_of({"prompt_tokens": numbers}).input_tokens is None
    assert openai_responses.usage_of({"output_tokens": numbers}).output_tokens is None


def test_more_cache_than_input_is_no_negative_number() -> None:
    usage = openai_chat.usage_of({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 9}})
    assert (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens) == (0, 9, None)


# --- streams --------------------------------------------------------------------------------------------------------


def piece(index: int, identity: str | None, arguments: str, name: str | None = None) -> dict[str, Any]:
    return {"index": index, "id": identity, "function": {"name": name, "arguments": arguments}}


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def test_interleaved_pieces_of_calls_are_put_together() -> None:
    chunks: list[dict[str, Any]] = [
        chunk(tool_calls=[piece(0, "a", "", "bash"), piece(1, "b", "", "bash")]),
        chunk(tool_calls=[piece(1, None, '{"commands": ')]),
        chunk(tool_calls=[piece(0, None, '{"commands": "x"}'), piece(1, None, '"y"}')]),
        chunk("tool_calls"),
        {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}},
    ]
    reply = openai_chat.reply_of(openai_chat.folded(chunks))
    assert uses(reply) == [("a", {"commands": "x"}), ("b", {"commands": "y"})]
    assert (reply.turn.usage.input_tokens, reply.turn.usage.output_tokens) == (3, 4)


def test_servers_that_give_every_call_the_index_0() -> None:
    calls = [chunk(tool_calls=[piece(0, name, f'{{"commands": "{name}"}}', "bash")]) for name in "ab"]
    assert uses(openai_chat.reply_of(openai_chat.folded([*calls, chunk("stop")]))) == [
        ("a", {"commands": "a"}), ("b", {"commands": "b"}),
    ]  # fmt: skip


def test_streams_without_an_end_are_no_answers() -> None:
    with pytest.raises(MalformedError):
        openai_chat.folded([chunk(content="half an ans")])
    with pytest.raises(MalformedError):
        openai_chat.folded([])
    with pytest.raises(MalformedError):
        anthropic.folded([{"type": "message_start", "message": {"type": "message"}}])
    with pytest.raises(MalformedError):
        anthropic.folded([{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta"}}])
    with pytest.raises(MalformedError):
        openai_responses.folded([{"type": "response.created"}])


def test_a_message_that_ends_without_a_reason_is_no_answer() -> None:
    start: dict[str, Any] = {"type": "message_start", "message": {"type": "message", "content": []}}
    events = [start, {"type": "message_stop"}]
    with pytest.raises(MalformedError):
        anthropic.reply_of(anthropic.folded(events))


def test_the_items_of_a_stream_are_those_that_were_done() -> None:
    item = {"type": "function_call", "call_id": "a", "name": "bash", "arguments": "{}"}
    done = {"type": "response.output_item.done", "output_index": 0, "item": item}
    events: list[dict[str, Any]] = [
        done,
        {"type": "response.completed", "response": {"status": "completed", "output": []}},
    ]
    reply = openai_responses.reply_of(openai_responses.folded(events))
    assert (uses(reply), reply.turn.stop) == ([("a", {})], "tool_use")


@pytest.mark.parametrize(
    ("answer", "stop"),
    [
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "content_filter"),
        ({"status": "incomplete", "incomplete_details": {"reason": "steered"}}, "other"),
        ({"status": "incomplete", "incomplete_details": None}, "other"),
        ({"status": "completed"}, "end"),
    ],
)
def test_stops_of_responses(answer: dict[str, Any], stop: str) -> None:
    assert openai_responses.reply_of({**answer, "output": []}).turn.stop == stop


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("tool_use", "tool_use"),
        ("max_tokens", "length"),
        ("pause_turn", "pause"),
        ("refusal", "refusal"),
        ("model_context_window_exceeded", "context_length"),
        ("something_new", "other"),
    ],
)
def test_stops_of_messages(reason: str, stop: str) -> None:
    assert anthropic.reply_of({"type": "message", "content": [], "stop_reason": reason}).turn.stop == stop


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "text/html", ""])
def test_an_answer_is_read_whatever_it_calls_itself(kind: str) -> None:
    response = httpx2.Response(200, headers={"content-type": kind}, content='{"new": [1, "ß"]}'.encode())
    assert body_of(response) == {"new": [1, "ß"]}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"<html>Sign in", "the text '<html>Sign in'"),
        (b'{"cut', "the text '{\"cut'"),
        (b"\xff\xfe\xfd", "the text"),
        (b'"words"', "the text 'words'"),
        (b"  ", "empty"),
        (b"[{}]", "a list"),
        (b"null", "a NoneType"),
    ],
)
def test_an_answer_that_is_no_object_is_none(content: bytes, told: str) -> None:
    response = httpx2.Response(200, headers={"content-type": "application/json"}, content=content)
    with pytest.raises(MalformedError, match=f"not a JSON object but {re.escape(told)}"):
        body_of(response)


def test_what_is_nested_too_deeply_is_the_models_doing() -> None:
    def answered(depth: int) -> Reply:
        use = f'{{"type": "tool_use", "id": "1", "name": "bash", "input": {"[" * depth}{"]" * depth}}}'
        text = f'{{"type": "message", "stop_reason": "tool_use", "content": [{use}]}}'
        with reading():
            return anthropic.reply_of(body_of(httpx2.Response(200, content=text.encode())))

    (use,) = answered(300).message.tool_uses
    assert (use.name, use.input) == ("bash", None)
    with pytest.raises(MalformedError, match="nested too deeply"):  # too deep for any parser
        answered(50_000)


# --- how an answer is sampled ---------------------------------------------------------------------------------------

SAMPLED = Request("", (user("x"),), max_tokens=50, temperature=0.0, top_p=0.5)


def sampling(params: Any) -> dict[str, Any]:
    names = ("temperature", "top_p", "max_tokens", "max_completion_tokens", "max_output_tokens")
    return {name: params[name] for name in names if name in params}


def test_what_a_request_says_of_sampling_is_sent_in_each_protocols_words() -> None:
    assert sampling(openai_chat.request_of(SAMPLED, SETTINGS)) == {"temperature": 0.0, "top_p": 0.5, "max_tokens": 50}
    found = sampling(openai_responses.request_of(SAMPLED, SETTINGS))
    assert found == {"temperature": 0.0, "top_p": 0.5, "max_output_tokens": 50}
    claude = LiveSettings("anthropic", "claude-haiku-4-5", "https://h", None)
    assert sampling(anthropic.request_of(SAMPLED, claude)) == {"max_tokens": 50}


def test_models_that_reason_take_no_sampling_of_a_request() -> None:
    settings = LiveSettings("openai", "gpt-5.5", "https://h/v1", None, temperature=1.0)
    assert sampling(openai_chat.request_of(SAMPLED, settings)) == {"temperature": 1.0, "max_completion_tokens": 50}
    assert takes_sampling("openai", "gpt-5-chat-latest")
    assert not takes_sampling("openai", "o3")
    assert not takes_sampling("anthropic", "claude-haiku-4-5")


@pytest.mark.parametrize(("configured", "sent"), [(20, 20), (100, 50), (None, 50)])
def test_a_request_asks_for_no_more_than_the_configuration_allows(configured: int | None, sent: int) -> None:
    settings = LiveSettings("openai", "gpt-4.1", "https://h/v1", None, max_tokens=configured, temperature=1.0)
    assert sampling(openai_chat.request_of(SAMPLED, settings)) == {
        "temperature": 0.0, "top_p": 0.5, "max_tokens": sent,
    }  # fmt: skip


@pytest.mark.parametrize("adapter", [asks, replies])
def test_what_no_provider_takes_is_not_read(adapter: Callable[[], Any]) -> None:
    """A runner may send half a gigabyte at once; `make fuzz` found that reading it took as much again."""
    with pytest.raises(BrokenMessageError, match="33,554,433 bytes are too much for one question or answer"):
        parse(adapter(), bytes(MOST_ASKED + 1))


MANY = b"[" + b"0," * MOST_TALK_VALUES + b"0]"


@pytest.mark.parametrize(
    ("opened", "named"),
    [
        (lambda: parse(asks(), b'{"request": {"messages": [{"role": "user", "content": ' + MANY + b"}]}}"), ""),
        (lambda: parse(replies(), b'{"message": {"role": "assistant", "content": ' + MANY + b"}}"), ""),
        (lambda: read(KeptTrial, b'{"trial": ' + MANY + b"}"), "KeptTrial: "),
    ],
)
def test_a_conversation_of_very_many_values_is_not_read(opened: Callable[[], Any], named: str) -> None:
    """`make fuzz` found 12 MB of zeros in the place of blocks, which took 6 GB and 49 s."""
    with pytest.raises(BrokenMessageError, match=f"^{named}more than 250,000 values are too much for one message$"):
        opened()


def test_a_message_of_very_many_values_is_not_read__and_the_first_mistake_in_a_list_is_named() -> None:
    with pytest.raises(BrokenMessageError, match=r"^Models: more than 3,000,000 values are too much for one message$"):
        read(Models, b'{"names": [' + b"0," * MOST_VALUES + b"0]}")
    with pytest.raises(BrokenMessageError, match=r"^Models: names.0: "):
        read(Models, b'{"names": [' + b"0," * 2_000 + b"0]}")


@pytest.mark.parametrize(
    "request_",
    [
        Request(system="x" * MOST_ASKED, messages=[]),
        Request(system="", messages=[assistant(ToolUse(id="1", name="n", input={"many": [0] * MOST_TALK_VALUES}))]),
    ],
    ids=["bytes", "values"],
)
async def test_a_question_that_no_provider_takes_is_too_long_a_conversation(request_: Request) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        with pytest.raises(TargetError, match="The conversation became longer than gpt-5 can read") as failed:
            await Keeper(Peer(ours, lambda _: None)).ask("openai", "gpt-5", request_)
        assert (failed.value.cause, failed.value.target) == (Cause.CONTEXT_LENGTH, "openai/gpt-5")


def test_a_trial_that_the_keeper_would_not_read_is_not_sent() -> None:
    """It was told with the traceback of the keeper's refusal, which got into the report."""
    use = ToolUse(id="1", name="n", input={"many": [0] * MOST_TALK_VALUES})
    trace = Trace(messages=[assistant(use)])
    result = Result(id="a", category="c", definition="sha256:0", trial=1, status=Status.FAILED)
    trial = Trial(suite="s", kind="bash", target="t", subject="sha256:0", result=result, trace=trace)
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(TrialTooLargeError, match=r"^the trial has more than 250,000 values$"):
        Keeper(Peer(ours, lambda _: None)).keep(trial)


@pytest.mark.parametrize("wrong", [{"max_tokens": 0}, {"max_tokens": -5}, {"temperature": 3}, {"top_p": -1}])
def test_bounds_that_no_answer_can_have_are_refused_on_the_wire(wrong: dict[str, float]) -> None:
    ask = {"provider": "openai", "model": "m", "request": {"system": "", "messages": [], **wrong}}
    with pytest.raises(BrokenMessageError, match=next(iter(wrong))):
        parse(asks(), json.dumps(ask).encode())
