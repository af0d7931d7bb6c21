"""What a plan could show: the smallest drop that so many trials can prove, before any of them is run.

What is said is what can't be: fewer broken cases than that are by themselves no proof, by the exact test, with all of
`alpha` that a rule has; more questions only ask for more. The drop over all cases that would be seen is the one that
reports name, too (`decide.evidence`), with the noise of the baseline's trials.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import comb

from msgspec import Struct, field

from evalward.decide.confirm import evenly
from evalward.decide.doubts import SIDES
from evalward.decide.evidence import BEYOND, LOOK, POWER
from evalward.decide.statistics.power import minimum_detectable_effect, within_case_variance
from evalward.decide.statistics.stratified import CaseTrials
from evalward.records.baseline import BaselineCase, BaselineRun
from evalward.records.budget import Budget
from evalward.records.metric import EPSILON, Metric
from evalward.records.outline import OutlinedRun
from evalward.records.plan import Sight, Unseen
from evalward.records.policy import Confirm, Policy, Rule


class PlanJudging(Struct, frozen=True):
    """What a plan is going to be judged by. `defaults` are each kind's own rules; `compares`: it is judged at all.

    `batch_wait_s`: seconds that the run waits for batches.
    """

    policy: Policy = field(default_factory=Policy)
    defaults: Mapping[str, Sequence[Rule]] = field(default_factory=dict)
    compares: bool = True
    budget: Budget = field(default_factory=Budget)
    batch_wait_s: int | None = None


def foreseen(run: OutlinedRun, known: BaselineRun | None, judging: PlanJudging, *, base: bool) -> Sight | Unseen:
    """What a run could show, or why that can't be said. `base`: the base can be measured alongside the head."""
    if known is None:
        return "not_in_baseline"
    confirm = judging.policy.confirm if judging.compares else None
    rule = _strictest(run, known, judging)
    if rule is None:
        return "no_drop_rule"
    by_id = {case.id: case for case in known.cases}
    common = [by_id[case.id] for case in run.cases if case.id in by_id and by_id[case.id].valid_trials]
    if not common:
        return "no_common_case"
    count, drop = len(common), rule.max_drop or 0.0
    convicting = _convicting(run, common, rule, confirm, base=base) if _by_chance(run, rule) else 1
    return Sight(
        metric=rule.metric,
        cases=count,
        allowed=min(count, int(drop * count + EPSILON)),
        convicting=convicting,
        detectable=_detectable(run, common, rule) if _by_chance(run, rule) else None,
    )


def _by_chance(run: OutlinedRun, rule: Rule) -> bool:
    return run.random and rule.test == "exact"


def _strictest(run: OutlinedRun, known: BaselineRun, judging: PlanJudging) -> Rule | None:
    """The rule that allows the smallest drop of a share of the cases."""
    named = [rule for rule in judging.policy.rules if rule.holds_for(run.suite, run.target)]
    taken = {rule.metric for rule in named}
    rules = [*named, *(rule for rule in judging.defaults.get(run.kind, ()) if rule.metric not in taken)]
    trials = sum(case.valid_trials for case in known.cases)
    found = [rule for rule in rules if rule.max_drop is not None and _is_share(known.metrics.get(rule.metric), trials)]
    return min(found, key=lambda rule: rule.max_drop or 0.0, default=None)


def _is_share(metric: Metric | None, trials: int) -> bool:
    """True for a share of trials, each a yes or no: of all of them, whatever they are averaged over."""
    if metric is None or metric.unit != "ratio" or metric.numerator is None or not metric.denominator:
        return False
    return trials > 0 and metric.denominator == trials and metric.numerator.is_integer()


def _convicting(
    run: OutlinedRun, cases: Sequence[BaselineCase], rule: Rule, confirm: Confirm | None, *, base: bool
) -> int | None:
    """The fewest cases that have to break, from always passing to always failing, before chance is excluded."""
    before = sorted((run.trials if run.both_sides else case.valid_trials for case in cases), reverse=True)
    planned = run.planned
    asked = confirm if rule.confirm else None
    for broken in range(1, len(before) + 1):
        pairs = [[(trials, run.trials) for trials in before[:broken]]]  # the planned trials
        if asked is not None:
            fresh = _shared(broken, asked.trials, max(broken, int(asked.at_most * planned)))
            pairs.append(list(zip(before, fresh, strict=False)))
        if asked is not None and base:
            most = max(2 * broken, int(SIDES * asked.at_most * planned))
            pairs.append([(trials, trials) for trials in _shared(broken, asked.base_trials, most)])
        shares = [1.0, LOOK, 1.0]
        if any(_p(pair) <= rule.alpha * share for pair, share in zip(pairs, shares, strict=False)):
            return broken
    return None


def _shared(cases: int, each: int, most: int) -> list[int]:
    return list(evenly([str(number) for number in range(cases)], each, most).values())


def _p(cases: Iterable[tuple[int, int]]) -> float:
    """The smallest p that there is: every trial before passed, and none now."""
    ways = 1
    for before, now in cases:
        ways *= comb(before + now, now)
    return 1 / ways


def _detectable(run: OutlinedRun, cases: Sequence[BaselineCase], rule: Rule) -> float | None:
    """The drop over all cases that would be seen at least four times out of five, as reports say it."""
    counts = [CaseTrials(tally.passed, tally.trials, 0, 0) for case in cases if (tally := case.tally) is not None]
    before = run.trials if run.both_sides else sum(each.trials_before for each in counts) / len(counts)
    noise = within_case_variance(counts).before.value
    found = minimum_detectable_effect(len(counts), before, run.trials, noise, noise, alpha=rule.alpha, power=POWER)
    size = None if found is None else (rule.max_drop or 0.0) + BEYOND * found
    return size if size is not None and size <= 1 else None
