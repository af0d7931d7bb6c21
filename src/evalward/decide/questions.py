"""How many questions a verdict asks of chance, and what part of alpha each of them has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from evalward.decide.evidence import WorseQuestion, confirmable, fewest
from evalward.decide.samples import CasePair, Sample
from evalward.decide.statistics.multiple import weighted_holm
from evalward.records.evidence import Evidence

OTHERS = 1 / 3  # the share of alpha that metrics beside the outcome have: with both, a check keeps to alpha as a whole


def corrected(questions: Sequence[WorseQuestion | None], found: Sequence[Evidence | None]) -> list[Evidence | None]:
    """Holm's correction over all questions of the verdict, of which outcomes have twice as much of alpha as all others
    together.
    """
    keys = [
        _key_of(question) if question is not None and _can_show_a_drop(question.sample) else None
        for question in questions
    ]
    least: dict[_Asks, float] = {}
    for key, evidence in zip(keys, found, strict=True):
        if key is not None and evidence is not None:
            least[key] = min(least.get(key, 1.0), 1.0 if evidence.p is None else evidence.p / evidence.share)
    parts = _parts(least)
    factors = _factors(least, parts)
    grown = [_with(key, evidence, factors) for key, evidence in zip(keys, found, strict=True)]
    return [
        evidence.model_copy(update={"fewest": fewest(question, parts.get(key, 1.0) if key else 1.0)})
        if question is not None and evidence is not None
        else evidence
        for key, question, evidence in zip(keys, questions, grown, strict=True)
    ]


class _Asks(Struct, frozen=True):
    """What a question is about. Outcome metrics that saw the same in the same cases are one question: their p is one.

    `shown`: which trials went how, of each case. A weighted score may say something else than a rate of passes.
    """

    run: int
    metric: str | None
    shown: tuple[object, ...] = ()

    @property
    def outcome(self) -> bool:
        return self.metric is None


def _key_of(question: WorseQuestion) -> _Asks:
    sample = question.sample
    if not (sample.counted or confirmable(sample, falls=question.falls)):
        return _Asks(id(question.run), sample.metric)
    return _Asks(
        id(question.run), None, (sample.counted, question.falls, *(_shown(sample, pair) for pair in sample.pairs))
    )


def _can_show_a_drop(sample: Sample) -> bool:
    """False for a share that is the same in every trial of a case, whichever: however dealt out, it shows nothing.

    What can't be found needs no part of alpha (Tarone 1990).
    """
    return sample.unit != "ratio" or not all(_constant(pair) for pair in sample.pairs)


def _constant(pair: CasePair) -> bool:
    values = {side.value for side in pair.sides if side is not None}
    return values in ({0.0}, {1.0})


def _shown(sample: Sample, pair: CasePair) -> tuple[object, ...]:
    sides = (pair.before, pair.now, pair.fresh, pair.again, pair.aside)
    if sample.counted:
        return pair.id, *(sample.good(side) if side else None for side in sides)
    return pair.id, *((side.numerator, side.denominator, side.value) if side else None for side in sides)


def _parts(least: Mapping[_Asks, float]) -> dict[_Asks, float]:
    """The part of alpha that each question has; all together have all of it."""
    outcomes = sum(key.outcome for key in least)
    shares = {True: (1 - OTHERS) / max(outcomes, 1), False: OTHERS / max(len(least) - outcomes, 1)}
    total = sum(shares[key.outcome] for key in least)
    return {key: shares[key.outcome] / total for key in least}


def _factors(least: Mapping[_Asks, float], parts: Mapping[_Asks, float]) -> dict[_Asks, tuple[float, int]]:
    """By how much each question's p grows, and how many questions there are."""
    grown = weighted_holm(list(least.values()), list(parts.values()))
    return {
        key: (corrected / p if p else 1.0, len(least)) for (key, p), corrected in zip(least.items(), grown, strict=True)
    }


def _with(key: _Asks | None, evidence: Evidence | None, factors: Mapping[_Asks, tuple[float, int]]) -> Evidence | None:
    if evidence is None or evidence.p is None:
        return evidence
    if key is None:
        return evidence.model_copy(update={"corrected": evidence.p, "tests": len(factors)})
    factor, tests = factors[key]
    return evidence.model_copy(update={"corrected": min(1.0, evidence.p / evidence.share * factor), "tests": tests})
