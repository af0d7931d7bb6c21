"""Marks that ask Anthropic to cache what a later request will begin with, where that costs less than it saves.

What is written to the cache costs a quarter more than plain input, what is read from it a tenth, and it is kept for
five minutes after its last use. A mark says "up to here"; the provider finds it again only at or shortly before another
mark. Without marks, and below a size that depends on the model, nothing is cached and nothing costs more.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

from evalward.records.base import digest
from evalward.targets.base import ConversationPart
from evalward.targets.prices import undated
from evalward.targets.purse import read_estimate

MARK: Mapping[str, Any] = {"type": "ephemeral"}  # kept for five minutes: a longer time costs twice the input
MINIMUM: Mapping[str, int] = {
    "claude-haiku-4-5": 4096,
    "claude-opus-4-5": 4096,
    "claude-opus-4-6": 4096,
    "claude-opus-4-7": 2048,
    "claude-opus-4-8": 1024,
    "claude-opus-4-1": 1024,
    "claude-opus-4": 1024,
    "claude-sonnet-5": 1024,
    "claude-sonnet-4-6": 1024,
    "claude-sonnet-4-5": 1024,
    "claude-sonnet-4": 1024,
}
"""The tokens from which the provider caches, by model."""
LEAST = 512  # of every other model; a mark on less than its minimum does nothing
MOST_STARTS = 1000  # of which it is remembered whether they are cached

StartState = Literal["answered", "writing", "kept"]


class _Place(NamedTuple):
    """Where a mark can stand: a message and a block in it."""

    message: int
    block: int


class CacheMarking:
    """Where the requests of one model get their marks.

    A conversation that goes on is marked at its end, which the next request reads, and where the request before it was
    marked, which this one reads however many blocks are between. Tools and system prompt, with which all conversations
    of a suite begin, have a mark each. Requests that stand alone share nothing but these: the first of them go without
    marks, until one is answered and others still come; then one request writes, and when it is answered all others
    read. So a suite with fewer requests than are asked at once never pays for what is not read.
    """

    def __init__(self, model: str) -> None:
        self._minimum = MINIMUM.get(undated(model), LEAST)
        self._starts: OrderedDict[str, StartState] = OrderedDict()

    @contextmanager
    def of(self, params: Mapping[str, Any], part: ConversationPart) -> Iterator[Mapping[str, Any]]:
        """The request's body with its marks, while it is asked."""
        if not self._reaches(_size(params)):
            yield params
        elif part == "alone":
            with self._shared(params) as marked:
                yield marked
        else:
            yield self._marked(params, _conversation_marks(params["messages"], part))

    def _reaches(self, size: int) -> bool:
        return read_estimate(size) >= self._minimum

    def _marked(self, params: Mapping[str, Any], places: Sequence[_Place]) -> Mapping[str, Any]:
        tools, system = params.get("tools", []), params.get("system", "")
        before = _size({"tools": tools})
        marked = dict(params)
        if tools and self._reaches(before):
            marked["tools"] = [*tools[:-1], {**tools[-1], "cache_control": MARK}]
        before += _size(system)
        if system and self._reaches(before):
            marked["system"] = [{"type": "text", "text": system, "cache_control": MARK}]
        messages = params["messages"]
        for place in places:
            if self._reaches(before + _size(messages[: place.message + 1])):
                marked["messages"] = _with_mark(marked["messages"], place)
        return marked

    @contextmanager
    def _shared(self, params: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """A request that shares only its start with others."""
        start = {name: params[name] for name in ("tools", "system", "output_config") if name in params}
        if not self._reaches(_size([params.get("tools", []), params.get("system", "")])):
            yield params
            return
        name = digest(start)
        before = self._starts.get(name)
        if before == "answered":
            self._starts[name] = "writing"
        yielded = self._marked(params, ()) if before in ("answered", "kept") else params
        try:
            yield yielded
        except BaseException:
            if before == "answered":
                self._starts[name] = "answered"
            raise
        self._remember(name, "kept" if before in ("answered", "kept") else self._starts.get(name, "answered"))

    def _remember(self, name: str, state: StartState) -> None:
        self._starts[name] = state
        self._starts.move_to_end(name)
        while len(self._starts) > MOST_STARTS:
            self._starts.popitem(last=False)


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _conversation_marks(messages: Sequence[Mapping[str, Any]], part: ConversationPart) -> list[_Place]:
    """Where the request before this one was marked, and, if the next one may go on with it, the end."""
    answers = [number for number, message in enumerate(messages) if message["role"] == "assistant"]
    last_answer = answers[-1] if answers else -1
    places = list(_places(messages))
    earlier = [place for place in places if place.message < last_answer]
    new = [place for place in places if place.message > last_answer]
    return [*earlier[-1:], *(new[-1:] if part == "more" else [])]


def _places(messages: Sequence[Mapping[str, Any]]) -> Iterator[_Place]:
    """The last block of each message of the user's that a mark can stand on."""
    for number, message in enumerate(messages):
        carrying = [at for at, block in enumerate(message["content"]) if _carries(block)]
        if message["role"] == "user" and carrying:
            yield _Place(number, carrying[-1])


def _carries(block: Mapping[str, Any]) -> bool:
    """Whether the provider takes a mark there: on no empty text, and on none of its own blocks."""
    text = {"text": "text", "tool_result": "content"}.get(block["type"])
    return text is not None and bool(str(block[text]).strip())


def _with_mark(messages: Sequence[Mapping[str, Any]], place: _Place) -> list[Mapping[str, Any]]:
    changed = list(messages)
    blocks = list(changed[place.message]["content"])
    blocks[place.block] = {**blocks[place.block], "cache_control": MARK}
    changed[place.message] = {**changed[place.message], "content": blocks}
    return changed
