"""What to do about a rule that doesn't hold: mend, accept, change the policy, or measure more."""

from __future__ import annotations

from evalward.decide.staleness import FEW_TRIALS
from evalward.records.comparison import RunComparison
from evalward.records.evidence import Evidence
from evalward.records.policy import Confirm
from evalward.records.verdict import RuleOutcome

MOST_FRESH = 20
"""Fresh trials of a case that a configuration may ask for (`Confirm.trials`)."""


def remedy(outcome: RuleOutcome, run: RunComparison | None, confirm: Confirm | None) -> str:
    """The remedy of a rule's failure or doubt. `run` is the one that it was applied to."""
    if outcome.status == "fail":
        return _of_limit(outcome) if outcome.stage == "limit" else _of_drop(run)
    look = "Look at the broken cases." if run is not None and run.of("broken") else "Look at what changed."
    return " ".join(filter(None, [look, _more(outcome.evidence, run, confirm)]))


def _of_limit(outcome: RuleOutcome) -> str:
    """A limit is the policy's: no baseline changes it."""
    rule = outcome.rule
    name = "ceiling" if rule.floor is None or _above(outcome) else "floor"
    own = (
        f"give {rule.metric} a rule of its own in the policy" if outcome.default else f"change its {name} in the policy"
    )
    return (
        f"Mend what fails, or {own}: a new baseline doesn't change a {name}. A pull request is judged by its base's "
        "policy, so the policy has to be changed there first."
    )


def _above(outcome: RuleOutcome) -> bool:
    value, ceiling = outcome.value, outcome.rule.ceiling
    return value is not None and value.value is not None and ceiling is not None and value.value > ceiling


def _of_drop(run: RunComparison | None) -> str:
    if run is not None and run.base_now is not None:
        what = "the broken cases and mend them" if run.of("broken") else "what changed and mend it"
        return f"Look at {what}. The suite is compared with the base commit, so no baseline can accept it."
    if run is not None and run.of("broken"):
        return "Look at the broken cases: mend them, or accept the change, which updates the baseline."
    return "Look at what changed: mend it, or accept the change, which updates the baseline."


def _more(evidence: Evidence | None, run: RunComparison | None, confirm: Confirm | None) -> str:
    """Which trials would tell more, and how many they are. Never those that there are already."""
    if evidence is None:
        return "More samples of each benchmark tell more."
    if evidence.beside:
        return _more_beside(run, confirm)
    before, now = round(evidence.trials_before), round(evidence.trials_now)
    if before < FEW_TRIALS:
        cost = (FEW_TRIALS - before) * evidence.cases
        return f"A baseline of {FEW_TRIALS} trials per case tells more; it has {before}. That takes {_trials(cost)}."
    if not evidence.confirmed and now < FEW_TRIALS:
        return f"`--trials {FEW_TRIALS}` tells more. That takes {_trials((FEW_TRIALS - now) * evidence.cases)}."
    failed = len(run.confirmation.cases) if run is not None and run.confirmation else 0
    if evidence.confirmed and confirm is not None and failed and confirm.trials < MOST_FRESH:
        tries = min(2 * confirm.trials, MOST_FRESH)
        cost = (tries - confirm.trials) * failed
        return f"More fresh tries tell more: `confirm: {{trials: {tries}}}` in the config takes {_trials(cost)}."
    return ""


def _more_beside(run: RunComparison | None, confirm: Confirm | None) -> str:
    """Where both sides were measured: more of the same."""
    cases = len(run.beside.cases) if run is not None and run.beside is not None else 0
    if confirm is None or not cases or confirm.base_trials >= MOST_FRESH:
        return ""
    each = min(2 * confirm.base_trials, MOST_FRESH)
    cost = 2 * (each - confirm.base_trials) * cases
    return (
        f"More trials of both sides tell more: `confirm: {{base_trials: {each}}}` in the config takes {_trials(cost)}."
    )


def _trials(count: int) -> str:
    return f"{count:,} more trial{'' if count == 1 else 's'}"
