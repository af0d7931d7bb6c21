"""What a code is: a name for programs, and typed parameters. Its sentence is made in `render.sentences`, alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

from evalward.records.base import Record


class Coded(Record):
    """Something that a verdict says. Equal parameters are equal, and can be hashed: lists are tuples."""

    code: str

    @property
    def named(self) -> Sequence[str]:
        """The ids of cases that its sentence names."""
        return ()


class OfRun(Coded):
    """Something about one run; a rule's says which run only where several have rules."""

    suite: str | None = None
    target: str | None = None

    @property
    def run(self) -> str:
        """`suite × target`."""
        return f"{self.suite} × {self.target}"

    def of(self, suite: str, target: str) -> Self:
        """The same, which says of which run."""
        return self.model_copy(update={"suite": suite, "target": target})


FIRST = 3
"""So many of several ids are named."""


class OfCases(OfRun):
    """Something about `count` cases of a run; `first` are the ids of the first three."""

    count: int
    first: tuple[str, ...]

    @property
    def named(self) -> Sequence[str]:
        """The first ones."""
        return self.first


class ForeignText(Coded):
    """A sentence that was written elsewhere: by a loader or an importer, or in a judgement without codes."""

    code: Literal["text"] = "text"
    text: str
