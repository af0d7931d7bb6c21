"""The fields of an OpenAI Chat Completions request, as strict as the service."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from support.model_server.api import Strict

Name = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


def _as_parts(value: object) -> object:
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


class TextPart(Strict):
    type: Literal["text"]
    text: str
    prompt_cache_breakpoint: Any = None


class RefusalPart(Strict):
    type: Literal["refusal"]
    refusal: str


class MediaPart(Strict):
    type: Literal["image_url", "input_audio", "file"]
    image_url: dict[str, Any] = {}
    input_audio: dict[str, Any] = {}
    file: dict[str, Any] = {}


TextParts = Annotated[list[TextPart], BeforeValidator(_as_parts)]
UserPart = Annotated[TextPart | MediaPart, Field(discriminator="type")]
AssistantPart = Annotated[TextPart | RefusalPart, Field(discriminator="type")]


class SystemMessage(Strict):
    role: Literal["system", "developer"]
    content: TextParts
    name: str = ""


class UserMessage(Strict):
    role: Literal["user"]
    content: Annotated[list[UserPart], BeforeValidator(_as_parts)]
    name: str = ""


class CalledFunction(Strict):
    name: str
    arguments: str


class ToolCall(Strict):
    """What an assistant message holds; with `index` or `parsed_arguments` it is a 400."""

    id: str
    type: Literal["function"]
    function: CalledFunction


class AssistantMessage(Strict):
    role: Literal["assistant"]
    content: Annotated[list[AssistantPart] | None, BeforeValidator(_as_parts)] = None
    refusal: str | None = None
    name: str = ""
    audio: dict[str, Any] | None = None
    tool_calls: Annotated[list[ToolCall], Field(min_length=1)] | None = None


class ToolMessage(Strict):
    role: Literal["tool"]
    tool_call_id: str
    content: TextParts


Message = Annotated[SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")]


class FunctionDefinition(Strict):
    name: Name
    description: str = ""
    parameters: dict[str, Any] = {}
    strict: bool | None = None


class Tool(Strict):
    type: Literal["function"]
    function: FunctionDefinition


class StreamOptions(Strict):
    include_usage: bool = False
    include_obfuscation: bool = True


class JsonSchema(Strict):
    name: Name
    description: str = ""
    wanted: Annotated[dict[str, Any], Field(alias="schema")] = {}
    strict: bool | None = None


class JsonSchemaFormat(Strict):
    type: Literal["json_schema"]
    json_schema: JsonSchema


class PlainFormat(Strict):
    type: Literal["text", "json_object"]


Format = Annotated[JsonSchemaFormat | PlainFormat, Field(discriminator="type")]


class Request(Strict):
    """POST /v1/chat/completions. `functions`, `n` above 1 and audio are not spoken."""

    model: str
    messages: Annotated[list[Message], Field(min_length=1)]
    audio: None = None
    frequency_penalty: float | None = None
    function_call: None = None
    functions: None = None
    logit_bias: dict[str, int] | None = None
    logprobs: bool | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    metadata: dict[str, str] | None = None
    modalities: list[Literal["text"]] | None = None
    moderation: Any = None
    n: Literal[1] | None = None
    parallel_tool_calls: bool | None = None
    prediction: Any = None
    presence_penalty: float | None = None
    prompt_cache_key: str | None = None
    prompt_cache_options: dict[str, Any] = {}
    prompt_cache_retention: Literal["in_memory", "24h"] | None = None
    reasoning_effort: Effort | None = None
    response_format: Format | None = None
    safety_identifier: str | None = None
    seed: int | None = None
    service_tier: Literal["auto", "default", "flex", "scale", "priority", "fast"] | None = None
    stop: str | list[str] | None = None
    store: bool | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    tool_choice: Literal["none", "auto", "required"] | dict[str, Any] | None = None
    tools: Annotated[list[Tool], Field(min_length=1)] | None = None
    top_logprobs: int | None = None
    top_p: float | None = None
    user: str = ""
    verbosity: Literal["low", "medium", "high"] | None = None
    web_search_options: dict[str, Any] = {}
