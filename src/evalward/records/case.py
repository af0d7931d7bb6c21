"""What all cases share, whatever their kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalward.records.base import StrictRecord
from evalward.records.blocks import block_text
from evalward.records.problem import Place
from evalward.records.trace import Message

NAMES = ("id", "category")
ELSEWHERE = "# From its suite, and from files that it names:"


class Case(StrictRecord):
    """One thing to evaluate.

    `id` is unique in its suite. `definition` is the hash of what the case asks and how it is judged: only
    cases of equal definition are compared. `place` is where it is written; it belongs to no hash.
    """

    id: str
    category: str
    definition: str
    place: Place

    def reference(self) -> list[Message]:
        """The assistant messages of the reference solution, for the target `oracle`; empty when there is none."""
        return []

    def solution_apart(self) -> list[str]:
        """The reference solution as far as the definition doesn't cover it, as texts: an edit of it changes who is
        evaluated under `oracle`, and for all others nothing.
        """
        return [message.model_dump_json() for message in self.reference()]

    @property
    def solved(self) -> bool:
        """Whether the target `oracle` has something to give."""
        return bool(self.reference())

    def is_for(self, target: str) -> bool:  # noqa: ARG002 - a kind may know better
        """Whether the case is meant for the target of this id. For another it is not planned, and not missing."""
        return True

    @property
    def file_parts(self) -> Sequence[str] | None:
        """The parts of its suite's files on which it depends, by the names of `Suite.parts_touched`; `None`: on all."""
        return None

    @property
    def sees_besides(self) -> str:
        """The hash of what it sees of what is evaluated and no part of the subject is; empty where that is nothing."""
        return ""

    def sees(self, part: str) -> bool:  # noqa: ARG002 - a kind may know better
        """Whether it depends on this part of the subject. Asked only of cases that depend on some of the files."""
        return True

    def written(self) -> dict[str, Any]:
        """The case as a case file has it, for whoever finds a trial without its suite."""
        return {"id": self.id, "category": self.category}

    def unnamed(self) -> dict[str, Any]:
        """The case as its file has it, without its names: its definition, which others may have too, has none."""
        return {key: value for key, value in self.written().items() if key not in NAMES}

    def taken_from_elsewhere(self) -> dict[str, Any]:
        """What its definition covers beyond its own text: settings of its suite, fingerprints of files, by name."""
        return {}


def case_text(case: Case) -> str:
    """What a case's definition stands for: the case as its file has it, and what it takes from elsewhere."""
    elsewhere = case.taken_from_elsewhere()
    return block_text(case.unnamed()) + (f"{ELSEWHERE}\n{block_text(elsewhere)}" if elsewhere else "")
