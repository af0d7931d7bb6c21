"""Whole decisions on simulated suites: baseline, candidate, confirm stage, and the verdict of the product's own code.

Cases have the noise that published runs show: most pass always, some now and then.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from evalward.commands.pipeline import judge_report
from evalward.decide.baseline import make_baseline
from evalward.decide.compare import compare
from evalward.decide.confirm import to_confirm
from evalward.records.policy import Confirm, Policy, Rule
from evalward.records.report import Report, Run
from evalward.records.result import Result
from evalward.records.verdict import Verdict
from support.results import MEASURES, report, result, run

STEADY, SHAKY = 0.99, (0.55, 0.75, 0.9)
RULES = (Rule(metric="pass_rate", max_drop=0.02), Rule(metric="tool_call_success_rate", max_drop=0.05))


TOKENS = 1000  # of a case, on the average of all
NATURE = "what a trial brings"  # drawn beside the outcome, so that a world without it stays the one that it was


@dataclass(frozen=True)
class Nature:
    """How trials of one case differ, beside passing or not. Nothing is published about it: these are assumptions.

    `tokens`: the standard deviation of a trial's log tokens within a case; a case's own mean differs by as much again.
    `more`: the factor by which the candidate's tokens rise. `astray`: how often a trial makes three times the calls,
    most of which fail. `partial`: a failed trial's score is anything below the best one.
    """

    tokens: float = 0.0
    more: float = 1.0
    astray: float = 0.0
    partial: bool = False


@dataclass(frozen=True)
class World:
    """What is simulated: how many cases, of which how many broken, and how many trials."""

    cases: int = 37
    broken: int = 0
    baseline_trials: int = 5
    trials: int = 1
    rules: Sequence[Rule] = RULES
    confirm: Confirm | None = field(default_factory=Confirm)
    nature: Nature | None = None


@dataclass(frozen=True)
class Decided:
    """What came of it; `trials` are all that the candidate needed."""

    verdict: Verdict
    trials: int


def rates(cases: int, broken: int = 0) -> list[float]:
    """Each case's probability of passing: nearly always, but for one in three, which is shaky.

    The first so many of the steady ones are broken: they never pass.
    """
    found = [STEADY if index % 3 else SHAKY[index // 3 % len(SHAKY)] for index in range(cases)]
    lost = [index for index, rate in enumerate(found) if rate == STEADY][:broken]
    return [0.0 if index in lost else rate for index, rate in enumerate(found)]


def simulate(world: World, seed: int) -> Decided:
    """One decision. The same seed gives the same one."""
    chance = _Chance(random.Random(seed), random.Random(f"{NATURE} {seed}"), world.nature)
    past = replace(chance, nature=world.nature and replace(world.nature, more=1.0))
    before, now = rates(world.cases), rates(world.cases, world.broken)
    old = report(_run(_trials(past, before, world.baseline_trials), world.baseline_trials))
    baseline = make_baseline(old, "old.json", None, MEASURES)
    policy = Policy(rules=list(world.rules), confirm=world.confirm)
    planned = report(_run(_trials(chance, now, world.trials), world.trials))
    retries = to_confirm(compare(planned, baseline, MEASURES), policy, {})
    fresh = [
        _trial(chance, int(case[1:]), now[int(case[1:])], world.trials + 1 + number)
        for retry in retries
        for case, count in retry.trials.items()
        for number in range(count)
    ]
    final = _with(planned, fresh)
    return Decided(judge_report(final, baseline, policy).verdict, world.cases * world.trials + len(fresh))


def _with(planned: Report, fresh: list[Result]) -> Report:
    runs = [each.model_copy(update={"confirmation": fresh}) for each in planned.runs]
    return planned.model_copy(update={"runs": runs})


def _run(results: Sequence[Result], trials: int) -> Run:
    return run(results, target="anthropic/model", trials=trials, random=True)


@dataclass(frozen=True)
class _Chance:
    """The dice of one decision: one for what every world has, one for what trials of this nature bring."""

    dice: random.Random
    other: random.Random
    nature: Nature | None


def _trials(chance: _Chance, rates: Sequence[float], count: int) -> list[Result]:
    return [_trial(chance, index, rate, n) for index, rate in enumerate(rates) for n in range(1, count + 1)]


def _trial(chance: _Chance, index: int, rate: float, number: int) -> Result:
    calls = 1 + chance.dice.randrange(4)
    good = sum(chance.dice.random() < 0.9 for _ in range(calls))
    passed = chance.dice.random() < rate
    if chance.nature is None:
        return result(f"c{index}", "passed" if passed else "failed", calls=(good, calls), trial=number)
    return _natural(chance.nature, chance.other, (index, number), passed, (good, calls))


def _natural(nature: Nature, dice: random.Random, at: tuple[int, int], passed: bool, calls: tuple[int, int]) -> Result:
    index, number = at
    size = TOKENS * math.exp(nature.tokens * (random.Random(index).gauss(0, 1) + dice.gauss(0, 1)))
    if dice.random() < nature.astray:
        calls = (calls[0] + calls[1] // 2, 3 * calls[1])
    score = None if passed or not nature.partial else dice.randrange(10) / 10
    status = "passed" if passed else "failed"
    return result(f"c{index}", status, calls=calls, trial=number, score=score, tokens=(round(size * nature.more), 10))
