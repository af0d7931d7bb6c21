"""What a run says of its requests that went in batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalward.records.finding import Finding
from evalward.records.metric import Measurement
from evalward.records.result import Result
from evalward.records.trace import Usage, add_usage
from evalward.render.numbers import format_number, plural
from evalward.suites.base import Kind

BATCHES = "batches"


def findings_of(kind: Kind, results: Sequence[Result], measurement: Measurement) -> list[Finding]:
    """What the numbers of a run show: the kind's own findings, and what batches saved."""
    return [*kind.findings(results, measurement), *_saved(results)]


def _saved(results: Iterable[Result]) -> Iterable[Finding]:
    used = [usage for result in results for usage in (result.usage, result.judge_usage) if usage is not None]
    batched = [usage for usage in used if usage.batched]
    if batched:
        yield Finding(id=BATCHES, message=_told(add_usage(batched)))


def _told(used: Usage) -> str:
    count = used.batched or 0
    requests = f"{plural(count, 'request')} {'was' if count == 1 else 'were'} answered in batches, at half price"
    if not used.batch_usd:
        return requests
    return f"{requests}: {format_number(used.batch_usd, 'usd')} instead of {format_number(2 * used.batch_usd, 'usd')}"
