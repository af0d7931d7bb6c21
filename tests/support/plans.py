"""Outlines of plans and baselines with figures, for planning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalward.records.baseline import Baseline, BaselineCase, BaselineProvenance, BaselineRun, BaselineTrial
from evalward.records.metric import Metric
from evalward.records.outline import OutlinedCase, OutlinedRun, PlanOutline
from evalward.records.report import Subject
from evalward.records.result import Status
from evalward.records.trace import Usage
from evalward.suites.bash.details import BashDetails

MODEL = "anthropic/model-a"


def measured(
    cost: float | None = 0.01, *, tokens: int | None = 1000, ms: int = 60_000, passed: bool = True, turns: int = 3
) -> BaselineTrial:
    """A trial of a baseline; a third of its tokens were written."""
    usage = Usage(input_tokens=tokens and tokens - tokens // 4, output_tokens=tokens and tokens // 4, cost_usd=cost)
    status = Status.PASSED if passed else Status.FAILED
    return BaselineTrial(status=status, usage=usage, duration_ms=ms, details=BashDetails(turns=turns))


def baseline_of(
    cases: Mapping[str, Sequence[BaselineTrial]], target: str = MODEL, suite: str = "bash", *, random: bool = True
) -> Baseline:
    """A baseline of one run with its pass rate."""
    trials = [trial for each in cases.values() for trial in each if trial.status.valid]
    passed = sum(trial.status is Status.PASSED for trial in trials)
    rate = Metric(value=passed / len(trials), numerator=passed, denominator=len(trials), unit="ratio")
    run = BaselineRun(
        suite=suite,
        kind="bash",
        target=target,
        trials=1,
        random=random,
        subject=Subject(hash="sha256:0"),
        metrics={"pass_rate": rate},
        cases=[
            BaselineCase(id=case, category="c", definition=f"sha256:{case}", trials=list(each))
            for case, each in cases.items()
        ],
    )
    provenance = BaselineProvenance(created_at="2026-11-21T08:00:00Z", evalward="0")
    return Baseline(provenance=provenance, runs=[run])


def outlined(
    cases: Mapping[str, int] | Sequence[str],
    *,
    target: str = MODEL,
    suite: str = "bash",
    at_once: int = 4,
    free: bool = False,
    random: bool = True,
    both_sides: bool = False,
    judges: Sequence[str] = (),
    kept: Mapping[str, int] | None = None,
) -> OutlinedRun:
    """A run of an outline: cases with their numbers of trials, one each where none is given."""
    counts = cases if isinstance(cases, Mapping) else dict.fromkeys(cases, 1)
    done = kept or {}
    return OutlinedRun(
        suite=suite,
        kind="bash",
        target=target,
        trials=max(counts.values(), default=1),
        cases=[OutlinedCase(id=case, trials=count, kept=done.get(case, 0)) for case, count in counts.items()],
        whole=len(counts),
        random=random,
        free=free,
        queue="" if free else target,
        at_once=at_once,
        both_sides=both_sides,
        judges=list(judges),
    )


def outline(*runs: OutlinedRun, base: bool = False) -> PlanOutline:
    """An outline of these runs."""
    return PlanOutline(runs=list(runs), base=base)
