"""When an agent has failed, and what its failure does: the change counts as none at all.

Failure is decided where the agents of a task meet, on raw speedups: an agent that fails no more tests than the oracle
keeps its result. Only then, and for everybody but nop, the fallback replaces the speedups.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from evalward.suites.speedup.details import BenchmarkSpeed, PytestSummary, Role, SnapshotSummary, SpeedupDetails
from evalward.suites.speedup.levels import levels, task_speedup


def role_of(key: str) -> Role:
    """What the `agent` of `agent:model` is."""
    agent = key.partition(":")[0]
    return "nop" if agent == "nop" else "oracle" if agent == "oracle" else "agent"


def plain(text: str) -> str:
    """A name without case and punctuation: logs write `/` in models as `-`, and folders `:` and `.`, too."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def key_among(key: str, known: Sequence[str]) -> str:
    """The known `agent:model` that a key stands for: the same but for punctuation, or the only one of its agent.

    A key that stands for none of them stays as it is.
    """
    if key in known:
        return key
    agent = key.partition(":")[0]
    alike = [each for each in known if plain(each) == plain(key)]
    found = alike or [each for each in known if each.partition(":")[0] == agent]
    return found[0] if len(found) == 1 else key


@dataclass(frozen=True)
class PayloadFailure:
    """What a payload says of a failure that was decided elsewhere: its speedups may have been replaced already.

    `tolerated`: its failing tests were held against an oracle's and found no failure.
    """

    pytest_failed: bool = False
    snapshot_failed: bool = False
    fallback: bool = False
    tolerated: bool = False


@dataclass(frozen=True)
class FailureEvidence:
    """What is known of one agent on one task, before any failure is judged. `key` is `agent:model`, in full.

    `forged`: what it tells of its times contradicts the clock, or what it did while they were taken.
    """

    key: str
    benchmarks: Sequence[BenchmarkSpeed] = ()
    tests: PytestSummary = field(default_factory=PytestSummary)
    snapshot: SnapshotSummary = field(default_factory=SnapshotSummary)
    claimed: PayloadFailure = PayloadFailure()
    trajectory_length: int | None = None
    legacy_percentage: float | None = None
    notes: Sequence[str] = ()
    forged: bool = False

    @property
    def role(self) -> Role:
        """Nop, oracle or agent."""
        return role_of(self.key)


def pytest_failed(tests: PytestSummary, allowed: int = 0) -> bool:
    """Nothing is known of the tests, or more than `allowed` failed or broke."""
    return not tests.counted or tests.failed_total > allowed


def snapshot_failed(snapshot: SnapshotSummary) -> bool:
    """Nothing is known, or an output that was right before no longer is. One that never was is no failure."""
    return snapshot.status != "passed" or snapshot.pass_to_fail > 0


def resolved(evidence: FailureEvidence) -> bool:
    """The verdict of the run alone, without the oracle's failures in view."""
    return not pytest_failed(evidence.tests) and not snapshot_failed(evidence.snapshot) and not evidence.forged


def merge(agents: Iterable[FailureEvidence]) -> dict[str, SpeedupDetails]:
    """What became of each agent on one task, by its key. The oracle among them sets how many tests may fail.

    An oracle alone is no measure of itself: there any failing test is a failure, as of any agent alone.

    Raises `ValueError` when two have the same key.
    """
    by_key: dict[str, FailureEvidence] = {}
    for evidence in agents:
        if evidence.key in by_key:
            raise ValueError(f"two results are of {evidence.key}")
        by_key[evidence.key] = evidence
    several = len(by_key) > 1
    oracle = next((evidence for evidence in by_key.values() if several and evidence.role == "oracle"), None)
    return {key: _judged(evidence, oracle) for key, evidence in by_key.items()}


def _judged(evidence: FailureEvidence, oracle: FailureEvidence | None) -> SpeedupDetails:
    allowed = _allowed(evidence, oracle)
    payload = evidence.claimed if evidence.claimed.fallback else PayloadFailure()
    tests_bad = pytest_failed(evidence.tests, allowed) or payload.pytest_failed
    snapshot_bad = snapshot_failed(evidence.snapshot) or payload.snapshot_failed
    forged = evidence.forged and not tests_bad and not snapshot_bad  # what is wrong may be so while it is timed, too
    falls_back = ((tests_bad or snapshot_bad or forged) and evidence.role != "nop") or payload.fallback
    benchmarks = list(evidence.benchmarks)
    if falls_back:
        benchmarks = [fall_back(benchmark, replaced=payload.fallback) for benchmark in benchmarks]
    return SpeedupDetails(
        role=evidence.role,
        benchmarks=benchmarks,
        pytest_summary=evidence.tests,
        snapshot_summary=evidence.snapshot,
        pytest_failed=tests_bad,
        snapshot_failed=snapshot_bad,
        times_forged=forged,
        fallback_to_baseline=falls_back,
        resolved=resolved(evidence),
        oracle_failed=None if oracle is None else not resolved(oracle),
        task_speedup=task_speedup(benchmarks),
        levels=levels(benchmarks),
        trajectory_length=evidence.trajectory_length,
        legacy_percentage=evidence.legacy_percentage,
        notes=list(evidence.notes),
    )


def _allowed(evidence: FailureEvidence, oracle: FailureEvidence | None) -> int:
    """How many tests may fail: as many as the oracle's, or as were tolerated where the oracle isn't known here."""
    if oracle is not None:
        return oracle.tests.failed_total if oracle.tests.counted else 0
    return evidence.tests.failed_total if evidence.claimed.tolerated else 0


def fall_back(benchmark: BenchmarkSpeed, *, replaced: bool = False) -> BenchmarkSpeed:
    """The benchmark as if nothing had been changed: agent/nop 1.0.

    An oracle/nop that is no number becomes 1.0; zero and negative ones stay, and keep the benchmark invalid.
    `replaced`: the values were replaced before, and what was measured is not known.
    """
    oracle = 1.0 if benchmark.oracle is None else benchmark.oracle
    update: dict[str, object] = {"agent": 1.0, "oracle": oracle}
    if not replaced:
        known = {"raw_agent": benchmark.agent, "raw_oracle": benchmark.oracle}
        update |= {**known, "resurrected": not benchmark.valid and oracle > 0}
    return benchmark.model_copy(update=update)
