"""What a pass did not compare: "nothing got worse" is said only of what was."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.decide.rules import judged
from evalward.records.comparison import CaseChangeKind, Comparison, RunComparison

_SHOWN = 3  # runs that the sentence names

_WORDS: dict[CaseChangeKind, str] = {
    "added": "new",
    "redefined": "redefined",
    "not_valid": "without a valid trial",
    "missing": "missing",
}


def beside_compared(comparison: Comparison) -> str:
    """The end of a passing headline: `; not compared: 2 new cases, 1 of 12 cases was run`. Empty when all was."""
    if comparison.baseline is None:
        return ""
    told = [*_runs(comparison), *_cases(comparison), *_parts(comparison)]
    return f"; not compared: {', '.join(told)}" if told else ""


def _runs(comparison: Comparison) -> Iterator[str]:
    """Runs that only one side has, or that were not measured."""
    for word, runs in (
        ("new", [run.name for run in comparison.runs if run.added and judged(run)]),
        ("missing", [run.name for run in comparison.runs if run.missing]),
        ("not measured", [run.name for run in comparison.runs if run.not_measured is not None]),
    ):
        if runs:
            more = f" and {len(runs) - _SHOWN} more" if len(runs) > _SHOWN else ""
            yield f"{', '.join(runs[:_SHOWN])}{more} ({word})"


def _cases(comparison: Comparison) -> Iterator[str]:
    """Cases of the runs that both sides have."""
    known = [run for run in comparison.runs if judged(run) and not run.added]
    for change, word in _WORDS.items():
        count = sum(len(run.of(change)) for run in known)
        if count:
            yield f"{count:,} {'case' if count == 1 else 'cases'} {_that(word, count)}"


def _that(word: str, count: int) -> str:
    """`that is new`, `without a valid trial`."""
    return word if word.startswith("without") else f"that {'is' if count == 1 else 'are'} {word}"


def _parts(comparison: Comparison) -> Iterator[str]:
    """How many cases a selection left out."""
    parts = [run for run in comparison.runs if run.whole is not None]
    left = sum(_left(run) for run in parts)
    if left:
        yield f"{left:,} {'case' if left == 1 else 'cases'} that {'was' if left == 1 else 'were'} not chosen"


def _left(run: RunComparison) -> int:
    return max(0, (run.whole or 0) - run.total)
