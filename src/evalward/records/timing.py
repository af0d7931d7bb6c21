"""Benchmarks of which both sides of a comparison keep samples: which of them got slower."""

from __future__ import annotations

from evalward.records.base import Record


class SlowerBenchmark(Record):
    """One benchmark that takes longer than in the baseline.

    `factor`: median now to median before, of times as shares of the untouched code's in the same round, so that a
    slower machine is no slower benchmark; or as shares of the human patch's, where these say less against the change,
    so that another interpreter is none either. `p`: of Mann and Whitney's test, one-sided.
    """

    case: str
    benchmark: str
    factor: float
    p: float


class Timings(Record):
    """How many benchmarks were tested, how many had too few samples for it, and which are slower, the worst first.

    `suspected`: so many more look slower, and chance can't be excluded.
    """

    tested: int
    suspected: int = 0
    untestable: int = 0
    slower: list[SlowerBenchmark] = []
