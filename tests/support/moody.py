"""A model that fails now, and not when it is asked again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from support.live_runs import TOKENS, model_of
from support.model_server import Answer, Script, bash

WRONG = bash("echo nothing of the kind", tokens=TOKENS)
NAME = re.compile(r"the word ([a-z]+)[.]")


@dataclass(frozen=True)
class Moody(Script):
    """Fails a task in its first so many trials, and does it right from then on."""

    failures: Mapping[str, int] = field(default_factory=dict)
    began: Counter[str] = field(default_factory=Counter)

    def answer(self, prompt: str, turn: int) -> Answer | None:
        """The turn, wrong if this is one of the trials that fail."""
        found = NAME.search(prompt)
        if found and turn == 0:
            self.began[found[1]] += 1
            if self.began[found[1]] <= self.failures.get(found[1], 0):
                return WRONG
        return super().answer(prompt, turn)


def moody_model(tasks: Sequence[Mapping[str, Any]], failures: Mapping[str, int]) -> Moody:
    """The model of these tasks that fails so many first trials of those named."""
    return Moody(model_of(tasks).conversations, failures=failures)
