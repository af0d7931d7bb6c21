"""Report against baseline: metric by metric, category by category, case by case.

Only cases of equal definition are compared. Metrics of both sides are computed anew over exactly these cases, by the
`measures` that the caller gives (one function per kind), so that added, removed and changed cases can't move a rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType

from evalward.decide.balance import Measure, balanced
from evalward.decide.beside import Seen, side_by_side
from evalward.decide.cases import case_changes, missing_case, unjudged
from evalward.decide.changes import category_changes, metric_changes, part_texts, subject_changes
from evalward.decide.contrasts import contrasts_of
from evalward.decide.kinds import NOTHING, UNKNOWN, ComparedKind, Kinds
from evalward.decide.lost import with_lost
from evalward.decide.percase import per_case
from evalward.decide.pooling import Key, run_key
from evalward.decide.sides import RunSides, cases_of, unusable
from evalward.decide.staleness import stale
from evalward.decide.statistics.passk import pass_at_k, pass_hat_k
from evalward.decide.succession import Aligned, RunPair, sort_of
from evalward.decide.timings import slower_benchmarks, timings_of_pair
from evalward.decide.with_base import bases_now
from evalward.records.baseline import BaselineRun
from evalward.records.codes import Statement
from evalward.records.codes.base import ForeignText
from evalward.records.comparison import (
    BaseNow,
    CaseChange,
    Comparison,
    MetricChange,
    RunComparison,
    Tally,
)
from evalward.records.evidence import Confirmation
from evalward.records.metric import CategorySummary, Metric
from evalward.records.report import Run
from evalward.records.result import Result, Status
from evalward.records.succession import Replacement
from evalward.records.surface import Surface
from evalward.records.unchanged import Unchanged


def compare(
    aligned: Aligned,
    kinds: Kinds,
    suites: Collection[str] = (),
    known: Mapping[int, RunComparison] = MappingProxyType({}),
) -> Comparison:
    """All runs of both sides: first the report's in its order, then those that only the baseline has.

    With a partial report, only the part of either side that its selection covers is looked at. `suites` are compared
    with the base commit: the baseline's age says nothing of them. `known` are runs that were compared before, by the
    `id` of their pair.
    """
    report, baseline = aligned.report, aligned.baseline
    bases = bases_now(report, suites)
    runs = [known.get(id(pair)) or _compare_run(pair, kinds, bases, aligned) for pair in aligned.chosen]
    notices: list[Statement] = [*(ForeignText(text=warning) for warning in report.warnings), *aligned.notes]
    if baseline is not None:
        committed = [pair for pair in aligned.pairs if pair.known_as is None or pair.known_as[0] not in suites]
        notices += stale(baseline, committed, report.created_at)
    return Comparison(
        baseline=baseline.schema_ if baseline else None,
        baseline_commit=baseline.provenance.commit if baseline else None,
        baseline_created_at=baseline.provenance.created_at if baseline else None,
        partial=report.partial is not None,
        interrupted=report.interrupted,
        interrupted_by=report.interrupted_by,
        notices=[*notices, *(notice for run in runs for notice in slower_benchmarks(run))],
        guidance=report.guidance,
        runs=[*runs, *(_missing_run(run, aligned, bases) for run in aligned.missing)],
    )


def _compare_run(pair: RunPair, kinds: Kinds, bases: Mapping[Key, BaseNow], aligned: Aligned) -> RunComparison:
    run, base, sides = pair.run, pair.base, pair.sides
    comparable = sides.comparable
    kind = kinds.get(run.kind, UNKNOWN)
    before = balanced([sides.known[case_id] for case_id in comparable], kind.measure)
    now = balanced([sides.now[case_id] for case_id in comparable], kind.measure)
    made = [result for result in run.cases if result.id not in sides.standing]
    replayed = [evidence for evidence in map(kind.evidence, made) if evidence.replayed]
    again, cases = _fresh_trials(run), case_changes(pair, kind)
    return RunComparison(
        suite=run.suite,
        kind=run.kind,
        target=run.target,
        random=run.random,
        baseline_trials=base.trials if base else None,
        trials=run.trials,
        comparable=len(comparable),
        total=len(sides.now),
        errors=_errors(run, made),
        judge_errors=sum(unjudged(result) for result in made),
        planned=run.planned,
        whole=run.whole if pair.partial is not None and pair.partial.by_case else None,
        skipped=sum(_skipped(results) for results in sides.now.values()),
        replay=bool(replayed),
        replayed=len(replayed),
        diverged=sum(evidence.diverged for evidence in replayed),
        not_measured=run.not_measured,
        withheld=run.withheld,
        unchanged=_unnamed(run.unchanged) if run.not_measured is None else None,
        standing=_unnamed(run.standing),
        harness=run.subject.measured_by_harness,
        added=base is None,
        replaced=_replacement(pair, kind),
        subject=subject_changes(base.subject, run.subject) if base else [],
        metrics=with_lost(
            metric_changes(before if comparable else NOTHING, now, _whole(run, sides, kind.measure)), sides, kind
        ),
        categories=category_changes(before if comparable else NOTHING, now, _lost_categories(sides, kind.measure)),
        cases=cases,
        confirmation=_confirmation(run, sides),
        beside=side_by_side(run, _seen(sides)),
        contrasts=contrasts_of(run, [result for case in sides.now.values() for result in case], kind),
        again=len(again),
        again_errors=sum(result.status is Status.ERROR and not unjudged(result) for result in again),
        pass_at=_mean_over_cases(cases, run.trials, pass_at_k),
        pass_all=_mean_over_cases(cases, run.trials, pass_hat_k),
        findings=run.findings,
        sections=kind.sections(run, base),
        surface=_surface(kind, run, base, aligned),
        timings=timings_of_pair(pair, kind),
        base_now=bases.get(run_key(run)),
    )


def _surface(kind: ComparedKind, run: Run, base: BaselineRun | None, aligned: Aligned) -> Surface | None:
    """What changed in what the subject offers, as far as the texts of both sides are kept."""
    if base is None or aligned.baseline is None or base.subject.parts == run.subject.parts:
        return None
    before = part_texts(base.subject, aligned.baseline.texts)
    return kind.surface(before, part_texts(run.subject, aligned.report.texts))


def _replacement(pair: RunPair, kind: ComparedKind) -> Replacement | None:
    """Whom the run is compared with instead of itself, and what both come to over the comparable cases."""
    if pair.old is None:
        return None
    sides = pair.sides
    return Replacement(
        suite=pair.old.suite,
        target=pair.old.target,
        sort=sort_of(pair.old.target),
        named=pair.named,
        before=per_case([sides.known[case] for case in sides.comparable], kind),
        now=per_case([sides.now[case] for case in sides.comparable], kind),
    )


def _whole(run: Run, sides: RunSides, measure: Measure) -> Mapping[str, Metric]:
    """The run's own metrics, over all its cases; measured anew where fresh trials stand for planned ones, and where the
    baseline's stand: it may have more of a case than were made of others.
    """
    if sides.standing:
        return {**run.metrics, **balanced(list(sides.now.values()), measure).metrics}
    if not sides.stand_ins:
        return run.metrics
    return {**run.metrics, **measure([*run.cases, *sides.stand_ins.values()]).metrics}


def _seen(sides: RunSides) -> list[Seen]:
    """The comparable cases that were measured on both sides."""
    found = []
    for case in (case for case in sides.comparable if case in sides.aside):
        before, *chosen_by = (
            Tally.of(of) for of in (sides.before[case].trials, sides.now[case], sides.fresh.get(case, ()))
        )
        if before is not None:
            found.append(Seen(case, before, [tally for tally in chosen_by if tally is not None], sides.aside[case]))
    return found


def _fresh_trials(run: Run) -> list[Result]:
    """The trials that were made beside the planned ones."""
    return [*run.confirmation, *(run.beside.base if run.beside else ()), *(run.beside.head if run.beside else ())]


def _mean_over_cases(
    cases: Sequence[CaseChange], trials: int, estimate: Callable[[int, int, int], float | None]
) -> float | None:
    """The mean of pass@k or pass^k over the cases, with k the number of trials; `None` for a single trial."""
    if trials < 2:
        return None
    tallies = [case.now for case in cases if case.now is not None]
    found = [value for t in tallies if (value := estimate(t.trials, t.passed, trials)) is not None]
    return math.fsum(found) / len(found) if found else None


def _confirmation(run: Run, sides: RunSides) -> Confirmation | None:
    """What the confirm stage of a run gave, `None` where there was none and nothing is to be said about that."""
    if not run.confirmation and run.confirm_note is None:
        return None
    valid = [result for results in sides.fresh.values() for result in results if result.valid]
    return Confirmation(
        cases=sorted(sides.fresh),
        trials=len(valid),
        passed=sum(result.status is Status.PASSED for result in valid),
        stand_ins=sorted(sides.stand_ins),
        unusable=unusable(run, sides),
    )


def _skipped(results: Sequence[Result]) -> int:
    """Trials that were left out of a case that others of its trials measured: nothing else would tell of them."""
    return sum(r.status is Status.SKIPPED for r in results) if any(r.valid for r in results) else 0


def _errors(run: Run, made: Sequence[Result]) -> int:
    """Trials that broke, and trials that were planned and left no result at all."""
    broken = sum(result.status is Status.ERROR for result in made)
    return broken + max(0, run.planned - len(made))


def _unnamed(stands: Unchanged | None) -> Unchanged | None:
    """What stands, without the names of its cases: each of them says it itself."""
    return stands and stands.model_copy(update={"of": []})


def _lost_categories(sides: RunSides, measure: Measure) -> Mapping[str, CategorySummary]:
    """The baseline's categories that no case of the report has."""
    there = {result.category for results in sides.now.values() for result in results}
    cases = [case for case in sides.before.values() if case.category not in there]
    return measure([trial for case in cases for trial in case.results()]).categories


def _missing_run(run: BaselineRun, aligned: Aligned, bases: Mapping[Key, BaseNow]) -> RunComparison:
    known = sorted(cases_of(run, aligned.report.partial), key=lambda case: case.id)
    metrics = [
        MetricChange(id=name, before=metric, now=None, whole=None, delta=None, better=metric.better)
        for name, metric in run.metrics.items()
    ]
    return RunComparison(
        suite=run.suite,
        kind=run.kind,
        target=run.target,
        random=run.random,
        baseline_trials=run.trials,
        trials=0,
        comparable=0,
        total=0,
        errors=0,
        planned=0,
        missing=True,
        metrics=metrics,
        cases=[missing_case(case) for case in known],
        base_now=bases.get(run_key(run)),
    )
