"""A case of a prompt suite: one row of a file's test data, and the file's evaluators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalward.records.base import digest
from evalward.records.case import Case
from evalward.records.problem import Place
from evalward.records.trace import Message, Text
from evalward.suites.prompt.builtin import WORDS_VERSION
from evalward.suites.prompt.file import PromptEvaluator

EXPECTED = "expected"


class PromptCase(Case):
    """One row. `values` stand for the placeholders of the file that is called `category`."""

    values: dict[str, str]
    evaluators: list[PromptEvaluator]

    @property
    def judged(self) -> bool:
        """Whether a judge is needed."""
        return any(evaluator.string is None for evaluator in self.evaluators)

    @property
    def expected(self) -> str | None:
        """The answer that the row expects, where it says one."""
        return self.values.get(EXPECTED, "").strip() or None

    def reference(self) -> list[Message]:
        """The expected answer, where texts alone are compared: what a judge would say of it isn't known."""
        if self.judged or self.expected is None:
            return []
        return [Message(role="assistant", content=[Text(text=self.expected)])]

    def solution_apart(self) -> list[str]:
        """Nothing: what is expected is what the case asks."""
        return []

    def written(self) -> dict[str, Any]:
        """The row, and what is looked at."""
        evaluators = [each.model_dump(mode="json", by_alias=True, exclude_defaults=True) for each in self.evaluators]
        return {"id": self.id, "category": self.category, "values": self.values, "evaluators": evaluators}


def make_case(
    id_: str, file: str, values: Mapping[str, str], evaluators: Sequence[PromptEvaluator], place: Place
) -> PromptCase:
    """The case of a row. Messages and parameters are no part of its definition: they are what is evaluated."""
    judged_by = [
        each.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude={"llm": {"model_id"}})
        for each in evaluators
    ]
    words = {"words": WORDS_VERSION} if any(each.uses for each in evaluators) else {}
    definition = digest({"values": dict(values), "evaluators": judged_by, **words})
    return PromptCase(
        id=id_, category=file, definition=definition, place=place, values=dict(values), evaluators=list(evaluators)
    )
