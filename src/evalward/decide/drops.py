"""Whether a metric got worse by more than its rule allows, and not by chance: three answers, each with its sentence.

Deterministic targets and rules with `test: off` are decided by the bare difference. Everything else needs evidence. The
p-values of one verdict are corrected by Holm's method all together, so that a check in which nothing changed fails by a
drop with the probability alpha at most: the outcomes of its runs, which are what the check is for, have two thirds of
alpha, all other metrics that the policy lets decide the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evalward.decide.evidence import Question, better, beyond, confirmable, steady_delta, weigh
from evalward.decide.questions import corrected
from evalward.decide.samples import Samples
from evalward.decide.sentences import (
    between,
    chance,
    moved,
    number_word,
    shown,
    shown_apart,
    shown_delta,
    side_by_side,
    some_of,
    what_failed,
)
from evalward.decide.staleness import FEW_TRIALS
from evalward.records.comparison import MetricChange, RunComparison
from evalward.records.evidence import Confirmation, Evidence
from evalward.records.metric import EPSILON
from evalward.records.policy import Confirm, Rule
from evalward.records.timing import Timings
from evalward.records.verdict import RuleStatus

_NO_PROOF = ", so it is no proof"
_BASE = "the base, measured beside it"
REFERENCES = ("nop", "oracle")
"""Whose code is part of a task's definition: of equal definition their times differ by nothing that was changed."""


@dataclass(frozen=True)
class Applied:
    """A rule and the run that it is applied to, with that run's value of its metric."""

    rule: Rule
    run: RunComparison
    change: MetricChange


@dataclass(frozen=True)
class Drop:
    """What a rule's drop says: `message` speaks where the status isn't ok, `explanation` always.

    `won`: cases were lost, and others won more than chance does.
    """

    status: RuleStatus = "ok"
    message: str = ""
    explanation: str = ""
    evidence: Evidence | None = None
    won: bool = False


def decide_drops(applied: Sequence[Applied], samples: Samples, confirm: Confirm | None) -> list[Drop]:
    """The drops of all rules of a verdict, in their order."""
    questions = [_question(each, samples, confirm) for each in applied]
    found = corrected(questions, [weigh(question) if question else None for question in questions])
    drops = [_decide(*each) for each in zip(applied, questions, found, strict=True)]
    proven = {id(each.run) for each, drop in zip(applied, drops, strict=True) if drop.status == "fail"}
    return [_by_itself(drop) if id(each.run) in proven else drop for each, drop in zip(applied, drops, strict=True)]


def _by_itself(drop: Drop) -> Drop:
    """One metric's doubt beside another's proof: the same failures weigh more in the one than in the other."""
    text = drop.message.replace(_NO_PROOF, ", which by itself is no proof; another metric of this run has it")
    return replace(drop, message=text, explanation=text) if drop.status == "inconclusive" else drop


def answerable(applied: Applied, samples: Samples) -> bool:
    """True for a drop that is put to a test, and that trying the failed cases again tells all about."""
    question = _question(applied, samples, None)
    return question is not None and applied.rule.confirm and confirmable(question.sample, falls=question.falls)


def _question(applied: Applied, samples: Samples, confirm: Confirm | None) -> Question | None:
    """What is to be tested, `None` where nothing is: no drop rule, no numbers, no chance involved."""
    rule, change = applied.rule, applied.change
    run = samples.get((applied.run.suite, applied.run.target))
    if run is None or rule.test == "off" or change.delta is None or not _has_drop(rule):
        return None
    sample = run.of(rule.metric)
    if sample is None:
        return None
    falls = rule.max_drop is not None and (rule.max_rise is None or change.delta <= 0)
    return Question(rule, sample, run, confirm, change.delta, falls)


def _has_drop(rule: Rule) -> bool:
    return rule.max_drop is not None or rule.max_rise is not None


def _decide(applied: Applied, question: Question | None, evidence: Evidence | None) -> Drop:
    rule, change = applied.rule, applied.change
    if not _has_drop(rule) or change.before is None or change.before.value is None:
        return Drop()
    if change.now is None or change.now.value is None or change.delta is None:
        why = change.now.reason if change.now else "the run doesn't have it"
        was = shown(change.before.value, change.before.unit)
        return Drop("fail", f"{rule.metric} was {was} and is not available now ({why})")
    if question is None or evidence is None:
        return _literal(rule, change, applied.run)
    return _tested(applied, question, evidence)


def _literal(rule: Rule, change: MetricChange, run: RunComparison) -> Drop:
    """The bare difference against the allowed one.

    Of times that were measured it is no proof: a speedup fell only where a case broke, or a benchmark is slower by its
    samples. Where none even looks slower, nothing has fallen, nor where what was measured is the measure itself.
    """
    if beyond(rule, change.delta or 0.0) is None:
        return Drop()
    text = _too_much(rule, change, change.delta or 0.0)
    unit = change.now.unit if change.now else "ratio"
    if unit != "speedup" or run.timings is None or rule.test == "off" or run.of("broken"):
        return Drop("fail", text)
    if run.target in REFERENCES:
        return Drop("ok", "", f"{text}; {run.target} is what others are measured by")
    if run.timings.slower:
        worst = run.timings.slower[0]
        return Drop("fail", f"{text}; a benchmark of {worst.case} is slower: {worst.factor:.2f}× (p = {worst.p:.2g})")
    text = f"{text}; {_no_slower(run.timings)}"
    if not run.timings.suspected and not run.timings.untestable:
        return Drop("ok", "", text)
    return Drop("inconclusive", f"{text}, so it is no proof")


def _no_slower(timings: Timings) -> str:
    told = [f"{timings.tested} tested"]
    told += [f"{timings.suspected} perhaps"] if timings.suspected else []
    told += [f"{timings.untestable} with too few samples"] if timings.untestable else []
    return f"no benchmark is slower beyond chance ({', '.join(told)})"


def _too_much(rule: Rule, change: MetricChange, delta: float) -> str:
    unit = change.now.unit if change.now else "ratio"
    allowed = rule.max_drop if delta < 0 else rule.max_rise
    size, most = shown_apart(abs(delta), allowed or 0.0, unit, shown_delta)
    return f"{rule.metric} {_verb(delta)} {size} ({moved(change)}), more than the {most} allowed"


def _tested(applied: Applied, question: Question, evidence: Evidence) -> Drop:
    rule = applied.rule
    certain = _certain(applied, question)
    if certain:
        return Drop("fail", certain, certain, evidence)
    lost = evidence.delta or 0.0
    too_much = beyond(rule, lost) is not None or evidence.spread
    if not too_much and beyond(rule, lost + evidence.open) is None:
        return Drop("ok", "", _fine(applied, question, evidence), evidence)
    if evidence.confirmed and better(question):
        return Drop("ok", "", _won_more(applied, question, evidence), evidence, won=True)
    if not too_much:
        return _left_open(applied, question, evidence)
    p = 1.0 if evidence.corrected is None else evidence.corrected
    convicted = p <= rule.alpha
    parts = [_shown_by(applied, question, evidence), chance(p)]
    if not convicted:
        parts[-1] += _NO_PROOF
    text = f"{_size(applied, evidence, convicted=convicted)}: {'; '.join(part for part in parts if part)}"
    text += "" if convicted else _thin(evidence)
    return Drop("fail" if convicted else "inconclusive", text, text, evidence)


def _left_open(applied: Applied, question: Question, evidence: Evidence) -> Drop:
    """Fresh trials that broke, or were never made, are no proof that all is well."""
    names = sorted(pair.id for pair in question.sample.pairs if pair.id in question.run.open)
    cases = f"{names[0]} failed" if len(names) == 1 else f"{len(names)} cases failed ({some_of(names)})"
    size, most = _apart(applied, (evidence.delta or 0.0) + evidence.open)
    text = (
        f"{applied.rule.metric} may have {_moved(evidence.open)} {size}, more than the {most} allowed: {cases} and "
        "could not be tried again"
    )
    return Drop("inconclusive", text, text, evidence)


def _moved(delta: float) -> str:
    return "fallen" if delta < 0 else "risen"


def _shown_by(applied: Applied, question: Question, evidence: Evidence) -> str:
    """Which trials show it."""
    if evidence.beside:
        return side_by_side(applied.run.beside, evidence.cases)
    if evidence.spread and beyond(applied.rule, evidence.delta or 0.0) is None:
        return _failed_again(applied)
    return what_failed(question.sample, evidence, question.run.confirmed)


def _certain(applied: Applied, question: Question) -> str:
    """The sentence of a loss in cases that give the same twice: no chance in it, whatever others of the run do."""
    lost = steady_delta(question)
    if beyond(applied.rule, lost) is None:
        return ""
    size, most = _apart(applied, lost)
    return (
        f"{applied.rule.metric} {_verb(lost)} {size} in cases that always give the same result, more than the {most} "
        "allowed: chance has no part in it"
    )


def _failed_again(applied: Applied) -> str:
    confirmation = applied.run.confirmation
    if confirmation is None:
        return ""
    again = confirmation.trials - confirmation.passed
    return f"{again} of {confirmation.trials} fresh tries of {_failed_cases(confirmation)} failed again"


def _failed_cases(confirmation: Confirmation) -> str:
    return "the failed case" if len(confirmation.cases) == 1 else f"the {len(confirmation.cases)} failed cases"


def _size(applied: Applied, evidence: Evidence, *, convicted: bool) -> str:
    """By how much the metric got worse: as the planned trials show it, or, where they were tried, the fresh ones.

    Only what is proven is called confirmed.
    """
    delta, lost = applied.change.delta or 0.0, evidence.delta or 0.0
    if evidence.beside:
        size, most = _apart(applied, lost)
        return f"{applied.rule.metric} {_verb(lost)} {size} against {_BASE}, more than the {most} allowed"
    if not evidence.confirmed or beyond(applied.rule, lost) is None:
        return _too_much(applied.rule, applied.change, delta)
    if delta * lost <= 0:  # what others won may be chance: no fresh trial confirmed it
        in_all = (
            "is unchanged over all cases"
            if delta == 0
            else f"{_verb(delta)} {_apart(applied, delta)[0]} over all cases, which may be chance"
        )
        size, most = _apart(applied, lost)
        return (
            f"{applied.rule.metric} {in_all}, but {_verb(lost)} {size} in the cases that failed, "
            f"{_by_tries(convicted)}, more than the {most} allowed"
        )
    return f"{_confirmed(applied, evidence, convicted)}, more than the {_allowed(applied, evidence)} allowed"


def _confirmed(applied: Applied, evidence: Evidence, convicted: bool) -> str:
    delta = evidence.delta or 0.0
    return f"{applied.rule.metric} {_verb(delta)} {_apart(applied, delta)[0]}, {_by_tries(convicted)}"


def _by_tries(convicted: bool) -> str:
    return "confirmed by fresh tries" if convicted else "as far as fresh tries show"


def _allowed(applied: Applied, evidence: Evidence) -> str:
    return _apart(applied, evidence.delta or 0.0)[1]


def _apart(applied: Applied, delta: float) -> tuple[str, str]:
    """A difference and what of it is allowed, with as many digits as tell them apart."""
    unit = applied.change.now.unit if applied.change.now else "ratio"
    allowed = applied.rule.max_drop if delta < 0 else applied.rule.max_rise
    return shown_apart(abs(delta), allowed or 0.0, unit, shown_delta)


def _verb(delta: float) -> str:
    return "fell" if delta < 0 else "rose"


def _fine(applied: Applied, question: Question, evidence: Evidence) -> str:
    """The sentence of a metric that is as it should be."""
    rule, unit, delta = applied.rule, question.sample.unit, applied.change.delta or 0.0
    left = evidence.delta or 0.0
    if evidence.beside:
        return _no_worse(applied, question, evidence)
    if evidence.confirmed and left * delta > 0 and left * (-1 if question.falls else 1) > EPSILON:
        return f"{_confirmed(applied, evidence, convicted=False)}, within the {_allowed(applied, evidence)} allowed"
    if evidence.confirmed and beyond(rule, delta) is not None:
        return f"{rule.metric} {_verb(delta)} {shown_delta(abs(delta), unit)} at first: {_not_repeated(applied)}"
    what = "is unchanged" if delta == 0 else f"{_verb(delta)} {shown_delta(abs(delta), unit)}"
    margin = f" (95 %: {between(evidence.interval.low, evidence.interval.high, unit)})" if evidence.interval else ""
    return f"{rule.metric} {what}{margin}{_seen(evidence, question)}"


def _no_worse(applied: Applied, question: Question, evidence: Evidence) -> str:
    """The sentence of a drop that the base, measured again, doesn't show, or not as large as that."""
    delta, lost = applied.change.delta or 0.0, evidence.delta or 0.0
    size = "is unchanged" if delta == 0 else f"{_verb(delta)} {_apart(applied, delta)[0]}"
    first, told = f"{applied.rule.metric} {size} against the baseline", side_by_side(applied.run.beside, evidence.cases)
    if lost * (-1 if question.falls else 1) <= EPSILON:
        return f"{first}, and is no worse than {_BASE}: {told}"
    less, allowed = _apart(applied, lost)
    return f"{first}; {less} against {_BASE}, within the {allowed} allowed: {told}"


def _won_more(applied: Applied, question: Question, evidence: Evidence) -> str:
    """The sentence of a metric that lost cases for good, and won more than these."""
    delta, lost = applied.change.delta or 0.0, what_failed(question.sample, evidence, question.run.confirmed)
    size = shown_delta(abs(delta), question.sample.unit)
    although = f", although {lost}" if lost else ""
    return f"{applied.rule.metric} {_verb(delta)} {size}, more than chance does{although}"


def _not_repeated(applied: Applied) -> str:
    confirmation = applied.run.confirmation
    if confirmation is None:
        return "it didn't repeat"
    tries = f"{confirmation.trials} fresh tries of {_failed_cases(confirmation)}"
    return f"the failures didn't repeat ({confirmation.passed} of {tries} passed)"


def _seen(evidence: Evidence, question: Question) -> str:
    if evidence.detectable is None:
        return ""
    worse = "drop" if question.falls else "rise"
    size = shown_delta(evidence.detectable, question.sample.unit, 1)
    over = " over all cases" if question.sample.unit == "ratio" else ""
    return f"; a {worse} of {size}{over} would have been seen at least four times out of five"


def _thin(evidence: Evidence) -> str:
    """What this baseline can't do, where it has few trials: then that may be why. A base measured beside has enough."""
    limit = _limit(evidence) if evidence.trials_before < FEW_TRIALS and not evidence.beside else ""
    return f"; {limit}" if limit else ""


def _limit(evidence: Evidence) -> str:
    if evidence.test != "stratified" or evidence.fewest == 1:
        return ""
    trials = evidence.trials_before
    told = f"this baseline ({trials:g} trial{'' if trials == 1 else 's'} per case)"
    if evidence.fewest is None:
        return f"{told} can't convict any drop"
    return f"{told} can't convict a drop of fewer than {number_word(evidence.fewest)} cases"
