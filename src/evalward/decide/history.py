"""What the history says: which cases are flaky or broken and since when, and where the metrics are going.

All functions are pure and take entries in any order. A case is only compared with itself: measurements of the
definition that it had last, never of an earlier one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple

from msgspec import Struct

from evalward.decide.history_file import History, case_lists, short_digest
from evalward.records.baseline import Baseline, BaselineCase, BaselineRun
from evalward.records.history import BrokenCase, CaseCount, HistoryEntry, HistorySummary, RunHistory
from evalward.records.result import Status
from evalward.records.trend import FlakyCase, Mark, Trend, TrendPoint

WINDOW = 30
"""So many of the newest measurements of a case say whether it is flaky."""

STREAK = 10
"""So many measurements in a row without a change are long: what passed so often was fine, what failed so often is
broken. A case that passes 80 % of its trials passes ten in a row with a chance of 0.8¹⁰ = 11 %."""

POINTS = 20
"""So many measurements make a trend."""


class _Seen(NamedTuple):
    """One case in one measurement; `same` is equal where nothing that the history knows of had changed.

    A tuple, because there are a hundred thousand of them in a year of a large suite.
    """

    entry: HistoryEntry
    ends: CaseCount

    @property
    def same(self) -> tuple[str | None, str]:
        return self.entry.ref, self.entry.subject

    @property
    def mark(self) -> Mark:
        return Mark(at=self.entry.at, commit=self.entry.commit)

    @property
    def passes(self) -> bool:
        """As everywhere: more than half of the trials."""
        return 2 * self.ends.passed > self.ends.valid

    @property
    def clean(self) -> bool:
        return self.ends.failed == 0


class _Past(Struct, frozen=True):
    """All measurements of a case's present definition with a valid trial, oldest first."""

    definition: str
    past: Sequence[_Seen]


class _Known(Struct, frozen=True):
    """What the baseline knows of a case."""

    definition: str
    count: CaseCount


def flaky(
    entries: Sequence[HistoryEntry], suite: str, target: str, baseline: Baseline | None = None, *, window: int = WINDOW
) -> list[FlakyCase]:
    """The cases that pass and fail although nothing changed, in order of id.

    The evidence, in the last `window` measurements of the case and in its baseline trials:
    some of its trials in one measurement passed and some failed; or two measurements of one commit disagree; or, for a
    target that is random, it went from passing to failing *and back* on one branch with the same subject. One change
    for good is no evidence: that is a case which broke, or was fixed. Nor is a case flaky that failed in each of its
    last `STREAK` measurements.

    It began with the first failure after the last long row (`STREAK`) of measurements without one; where no such row is
    known, with the first known failure.
    """
    runs = _of(entries, suite, target)
    based = _based(baseline, suite, target, runs)
    seen = _sightings(runs, case_lists(entries), based)
    found = []
    for case in sorted(seen if runs else based):
        past, known = seen.get(case), based.get(case)
        if past and known and known.definition != past.definition:
            known = None
        item = _flaky_case(case, past.past if past else [], known.count if known else None, window)
        found += [item] if item else []
    return found


def _flaky_case(case: str, past: Sequence[_Seen], known: CaseCount | None, window: int) -> FlakyCase | None:
    recent = past[-window:]
    counts = [seen.ends for seen in recent] + ([known] if known else [])
    if not (any(0 < count.passed < count.valid for count in counts) or _came_back(recent) or _disagree(recent)):
        return None
    if len(recent) >= STREAK and not any(seen.ends.passed for seen in recent[-STREAK:]):
        return None
    failures = [seen for seen in past if not seen.clean]
    began, from_start = _began(past)
    return FlakyCase(
        id=case,
        passed=sum(count.passed for count in counts),
        trials=sum(count.valid for count in counts),
        runs=len(counts),
        flips=sum(one.passes != other.passes for one, other in pairwise(recent)),
        since=began.mark if began else None,
        from_start=from_start,
        last_failed=failures[-1].mark if failures else None,
    )


def _came_back(past: Iterable[_Seen]) -> bool:
    """A random target's case changed at least twice on one branch with one subject."""
    by_same: dict[tuple[str | None, str], list[bool]] = {}
    for seen in past:
        if seen.entry.random:
            by_same.setdefault(seen.same, []).append(seen.passes)
    return any(sum(a != b for a, b in pairwise(row)) > 1 for row in by_same.values())


def _disagree(past: Iterable[_Seen]) -> bool:
    """Two measurements of one commit with one subject say different things."""
    by_commit: dict[tuple[str, str], set[bool]] = {}
    for seen in past:
        if seen.entry.commit:
            by_commit.setdefault((seen.entry.commit, seen.entry.subject), set()).add(seen.passes)
    return any(len(outcomes) > 1 for outcomes in by_commit.values())


def _began(past: Iterable[_Seen]) -> tuple[_Seen | None, bool]:
    """The first measurement with a failed trial after the last long row without one; whether such a row is lacking."""
    began, from_start, clean = None, False, 0
    for seen in past:
        if seen.clean:
            clean += 1
            continue
        if began is None or clean >= STREAK:
            began, from_start = seen, clean < STREAK
        clean = 0
    return began, from_start


def broken_since(entries: Sequence[HistoryEntry], suite: str, target: str) -> list[BrokenCase]:
    """The cases that fail in their last measurement and failed in every one back to `since`, in order of id."""
    found = []
    for case, seen in sorted(_sightings(_of(entries, suite, target), case_lists(entries)).items()):
        row = list(takewhile(lambda one: not one.passes, reversed(seen.past)))
        if not row:
            continue
        before = seen.past[: len(seen.past) - len(row)]
        last_passed = before[-1].mark if before else None
        found.append(BrokenCase(id=case, since=row[-1].mark, runs=len(row), last_passed=last_passed))
    return found


def trend(entries: Iterable[HistoryEntry], suite: str, target: str, metric: str, points: int = POINTS) -> Trend:
    """A metric over the last measurements of whole suites, oldest first; without points when nothing is known.

    A measurement that lacks the metric is a point without a value.
    """
    runs = [entry for entry in _of(entries, suite, target) if not entry.partial][-points:]
    known = [found for entry in runs if (found := entry.metrics.get(metric))]
    if not known:
        return Trend(suite=suite, target=target, metric=metric, points=[])
    values = [entry.metrics[metric].value if metric in entry.metrics else None for entry in runs]
    return Trend(
        suite=suite,
        target=target,
        metric=metric,
        unit=known[-1].unit,
        better=known[-1].better,
        points=[
            TrendPoint(at=entry.at, commit=entry.commit, value=value) for entry, value in zip(runs, values, strict=True)
        ],
    )


def trends(entries: Iterable[HistoryEntry], suite: str, target: str, points: int = POINTS) -> list[Trend]:
    """The trends of the metrics that the newest measurement has, in its order."""
    runs = [entry for entry in _of(entries, suite, target) if not entry.partial]
    return [trend(runs, suite, target, metric, points) for metric in (runs[-1].metrics if runs else ())]


def summarize(history: History, baseline: Baseline | None = None, points: int = POINTS) -> HistorySummary:
    """All that the history says, one `RunHistory` per suite and target, sorted by both."""
    by_run: dict[tuple[str, str], list[HistoryEntry]] = {}
    for entry in history.entries:
        by_run.setdefault((entry.suite, entry.target), []).append(entry)
    runs = [_run_history(history.entries, suite, target, baseline, points) for suite, target in sorted(by_run)]
    return HistorySummary(runs=runs, unreadable=history.unreadable)


def _run_history(
    entries: Sequence[HistoryEntry], suite: str, target: str, baseline: Baseline | None, points: int
) -> RunHistory:
    runs = _of(entries, suite, target)
    shaky = flaky(entries, suite, target, baseline)
    names = {case.id for case in shaky}
    return RunHistory(
        suite=suite,
        kind=runs[-1].kind,
        target=target,
        runs=len(runs),
        first=Mark(at=runs[0].at, commit=runs[0].commit),
        last=Mark(at=runs[-1].at, commit=runs[-1].commit),
        trends=trends(runs, suite, target, points),
        flaky=shaky,
        broken=[case for case in broken_since(entries, suite, target) if case.id not in names],
    )


def _of(entries: Iterable[HistoryEntry], suite: str, target: str) -> list[HistoryEntry]:
    """The entries of one run in order of time: a merge can leave them in any."""
    chosen = [entry for entry in entries if (entry.suite, entry.target) == (suite, target)]
    return sorted(chosen, key=lambda entry: (entry.at, entry.attempt))


def _sightings(
    runs: Sequence[HistoryEntry], lists: Mapping[str, dict[str, str]], also: Iterable[str] = ()
) -> dict[str, _Past]:
    """The cases of the newest whole run that ever failed, and of `also`, each with its past.

    Entries whose list of cases is lost say nothing about cases.
    """
    listed = [(entry, cases) for entry in runs if (cases := lists.get(entry.case_set)) is not None]
    if not listed:
        return {}
    whole = [cases for entry, cases in listed if not entry.partial] or [cases for _, cases in listed]
    failed = {case for entry, _ in listed for case, count in entry.others.items() if count.failed}
    return {case: _past(case, whole[-1][case], listed) for case in failed.union(also) & whole[-1].keys()}


def _past(case: str, definition: str, listed: Iterable[tuple[HistoryEntry, Mapping[str, str]]]) -> _Past:
    past = [
        _Seen(entry, entry.others.get(case) or CaseCount(entry.trials))
        for entry, cases in listed
        if cases.get(case) == definition
    ]
    return _Past(definition, [seen for seen in past if seen.ends.valid])


def _based(baseline: Baseline | None, suite: str, target: str, runs: Sequence[HistoryEntry]) -> dict[str, _Known]:
    """What the baseline knows of each case; nothing where the history has the very trials that it was made from."""
    run = next((r for r in baseline.runs if (r.suite, r.target) == (suite, target)), None) if baseline else None
    if baseline is None or run is None or any(_made_from(baseline, run, entry) for entry in runs):
        return {}
    told = run.cases if runs else [case for case in run.cases if len(case.trials) > 1]  # one trial alone tells nothing
    return {case.id: _Known(short_digest(case.definition), _count(case)) for case in told}


def _made_from(baseline: Baseline, run: BaselineRun, entry: HistoryEntry) -> bool:
    source = baseline.provenance
    return (entry.at, entry.commit, entry.trials) == (source.created_at, source.commit, run.trials)


def _count(case: BaselineCase) -> CaseCount:
    ends = [trial.status for trial in case.trials]
    return CaseCount(ends.count(Status.PASSED), ends.count(Status.FAILED))
