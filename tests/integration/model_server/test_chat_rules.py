"""What OpenAI Chat Completions refuses."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import openai
import pytest

from support.model_server import ModelServer
from support.model_server.sdk import SCHEMA

TOOL = {"type": "function", "function": {"name": "bash", "description": "Runs.", "parameters": SCHEMA}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "bash", "arguments": '{"commands": "echo one"}'}}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "one"}
BODY: dict[str, Any] = {
    "model": "gpt-5",
    "tools": [TOOL],
    "messages": [
        {"role": "system", "content": "You are a test."},
        {"role": "user", "content": "task"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        RESULT,
    ],
}
STRICT = SCHEMA | {"additionalProperties": False}
Change = Callable[[dict[str, Any]], object]


def call(body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = body["messages"][2]["tool_calls"][0]
    return found


def strict(body: dict[str, Any], **schema: Any) -> None:
    body["tools"][0]["function"].update(strict=True, parameters=SCHEMA | schema)


ACCEPTED: dict[str, Change] = {
    "as it is": lambda body: None,
    "developer": lambda body: body["messages"][0].update(role="developer"),
    "parts": lambda body: body["messages"][1].update(content=[{"type": "text", "text": "task"}]),
    "broken arguments": lambda body: call(body)["function"].update(arguments="{no"),
    "max_completion_tokens": lambda body: body.update(max_completion_tokens=100),
    "effort": lambda body: body.update(reasoning_effort="low"),
    "default temperature": lambda body: body.update(temperature=1),
    "temperature without reasoning": lambda body: body.update(temperature=0, reasoning_effort="none"),
    "old model": lambda body: body.update(model="gpt-4.1", temperature=0, max_tokens=100),
    "old model, new parameter": lambda body: body.update(model="gpt-4o", max_completion_tokens=100),
    "strict": lambda body: strict(body, additionalProperties=False),
    "usage in a stream": lambda body: body.update(stream_options=None),
    "user after results": lambda body: body["messages"].append({"role": "user", "content": "Go on."}),
}

REJECTED: dict[str, tuple[Change, str, str | None]] = {
    "no model": (lambda body: body.pop("model"), "you must provide a model parameter", None),
    "no messages": (
        lambda body: body.pop("messages"),
        "Missing required parameter: 'messages'",
        "missing_required_parameter",
    ),
    "empty messages": (lambda body: body.update(messages=[]), "Invalid 'messages': empty array", "empty_array"),
    "unknown field": (lambda body: body.update(max_token=1), "Unrecognized request argument supplied: max_token", None),
    "max_output_tokens": (lambda body: body.update(max_output_tokens=9), "Unrecognized request argument", None),
    "max_tokens": (
        lambda body: body.update(max_tokens=100),
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "unsupported_parameter",
    ),
    "both limits": (
        lambda body: body.update(model="gpt-4o", max_tokens=100, max_completion_tokens=100),
        "at the same time",
        None,
    ),
    "temperature": (
        lambda body: body.update(temperature=0),
        "'temperature' does not support 0.0 with this model",
        "unsupported_value",
    ),
    "effort of an old model": (
        lambda body: body.update(model="gpt-4.1", reasoning_effort="low"),
        "'reasoning_effort' is not supported with this model",
        "unsupported_parameter",
    ),
    "unknown effort": (lambda body: body.update(reasoning_effort="huge"), "Invalid value: 'huge'", "invalid_value"),
    "model as number": (
        lambda body: body.update(model=5),
        "Invalid type for 'model': expected a string, but got an integer instead.",
        "invalid_type",
    ),
    "no role": (lambda body: body["messages"][1].pop("role"), "Invalid value:", "invalid_value"),
    "unknown role": (lambda body: body["messages"][1].update(role="tool_result"), "Invalid value:", "invalid_value"),
    "no content": (
        lambda body: body["messages"][1].pop("content"),
        "Missing required parameter: 'messages[1].content'",
        "missing_required_parameter",
    ),
    "content as object": (
        lambda body: body["messages"][1].update(content={}),
        "Invalid type for 'messages[1].content': expected an array, but got an object instead.",
        "invalid_type",
    ),
    "Anthropic's block": (
        lambda body: body["messages"][1].update(content=[{"type": "tool_result", "content": "x"}]),
        "Invalid value:",
        "invalid_value",
    ),
    "index in a call": (
        lambda body: call(body).update(index=0),
        "Unknown parameter: 'messages[2].tool_calls[0].index'.",
        "unknown_parameter",
    ),
    "parsed_arguments in a call": (
        lambda body: call(body)["function"].update(parsed_arguments=None),
        "Unknown parameter: 'messages[2].tool_calls[0].function.parsed_arguments'.",
        "unknown_parameter",
    ),
    "arguments as object": (
        lambda body: call(body)["function"].update(arguments={}),
        "Invalid type for 'messages[2].tool_calls[0].function.arguments'",
        "invalid_type",
    ),
    "call without type": (
        lambda body: call(body).pop("type"),
        "Missing required parameter: 'messages[2].tool_calls[0].type'",
        "missing_required_parameter",
    ),
    "no calls in a list": (
        lambda body: (body["messages"][2].update(tool_calls=[]), body["messages"].pop()),
        "Invalid 'messages[2].tool_calls': empty array",
        "empty_array",
    ),
    "no result": (
        lambda body: body["messages"].pop(),
        "The following tool_call_ids did not have response messages: call_1",
        None,
    ),
    "result too late": (
        lambda body: body["messages"].insert(3, {"role": "user", "content": "Well?"}),
        "must be followed by tool messages responding to each 'tool_call_id'",
        None,
    ),
    "two results": (
        lambda body: body["messages"].append(RESULT),
        "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'",
        None,
    ),
    "foreign result": (
        lambda body: body["messages"][3].update(tool_call_id="call_9"),
        "messages with role 'tool' must be a response",
        None,
    ),
    "same id twice": (
        lambda body: body["messages"][2]["tool_calls"].append(CALL),
        "Duplicate value for 'tool_call_id'",
        None,
    ),
    "nothing said": (
        lambda body: (body["messages"][2].pop("tool_calls"), body["messages"].pop()),
        "Invalid value for 'content': expected a string, got null.",
        None,
    ),
    "no user": (lambda body: body["messages"].pop(1), "no user message", None),
    "tool name": (
        lambda body: body["tools"][0]["function"].update(name="my bash"),
        "Invalid value: 'my bash'",
        "invalid_value",
    ),
    "no tools in a list": (lambda body: body.update(tools=[]), "Invalid 'tools': empty array", "empty_array"),
    "Responses' tool": (
        lambda body: body["tools"][0].update(name="bash"),
        "Unknown parameter: 'tools[0].name'",
        "unknown_parameter",
    ),
    "choice without tools": (
        lambda body: (body.pop("tools"), body.update(tool_choice="auto")),
        "'tool_choice' is only allowed when 'tools' are specified",
        None,
    ),
    "parallel without tools": (
        lambda body: (body.pop("tools"), body.update(parallel_tool_calls=True)),
        "'parallel_tool_calls' is only allowed when 'tools' are specified",
        None,
    ),
    "open strict schema": (
        strict,
        "'additionalProperties' is required to be supplied and to be false",
        "invalid_function_parameters",
    ),
    "optional in a strict schema": (
        lambda body: strict(body, additionalProperties=False, required=[]),
        "'required' is required to be supplied",
        "invalid_function_parameters",
    ),
    "stream options without stream": (
        lambda body: body.update(stream_options={"include_usage": True}),
        "only allowed when 'stream' is enabled",
        None,
    ),
    "several choices": (lambda body: body.update(n=2), "Invalid value: 2", "invalid_value"),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str, post: Any) -> None:
    body = copy.deepcopy(BODY)
    ACCEPTED[name](body)
    status, answer = post("/v1/chat/completions", body)
    assert (status, answer.get("object")) == (200, "chat.completion"), answer


@pytest.mark.parametrize("name", REJECTED)
def test_rejected(name: str, post: Any) -> None:
    body = copy.deepcopy(BODY)
    change, message, code = REJECTED[name]
    change(body)
    status, answer = post("/v1/chat/completions", body)
    error = answer["error"]
    assert (status, error["type"], error["code"]) == (400, "invalid_request_error", code), error
    assert message in error["message"]
    assert set(error) == {"message", "type", "param", "code"}


@pytest.mark.parametrize("model", ["gpt-9", "claude-haiku-4-5"])
def test_unknown_model(model: str, post: Any) -> None:
    status, answer = post("/v1/chat/completions", BODY | {"model": model})
    assert (status, answer["error"]["code"]) == (404, "model_not_found")


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses"])
def test_key(path: str, post: Any) -> None:
    status, answer = post(path, BODY, {"authorization": None})
    assert (status, answer["error"]["code"]) == (401, None)
    status, answer = post(path, BODY, {"authorization": "Bearer sk-wrong-key-of-mine-1234"})
    assert (status, answer["error"]["code"]) == (401, "invalid_api_key")
    assert "sk-wrong*************1234" in answer["error"]["message"]


@pytest.mark.parametrize("body", [b"{", b"[1]", b""])
def test_no_json_object(body: bytes, post: Any) -> None:
    status, answer = post("/v1/chat/completions", body)
    assert status == 400
    assert "could not parse the JSON body" in answer["error"]["message"]


async def test_what_the_stream_accumulator_adds_is_refused(server: ModelServer, speak: Any) -> None:
    each = speak(server, "chat")
    history = each.start("task")
    answer = await each.ask(history, stream=True)
    message = answer.choices[0].message
    as_it_is = [*history, message, *each.after(answer, {message.tool_calls[0].id: "ok"})[1:]]
    with pytest.raises(openai.BadRequestError, match="Unknown parameter: 'messages"):
        await each.ask(as_it_is)
