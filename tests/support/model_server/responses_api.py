"""OpenAI Responses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from support.model_server import openai_rules
from support.model_server import responses_fields as fields
from support.model_server import responses_rules as rules
from support.model_server.api import Api, Asked, HttpRequest, Protocol, RejectedError, first_error
from support.model_server.chat_api import ChatApi, arguments_text
from support.model_server.provider_errors import missing_model, openai_failures
from support.model_server.responses_events import item_events
from support.model_server.script import Answer, Stop
from support.model_server.wire import digest, seal, sse

CREATED = 1_760_000_000
INCOMPLETE: dict[Stop, str] = {
    "length": "max_output_tokens",
    "context_window": "max_output_tokens",
    "content_filter": "content_filter",
    "other": "future_reason",
}
OVERLOADED = "The server is currently overloaded."


class ResponsesApi(Api):
    """POST /v1/responses."""

    protocol: ClassVar[Protocol] = "responses"
    path: ClassVar[str] = "/v1/responses"
    request_id_header: ClassVar[str] = "x-request-id"

    def authenticate(self, request: HttpRequest, key: str) -> None:
        openai_rules.authenticate(request, key)

    def read(self, request: HttpRequest, body: dict[str, Any], models: frozenset[str]) -> Asked:
        parsed = first_error(fields.Request, body)
        if not isinstance(parsed, fields.Request):
            raise openai_rules.from_pydantic(parsed)
        if parsed.model not in models:
            raise missing_model(parsed.model, responses=True)
        _check_parameters(parsed)
        rules.check(parsed.input, stored=parsed.store is not False)
        prompt = rules.first_text(parsed.input)
        if prompt is None:
            raise openai_rules.invalid("There is no user message that a script could be chosen by.", "input")
        return Asked(
            protocol="responses",
            model=parsed.model,
            prompt=prompt,
            turn=rules.answered(parsed.input),
            stream=bool(parsed.stream),
            include_reasoning="reasoning.encrypted_content" in (parsed.include or []),
        )

    def answer(self, asked: Asked, answer: Answer) -> dict[str, Any]:
        failed = answer.reason == "failed"
        incomplete = INCOMPLETE.get(answer.reason)
        error = {"code": "server_error", "message": "An error occurred while processing your request."}
        return _head(asked) | {
            "status": "failed" if failed else "incomplete" if incomplete else "completed",
            "completed_at": None if failed or incomplete else CREATED + 1,
            "error": error if failed else None,
            "incomplete_details": {"reason": incomplete} if incomplete else None,
            "output": [] if failed else _output(asked, answer),
            "usage": _usage(answer) if answer.usage and not failed else None,
        }

    def events(self, asked: Asked, answer: Answer) -> Iterator[bytes]:
        whole = self.answer(asked, answer)
        begun = _head(asked) | {"status": "in_progress", "output": []}
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": begun},
            {"type": "response.in_progress", "response": begun},
        ]
        for index, item in enumerate(whole["output"]):
            events.extend(item_events(index, item))
        events.append({"type": f"response.{whole['status']}", "response": whole})
        for number, event in enumerate(events):
            yield sse(event | {"sequence_number": number}, event=event["type"])

    def stream_error(self, asked: Asked, name: str) -> bytes:
        if name == "stream_failed":
            error = {"code": "server_error", "message": OVERLOADED}
            failed = _head(asked) | {"status": "failed", "output": [], "error": error}
            return sse({"type": "response.failed", "response": failed, "sequence_number": 99}, event="response.failed")
        told: dict[str, Any] = {"code": "server_error", "message": OVERLOADED, "param": None}
        if name == "stream_error_nested":
            told = {"error": {"type": "server_error", **told}}
        return sse({"type": "error", "sequence_number": 99, **told}, event="error")

    def error_body(self, error: RejectedError, request_id: str) -> dict[str, Any]:
        return ChatApi().error_body(error, request_id)

    def failures(self, asked: Asked) -> dict[str, RejectedError]:
        return openai_failures(asked.model, responses=True)

    def unreadable(self, why: str) -> RejectedError:
        return ChatApi().unreadable(why)


def _check_parameters(request: fields.Request) -> None:
    if request.max_output_tokens is not None and request.max_output_tokens < 16:
        raise openai_rules.invalid(
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got "
            f"{request.max_output_tokens} instead.",
            "max_output_tokens",
            "integer_below_min_value",
        )
    if request.previous_response_id:
        message = f"Previous response with id '{request.previous_response_id}' not found."
        raise openai_rules.invalid(message, "previous_response_id", "previous_response_not_found")
    if request.conversation:
        raise RejectedError(404, "invalid_request_error", "Conversation not found.", "conversation")
    effort = request.reasoning.effort if request.reasoning else None
    openai_rules.check_sampling(request.model, request.temperature, effort, responses=True)
    wanted = request.text.format
    if isinstance(wanted, fields.JsonSchemaFormat):
        openai_rules.check_format(wanted.name, wanted.wanted, wanted.strict, "text.format.schema")
    for number, tool in enumerate(request.tools):
        if isinstance(tool, fields.ServerTool):
            continue
        openai_rules.check_schema(tool.name, tool.parameters, tool.strict, f"tools[{number}].parameters")
    if isinstance(request.tool_choice, dict) and not request.tools:
        raise openai_rules.invalid("Tool choice is only allowed when tools are given.", "tool_choice")


def _head(asked: Asked) -> dict[str, Any]:
    return {
        "id": f"resp_{digest(asked.prompt, asked.turn)}",
        "object": "response",
        "created_at": CREATED,
        "completed_at": None,
        "model": asked.model,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "top_p": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "truncation": "disabled",
        "usage": None,
    }


def _output(asked: Asked, answer: Answer) -> list[dict[str, Any]]:
    ids = rules.Ids(asked.prompt, asked.turn, answer.thinking)
    status = "incomplete" if answer.reason in INCOMPLETE else "completed"
    items: list[dict[str, Any]] = []
    if answer.thinking:
        summary = [] if answer.redacted else [{"type": "summary_text", "text": answer.thinking}]
        hidden = {"encrypted_content": seal(answer.thinking)} if asked.include_reasoning else {}
        items.append({"id": ids.reasoning, "type": "reasoning", "summary": summary, **hidden})
    if answer.extra:
        note = "from the future"
        items.append({"id": f"fi_{digest('fi', note)}", "type": "future_item", "note": note})
    if answer.text:
        message = {"id": ids.message, "type": "message", "role": "assistant", "status": status}
        items.append(message | {"content": [_part(answer)]})
    for number, call in enumerate(answer.calls):
        call_id, identity = ids.call(number)
        items.append(
            {
                "id": identity,
                "type": "function_call",
                "status": status,
                "call_id": call_id,
                "name": call.name,
                "arguments": arguments_text(call.arguments),
            }
        )
    return items


def _part(answer: Answer) -> dict[str, Any]:
    if answer.reason == "refusal":
        return {"type": "refusal", "refusal": answer.text}
    return {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}


def _usage(answer: Answer) -> dict[str, Any]:
    tokens = answer.tokens
    return {
        "input_tokens": tokens.all_input,
        "input_tokens_details": {"cached_tokens": tokens.cache_read, "cache_write_tokens": tokens.cache_write},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.all_input + tokens.output,
    }
