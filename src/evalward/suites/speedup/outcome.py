"""From what became of an agent on a task to the result of a trial."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from evalward.records.result import CheckResult, Details, Result, Status
from evalward.records.trace import Usage
from evalward.render.numbers import plural
from evalward.suites.speedup.details import SpeedupDetails

SHOWN_NOTES = 2


class SpeedupReason(StrEnum):
    """Why a trial did not pass."""

    TESTS = "tests_failed"
    SNAPSHOT = "snapshot_failed"
    FORGED = "forged_times"
    NO_RESULT = "no_result"
    NO_VALID = "no_valid_benchmark"
    NO_BENCHMARKS = "no_benchmarks"


@dataclass(frozen=True)
class TaskId:
    """Which trial of which task."""

    id: str
    category: str
    definition: str
    trial: int = 1


def make_result(
    task: TaskId,
    details: SpeedupDetails,
    *,
    usage: Usage = Usage(),  # noqa: B008 - a frozen record
    duration_ms: int = 0,
    skipped: bool = False,
) -> Result:
    """The result of a trial that left something to read.

    Without one valid benchmark a trial that didn't fail is an error: nothing was measured. A result of the older form
    has none by its nature; its tests and snapshots are judged all the same.
    """
    status, reason, message = _ended(details, skipped)
    checks = _checks(details) if status in {Status.PASSED, Status.FAILED} else []
    return Result(
        id=task.id,
        category=task.category,
        definition=task.definition,
        trial=task.trial,
        status=status,
        score=float(sum(check.passed for check in checks)),
        max_score=float(len(checks)),
        checks=checks,
        usage=usage,
        duration_ms=duration_ms,
        reason=reason,
        message=message,
        details=details,
    )


def _ended(details: SpeedupDetails, skipped: bool) -> tuple[Status, SpeedupReason | None, str | None]:
    if skipped:
        return Status.SKIPPED, SpeedupReason.NO_BENCHMARKS, "the task has no benchmark"
    if not details.success:
        reason = _failed(details)
        failing = [check.detail for check in _checks(details) if not check.passed]
        notes = [_first_line(note) for note in details.notes if note.startswith(("TESTS:", "BENCHMARKS:", "TIMES:"))]
        return Status.FAILED, reason, "; ".join([*failing, *notes[:SHOWN_NOTES]])
    if not details.benchmarks:
        notes = [note for note in details.notes if note.startswith("RESULT:")]
        return Status.ERROR, SpeedupReason.NO_RESULT, "; ".join(notes) or "no benchmark was measured"
    if not details.num_valid_benchmarks and details.legacy_percentage is None:
        return Status.ERROR, SpeedupReason.NO_VALID, _no_valid(details.num_benchmarks)
    return Status.PASSED, None, None


def _no_valid(benchmarks: int) -> str:
    if benchmarks == 1:
        return "the only benchmark has no valid speedup"
    return f"none of the {benchmarks:,} benchmarks has a valid speedup"


def _first_line(note: str) -> str:
    """What happened; what was printed then is evidence of its own."""
    return note.split("\n", maxsplit=1)[0].rstrip(":")


def _failed(details: SpeedupDetails) -> SpeedupReason:
    if details.pytest_failed:
        return SpeedupReason.TESTS
    return SpeedupReason.SNAPSHOT if details.snapshot_failed else SpeedupReason.FORGED


def _checks(details: SpeedupDetails) -> list[CheckResult]:
    tests, snapshot = details.pytest_summary, details.snapshot_summary
    tested = f"{tests.passed} passed, {tests.failed} failed, {plural(tests.error, 'error')}"
    compared = f"{snapshot.passed} passed, {snapshot.pass_to_fail} passed before and fail now"
    unread = {"missing": "the results are missing", "invalid": "the results can't be read"}
    forged = [CheckResult(check="times", passed=False, detail="they can't be true")] if details.times_forged else []
    return [
        CheckResult(check="tests", passed=not details.pytest_failed, detail=unread.get(tests.status, tested)),
        CheckResult(
            check="snapshots", passed=not details.snapshot_failed, detail=unread.get(snapshot.status, compared)
        ),
        *forged,
    ]


def as_failed(details: Details) -> Details:
    """The task with a change that broke its tests and made nothing faster."""
    if not isinstance(details, SpeedupDetails):
        return details
    slow = [benchmark.model_copy(update={"agent": 1.0}) for benchmark in details.benchmarks]
    return details.model_copy(update={"benchmarks": slow, "pytest_failed": True, "resolved": False})
