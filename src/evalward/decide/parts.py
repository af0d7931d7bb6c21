"""What a part of a suite's cases says about the limits of the whole."""

from __future__ import annotations

from evalward.records.comparison import RunComparison
from evalward.records.metric import EPSILON, Metric
from evalward.records.policy import Rule
from evalward.records.verdict import RuleStatus, Stage

Said = tuple[RuleStatus, Stage, str]
SILENT: Said = ("ok", "limit", "")


def limits_of_part(run: RunComparison, rule: Rule, value: Metric | None, said: tuple[Said, Said]) -> tuple[Said, Said]:
    """What a rule's limits and its goal say of a run of which only some cases were run: `said`, if that is certain.

    A share that may not be below 100 % or above 0 % is broken by any part of the cases. All other limits hold for the
    suite as a whole, and what the rest would give is unknown.
    """
    names = [name for name in ("floor", "ceiling", "goal") if getattr(rule, name) is not None]
    if not names or _certain(rule, value):
        return said
    limits = f"{rule.metric}'s {' and '.join(names)} {'is' if len(names) == 1 else 'are'} not judged"
    return ("not_judged", "limit", f"{limits}: only {run.part}"), SILENT


def _certain(rule: Rule, value: Metric | None) -> bool:
    if value is None or value.value is None or value.unit != "ratio":
        return False
    below = rule.floor is not None and rule.floor >= 1 and value.value < rule.floor - EPSILON
    above = rule.ceiling is not None and rule.ceiling <= 0 and value.value > rule.ceiling + EPSILON
    return below or above
