"""Are single timed pieces slower than in the baseline? By their samples, where both sides keep some."""

from __future__ import annotations

from itertools import chain

from evalward.decide.compare import Sides, find_runs, sides_of
from evalward.decide.kinds import ComparedKind, Kinds
from evalward.records.baseline import Baseline
from evalward.records.comparison import Comparison, RunComparison
from evalward.records.report import Report
from evalward.records.timing import Timings

SHOWN = 5


def with_timings(comparison: Comparison, report: Report, baseline: Baseline | None, kinds: Kinds) -> Comparison:
    """The comparison, with what the samples of its runs say, and a warning for what is slower."""
    found = {
        (run.suite, run.target): _of_sides(sides_of(run, base, report.partial), kinds[run.kind])
        for run, base in find_runs(report, baseline)
        if base is not None and run.kind in kinds
    }
    runs = [run.model_copy(update={"timings": found.get((run.suite, run.target))}) for run in comparison.runs]
    told = [warning for run in runs for warning in _warnings(run)]
    return comparison.model_copy(update={"runs": runs, "warnings": [*comparison.warnings, *told]})


def _of_sides(sides: Sides, kind: ComparedKind) -> Timings | None:
    """Over the cases of equal definition: of others nobody knows what was timed."""
    cases = sides.comparable
    before = chain.from_iterable(sides.before[case].results() for case in cases)
    return kind.timings(before, chain.from_iterable(sides.now[case] for case in cases))


def _warnings(run: RunComparison) -> list[str]:
    if run.timings is None:
        return []
    worst = run.timings.slower
    told = [
        f"{run.name}: {_plain(each.benchmark)} of {each.case} is slower: {each.factor:.2f}× "
        f"(Mann-Whitney p = {each.p:.2g})"
        for each in worst[:SHOWN]
    ]
    return told + ([f"{run.name}: {len(worst) - SHOWN} further benchmarks are slower"] if len(worst) > SHOWN else [])


def _plain(name: str) -> str:
    return " ".join(name.split())[:80]
