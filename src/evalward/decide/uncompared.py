"""What a pass did not compare: "nothing got worse" is said only of what was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalward.decide.rules import judged
from evalward.decide.sentences import counted
from evalward.records.comparison import CaseChangeKind, Comparison, RunComparison

_SHOWN = 3  # runs that the sentence names

_WORDS: dict[CaseChangeKind, str] = {
    "added": "new",
    "redefined": "redefined",
    "not_valid": "without a valid trial",
    "missing": "missing",
}


def beside_compared(comparison: Comparison) -> str:
    """The end of a passing headline: `; not compared: 2 new cases (1 fails), 1 redefined case`. Empty when all was."""
    if comparison.baseline is None:
        return ""
    told = [*_runs(comparison), *_cases(comparison), *_parts(comparison)]
    return f"; not compared: {', '.join(told)}" if told else ""


def _runs(comparison: Comparison) -> Iterator[str]:
    """Runs that only one side has, or that were not measured."""
    for runs in (
        [_new_run(run) for run in comparison.runs if run.added and judged(run)],
        [f"{run.name} (missing)" for run in comparison.runs if run.missing],
        [f"{run.name} (not measured)" for run in comparison.runs if run.not_measured is not None],
    ):
        if runs:
            yield ", ".join(runs[:_SHOWN]) + (f" and {len(runs) - _SHOWN} more" if len(runs) > _SHOWN else "")


def _new_run(run: RunComparison) -> str:
    failing = len(run.new_failures)
    how = f"; {failing:,} of {counted(run.total, 'case')} fail{'s' if failing == 1 else ''}" if failing else ""
    return f"{run.name} (new{how})"


def _cases(comparison: Comparison) -> Iterator[str]:
    """Cases of the runs that both sides have."""
    known = [run for run in comparison.runs if judged(run) and not run.added]
    for change, word in _WORDS.items():
        count = sum(len(run.of(change)) for run in known)
        if not count:
            continue
        if change == "not_valid":
            yield f"{counted(count, 'case')} {word}"
        else:
            yield counted(count, f"{word} case") + (_failing(known, count) if change == "added" else "")


def _failing(runs: Sequence[RunComparison], new: int) -> str:
    """` (fails)`, ` (all fail)` or ` (2 fail)`, of so many new cases."""
    count = sum(len(run.new_failures) for run in runs)
    if not count:
        return ""
    how_many = "" if new == 1 else "all " if count == new else f"{count:,} "
    return f" ({how_many}{'fails' if count == 1 else 'fail'})"


def _parts(comparison: Comparison) -> Iterator[str]:
    """How many cases a selection left out."""
    parts = [run for run in comparison.runs if run.whole is not None]
    left = sum(_left(run) for run in parts)
    if left:
        yield f"{counted(left, 'case')} not chosen"


def _left(run: RunComparison) -> int:
    return max(0, (run.whole or 0) - run.total)
