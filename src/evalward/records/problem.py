"""A user's mistake: where it is, what is wrong, what to do."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Annotated

from pydantic import AfterValidator

from evalward.records.base import Record

MOST_PROBLEMS = 1000
"""Of one failure; whoever has more gave another file than they meant."""


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _cut(most: int) -> AfterValidator:
    """A text of at most so many characters: what is wrong may be the length of something that the text quotes."""
    return AfterValidator(lambda text: _short(text, most))


class Place(Record):
    """A place in a file that people write: path as the user gave it, line counted from 1."""

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


class Problem(Record):
    """One mistake, told in one line: `file:line: field: what is wrong. What to do.`"""

    place: Place
    message: Annotated[str, _cut(1500)]
    remedy: Annotated[str, _cut(1000)] = ""
    field: Annotated[str, _cut(300)] = ""

    def __str__(self) -> str:
        place = _short(str(self.place), 1000)
        where = f"{place}: {self.field}: " if self.field else f"{place}: "
        end = "" if self.message.endswith((".", "!", "?")) else "."
        return f"{where}{self.message}{end} {self.remedy}".rstrip()

    def but(self, **other: object) -> Problem:
        """The same with other fields, as short as in any other problem: `model_copy` would cut nothing."""
        return Problem.model_validate({**dict(self), **other})


class InputError(Exception):
    """The input is wrong (exit code 2): one or more problems, all of them told at once."""

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        found = [problems] if isinstance(problems, Problem) else list(islice(problems, MOST_PROBLEMS + 1))
        if len(found) > MOST_PROBLEMS:
            found[-1] = Problem(place=found[0].place, message="there are more problems, which are not shown")
        self.problems: Sequence[Problem] = tuple(found)
        super().__init__("\n".join(map(str, found)))


class NoRoomError(InputError):
    """A file can't be written for want of room, which is no mistake of the input (exit code 3)."""


_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def unwritable(file: str, error: OSError, remedy: str) -> InputError:
    """Why a file can't be written."""
    problem = Problem(place=Place(file=file), message=f"can't be written: {error.strerror or error}", remedy=remedy)
    if error.errno in _NO_ROOM:
        return NoRoomError(problem.but(remedy="Make room on its disk, and run it again."))
    return InputError(problem)


def wrong(file: str, message: str, remedy: str = "", *, line: int | None = None, field: str = "") -> InputError:
    """An `InputError` of one problem."""
    return InputError(Problem(place=Place(file=file, line=line), message=message, remedy=remedy, field=field))
