"""What earlier runs of the check said of the same commit: a small record of numbers and digests, no words.

It stands in our own comment, which others may be able to edit: everything in it is bounded, and it only ever makes a
verdict stricter.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import Field

from evalward.records.base import StrictRecord
from evalward.records.verdict import Outcome

MOST_TRIES = 10
MOST_TRIALS = 40  # of one case in one try: a confirm stage makes 20 at most
Key = Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")]
"""The start of a digest: what it is of can be looked up by whoever knows it, and by nobody else."""

_Few = Annotated[int, Field(ge=0, le=MOST_TRIALS)]


class Ends(NamedTuple):
    """A case's valid trials in one try: how many passed, and how many didn't."""

    passed: _Few
    failed: _Few

    @property
    def valid(self) -> int:
        """All of them."""
        return self.passed + self.failed


class TriedRun(StrictRecord):
    """One run (suite × target) of a try: `subject` and `cases` (ids and definitions) say what was measured.

    `fresh` are the trials of the confirm stage, by case: the cases were chosen by what failed before, so that these
    trials are a fair sample.
    """

    subject: Key
    cases: Key
    fresh: dict[Key, Ends] = Field(default={}, max_length=2000)


class Try(StrictRecord):
    """One run of the check on a commit: the workflow's `run` and `attempt`, and what came of it.

    `rules` tells policy and baseline that judged it from all others. `runs` are by suite and target; there are none
    where nothing was measured, or too much to be kept.
    """

    run: Annotated[int, Field(ge=0, lt=10**18)]
    attempt: Annotated[int, Field(ge=0, lt=10**9)]
    outcome: Outcome
    rules: Key | None = None
    runs: dict[Key, TriedRun] = Field(default={}, max_length=200)

    @property
    def number(self) -> tuple[int, int]:
        """What orders tries, and tells them apart."""
        return self.run, self.attempt


class Tries(StrictRecord):
    """The tries of one commit, oldest first."""

    tries: list[Try] = Field(default=[], max_length=MOST_TRIES)
