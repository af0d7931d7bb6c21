"""The verdict: validity, then what is missing, then floors and ceilings, then drops. The first that speaks decides.

All that speak are told. Missing is never good; errors are no failures; what could not be measured is no pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from evalward.decide.broken import error_notices, unmeasured
from evalward.decide.lost import lost_reasons
from evalward.decide.passing import what_a_pass_means
from evalward.decide.remedies import remedies
from evalward.decide.rules import apply_rules, holds_for, judged
from evalward.decide.samples import Samples
from evalward.decide.uncompared import not_compared
from evalward.records.codes import Statement
from evalward.records.codes import advice as to_do
from evalward.records.codes import notices as noted
from evalward.records.codes import reasons as why
from evalward.records.codes.base import FIRST
from evalward.records.codes.rules import OfMetric, ProvenDrop, Shown, UnprovenDrop
from evalward.records.comparison import CaseChange, Comparison, RunComparison, prompt_words
from evalward.records.metric import EPSILON
from evalward.records.policy import Limits, Policy, Rule
from evalward.records.report import Interruption
from evalward.records.result import NOT_RUN
from evalward.records.verdict import Outcome, Reason, RuleOutcome, Stage, Verdict, in_order


def reach_verdict(
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
        *lost_reasons(rules, comparison, policy),
        *_unmeasured(comparison, policy, invalid),
    ]
    reasons = in_order(reasons)
    outcome = reasons[0].outcome if reasons else Outcome.PASS
    return Verdict(
        outcome=outcome,
        passing=[] if reasons else [*what_a_pass_means(comparison, rules), *not_compared(comparison)],
        reasons=reasons,
        rules=rules,
        notices=[*comparison.notices, *_notices(comparison, policy, rules)],
        fail_on=policy.fail_on,
        profile=policy.profile,
    )


# --- validity -------------------------------------------------------------------------------------------------------


def _validity(comparison: Comparison, policy: Policy) -> list[Reason]:
    if not any(run.planned or run.standing for run in comparison.runs if not run.missing) and not _all_unmeasured(
        comparison
    ):
        return [_invalid(why.NothingRun(), _advice("advice.check_selection"))]
    reasons = [_interrupted(comparison, comparison.interrupted)] if comparison.interrupted else []
    for run in comparison.runs:
        if judged(run):
            reasons += _run_validity(run, policy.limits) + _judging(run, policy.max_judge_error_rate)
    return reasons


_AFTER: Mapping[Interruption, to_do.Plain] = {
    "budget": "advice.raise_budget",
    "signal": "advice.resume",
    "batch": "advice.resume",
    "fault": "advice.fix_and_resume",
}


def _interrupted(comparison: Comparison, text: str) -> Reason:
    by = comparison.interrupted_by or "fault"
    return _invalid(why.Interrupted(by=by, text=text), _advice(_AFTER[by]))


def _all_unmeasured(comparison: Comparison) -> bool:
    present = [run for run in comparison.runs if not run.missing]
    return bool(present) and all(run.not_measured for run in present)


def _advice(code: to_do.Plain) -> to_do.Advice:
    return to_do.Advice(code=code)


def _invalid(
    found: Statement, advice: Statement, run: RunComparison | None = None, cases: Sequence[str] = ()
) -> Reason:
    return _reason(_INVALID, found, advice, run, cases)


_INVALID: tuple[Stage, Outcome] = ("validity", Outcome.ERROR)
_UNSURE: tuple[Stage, Outcome] = ("validity", Outcome.INCONCLUSIVE)
_MISSING: tuple[Stage, Outcome] = ("missing", Outcome.FAIL)


def _reason(
    kind: tuple[Stage, Outcome],
    found: Statement,
    advice: Statement,
    run: RunComparison | None = None,
    cases: Sequence[str] = (),
) -> Reason:
    return Reason(
        stage=kind[0],
        outcome=kind[1],
        statements=[found],
        advice=[advice],
        suite=run.suite if run else None,
        target=run.target if run else None,
        cases=list(cases),
    )


def _run_validity(run: RunComparison, limits: Limits) -> list[Reason]:
    lost = [case for case in run.of("not_valid") if not _skipped(case)]
    ids = [case.id for case in lost]
    errors = run.errors - run.judge_errors
    share = errors / run.planned if run.planned else 0.0
    if share > limits.max_error_rate + EPSILON:
        found = why.TooManyErrors(
            suite=run.suite, target=run.target, errors=errors, planned=run.planned, limit=limits.max_error_rate
        )
        return [_invalid(found, to_do.AfterErrors(why=(lost[0].note or None) if lost else None), run, ids)]
    known = [case for case in lost if case.before is not None]
    expected = run.comparable + len(known)
    measured = run.comparable + sum(case.unjudged for case in known)  # these have a limit of their own
    if expected and measured / expected < limits.min_valid - EPSILON:
        few = why.TooFewValid(
            suite=run.suite,
            target=run.target,
            comparable=run.comparable,
            measured=measured,
            expected=expected,
            limit=limits.min_valid,
        )
        return [_invalid(few, _advice("advice.run_again"), run, ids)]
    return []


def _judging(run: RunComparison, most: float) -> list[Reason]:
    """Trials that the judge could not judge have a limit of their own: they say nothing about the target."""
    share = run.judge_errors / run.planned if run.planned else 0.0
    if share <= most + EPSILON:
        return []
    lost = [case for case in run.cases if case.unjudged]
    broken = next((case.note for case in lost if case.note), None)
    found = why.TooManyUnjudged(
        suite=run.suite, target=run.target, errors=run.judge_errors, planned=run.planned, limit=most
    )
    return [_invalid(found, to_do.AfterUnjudged(why=broken), run, [case.id for case in lost])]


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
            missing = why.MissingRun(suite=run.suite, target=run.target)
            reasons.append(_reason(_MISSING, missing, _advice("advice.run_or_waive"), run))
        elif judged(run):
            reasons += [*_missing_cases(run, policy), *_missing_categories(run, policy)]
    return reasons


def _gone(run: RunComparison) -> list[CaseChange]:
    if run.harness and run.added and all(map(_skipped, run.cases)):
        return []  # a target that the harness didn't evaluate, and that nobody misses
    return [case for case in run.cases if case.change == "missing" or _skipped(case)]


def _missing_cases(run: RunComparison, policy: Policy) -> list[Reason]:
    gone = [case for case in _gone(run) if case.note != NOT_RUN and not policy.waiver(case.id)]
    ids = [case.id for case in gone]
    if not ids:
        return []
    found = why.MissingCases(
        suite=run.suite,
        target=run.target,
        count=len(ids),
        first=tuple(ids[:FIRST]),
        why=tuple(sorted({case.note for case in gone if case.note})),
    )
    return [_reason(_MISSING, found, _advice("advice.restore_cases"), run, ids)]


def _unfed(comparison: Comparison, policy: Policy, rules: Sequence[RuleOutcome]) -> list[Reason]:
    """Rules that no run feeds any more: what the base protects must not vanish by what the head measures."""
    if comparison.partial:
        return []
    fed = {id(outcome.rule) for outcome in rules}
    absent = [run for run in comparison.runs if not judged(run)]
    idle = [rule for rule in policy.rules if id(rule) not in fed and not any(holds_for(rule, run) for run in absent)]
    return [_unfed_rule(rule) for rule in idle]


def _unfed_rule(rule: Rule) -> Reason:
    found = why.MissingMetric(metric=rule.metric, suite=rule.suite, target=rule.target)
    reason = _reason(_MISSING, found, _advice("advice.restore_metric"))
    return reason.model_copy(update={"metric": rule.metric})


def _missing_categories(run: RunComparison, policy: Policy) -> list[Reason]:
    """Categories that went although none of their cases did: missing cases speak for themselves."""
    present = {case.category for case in run.cases}
    names = [c.name for c in run.categories if c.before and not c.now and c.name not in present]
    lost = [why.MissingCategory(suite=run.suite, target=run.target, category=name) for name in names]
    advice = _advice("advice.restore_category")
    return [_reason(_MISSING, each, advice, run) for each in lost if not policy.waiver(each.category)]


# --- limits and drops -----------------------------------------------------------------------------------------------


def _from_rules(rules: Sequence[RuleOutcome], comparison: Comparison, policy: Policy) -> list[Reason]:
    several = len({(rule.suite, rule.target) for rule in rules}) > 1
    runs = {(run.suite, run.target): run for run in comparison.runs}
    found = [rule for rule in rules if rule.status in {"fail", "inconclusive"}]
    return _shown_once([_from_rule(rule, runs.get((rule.suite, rule.target)), policy, several) for rule in found])


_Shown = tuple[str | None, str | None, Shown]


def _shown_once(reasons: Sequence[Reason]) -> list[Reason]:
    """Metrics that fell by the same failures name these once; where they decide otherwise, each says why."""
    seen: dict[_Shown, Outcome] = {}
    return [_shorter(reason, seen) for reason in reasons]


def _shorter(reason: Reason, seen: dict[_Shown, Outcome]) -> Reason:
    """The reason, which refers to an earlier one of the same run that names the same failures."""
    at, drop = next(
        ((at, each) for at, each in enumerate(reason.statements) if isinstance(each, ProvenDrop | UnprovenDrop)),
        (0, None),
    )
    if drop is None or drop.shown is None:
        return reason
    key = (reason.suite, reason.target, drop.shown)
    if key not in seen:
        seen[key] = reason.outcome
        return reason
    statements = list(reason.statements)
    statements[at] = drop.model_copy(update={"same_as": seen[key].value})
    return reason.model_copy(update={"statements": statements})


def _from_rule(rule: RuleOutcome, run: RunComparison | None, policy: Policy, several: bool) -> Reason:
    return Reason(
        stage=rule.stage,
        outcome=Outcome.FAIL if rule.status == "fail" else Outcome.INCONCLUSIVE,
        statements=_of_run(rule) if several else rule.statements,
        suite=rule.suite,
        target=rule.target,
        metric=rule.rule.metric,
        advice=remedies(rule, run, policy.confirm),
    )


def _of_run(rule: RuleOutcome) -> list[Statement]:
    """What a rule says, the first of it with the run's name."""
    first, *others = rule.statements
    return [first.of(rule.suite, rule.target) if isinstance(first, OfMetric) else first, *others]


# --- what a pass may not hide ---------------------------------------------------------------------------------------


def _unmeasured(comparison: Comparison, policy: Policy, invalid: Sequence[Reason]) -> list[Reason]:
    already_invalid = {(reason.suite, reason.target) for reason in invalid}
    reasons = [_not_measured(run, run.not_measured) for run in comparison.runs if run.not_measured]
    for run in comparison.runs:
        reasons += unmeasured(run, policy) if judged(run) and (run.suite, run.target) not in already_invalid else []
        if judged(run) and not (run.added or run.comparable or run.standing) and run.of("redefined", "added"):
            nothing = why.Incomparable(suite=run.suite, target=run.target)
            reasons.append(_inconclusive(run, nothing, "advice.update_when_right"))
        elif judged(run):
            reasons += _redefined(run, policy)
    return reasons + _unseen_by_replay(comparison)


def _inconclusive(run: RunComparison, found: Statement, advice: to_do.Plain, cases: Sequence[str] = ()) -> Reason:
    return _reason(_UNSURE, found, _advice(advice), run, cases)


def _not_measured(run: RunComparison, reason: str) -> Reason:
    advice: to_do.Plain = "advice.merge_commands" if run.withheld else "advice.run_with_key"
    return _inconclusive(run, why.NotMeasured(suite=run.suite, target=run.target, why=reason), advice)


def _redefined(run: RunComparison, policy: Policy) -> list[Reason]:
    """Cases that ask something else now: whoever breaks a case could redefine it, so they are no silent pass."""
    ids = [case.id for case in run.of("redefined") if not policy.waiver(case.id, case.category)]
    if not ids:
        return []
    known = run.comparable + len(run.of("redefined"))
    found = why.Redefined(suite=run.suite, target=run.target, count=len(ids), known=known)
    return [_inconclusive(run, found, "advice.read_redefined", ids)]


def _unseen_by_replay(comparison: Comparison) -> list[Reason]:
    """A changed prompt that only replays looked at, or another recording: no pass for what was not measured."""
    measured = [run for run in comparison.runs if judged(run)]
    live = {run.suite for run in measured if run.random}
    reasons = []
    for run in measured:
        parts = tuple(change.part for change in run.subject if prompt_words(change.part))
        if run.replay and parts and run.suite not in live:
            unseen = why.PromptReplayed(suite=run.suite, target=run.target, parts=parts)
            reasons.append(_inconclusive(run, unseen, "advice.measure_live"))
        if run.replay and any(change.part == "recording" for change in run.subject):
            other = why.RecordingChanged(suite=run.suite, target=run.target)
            reasons.append(_inconclusive(run, other, "advice.compare_recordings"))
    return reasons


# --- what decides nothing -------------------------------------------------------------------------------------------


def _notices(comparison: Comparison, policy: Policy, rules: Sequence[RuleOutcome]) -> list[Statement]:
    found: list[Statement] = []
    for rule in rules:
        if rule.status in {"warn", "not_available"}:
            found += _of_run(rule)
    for run in comparison.runs:
        found += [*error_notices(run, comparison.baseline_created_at), *_of_cases(run, policy)]
    return found


def _of_cases(run: RunComparison, policy: Policy) -> Iterator[Statement]:
    suite, target, redefined = run.suite, run.target, run.of("redefined")
    if run.skipped:
        yield noted.SkippedTrials(suite=suite, target=target, count=run.skipped, planned=run.planned)
    if redefined:
        yield noted.RedefinedCases(suite=suite, target=target, count=len(redefined))
    for case in _gone(run):
        waiver = policy.waiver(case.id)
        if waiver:
            yield noted.WaivedCase(suite=suite, target=target, case=case.id, reason=waiver.reason)
    waived = policy.waiver(suite, target, run.name)
    if run.missing and waived:
        yield noted.WaivedRun(suite=suite, target=target, reason=waived.reason)
