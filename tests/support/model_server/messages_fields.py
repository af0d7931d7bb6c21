"""The fields of an Anthropic Messages request, as strict as the service."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from support.model_server.api import Strict


def _as_blocks(value: object) -> object:
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


class CacheControl(Strict):
    """A cache breakpoint."""

    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] = "5m"


class Cached(Strict):
    """A block that may be a cache breakpoint."""

    cache_control: CacheControl | None = None


class Text(Cached):
    type: Literal["text"]
    text: str
    citations: list[Any] | None = None


class Image(Cached):
    type: Literal["image"]
    source: dict[str, Any]


class Document(Cached):
    type: Literal["document"]
    source: dict[str, Any]
    citations: dict[str, Any] | None = None
    context: str | None = None
    title: str | None = None


class Thinking(Strict):
    type: Literal["thinking"]
    thinking: str
    signature: str


class RedactedThinking(Strict):
    type: Literal["redacted_thinking"]
    data: str


class ToolUse(Cached):
    type: Literal["tool_use", "server_tool_use"]
    id: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]+$")]
    name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,200}$")]
    input: dict[str, Any]
    caller: dict[str, Any] = {}  # an object or absent, as in the SDK's types: null is none
    toolset_name: str | None = None


ResultBlock = Annotated[Text | Image | Document, Field(discriminator="type")]


class ToolResult(Cached):
    type: Literal["tool_result"]
    tool_use_id: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]+$")]
    content: Annotated[list[ResultBlock], BeforeValidator(_as_blocks)] = []
    is_error: bool = False
    toolset_name: str | None = None


class Future(Strict):
    """The block that no client knows, which `Answer.extra` sends."""

    type: Literal["future_block"]
    note: str
    signature: str


Block = Annotated[
    Text | Image | Document | Thinking | RedactedThinking | ToolUse | ToolResult | Future, Field(discriminator="type")
]


class Message(Strict):
    role: Literal["user", "assistant", "system"]
    content: Annotated[list[Block], BeforeValidator(_as_blocks)]


class CustomTool(Cached):
    type: Literal["custom"] | None = None
    name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,128}$")]
    description: str = ""
    input_schema: dict[str, Any]
    strict: bool = False
    allowed_callers: list[str] = []
    defer_loading: bool = False
    eager_input_streaming: bool | None = None
    input_examples: list[dict[str, Any]] = []


class ServerTool(Strict):
    """A tool of the service's own; its other fields are not looked at."""

    model_config = Strict.model_config | {"extra": "allow"}

    type: str
    name: str = ""


def _tool_tag(value: object) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return "custom" if kind in (None, "custom") else "server"


Tool = Annotated[Annotated[CustomTool, Tag("custom")] | Annotated[ServerTool, Tag("server")], Discriminator(_tool_tag)]


class ToolChoice(Strict):
    type: Literal["auto", "any", "tool", "none"]
    name: str = ""
    disable_parallel_tool_use: bool = False


class ThinkingConfig(Strict):
    type: Literal["enabled", "disabled", "adaptive", "between_tools"]
    budget_tokens: Annotated[int, Field(ge=1024)] | None = None
    display: Literal["summarized", "omitted"] | None = None


class JsonFormat(Strict):
    type: Literal["json_schema"]
    wanted: Annotated[dict[str, Any], Field(alias="schema")]


class OutputConfig(Strict):
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    format: JsonFormat | None = None


class Metadata(Strict):
    user_id: str | None = None


class CountRequest(Strict):
    """POST /v1/messages/count_tokens."""

    model: str
    messages: list[Message]
    cache_control: CacheControl | None = None
    output_config: OutputConfig | None = None
    speed: Literal["standard", "fast"] | None = None
    system: Annotated[list[Text], BeforeValidator(_as_blocks)] = []
    thinking: ThinkingConfig | None = None
    tool_choice: ToolChoice | None = None
    tools: list[Tool] = []


class Request(CountRequest):
    """POST /v1/messages."""

    max_tokens: Annotated[int, Field(ge=0)]
    container: Any = None
    diagnostics: Any = None
    inference_geo: str | None = None
    metadata: Metadata = Metadata()
    service_tier: Literal["auto", "standard_only"] = "auto"
    stop_sequences: list[str] = []
    stream: bool = False


class OldRequest(Request):
    """The same under API version 2023-06-01, which knows how to sample."""

    temperature: Annotated[float, Field(ge=0, le=1, strict=False)] = 1.0
    top_p: Annotated[float, Field(ge=0, le=1, strict=False)] = 1.0
    top_k: Annotated[int, Field(ge=0)] = 0


class BetaRequest(OldRequest):
    """The same with `?beta=true` or a header `anthropic-beta`."""

    billing_policy: Any = None
    compaction: Any = None
    context_management: Any = None
    fallback_credit_token: Any = None
    fallbacks: Any = None
    mcp_servers: list[Any] = []
    thread: Any = None
