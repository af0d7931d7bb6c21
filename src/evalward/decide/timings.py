"""Are single timed pieces slower than in the baseline? By their samples, where both sides keep some."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from evalward.decide.kinds import ComparedKind
from evalward.decide.succession import RunPair
from evalward.records.codes.notices import MoreSlower, SlowerTiming
from evalward.records.comparison import RunComparison
from evalward.records.timing import Timings

SHOWN = 5


def timings_of_pair(pair: RunPair, kind: ComparedKind) -> Timings | None:
    """What the samples of a run say, over the cases of equal definition: of others it is unknown what was timed.

    `None` without a baseline, and where nothing was timed.
    """
    if pair.base is None:
        return None
    sides = pair.sides
    before = chain.from_iterable(sides.known[case] for case in sides.comparable)
    return kind.timings(before, chain.from_iterable(sides.now[case] for case in sides.comparable))


def slower_benchmarks(run: RunComparison) -> Iterator[SlowerTiming | MoreSlower]:
    """A notice for each benchmark that is slower, the worst first."""
    suite, target, slow = run.suite, run.target, run.timings.slower if run.timings else []
    for each in slow[:SHOWN]:
        yield SlowerTiming(
            suite=suite, target=target, case=each.case, benchmark=each.benchmark, factor=each.factor, p=each.p
        )
    if len(slow) > SHOWN:
        yield MoreSlower(suite=suite, target=target, count=len(slow) - SHOWN)
