"""Report against baseline: metric by metric, category by category, case by case.

Only cases of equal definition are compared. Metrics of both sides are computed anew over exactly these cases, by the
`measures` that the caller gives (one function per kind), so that added, removed and changed cases can't move a rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from evalward.decide.balance import NOTHING, Measure, balanced
from evalward.decide.beside import Seen, side_by_side
from evalward.decide.changes import category_changes, metric_changes, subject_changes
from evalward.decide.kinds import Kinds
from evalward.decide.percase import per_case
from evalward.decide.pooling import Key, run_key
from evalward.decide.sides import Sides, cases_of, unusable
from evalward.decide.staleness import stale
from evalward.decide.standing import placed
from evalward.decide.statistics.passk import pass_at_k, pass_hat_k
from evalward.decide.succession import Aligned, Pair, sort_of
from evalward.decide.timings import slower_benchmarks, speeds_of, timings_of_pair
from evalward.decide.with_base import bases_now
from evalward.records.baseline import BaselineCase, BaselineRun, BaselineTrial
from evalward.records.codes import Statement
from evalward.records.codes.base import Text
from evalward.records.comparison import (
    BaseNow,
    CaseChange,
    CaseChangeKind,
    Comparison,
    MetricChange,
    RunComparison,
    Tally,
    WrongAnswer,
)
from evalward.records.evidence import Confirmation
from evalward.records.judge import JUDGE_ERROR
from evalward.records.metric import EPSILON, CategorySummary, Measurement, Metric
from evalward.records.report import Run
from evalward.records.result import BashDetails, CommandDetails, Result, Status
from evalward.records.scenario import ScenarioDetails
from evalward.records.scenario_line import scenario_lines
from evalward.records.succession import Replacement


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
    runs = [known.get(id(pair)) or _compare_run(pair, kinds, bases) for pair in aligned.chosen]
    notices: list[Statement] = [*(Text(text=warning) for warning in report.warnings), *aligned.notes]
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


def _compare_run(pair: Pair, kinds: Kinds, bases: Mapping[Key, BaseNow]) -> RunComparison:
    run, base, sides = pair.run, pair.base, pair.sides
    comparable = sides.comparable
    measure = kinds[run.kind].measure if run.kind in kinds else _no_measure
    before = balanced([sides.known[case_id] for case_id in comparable], measure)
    now = balanced([sides.now[case_id] for case_id in comparable], measure)
    replayed = [r.details for r in run.cases if isinstance(r.details, BashDetails | CommandDetails | ScenarioDetails)]
    replayed = [details for details in replayed if details.replayed]
    again = _again(run)
    cases = _case_changes(pair)
    return RunComparison(
        suite=run.suite,
        kind=run.kind,
        target=run.target,
        random=run.random,
        baseline_trials=base.trials if base else None,
        trials=run.trials,
        comparable=len(comparable),
        total=len(sides.now),
        errors=_errors(run),
        judge_errors=sum(_unjudged(result) for result in run.cases),
        planned=run.planned,
        whole=run.whole if pair.partial is not None and pair.partial.by_case else None,
        skipped=sum(_skipped(results) for results in sides.now.values()),
        replay=bool(replayed),
        replayed=len(replayed),
        diverged=sum(not isinstance(d, CommandDetails) and d.diverged_at is not None for d in replayed),
        not_measured=run.not_measured,
        added=base is None,
        replaced=_replacement(pair),
        subject=subject_changes(base.subject, run.subject) if base else [],
        metrics=metric_changes(before if comparable else NOTHING, now, _whole(run, sides, measure)),
        categories=category_changes(before if comparable else NOTHING, now, _gone(sides, measure)),
        cases=placed(cases) if run.random else cases,
        confirmation=_confirmation(run, sides),
        beside=side_by_side(run, _seen(sides)),
        again=len(again),
        again_errors=sum(result.status is Status.ERROR and not _unjudged(result) for result in again),
        pass_at=_mean_over_cases(sides, run.trials, pass_at_k),
        pass_all=_mean_over_cases(sides, run.trials, pass_hat_k),
        findings=run.findings,
        scenarios=scenario_lines(run.cases) if run.kind == "scenario" else [],
        timings=timings_of_pair(pair),
        speeds=speeds_of(run, base) if run.kind == "speedup" else [],
        base_now=bases.get(run_key(run)),
    )


def _replacement(pair: Pair) -> Replacement | None:
    """Whom the run is compared with instead of itself, and what both come to over the comparable cases."""
    if pair.old is None:
        return None
    sides = pair.sides
    return Replacement(
        suite=pair.old.suite,
        target=pair.old.target,
        sort=sort_of(pair.old.target),
        named=pair.named,
        before=per_case([sides.known[case] for case in sides.comparable]),
        now=per_case([sides.now[case] for case in sides.comparable]),
    )


def _whole(run: Run, sides: Sides, measure: Measure) -> Mapping[str, Metric]:
    """The run's own metrics, over all its cases; measured anew where fresh trials stand for planned ones."""
    if not sides.stand_ins:
        return run.metrics
    return {**run.metrics, **measure([*run.cases, *sides.stand_ins.values()]).metrics}


def _seen(sides: Sides) -> list[Seen]:
    """The comparable cases that were measured on both sides."""
    found = []
    for case in (case for case in sides.comparable if case in sides.aside):
        before, *chosen_by = (
            Tally.of(of) for of in (sides.before[case].trials, sides.now[case], sides.fresh.get(case, ()))
        )
        if before is not None:
            found.append(Seen(case, before, [tally for tally in chosen_by if tally is not None], sides.aside[case]))
    return found


def _again(run: Run) -> list[Result]:
    """The trials that were made beside the planned ones."""
    return [*run.confirmation, *(run.beside.base if run.beside else ()), *(run.beside.head if run.beside else ())]


def _mean_over_cases(sides: Sides, trials: int, estimate: Callable[[int, int, int], float | None]) -> float | None:
    """The mean of pass@k or pass^k over the cases, with k the number of trials; `None` for a single trial."""
    if trials < 2:
        return None
    tallies = [tally for results in sides.now.values() if (tally := Tally.of(results)) is not None]
    found = [value for t in tallies if (value := estimate(t.trials, t.passed, trials)) is not None]
    return math.fsum(found) / len(found) if found else None


def _confirmation(run: Run, sides: Sides) -> Confirmation | None:
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


def _errors(run: Run) -> int:
    """Trials that broke, and trials that were planned and left no result at all."""
    broken = sum(result.status is Status.ERROR for result in run.cases)
    return broken + max(0, run.planned - len(run.cases))


def _unjudged(result: Result) -> bool:
    return result.status is Status.ERROR and result.reason == JUDGE_ERROR


def _no_measure(results: Sequence[Result]) -> Measurement:  # noqa: ARG001 - a kind that this version doesn't know
    return NOTHING


def _gone(sides: Sides, measure: Measure) -> Mapping[str, CategorySummary]:
    """The baseline's categories that no case of the report has."""
    there = {result.category for results in sides.now.values() for result in results}
    cases = [case for case in sides.before.values() if case.category not in there]
    return measure([trial for case in cases for trial in case.results()]).categories


def _case_changes(pair: Pair) -> list[CaseChange]:
    """The cases of both sides, by id. Without a baseline of its own a run has new cases only."""
    sides, fresh = pair.sides, pair.sides.fresh if pair.base is not None else {}
    return [
        _case_change(
            case_id,
            sides.before.get(case_id),
            sides.now.get(case_id, ()),
            was=pair.renamed.get(case_id),
            fresh=Tally.of(fresh[case_id]) if case_id in fresh else None,
        )
        for case_id in sorted({*sides.before, *sides.now})
    ]


def _case_change(
    case_id: str,
    base: BaselineCase | None,
    results: Sequence[Result],
    *,
    was: str | None = None,
    fresh: Tally | None = None,
) -> CaseChange:
    before, now = base.tally if base else None, Tally.of(results)
    category = results[0].category if results else base.category if base else ""
    shown = _worst(results)
    command, stderr = _blamed(shown)
    return CaseChange(
        id=case_id,
        category=category,
        change=_change(base, results, before, now),
        before=before,
        now=now,
        checks=[check for check in shown.checks if not check.passed] if shown else [],
        command=command,
        stderr=stderr,
        note=_note(results, shown),
        skipped=now is None and any(result.status is Status.SKIPPED for result in results),
        unjudged=now is None and any(_unjudged(result) for result in results),
        trace=shown.trace if shown else None,
        place=results[0].place if results else None,
        wrong=_wrong_answer(results),
        was=was,
        fresh=fresh,
        allows=sorted(_allowances(results) - _allowances(base.trials if base else ())),
    )


def _allowances(trials: Iterable[Result | BaselineTrial]) -> set[str]:
    """The rules of the safety validator that a `command` case lets its answers break."""
    return {rule for trial in trials if isinstance(trial.details, CommandDetails) for rule in trial.details.allow}


def _blamed(shown: Result | None) -> tuple[str | None, str | None]:
    """The command to look at first, and what was said to it."""
    if shown is not None and isinstance(shown.details, BashDetails):
        return shown.details.failing_command, shown.details.failing_stderr
    if shown is not None and isinstance(shown.details, ScenarioDetails) and shown.details.interaction.failed:
        last = shown.details.interaction.failed[-1]
        return last.command, last.said or None
    return None, None


def _wrong_answer(results: Sequence[Result]) -> WrongAnswer | None:
    """What a `command` case was answered wrongly; an unsafe answer of one trial before a wrong one of another."""
    answers = [(result, result.details) for result in results if isinstance(result.details, CommandDetails)]
    unsafe = next(((result, details) for result, details in answers if details.unsafe), None)
    found = unsafe or next(((r, details) for r, details in answers if r.status is Status.FAILED), None)
    if found is None:
        return None
    result, details = found
    return WrongAnswer(
        expected=details.expected,
        actual=details.answer,
        why=result.message or (result.reason or "").replace("_", " "),
        risk=details.risk if details.unsafe else None,
        findings=details.rule_findings if details.unsafe else [],
    )


def _change(
    base: BaselineCase | None, results: Sequence[Result], before: Tally | None, now: Tally | None
) -> CaseChangeKind:
    if not results:
        return "missing"
    if base is not None and results[0].definition != base.definition:
        return "redefined"
    if now is None:
        return "not_valid"
    return "added" if before is None else _moved(before, now)


def _moved(before: Tally, now: Tally) -> CaseChangeKind:
    if before.passes != now.passes:
        return "fixed" if now.passes else "broken"
    was, is_now = before.passed / before.trials, now.passed / now.trials
    change = (is_now - was) or ((now.score or 0.0) - (before.score or 0.0))
    if abs(change) <= EPSILON:
        return "same"
    return "better" if change > 0 else "worse"


def _worst(results: Sequence[Result]) -> Result | None:
    """The result to show for a case: the first failed one, else the first that isn't valid."""
    failed = (result for result in results if result.status is Status.FAILED)
    invalid = (result for result in results if not result.valid)
    return next(failed, None) or next(invalid, None)


def _note(results: Sequence[Result], shown: Result | None) -> str | None:
    if shown is None or not results:
        return None
    listed = any(not check.passed for check in shown.checks)
    return shown.message or (None if listed and shown.reason == "checks_failed" else shown.reason)


def _missing_run(run: BaselineRun, aligned: Aligned, bases: Mapping[Key, BaseNow]) -> RunComparison:
    known = sorted(cases_of(run, aligned.report.partial), key=lambda case: case.id)
    cases = [_case_change(case.id, case, ()) for case in known]
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
        cases=cases,
        base_now=bases.get(run_key(run)),
    )
