"""What the scorers of inspect say: letters, numbers, words, or a value by name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from math import isfinite
from types import MappingProxyType
from typing import Any

from evalward.suites.external.formats.base import Score
from evalward.suites.external.formats.values import text

LETTERS: Mapping[str, float] = MappingProxyType({"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0})
"""Correct, partial, incorrect, no answer."""
WORDS: Mapping[str, bool] = MappingProxyType({"yes": True, "true": True, "no": False, "false": False})
UNSCORED = "it gave no score"


def scores_of(row: Mapping[str, Any], graded: Collection[str]) -> dict[str, Score]:
    """The scores of a sample by name, those of a scorer with a value by name as `scorer.name`.

    `graded` are the scores whose numbers are degrees: only a threshold says which of them pass.
    """
    return {name: _score(value, reason, name in graded) for name, value, reason in _values(row)}


def graded_in(rows: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """The scores of a log that have a number other than 0 and 1 somewhere: degrees, and no verdicts."""
    return frozenset(
        name for row in rows for name, value, _ in _values(row) if (_number(value) or 0.0) not in {0.0, 1.0}
    )


def scored_by(row: Mapping[str, Any]) -> Iterator[str]:
    """The names of the scores of a sample."""
    return (name for name, _, _ in _values(row))


def _values(row: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    scores = row.get("scores")
    for name, score in scores.items() if isinstance(scores, dict) else ():
        if isinstance(score, dict):
            yield from _parts(name, score.get("value"), text(score.get("explanation")))


def _parts(name: str, value: Any, reason: str) -> Iterator[tuple[str, Any, str]]:
    """A scorer's value, or each of those that it gives by name or in a list."""
    if isinstance(value, dict):
        for part, inner in value.items():
            yield f"{name}.{part}", inner, reason
    elif isinstance(value, list):
        for number, inner in enumerate(value, 1):
            yield f"{name}.{number}", inner, reason
    else:
        yield name, value, reason


def _score(value: Any, reason: str, graded: bool) -> Score:
    if isinstance(value, bool):
        return Score(float(value), value, reason=reason)
    if isinstance(value, str) and value in LETTERS:
        return Score(LETTERS[value], value == "C", reason=reason)
    if isinstance(value, str) and value.lower() in WORDS:
        passed = WORDS[value.lower()]
        return Score(float(passed), passed, reason=reason)
    number = _number(value)
    if number is not None:
        return Score(number, None if graded else number == 1.0, reason=reason)
    if isinstance(value, str):
        return Score(error=f"{value[:100]!r} is neither a number nor C, P, I or N", reason=reason)
    return Score(error=f"{UNSCORED}: {reason}" if reason else UNSCORED, reason=reason)


def _number(value: Any) -> float | None:
    """The number that a value is, or is the text of. `None` for letters, words, NaN and what is infinite."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) else None
