"""The verdict: validity, then what is missing, then floors and ceilings, then drops. The first that speaks decides.

All that speak are told. Missing is never good; errors are no failures; what could not be measured is no pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from evalward.decide.broken import noticed, unmeasured
from evalward.decide.passing import all_well
from evalward.decide.remedies import remedy
from evalward.decide.rules import apply_rules, holds_for, judged
from evalward.decide.samples import Samples
from evalward.decide.sentences import shown_apart, some_of
from evalward.decide.uncompared import beside_compared
from evalward.records.comparison import PROMPT_PARTS, CaseChange, Comparison, RunComparison
from evalward.records.metric import EPSILON
from evalward.records.policy import Limits, Policy, Rule
from evalward.records.result import NOT_RUN
from evalward.records.verdict import Outcome, Reason, RuleOutcome, Verdict, in_order


def judge(
    comparison: Comparison,
    policy: Policy,
    defaults: Mapping[str, Sequence[Rule]],
    samples: Samples = MappingProxyType({}),
) -> Verdict:
    """Decide. `defaults` holds each kind's own rules, for metrics that the policy doesn't name; `samples` are the
    trials of the runs in which chance plays a part. Of all others a bare difference is what it is.
    """
    rules = apply_rules(comparison, policy.rules, defaults, samples, policy.confirm)
    invalid = _validity(comparison, policy)
    reasons = [
        *invalid,
        *_missing(comparison, policy),
        *_unfed(comparison, policy, rules),
        *_from_rules(rules, comparison, policy),
        *_unmeasured(comparison, policy, invalid),
    ]
    reasons = in_order(reasons)
    outcome = reasons[0].outcome if reasons else Outcome.PASS
    return Verdict(
        outcome=outcome,
        headline=reasons[0].message if reasons else all_well(comparison, rules) + beside_compared(comparison),
        reasons=reasons,
        rules=rules,
        warnings=[*comparison.warnings, *_warnings(comparison, policy, rules)],
        fail_on=policy.fail_on,
        profile=policy.profile,
    )


# --- validity -------------------------------------------------------------------------------------------------------


def _validity(comparison: Comparison, policy: Policy) -> list[Reason]:
    if not any(run.planned for run in comparison.runs if not run.missing) and not _all_unmeasured(comparison):
        return [_invalid("no case was run", "Check `suites`, `cases` and the selection.")]
    reasons = [_invalid(comparison.interrupted, _after(comparison.interrupted))] if comparison.interrupted else []
    for run in comparison.runs:
        if judged(run):
            reasons += _run_validity(run, policy.limits) + _judging(run, policy.max_judge_error_rate)
    return reasons


def _after(interrupted: str) -> str:
    if interrupted.startswith("budget"):
        return "Raise `budget_usd` or `budget_tokens`, or run less; `--resume` keeps what is done."
    if interrupted.startswith("interrupted by"):
        return "Run it again; `--resume` keeps what is done."
    return "Mend that and run it again; `--resume` keeps what is done."


def _all_unmeasured(comparison: Comparison) -> bool:
    present = [run for run in comparison.runs if not run.missing]
    return bool(present) and all(run.not_measured for run in present)


def _invalid(message: str, remedy: str, run: RunComparison | None = None, cases: Sequence[str] = ()) -> Reason:
    return Reason(
        stage="validity",
        outcome=Outcome.ERROR,
        message=message,
        remedy=remedy,
        suite=run.suite if run else None,
        target=run.target if run else None,
        cases=list(cases),
    )


def _run_validity(run: RunComparison, limits: Limits) -> list[Reason]:
    lost = [case for case in run.of("not_valid") if not _skipped(case)]
    errors = run.errors - run.judge_errors
    share = errors / run.planned if run.planned else 0.0
    if share > limits.max_error_rate + EPSILON:
        size, most = shown_apart(share, limits.max_error_rate, "ratio")
        message = (
            f"{run.name}: {errors} of {run.planned} trials ended in an error ({size}), more than the {most} allowed"
        )
        why = lost[0].note if lost and lost[0].note else "see the report"
        return [_invalid(message, f"Not the target's fault: {why}. Run it again.", run, [c.id for c in lost])]
    known = [case for case in lost if case.before is not None]
    expected = run.comparable + len(known)
    measured = run.comparable + sum(case.unjudged for case in known)  # these have a limit of their own
    if expected and measured / expected < limits.min_valid - EPSILON:
        size, least = shown_apart(measured / expected, limits.min_valid, "ratio")
        message = (
            f"{run.name}: only {run.comparable} of {expected} comparable cases have a valid trial ({size}), fewer than "
            f"the {least} that it takes"
        )
        return [_invalid(message, "Run it again.", run, [case.id for case in lost])]
    return []


def _judging(run: RunComparison, most: float) -> list[Reason]:
    """Trials that the judge could not judge have a limit of their own: they say nothing about the target."""
    share = run.judge_errors / run.planned if run.planned else 0.0
    if share <= most + EPSILON:
        return []
    lost = [case for case in run.cases if case.unjudged]
    why = next((case.note for case in lost if case.note), "see the report")
    size, allowed = shown_apart(share, most, "ratio")
    counts = f"{run.judge_errors} of {run.planned} trials could not be judged ({size})"
    message = f"{run.name}: {counts}, more than the {allowed} allowed"
    return [_invalid(message, f"Not the target's fault: {why}. See `judge` in the config.", run, [c.id for c in lost])]


def _skipped(case: CaseChange) -> bool:
    """A case that the target could not do at all (not recorded, no solution): missing, not an error."""
    return case.change == "not_valid" and case.skipped


# --- missing --------------------------------------------------------------------------------------------------------


def _missing(comparison: Comparison, policy: Policy) -> list[Reason]:
    reasons: list[Reason] = []
    for run in comparison.runs:
        if policy.waiver(run.suite, run.target, run.name):
            continue
        if run.missing:
            reasons.append(_missing_run(run))
        elif judged(run):
            reasons += [*_missing_cases(run, policy), *_missing_categories(run, policy)]
    return reasons


def _missing_run(run: RunComparison) -> Reason:
    message = f"{run.name} is in the baseline and was not run"
    remedy = "Run it; say what takes its place, with `replaces:`; or waive it in the config, with a reason."
    return Reason(
        stage="missing", outcome=Outcome.FAIL, message=message, remedy=remedy, suite=run.suite, target=run.target
    )


def _gone(run: RunComparison) -> list[CaseChange]:
    return [case for case in run.cases if case.change == "missing" or _skipped(case)]


def _missing_cases(run: RunComparison, policy: Policy) -> list[Reason]:
    gone = [case for case in _gone(run) if case.note != NOT_RUN and not policy.waiver(case.id)]
    ids = [case.id for case in gone]
    if not ids:
        return []
    some = some_of(ids)
    named = f"the case {some}" if len(ids) == 1 else f"{len(ids)} cases ({some})"
    notes = "; ".join(sorted({case.note for case in gone if case.note}))
    why = f"could not be run: {notes}" if notes else f"of the baseline {'is' if len(ids) == 1 else 'are'} missing"
    message = f"{run.name}: {named} {why}"
    return [
        Reason(
            stage="missing",
            outcome=Outcome.FAIL,
            message=message,
            suite=run.suite,
            target=run.target,
            cases=ids,
            remedy="Bring them back, update the baseline, or waive them in the config, each with a reason.",
        )
    ]


def _unfed(comparison: Comparison, policy: Policy, rules: Sequence[RuleOutcome]) -> list[Reason]:
    """Rules that no run feeds any more: what the base protects must not vanish by what the head measures."""
    if comparison.partial:
        return []
    fed = {id(outcome.rule) for outcome in rules}
    absent = [run for run in comparison.runs if not judged(run)]
    idle = [rule for rule in policy.rules if id(rule) not in fed and not any(holds_for(rule, run) for run in absent)]
    return [_unfed_rule(rule) for rule in idle]


def _unfed_rule(rule: Rule) -> Reason:
    where = "" if (rule.suite, rule.target) == ("*", "*") else f" (suite {rule.suite}, target {rule.target})"
    return Reason(
        stage="missing",
        outcome=Outcome.FAIL,
        metric=rule.metric,
        message=f"the policy protects {rule.metric}{where}, and no run measured it",
        remedy="Measure it again; or remove the rule from the policy first, in a change of its own.",
    )


def _missing_categories(run: RunComparison, policy: Policy) -> list[Reason]:
    """Categories that went although none of their cases did: missing cases speak for themselves."""
    told = {case.category for case in run.cases}
    names = [c.name for c in run.categories if c.before and not c.now and c.name not in told]
    return [
        Reason(
            stage="missing",
            outcome=Outcome.FAIL,
            message=f"{run.name}: the baseline's category {name} has no case left",
            suite=run.suite,
            target=run.target,
            remedy="Bring it back, update the baseline, or waive it in the config, with a reason.",
        )
        for name in names
        if not policy.waiver(name)
    ]


# --- limits and drops -----------------------------------------------------------------------------------------------


def _from_rules(rules: Sequence[RuleOutcome], comparison: Comparison, policy: Policy) -> list[Reason]:
    several = len({(rule.suite, rule.target) for rule in rules}) > 1
    runs = {(run.suite, run.target): run for run in comparison.runs}
    spoke = [rule for rule in rules if rule.status in {"fail", "inconclusive"}]
    return _said_once([_from_rule(rule, runs.get((rule.suite, rule.target)), policy, several) for rule in spoke])


def _said_once(reasons: Sequence[Reason]) -> list[Reason]:
    """Metrics that fell by the same failures name these once; where they decide otherwise, each says why."""
    seen: dict[tuple[str | None, str | None, str], Outcome] = {}
    return [_shorter(reason, seen) for reason in reasons]


def _shorter(reason: Reason, seen: dict[tuple[str | None, str | None, str], Outcome]) -> Reason:
    """The reason without the failures that an earlier one of the same run names."""
    head, _, why = reason.message.partition(" allowed: ")
    failures, _, chance = why.partition("; ")
    if not chance:
        return reason
    key = (reason.suite, reason.target, failures)
    if key not in seen:
        seen[key] = reason.outcome
        return reason
    alone = "" if seen[key] is reason.outcome else f"; for this metric alone, {chance}"
    return reason.model_copy(update={"message": f"{head} allowed, by the same failures{alone}"})


def _from_rule(rule: RuleOutcome, run: RunComparison | None, policy: Policy, several: bool) -> Reason:
    where = f"{rule.suite} × {rule.target}: " if several else ""
    return Reason(
        stage=rule.stage,
        outcome=Outcome.FAIL if rule.status == "fail" else Outcome.INCONCLUSIVE,
        message=where + rule.message,
        suite=rule.suite,
        target=rule.target,
        metric=rule.rule.metric,
        remedy=remedy(rule, run, policy.confirm),
    )


# --- what a pass may not hide ---------------------------------------------------------------------------------------


def _unmeasured(comparison: Comparison, policy: Policy, invalid: Sequence[Reason]) -> list[Reason]:
    told = {(reason.suite, reason.target) for reason in invalid}
    reasons = [_not_measured(run) for run in comparison.runs if run.not_measured]
    for run in comparison.runs:
        reasons += unmeasured(run, policy) if judged(run) and (run.suite, run.target) not in told else []
        if judged(run) and not run.added and not run.comparable and run.of("redefined", "added"):
            reasons.append(_incomparable(run))
        elif judged(run):
            reasons += _redefined(run, policy)
    return reasons + _unseen_by_replay(comparison)


def _inconclusive(run: RunComparison, message: str, remedy: str) -> Reason:
    return Reason(
        stage="validity",
        outcome=Outcome.INCONCLUSIVE,
        message=message,
        remedy=remedy,
        suite=run.suite,
        target=run.target,
    )


def _not_measured(run: RunComparison) -> Reason:
    message = f"{run.name} was not measured: {run.not_measured}"
    return _inconclusive(run, message, "A maintainer can run it with the key.")


def _incomparable(run: RunComparison) -> Reason:
    message = f"{run.name}: no case has the definition that the baseline knows, so nothing was compared"
    return _inconclusive(run, message, "Update the baseline once the new cases are right.")


def _redefined(run: RunComparison, policy: Policy) -> list[Reason]:
    """Cases that ask something else now: whoever breaks a case could redefine it, so they are no silent pass."""
    ids = [case.id for case in run.of("redefined") if not policy.waiver(case.id, case.category)]
    if not ids:
        return []
    known = run.comparable + len(run.of("redefined"))
    message = f"{run.name}: {len(ids)} of {known} known cases were redefined and could not be compared"
    remedy = "Look at what changed in them; update the baseline once they are right, or waive them with a reason."
    reason = _inconclusive(run, message, remedy)
    return [reason.model_copy(update={"cases": ids})]


def _unseen_by_replay(comparison: Comparison) -> list[Reason]:
    """A changed prompt that only replays looked at, or another recording: no pass for what was not measured."""
    measured = [run for run in comparison.runs if judged(run)]
    live = {run.suite for run in measured if run.random}
    reasons = []
    for run in measured:
        parts = [PROMPT_PARTS[change.part] for change in run.subject if change.part in PROMPT_PARTS]
        if run.replay and parts and run.suite not in live:
            changed = f"{' and '.join(parts)} of {run.suite} changed"
            reasons.append(
                _inconclusive(run, f"{changed}, and a replay does not measure that", "Measure it with a live target.")
            )
        if run.replay and any(change.part == "recording" for change in run.subject):
            message = f"{run.name}: the recording changed, so what changed in the numbers may be the recording's doing"
            reasons.append(_inconclusive(run, message, "Compare the recordings; update the baseline with the new one."))
    return reasons


# --- words ----------------------------------------------------------------------------------------------------------


def _cases(count: int) -> str:
    return f"{count} case" if count == 1 else f"{count} cases"


def _warnings(comparison: Comparison, policy: Policy, rules: Sequence[RuleOutcome]) -> list[str]:
    noted = [rule for rule in rules if rule.status in {"warn", "not_available"}]
    told = [f"{rule.suite} × {rule.target}: {rule.message}" for rule in noted]
    for run in comparison.runs:
        told += noticed(run, comparison.baseline_created_at)
        if run.skipped:
            told.append(f"{run.name}: {run.skipped} of {run.planned} trials could not be run and count nowhere")
        redefined = run.of("redefined")
        if redefined:
            told.append(f"{run.name}: {_cases(len(redefined))} changed and can't be compared with the baseline")
        waived = [case.id for case in _gone(run) if policy.waiver(case.id)]
        told += [f"{run.name}: {case_id} is missing, waived: {_waiver_reason(policy, case_id)}" for case_id in waived]
        if run.missing and policy.waiver(run.suite, run.target, run.name):
            told.append(f"{run.name} was not run, waived: {_waiver_reason(policy, run.suite, run.target, run.name)}")
    return told


def _waiver_reason(policy: Policy, *names: str) -> str:
    waiver = policy.waiver(*names)
    return waiver.reason if waiver else ""
