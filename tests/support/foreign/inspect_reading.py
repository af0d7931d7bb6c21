"""Logs of inspect as they are read, for tests of the reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalward.suites.external.formats.base import ForeignResults, ForeignTrial, format_named, recognised
from support.foreign.files import in_memory
from support.foreign.inspect import Logged, LoggedSample, scored


def read(content: str | bytes) -> ForeignResults:
    """The one run in a log, which is recognised by its content."""
    file = in_memory(content, "logs/a.eval")
    assert recognised(file) == "inspect"
    (results,) = format_named("inspect").read([file])
    return results


def trials(*samples: LoggedSample, **run: Any) -> Sequence[ForeignTrial]:
    """The trials of an archive of these samples."""
    return list(read(Logged(samples, **run).eval_log()).trials)


def only(sample: LoggedSample, **run: Any) -> ForeignTrial:
    """The trial that a sample is, alone in its log."""
    (trial,) = trials(sample, **run)
    return trial


def scores(**values: Any) -> dict[str, Any]:
    """Scores by their scorers' names."""
    return {name: scored(value) for name, value in values.items()}
