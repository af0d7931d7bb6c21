"""Which cases a confirm stage tries again, and how often.

The cases are chosen by what failed now, and by nothing else: then the fresh trials are a fair sample, and deciding on
them alone keeps the false alarm rate (see `evidence`). Of several planned trials most have to fail: what failed one of
five would only dilute what broke. Known cases of which every planned trial broke are tried again, too: a fresh trial
then stands for the planned ones. One verdict has one confirm stage at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from evalward.decide.rules import judged, rules_of_run
from evalward.records.baseline import Baseline
from evalward.records.comparison import CaseChange, Comparison, RunComparison
from evalward.records.metric import EPSILON
from evalward.records.policy import Confirm, Limits, Policy, Rule


class Retrials(Struct, frozen=True):
    """The fresh trials of one run: how many of which case; of the head alone, or, `beside`, on either side.

    `was`: the suite and target that the run takes the place of. On the base's side it is these that are measured.
    """

    suite: str
    target: str
    trials: Mapping[str, int]
    beside: bool = False
    was: tuple[str, str] | None = None

    @property
    def name(self) -> str:
        """`suite × target`."""
        return f"{self.suite} × {self.target}"

    @property
    def total(self) -> int:
        """All fresh trials together."""
        return sum(self.trials.values())


def may_confirm(policy: Policy, baseline: Baseline | None) -> bool:
    """Whether a confirm stage can follow the planned trials: the policy has one, and there is a before."""
    return policy.confirm is not None and (baseline is not None or bool(policy.with_base))


def to_confirm(comparison: Comparison, policy: Policy, defaults: Mapping[str, Sequence[Rule]]) -> list[Retrials]:
    """What to try again before a drop is believed.

    Nothing where no case broke, none was lost or no rule asks, or chance plays no part.
    """
    if policy.confirm is None or comparison.interrupted:
        return []
    runs = [run for run in comparison.runs if judged(run) and run.random and run.confirmation is None]
    found = [(run, _tried(run, _has_tested_rule(run, policy, defaults), policy.limits)) for run in runs]
    return [_retry(run, cases, policy.confirm) for run, cases in found if cases]


def _tried(run: RunComparison, tested: bool, limits: Limits) -> list[CaseChange]:
    """The cases that failed, once one was lost and a rule asks, and those that broke, which are neither."""
    lost = tested and any(_failed(case) and _lost(case) for case in run.cases)
    few = run.errors <= limits.max_error_rate * run.planned + EPSILON  # more is an outage, and not judged anyway
    return [case for case in run.cases if (few and _broke(case)) or (lost and _failed(case))]


def _has_tested_rule(run: RunComparison, policy: Policy, defaults: Mapping[str, Sequence[Rule]]) -> bool:
    rules = [applied.rule for applied, _ in rules_of_run(run, policy.rules, defaults)]
    return any(
        rule.confirm and rule.test == "exact" and (rule.max_drop is not None or rule.max_rise is not None)
        for rule in rules
    )


def _failed(case: CaseChange) -> bool:
    """A comparable case of which most planned trials failed, or half of them."""
    return comparable(case) and case.now is not None and not case.now.passes


def comparable(case: CaseChange) -> bool:
    """True for a case of equal definition with a valid trial on both sides, and one that was made now."""
    return not case.stands and case.before is not None and case.change in {"broken", "fixed", "worse", "better", "same"}


def _broke(case: CaseChange) -> bool:
    """A known case without a valid trial, that was not left out on purpose."""
    return case.change == "not_valid" and case.before is not None and not case.skipped


def _lost(case: CaseChange) -> bool:
    """The baseline passes it in more than half of its trials."""
    return case.before is not None and case.before.passes


def _retry(run: RunComparison, failed: Sequence[CaseChange], confirm: Confirm) -> Retrials:
    most = max(len(failed), int(confirm.at_most * run.planned))
    return Retrials(run.suite, run.target, evenly([case.id for case in failed], confirm.trials, most))


def evenly(cases: Sequence[str], each: int, most: int) -> Mapping[str, int]:
    """As many trials of each case as asked for, if `most` allows them; else as many as there are, in order."""
    fewer, more = divmod(min(each * len(cases), most), len(cases))
    return {case: fewer + (index < more) for index, case in enumerate(cases)}
