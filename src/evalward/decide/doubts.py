"""Which doubts are settled by measuring the base beside the head, and with which trials.

The cases are chosen by what planned, fresh and baseline's trials showed. So what is measured then, of both sides in
one session, is a fair sample: had the pull request changed nothing, its trials and the base's could be
swapped (see `evidence`). That holds also where the provider has changed since the baseline, or has a bad day.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalward.decide.beside import rate_of
from evalward.decide.confirm import Retrials, comparable, evenly
from evalward.decide.drops import Applied, Drop, answerable, decide_drops
from evalward.decide.evidence import excess
from evalward.decide.rules import judged, rules_of_run
from evalward.decide.samples import Samples
from evalward.records.comparison import CaseChange, Comparison, RunComparison
from evalward.records.metric import EPSILON
from evalward.records.policy import Confirm, Policy, Rule

SIDES = 2  # the trials of either side, in those that a confirm stage may have: what two sides need costs two


def to_settle(
    comparison: Comparison, samples: Samples, policy: Policy, defaults: Mapping[str, Sequence[Rule]]
) -> list[Retrials]:
    """What to measure of both sides, after the confirm stage: trials per case and side, each `Retrials` being `beside`.

    Asked where a drop that the failed cases can answer would fail the check or stay in doubt. Nothing where the policy
    doesn't want it, chance plays no part, or it was done already.
    """
    confirm = policy.confirm
    if confirm is None or confirm.base == "off" or comparison.interrupted:
        return []
    applied = [
        each
        for run in comparison.runs
        if judged(run) and run.random and run.beside is None
        for each, _ in rules_of_run(run, policy.rules, defaults)
        if answerable(each, samples)
    ]
    drops = decide_drops(applied, samples, confirm)
    asking: dict[int, list[Drop]] = {}
    for each, drop in zip(applied, drops, strict=True):
        if _in_doubt(each, drop):
            asking.setdefault(id(each.run), []).append(drop)
    runs = [run for run in comparison.runs if id(run) in asking]
    return [retry for run in runs if (retry := _retry(run, confirm, asking[id(run)])) is not None]


def _in_doubt(applied: Applied, drop: Drop) -> bool:
    """True for a drop that is in doubt, would fail the check, or is none only because others did better by chance."""
    return drop.status != "ok" or (
        not drop.won and excess(applied.rule, -_share_lost_for_good(applied.run)) is not None
    )


def _share_lost_for_good(run: RunComparison) -> float:
    """The share of cases that the baseline passes, and that failed in every fresh trial again."""
    gone = [case for case in run.cases if comparable(case) and case.before is not None and case.before.passes]
    lost = [case for case in gone if case.now is not None and not case.now.passes]
    return sum(case.fresh is not None and not case.fresh.passed for case in lost) / max(run.comparable, 1)


def _retry(run: RunComparison, confirm: Confirm, drops: Sequence[Drop]) -> Retrials | None:
    """Cases that did worse than in the baseline: of those tried again, or, where all fell a little, of all."""
    spread = any(drop.evidence is not None and drop.evidence.spread for drop in drops)
    doubtful = [case for case in run.cases if _worse(case) and (spread or case.now is None or not case.now.passes)]
    if not doubtful:
        return None
    ids = [case.id for case in doubtful]
    trials = evenly(ids, confirm.base_trials, _most(run, ids, confirm))
    was = (run.replaced.suite, run.replaced.target) if run.replaced is not None else None
    return Retrials(run.suite, run.target, trials, beside=True, was=was)


def _most(run: RunComparison, cases: Sequence[str], confirm: Confirm) -> int:
    """The trials that one side may have: twice as many as the confirm stage, and two of each case at least."""
    return max(2 * len(cases), int(SIDES * confirm.at_most * run.planned))


def _worse(case: CaseChange) -> bool:
    """A comparable case that passed less often, in planned and fresh trials together, than in the baseline."""
    if not comparable(case) or case.before is None or case.now is None:
        return False
    seen = [tally for tally in (case.now, case.fresh) if tally is not None]
    return rate_of(seen) < rate_of([case.before]) - EPSILON
