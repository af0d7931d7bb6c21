"""Arms of the same trials: whether a run beats the one in which what is evaluated is left out.

Nothing here looks at a baseline, nor at retrials: failures chose these, and with them the arm that failed would do
better than it does. So the planned trials decide, and those that stand for planned ones that broke.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, get_args

from msgspec import Struct

from evalward.decide.drops import Applied
from evalward.decide.kinds import ComparedKind, Contrast
from evalward.decide.parts import RuleFinding
from evalward.decide.portions import Portion, relative
from evalward.decide.samples import is_random
from evalward.decide.statistics.arms import detectable_difference, trial_variance
from evalward.decide.statistics.multiple import holm
from evalward.decide.statistics.permutation import CaseValues, permutation_tails
from evalward.records.codes import arms as codes
from evalward.records.codes.rules import OfMetric
from evalward.records.comparison import RunComparison
from evalward.records.evidence import ArmContrast
from evalward.records.metric import EPSILON
from evalward.records.policy import Arm, Rule
from evalward.records.report import Run
from evalward.records.result import Result

_STAGE: Any = "arm"


class Beaten(Struct, frozen=True):
    """What a rule's `must_beat` says; `explained` also where all is well. Silent without one."""

    finding: RuleFinding = ("ok", "arm", None)
    explained: OfMetric | None = None


def contrasts_of(
    run: Run, results: Sequence[Result], kind: ComparedKind, metrics: Iterable[str] | None = None
) -> list[ArmContrast]:
    """Every metric of the run that compares arms, or those of `metrics`, over these results."""
    arms: tuple[Arm, ...] = get_args(Arm)
    asked = run.metrics if metrics is None else metrics
    found = [(metric, arm, kind.contrast(metric, arm, results)) for metric in asked for arm in arms]
    chosen = [(metric, arm, contrast) for metric, arm, contrast in found if contrast is not None]
    random = bool(chosen) and is_random(run, kind)
    return [_measured(metric, arm, contrast, random=random) for metric, arm, contrast in chosen]


def _measured(metric: str, arm: Arm, contrast: Contrast, *, random: bool) -> ArmContrast:
    cases = [case for case in contrast.cases.values() if case.comparable]
    trials = [len(case.now) for case in cases]
    about: dict[str, Any] = {"metric": metric, "arm": arm, "unit": contrast.unit, "better": contrast.better}
    if not cases:
        return ArmContrast(**about, tried=contrast.tried)
    value = fmean(fmean(case.now) - fmean(case.before) for case in cases)
    found = ArmContrast(**about, tried=contrast.tried, trials=trials, value=value)
    if not random:
        return found
    share = contrast.unit == "points"
    tails = permutation_tails(_each_once(cases if share else [_by_factors(case) for case in cases]))
    better, worse = (tails.low, tails.high) if contrast.better == "lower" else (tails.high, tails.low)
    spread = trial_variance(cases) if share else None
    return found.model_copy(update={"p_better": better, "p_worse": worse, "spread": spread})


def _each_once(cases: Sequence[CaseValues]) -> list[CaseValues]:
    """The cases, those with fewer trials weighted so that the sum over all trials is one of the cases' means."""
    most = max(len(case.now) for case in cases)
    return [case if len(case.now) == most else _times(case, most / len(case.now)) for case in cases]


def _times(case: CaseValues, factor: float) -> CaseValues:
    return CaseValues(*([value * factor for value in side] for side in (case.before, case.now)))


def _by_factors(case: CaseValues) -> CaseValues:
    """Tokens, costs and times as the verdict tests them elsewhere."""
    return relative(*([Portion(value) for value in side] for side in (case.before, case.now)))


def beaten(applied: Sequence[Applied]) -> list[Beaten]:
    """What the `must_beat` of each rule says, in their order.

    A pass needs that each of them is proven, so each is tested at its own alpha. One that is proven worse is enough to
    fail, so those p-values are corrected for how many rules ask (Holm).
    """
    chosen = [_contrast(each) for each in applied]
    asked = [at for at, found in enumerate(chosen) if found is not None and found.p_worse is not None]
    ps = [found.p_worse for found in chosen if found is not None and found.p_worse is not None]
    worse = dict(zip(asked, holm(ps), strict=True))
    return [_beaten(each, found, worse.get(at)) for at, (each, found) in enumerate(zip(applied, chosen, strict=True))]


def _contrast(applied: Applied) -> ArmContrast | None:
    rule = applied.rule
    return next(
        (each for each in applied.run.contrasts if (each.metric, each.arm) == (rule.metric, rule.must_beat)), None
    )


def _beaten(applied: Applied, found: ArmContrast | None, worse: float | None) -> Beaten:
    rule, run = applied.rule, applied.run
    if rule.must_beat is None:
        return Beaten()
    if run.whole is not None:
        return _uncompared(rule, "part")
    if found is None or not found.trials or found.value is None:
        return _uncompared(rule, _why(found, run))
    return _compared(rule, found, worse)


def _compared(rule: Rule, found: ArmContrast, worse: float | None) -> Beaten:
    if found.p_better is None or rule.test == "off":
        better = found.gained > EPSILON
        code = codes.ArmBeaten if better else codes.ArmNotBeaten
        return _said("ok" if better else "fail", code(**_about(rule, found)))
    if found.p_better <= rule.alpha and found.gained > 0:
        return _said("ok", codes.ArmBeaten(**_about(rule, found), p=found.p_better))
    if worse is not None and worse <= rule.alpha and found.gained < 0:
        return _said("fail", codes.ArmWorse(**_about(rule, found), p=worse))
    return _said("inconclusive", codes.ArmUnproven(**_about(rule, found), p=found.p_better, **_able(rule, found)))


def _said(status: Any, found: OfMetric) -> Beaten:
    return Beaten((status, _STAGE, None if status == "ok" else found), found)


def _uncompared(rule: Rule, why: codes.WhyUncompared) -> Beaten:
    """No pass, whatever the reason: only a target for which the arm says nothing isn't held to the rule."""
    found = codes.ArmUncompared(metric=rule.metric, arm=rule.must_beat or "without", why=why)
    return Beaten((_UNCOMPARED[why], _STAGE, found))


_UNCOMPARED: Mapping[codes.WhyUncompared, Any] = {
    "part": "not_judged",
    "says_nothing": "not_available",
    "broke": "inconclusive",
    "never_run": "fail",
}


def _why(found: ArmContrast | None, run: RunComparison) -> codes.WhyUncompared:
    if found is not None and found.tried:
        return "broke"
    return "never_run" if run.random and not run.replay else "says_nothing"


def _about(rule: Rule, found: ArmContrast) -> dict[str, Any]:
    return {
        "metric": rule.metric,
        "arm": found.arm,
        "unit": found.unit,
        "value": found.value,
        "cases": len(found.trials),
        "trials": sum(found.trials),
    }


def _able(rule: Rule, found: ArmContrast) -> dict[str, Any]:
    """What so many trials could have shown; of amounts that isn't known beforehand."""
    if found.spread is None:
        return {}
    detectable = detectable_difference(found.trials, found.spread, alpha=rule.alpha)
    return {"detectable": detectable, "hopeless": detectable is None}
