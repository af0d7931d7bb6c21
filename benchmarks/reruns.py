"""A check that is run again until it isn't red, or until it is green: how often it is red at last.

`python -m benchmarks reruns`. One case in three is shaky, as in `support.simulated`; the confirm stage, the verdict and
what earlier tries do to it are the product's own. Seeds are fixed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from functools import partial
from random import Random

from benchmarks.measure import Row
from evalward.commands.pipeline import Criteria, decide_report
from evalward.decide.tries import KnownTries, rules_key, stricter_by_tries, try_of
from evalward.records.baseline import Baseline
from evalward.records.policy import Policy
from evalward.records.report import Report
from evalward.records.result import Result
from evalward.records.tries import Try
from evalward.records.verdict import Judgement, Outcome
from support.results import KINDS, report, result, run
from support.simulated import RULES, rates
from support.written import make_baseline

TITLE = "A check run again: red at last, of up to three tries of one commit (37 cases, baseline of 5 trials)"
CASES, TRIES = 37, 3
CHECKS = 300  # per row: standard error of 75 % 2.5 points
_POLICY = Policy(rules=list(RULES))


@dataclass(frozen=True)
class Told:
    """Of one commit: red at first; at last, run again while red, with earlier tries forgotten and with them counted; at
    last, run again until it passes. `plain`: at last a plain pass after a red try.
    """

    first: bool
    forgotten: bool
    counted: bool
    until_green: bool
    plain: bool


def told_of(broken: int, seed: int) -> Told:
    """Up to three tries of one commit, each with new trials against the same baseline."""
    dice = Random(f"{broken} {seed}")
    baseline = make_baseline(_report(_trials(dice, rates(CASES), range(1, 6))), "b", None, KINDS)
    reports = [_checked(dice, rates(CASES, broken), baseline) for _ in range(TRIES)]
    alone = [decide_report(each, baseline, _POLICY) for each in reports]
    red = [each.verdict.outcome is Outcome.FAIL for each in alone]
    while_red = _again(reports, alone, baseline, {Outcome.FAIL})
    until_green = _again(reports, alone, baseline, {Outcome.FAIL, Outcome.INCONCLUSIVE})
    return Told(
        red[0],
        all(red),
        while_red[-1] is Outcome.FAIL,
        until_green[-1] is Outcome.FAIL,
        any(tries[-1] is Outcome.PASS and Outcome.FAIL in tries for tries in (while_red, until_green)),
    )


def _again(
    reports: Sequence[Report], alone: Sequence[Judgement], baseline: Baseline, again: Collection[Outcome]
) -> list[Outcome]:
    """What each try gives with those before it, as long as the last is one of `again`."""
    rules, tries, gave = rules_key(_POLICY, baseline), list[Try](), list[Outcome]()
    for number, (each, judgement) in enumerate(zip(reports, alone, strict=True), 1):
        judged = stricter_by_tries(judgement, each, baseline, KnownTries(tries, rules))
        gave.append(judged.verdict.outcome)
        tries.append(try_of(judged, each, rules, (1, number)))
        if gave[-1] not in again:
            break
    return gave


def _checked(dice: Random, now: Sequence[float], baseline: Baseline) -> Report:
    """One try: a planned trial of each case, and the fresh ones that the product asks for."""
    planned = _report(_trials(dice, now, [1]))
    retries = Criteria(baseline, _POLICY).retries(planned)
    fresh = [
        each
        for retry in retries
        for case, count in retry.trials.items()
        for each in _case(dice, int(case[1:]), now[int(case[1:])], range(2, 2 + count))
    ]
    return planned.model_copy(update={"runs": [one.model_copy(update={"confirmation": fresh}) for one in planned.runs]})


def _trials(dice: Random, now: Sequence[float], numbers: Sequence[int]) -> list[Result]:
    return [each for index, rate in enumerate(now) for each in _case(dice, index, rate, numbers)]


def _case(dice: Random, index: int, rate: float, numbers: Sequence[int]) -> list[Result]:
    return [result(f"c{index}", "passed" if dice.random() < rate else "failed", trial=number) for number in numbers]


def _report(results: Sequence[Result]) -> Report:
    return report(run(results, target="anthropic/model", random=True))


def reruns(checks: int = CHECKS) -> list[Row]:
    """A row for each number of broken cases."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return [_row(broken, checks, pool) for broken in (0, 1, 2, 3)]


def _row(broken: int, checks: int, pool: ProcessPoolExecutor) -> Row:
    told = list(pool.map(partial(told_of, broken), range(checks), chunksize=10))
    first, forgotten, counted, until_green, plain = (
        sum(getattr(each, field.name) for each in told) / checks for field in fields(Told)
    )
    return Row(
        f"{broken} broken" if broken else "nothing changed",
        f"run again while red {counted:.1%}, until green {until_green:.1%}; a plain pass after red {plain:.1%}",
        f"at first {first:.1%}; while red, were tries forgotten, {forgotten:.1%}",
        until_green / first if first else 1.0,
        "≥ the first" if broken else "≤ 5 % red",
    )
