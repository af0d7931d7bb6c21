"""The trials that a test looks at: what a kind says of single trials is what it measures, to the last digit."""

from __future__ import annotations

import random
from collections.abc import Sequence

from evalward.decide.kinds import ComparedKind, PlainKind
from evalward.decide.samples import RunSamples, Sample, gather
from evalward.decide.succession import align
from evalward.records.metric import Measurement
from evalward.records.report import Beside
from evalward.records.result import Result
from evalward.suites.base import kind_named
from support.results import baseline, report, result, run

BASH = kind_named("bash")


class OneByOne(PlainKind):
    """A kind that says nothing of single trials: all of them are measured, case by case and one by one."""

    def measure(self, results: Sequence[Result]) -> Measurement:
        """As the kind does it."""
        return BASH.measure(results)


def trials(dice: random.Random, cases: Sequence[str], count: int) -> list[Result]:
    """Trials of every kind: weighted scores, without tool calls, without tokens, broken ones."""
    return [
        result(
            case,
            dice.choices(["passed", "failed", "error"], [6, 3, 1])[0],
            most=dice.choice([1.0, 2.5, 0.1]),
            calls=dice.choice([(0, 0), (1, 3), (2, 2)]),
            turns=dice.randint(1, 9),
            trial=trial,
            natural=dice.random() < 0.5,
            tokens=dice.choice([None, (dice.randint(1, 9999), dice.randint(1, 999))]),
            cost=dice.choice([None, dice.random()]),
            duration_ms=dice.randint(1, 9999),
        )
        for case in cases
        for trial in range(1, count + 1)
    ]


def samples(seed: int, kind: ComparedKind) -> RunSamples:
    """The samples of a random run with fresh trials, and with some of both sides."""
    dice = random.Random(seed)
    cases = [f"c{number}" for number in range(12)]
    known = baseline(run([each for each in trials(dice, cases, 3) if each.valid], random=True))
    both = Beside(commit="b", base=trials(dice, cases[:4], 2), head=trials(dice, cases[:4], 2))
    now = run(trials(dice, cases, 2), random=True, confirmation=trials(dice, cases[2:7], 4), beside=both)
    return gather(align(report(now), known), {"bash": kind})["bash-tools", "replay:haiku"]


def told(sample: Sample | None) -> object:
    """All that a test can see of a sample."""
    if sample is None:
        return None
    seen = [
        [side and (side.trials, side.value, side.numerator, side.denominator, side.per_trial) for side in pair.sides]
        for pair in sample.pairs
    ]
    failed = [(pair.id, pair.failed) for pair in sample.pairs]
    return sample.unit, sample.better, sample.counted, sample.plain, failed, seen


def test_what_each_trial_adds__is_what_measuring_case_by_case_gives() -> None:
    for seed in range(8):
        quick, slow = samples(seed, BASH), samples(seed, OneByOne())
        for metric in BASH.metric_ids:
            assert told(quick.of(metric)) == told(slow.of(metric))
        assert any(quick.of(metric) for metric in BASH.metric_ids)


def test_a_sample_is_made_once() -> None:
    found = samples(1, BASH)
    assert found.of("pass_rate") is found.of("pass_rate")
    assert found.of("no_such_metric") is None
