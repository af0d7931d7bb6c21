"""Files beside a test log: what an agent's own log tells of tokens and steps, and recordings of terminals."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalward.records.providers import PROVIDERS
from evalward.records.trace import Usage
from evalward.suites.speedup.values import count, parse
from evalward.targets.prices import Price, cost, price

PRICED = tuple(name for name, row in PROVIDERS.items() if row.prices == name)
"""The providers with a list of prices of their own."""
_EVENT_PARTS = 3  # [time, code, data] of the recording format


@dataclass(frozen=True)
class AgentLog:
    """What an agent did: its steps, and its tokens where the log tells them."""

    trajectory_length: int
    input_tokens: int | None = None
    output_tokens: int | None = None

    def usage(self, model: str, known: Price | None = None) -> Usage:
        """Tokens, and their cost by a given price or the packaged ones; `None` where that is not known."""
        usage = Usage(input_tokens=self.input_tokens, output_tokens=self.output_tokens)
        return usage.model_copy(update={"cost_usd": cost(usage, known or price_of(model))})


def price_of(model: str) -> Price | None:
    """The packaged price of `provider/model`, `provider-model`, or of a model that only one provider has."""
    dashed = next((each for each in PRICED if model.startswith(f"{each}-")), None)
    if dashed is not None:
        return price(dashed, model.removeprefix(f"{dashed}-"))
    provider, slash, name = model.rpartition("/")
    if slash:
        return price(provider, name) if provider in PRICED else None
    found = [each for each in (price(provider, model) for provider in PRICED) if each is not None]
    return found[0] if len(found) == 1 else None


def read_agent_log(steps: list[Any]) -> AgentLog:
    """An agent's log, a list of steps: its length, and the accumulated tokens of the last step that tells some."""
    for step in reversed(steps):
        tokens = _tokens(step)
        if tokens is not None:
            return AgentLog(len(steps), *tokens)
    return AgentLog(len(steps))


def _tokens(step: Any) -> tuple[int, int] | None:
    """Input and output tokens of a step's `llm_metrics.accumulated_token_usage`, when there are any."""
    metrics = step.get("llm_metrics") if isinstance(step, Mapping) else None
    usage = metrics.get("accumulated_token_usage") if isinstance(metrics, Mapping) else None
    if not isinstance(usage, Mapping):
        return None
    read, written = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
    if read is None or written is None or not read + written:
        return None
    return read, written


def read_cast(text: bytes) -> AgentLog:
    """A terminal recording: the events after its header. Raises `ValueError` when it is none."""
    header, *lines = text.split(b"\n")
    if not isinstance(parse(header), dict):
        raise ValueError("its first line is not a header")
    return AgentLog(sum(map(_is_event, lines)))


def _is_event(line: bytes) -> bool:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):  # blank, or cut off where the recording ended
        return False
    return isinstance(event, list) and len(event) >= _EVENT_PARTS
