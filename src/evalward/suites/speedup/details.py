"""What is written down of one optimisation task by one agent: speedups per benchmark, tests, snapshots, levels.

All speedups are ratios of medians, nop / changed: above 1 is faster. `None` is not available, never 1.0 or 0.0.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field

from evalward.records.base import Amount, Count, Record
from evalward.records.result import Details

LARGEST = 1e15  # no speedup that was measured is larger
Number = Annotated[float, Field(ge=-LARGEST, le=LARGEST, allow_inf_nan=False)]
"""A ratio or a difference of ratios; zero and negative ones are kept as they were told."""

Role = Literal["nop", "oracle", "agent"]
"""The untouched code, the human patch, or who is evaluated."""

BlockStatus = Literal["passed", "failed", "missing", "invalid"]

LEVELS = ("module", "class", "function", "overall")
"""The four levels by word, in the specification's order: level 1 is the first."""

INCREDIBLE = 100
"""Times as fast as with the human patch."""

KEPT_SAMPLES = 30
"""Timing samples per benchmark and side that a baseline keeps."""


class Samples(Record):
    """Timing samples of one benchmark in seconds, in the order in which they were taken."""

    nop: list[Amount] = []
    oracle: list[Amount] = []
    agent: list[Amount] = []

    def bounded(self) -> Samples:
        """At most `KEPT_SAMPLES` of each, spread evenly over the order, so that a drift stays in them."""
        return Samples(nop=_spread(self.nop), oracle=_spread(self.oracle), agent=_spread(self.agent))


def _spread(samples: list[float]) -> list[float]:
    count = len(samples)
    if count <= KEPT_SAMPLES:
        return samples
    return [samples[number * (count - 1) // (KEPT_SAMPLES - 1)] for number in range(KEPT_SAMPLES)]


class BenchmarkSpeed(Record):
    """One benchmark: the values that count (`agent` is agent/nop, `oracle` is oracle/nop), and what is behind them.

    After a fallback `agent` is 1.0, `raw_agent` and `raw_oracle` keep what was measured, as far as that is known, and
    `resurrected` says that the measurement itself gave no valid pair. Medians are seconds.
    """

    name: str
    agent: Number | None = None
    oracle: Number | None = None
    raw_agent: Number | None = None
    raw_oracle: Number | None = None
    resurrected: bool = False
    nop_median: Amount | None = None
    oracle_median: Amount | None = None
    agent_median: Amount | None = None
    samples: Samples | None = None

    @property
    def valid(self) -> bool:
        """Both ratios are there and above 0."""
        return self.agent is not None and self.oracle is not None and self.agent > 0 and self.oracle > 0

    @property
    def incredible(self) -> bool:
        """Valid, and so much faster than with the human patch that somebody should read the change first."""
        return self.valid and (self.agent or 0.0) > INCREDIBLE * (self.oracle or 0.0)

    @property
    def advantage(self) -> float | None:
        """agent/nop − oracle/nop, a difference of ratios; above 0 beats the oracle."""
        return self.agent - self.oracle if self.agent is not None and self.oracle is not None else None


class PytestSummary(Record):
    """Counts of the task's tests. `missing` and `invalid`: nothing is known, which is a failure."""

    passed: Count = 0
    failed: Count = 0
    error: Count = 0
    skipped: Count = 0
    total: Count = 0
    status: BlockStatus = "missing"

    @property
    def failed_total(self) -> int:
        """Failed tests and errors."""
        return self.failed + self.error

    @property
    def ran(self) -> int:
        """Tests that were run to some end; skipped ones were not."""
        return self.passed + self.failed_total

    @property
    def counted(self) -> bool:
        """True when the counts say something: an agent's failures may be held against them."""
        return self.status == "passed" or self.failed_total > 0


class SnapshotSummary(Record):
    """How outputs compare with those before the change. `pass_to_fail`: were equal before, and no longer are."""

    pass_to_fail: Count = 0
    passed: Count = 0
    failed: Count = 0
    skipped: Count = 0
    total: Count = 0
    status: BlockStatus = "missing"


class LevelAdvantage(Record):
    """The advantage at one level: the mean over so many groups."""

    advantage: Number | None = None
    groups: Count = 0


class SpeedupDetails(Details):
    """What the metrics of a `speedup` trial need: one task by one agent.

    `success`: neither tests nor snapshots failed, by the rules of the merge over agents, and `times_forged` doesn't say
    that what was told of times contradicts the clock, or what the code gave while they were taken. `resolved` is the
    verdict of the run alone: a test that fails for the oracle too counts against it. `levels` are the four advantages
    in the order of `LEVELS`, empty where no benchmark is valid. `oracle_failed` is `None` where no oracle is known.
    `legacy_percentage` is the mean speedup in per cent that a result of the older form tells.
    """

    kind: Literal["speedup"] = "speedup"
    role: Role = "agent"
    benchmarks: list[BenchmarkSpeed] = []
    pytest_summary: PytestSummary = PytestSummary()
    snapshot_summary: SnapshotSummary = SnapshotSummary()
    pytest_failed: bool = False
    snapshot_failed: bool = False
    times_forged: bool = False
    fallback_to_baseline: bool = False
    resolved: bool = False
    oracle_failed: bool | None = None
    task_speedup: Number | None = None
    levels: list[LevelAdvantage] = []
    trajectory_length: Count | None = None
    legacy_percentage: Number | None = None
    notes: list[str] = []

    @property
    def success(self) -> bool:
        """Neither tests nor snapshots failed, and no time was forged."""
        return not self.pytest_failed and not self.snapshot_failed and not self.times_forged

    @property
    def num_benchmarks(self) -> int:
        """All benchmarks that were told, malformed ones too."""
        return len(self.benchmarks)

    @property
    def num_valid_benchmarks(self) -> int:
        """Those with two valid ratios."""
        return sum(benchmark.valid for benchmark in self.benchmarks)

    @property
    def agent_advantage(self) -> float | None:
        """The advantage over all benchmarks: level 4."""
        return self.levels[-1].advantage if self.levels else None

    @property
    def oracle_speedup(self) -> float | None:
        """The oracle's geometric mean over the benchmarks that are valid."""
        found = [b.oracle for b in self.benchmarks if b.valid and b.oracle is not None]
        return math.exp(math.fsum(map(math.log, found)) / len(found)) if found else None

    def summary(self) -> SpeedupDetails:
        """The part that a baseline keeps: numbers and names of benchmarks, no other text, samples bounded."""
        kept = [
            b if b.samples is None else b.model_copy(update={"samples": b.samples.bounded()}) for b in self.benchmarks
        ]
        return self.model_copy(update={"benchmarks": kept, "notes": []})
