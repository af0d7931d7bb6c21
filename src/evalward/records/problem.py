"""A user's mistake: where it is, what is wrong, what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalward.records.base import Record


class Place(Record):
    """A place in a file that people write: path as the user gave it, line counted from 1."""

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


class Problem(Record):
    """One mistake, told in one line: `file:line: field: what is wrong. What to do.`"""

    place: Place
    message: str
    remedy: str = ""
    field: str = ""

    def __str__(self) -> str:
        where = f"{self.place}: {self.field}: " if self.field else f"{self.place}: "
        end = "" if self.message.endswith((".", "!", "?")) else "."
        return f"{where}{self.message}{end} {self.remedy}".rstrip()


class InputError(Exception):
    """The input is wrong (exit code 2): one or more problems, all of them told at once."""

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        found = [problems] if isinstance(problems, Problem) else list(problems)
        self.problems: Sequence[Problem] = tuple(found)
        super().__init__("\n".join(map(str, found)))


def wrong(file: str, message: str, remedy: str = "", *, line: int | None = None, field: str = "") -> InputError:
    """An `InputError` of one problem."""
    return InputError(Problem(place=Place(file=file, line=line), message=message, remedy=remedy, field=field))
