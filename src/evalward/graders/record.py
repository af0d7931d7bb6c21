"""What a grader is given and what it answers. The grader's own process loads this: the standard library alone."""

from __future__ import annotations

import math
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Call:
    """One tool call: the script, what it printed, and its exit code, `None` where that is unknown."""

    commands: str
    stdout: str
    stderr: str
    exit_code: int | None


@dataclass(frozen=True)
class Graded:
    """One trial, as a grader sees it. Nothing in it can be changed.

    `case` has all keys of the case as its file has them. `said`: the texts of the target's messages, in order.
    `files`: a copy of the folder that relative paths count from; `elsewhere`: a copy of what lies at other absolute
    paths, below a folder that stands for `/`; `home`: what `files` was called where the target worked. `left_out`:
    files that could not be copied.
    """

    id: str
    category: str
    prompt: str
    case: Mapping[str, Any]
    said: tuple[str, ...]
    calls: tuple[Call, ...]
    files: Path
    elsewhere: Path
    home: str
    left_out: int = 0

    @property
    def answer(self) -> str:
        """The last text of the target, empty where it said nothing."""
        return self.said[-1] if self.said else ""

    def path(self, name: str) -> Path:
        """Where the copy of a file lies that the target knew by this name, relative or absolute."""
        return Path(place_of(name, self.home, str(self.files), str(self.elsewhere)))

    def text(self, name: str) -> str | None:
        """A file's text, `None` where there is none. Bytes that are not UTF-8 become replacement characters."""
        try:
            return self.path(name).read_text("utf-8", "replace")
        except (OSError, ValueError):
            return None


def place_of(name: str, home: str, files: str, elsewhere: str) -> str:
    """Where the copy of a path lies: below `files` what is in the folder `home`, below `elsewhere` all other paths."""
    whole = posixpath.normpath(posixpath.join(home, name))
    if whole == home or whole.startswith(home + "/"):
        return posixpath.join(files, whole[len(home) + 1 :])
    return posixpath.join(elsewhere, whole.lstrip("/"))


@dataclass(frozen=True)
class Grade:
    """A grader's answer. `score` from 0 to 1 is the share of the check's weight, by default all or nothing."""

    passed: bool
    score: float | None = None
    detail: str = ""


def graded_of(data: Mapping[str, Any]) -> Graded:
    """The record that JSON data describe."""
    return Graded(
        id=data["id"],
        category=data["category"],
        prompt=data["prompt"],
        case=_frozen(data["case"]),
        said=tuple(data["said"]),
        calls=tuple(Call(**call) for call in data["calls"]),
        files=Path(data["files"]),
        elsewhere=Path(data["elsewhere"]),
        home=data["home"],
        left_out=data["left_out"],
    )


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return MappingProxyType({key: _frozen(inner) for key, inner in value.items()})
    return tuple(_frozen(inner) for inner in value) if isinstance(value, list) else value


def grade_of(answer: Any) -> Grade:
    """What a grader answered: a boolean, a number, a `Grade` or a mapping like one. Raises `ValueError`."""
    if isinstance(answer, bool):
        return Grade(answer)
    if isinstance(answer, Real):
        score = _share(answer)
        return Grade(score == 1.0, score)
    if isinstance(answer, Mapping):
        return _grade(answer.get("passed"), answer.get("score"), answer.get("detail") or "")
    if isinstance(answer, Grade):
        return _grade(answer.passed, answer.score, answer.detail)
    raise ValueError(f"it answered {type(answer).__name__}, and not a boolean, a number from 0 to 1 or a Grade")


def _grade(passed: Any, score: Any, detail: Any) -> Grade:
    if not isinstance(passed, bool):
        raise ValueError(f"`passed` in its answer is {type(passed).__name__}, and not a boolean")
    if not isinstance(detail, str):
        raise ValueError(f"`detail` in its answer is {type(detail).__name__}, and not a text")
    return Grade(passed, None if score is None else _share(score), detail)


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"`score` in its answer is {type(value).__name__}, and not a number")
    try:
        score = float(value)
    except OverflowError:
        score = math.inf
    if not 0.0 <= score <= 1.0:  # false for NaN, too
        raise ValueError(f"its score is {score:g}, and not from 0 to 1")
    return score


def last_lines(lines: Sequence[str], most: int) -> str:
    """The last lines that say something, in one."""
    stripped = [line.strip() for line in "\n".join(lines).splitlines() if line.strip(" ^~\t")]
    return " / ".join(stripped[-most:])
