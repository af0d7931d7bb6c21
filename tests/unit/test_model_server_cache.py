"""The model server's accounting of Anthropic's cache."""

from __future__ import annotations

from typing import Any

from support.model_server import CacheRules, PromptCache

MARK = {"type": "ephemeral"}
RULES = CacheRules({}, least=100)
LONG = "word " * 100


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def request(*blocks: dict[str, Any], system: str = "", **more: Any) -> dict[str, Any]:
    mine = {"system": [text(system, cache_control=MARK)]} if system else {}
    return {"model": "m", "messages": [{"role": "user", "content": list(blocks)}], **mine, **more}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def asked(cache: PromptCache, body: dict[str, Any]) -> tuple[int, int, int]:
    counted = cache.count(body)
    cache.keep(counted)
    return counted.input, counted.read, counted.written


def test_what_is_written_is_read_by_whoever_begins_alike() -> None:
    cache = PromptCache(RULES)
    first = asked(cache, request(text(LONG, cache_control=MARK)))
    assert first[:2] == (0, 0)
    more = request(text(LONG), text("And then?"), text("So.", cache_control=MARK))
    fresh, read, written = asked(cache, more)
    assert (fresh, read) == (0, first[2])
    assert 0 < written < read
    assert asked(cache, request(text(LONG + "x", cache_control=MARK)))[1] == 0


def test_an_entry_is_there_when_the_answer_begins_not_before() -> None:
    cache, body = PromptCache(RULES), request(text(LONG, cache_control=MARK))
    first, second = cache.count(body), cache.count(body)
    assert (first.read, second.read) == (0, 0)
    assert first.written == second.written > 0
    cache.keep(first)
    assert cache.count(body).read == first.written


def test_below_the_minimum_nothing_is_cached_or_charged_as_such() -> None:
    cache = PromptCache(RULES)
    for _ in range(2):
        fresh, *cached = asked(cache, request(text("short", cache_control=MARK)))
        assert fresh > 0
        assert cached == [0, 0]


def test_entries_live_five_minutes_after_their_last_use() -> None:
    clock = Clock()
    cache, body = PromptCache(RULES, clock), request(text(LONG, cache_control=MARK))
    written = asked(cache, body)[2]
    clock.now = 299
    assert asked(cache, body)[1] == written
    clock.now = 598
    assert asked(cache, body)[1] == written
    clock.now = 899
    assert asked(cache, body) == (0, 0, written)


def test_an_entry_more_than_twenty_blocks_before_a_mark_is_not_found() -> None:
    def later(blocks: int) -> dict[str, Any]:
        between = [text(f"block {number}") for number in range(blocks - 1)]
        return request(text(LONG), *between, text("end", cache_control=MARK))

    for blocks, found in ((20, True), (21, False)):
        cache = PromptCache(RULES)
        asked(cache, request(text(LONG, cache_control=MARK)))
        assert bool(cache.count(later(blocks)).read) is found


def test_tools_and_system_come_before_the_messages_and_other_models_have_other_entries() -> None:
    cache = PromptCache(RULES)
    system = asked(cache, request(text("a"), system=LONG))[2]
    assert asked(cache, request(text("b"), system=LONG))[1] == system
    assert asked(cache, request(text("b"), system=LONG, tools=[{"name": "x"}]))[1] == 0
    assert asked(cache, {**request(text("b"), system=LONG), "model": "n"})[1] == 0
