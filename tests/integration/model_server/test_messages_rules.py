"""What Anthropic Messages refuses."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import anthropic
import pytest
from anthropic.types.shared import ErrorResponse

from support.model_server import KEY, ModelServer
from support.model_server.sdk import SCHEMA
from support.model_server.wire import seal

TOOL = {"name": "bash", "description": "Runs.", "input_schema": SCHEMA}
USE = {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"commands": "echo one"}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "one"}
HELLO = {"type": "text", "text": "Hello."}
THINKING = {"type": "thinking", "thinking": "Hm.", "signature": seal("Hm.")}
BODY: dict[str, Any] = {
    "model": "claude-haiku-4-5",
    "max_tokens": 100,
    "system": "You are a test.",
    "tools": [TOOL],
    "messages": [
        {"role": "user", "content": "task"},
        {"role": "assistant", "content": [THINKING, HELLO, USE]},
        {"role": "user", "content": [RESULT, {"type": "text", "text": "Go on."}]},
    ],
}
Change = Callable[[dict[str, Any]], object]


def said(body: dict[str, Any]) -> list[Any]:
    blocks: list[Any] = body["messages"][1]["content"]
    return blocks


def results(body: dict[str, Any]) -> list[Any]:
    blocks: list[Any] = body["messages"][2]["content"]
    return blocks


def cached_shorter_first(body: dict[str, Any]) -> None:
    times: tuple[dict[str, str], ...] = ({}, {"ttl": "1h"})
    body["system"] = [HELLO | {"cache_control": {"type": "ephemeral", **each}} for each in times]


def cached(body: dict[str, Any]) -> None:
    body["system"] = [HELLO | {"cache_control": {"type": "ephemeral"}} for _ in range(5)]


def twice(body: dict[str, Any]) -> None:
    said(body).append(USE)
    results(body).insert(1, RESULT)


def after(body: dict[str, Any], *messages: dict[str, Any]) -> None:
    body["messages"] += messages


ACCEPTED: dict[str, Change] = {
    "as it is": lambda body: None,
    "result without content": lambda body: results(body)[0].pop("content"),
    "result with blocks and error": lambda body: results(body)[0].update(content=[HELLO], is_error=True),
    "result alone": lambda body: results(body).pop(),
    "same role twice": lambda body: after(body, {"role": "user", "content": "More."}),
    "result and text in two messages": lambda body: after(body, {"role": "user", "content": [results(body).pop()]}),
    "effort": lambda body: body.update(output_config={"effort": "low"}),
    "adaptive thinking": lambda body: body.update(thinking={"type": "adaptive"}),
    "thinking": lambda body: body.update(thinking={"type": "enabled", "budget_tokens": 1024}, max_tokens=2000),
    "cache": lambda body: body.update(cache_control={"type": "ephemeral"}),
    "system message": lambda body: after(body, {"role": "system", "content": "Be brief."}),
    "tool choice": lambda body: body.update(tool_choice={"type": "tool", "name": "bash"}),
    "service's own tool": lambda body: body["tools"].append({"type": "web_search_20250305", "name": "web_search"}),
    "metadata": lambda body: body.update(metadata={"user_id": "x"}),
}

REJECTED: dict[str, tuple[Change, str]] = {
    "no max_tokens": (lambda body: body.pop("max_tokens"), "max_tokens: Field required"),
    "no messages": (lambda body: body.pop("messages"), "messages: Field required"),
    "empty messages": (lambda body: body.update(messages=[]), "at least one message is required"),
    "no model": (lambda body: body.pop("model"), "model: Field required"),
    "unknown field": (lambda body: body.update(max_token=1), "max_token: Extra inputs are not permitted"),
    "temperature": (lambda body: body.update(temperature=0), "temperature: Extra inputs are not permitted"),
    "top_p": (lambda body: body.update(top_p=0.5), "top_p: Extra inputs are not permitted"),
    "max_completion_tokens": (lambda body: body.update(max_completion_tokens=5), "Extra inputs are not permitted"),
    "max_tokens as text": (lambda body: body.update(max_tokens="100"), "max_tokens: Input should be a valid integer"),
    "too many tokens": (lambda body: body.update(max_tokens=10**6), "maximum allowed number of output tokens"),
    "effort": (lambda body: body.update(output_config={"effort": "none"}), "output_config.effort: Input should be"),
    "budget below 1024": (
        lambda body: body.update(thinking={"type": "enabled", "budget_tokens": 10}),
        "budget_tokens: Input should be greater than or equal to 1024",
    ),
    "budget above max_tokens": (
        lambda body: body.update(thinking={"type": "enabled", "budget_tokens": 1024}),
        "`max_tokens` must be greater than `thinking.budget_tokens`",
    ),
    "thinking without a budget": (lambda body: body.update(thinking={"type": "enabled"}), "budget_tokens: Field req"),
    "thinking without its block": (
        lambda body: (
            said(body).pop(0),
            body.update(thinking={"type": "enabled", "budget_tokens": 1024}, max_tokens=2000),
        ),
        "Expected `thinking` or `redacted_thinking`, but found `text`",
    ),
    "role": (lambda body: body["messages"][0].update(role="tool"), "messages.0.role: Input should be"),
    "assistant first": (lambda body: body["messages"].pop(0), 'first message must use the "user" role'),
    "prefill": (
        lambda body: after(body, {"role": "assistant", "content": "And"}),
        "does not support assistant message prefill",
    ),
    "unknown block": (
        lambda body: said(body).append({"type": "opaque", "data": 1}),
        "Input tag 'opaque' found using 'type' does not match any of the expected tags",
    ),
    "unknown field of a block": (
        lambda body: said(body)[1].update(parsed_output=None),
        "messages.1.content.1.text.parsed_output: Extra inputs are not permitted",
    ),
    "caller is null": (
        lambda body: said(body)[2].update(caller=None),
        "messages.1.content.2.tool_use.caller: Input should be a valid dictionary",
    ),
    "empty text": (lambda body: results(body)[1].update(text=""), "text content blocks must be non-empty"),
    "empty prompt": (lambda body: body["messages"][0].update(content=""), "text content blocks must be non-empty"),
    "blank text": (lambda body: said(body)[1].update(text=" \n"), "must contain non-whitespace text"),
    "no content": (lambda body: body["messages"][0].update(content=[]), "messages.0: all messages must have non-empty"),
    "no result": (
        lambda body: results(body).pop(0),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1",
    ),
    "call at the end": (lambda body: body["messages"].pop(), "`tool_use` ids were found without `tool_result`"),
    "result too late": (
        lambda body: body["messages"].insert(2, {"role": "assistant", "content": [HELLO, USE | {"id": "toolu_2"}]}),
        "`tool_use` ids were found without `tool_result` blocks",
    ),
    "text before the result": (lambda body: results(body).reverse(), "without `tool_result` blocks immediately after"),
    "two results": (lambda body: results(body).insert(1, RESULT), "each tool_use must have a single result"),
    "foreign result": (
        lambda body: results(body).append(RESULT | {"tool_use_id": "toolu_9"}),
        "unexpected `tool_use_id` found in `tool_result` blocks: toolu_9",
    ),
    "result first": (lambda body: body["messages"][0].update(content=[RESULT]), "unexpected `tool_use_id`"),
    "same id twice": (
        twice,
        "`tool_use` ids must be unique",
    ),
    "odd id": (lambda body: said(body)[2].update(id="a b"), "String should match pattern"),
    "input as text": (
        lambda body: said(body)[2].update(input='{"commands": "x"}'),
        "messages.1.content.2.tool_use.input: Input should be a valid dictionary",
    ),
    "tool_use of the user": (
        lambda body: body["messages"][0].update(content=[USE]),
        "`tool_use` blocks can only be in `assistant` messages",
    ),
    "result of the assistant": (
        lambda body: said(body).append(RESULT),
        "`tool_result` blocks can only be in `user` messages",
    ),
    "altered thinking": (
        lambda body: said(body)[0].update(thinking="Ha."),
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    ),
    "altered redacted thinking": (
        lambda body: said(body).insert(0, {"type": "redacted_thinking", "data": "AAAA"}),
        "Invalid `data` in `redacted_thinking` block",
    ),
    "altered unknown block": (
        lambda body: said(body).insert(0, {"type": "future_block", "note": "y", "signature": seal("x")}),
        "Invalid `signature` in `future_block` block",
    ),
    "no tools": (lambda body: body.pop("tools"), "must define tools"),
    "tools twice": (lambda body: body["tools"].append(TOOL), "Tool names must be unique"),
    "tool name": (
        lambda body: body["tools"][0].update(name="my bash"),
        "tools.0.custom.name: String should match pattern",
    ),
    "tool without schema": (
        lambda body: body["tools"][0].pop("input_schema"),
        "tools.0.custom.input_schema: Field required",
    ),
    "tool schema": (lambda body: body["tools"][0].update(input_schema={"type": "string"}), "Input should be 'object'"),
    "OpenAI's tool": (
        lambda body: body["tools"][0].update(parameters={}),
        "tools.0.custom.parameters: Extra inputs are not permitted",
    ),
    "unknown tool chosen": (
        lambda body: body.update(tool_choice={"type": "tool", "name": "sh"}),
        "Tool 'sh' not found in provided tools",
    ),
    "cache": (cached, "A maximum of 4 blocks with cache_control"),
    "cache_times": (cached_shorter_first, "ttl='1h' cache_control block must not come after"),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str, post: Any) -> None:
    body = copy.deepcopy(BODY)
    ACCEPTED[name](body)
    status, answer = post("/v1/messages", body)
    assert (status, answer.get("type")) == (200, "message"), answer


@pytest.mark.parametrize("name", REJECTED)
def test_rejected(name: str, post: Any, server: ModelServer) -> None:
    body = copy.deepcopy(BODY)
    change, message = REJECTED[name]
    change(body)
    status, answer = post("/v1/messages", body)
    assert (status, answer["error"]["type"]) == (400, "invalid_request_error")
    assert message in answer["error"]["message"]
    assert ErrorResponse.model_validate(answer).request_id
    assert server.requests[0].error == answer["error"]["message"]


@pytest.mark.parametrize(
    ("headers", "status", "kind", "message"),
    [
        ({"authorization": None}, 401, "authentication_error", "x-api-key header is required"),
        ({"authorization": "Bearer no"}, 401, "authentication_error", "Invalid bearer token"),
        ({"authorization": None, "x-api-key": "no"}, 401, "authentication_error", "invalid x-api-key"),
        ({"anthropic-version": None}, 400, "invalid_request_error", "anthropic-version: header is required"),
        ({"anthropic-version": "2020-01-01"}, 400, "invalid_request_error", "is not a valid version"),
        ({"content-type": "text/plain"}, 400, "invalid_request_error", "not valid JSON"),
    ],
)
def test_headers(headers: dict[str, str | None], status: int, kind: str, message: str, post: Any) -> None:
    found, answer = post("/v1/messages", BODY, headers)
    assert (found, answer["error"]["type"]) == (status, kind)
    assert message in answer["error"]["message"]


def test_key_in_its_own_header(post: Any) -> None:
    assert post("/v1/messages", BODY, {"authorization": None, "x-api-key": KEY})[0] == 200


def test_old_version_knows_temperature(post: Any) -> None:
    old = {"anthropic-version": "2023-06-01"}
    assert post("/v1/messages", BODY | {"temperature": 0.5, "top_k": 3}, old)[0] == 200
    status, answer = post("/v1/messages", BODY | {"temperature": 2}, old)
    assert (status, answer["error"]["message"]) == (400, "temperature: Input should be less than or equal to 1")


@pytest.mark.parametrize("body", [b"{", b"[1]", b"\xff\xfe", b""])
def test_no_json_object(body: bytes, post: Any) -> None:
    status, answer = post("/v1/messages", body)
    assert (status, answer["error"]["type"]) == (400, "invalid_request_error")


@pytest.mark.parametrize("model", ["claude-1", "gpt-5"])
def test_unknown_model(model: str, post: Any) -> None:
    status, answer = post("/v1/messages", BODY | {"model": model})
    assert (status, answer["error"]) == (404, {"type": "not_found_error", "message": f"model: {model}"})


def test_beta_fields_only_in_beta(post: Any) -> None:
    body = BODY | {"context_management": {"edits": []}}
    assert post("/v1/messages", body)[0] == 400
    assert post("/v1/messages?beta=true", body)[0] == 200


def test_counting_has_its_own_fields(post: Any) -> None:
    body = {name: value for name, value in BODY.items() if name != "max_tokens"}
    assert post("/v1/messages/count_tokens", body)[0] == 200
    assert post("/v1/messages/count_tokens", BODY)[0] == 400


async def test_sdk_without_temperature(server: ModelServer, speak: Any) -> None:
    each = speak(server, "messages")
    with pytest.raises(TypeError, match="temperature"):
        await each.ask(each.start("task"), temperature=0.5)
    with pytest.raises(anthropic.BadRequestError, match="temperature: Extra inputs"):
        await each.ask(each.start("task"), extra_body={"temperature": 0.5})
