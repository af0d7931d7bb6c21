"""Which trials count in which of the specification's numbers, in a report as in an export."""

from __future__ import annotations

from evalward.records.result import Result
from evalward.suites.speedup.outcome import SpeedupReason
from evalward.suites.speedup.payload import details_of


def has_metrics(result: Result) -> bool:
    """Whether a trial has a part in the metrics per agent: it told of benchmarks, or failed.

    A task without a valid benchmark is an error, and counts as unchanged all the same, as in FC-Eval.
    """
    return result.valid or result.reason == SpeedupReason.NO_VALID


def is_resolved(result: Result) -> bool:
    """The verdict of the run alone, as `accuracy` and pass@k count it: of a trial without metrics none that is good."""
    return has_metrics(result) and details_of(result).resolved
