"""Whole decisions on simulated suites: baseline, candidate, confirm stage, and the verdict of the product's own code.

Cases have the noise that published runs show: most pass always, some now and then.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from evalward.commands.pipeline import Criteria
from evalward.decide.confirm import Retrials, to_confirm
from evalward.decide.doubts import to_settle
from evalward.records.baseline import Baseline
from evalward.records.policy import Confirm, Policy, Rule
from evalward.records.report import Beside, Run
from evalward.records.result import Result
from evalward.records.verdict import Judgement, Verdict
from support.results import KINDS, report, result, run
from support.written import make_baseline

STEADY, SHAKY = 0.99, (0.55, 0.75, 0.9)
RULES = (Rule(metric="pass_rate", max_drop=0.02), Rule(metric="tool_call_success_rate", max_drop=0.05))
ONE_RULE = (
    Rule(metric="pass_rate", max_drop=0.02),
    *(Rule(metric=name, goal=0.0) for name in ("overall_rate", "tool_call_success_rate")),
)
"""Nothing but the pass rate: the other rules that a suite brings have no drop."""


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
    """What is simulated: how many cases, of which how many broken, and how many trials.

    `noise`: how the cases' chances of passing are spread: as the docs page says, "beta", which flips as often
    as published runs do, or all the same number. `lower`: by how much each case passes less often now. `shock`:
    the standard deviation of what a session adds to the log odds of all its trials; `drift`: what the provider has
    added to them since the baseline. `by_error`: broken cases end in an error instead of failing. `astray`: so many
    fresh trials of the head time out. `runs`: so many, each with the same cases; in the first of them some are broken.
    """

    cases: int = 37
    broken: int = 0
    baseline_trials: int = 5
    trials: int = 1
    rules: Sequence[Rule] = RULES
    confirm: Confirm | None = field(default_factory=Confirm)
    nature: Nature | None = None
    noise: str | float = "docs"
    lower: float = 0.0
    shock: float = 0.0
    drift: float = 0.0
    by_error: bool = False
    astray: int = 0
    runs: int = 1


@dataclass(frozen=True)
class Decided:
    """What came of it; `trials` are all that were needed, those of the base measured again included."""

    judgement: Judgement
    trials: int

    @property
    def verdict(self) -> Verdict:
        """The decision."""
        return self.judgement.verdict


def rates(cases: int, broken: int = 0, noise: str | float = "docs", seed: int = 0) -> list[float]:
    """Each case's probability of passing: nearly always, but for one in three, which is shaky.

    The first so many of the steady ones are broken: they never pass.
    """
    found = _spread(cases, noise, seed)
    lost = [index for index, rate in enumerate(found) if rate > 0.9][:broken]
    return [0.0 if index in lost else rate for index, rate in enumerate(found)]


def _spread(cases: int, noise: str | float, seed: int) -> list[float]:
    if noise == "docs":
        return [STEADY if index % 3 else SHAKY[index // 3 % len(SHAKY)] for index in range(cases)]
    if noise == "beta":
        dice = random.Random(f"beta {seed}")
        return [dice.betavariate(0.56, 0.14) for _ in range(cases)]
    return [float(noise)] * cases


def simulate(world: World, seed: int) -> Decided:
    """One decision. The same seed gives the same one."""
    chance = _Chance(random.Random(seed), random.Random(f"{NATURE} {seed}"), world.nature)
    past = replace(chance, nature=world.nature and replace(world.nature, more=1.0))
    shocks = random.Random(f"shock {seed}")
    sides, old = [], []
    for number in range(world.runs):
        before = rates(world.cases, 0, world.noise, seed * world.runs + number)
        broken = rates(world.cases, world.broken if not number else 0, world.noise, seed * world.runs + number)
        now = [max(0.0, rate - world.lower) for rate in broken]
        then, today = shocks.gauss(0, world.shock), shocks.gauss(0, world.shock) + world.drift
        sides.append(_Sides(f"anthropic/model-{number}", shifted(now, today), shifted(before, today)))
        planned = _trials(past, shifted(before, then), world.baseline_trials)
        old.append(_run(planned, world.baseline_trials, sides[-1].target))
    baseline = make_baseline(report(*old), "old.json", None, KINDS)
    policy = Policy(rules=list(world.rules), confirm=world.confirm)
    return _Check(world, chance, past, sides).decide(baseline, policy)


def shifted(rates: Sequence[float], logit: float) -> list[float]:
    """The rates with so much added to their log odds; 0 and 1 stay."""
    return [rate if rate in (0, 1) or not logit else 1 / (1 + (1 / rate - 1) * math.exp(-logit)) for rate in rates]


@dataclass(frozen=True)
class _Sides:
    """What one target's cases pass with, today: of the head, and of the base."""

    target: str
    head: Sequence[float]
    base: Sequence[float]


@dataclass(frozen=True)
class _Check:
    """One check."""

    world: World
    chance: _Chance
    past: _Chance
    sides: Sequence[_Sides]

    def decide(self, baseline: Baseline, policy: Policy) -> Decided:
        """Planned trials, the confirm stage, the base beside the head, the verdict."""
        world = self.world
        planned = [self._broken(each, _trials(self.chance, each.head, world.trials)) for each in self.sides]
        runs = [_run(of, world.trials, each.target) for of, each in zip(planned, self.sides, strict=True)]
        judging = Criteria(baseline, policy)
        planned_only = judging.compared(report(*runs))
        retries = {retry.target: retry for retry in to_confirm(planned_only.comparison, policy, {})}
        runs = [self._confirmed(*each, retries) for each in zip(runs, self.sides, strict=True)]
        confirmed = judging.compared(report(*runs))
        both = {retry.target: retry for retry in to_settle(confirmed.comparison, confirmed.samples, policy, {})}
        runs = [self._settled(*each, both) for each in zip(runs, self.sides, strict=True)]
        spent = sum(len(run.cases) + len(run.confirmation) for run in runs) + 2 * sum(r.total for r in both.values())
        return Decided(judging.decide(report(*runs)), spent)

    def _confirmed(self, run: Run, sides: _Sides, retries: Mapping[str, Retrials]) -> Run:
        if run.target not in retries:
            return run
        fresh = self._broken(sides, self._again(self.chance, sides.head, retries[run.target]))
        astray = self.world.astray
        return run.model_copy(update={"confirmation": [*map(_timed_out, fresh[:astray]), *fresh[astray:]]})

    def _settled(self, run: Run, sides: _Sides, both: Mapping[str, Retrials]) -> Run:
        if run.target not in both:
            return run
        base = self._again(self.past, sides.base, both[run.target])
        head = self._broken(sides, self._again(self.chance, sides.head, both[run.target]))
        return run.model_copy(update={"beside": Beside(commit="base", base=base, head=head)})

    def _again(self, chance: _Chance, rates: Sequence[float], retry: Retrials) -> list[Result]:
        return [
            _trial(chance, int(case[1:]), rates[int(case[1:])], self.world.trials + 1 + number)
            for case, count in retry.trials.items()
            for number in range(count)
        ]

    def _broken(self, sides: _Sides, results: list[Result]) -> list[Result]:
        """The trials of broken cases as errors, where these break so."""
        lost = {f"c{index}" for index, rate in enumerate(sides.head) if not rate} if self.world.by_error else set()
        return [_timed_out(result) if result.id in lost else result for result in results]


def _timed_out(trial: Result) -> Result:
    return result(trial.id, "error", trial=trial.trial, reason="timeout")


def _run(results: Sequence[Result], trials: int, target: str) -> Run:
    return run(results, target=target, trials=trials, random=True)


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
