"""What an answer may hold, however it comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from evalward.targets.models import anthropic, limits, openai_chat, openai_responses
from evalward.targets.models.reading import MalformedError
from evalward.targets.models.room import AnswerRoom, parsed_arguments

VALUES, CHARACTERS = 1_000, 5_000


@pytest.fixture(autouse=True)
def lower_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_VALUES", VALUES)
    monkeypatch.setattr(limits, "ANSWER_LIMIT", CHARACTERS)


def test_room_is_for_values_and_characters_together() -> None:
    room = AnswerRoom()
    assert room.take({"a": [1, "xyz", {}]}) == {"a": [1, "xyz", {}]}
    assert (room.values, room.characters) == (VALUES - 5, CHARACTERS - 4)
    with pytest.raises(MalformedError, match="more than 1,000 values"):
        room.take([0] * VALUES)
    with pytest.raises(MalformedError, match="more than 5,000 characters"):
        AnswerRoom().take_text("x" * (CHARACTERS + 1))


def test_arguments_of_very_many_values_stay_the_models_text() -> None:
    room = AnswerRoom()
    assert parsed_arguments("[1, 2]", room) == [1, 2]
    many = "[" + "0," * VALUES + "0]"
    assert parsed_arguments(many, room) == many
    assert parsed_arguments("[1, 2]", room) == "[1, 2]"  # all together
    assert parsed_arguments("7", room) == 7


def _messages(*events: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": {"type": "message"}}
    yield from events
    yield {"type": "message_stop"}


def _block(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def _text(text: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}


def _chunk(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"delta": delta}]}


def _item(index: int, **item: Any) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


MANY = range(VALUES)
TOO_MUCH: dict[str, Callable[[], Any]] = {
    "blocks": lambda: anthropic.folded(_messages(*(_block(n, type="o") for n in MANY))),
    "texts": lambda: anthropic.folded(_messages(_block(0, type="text", text=""), *(_text("x" * 20) for _ in MANY))),
    "calls": lambda: openai_chat.folded(_chunk(tool_calls=[{"index": n, "function": {"name": "b"}}]) for n in MANY),
    "content": lambda: openai_chat.folded(_chunk(content="x" * 20) for _ in MANY),
    "items": lambda: openai_responses.folded(_item(n, type="o") for n in MANY),
    "long items": lambda: openai_responses.folded(_item(n, type="x" * 20) for n in range(VALUES // 3)),
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_a_stream_makes_no_larger_answer_than_may_come_whole(name: str) -> None:
    with pytest.raises(MalformedError, match="the answer has more than"):
        TOO_MUCH[name]()


@pytest.mark.parametrize("block", [{"type": "text", "text": 5}, {"type": "tool_use", "name": "b", "partial_json": 5}])
def test_a_block_that_begins_with_another_type_is_malformed(block: dict[str, Any]) -> None:
    with pytest.raises(MalformedError, match="of another kind"):
        anthropic.folded(_messages(_block(0, **block), _text("a")))
