"""The mistakes of result files that don't say what passes, or don't have the score that was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalward.records.problem import InputError, wrong
from evalward.records.result import Result
from evalward.suites.external.choice import ScoreChoice
from evalward.suites.external.details import ExternalDetails

_SHOWN = 8  # scores that a message names


def no_such_score(place: str, name: str, known: Sequence[str]) -> InputError:
    """No trial has the score of this name; `known` are those that there are."""
    remedy = f"Scores: {', '.join(known[:_SHOWN])}." if known else "Its trials have no score: leave the name out."
    return wrong(place, f"no trial has the score {name}", remedy)


def no_verdict(place: str, results: Sequence[Result], choice: ScoreChoice) -> InputError:
    """No trial says whether it passed: neither by itself, nor by the score that was chosen, which is a number."""
    if choice.scorer is not None:
        message = f"{choice.scorer} is a number, and no trial says which value passes"
        return wrong(place, message, f"Say from which value on: {_bound(choice.scorer)}.")
    names = list(dict.fromkeys(name for result in results for name in scores_of(result)))
    if not names:
        return wrong(place, "no trial says whether it passed, and none has a score", "Add a check, or a scorer.")
    rest = len(names) - _SHOWN
    shown = ", ".join(names[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
    message = f"no trial says by itself whether it passed; its scores are {shown}"
    return wrong(place, message, f"Say what passes: score: {names[0]}, or {_bound(names[0])}.")


def _bound(name: str) -> str:
    """How a least value of a score is written in a configuration and on the command line."""
    return f"score: {{{name}: 0.7}}; on the command line --score {name}=0.7"


def scores_of(result: Result) -> Iterator[str]:
    """The names of a result's scores."""
    yield from result.details.scores if isinstance(result.details, ExternalDetails) else ()
