"""The server agrees with the installed SDKs about what requests and answers look like."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Required, get_origin, get_type_hints

import anthropic.types as claude
import pytest
from anthropic.types import message_count_tokens_params, message_create_params
from anthropic.types.beta import message_create_params as beta_create_params
from openai.types import chat, responses
from openai.types.chat import chat_completion_message_function_tool_call_param as chat_call
from openai.types.chat import completion_create_params
from openai.types.responses import response_create_params, response_input_item_param
from openai.types.shared_params import FunctionDefinition, Reasoning, ResponseFormatJSONSchema
from openai.types.shared_params.response_format_json_schema import JSONSchema
from pydantic import BaseModel, TypeAdapter

from support.model_server import Answer, Call, ModelServer, Tokens, chat_fields, messages_fields, responses_fields
from support.model_server.api import Asked, Protocol
from support.model_server.server import APIS

TOKENS = Tokens(input=1, cache_read=2, cache_write=3, output=9, reasoning=4)
CALLS = (Call({"commands": "a"}), Call("{broken"))
ANSWERS = {
    "text": Answer(text="Hello."),
    "calls": Answer(text="Look.", calls=CALLS[:1], thinking="Hm.", tokens=TOKENS),
    "encrypted": Answer(calls=CALLS[:1], thinking="Hm.", redacted=True, tokens=TOKENS),
    "empty": Answer(),
    "length": Answer(text="And", stop="length"),
    "refusal": Answer(text="No.", stop="refusal"),
    "filter": Answer(stop="content_filter"),
    "pause": Answer(text="Wait.", stop="pause"),
    "context": Answer(text="And", stop="context_window"),
}
WHOLE: dict[Protocol, type[BaseModel]] = {
    "messages": claude.Message,
    "chat": chat.ChatCompletion,
    "responses": responses.Response,
}
EVENT: dict[Protocol, Any] = {
    "messages": claude.RawMessageStreamEvent,
    "chat": chat.ChatCompletionChunk,
    "responses": responses.ResponseStreamEvent,
}
HEADERS = {"user_profile_id", "workspace_id", "betas"}  # parameters of create() that are sent as headers


def extras(value: object, place: str = "") -> Iterator[str]:
    """The fields that the SDK's model doesn't have."""
    if isinstance(value, BaseModel):
        yield from (f"{place}.{name}" for name in value.model_extra or {})
        for name in type(value).model_fields:
            yield from extras(getattr(value, name), f"{place}.{name}")
    elif isinstance(value, list):
        for item in value:
            yield from extras(item, f"{place}[]")


def asked(protocol: Protocol) -> Asked:
    return Asked(protocol, "gpt-5", "task", 0, stream=True, include_usage=True, include_reasoning=True)


def api(protocol: Protocol) -> Any:
    return next(item for item in APIS if item.protocol == protocol)


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_are_the_sdks(protocol: Protocol, name: str) -> None:
    whole = api(protocol).answer(asked(protocol), ANSWERS[name])
    assert list(extras(WHOLE[protocol].model_validate(whole, strict=True))) == []


@pytest.mark.parametrize("name", ANSWERS)
def test_events_are_the_sdks(protocol: Protocol, name: str) -> None:
    events = b"".join(api(protocol).events(asked(protocol), ANSWERS[name])).decode().removesuffix("data: [DONE]\n\n")
    found = [line.removeprefix("data: ") for line in events.splitlines() if line.startswith("data: ")]
    adapter = TypeAdapter(EVENT[protocol])
    bodies = [body for body in map(json.loads, found) if body.get("type") != "ping"]
    parsed = [adapter.validate_python(body, strict=True) for body in bodies]
    assert len(parsed) >= 2
    assert list(extras(parsed)) == []


@pytest.mark.parametrize(
    ("ours", "sdk", "without"),
    [
        (messages_fields.Request, message_create_params.MessageCreateParamsBase, HEADERS),
        (messages_fields.CountRequest, message_count_tokens_params.MessageCountTokensParams, HEADERS),
        (messages_fields.CacheControl, claude.CacheControlEphemeralParam, set()),
        (messages_fields.Text, claude.TextBlockParam, set()),
        (messages_fields.Thinking, claude.ThinkingBlockParam, set()),
        (messages_fields.RedactedThinking, claude.RedactedThinkingBlockParam, set()),
        (messages_fields.ToolUse, claude.ToolUseBlockParam, set()),
        (messages_fields.ToolResult, claude.ToolResultBlockParam, set()),
        (messages_fields.CustomTool, claude.ToolParam, set()),
        (messages_fields.OutputConfig, claude.OutputConfigParam, set()),
        (messages_fields.JsonFormat, claude.JSONOutputFormatParam, set()),
        (messages_fields.Metadata, claude.MetadataParam, set()),
        (messages_fields.Document, claude.DocumentBlockParam, set()),
        (chat_fields.Request, completion_create_params.CompletionCreateParamsBase, set()),
        (chat_fields.TextPart, chat.ChatCompletionContentPartTextParam, set()),
        (chat_fields.SystemMessage, chat.ChatCompletionSystemMessageParam, set()),
        (chat_fields.SystemMessage, chat.ChatCompletionDeveloperMessageParam, set()),
        (chat_fields.UserMessage, chat.ChatCompletionUserMessageParam, set()),
        (chat_fields.AssistantMessage, chat.ChatCompletionAssistantMessageParam, {"function_call"}),
        (chat_fields.ToolMessage, chat.ChatCompletionToolMessageParam, set()),
        (chat_fields.ToolCall, chat.ChatCompletionMessageFunctionToolCallParam, set()),
        (chat_fields.CalledFunction, chat_call.Function, set()),
        (chat_fields.Tool, chat.ChatCompletionFunctionToolParam, set()),
        (chat_fields.FunctionDefinition, FunctionDefinition, set()),
        (chat_fields.StreamOptions, chat.ChatCompletionStreamOptionsParam, set()),
        (chat_fields.JsonSchema, JSONSchema, set()),
        (chat_fields.JsonSchemaFormat, ResponseFormatJSONSchema, set()),
        (responses_fields.JsonSchemaFormat, responses.ResponseFormatTextJSONSchemaConfigParam, set()),
        (responses_fields.TextConfig, responses.ResponseTextConfigParam, set()),
        (responses_fields.FunctionCall, responses.ResponseFunctionToolCallParam, {"async"}),
        (responses_fields.Reasoning, responses.ResponseReasoningItemParam, set()),
        (responses_fields.Tool, responses.FunctionToolParam, set()),
        (responses_fields.ReasoningConfig, Reasoning, set()),
    ],
)
def test_fields_are_the_sdks(ours: type[BaseModel], sdk: Any, without: set[str]) -> None:
    names = {field.alias or name for name, field in ours.model_fields.items()} - {"stream"}
    required = {field.alias or name for name, field in ours.model_fields.items() if field.is_required()}
    assert names == set(get_type_hints(sdk)) - without
    hints = get_type_hints(sdk, include_extras=True)
    assert required == {name for name, hint in hints.items() if get_origin(hint) is Required}


def test_more_lenient_than_the_sdk_in_few_places() -> None:
    """Responses: model and input are required, a call's id of an output, too; a message's parts are one type here."""
    names = set(get_type_hints(response_create_params.ResponseCreateParamsBase))
    assert set(responses_fields.Request.model_fields) - {"stream"} == names
    output = response_input_item_param.FunctionCallOutput
    assert set(responses_fields.FunctionCallOutput.model_fields) == set(get_type_hints(output))
    beta = set(get_type_hints(beta_create_params.MessageCreateParamsBase)) - HEADERS
    assert set(messages_fields.BetaRequest.model_fields) >= beta


def exhausted(value: object) -> object:
    """With all of pydantic's lazy iterators run, which raise only then."""
    if isinstance(value, dict):
        return {name: exhausted(item) for name, item in value.items()}
    if isinstance(value, list) or type(value).__name__ == "ValidatorIterator":
        return [exhausted(item) for item in value]  # type: ignore[attr-defined]
    return value


async def test_accepted_requests_are_the_sdks(protocol: Protocol, server: ModelServer, speak: Any) -> None:
    params: dict[Protocol, Any] = {
        "messages": message_create_params.MessageCreateParamsNonStreaming,
        "chat": completion_create_params.CompletionCreateParamsNonStreaming,
        "responses": response_create_params.ResponseCreateParamsNonStreaming,
    }
    each = speak(server, protocol)
    history = each.start("task")
    answer = await each.ask(history)
    history += each.after(answer, {each.read(answer).calls[0][0]: "ok"})
    await each.ask(history)
    adapter = TypeAdapter(params[protocol])
    for logged in server.requests:
        assert exhausted(adapter.validate_python(logged.body)) == logged.body
