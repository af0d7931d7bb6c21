"""What OpenAI Responses refuses."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import openai
import pytest

from support.model_server import ModelServer
from support.model_server.responses_rules import Ids
from support.model_server.sdk import SCHEMA
from support.model_server.wire import seal

TOOL = {"type": "function", "name": "bash", "description": "Runs.", "parameters": SCHEMA, "strict": False}
IDS = Ids("task", 0, "Hm.")
CALL_ID, ITEM_ID = IDS.call(0)
REASONING = {"type": "reasoning", "id": IDS.reasoning, "summary": [{"type": "summary_text", "text": "Hm."}]}
CALL = {"type": "function_call", "id": ITEM_ID, "call_id": CALL_ID, "name": "bash", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": CALL_ID, "output": "one"}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Well."}]}
BODY: dict[str, Any] = {
    "model": "gpt-5",
    "instructions": "You are a test.",
    "tools": [TOOL],
    "input": [{"role": "user", "content": "task"}, REASONING, CALL, OUTPUT],
}
Change = Callable[[dict[str, Any]], object]


def item(body: dict[str, Any], number: int) -> dict[str, Any]:
    found: dict[str, Any] = body["input"][number]
    return found


ACCEPTED: dict[str, Change] = {
    "as it is": lambda body: None,
    "a text": lambda body: body.update(input="task"),
    "without reasoning and ids": lambda body: (item(body, 2).pop("id"), body["input"].pop(1)),
    "output as parts": lambda body: item(body, 3).update(output=[{"type": "input_text", "text": "one"}]),
    "broken arguments": lambda body: item(body, 2).update(arguments="{no"),
    "message of its own": lambda body: body["input"].append(SAID),
    "encrypted": lambda body: (item(body, 1).update(encrypted_content=seal("Hm.")), body.update(store=False)),
    "encrypted only": lambda body: item(body, 1).update(encrypted_content=seal("Hm."), summary=[]),
    "max_output_tokens": lambda body: body.update(max_output_tokens=16),
    "effort": lambda body: body.update(reasoning={"effort": "low", "summary": "auto"}),
    "old model": lambda body: body.update(model="gpt-4.1", temperature=0.0),
    "null schema": lambda body: body["tools"][0].update(parameters=None, strict=None),
}

REJECTED: dict[str, tuple[Change, int, str, str | None]] = {
    "no model": (lambda body: body.pop("model"), 400, "required parameter: 'model'", "missing_required_parameter"),
    "no input": (lambda body: body.pop("input"), 400, "required parameter: 'input'", "missing_required_parameter"),
    "empty input": (lambda body: body.update(input=[]), 400, "Invalid 'input': empty array", "empty_array"),
    "unknown field": (lambda body: body.update(inputs=1), 400, "Unknown parameter: 'inputs'", "unknown_parameter"),
    "max_tokens": (lambda body: body.update(max_tokens=99), 400, "'max_tokens'", "unknown_parameter"),
    "max_completion_tokens": (
        lambda body: body.update(max_completion_tokens=99),
        400,
        "Unknown parameter: 'max_completion_tokens'",
        "unknown_parameter",
    ),
    "reasoning_effort": (
        lambda body: body.update(reasoning_effort="low"),
        400,
        "Unknown parameter: 'reasoning_effort'",
        "unknown_parameter",
    ),
    "few tokens": (
        lambda body: body.update(max_output_tokens=15),
        400,
        "Expected a value >= 16, but got 15 instead",
        "integer_below_min_value",
    ),
    "temperature": (
        lambda body: body.update(temperature=0.0),
        400,
        "'temperature' is not supported with this model",
        "unsupported_parameter",
    ),
    "effort of an old model": (
        lambda body: body.update(model="gpt-4.1", reasoning={"effort": "low"}),
        400,
        "'reasoning.effort' is not supported",
        "unsupported_parameter",
    ),
    "model": (lambda body: body.update(model="gpt-9"), 400, "requested model 'gpt-9' does not", "model_not_found"),
    "earlier response": (
        lambda body: body.update(previous_response_id="resp_1"),
        400,
        "Previous response with id 'resp_1' not found",
        "previous_response_not_found",
    ),
    "conversation": (lambda body: body.update(conversation="conv_1"), 404, "Conversation not found", None),
    "unknown item": (lambda body: body["input"].append({"type": "tool"}), 400, "Invalid value:", "invalid_value"),
    "reference": (
        lambda body: body["input"].append({"type": "item_reference", "id": "msg_1"}),
        404,
        "Item with id 'msg_1' not found",
        None,
    ),
    "no output": (lambda body: body["input"].pop(), 400, "No tool output found for function call call_000", None),
    "no call": (
        lambda body: (body["input"].pop(1), body["input"].pop(1)),
        400,
        "No tool call found for function call output with call_id call_000",
        None,
    ),
    "output first": (
        lambda body: body["input"].insert(1, body["input"].pop()),
        400,
        "No tool call found for function call output",
        None,
    ),
    "two outputs": (lambda body: body["input"].append(OUTPUT), 400, "No tool call found for function call", None),
    "call twice": (lambda body: body["input"].insert(3, CALL), 400, "Duplicate function call", None),
    "output by id": (
        lambda body: item(body, 3).update(call_id=ITEM_ID),
        400,
        "No tool call found for function call output",
        None,
    ),
    "Chat's id": (
        lambda body: item(body, 2).update(id="call_1"),
        400,
        "Invalid 'input[2].id': 'call_1'. Expected an ID that begins with 'fc'.",
        "invalid_value",
    ),
    "unknown id": (lambda body: item(body, 2).update(id="fc_1"), 404, "Item with id 'fc_1' not found", None),
    "id of another call": (
        lambda body: item(body, 2).update(id=IDS.call(1)[1]),
        404,
        "not found",
        None,
    ),
    "without its reasoning": (
        lambda body: body["input"].pop(1),
        400,
        "of type 'function_call' was provided without its required 'reasoning' item",
        None,
    ),
    "reasoning alone": (
        lambda body: (body["input"].pop(), body["input"].pop()),
        400,
        "of type 'reasoning' was provided without its required following item",
        None,
    ),
    "altered reasoning": (
        lambda body: item(body, 1)["summary"][0].update(text="Ha."),
        404,
        "Item with id 'rs_",
        None,
    ),
    "altered encrypted reasoning": (
        lambda body: item(body, 1).update(encrypted_content="AAAAAAAAAA"),
        400,
        "could not be verified",
        "invalid_encrypted_content",
    ),
    "reasoning that wasn't stored": (
        lambda body: body.update(store=False),
        404,
        "Items are not persisted when `store` is set to false",
        None,
    ),
    "null status of reasoning": (
        lambda body: item(body, 1).update(status=None),
        400,
        "Invalid value: None.",
        "invalid_value",
    ),
    "parsed_arguments": (
        lambda body: item(body, 2).update(parsed_arguments=None),
        400,
        "Unknown parameter: 'input[2].parsed_arguments'",
        "unknown_parameter",
    ),
    "arguments as object": (
        lambda body: item(body, 2).update(arguments={}),
        400,
        "Invalid type for 'input[2].arguments': expected a string, but got an object instead.",
        "invalid_type",
    ),
    "input part of the assistant": (
        lambda body: body["input"].append({"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}),
        400,
        "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
        "invalid_value",
    ),
    "output part of the user": (
        lambda body: item(body, 0).update(content=[{"type": "output_text", "text": "task"}]),
        400,
        "Invalid value: 'output_text'",
        "invalid_value",
    ),
    "Chat's part": (
        lambda body: item(body, 0).update(content=[{"type": "text", "text": "task"}]),
        400,
        "Invalid value:",
        "invalid_value",
    ),
    "Chat's tool": (
        lambda body: body.update(tools=[{"type": "function", "function": {"name": "bash"}}]),
        400,
        "tools[0]",
        "missing_required_parameter",
    ),
    "open strict schema": (
        lambda body: body["tools"][0].update(strict=True),
        400,
        "'additionalProperties' is required",
        "invalid_function_parameters",
    ),
    "no user": (lambda body: body.update(input=[SAID]), 400, "no user message", None),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str, post: Any) -> None:
    body = copy.deepcopy(BODY)
    ACCEPTED[name](body)
    status, answer = post("/v1/responses", body)
    assert (status, answer.get("status")) == (200, "completed"), answer


@pytest.mark.parametrize("name", REJECTED)
def test_rejected(name: str, post: Any) -> None:
    body = copy.deepcopy(BODY)
    change, status, message, code = REJECTED[name]
    change(body)
    found, answer = post("/v1/responses", body)
    error = answer["error"]
    assert (found, error["type"], error["code"]) == (status, "invalid_request_error", code), error
    assert message in error["message"]


async def test_what_the_stream_helper_adds_is_refused(server: ModelServer, speak: Any) -> None:
    each = speak(server, "responses")
    history = each.start("task")
    answer = await each.ask(history, stream=True)
    assert answer.output[1].type == "function_call"
    outputs = each.after(answer, {answer.output[1].call_id: "ok"})[-1:]
    dumped = [entry.model_dump() for entry in answer.output]
    with pytest.raises(openai.BadRequestError, match=r"input\[1\]|input\[2\]"):
        await each.ask([*history, *dumped, *outputs])
