"""Report against baseline: metric by metric, category by category, case by case.

Only cases of equal definition are compared. Metrics of both sides are computed anew over exactly these cases, by the
`kinds` that the caller gives, so that added, removed and changed cases can't move a rate.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from evalward.decide.balance import balanced
from evalward.decide.beside import Aside, Seen, asides, side_by_side
from evalward.decide.changes import category_changes, metric_changes, subject_changes
from evalward.decide.kinds import NO_EVIDENCE, NOTHING, UNKNOWN, CaseEvidence, ComparedKind, Kinds
from evalward.decide.percase import per_case
from evalward.decide.statistics.passk import pass_at_k, pass_hat_k
from evalward.decide.succession import Pair, align, sort_of
from evalward.records.baseline import Baseline, BaselineCase, BaselineRun
from evalward.records.comparison import (
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
from evalward.records.report import Partial, Report, Run
from evalward.records.result import Result, Status
from evalward.records.succession import Replacement


def compare(report: Report, baseline: Baseline | None, kinds: Kinds) -> Comparison:
    """All runs of both sides: first the report's in its order, then those that only the baseline has.

    With a partial report, only the part of either side that its selection covers is looked at.
    """
    aligned = align(report, baseline)
    chosen = [pair for pair in aligned.pairs if _chosen(report.partial, pair.run)]
    gone = [run for run in aligned.gone if _covers(report.partial, run)]
    return Comparison(
        baseline=baseline.schema_ if baseline else None,
        baseline_commit=baseline.provenance.commit if baseline else None,
        baseline_created_at=baseline.provenance.created_at if baseline else None,
        partial=report.partial is not None,
        interrupted=report.interrupted,
        warnings=[*report.warnings, *aligned.notes],
        guidance=report.guidance,
        runs=[_compare_run(pair, report.partial, kinds) for pair in chosen]
        + [_missing_run(run, report.partial) for run in gone],
    )


def find_runs(report: Report, baseline: Baseline | None) -> list[tuple[Run, BaselineRun | None]]:
    """The report's runs, each with the baseline's run of equal suite, target and kind, or the one that it replaces.

    That one's cases have the ids that they have now. Runs outside of a partial report's selection are left out.
    """
    return [(pair.run, pair.base) for pair in align(report, baseline).pairs if _chosen(report.partial, pair.run)]


def _chosen(partial: Partial | None, run: Run) -> bool:
    """True for a run that the selection covers; where cases were chosen, of what has none nothing was to be run."""
    if partial is None:
        return True
    there = run.planned > 0 or bool(run.cases) or run.not_measured is not None
    return partial.covers(run.suite, run.target) and (there or not partial.by_case)


def _covers(partial: Partial | None, run: BaselineRun) -> bool:
    """True for a run of the baseline of which the selection covers a case."""
    return partial is None or (
        partial.covers(run.suite, run.target) and (bool(_cases_of(run, partial)) or not partial.by_case)
    )


@dataclass(frozen=True)
class Sides:
    """The cases of one run, by id, on both sides; `fresh` are the trials of the confirm stage of those that failed.

    Where every planned trial of a case broke, its first valid fresh one stands for them: `stand_ins` names such cases.
    `aside` are the trials that were run beside those of the base, measured again.
    """

    before: Mapping[str, BaselineCase]
    now: Mapping[str, Sequence[Result]]
    fresh: Mapping[str, Sequence[Result]]
    stand_ins: Mapping[str, Result] = field(default_factory=dict)
    aside: Mapping[str, Aside] = field(default_factory=dict)

    @cached_property
    def comparable(self) -> list[str]:
        """Ids of equal definition with a valid trial on both sides."""
        return [
            case_id
            for case_id, results in self.now.items()
            if case_id in self.before
            and results[0].definition == self.before[case_id].definition
            and any(result.valid for result in results)
            and any(trial.status.valid for trial in self.before[case_id].trials)
        ]


def sides_of(run: Run, base: BaselineRun | None, partial: Partial | None) -> Sides:
    """The cases of a run on both sides, as far as the selection of a partial report covers them."""
    now = _by_case(run.cases)
    asked = {case: results[0].definition for case, results in now.items()}
    again = _by_case(result for result in run.confirmation if asked.get(result.id) == result.definition)
    broke = [case for case, results in now.items() if not any(result.valid for result in results)]
    stand_ins = {case: valid[0] for case in broke if (valid := [r for r in again.get(case, ()) if r.valid])}
    now |= {case: [*now[case], result] for case, result in stand_ins.items()}
    return Sides(
        before={case.id: case for case in _cases_of(base, partial)} if base else {},
        now=now,
        fresh={case: _fresh(results, stand_ins.get(case)) for case, results in again.items() if _failed(now[case])},
        stand_ins=stand_ins,
        aside=asides(run, asked),
    )


def _cases_of(base: BaselineRun, partial: Partial | None) -> list[BaselineCase]:
    if partial is None:
        return base.cases
    return [case for case in base.cases if partial.covers_case(base.suite, base.target, case.id)]


def failing(results: Sequence[Result]) -> bool:
    """True for a case that failed in most of its trials, or in half of them: what a confirm stage tries again."""
    tally = Tally.of(results)
    return tally is not None and not tally.passes


def _failed(results: Sequence[Result]) -> bool:
    return any(result.status is Status.FAILED for result in results)


def _fresh(results: Sequence[Result], stand_in: Result | None) -> list[Result]:
    """The trials of a failed case that no failure chose: that one is none which stands for a planned one."""
    return [result for result in results if result is not stand_in]


def _compare_run(pair: Pair, partial: Partial | None, kinds: Kinds) -> RunComparison:
    run, base = pair.run, pair.base
    sides = sides_of(run, base, partial)
    comparable = sides.comparable
    kind = kinds.get(run.kind, UNKNOWN)
    before = balanced([sides.before[case_id].results() for case_id in comparable], kind.measure)
    now = balanced([sides.now[case_id] for case_id in comparable], kind.measure)
    replayed = [told for told in map(kind.evidence, run.cases) if told.replayed]
    again = _again(run)
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
        whole=run.whole if partial is not None and partial.by_case else None,
        skipped=sum(_skipped(results) for results in sides.now.values()),
        replay=bool(replayed),
        replayed=len(replayed),
        diverged=sum(told.diverged for told in replayed),
        not_measured=run.not_measured,
        added=base is None,
        replaced=_replacement(pair, sides, kind),
        subject=subject_changes(base.subject, run.subject) if base else [],
        metrics=metric_changes(before if comparable else NOTHING, now, _whole(run, sides, kind.measure)),
        categories=category_changes(before if comparable else NOTHING, now, _gone(sides, kind.measure)),
        cases=_with_old_names(_case_changes(sides, kind), pair) if base else _first_seen(sides, kind),
        confirmation=_confirmation(run, sides),
        beside=side_by_side(run, _seen(sides)),
        again=len(again),
        again_errors=sum(result.status is Status.ERROR and not _unjudged(result) for result in again),
        pass_at=_mean_over_cases(sides, run.trials, pass_at_k),
        pass_all=_mean_over_cases(sides, run.trials, pass_hat_k),
        findings=run.findings,
        sections=kind.sections(run, base),
    )


def _with_old_names(cases: Sequence[CaseChange], pair: Pair) -> list[CaseChange]:
    return [
        case.model_copy(update={"was": pair.renamed[case.id]}) if case.id in pair.renamed else case for case in cases
    ]


def _replacement(pair: Pair, sides: Sides, kind: ComparedKind) -> Replacement | None:
    """Whom the run is compared with instead of itself, and what both come to over the comparable cases."""
    if pair.old is None:
        return None
    ids = sides.comparable
    return Replacement(
        suite=pair.old.suite,
        target=pair.old.target,
        sort=sort_of(pair.old.target),
        named=pair.named,
        before=per_case([sides.before[case].results() for case in ids], kind),
        now=per_case([sides.now[case] for case in ids], kind),
    )


def _whole(run: Run, sides: Sides, measure: Callable[[Sequence[Result]], Measurement]) -> Mapping[str, Metric]:
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


def unusable(run: Run, sides: Sides) -> str | None:
    """Why the confirm stage of a run is no evidence: none was made, it ended early, or no failed case has a valid fresh
    trial. A case whose fresh trials broke costs its own evidence only.
    """
    if not run.confirmation:
        return run.confirm_note or "there was none"
    failed = [case for case in sides.comparable if failing(sides.now[case])]
    why = f" ({run.confirm_note})" if run.confirm_note else ""
    cut = [case for case in failed if all(r.status is Status.SKIPPED for r in sides.fresh.get(case, ()))]
    if cut and run.confirm_note:
        return (
            f"{len(cut)} of {len(failed)} failed cases {'has' if len(cut) == 1 else 'have'} no valid fresh trial{why}"
        )
    if failed and not any(result.valid for case in failed for result in sides.fresh.get(case, ())):
        return f"no failed case has a valid fresh trial{why}"
    return None


def _skipped(results: Sequence[Result]) -> int:
    """Trials that were left out of a case that others of its trials measured: nothing else would tell of them."""
    return sum(r.status is Status.SKIPPED for r in results) if any(r.valid for r in results) else 0


def _errors(run: Run) -> int:
    """Trials that broke, and trials that were planned and left no result at all."""
    broken = sum(result.status is Status.ERROR for result in run.cases)
    return broken + max(0, run.planned - len(run.cases))


def _unjudged(result: Result) -> bool:
    return result.status is Status.ERROR and result.reason == JUDGE_ERROR


def _by_case(results: Iterable[Result]) -> dict[str, list[Result]]:
    grouped: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        grouped[result.id].append(result)
    return grouped


def _gone(sides: Sides, measure: Callable[[Sequence[Result]], Measurement]) -> Mapping[str, CategorySummary]:
    """The baseline's categories that no case of the report has."""
    there = {result.category for results in sides.now.values() for result in results}
    cases = [case for case in sides.before.values() if case.category not in there]
    return measure([trial for case in cases for trial in case.results()]).categories


def _case_changes(sides: Sides, kind: ComparedKind) -> list[CaseChange]:
    ids = sorted({*sides.before, *sides.now})
    changes = [_case_change(case_id, sides.before.get(case_id), sides.now.get(case_id, ()), kind) for case_id in ids]
    return [
        change.model_copy(update={"fresh": Tally.of(sides.fresh[change.id])}) if change.id in sides.fresh else change
        for change in changes
    ]


def _first_seen(sides: Sides, kind: ComparedKind) -> list[CaseChange]:
    return [_case_change(case_id, None, sides.now[case_id], kind) for case_id in sorted(sides.now)]


def _case_change(case_id: str, base: BaselineCase | None, results: Sequence[Result], kind: ComparedKind) -> CaseChange:
    before, now = base.tally if base else None, Tally.of(results)
    category = results[0].category if results else base.category if base else ""
    shown = _worst(results)
    told = [kind.evidence(result) for result in results]
    blamed = NO_EVIDENCE if shown is None else kind.evidence(shown)
    return CaseChange(
        id=case_id,
        category=category,
        change=_change(base, results, before, now),
        before=before,
        now=now,
        checks=[check for check in shown.checks if not check.passed] if shown else [],
        command=blamed.command,
        stderr=blamed.stderr,
        note=_note(results, shown),
        skipped=now is None and any(result.status is Status.SKIPPED for result in results),
        unjudged=now is None and any(_unjudged(result) for result in results),
        trace=shown.trace if shown else None,
        place=results[0].place if results else None,
        wrong=_wrong_answer(told),
        allows=_new_allowances(told, base, kind),
    )


def _new_allowances(told: Sequence[CaseEvidence], base: BaselineCase | None, kind: ComparedKind) -> list[str]:
    """The safety rules that the case lets its answers break, and in the baseline did not."""
    now = {rule for each in told for rule in each.allowances}
    if now and base is not None:
        now -= {rule for each in map(kind.evidence, base.results()) for rule in each.allowances}
    return sorted(now)


def _wrong_answer(told: Sequence[CaseEvidence]) -> WrongAnswer | None:
    """What was answered wrongly; an unsafe answer of one trial before a wrong one of another."""
    unsafe = next((each for each in told if each.unsafe), None)
    found = unsafe or next((each for each in told if each.wrong is not None), None)
    return found.wrong if found else None


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


def _missing_run(run: BaselineRun, partial: Partial | None) -> RunComparison:
    known = sorted(_cases_of(run, partial), key=lambda case: case.id)
    cases = [_case_change(case.id, case, (), UNKNOWN) for case in known]
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
    )
