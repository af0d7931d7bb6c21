"""A run of one model, where the trials that broke before the first answer don't name it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evalward.suites.external.formats.base import ForeignTrial


def with_one_target(trials: Sequence[ForeignTrial]) -> Sequence[ForeignTrial]:
    """The trials, each of the one target that any of them names: an error must not stand in a run of its own."""
    targets = {trial.target for trial in trials if trial.target}
    if len(targets) != 1:
        return trials
    target = targets.pop()
    return [trial if trial.target else replace(trial, target=target) for trial in trials]
