"""A red check that is run again until it isn't red: how often it stays red, with earlier tries forgotten and counted.

`python -m benchmarks reruns`. One case in three is shaky, as in `support.simulated`; the confirm stage, the verdict and
what earlier tries do to it are the product's own. Seeds are fixed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from random import Random

from benchmarks.measure import Row
from evalward.commands.pipeline import Judging, judge_report, retries_of
from evalward.decide.baseline import make_baseline
from evalward.decide.tries import Again, judged_again, rules_key, try_of
from evalward.records.baseline import Baseline
from evalward.records.policy import Policy
from evalward.records.report import Report
from evalward.records.result import Result
from evalward.records.tries import Try
from evalward.records.verdict import Outcome
from support.results import MEASURES, report, result, run
from support.simulated import RULES, rates

TITLE = "A red check run again, up to three tries of one commit (37 cases, baseline of 5 trials)"
CASES, TRIES = 37, 3
CHECKS = 400  # per row: standard error of 84 % two points
_POLICY = Policy(rules=list(RULES))


@dataclass(frozen=True)
class Told:
    """Of one commit: red at first, at last with earlier tries forgotten, and at last with them counted.

    `plain`: the last of the counted tries is a plain pass.
    """

    first: bool
    forgotten: bool
    counted: bool
    plain: bool


def until_not_red(broken: int, seed: int) -> Told:
    """Run again while red, each time with new trials against the same baseline."""
    dice = Random(f"{broken} {seed}")
    baseline = make_baseline(_report(_trials(dice, rates(CASES), range(1, 6))), "b", None, MEASURES)
    reports = [_checked(dice, rates(CASES, broken), baseline) for _ in range(TRIES)]
    alone = [judge_report(each, baseline, _POLICY) for each in reports]
    red = [each.verdict.outcome is Outcome.FAIL for each in alone]
    rules, tries = rules_key(_POLICY, baseline), list[Try]()
    last = Outcome.PASS
    for number, (each, judgement) in enumerate(zip(reports, alone, strict=True), 1):
        last = judged_again(judgement, each, baseline, Again(tries, rules)).verdict.outcome
        tries.append(try_of(judgement, each, rules, (1, number)))
        if last is not Outcome.FAIL:
            break
    return Told(red[0], all(red), last is Outcome.FAIL, last is Outcome.PASS and len(tries) > 1)


def _checked(dice: Random, now: Sequence[float], baseline: Baseline) -> Report:
    """One try: a planned trial of each case, and the fresh ones that the product asks for."""
    planned = _report(_trials(dice, now, [1]))
    retries = retries_of(planned, Judging(baseline, _POLICY))
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
    told = list(pool.map(partial(until_not_red, broken), range(checks), chunksize=10))
    first, forgotten, counted, plain = (
        sum(getattr(each, name) for each in told) / checks for name in ("first", "forgotten", "counted", "plain")
    )
    return Row(
        f"{broken} broken" if broken else "nothing changed",
        f"red at last {counted:.1%}, a plain pass after a red try {plain:.1%}",
        f"red at first {first:.1%}; at last, were tries forgotten, {forgotten:.1%}",
        counted / first if first else 1.0,
        "≥ 0.97 of the first" if broken else "≤ 5 % red",
    )
