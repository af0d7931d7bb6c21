"""Which score decides whether a trial passed: the harness's own verdict, one scorer, or thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from evalward.records.result import Status
from evalward.render.numbers import format_number
from evalward.suites.external.formats.base import ForeignTrial, Score

UNJUDGED = "unjudged"
"""The reason of a trial that nothing says of whether it passed: an error of the harness, never a failure."""
SCORER_BROKE = "scorer_error"
"""The reason of a trial whose deciding score is missing because its scorer broke."""
OUT_OF_BOUNDS = "score_out_of_bounds"


class Ending(NamedTuple):
    """How a trial ended, with the reason of one that didn't pass."""

    status: Status
    reason: str | None = None
    message: str = ""


@dataclass(frozen=True)
class Bounds:
    """What a score has to be to pass: at least, at most, or both; both ends belong to it."""

    least: float | None = None
    most: float | None = None

    def hold(self, value: float) -> bool:
        """Whether a value is within."""
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def __str__(self) -> str:
        ends = [("at least", self.least), ("at most", self.most)]
        return " and ".join(f"{words} {end:g}" for words, end in ends if end is not None)


@dataclass(frozen=True)
class ScoreChoice:
    """What a suite says in `score`: nothing, a scorer's name, or by scorers' names what passes; all of them have to."""

    scorer: str | None = None
    bounds: Mapping[str, Bounds] = field(default_factory=dict)

    @property
    def names(self) -> Sequence[str]:
        """The scorers that are named."""
        return [self.scorer] if self.scorer is not None else list(self.bounds)

    def ending(self, trial: ForeignTrial) -> Ending:
        """How a trial ended. What broke or wasn't run stays so: no score makes an answer of it."""
        if trial.status in {Status.ERROR, Status.SKIPPED} or not self.names:
            return _native(trial)
        endings = [self._by(name, trial.scores.get(name)) for name in self.names]
        ending = min(endings, key=lambda one: _GRAVITY.index(one.status))
        if ending.status is Status.PASSED or ending.message:
            return ending
        return Ending(ending.status, trial.reason or ending.reason, trial.message)  # such as the limit that it met

    def _by(self, name: str, score: Score | None) -> Ending:
        if score is None:
            return Ending(Status.ERROR, UNJUDGED, f"the trial has no score {name}")
        if score.error is not None:
            return Ending(Status.ERROR, SCORER_BROKE, f"{name}: {score.error}")
        if name in self.bounds:
            return _against(name, score, self.bounds[name])
        if score.passed is None:
            return Ending(Status.ERROR, UNJUDGED, f"the score {name} doesn't say what passes")
        return Ending(Status.PASSED) if score.passed else Ending(Status.FAILED, "failed", score.reason)


_GRAVITY = (Status.FAILED, Status.ERROR, Status.SKIPPED, Status.PASSED)
"""Of several scores that decide, the first of these: one that really failed is believed beside one that broke."""


def _native(trial: ForeignTrial) -> Ending:
    if trial.status is not None:
        return Ending(trial.status, trial.reason, trial.message)
    return Ending(Status.ERROR, trial.reason or UNJUDGED, trial.message or "its file has neither pass nor fail")


def _against(name: str, score: Score, bounds: Bounds) -> Ending:
    if score.value is None:
        return Ending(Status.ERROR, UNJUDGED, f"the score {name} has no value")
    if bounds.hold(score.value):
        return Ending(Status.PASSED)
    limits = [end for end in (bounds.least, bounds.most) if end is not None]
    return Ending(
        Status.FAILED, OUT_OF_BOUNDS, f"{name} is {format_number(score.value, 'score', limits)}, not {bounds}"
    )
