"""How a failure crosses the boundary: as a record, and on the other side as the exception that it was."""

from __future__ import annotations

import traceback
from typing import Literal

from evalward.records.base import Record, clean_text, why_of
from evalward.records.problem import InputError, Problem
from evalward.targets.failures import Cause, TargetError
from evalward.wire.errors import InterruptedRunError, OtherSideError, RemoteFilesError
from evalward.wire.reading import BrokenMessageError, read

MESSAGE_LIMIT, TRACEBACK_LIMIT = 4000, 20_000  # characters
MOST_BYTES, MOST_VALUES = 16 << 20, 100_000  # of a failure: some thousand problems of a user's files


class WireFault(Record):
    """A failure. `input`: the user's mistake; `target`: nobody answered; `remote`: a commit's files can't be read;
    `system`: the operating system refused, with its number; `ours`: anything else, whose traceback is the `log`.
    """

    kind: Literal["input", "target", "remote", "system", "interrupted", "ours"] = "ours"
    message: str = ""
    problems: list[Problem] = []
    cause: str = ""
    target: str = ""
    retry_after: float | None = None
    number: int | None = None
    log: str = ""


def fault_of_error(error: BaseException) -> WireFault:
    """The record of an exception."""
    message = clean_text(str(error))[:MESSAGE_LIMIT]
    if isinstance(error, InputError):
        return WireFault(kind="input", problems=list(error.problems))
    if isinstance(error, TargetError):
        return WireFault(
            kind="target",
            message=clean_text(error.message),
            cause=error.cause,
            target=error.target,
            retry_after=error.retry_after,
        )
    if isinstance(error, KeyboardInterrupt):
        return WireFault(kind="interrupted")
    if isinstance(error, OSError) and error.errno is not None:
        return WireFault(kind="system", message=error.strerror or message, number=error.errno)
    if isinstance(error, RemoteFilesError):
        return WireFault(kind="remote", message=message)
    log = clean_text("".join(traceback.format_exception(error)))
    return WireFault(message=why_of(error), log=log[-TRACEBACK_LIMIT:])


def error_of(data: bytes) -> Exception:
    """The exception of a failure that came over the wire, whatever it says."""
    try:
        fault = read(WireFault, data[: MOST_BYTES + 1], MOST_VALUES)  # what is cut off is no JSON any more
    except BrokenMessageError:
        return OtherSideError("a failure that can't be read")
    if fault.kind == "input" and fault.problems:
        return InputError(fault.problems)
    if fault.kind == "target" and fault.cause in set(Cause):
        return TargetError(Cause(fault.cause), fault.message, target=fault.target, retry_after=fault.retry_after)
    if fault.kind == "system" and fault.number is not None:
        return OSError(fault.number, fault.message)
    if fault.kind == "remote":
        return RemoteFilesError(fault.message)
    return InterruptedRunError() if fault.kind == "interrupted" else _of_other_side(fault)


def _of_other_side(fault: WireFault) -> OtherSideError:
    """What it says can get into a report. Its traceback is for a log file, which has the notes of an error."""
    error = OtherSideError(fault.message)
    if fault.log:
        error.add_note(fault.log)
    return error
