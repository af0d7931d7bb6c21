"""How much an answer may hold, for whoever puts one together from pieces."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from evalward.records.base import clean_text, fitting
from evalward.records.json_values import values_in
from evalward.targets.models import limits
from evalward.targets.models.reading import MalformedError

T = TypeVar("T")


@dataclass
class AnswerRoom:
    """What is left of an answer's bounds: characters and values. Raises `MalformedError` where there is no room."""

    characters: int = field(default_factory=lambda: limits.ANSWER_LIMIT)
    values: int = field(default_factory=lambda: limits.MOST_VALUES)

    def take_text(self, text: str) -> str:
        """The text, for which there is room."""
        self.characters -= len(text)
        return self._within(text)

    def has_for(self, text: str) -> bool:
        """Whether there was room for the values of a JSON text."""
        found = values_in(text.encode("utf-8", "surrogatepass"), self.values)
        self.values = max(0, self.values - found)
        return found == 0 or self.values > 0

    def take(self, part: T) -> T:
        """The part of a JSON value, for which there is room."""
        waiting: list[Any] = [part]
        while waiting:
            value = waiting.pop()
            self.values -= 1
            if isinstance(value, str):
                self.characters -= len(value)
            elif isinstance(value, Mapping):
                self.characters -= sum(map(len, value))
                waiting.extend(value.values())
            elif isinstance(value, list):
                waiting.extend(value)
        return self._within(part)

    def _within(self, part: T) -> T:
        if self.characters < 0:
            raise MalformedError(f"the answer has more than {limits.ANSWER_LIMIT:,} characters")
        if self.values < 0:
            raise MalformedError(f"the answer has more than {limits.MOST_VALUES:,} values")
        return part


def parsed_arguments(text: str, room: AnswerRoom) -> Any:
    """A tool use's arguments; what is no JSON that a record can hold stays a text, for the loop to answer.

    So does what there is no `room` for, that of all arguments of the answer: the model wrote it, in few tokens perhaps,
    and no fault of the provider's is to excuse it.
    """
    if not room.has_for(text):
        return clean_text(text)
    try:
        return fitting(json.loads(text, parse_constant=_refuse))
    except (ValueError, RecursionError):
        return clean_text(text)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
