"""Are single benchmarks slower than in the baseline? By their samples, where both sides keep some."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from evalward.decide.statistics.timing import TimingVerdict, slower
from evalward.records.result import Result
from evalward.records.timing import SlowerBenchmark, Timings
from evalward.suites.speedup.details import SpeedupDetails

FACTOR = 1.1  # a benchmark that takes less than a tenth longer is not called slower, whatever the samples prove


def timings_of(before: Iterable[Result], now: Iterable[Result]) -> Timings | None:
    """What the samples of the cases' trials say; `None` where no benchmark has any on both sides."""
    was, is_now = list(before), list(now)
    verdicts = _compared(was, is_now, "nop")
    if not verdicts:
        return None
    beside_oracle = _compared(was, is_now, "oracle")
    verdicts = {name: _milder(verdict, beside_oracle.get(name)) for name, verdict in verdicts.items()}
    untestable = sum(verdict.cannot_fire is not None for verdict in verdicts.values())
    found = [_slower(*name, verdict) for name, verdict in verdicts.items() if verdict.slower]
    return Timings(
        tested=len(verdicts) - untestable,
        suspected=sum(_looks_slower(verdict) for verdict in verdicts.values()),
        untestable=untestable,
        slower=sorted(found, key=lambda each: (-each.factor, each.case, each.benchmark)),
    )


def _compared(
    before: Sequence[Result], now: Sequence[Result], side: Literal["nop", "oracle"]
) -> dict[tuple[str, str], TimingVerdict]:
    was, is_now = _relative(before, side), _relative(now, side)
    return {name: slower(was[name], is_now[name], FACTOR) for name in is_now if name in was}


def _milder(beside_nop: TimingVerdict, beside_oracle: TimingVerdict | None) -> TimingVerdict:
    """What speaks less against the change.

    Another machine, interpreter or library makes some code slower than other code. Where the human patch lost as much
    as the change did, it isn't the change that got slower.
    """
    if beside_oracle is None or beside_oracle.cannot_fire is not None or beside_nop.cannot_fire is not None:
        return beside_nop
    return min(beside_nop, beside_oracle, key=_against)


def _against(verdict: TimingVerdict) -> tuple[bool, float]:
    ratio = verdict.test.ratio if verdict.test else None
    return verdict.slower, ratio if ratio is not None else 0.0


def _looks_slower(verdict: TimingVerdict) -> bool:
    test = verdict.test
    if verdict.slower or verdict.cannot_fire is not None or test is None or test.ratio is None:
        return False
    return test.ratio > FACTOR


def _slower(case: str, benchmark: str, verdict: TimingVerdict) -> SlowerBenchmark:
    assert verdict.test is not None  # noqa: S101 - it has spoken
    assert verdict.test.ratio is not None  # noqa: S101
    return SlowerBenchmark(case=case, benchmark=benchmark, factor=verdict.test.ratio, p=verdict.test.p_slower)


def _relative(results: Iterable[Result], side: Literal["nop", "oracle"]) -> Mapping[tuple[str, str], list[float]]:
    """The agent's samples by case and benchmark, as shares of the other side's in the same round.

    By round, not by the session's median: that one number would move all samples together, and look like proof. A
    change that fell back counts as none, whatever time it took.
    """
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for result in results:
        details = result.details
        if not isinstance(details, SpeedupDetails) or details.fallback_to_baseline:
            continue
        for each in details.benchmarks:
            if each.samples is not None:
                reference = each.samples.nop if side == "nop" else each.samples.oracle
                rounds = zip(each.samples.agent, reference, strict=False)
                found[result.id, each.name] += [sample / other for sample, other in rounds if other > 0]
    return {name: samples for name, samples in found.items() if samples}
