"""The rules of an Anthropic Messages conversation: what the fields alone don't say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from support.model_server import messages_fields as fields
from support.model_server.api import RejectedError
from support.model_server.structured import BOUNDS, schema_problem
from support.model_server.wire import opened

ASSISTANT_ONLY = {"tool_use", "server_tool_use", "thinking", "redacted_thinking", "future_block"}


def invalid(message: str) -> RejectedError:
    """A 400 as the service writes it."""
    return RejectedError(400, "invalid_request_error", message)


@dataclass
class Group:
    """Consecutive messages of one role, which the service reads as one."""

    role: str
    place: int
    blocks: list[fields.Block] = field(default_factory=list)

    @property
    def uses(self) -> list[str]:
        """The ids of the tools that are to be run by the client."""
        return [block.id for block in self.blocks if isinstance(block, fields.ToolUse) and block.type == "tool_use"]

    @property
    def paused(self) -> bool:
        """Whether it ends in the service's own tool use, which the service continues."""
        return isinstance(self.blocks[-1], fields.ToolUse) and self.blocks[-1].type == "server_tool_use"


def check(request: fields.CountRequest) -> list[Group]:
    """The conversation in groups of one role. Raises `RejectedError` at the first broken rule."""
    for place, message in enumerate(request.messages):
        _check_message(place, message)
    _check_breakpoints(list(_breakpoints(request)))
    groups = _grouped(request.messages)
    if not groups:
        raise invalid("messages: at least one message is required")
    if groups[0].role != "user":
        raise invalid('messages: first message must use the "user" role')
    _check_pairs(groups)
    _check_end(groups[-1])
    _check_tools(request, groups)
    _check_format(request)
    return groups


def answered(groups: Sequence[Group]) -> int:
    """How many answers of the model the conversation holds: a paused one and its continuation are two."""
    count = 0
    for group in groups:
        if group.role == "assistant":
            count += sum(block.type == "server_tool_use" for block in group.blocks) + (not group.paused)
    return count


def first_text(groups: Sequence[Group]) -> str:
    """The first user message's text."""
    return "\n".join(block.text for block in groups[0].blocks if isinstance(block, fields.Text))


def _check_message(place: int, message: fields.Message) -> None:
    if not message.content:
        raise invalid(
            f"messages.{place}: all messages must have non-empty content except for the optional final assistant "
            "message"
        )
    for number, block in enumerate(message.content):
        where = f"messages.{place}.content.{number}"
        if isinstance(block, fields.Text) and not block.text:
            raise invalid("messages: text content blocks must be non-empty")
        if isinstance(block, fields.Text) and not block.text.strip():
            raise invalid("messages: text content blocks must contain non-whitespace text")
        _check_role(where, message.role, block)
        _check_seal(where, block)


def _check_role(where: str, role: str, block: fields.Block) -> None:
    if role != "assistant" and block.type in ASSISTANT_ONLY:
        raise invalid(f"{where}: `{block.type}` blocks can only be in `assistant` messages")
    if role != "user" and block.type in {"tool_result", "image", "document"}:
        raise invalid(f"{where}: `{block.type}` blocks can only be in `user` messages")


def _check_seal(where: str, block: fields.Block) -> None:
    if isinstance(block, fields.Thinking) and opened(block.signature) != block.thinking:
        raise invalid(f"{where}: Invalid `signature` in `thinking` block")
    if isinstance(block, fields.RedactedThinking) and opened(block.data) is None:
        raise invalid(f"{where}: Invalid `data` in `redacted_thinking` block")
    if isinstance(block, fields.Future) and opened(block.signature) != block.note:
        raise invalid(f"{where}: Invalid `signature` in `future_block` block")


def _check_breakpoints(found: Sequence[fields.CacheControl]) -> None:
    if len(found) > 4:
        raise invalid(f"A maximum of 4 blocks with cache_control may be provided. Found {len(found)}.")
    times = [each.ttl for each in found]
    if times != sorted(times):  # "1h" before "5m"
        raise invalid("A ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.")


def _breakpoints(value: object) -> Iterator[fields.CacheControl]:
    """In the order in which the service caches: tools, system, messages."""
    if isinstance(value, fields.CountRequest):
        for part in (value.tools, value.system, value.messages):
            yield from _breakpoints(part)
        if value.cache_control is not None:
            yield value.cache_control
    elif isinstance(value, fields.CacheControl):
        yield value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _breakpoints(getattr(value, name))
    elif isinstance(value, list):
        for item in value:
            yield from _breakpoints(item)


def _grouped(messages: Sequence[fields.Message]) -> list[Group]:
    groups: list[Group] = []
    for place, message in enumerate(messages):
        if message.role == "system":
            continue
        if not groups or groups[-1].role != message.role:
            groups.append(Group(message.role, place))
        groups[-1].blocks.extend(message.content)
    return groups


def _check_pairs(groups: Sequence[Group]) -> None:
    pending: list[str] = []
    seen: set[str] = set()
    for group in groups:
        if group.role == "user":
            _check_results(group, pending)
        pending = group.uses if group.role == "assistant" else []
        if len(set(pending)) < len(pending) or seen & set(pending):
            raise invalid(f"messages.{group.place}: `tool_use` ids must be unique")
        seen |= set(pending)
    if pending:
        raise _unanswered(groups[-1].place, pending)


def _check_results(group: Group, pending: Sequence[str]) -> None:
    found: list[str] = []
    for number, block in enumerate(group.blocks):
        if not isinstance(block, fields.ToolResult):
            continue
        where = f"messages.{group.place}.content.{number}"
        if block.tool_use_id not in pending:
            raise invalid(
                f"{where}: unexpected `tool_use_id` found in `tool_result` blocks: {block.tool_use_id}. Each "
                "`tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
        if block.tool_use_id in found:
            raise invalid(
                f"{where}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: "
                f"{block.tool_use_id}"
            )
        if len(found) == number:  # a result after something else doesn't count
            found.append(block.tool_use_id)
    missing = [identity for identity in pending if identity not in found]
    if missing:
        raise _unanswered(group.place - 1, missing)


def _unanswered(place: int, missing: Sequence[str]) -> RejectedError:
    return invalid(
        f"messages.{place}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
        "message."
    )


def _check_end(last: Group) -> None:
    if last.role == "assistant" and not last.paused:
        raise invalid(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )


def _check_tools(request: fields.CountRequest, groups: Sequence[Group]) -> None:
    names = [tool.name for tool in request.tools]
    if len(set(names)) < len(names):
        raise invalid("tools: Tool names must be unique.")
    for number, tool in enumerate(request.tools):
        if isinstance(tool, fields.CustomTool) and tool.input_schema.get("type") != "object":
            raise invalid(f"tools.{number}.custom.input_schema.type: Input should be 'object'")
    if not names and any(group.uses for group in groups):
        raise invalid("Requests which include `tool_use` or `tool_result` blocks must define tools.")
    choice = request.tool_choice
    if choice and choice.type != "none" and not names:
        raise invalid("tool_choice: `tool_choice` may only be specified while providing `tools`.")
    if choice and choice.type == "tool" and choice.name not in names:
        raise invalid(f"tool_choice: Tool '{choice.name}' not found in provided tools")
    _check_thinking(request, groups)


def _check_format(request: fields.CountRequest) -> None:
    output = request.output_config
    problem = schema_problem(output.format.wanted, BOUNDS) if output and output.format else None
    if problem:
        raise invalid(f"output_config.format.schema: {problem}")


def _check_thinking(request: fields.CountRequest, groups: Sequence[Group]) -> None:
    thinking = request.thinking
    if thinking is None or thinking.type != "enabled":
        return
    if thinking.budget_tokens is None:
        raise invalid("thinking.enabled.budget_tokens: Field required")
    if isinstance(request, fields.Request) and request.max_tokens <= thinking.budget_tokens:
        raise invalid("`max_tokens` must be greater than `thinking.budget_tokens`.")
    last = next((group for group in reversed(groups) if group.role == "assistant"), None)
    if last and last.uses and last.blocks[0].type not in {"thinking", "redacted_thinking"}:
        raise invalid(
            f"messages.{last.place}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
            f"`{last.blocks[0].type}`. When `thinking` is enabled, a final `assistant` message must start with a "
            "thinking block."
        )
