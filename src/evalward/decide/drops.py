"""Whether a metric got worse by more than its rule allows, and not by chance: three answers, each with its sentence.

Deterministic targets and rules with `test: off` are decided by the bare difference. Everything else needs evidence. The
p-values of one verdict are corrected by Holm's method all together, so that a check in which nothing changed fails by a
drop with the probability alpha at most: the outcomes of its runs, which are what the check is for, have two thirds of
alpha, all other metrics that the policy lets decide the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, structs

from evalward.decide.evidence import WorseQuestion, better, confirmable, evidence_for, excess, steady_delta
from evalward.decide.questions import corrected
from evalward.decide.samples import Samples
from evalward.decide.shown import side_by_side, what_failed
from evalward.decide.staleness import FEW_TRIALS
from evalward.records.codes import rules as codes
from evalward.records.codes.base import FIRST
from evalward.records.comparison import MetricChange, RunComparison
from evalward.records.evidence import Evidence
from evalward.records.metric import EPSILON, Unit
from evalward.records.policy import Confirm, Rule
from evalward.records.verdict import RuleStatus

REFERENCES = ("nop", "oracle")
"""Whose code is part of a task's definition: of equal definition their times differ by nothing that was changed."""


class Applied(Struct, frozen=True):
    """A rule and the run that it is applied to, with that run's value of its metric."""

    rule: Rule
    run: RunComparison
    change: MetricChange


class Drop(Struct, frozen=True):
    """What a rule's drop says: `found` where the status isn't ok, `explained` always where there is a test.

    `won`: cases were lost, and others won more than chance does.
    """

    status: RuleStatus = "ok"
    found: codes.OfMetric | None = None
    explained: codes.OfMetric | None = None
    evidence: Evidence | None = None
    won: bool = False


def decide_drops(applied: Sequence[Applied], samples: Samples, confirm: Confirm | None) -> list[Drop]:
    """The drops of all rules of a verdict, in their order."""
    questions = [_question(each, samples, confirm) for each in applied]
    found = corrected(questions, [evidence_for(question) if question else None for question in questions])
    drops = [_decide(*each) for each in zip(applied, questions, found, strict=True)]
    proven = {id(each.run) for each, drop in zip(applied, drops, strict=True) if drop.status == "fail"}
    return [
        _elsewhere_proven(drop) if id(each.run) in proven else drop for each, drop in zip(applied, drops, strict=True)
    ]


def _elsewhere_proven(drop: Drop) -> Drop:
    """One metric's doubt beside another's proof: the same failures weigh more in the one than in the other."""
    if not isinstance(drop.found, codes.UnprovenDrop | codes.UnseenDrop):
        return drop
    found = drop.found.model_copy(update={"elsewhere": True})
    return structs.replace(drop, found=found, explained=found)


def answerable(applied: Applied, samples: Samples) -> bool:
    """True for a drop that is put to a test, and that trying the failed cases again tells all about."""
    question = _question(applied, samples, None)
    return question is not None and applied.rule.confirm and confirmable(question.sample, falls=question.falls)


def _question(applied: Applied, samples: Samples, confirm: Confirm | None) -> WorseQuestion | None:
    """What is to be tested, `None` where nothing is: no drop rule, no numbers, no chance involved."""
    rule, change = applied.rule, applied.change
    run = samples.get((applied.run.suite, applied.run.target))
    if run is None or rule.test == "off" or change.delta is None or not _has_drop_limit(rule):
        return None
    sample = run.of(rule.metric)
    if sample is None:
        return None
    falls = rule.max_drop is not None and (rule.max_rise is None or change.delta <= 0)
    return WorseQuestion(rule, sample, run, confirm, change.delta, falls)


def _has_drop_limit(rule: Rule) -> bool:
    return rule.max_drop is not None or rule.max_rise is not None


def _decide(applied: Applied, question: WorseQuestion | None, evidence: Evidence | None) -> Drop:
    rule, change = applied.rule, applied.change
    if not _has_drop_limit(rule) or change.before is None or change.before.value is None:
        return Drop()
    if change.now is None or change.now.value is None or change.delta is None:
        why = change.now.reason if change.now else None
        unit, before = change.before.unit, change.before.value
        return Drop("fail", codes.MetricGone(metric=rule.metric, unit=unit, before=before, why=why))
    if question is None or evidence is None:
        return _literal(applied)
    return _tested(applied, question, evidence)


def _literal(applied: Applied) -> Drop:
    """The bare difference against the allowed one.

    Of times that were measured it is no proof: a speedup fell only where a case broke, or a benchmark is slower by its
    samples. Where none even looks slower, nothing has fallen, nor where what was measured is the measure itself.
    """
    rule, run, timings = applied.rule, applied.run, applied.run.timings
    delta = applied.change.delta or 0.0
    if excess(rule, delta) is None:
        return Drop()
    moved = {**_lost(applied, delta), **_values(applied)}
    if _unit(applied.change) != "speedup" or timings is None or rule.test == "off" or run.of("broken"):
        return Drop("fail", codes.ExactDrop(**moved))
    if run.target in REFERENCES:
        return Drop("ok", None, codes.ReferenceDrop(**moved, reference=run.target))
    if timings.slower:
        worst = timings.slower[0]
        return Drop("fail", codes.SlowerDrop(**moved, case=worst.case, factor=worst.factor, p=worst.p))
    doubt = bool(timings.suspected or timings.untestable)
    unseen = codes.UnseenDrop(
        **moved, tested=timings.tested, suspected=timings.suspected, untestable=timings.untestable, doubt=doubt
    )
    return Drop("inconclusive", unseen) if doubt else Drop("ok", None, unseen)


def _unit(change: MetricChange) -> Unit:
    return change.now.unit if change.now else "ratio"


def _allowed(rule: Rule, delta: float) -> float:
    """How much of a difference like this one the rule allows."""
    return (rule.max_drop if delta < 0 else rule.max_rise) or 0.0


def _tested(applied: Applied, question: WorseQuestion, evidence: Evidence) -> Drop:
    rule = applied.rule
    certain = steady_delta(question)
    if excess(rule, certain) is not None:  # no chance in it, whatever others of the run do
        return _drop("fail", codes.CertainDrop(**_lost(applied, certain)), evidence)
    lost = evidence.delta or 0.0
    too_much = excess(rule, lost) is not None or evidence.spread
    if not too_much and excess(rule, lost + evidence.open) is None:
        return Drop("ok", None, _explained(applied, question, evidence), evidence)
    if evidence.confirmed and better(question):
        return Drop("ok", None, _won_more(applied, question, evidence), evidence, won=True)
    if not too_much:
        return _drop("inconclusive", _left_open(applied, question, evidence), evidence)
    tested = _size(applied, question, evidence)
    if tested["p"] <= rule.alpha:
        return _drop("fail", codes.ProvenDrop(**tested), evidence)
    return _drop("inconclusive", codes.UnprovenDrop(**tested, thin=_thin(evidence)), evidence)


def _drop(status: RuleStatus, found: codes.OfMetric, evidence: Evidence) -> Drop:
    return Drop(status, found, found, evidence)


def _moved(applied: Applied, delta: float) -> dict[str, Any]:
    """The parameters of a `Difference`."""
    return {"metric": applied.rule.metric, "unit": _unit(applied.change), "delta": delta}


def _lost(applied: Applied, delta: float) -> dict[str, Any]:
    """The parameters of what was `Lost`."""
    return {**_moved(applied, delta), "allowed": _allowed(applied.rule, delta)}


def _values(applied: Applied) -> dict[str, float | None]:
    before, now = applied.change.before, applied.change.now
    return {"before": before.value if before else None, "now": now.value if now else None}


def _left_open(applied: Applied, question: WorseQuestion, evidence: Evidence) -> codes.OpenDrop:
    """Fresh trials that broke, or were never made, are no proof that all is well."""
    names = sorted(pair.id for pair in question.sample.pairs if pair.id in question.run.open)
    lost = _lost(applied, (evidence.delta or 0.0) + evidence.open)
    return codes.OpenDrop(**lost, moved=evidence.open, count=len(names), first=tuple(names[:FIRST]))


def _shown_by(applied: Applied, question: WorseQuestion, evidence: Evidence) -> codes.Shown | None:
    """Which trials show it."""
    if evidence.beside:
        return side_by_side(applied.run.beside, evidence.cases)
    if evidence.spread and excess(applied.rule, evidence.delta or 0.0) is None:
        again = applied.run.confirmation
        if again is None:
            return None
        return codes.FailedAgain(cases=len(again.cases), failed=again.trials - again.passed, trials=again.trials)
    return what_failed(question.sample, evidence, question.run.confirmed)


def _size(applied: Applied, question: WorseQuestion, evidence: Evidence) -> dict[str, Any]:
    """The parameters of a `TestedDrop`: by how much the metric got worse, as the planned trials show it, or, where
    they were tried, the fresh ones.
    """
    overall, lost = applied.change.delta or 0.0, evidence.delta or 0.0
    measured = _measured(applied, evidence)
    return {
        **_lost(applied, overall if measured == "planned" else lost),
        **_values(applied),
        "overall": overall,
        "measured": measured,
        "shown": _shown_by(applied, question, evidence),
        "p": 1.0 if evidence.corrected is None else evidence.corrected,
    }


def _measured(applied: Applied, evidence: Evidence) -> codes.Measured:
    """What a difference is of. What others won may be chance: no fresh trial confirmed it."""
    delta, lost = applied.change.delta or 0.0, evidence.delta or 0.0
    if evidence.beside:
        return "base"
    if not evidence.confirmed or excess(applied.rule, lost) is None:
        return "planned"
    return "failed_cases" if delta * lost <= 0 else "fresh"


def _explained(applied: Applied, question: WorseQuestion, evidence: Evidence) -> codes.OfMetric:
    """What is said of a metric that is as it should be."""
    rule, delta, left = applied.rule, applied.change.delta or 0.0, evidence.delta or 0.0
    if evidence.beside:
        return _not_worse_than_base(applied, question, evidence)
    if evidence.confirmed and left * delta > 0 and left * (-1 if question.falls else 1) > EPSILON:
        return codes.WithinAllowed(**_lost(applied, left))
    moved, again, interval = _moved(applied, delta), applied.run.confirmation, evidence.interval
    if evidence.confirmed and excess(rule, delta) is not None:
        tries = {"cases": len(again.cases), "passed": again.passed, "trials": again.trials} if again else {}
        return codes.NotRepeated(**moved, **tries)
    return codes.NotWorse(
        **moved,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        detectable=evidence.detectable,
        worse="drop" if question.falls else "rise",
    )


def _not_worse_than_base(applied: Applied, question: WorseQuestion, evidence: Evidence) -> codes.NotWorseThanBase:
    """A drop that the base, measured again, doesn't show, or not as large as that."""
    lost = evidence.delta or 0.0
    worse = lost * (-1 if question.falls else 1) > EPSILON
    return codes.NotWorseThanBase(
        **_moved(applied, applied.change.delta or 0.0),
        lost=lost if worse else None,
        allowed=_allowed(applied.rule, lost),
        shown=side_by_side(applied.run.beside, evidence.cases),
    )


def _won_more(applied: Applied, question: WorseQuestion, evidence: Evidence) -> codes.WonMore:
    """A metric that lost cases for good, and won more than these."""
    shown = what_failed(question.sample, evidence, question.run.confirmed)
    return codes.WonMore(**_moved(applied, applied.change.delta or 0.0), shown=shown)


def _thin(evidence: Evidence) -> codes.Thin | None:
    """What this baseline can't do, where it has few trials: then that may be why. A base measured beside has enough."""
    if evidence.trials_before >= FEW_TRIALS or evidence.beside or evidence.test != "stratified" or evidence.fewest == 1:
        return None
    return codes.Thin(trials=evidence.trials_before, fewest=evidence.fewest)
