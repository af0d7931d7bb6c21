"""Everything that happened in a trial: messages, tool calls, usage, timing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from evalward.records.base import Amount, Cleaned, Count, Record

BATCH_SHARE = 0.5
"""What a request costs in a batch, of what it costs live."""


def _nothing(value: object) -> bool:
    return value is None


def _empty(value: object) -> bool:
    return not value


class Usage(Record):
    """Tokens and cost of one turn, trial or run.

    The one convention, to which every provider's numbers are converted at the edge: `input_tokens` is what the
    model read anew, without cache reads and writes; `output_tokens` includes `reasoning_tokens`. A number that
    nobody told is `None`, never 0; so is the cost (USD) of a model without a known price. `batched` is how
    many requests were answered in batches, `batch_usd` the part of the cost that was paid for them, at half price.
    """

    input_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    cost_usd: Amount | None = None
    batched: Count | None = Field(default=None, exclude_if=_nothing)
    batch_usd: Amount | None = Field(default=None, exclude_if=_nothing)

    @property
    def repeated(self) -> Usage:
        """The same of a conversation that is only repeated: it costs nothing."""
        return self.model_copy(update={"cost_usd": 0.0, "batched": None, "batch_usd": None})

    @property
    def at_list_price(self) -> Usage:
        """The same with what it would have cost live."""
        if self.cost_usd is None or self.batch_usd is None:
            return self
        return self.model_copy(update={"cost_usd": self.cost_usd + self.batch_usd, "batch_usd": None})

    @property
    def total_input_tokens(self) -> int | None:
        """All that the model read: fresh input, cache reads and cache writes."""
        if self.input_tokens is None:
            return None
        return self.input_tokens + (self.cache_read_tokens or 0) + (self.cache_write_tokens or 0)


_TOKEN_FIELDS = (
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_tokens",
)


def add_usage(usages: Iterable[Usage]) -> Usage:
    """The sum. Cache and reasoning tokens count what was told; one unknown input, output or cost makes it unknown."""
    items = list(usages)
    sums: dict[str, Any] = {name: _known_sum([getattr(item, name) for item in items]) for name in _TOKEN_FIELDS}
    for name in ("input_tokens", "output_tokens", "cost_usd"):
        values = [getattr(item, name) for item in items]
        sums[name] = None if not values or None in values else sum(values)
    batches = {name: _known_sum([getattr(item, name) for item in items]) for name in ("batched", "batch_usd")}
    return Usage(**sums, **batches)


def _known_sum(values: Sequence[float | None]) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


class Text(Record):
    """Words."""

    type: Literal["text"] = "text"
    text: Cleaned


class ToolUse(Record):
    """A model's wish to use a tool. `input` is what it sent, valid or not."""

    type: Literal["tool_use"] = "tool_use"
    id: Cleaned
    name: Cleaned
    input: Any = None


class ToolResult(Record):
    """What the model reads after a tool call."""

    type: Literal["tool_result"] = "tool_result"
    tool_use_id: Cleaned
    content: Cleaned
    is_error: bool = False


class Opaque(Record):
    """A provider's own block (reasoning, signatures) that has to go back to it unaltered."""

    type: Literal["opaque"] = "opaque"
    provider: str
    data: Any


Block = Annotated[Text | ToolUse | ToolResult | Opaque, Field(discriminator="type")]
Role = Literal["user", "assistant", "tool_result"]


class Message(Record):
    """One message of a conversation."""

    role: Role
    content: list[Block]

    @property
    def text(self) -> str:
        """The words of the message, without tool uses and results."""
        return "\n".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def tool_uses(self) -> list[ToolUse]:
        """The tool uses, in order."""
        return [block for block in self.content if isinstance(block, ToolUse)]


class ToolCall(Record):
    """One execution of a tool: the call-level record of the bash specification.

    `stdout` and `stderr` may be cut; then `cut` says how many characters were left out. `ran` is false where
    nothing was executed (broken arguments, unknown tool); the exit code is then the tool's own error, not 0. An
    `exit_code` of `None` is one that nobody told (agents that report none): neither success nor failure.
    """

    commands: Cleaned
    stdout: Cleaned = ""
    stderr: Cleaned = ""
    exit_code: int | None
    duration_ms: Count = 0
    cut: Count = 0
    ran: bool = True


class SkillUse(Record):
    """A skill that an agent asked for by name: `succeeded` says whether its text was loaded.

    `name` is as the agent wrote it. `how`: by the agent's tool for skills (`called`), or by opening its file (`read`).
    `subagent`: one of its helpers did it, in a conversation of its own.
    """

    name: Cleaned
    succeeded: bool
    subagent: bool = False
    how: Literal["called", "read"] = "called"


StopReason = Literal["end", "tool_use", "length", "refusal", "content_filter", "context_length", "pause", "other"]


class Turn(Record):
    """One round trip to the model. `wall_ms` is what the clock said, `working_ms` without waits for rate limits."""

    usage: Usage = Usage()
    stop: StopReason = "end"
    model: Cleaned | None = None
    wall_ms: Count = 0
    working_ms: Count = 0


class Trace(Record):
    """What happened in a trial, in order.

    `natural_stop`: the model decided that it was done; false when the turn limit ended the loop. `duration_ms`
    is wall-clock time of the whole trial, `working_ms` the same without waits for rate limits. `total` is the usage
    of the whole trial where that is all that is known (imported recordings); then the turns tell none. `skills` are
    those that the agent asked for, in order. `arms` are the trial's other runs of the same task, by name.
    """

    messages: list[Message] = []
    tool_calls: list[ToolCall] = []
    turns: list[Turn] = []
    natural_stop: bool = False
    duration_ms: Count = 0
    working_ms: Count = 0
    total: Usage | None = None
    skills: list[SkillUse] = Field(default=[], exclude_if=_empty)
    arms: dict[str, Trace] = Field(default={}, exclude_if=_empty)

    @property
    def usage(self) -> Usage:
        """The usage of the whole trial: the sum over the turns, or what is known in total."""
        return self.total if self.total is not None else add_usage(turn.usage for turn in self.turns)
