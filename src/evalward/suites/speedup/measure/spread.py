"""How far times varied from round to round: told in every report, so that nobody takes noise for an effect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from evalward.records.report import Finding
from evalward.records.result import Result
from evalward.render.numbers import percent
from evalward.suites.speedup.findings import noise
from evalward.suites.speedup.payload import details_of

SHOWN = 3


def spread_findings(results: Sequence[Result]) -> Iterator[Finding]:
    """The spread of the speedups of a run, as shares: the median of its benchmarks, and the widest."""
    found = [
        (value, benchmark.name, len(benchmark.samples.agent) if benchmark.samples else 0)
        for result in results
        if result.valid
        for benchmark in details_of(result).benchmarks
        if (value := noise(benchmark)) is not None
    ]
    if not found:
        return
    widest = sorted(found, key=lambda each: (-each[0], each[1]))[:SHOWN]
    yield Finding(
        id="timing_spread",
        message=f"Speedups vary by chance by {percent(median(value for value, _, _ in found))} in the median benchmark",
        evidence="widest: "
        + ", ".join(f"{name[:80]} {percent(value)} of {count} samples" for value, name, count in widest),
    )
