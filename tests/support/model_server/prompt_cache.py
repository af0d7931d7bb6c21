"""Anthropic's prompt cache as it counts: what a request reads from it, what it writes to it, and what is fresh."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from support.model_server.wire import digest, estimate_tokens

MINIMUMS: Mapping[str, int] = {"claude-haiku-4-5": 4096, "claude-opus-4-6": 4096, "claude-sonnet-5": 1024}
LOOK_BACK = 20  # blocks before a breakpoint at which an entry is looked for
SECONDS = {"5m": 300.0, "1h": 3600.0}


@dataclass(frozen=True)
class Segment:
    """A block: its place in the request, hashed with all before it; how many tokens it has; its breakpoint."""

    prefix: str
    tokens: int
    ttl: str | None = None


@dataclass(frozen=True)
class Counted:
    """The tokens of a request, and the entries that there are when its answer begins: prefix and seconds."""

    input: int
    read: int
    written: int
    entries: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class CacheRules:
    """From how many tokens it caches: by model, and `least` for all others."""

    minimums: Mapping[str, int] = field(default_factory=lambda: MINIMUMS)
    least: int = 1024


@dataclass
class PromptCache:
    """What is cached. `now` is a clock in seconds."""

    rules: CacheRules = CacheRules()
    now: Callable[[], float] = time.monotonic
    _until: dict[str, float] = field(default_factory=dict)

    def count(self, body: Mapping[str, Any]) -> Counted:
        """What a request reads and would write. Nothing is written before `keep`: its answer has not begun."""
        blocks = list(segments(body))
        sizes = [sum(block.tokens for block in blocks[: at + 1]) for at in range(len(blocks))]
        minimum = self.rules.minimums.get(str(body["model"]), self.rules.least)
        marked = [at for at, block in enumerate(blocks) if block.ttl and sizes[at] >= minimum]
        if not marked:
            return Counted(sum(block.tokens for block in blocks), 0, 0)
        found = max((hit for at in marked if (hit := self._hit(blocks, at)) is not None), default=None)
        read = 0 if found is None else sizes[found]
        entries = tuple((blocks[at].prefix, SECONDS[blocks[at].ttl or "5m"]) for at in marked)
        entries += () if found is None else ((blocks[found].prefix, SECONDS["5m"]),)
        return Counted(sizes[-1] - sizes[marked[-1]], read, max(0, sizes[marked[-1]] - read), entries)

    def keep(self, counted: Counted) -> None:
        """The answer begins: what was written can be read from now on, and what was read lives on."""
        for prefix, seconds in counted.entries:
            self._until[prefix] = max(self._until.get(prefix, 0.0), self.now() + seconds)

    def _hit(self, blocks: Sequence[Segment], at: int) -> int | None:
        """The last place at the breakpoint or within the blocks before it that is cached."""
        for place in range(at, max(-1, at - LOOK_BACK - 1), -1):
            if self._until.get(blocks[place].prefix, 0.0) > self.now():
                return place
        return None


def segments(body: Mapping[str, Any]) -> Iterator[Segment]:
    """The blocks of a request in the order in which they are cached: tools, system, messages."""
    prefix = digest("start", body["model"], json.dumps(body.get("output_config"), sort_keys=True))
    for block in _blocks(body):
        bare = {name: value for name, value in block.items() if name != "cache_control"}
        prefix = digest(prefix, json.dumps(bare, sort_keys=True), size=32)
        mark = block.get("cache_control")
        yield Segment(prefix, estimate_tokens([bare]), None if mark is None else mark.get("ttl", "5m"))


def _blocks(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for tool in body.get("tools", []):
        yield {"of": "tools", **tool}
    for block in _listed(body.get("system", [])):
        yield {"of": "system", **block}
    for message in body["messages"]:
        for block in _listed(message["content"]):
            yield {"of": message["role"], **block}


def _listed(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
