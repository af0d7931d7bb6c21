"""How sure a difference is: from the trials of both sides to the numbers that a rule is decided on.

Metrics whose trials are a yes or no each are tested by the exact stratified test, all others by the exact permutation
test: had nothing changed, a case's trials could as well have been dealt out the other way round. Both hold for any
numbers of trials on the two sides. Where a confirm stage tried the failed cases again, its fresh trials count: the
planned ones chose the cases, so they can't be evidence against them. Where the base was measured again beside the head,
these trials alone decide: whatever a provider does to a session, it does to both sides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from msgspec import Struct, structs

from evalward.decide.portions import NONE, relative, residuals
from evalward.decide.samples import CasePair, Observed, RunSamples, Sample
from evalward.decide.statistics.intervals import mean_difference, padded_difference, paired_rate_difference
from evalward.decide.statistics.permutation import CaseValues, permutation_tails
from evalward.decide.statistics.power import fewest_broken_cases, minimum_detectable_effect, within_case_variance
from evalward.decide.statistics.stratified import CaseTrials, case_trials, stratified_worse
from evalward.decide.statistics.student import normal_quantile
from evalward.records import evidence as records
from evalward.records.metric import EPSILON
from evalward.records.policy import Confirm, Rule

SUPPORT = 0.2  # p of the fresh trials up to which they point the same way as the planned ones
LOOK = 0.5  # the share of alpha that each of two looks has: at the fresh trials, and at the planned ones
POWER = 0.8  # how often a change of the size "detectable" would be seen, at least
BEYOND = (
    1.75  # by how many effects of one test it has to go beyond what is allowed, so that all stages see it (simulated)
)


class WorseQuestion(Struct, frozen=True):
    """Did this metric get worse? `falls`: worse is lower, as in a drop; else higher, as in a rise."""

    rule: Rule
    sample: Sample
    run: RunSamples
    confirm: Confirm | None
    delta: float
    falls: bool


class Look(Struct, frozen=True):
    """One look at the trials: p, the share of `alpha` that it has, and the difference that it shows.

    `open`: what is added to the difference by cases that should have been tried and were not, for all that is known.
    """

    p: float
    delta: float
    share: float = 1.0
    open: float = 0.0
    confirmed: bool = False
    both_sides: bool = False
    spread: bool = False


def evidence_for(question: WorseQuestion) -> records.Evidence:
    """The evidence, before it is corrected for the number of questions."""
    sample, rule = question.sample, question.rule
    pairs = sample.pairs
    detectable, assumed = _detectable(sample, question)
    interval, look = _interval(sample, question.delta), _look(question)
    if look.confirmed and not look.both_sides and not look.spread and _is_spread(question, look, interval):
        look = structs.replace(look, spread=True)
    return records.Evidence(
        test="stratified" if sample.counted else "permutation",
        cases=len(pairs),
        trials_before=_mean_trials([pair.before for pair in pairs]),
        trials_now=_mean_trials([pair.now for pair in pairs]),
        delta=look.delta,
        open=look.open,
        confirmed=look.confirmed,
        beside=look.both_sides,
        spread=look.spread,
        interval=interval,
        detectable=detectable,
        assumed=assumed,
        p=look.p,
        share=look.share,
        alpha=rule.alpha,
    )


def excess(rule: Rule, delta: float) -> float | None:
    """By how much a difference is worse than the rule allows, `None` when it isn't."""
    if rule.max_drop is not None and -delta > rule.max_drop + EPSILON:
        return -delta - rule.max_drop
    if rule.max_rise is not None and delta > rule.max_rise + EPSILON:
        return delta - rule.max_rise
    return None


def _look(question: WorseQuestion) -> Look:
    """What decides: the base beside the head where that was measured, else the confirm stage, else what was planned."""
    sample, run = question.sample, question.run
    if question.rule.confirm and confirmable(sample, falls=question.falls):
        settled = [pair for pair in sample.pairs if pair.id in run.settled and _side_by_side(pair) is not pair]
        if settled:
            return _settled(question, settled)
        retried = [pair for pair in sample.pairs if pair.id in run.confirmed and pair.fresh is not None]
        if retried:
            return _confirmed(question, retried)
    return Look(_p(sample, sample.pairs, falls=question.falls), question.delta)


def _settled(question: WorseQuestion, settled: Sequence[CasePair]) -> Look:
    """Head against base, case by case, in one session; with all of alpha, for it is the only look that decides."""
    sample = question.sample
    both = [_side_by_side(pair) for pair in settled]
    p = _p(sample, both, falls=question.falls)
    return Look(p, _delta_of(both, sample.pairs), open=_left_open(question), confirmed=True, both_sides=True)


def _confirmed(question: WorseQuestion, retried: Sequence[CasePair]) -> Look:
    """The fresh trials of the cases that failed, or, where these don't tell of all and say more, the planned ones.

    A drop spread over all cases shows in the planned trials, a broken case in the fresh ones. Each is a fair test of
    its own; looking at both costs, so each gets half of `alpha` (Bonferroni). Where every failure was tried again and
    the fresh trials don't point the same way, the failures didn't repeat, and the planned trials count no more; where
    not every failure was, the planned trials alone know how large the drop is.
    """
    sample, falls, rule = question.sample, question.falls, question.rule
    again = [pair._replace(now=pair.fresh) for pair in retried if pair.fresh is not None]
    fresh = Look(
        _p(sample, again, falls=falls), _delta_of(again, sample.pairs), LOOK, _left_open(question), confirmed=True
    )
    all_retried = {pair.id for pair in sample.pairs if pair.failed} <= {pair.id for pair in retried}
    convicts = fresh.p <= LOOK * rule.alpha and excess(rule, fresh.delta) is not None
    if convicts or (all_retried and fresh.p > SUPPORT) or excess(rule, question.delta) is None:
        return fresh
    p = _p(sample, sample.pairs, falls=falls)
    return structs.replace(fresh, p=p, spread=not all_retried) if p <= LOOK * rule.alpha else fresh


def _is_spread(question: WorseQuestion, look: Look, interval: records.Interval | None) -> bool:
    """True for a drop over so many cases that those which were tried again hold only a small part of it.

    The fresh trials tell of these cases only. So where they are worse than the baseline, too, and the planned trials
    put the whole interval of the difference beyond what is allowed, the drop is as large as these say.
    """
    if interval is None or question.delta * look.delta <= 0 or excess(question.rule, look.delta) is not None:
        return False
    nearest = interval.high if question.delta < 0 else interval.low
    return nearest * question.delta > 0 and excess(question.rule, nearest) is not None


def _left_open(question: WorseQuestion) -> float:
    """What the cases that should have been tried again, and were not, contribute for the worse: as planned trials say.

    These chose the cases, so it is an upper bound, and evidence of nothing.
    """
    missing = [pair for pair in question.sample.pairs if pair.id in question.run.open]
    worse = min if question.falls else max
    return worse(0.0, _delta_of(missing, question.sample.pairs))


def _side_by_side(pair: CasePair) -> CasePair:
    """The pair with the base, measured again, as "before" and the head beside it as "now"; itself without these."""
    if pair.again is None or pair.aside is None:
        return pair
    return pair._replace(before=pair.again, now=pair.aside)


def confirmable(sample: Sample, *, falls: bool) -> bool:
    """True for a share that is at its best in every case without a failed trial: then trying the failed ones again
    tells all that there is to tell.
    """
    best = 1.0 if falls else 0.0
    fine = [pair.now.value for pair in sample.pairs if not pair.failed]
    return sample.unit == "ratio" and all(abs(value - best) <= EPSILON for value in fine)


def steady_delta(question: WorseQuestion) -> float:
    """What the cases that give the same twice contribute to the difference of a share; 0 where there are none."""
    sample, steady = question.sample, question.run.steady
    if sample.unit != "ratio" or not steady:
        return 0.0
    change = math.fsum((p.now.value - p.before.value) * _weight(p) for p in sample.pairs if p.id in steady)
    total = math.fsum(_weight(pair) for pair in sample.pairs)
    return change / total if total else 0.0


def better(question: WorseQuestion) -> bool:
    """True when the metric as a whole got better by more than chance does, in the planned trials."""
    sample, rule, delta = question.sample, question.rule, question.delta
    moved = delta > 0 if question.falls else delta < 0
    return moved and _p(sample, sample.pairs, falls=not question.falls) <= rule.alpha


def _p(sample: Sample, pairs: Sequence[CasePair], *, falls: bool) -> float:
    if sample.counted:
        return stratified_worse([_counts(sample, pair, falls=falls) for pair in pairs])
    known: dict[tuple[Observed, Observed], CaseValues] = {}  # most cases share their observations with others
    for pair in pairs:
        if (pair.before, pair.now) not in known:
            known[pair.before, pair.now] = _values(sample, pair)
    tails = permutation_tails([known[pair.before, pair.now] for pair in pairs])
    return tails.low if falls else tails.high


def _values(sample: Sample, pair: CasePair) -> CaseValues:
    """What the test deals out: shares by what they are shares of, all else by factors."""
    sides = (pair.before.portions, pair.now.portions)
    if sample.unit in {"ratio", "points"}:
        return residuals(*([NONE if one is None else one for one in side] for side in sides))
    return relative(*([one for one in side if one is not None] for side in sides))


def _counts(sample: Sample, pair: CasePair, *, falls: bool = True) -> CaseTrials:
    return case_trials(*_good(sample, pair.before, falls), *_good(sample, pair.now, falls))


def _good(sample: Sample, side: Observed, falls: bool) -> tuple[int, int]:
    """How many trials went well, of how many: those that count, or, where the metric shall not rise, the others."""
    good, trials = sample.good(side)
    return (good if falls else trials - good), trials


def _weight(pair: CasePair) -> float:
    return (pair.before.per_trial + pair.now.per_trial) / 2


def _delta_of(retried: Sequence[CasePair], pairs: Sequence[CasePair]) -> float:
    """(Σ now − Σ before) over the cases that were asked, as a share of all comparable ones."""
    weights = {pair.id: _weight(pair) for pair in pairs}
    change = math.fsum((pair.now.value - pair.before.value) * weights[pair.id] for pair in retried)
    total = math.fsum(weights.values())
    return change / total if total else 0.0


def _interval(sample: Sample, delta: float) -> records.Interval | None:
    if sample.plain and all(_weight(pair) > 0 for pair in sample.pairs):
        found = paired_rate_difference([_counts(sample, pair) for pair in sample.pairs])
        return records.Interval(low=found.low, high=found.high) if found else None
    spread = _contributions(sample, delta)
    if not spread:
        return None
    found = mean_difference(spread)
    if sample.unit == "ratio":
        fewest = min(min(pair.before.trials, pair.now.trials) for pair in sample.pairs)
        found = padded_difference(spread, 1 / fewest)
    return records.Interval(low=found.low, high=found.high) if found and found.high > found.low else None


def _contributions(sample: Sample, delta: float) -> list[float]:
    """What each case contributes to the difference: numbers whose mean is `delta`. Empty where it is unknown apart.

    For shares these are the residuals of a ratio of means; for sums over the suite each case counts as many times as
    there are cases.
    """
    pairs = sample.pairs
    if sample.unit == "ratio":
        return [delta + now - before for before, now in zip(_residuals(pairs, 0), _residuals(pairs, 1), strict=True)]
    plain = [pair.now.value - pair.before.value for pair in pairs]
    scale = max(1.0, abs(delta))
    for factor in (float(len(pairs)), 1.0):
        if abs(fmean(plain) * factor - delta) <= 1e-6 * scale:
            return [value * factor for value in plain]
    return []


def _residuals(pairs: Sequence[CasePair], side: int) -> list[float]:
    seen = [(each.value, each.per_trial) for each in ((pair.before, pair.now)[side] for pair in pairs)]
    total = math.fsum([weight for _, weight in seen])
    mean, rate = total / len(seen) or 1.0, math.fsum([value * weight for value, weight in seen]) / (total or 1.0)
    return [(value - rate) * weight / mean for value, weight in seen]


def _detectable(sample: Sample, question: WorseQuestion) -> tuple[float | None, bool]:
    """A drop over all cases that would be seen, and whether the noise behind it is assumed."""
    found, assumed = _effect(sample, question)
    if found is None:
        return None, assumed
    size = (question.rule.max_drop if question.falls else question.rule.max_rise or 0.0) or 0.0
    size += BEYOND * found
    return (None if sample.unit == "ratio" and size > 1 else size), assumed


def _effect(sample: Sample, question: WorseQuestion) -> tuple[float | None, bool]:
    """The smallest change that one test of the planned trials, with all of alpha, would find."""
    n, alpha = len(sample.pairs), question.rule.alpha
    if sample.plain:
        variance = within_case_variance([_counts(sample, pair) for pair in sample.pairs])
        before, now = _mean_trials([p.before for p in sample.pairs]), _mean_trials([p.now for p in sample.pairs])
        found = minimum_detectable_effect(
            n, before, now, variance.before.value, variance.now.value, alpha=alpha, power=POWER
        )
        return found, variance.before.assumed or variance.now.assumed
    spread = _contributions(sample, question.delta)
    if len(spread) < 2 or not stdev(spread):
        return None, False
    return (normal_quantile(1 - alpha) + normal_quantile(POWER)) * stdev(spread) / math.sqrt(n), False


def fewest(question: WorseQuestion, part: float) -> int | None:
    """How many cases have to break before the exact test can be sure, with the baseline and the trials that there are,
    and with this part of alpha, which others' questions leave to it.

    Where nothing was lost, no confirm stage was called for: then its trials count, as it would be made.
    """
    sample, confirm = question.sample, question.confirm
    if not sample.counted:
        return None
    planned = round(_mean_trials([pair.now for pair in sample.pairs]))
    lost = any(pair.failed and _mostly_good(sample, pair.before, question.falls) for pair in sample.pairs)
    stage = question.rule.confirm and (bool(question.run.confirmed) or not lost)
    again = confirm.trials if confirm and stage and confirmable(sample, falls=question.falls) else None
    tries, share = (planned, 1.0) if again is None else (again, LOOK)
    return fewest_broken_cases([pair.before.trials for pair in sample.pairs], tries, question.rule.alpha * share * part)


def _mostly_good(sample: Sample, side: Observed, falls: bool) -> bool:
    good, tries = _good(sample, side, falls)
    return 2 * good > tries


def _mean_trials(sides: Sequence[Observed]) -> float:
    return fmean(side.trials for side in sides) if sides else 0.0
