"""What is fuzzed: a way in, its well-formed file, and what it may raise."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalward.records.problem import InputError
from support.fuzzing.mutation import Form, made_odd, written

LONGEST_MESSAGE = 4_000  # characters of one problem
MOST_PROBLEMS = 2_000


@dataclass(frozen=True)
class Reader:
    """`read` gets a file's bytes and a folder of its own; it raises nothing but `refusals`.

    `good` makes the file as values (of `form`), of which nothing is refused unless `always_refused`. `share` is how
    many damaged files of it the test suite reads: the dearer one is, the fewer.
    """

    name: str
    form: Form
    good: Callable[[], Any]
    read: Callable[[bytes, Path], object]
    refusals: tuple[type[Exception], ...] = (InputError,)
    share: int = 60
    always_refused: bool = False

    @property
    def slug(self) -> str:
        """Its name as a folder's."""
        return re.sub("[^a-z0-9]+", "-", self.name.lower())

    def whole(self) -> bytes:
        """The file as it should be."""
        good = self.good()
        if self.form == "text":
            return bytes(good)
        return ("\n".join(map(written, good)) if self.form == "jsonl" else written(good)).encode()

    def odd(self, seed: str) -> bytes:
        """The damaged file of a seed."""
        chance = random.Random(f"{self.name} {seed}")
        return made_odd(self.form, self.good(), chance)

    def attempt(self, data: bytes, folder: Path) -> bool:
        """Whether the file was read; raises what nobody may see."""
        try:
            self.read(data, folder)
        except self.refusals as error:
            if isinstance(error, InputError):
                can_be_told(error)
            return False
        return True


def can_be_told(error: InputError) -> None:
    """Problems that fit on a screen, one line each when they are shown."""
    assert 0 < len(error.problems) <= MOST_PROBLEMS, f"{len(error.problems)} problems"
    longest = max(error.problems, key=lambda problem: len(str(problem)))
    assert len(str(longest)) <= LONGEST_MESSAGE, f"a message of {len(str(longest))} characters: {str(longest)[:300]}"
