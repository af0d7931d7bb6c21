"""How soon the anchor sees a leak, and how often it is wrong: branches of twenty pushes, decided by the product's code.

`python -m benchmarks anchor`. Seeds are fixed. 37 cases whose pass rates differ as widely as those of published runs
(Beta(.56, .14), mean .8); a leak lowers every case's rate by so much of it that the suite loses so many points a push.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from random import Random
from statistics import median

from msgspec import structs

from benchmarks.measure import Row
from evalward.decide.anchor import Anchor, anchored
from evalward.decide.history_file import entries_of
from evalward.records.comparison import Comparison
from evalward.records.history import CaseCount, HistoryEntry
from evalward.records.policy import Rule
from evalward.records.report import Provenance, Report
from evalward.records.result import Result, Status
from evalward.records.verdict import Judgement, Outcome, RuleOutcome, Verdict
from support.results import KINDS, SUITE, report, result, run
from support.written import make_baseline

TITLE = "Branches of 20 pushes, 37 cases: how many the anchor speaks on"
CASES, PUSHES, TWELFTH = 37, 20, 12
TARGET = "anthropic/model"
BRANCHES = 200  # per row: standard error of 3 % 1.2 points
_RULE = Rule(metric="pass_rate", max_drop=0.02)
_DEFINITION = "sha256:" + "d" * 64
_RUN = run([], suite=SUITE, target=TARGET, random=True)
_LINE = entries_of(
    report(run([result(f"c{n}", definition=_DEFINITION) for n in range(CASES)], target=TARGET)), ref="main"
)[0]
_OPEN = Judgement(
    comparison=Comparison(baseline=None),
    verdict=Verdict(
        outcome=Outcome.PASS,
        headline="",
        rules=[RuleOutcome(rule=_RULE, suite=SUITE, target=TARGET, value=None, status="ok", message="")],
    ),
)


@dataclass(frozen=True)
class Branch:
    """What is simulated: points lost with each push, trials of a push, and of the release; 0: there is no release."""

    leak: float
    trials: int
    release: int


def spoke(branch: Branch, seed: int) -> int | None:
    """The push on which the anchor speaks first, `None` where it never does."""
    dice = Random(f"{branch.trials} {branch.release} {seed}")
    rates = [dice.betavariate(0.56, 0.14) for _ in range(CASES)]
    mean = sum(rates) / CASES
    baseline = None
    if branch.release:
        baseline = make_baseline(_measured(dice, rates, branch.release, 0), "release", None, KINDS)
    anchor = Anchor("main", "v1", baseline, blocks=True)
    history: list[HistoryEntry] = []
    for push in range(1, PUSHES + 1):
        now = [max(0.0, rate * (1 - branch.leak * push / mean)) for rate in rates]
        made = _measured(dice, now, branch.trials, push)
        if anchored(_OPEN, made, history, anchor, None).verdict.outcome is Outcome.FAIL:
            return push
        history.append(_entry(made, branch.trials))
    return None


def _measured(dice: Random, rates: Sequence[float], trials: int, push: int) -> Report:
    results = [
        Result(
            id=f"c{index}",
            category="c",
            definition=_DEFINITION,
            trial=number,
            status=Status.PASSED if dice.random() < rate else Status.FAILED,
        )
        for index, rate in enumerate(rates)
        for number in range(1, trials + 1)
    ]
    made = _RUN.model_copy(update={"cases": results, "trials": trials, "planned": len(results)})
    return report(made, created_at=f"2026-01-{push + 1:02d}T00:00:00Z", provenance=Provenance(commit=f"{push:040x}"))


def _entry(made: Report, trials: int) -> HistoryEntry:
    """The line that the history keeps of a push, but for its metrics."""
    passed = Counter(each.id for each in made.runs[0].cases if each.status is Status.PASSED)
    return _LINE.model_copy(
        update={
            "at": made.created_at,
            "commit": made.provenance.commit,
            "report": made.created_at,
            "trials": trials,
            "others": {case: CaseCount(passed[case], trials - passed[case]) for case in _LINE.cases or ()},
        }
    )


def anchor(branches: int = BRANCHES) -> list[Row]:
    """A row for each kind of branch, each with its false alarms, and what is seen of a leak of one point a push."""
    kinds = [Branch(0.0, trials, release) for trials in (1, 5) for release in (5, 20, 0)]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return [_row(kind, branches, pool) for kind in kinds]


def _row(kind: Branch, branches: int, pool: ProcessPoolExecutor) -> Row:
    quiet = [push for push in pool.map(partial(spoke, kind), range(branches), chunksize=10) if push]
    leaking = structs.replace(kind, leak=0.01)
    seen = [push for push in pool.map(partial(spoke, leaking), range(branches), chunksize=10) if push]
    early = sum(push <= TWELFTH for push in seen)
    release = f"a release of {kind.release} trials" if kind.release else "the oldest five pushes"
    return Row(
        f"{kind.trials} a push, against {release}",
        f"{len(seen) / branches:.0%} seen, push {median(seen):.0f} in the median, {early / branches:.0%} by the 12th",
        f"nothing changed: {len(quiet) / branches:.1%}",
        len(quiet) / branches,
        "≤ 4 %",
    )
