"""OpenAI Chat Completions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from support.model_server import chat_fields as fields
from support.model_server import openai_rules as rules
from support.model_server.api import Api, Asked, HttpRequest, Protocol, RejectedError, first_error, reasons
from support.model_server.provider_errors import missing_model, openai_failures
from support.model_server.script import Answer, Stop
from support.model_server.wire import digest, pieces, sse

CREATED = 1_760_000_000
FINISH: dict[Stop, str] = {
    "end": "stop",
    "tool_use": "tool_calls",
    "length": "length",
    "refusal": "stop",
    "content_filter": "content_filter",
    "pause": "stop",
    "context_window": "length",
    "failed": "future_reason",
    "other": "future_reason",
}


class ChatApi(Api):
    """POST /v1/chat/completions."""

    protocol: ClassVar[Protocol] = "chat"
    path: ClassVar[str] = "/v1/chat/completions"
    request_id_header: ClassVar[str] = "x-request-id"

    def authenticate(self, request: HttpRequest, key: str) -> None:
        rules.authenticate(request, key)

    def read(self, request: HttpRequest, body: dict[str, Any], models: frozenset[str]) -> Asked:
        if "model" not in body:
            raise rules.invalid("you must provide a model parameter")
        _check_known(body)
        parsed = first_error(fields.Request, body)
        if not isinstance(parsed, fields.Request):
            raise rules.from_pydantic(parsed)
        if parsed.model not in models:
            raise missing_model(parsed.model, responses=False)
        _check_parameters(parsed)
        _check_messages(parsed.messages)
        return Asked(
            protocol="chat",
            model=parsed.model,
            prompt=_first_text(parsed.messages),
            turn=sum(message.role == "assistant" for message in parsed.messages),
            stream=bool(parsed.stream),
            include_usage=bool(parsed.stream_options and parsed.stream_options.include_usage),
        )

    def answer(self, asked: Asked, answer: Answer) -> dict[str, Any]:
        choice = {
            "index": 0,
            "message": _message(asked, answer),
            "logprobs": None,
            "finish_reason": FINISH[answer.reason],
        }
        return _head(asked, "chat.completion") | {
            "choices": [choice],
            "usage": _usage(answer) if answer.usage else None,
        }

    def events(self, asked: Asked, answer: Answer) -> Iterator[bytes]:
        for delta in _deltas(asked, answer):
            yield _chunk(asked, [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}])
        yield _chunk(asked, [{"index": 0, "delta": {}, "logprobs": None, "finish_reason": FINISH[answer.reason]}])
        if asked.include_usage and answer.usage:
            yield _chunk(asked, [], _usage(answer))
        yield b"data: [DONE]\n\n"

    def stream_error(self, asked: Asked, name: str) -> bytes:
        error = {"message": "The server is overloaded.", "type": "server_error", "param": None, "code": "server_error"}
        return sse({"error": error})

    def error_body(self, error: RejectedError, request_id: str) -> dict[str, Any]:
        return {
            "error": {"message": error.message, "type": error.type, "param": error.param, "code": error.code},
        }

    def failures(self, asked: Asked) -> dict[str, RejectedError]:
        return openai_failures(asked.model, responses=False)

    def unreadable(self, why: str) -> RejectedError:
        return rules.invalid(
            "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP "
            f"library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON: {why})"
        )


def _check_known(body: dict[str, Any]) -> None:
    for name in body:
        if name not in fields.Request.model_fields:
            raise rules.invalid(f"Unrecognized request argument supplied: {name}")


def _check_parameters(request: fields.Request) -> None:
    if request.max_tokens is not None and reasons(request.model):
        raise rules.invalid(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
            "instead.",
            "max_tokens",
            "unsupported_parameter",
        )
    if request.max_tokens is not None and request.max_completion_tokens is not None:
        raise rules.invalid("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
    if request.stream_options is not None and not request.stream:
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise rules.invalid(message, "stream_options")
    if request.tools is None and request.tool_choice not in (None, "none"):
        message = "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
        raise rules.invalid(message, "tool_choice")
    if request.tools is None and request.parallel_tool_calls is not None:
        message = (
            "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified."
        )
        raise rules.invalid(message, "parallel_tool_calls")
    rules.check_sampling(request.model, request.temperature, request.reasoning_effort, responses=False)
    if isinstance(request.response_format, fields.JsonSchemaFormat):
        wanted = request.response_format.json_schema
        rules.check_format(wanted.name, wanted.wanted, wanted.strict, "response_format")
    for number, tool in enumerate(request.tools or []):
        function = tool.function
        where = f"tools[{number}].function.parameters"
        rules.check_schema(function.name, function.parameters, function.strict, where)


def _check_messages(messages: Sequence[fields.Message]) -> None:
    pending: list[str] = []
    for number, message in enumerate(messages):
        if isinstance(message, fields.ToolMessage):
            if message.tool_call_id not in pending:
                raise rules.invalid(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
                    "'tool_calls'.",
                    f"messages.[{number}].role",
                )
            pending.remove(message.tool_call_id)
            continue
        _check_answered(pending, number)
        if isinstance(message, fields.AssistantMessage):
            pending = _calls(message, number)
    _check_answered(pending, len(messages))
    if not any(isinstance(message, fields.UserMessage) for message in messages):
        raise rules.invalid("There is no user message that a script could be chosen by.", "messages")


def _calls(message: fields.AssistantMessage, number: int) -> list[str]:
    if message.content is None and not message.tool_calls and message.refusal is None:
        raise rules.invalid("Invalid value for 'content': expected a string, got null.", f"messages.[{number}].content")
    ids = [call.id for call in message.tool_calls or []]
    if len(set(ids)) < len(ids):
        raise rules.invalid("Duplicate value for 'tool_call_id'.", f"messages.[{number}].tool_calls")
    return ids


def _check_answered(pending: Sequence[str], number: int) -> None:
    if pending:
        raise rules.invalid(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(pending)}",
            f"messages.[{number}].role",
        )


def _first_text(messages: Sequence[fields.Message]) -> str:
    first = next(message for message in messages if isinstance(message, fields.UserMessage))
    return "\n".join(part.text for part in first.content if isinstance(part, fields.TextPart))


def _head(asked: Asked, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{digest(asked.prompt, asked.turn)}",
        "object": kind,
        "created": CREATED,
        "model": asked.model,
        "service_tier": "default",
        "system_fingerprint": None,
    }


def _message(asked: Asked, answer: Answer) -> dict[str, Any]:
    refused = answer.reason == "refusal"
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if refused or not answer.text else answer.text,
        "refusal": answer.text if refused else None,
        "annotations": [],
    }
    if answer.calls:
        message["tool_calls"] = _tool_calls(asked, answer)
    if answer.extra:
        message["reasoning_content"] = "from the future"
    return message


def _tool_calls(asked: Asked, answer: Answer) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{digest(asked.prompt, asked.turn, number)}",
            "type": "function",
            "function": {"name": call.name, "arguments": arguments_text(call.arguments)},
        }
        for number, call in enumerate(answer.calls)
    ]


def arguments_text(arguments: dict[str, object] | str) -> str:
    """Arguments as the two OpenAI protocols send them."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _deltas(asked: Asked, answer: Answer) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": None if answer.calls and not answer.text else "", "refusal": None}
    if answer.extra:
        yield {"reasoning_content": "from the future"}
    field = "refusal" if answer.reason == "refusal" else "content"
    for piece in pieces(answer.text):
        yield {field: piece}
    for index, call in enumerate(_tool_calls(asked, answer)):
        function = call["function"]
        yield {"tool_calls": [{"index": index, **call, "function": {"name": function["name"], "arguments": ""}}]}
        for piece in pieces(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _chunk(asked: Asked, choices: list[dict[str, Any]], usage: dict[str, Any] | None = None) -> bytes:
    body = _head(asked, "chat.completion.chunk") | {"choices": choices}
    if asked.include_usage:
        body["usage"] = usage
    return sse(body)


def _usage(answer: Answer) -> dict[str, Any]:
    tokens = answer.tokens
    return {
        "prompt_tokens": tokens.all_input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.all_input + tokens.output,
        "prompt_tokens_details": {
            "cached_tokens": tokens.cache_read,
            "cache_write_tokens": tokens.cache_write,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": tokens.reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
