"""The fields of an OpenAI Responses request, as strict as the service."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag

from support.model_server.api import Strict
from support.model_server.chat_fields import Effort, Name

Status = Literal["in_progress", "completed", "incomplete"]


def _as_parts(value: object) -> object:
    return [{"type": "plain", "text": value}] if isinstance(value, str) else value


def _as_items(value: object) -> object:
    return [{"role": "user", "content": value}] if isinstance(value, str) else value


class PlainPart(Strict):
    """Content given as a text, which fits any role."""

    type: Literal["plain"]
    text: str


class InputPart(Strict):
    type: Literal["input_text", "input_image", "input_file"]
    text: str = ""
    image_url: str | None = None
    detail: str = "auto"
    file_id: str | None = None
    file_data: str = ""
    filename: str = ""
    file_url: str = ""
    prompt_cache_breakpoint: Any = None


class OutputPart(Strict):
    type: Literal["output_text", "refusal"]
    text: str = ""
    refusal: str = ""
    annotations: list[Any] = []
    logprobs: list[Any] = []


Part = Annotated[PlainPart | InputPart | OutputPart, Field(discriminator="type")]


class Message(Strict):
    role: Literal["user", "assistant", "system", "developer"]
    content: Annotated[list[Part], BeforeValidator(_as_parts)]
    type: Literal["message"] = "message"
    id: str = ""
    status: Status = "completed"
    phase: Literal["commentary", "final_answer"] | None = None


class FunctionCall(Strict):
    """A tool call on its way back; with `parsed_arguments` it is a 400."""

    type: Literal["function_call"]
    call_id: str
    name: str
    arguments: str
    id: str = ""
    status: Status = "completed"
    caller: dict[str, Any] | None = None
    namespace: str = ""


class FunctionCallOutput(Strict):
    type: Literal["function_call_output"]
    call_id: str
    output: Annotated[list[Part], BeforeValidator(_as_parts)]
    id: str | None = None
    status: Status | None = None
    caller: dict[str, Any] | None = None
    name: str | None = None
    namespace: str | None = None


class SummaryText(Strict):
    type: Literal["summary_text"]
    text: str


class Reasoning(Strict):
    type: Literal["reasoning"]
    id: str
    summary: list[SummaryText]
    content: list[dict[str, Any]] = []
    encrypted_content: str | None = None
    status: Status = "completed"


class Reference(Strict):
    type: Literal["item_reference"] | None = None
    id: str


class Future(Strict):
    """The item that no client knows, which `Answer.extra` sends."""

    type: Literal["future_item"]
    id: str
    note: str


def _item_tag(value: object) -> str | None:
    if not isinstance(value, dict):
        return getattr(value, "type", None)
    return value.get("type") or ("message" if "role" in value else "item_reference")


Item = Annotated[
    Annotated[Message, Tag("message")]
    | Annotated[FunctionCall, Tag("function_call")]
    | Annotated[FunctionCallOutput, Tag("function_call_output")]
    | Annotated[Reasoning, Tag("reasoning")]
    | Annotated[Reference, Tag("item_reference")]
    | Annotated[Future, Tag("future_item")],
    Discriminator(_item_tag),
]


class Tool(Strict):
    """A function. `parameters` and `strict` may be null, but not absent."""

    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True)

    type: Literal["function"]
    name: Name
    parameters: dict[str, Any] | None
    strict: bool | None
    description: str | None = None
    allowed_callers: list[str] | None = None
    defer_loading: bool = False
    output_schema: dict[str, Any] | None = None
    is_async: Annotated[bool, Field(alias="async")] = False


class ServerTool(Strict):
    """A tool of the service's own, or a group of functions; its other fields are not looked at."""

    model_config = Strict.model_config | {"extra": "allow"}

    type: Literal["custom", "namespace", "web_search"]


def _tool_tag(value: object) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return "server" if kind in {"custom", "namespace", "web_search"} else "function"


AnyTool = Annotated[Annotated[Tool, Tag("function")] | Annotated[ServerTool, Tag("server")], Discriminator(_tool_tag)]


class ReasoningConfig(Strict):
    effort: Effort | None = None
    summary: Literal["auto", "concise", "detailed"] | None = None
    generate_summary: Literal["auto", "concise", "detailed"] | None = None
    context: Literal["auto", "current_turn", "all_turns"] | None = None
    mode: str = "standard"


class JsonSchemaFormat(Strict):
    type: Literal["json_schema"]
    name: Name
    wanted: Annotated[dict[str, Any], Field(alias="schema")]
    description: str = ""
    strict: bool | None = None


class PlainFormat(Strict):
    type: Literal["text", "json_object"]


class TextConfig(Strict):
    format: Annotated[JsonSchemaFormat | PlainFormat, Field(discriminator="type")] = PlainFormat(type="text")
    verbosity: Literal["low", "medium", "high"] | None = None


class StreamOptions(Strict):
    include_obfuscation: bool = True


class Request(Strict):
    """POST /v1/responses. What the service would keep (conversations, earlier responses) isn't there: 404."""

    model: str
    input: Annotated[list[Item], BeforeValidator(_as_items), Field(min_length=1)]
    access_programs: Any = None
    background: Literal[False] | None = None
    context_management: Any = None
    conversation: Any = None
    image: Any = None
    include: list[str] | None = None
    instructions: str | None = None
    max_output_tokens: int | None = None
    max_tool_calls: int | None = None
    metadata: dict[str, str] | None = None
    moderation: Any = None
    parallel_tool_calls: bool | None = None
    previous_response_id: str | None = None
    prompt: Any = None
    prompt_cache_key: str | None = None
    prompt_cache_options: dict[str, Any] = {}
    prompt_cache_retention: Literal["in_memory", "24h"] | None = None
    reasoning: ReasoningConfig | None = None
    safety_identifier: str | None = None
    service_tier: str | None = None
    store: bool | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    text: TextConfig = TextConfig()
    tool_choice: Literal["none", "auto", "required"] | dict[str, Any] = "auto"
    tools: list[AnyTool] = []
    top_logprobs: int | None = None
    top_p: float | None = None
    truncation: Literal["auto", "disabled"] | None = None
    user: str = ""
