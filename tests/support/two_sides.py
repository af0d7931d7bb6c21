"""A model whose answers depend on what else it is told: the base's prompt and the head's are two sides of one task."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from support.live_runs import model_of
from support.model_server import Answer, Script
from support.moody import NAME, WRONG


@dataclass(frozen=True)
class TwoSided(Script):
    """Fails the tasks that `failing` names for a word of the request. `said`: word and task of each trial, in order."""

    failing: Mapping[str, Collection[str]] = field(default_factory=dict)
    said: list[tuple[str, str]] = field(default_factory=list)

    def answer_to(self, body: object, prompt: str, turn: int) -> Answer | None:
        """The turn, wrong where the request has the word for it."""
        found, text = NAME.search(prompt), json.dumps(body)
        word = next((word for word in self.failing if word in text), None)
        if found and turn == 0 and word is not None:
            self.said.append((word, found[1]))
            if found[1] in self.failing[word]:
                return WRONG
        return self.answer(prompt, turn)


def two_sided(tasks: Sequence[Mapping[str, Any]], **failing: Collection[str]) -> TwoSided:
    """The model of these tasks that fails those named where the request has the word for it."""
    return TwoSided(model_of(tasks).conversations, failing=failing)
