"""What a run will probably use and could show, from its outline and what a baseline has measured. Nothing is run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb

from evalward.decide.doubts import SIDES
from evalward.decide.figures import KnownFigures
from evalward.decide.foresee import PlanJudging, foreseen
from evalward.decide.staleness import FEW_TRIALS
from evalward.records.baseline import Baseline, BaselineRun
from evalward.records.outline import OutlinedHarness, OutlinedRun, PlanOutline
from evalward.records.plan import (
    CostPlan,
    ExtraTrials,
    OverBudget,
    PlanBaseline,
    PlannedAmount,
    PlannedHarnessUse,
    PlannedRunUse,
    PlannedUse,
    Sight,
    SkippedPart,
    WallTime,
    add_use,
    estimate,
)
from evalward.records.policy import Confirm
from evalward.records.unchanged import UNCHANGED

_UNKNOWN = PlannedAmount(open=True)
_UNKNOWN_USE = PlannedUse(
    requests=_UNKNOWN, input_tokens=_UNKNOWN, output_tokens=_UNKNOWN, cost_usd=_UNKNOWN, trial_ms=_UNKNOWN
)
_NO_USE = add_use([])


@dataclass(frozen=True)
class _Costed:
    """A run that is measured, what the baseline knows of it, and what its trials use."""

    run: OutlinedRun
    known: BaselineRun | None
    figures: KnownFigures

    @property
    def sides(self) -> int:
        return SIDES if self.run.both_sides else 1

    def due(self) -> list[tuple[str, int]]:
        """The trials that are left, by case; the base's among them, none of which is kept."""
        of_base = self.sides - 1
        return [(case.id, case.due + of_base * case.trials) for case in self.run.cases]

    @property
    def compared(self) -> bool:
        """Whether a stage after the planned trials may try cases again: chance plays a part, and there is a before."""
        return self.run.random and (self.known is not None or self.run.both_sides)


def cost_plan(outline: PlanOutline, baseline: Baseline | None, judging: PlanJudging) -> CostPlan:
    """Trials, requests, tokens, dollars and minutes of a run, what it could show, and what is skipped."""
    known = {(run.suite, run.target, run.kind): run for run in baseline.runs} if baseline else {}
    measured = [_costed(run, known) for run in outline.runs if run.not_measured is None]
    harnesses = [_harness(each, baseline) for each in outline.harnesses if each.not_measured is None]
    runs = [_run(each, judging, has_baseline=baseline is not None, base=outline.base) for each in measured]
    confirm, beside = _stages(measured, judging, base=outline.base)
    use = add_use([*(run.usage for run in runs), *(each.usage for each in harnesses)])
    return CostPlan(
        baseline=_source(baseline),
        runs=runs,
        harnesses=harnesses,
        skipped=list(_skipped(outline)),
        due=sum(run.due for run in runs),
        kept=sum(run.kept for run in runs),
        usage=use,
        wall=_wall(measured, open_end=any(each.command for each in harnesses)),
        confirm=confirm,
        beside=beside,
        over=list(_over(use, judging, [each for each in (confirm, beside) if each is not None])),
        batch_wait_s=judging.batch_wait_s if any(run.batched for run in runs) else None,
    )


def _source(baseline: Baseline | None) -> PlanBaseline | None:
    if baseline is None:
        return None
    return PlanBaseline(created_at=baseline.provenance.created_at, commit=baseline.provenance.commit)


def _costed(run: OutlinedRun, known: Mapping[tuple[str, str, str], BaselineRun]) -> _Costed:
    """With what the baseline knows of the run under its name, or its suite's former one: another target costs other."""
    found = known.get((run.suite, run.target, run.kind)) or known.get((run.was or "", run.target, run.kind))
    return _Costed(run, found, KnownFigures.of(found, free=run.free, batched=run.batched))


def _run(each: _Costed, judging: PlanJudging, *, has_baseline: bool, base: bool) -> PlannedRunUse:
    run, due = each.run, each.due()
    found = foreseen(run, each.known, judging, base=base) if has_baseline else "no_baseline"
    seen = found if isinstance(found, Sight) else None
    return PlannedRunUse(
        suite=run.suite,
        kind=run.kind,
        target=run.target,
        cases=len(run.cases),
        trials=run.trials,
        due=sum(count for _, count in due),
        of_base=run.planned if run.both_sides else 0,
        kept=sum(min(case.kept, case.trials) for case in run.cases),
        cases_new=sum(case.id not in each.figures.by_case for case in run.cases),
        in_baseline=each.known is not None,
        free=run.free,
        judges=run.judges,
        missing_key=run.missing_key,
        usage=each.figures.use(due, more=bool(run.judges)),
        wall=_wall([each]),
        seen=seen,
        unseen=None if isinstance(found, Sight) else found,
        random=run.random,
        batched=run.batched,
    )


# --- time -----------------------------------------------------------------------------------------------------------


def _wall(runs: Sequence[_Costed], *, open_end: bool = False) -> WallTime:
    """Between which bounds the clock will be when each queue starts its trials in order, so many at a time.

    List scheduling: never under the longest trial or the sum over the places, never over that sum and the longest
    trial's share of it (Graham 1969). Queues work side by side. `open_end`: something else takes time as well.
    """
    queues: dict[str, list[tuple[float | None, int]]] = defaultdict(list)
    places: dict[str, int] = {}
    for each in runs:
        queue = each.run.queue
        places[queue] = each.run.at_once
        queues[queue] += [(each.figures.of_trial(case).get("trial_ms"), count) for case, count in each.due() if count]
    bounds = [_bounds(trials, places[queue]) for queue, trials in queues.items()]
    least = max((low for low, _ in bounds), default=0.0)
    known = [high for _, high in bounds if high is not None]
    complete = len(known) == len(bounds) and not open_end
    return WallTime(
        least_ms=estimate(least, more=not complete).amount,
        most_ms=estimate(max(known, default=0.0)).amount if complete else None,
    )


def _bounds(trials: Sequence[tuple[float | None, int]], places: int) -> tuple[float, float | None]:
    known = [(ms, count) for ms, count in trials if ms is not None]
    total, longest = sum(ms * count for ms, count in known), max((ms for ms, _ in known), default=0.0)
    most = total / places + longest * (1 - 1 / places)
    return max(longest, total / places), most if len(known) == len(trials) else None


# --- the stages after the planned trials ----------------------------------------------------------------------------


def _stages(
    runs: Sequence[_Costed], judging: PlanJudging, *, base: bool
) -> tuple[ExtraTrials | None, ExtraTrials | None]:
    """What the confirm stage may add, and what both sides may where a doubt is left."""
    confirm = judging.policy.confirm
    compared = [each for each in runs if each.compared and each.run.cases]
    if confirm is None or not judging.compares or not compared:
        return None, None
    fresh = [_fresh(each, confirm) for each in compared]
    beside = [_beside(each, confirm) for each in compared]
    return _added(fresh), _added(beside) if base and confirm.base != "off" else None


def _added(parts: Sequence[ExtraTrials]) -> ExtraTrials:
    costs, usual = [part.most_usd for part in parts], [part.usual for part in parts]
    return ExtraTrials(
        most=sum(part.most for part in parts),
        most_usd=None if None in costs else sum(cost or 0.0 for cost in costs),
        usual=None if None in usual else sum(each or 0.0 for each in usual),
    )


def _fresh(each: _Costed, confirm: Confirm) -> ExtraTrials:
    cases, planned = len(each.run.cases), each.run.planned
    most = min(confirm.trials * cases, max(cases, int(confirm.at_most * planned)))
    usual = _usual(each, confirm)
    return ExtraTrials(
        most=most,
        most_usd=_dearest(each, confirm.trials, most),
        usual=None if usual is None else min(usual, most),
    )


def _beside(each: _Costed, confirm: Confirm) -> ExtraTrials:
    cases, planned = len(each.run.cases), each.run.planned
    most = min(confirm.base_trials * cases, max(2 * cases, int(SIDES * confirm.at_most * planned)))
    cost = _dearest(each, confirm.base_trials, most)
    return ExtraTrials(most=SIDES * most, most_usd=None if cost is None else SIDES * cost)


def _dearest(each: _Costed, trials: int, most: int) -> float | None:
    """What the dearest choice of cases costs, so many trials of each; `None` where a cost isn't known."""
    if each.run.judges:
        return None
    costs = [each.figures.of_trial(case.id).get("cost_usd") for case in each.run.cases]
    known = sorted((cost for cost in costs if cost is not None), reverse=True)
    if len(known) < len(costs):
        return None
    counts = [max(0, min(trials, most - trials * number)) for number in range(len(known))]
    return sum(cost * count for cost, count in zip(known, counts, strict=True))


def _usual(each: _Costed, confirm: Confirm) -> float | None:
    """The fresh trials that an unchanged run asks for on average, if each case passes as often as it did.

    Every failed case is tried again where one of them used to pass. `None` where the baseline has too few trials of a
    case to say how often it passes.
    """
    by_id = {case.id: case for case in each.known.cases} if each.known else {}
    failing = usually_failing = 0.0
    none_lost = 1.0
    for case in each.run.cases:
        tally = by_id[case.id].tally if case.id in by_id else None
        if tally is None or tally.trials < FEW_TRIALS:
            return None
        fails = _fails(tally.passed / tally.trials, each.run.trials)
        failing, usually_failing = (
            (failing + fails, usually_failing) if tally.passes else (failing, usually_failing + fails)
        )
        none_lost *= 1 - fails if tally.passes else 1.0
    return confirm.trials * (failing + usually_failing * (1 - none_lost))


def _fails(rate: float, trials: int) -> float:
    """How probable it is that half or more of so many trials fail."""
    passes = range(trials // 2 + 1)
    return sum(comb(trials, n) * rate**n * (1 - rate) ** (trials - n) for n in passes)


# --- what others run, what is not run, what is too much -------------------------------------------------------------


def _harness(each: OutlinedHarness, baseline: Baseline | None) -> PlannedHarnessUse:
    """What one trial of each case that the baseline has uses: how many there will be, only the harness knows."""
    runs = [run for run in baseline.runs if (run.suite, run.kind) == (each.suite, each.kind)] if baseline else []
    cases = sum(len(run.cases) for run in runs)
    times = each.trials or 1
    parts = [KnownFigures.of(run).use([(case.id, times) for case in run.cases], more=True) for run in runs]
    return PlannedHarnessUse(
        suite=each.suite,
        kind=each.kind,
        source=each.source,
        command=each.command,
        cases=cases or None,
        missing_key=each.missing_key,
        usage=_NO_USE if not each.command else add_use(parts) if parts else _UNKNOWN_USE,
    )


def _skipped(outline: PlanOutline) -> Iterator[SkippedPart]:
    for run in outline.runs:
        if run.not_measured is not None:
            yield SkippedPart(suite=run.suite, target=run.target, why=run.not_measured)
        elif run.standing:
            of_all = f"{run.standing:,} of {run.standing + len(run.cases):,} cases"
            yield SkippedPart(suite=run.suite, target=run.target, why=f"{of_all}: {UNCHANGED}")
    for each in outline.harnesses:
        if each.not_measured is not None:
            yield SkippedPart(suite=each.suite, why=each.not_measured)
    for left in outline.left_out:
        yield SkippedPart(suite=left.suite, target=left.target)


def _over(use: PlannedUse, judging: PlanJudging, extras: Sequence[ExtraTrials]) -> Iterator[OverBudget]:
    """The budgets that the plan exceeds by what is known of it, or with all that may be added."""
    usd, tokens = use.cost_usd.amount, (use.input_tokens.amount or 0.0) + (use.output_tokens.amount or 0.0)
    budget = judging.budget
    if budget.usd is not None and budget.usd_now is not None and usd is not None:
        most = usd + sum(extra.most_usd or 0.0 for extra in extras)
        surely, kept = usd > budget.usd_now, budget.usd - budget.usd_now
        if surely or most > budget.usd:
            yield OverBudget(budget="usd", limit=budget.usd, needs=usd if surely else most, kept=kept, surely=surely)
    if budget.tokens is not None and budget.tokens_now is not None and tokens > budget.tokens_now:
        yield OverBudget(budget="tokens", limit=budget.tokens, needs=tokens, kept=budget.tokens - budget.tokens_now)
