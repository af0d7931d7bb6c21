"""Faults that are the model's own, as the SDKs show them: stops, empty answers, broken arguments, unknown blocks."""

from __future__ import annotations

import warnings
from typing import Any

import openai
import pytest

from support.model_server import Fault, ModelServer
from support.model_server.api import Protocol
from support.model_server.sdk import Speaker

STREAM = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


async def ask(each: Speaker, stream: bool) -> Any:
    return await each.ask(each.start("task"), stream=stream)


async def last_response(each: Speaker) -> Any:
    """The response in the last event, which `get_final_response()` doesn't give unless it is complete."""
    return (await each.events(each.start("task")))[-1].response


@pytest.mark.parametrize(
    ("name", "stop", "kinds"),
    [
        ("refusal", "refusal", ["thinking", "text"]),
        ("content_filter", "refusal", ["thinking"]),
        ("length", "max_tokens", ["thinking", "text"]),
        ("length_in_call", "max_tokens", ["thinking", "tool_use"]),
        ("context_window", "model_context_window_exceeded", ["thinking", "text"]),
        ("pause", "pause_turn", ["thinking", "text", "server_tool_use"]),
        ("other_stop", "future_reason", ["thinking", "tool_use"]),
        ("empty_answer", "end_turn", []),
    ],
)
async def test_messages(name: str, stop: str, kinds: list[str], server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault(name))
    each = speak(server, "messages")
    for answer in (await ask(each, False), await ask(each, True)):
        assert (answer.stop_reason, [block.type for block in answer.content]) == (stop, kinds)
        assert (answer.stop_details is not None) == (stop == "refusal")
        if name == "length_in_call":
            assert answer.content[1].input == {}  # the SDK drops what is incomplete, so that it looks complete


@pytest.mark.parametrize(
    ("name", "finish"),
    [
        ("refusal", "stop"),
        ("content_filter", "content_filter"),
        ("length", "length"),
        ("length_in_call", "length"),
        ("other_stop", "future_reason"),
        ("empty_answer", "stop"),
    ],
)
async def test_chat(name: str, finish: str, server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault(name))
    each = speak(server, "chat")
    choice = (await ask(each, False)).choices[0]
    events = await each.events(each.start("task"))
    assert choice.finish_reason == events[-1].choices[0].finish_reason == finish
    assert (choice.message.refusal is not None) == (name == "refusal")
    if name in {"refusal", "empty_answer", "content_filter"}:
        assert (choice.message.content, choice.message.tool_calls) == (None, None)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("length", openai.LengthFinishReasonError),
        ("length_in_call", openai.LengthFinishReasonError),
        ("content_filter", openai.ContentFilterFinishReasonError),
    ],
)
async def test_chat_stream_helper_raises(name: str, error: type[Exception], server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault(name))
    with pytest.raises(error):
        await ask(speak(server, "chat"), True)


@pytest.mark.parametrize(
    ("name", "status", "reason"),
    [
        ("refusal", "completed", None),
        ("content_filter", "incomplete", "content_filter"),
        ("length", "incomplete", "max_output_tokens"),
        ("length_in_call", "incomplete", "max_output_tokens"),
        ("other_stop", "incomplete", "future_reason"),
        ("empty_answer", "completed", None),
    ],
)
async def test_responses(name: str, status: str, reason: str | None, server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault(name))
    each = speak(server, "responses")
    whole, streamed = await ask(each, False), await last_response(each)
    for answer in (whole, streamed):
        assert (answer.status, answer.incomplete_details and answer.incomplete_details.reason) == (status, reason)
    if name == "refusal":
        assert whole.output[1].content[0].type == "refusal"
        assert whole.output_text == ""
    if status == "incomplete":
        with pytest.raises(RuntimeError, match=r"Didn't receive a `response.completed` event"):
            await ask(each, True)


@STREAM
@pytest.mark.parametrize("name", ["broken_arguments", "list_arguments", "unknown_tool"])
async def test_openai_arguments_are_texts(name: str, stream: bool, server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault(name))
    chat = (await ask(speak(server, "chat"), stream)).choices[0].message.tool_calls[0].function
    response = (await ask(speak(server, "responses"), stream)).output[1]
    expected = {
        "broken_arguments": ("bash", '{"commands": echo one}'),
        "list_arguments": ("bash", '["echo one"]'),
        "unknown_tool": ("read_file", '{"path": "/etc/passwd"}'),
    }
    assert (chat.name, chat.arguments) == (response.name, response.arguments) == expected[name]


async def test_messages_arguments_may_be_anything(server: ModelServer, speak: Any) -> None:
    each = speak(server, "messages")
    server.misbehave(Fault("broken_arguments"))
    assert (await ask(each, False)).content[1].input == '{"commands": echo one}'
    with pytest.raises(ValueError, match="Unable to parse tool parameter JSON from model"):  # no SDK error
        await ask(each, True)
    server.misbehave(Fault("list_arguments"))
    for stream in (False, True):
        assert (await ask(each, stream)).content[1].input == ["echo one"]


@STREAM
async def test_unknown_block_looks_like_text(stream: bool, server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault("extra_block", turn=0))
    each = speak(server, "messages")
    history = each.start("task")
    answer = await each.ask(history, stream=stream)
    assert (
        type(answer.content[1]).__name__.removeprefix("Parsed"),
        answer.content[1].type,
        answer.content[1].text,
    ) == (
        "TextBlock",
        "future_block",
        None,
    )
    data = answer.content[1].to_dict()
    assert set(data) >= {"type", "note", "signature"}
    history += each.after(answer, {answer.content[2].id: "ok"})
    history[1]["content"] = [block.to_dict() for block in answer.content]
    for block in history[1]["content"]:
        block.pop("text", None)
    assert each.read(await each.ask(history)).calls[0][2] == {"commands": "echo two"}


@STREAM
async def test_unknown_item_looks_like_a_message(stream: bool, server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault("extra_block", turn=0))
    each = speak(server, "responses")
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        answer = await each.ask(each.start("task"), stream=stream)
    odd = answer.output[1]
    assert (type(odd).__name__, odd.type) == ("ResponseOutputMessage", "future_item")
    with pytest.warns(UserWarning, match="Pydantic serializer warnings"):
        answer.model_dump()


@STREAM
async def test_unknown_field_is_ignored(stream: bool, server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault("extra_block"))
    each = speak(server, "chat")
    assert each.read(await each.ask(each.start("task"), stream=stream)).calls[0][1] == "bash"


async def test_no_usage(protocol: Protocol, server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault("no_usage"))
    each = speak(server, protocol)
    assert (await ask(each, False)).usage is None
    if protocol == "messages":
        with pytest.raises(AttributeError, match="output_tokens"):  # no SDK error
            await ask(each, True)
    else:
        assert (await ask(each, True)).usage is None


async def test_chat_stream_tells_usage_only_when_asked(server: ModelServer, speak: Any) -> None:
    each = speak(server, "chat")
    without = await each.events(each.start("task"))
    asked = await each.events(each.start("task"), stream_options={"include_usage": True})
    assert [event for event in without if event.usage] == []
    assert (asked[-1].choices, asked[-1].usage.prompt_tokens) == ([], 100)
