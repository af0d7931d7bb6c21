"""Trials as readers give them, and results made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalward.records.result import Result, Status
from evalward.suites.external.formats.base import ForeignResults, ForeignTrial, Score
from evalward.suites.external.results import ExternalResults, Reading, read_results

PLACE = "logs/bot.eval"


def foreign(case: str = "a", status: str | None = "passed", **more: Any) -> ForeignTrial:
    """A trial of a case; `scores` may be numbers."""
    scores: Mapping[str, Any] = more.pop("scores", {})
    known = {name: each if isinstance(each, Score) else Score(value=each) for name, each in scores.items()}
    more.setdefault("asked", {"prompt": case})
    return ForeignTrial(case=case, status=None if status is None else Status(status), scores=known, **more)


def read(*trials: ForeignTrial, how: Reading | None = None, **more: Any) -> ExternalResults:
    """What a report has of trials in one file."""
    return read_results([ForeignResults(trials, **more)], how or Reading("inspect", suite="bot"), PLACE)


def results(*trials: ForeignTrial, how: Reading | None = None) -> list[Result]:
    """The results of the only run."""
    (run,) = read(*trials, how=how).runs
    return run.results
