"""Whose doing it is when a trial breaks whose target had begun: a provider's, the harness's, or the target's own."""

from __future__ import annotations

import errno

from evalward.records.base import clean_text, why_of
from evalward.records.result import Status
from evalward.records.trace import Trace
from evalward.suites.base import TrialBrokenError
from evalward.targets.failures import Cause, TargetError

HARNESS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""What a machine runs out of, whoever uses it."""


def blameless(trace: Trace, error: Exception, *, lost: bool = False) -> TrialBrokenError | None:
    """The error of a trial that a provider or the harness broke; `None` where it is the target's own failure.

    The target had begun: whatever can't be read, copied or judged of what it did and left is its doing, unless the
    sandbox itself is `lost` or the machine has run out of something. A provider's fault stays one.
    """
    if isinstance(error, TargetError):
        if error.rule.counted is Status.FAILED:
            return None
        return TrialBrokenError(trace, error.cause, error.message, stops_run=error.rule.stops_run, begun=True)
    if lost or _ran_out(error):
        return TrialBrokenError(trace, Cause.SANDBOX, clean_text(str(error)), begun=True)
    return None


def _ran_out(error: BaseException | None) -> bool:
    for _ in range(10):
        if error is None:
            return False
        if isinstance(error, OSError) and error.errno in HARNESS:
            return True
        error = error.__cause__
    return False


def unreadable(error: Exception) -> str:
    """The message of such a failure: what could not be read, and why."""
    why = error.message if isinstance(error, TargetError) else why_of(error)
    return f"what the target did or left can't be read or judged: {why}"
